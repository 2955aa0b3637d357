//! The article's figures, then and now, side by side.

use analysis::{Cell as Pair, ThenNow};
use lab::figure::Figure;
use units::{chosen, digits};

use super::findings::Findings;
use crate::classic;
use crate::document::{Block, Cell, Column, Depth, Row, Section, Sign, Table, Tone, anchor};
use crate::number_format::{Written, in_unit_of};

/// None if the experiment has no article's figures.
pub(super) fn section(findings: &Findings<'_>) -> Option<Section> {
    if findings.then_now().is_empty() {
        return None;
    }
    let heading = format!("The article's figures, {} and now", findings.history.label);
    let mut blocks: Vec<Block> = findings
        .history
        .about
        .iter()
        .map(|about| Block::paragraph(Tone::Dim, about.clone()))
        .collect();
    blocks.push(Block::paragraph(
        Tone::Plain,
        "Machines, versions and ways of measuring differ: much of what has changed since is not the servers' doing.",
    ));
    for found in findings.then_now() {
        if 1 < findings.then_now().len() {
            blocks.push(Block::Heading(findings.task(&found.workload)));
        }
        blocks.push(Block::picture(classic::pictures(findings, found)));
        blocks.push(Block::Table(table(findings, found)));
    }
    Some(Section::new("then-now", heading, Depth::Full).with(blocks))
}

fn table(findings: &Findings<'_>, found: &ThenNow) -> Table {
    let label = &findings.history.label;
    let mut columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("place", classic::axis(findings, found), 0),
    ];
    for (n, &figure) in found.figures.iter().enumerate() {
        let heading = figure.heading();
        let priority = u8::try_from(n).unwrap_or(u8::MAX);
        columns.push(Column::new(
            format!("then_{}", figure.name()),
            format!("{heading}, {label}"),
            priority,
        ));
        columns.push(Column::new(figure.name(), "now", priority));
        if has_times(figure) {
            columns.push(Column::new(format!("times_{}", figure.name()), "×", priority));
        }
    }
    let rows = found.lines.iter().map(|line| {
        let place = match (line.place, line.at) {
            (Some(place), _) => {
                let place = place * findings.calls();
                Cell::text(chosen(place)).valued(Some(place))
            }
            (None, Some(at)) => Cell::text(format!("best (now {})", findings.place_alone(at))),
            (None, None) => Cell::text("best"),
        };
        let name = Cell { sign: Sign::Slot, ..Cell::text(findings.title(&line.subject)) };
        let figures = line.cells.iter().zip(&found.figures);
        let cells = [name, place].into_iter();
        Row {
            slot: Some(findings.slot(&line.subject)),
            cells: cells
                .chain(figures.flat_map(|(pair, &figure)| pair_cells(*pair, figure)))
                .collect(),
            ..Row::default()
        }
    });
    let key = format!("then-{}", anchor(&found.workload));
    Table::of(key, columns, rows)
}

fn pair_cells(pair: Pair, figure: Figure) -> Vec<Cell> {
    let number = |value: f64| Cell::text(in_unit_of(figure, value)).valued(Some(value));
    let mut cells = vec![
        pair.then.map_or(Cell::none(), |then| number(then).toned(Tone::Dim)),
        pair.now.map_or(Cell::none(), |now| Written::estimate(figure.unit(), &now).cell(now.value)),
    ];
    if has_times(figure) {
        let ratio = Cell::text(times(&pair)).valued(pair.times).toned(Tone::Dim);
        cells.push(if pair.times.is_some() { ratio } else { Cell::none() });
    }
    cells
}

/// The number of requests is the experiment's choice, not the server's.
pub(crate) fn has_times(figure: Figure) -> bool {
    figure != Figure::Attempted
}

/// `6.2×`, or `≥6.2×` where our figure is a bound; empty without a ratio.
pub(crate) fn times(pair: &Pair) -> String {
    let bound = if pair.now.is_some_and(|now| now.is_bound) { "≥" } else { "" };
    pair.times.map_or(String::new(), |times| format!("{bound}{}×", digits(times)))
}
