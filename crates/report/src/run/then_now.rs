//! The article's figures, then and now, side by side, in one table for each workload; held connections have one table.

use analysis::{Cell as Pair, ThenNow};
use lab::figure::Figure;
use units::{chosen, digits};

use super::findings::Findings;
use crate::document::{Block, Cell, Column, Depth, Row, Section, Sign, Table, Tone, anchor};
use crate::held;
use crate::number_format::{Written, in_unit_of};

/// None if the experiment has no article's figures.
pub(super) fn section(findings: &Findings<'_>) -> Option<Section> {
    let held = held::stated(findings);
    if findings.then_now().is_empty() && held.is_none() {
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
        blocks.push(Block::Table(table(findings, found)));
    }
    blocks.extend(held.map(Block::Table));
    Some(Section::new("then-now", heading, Depth::Full).with(blocks))
}

fn table(findings: &Findings<'_>, found: &ThenNow) -> Table {
    let label = &findings.history.label;
    let mut columns = vec![
        Column::new("subject", "server", 0).left(),
        Column::new("place", axis(findings, found), 0),
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

/// The unit of the places, where there are any.
fn axis(findings: &Findings<'_>, found: &ThenNow) -> &'static str {
    let point = found.lines.iter().find_map(|line| line.at);
    point.map_or("the axis", |point| findings.shown(point).unit())
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
fn has_times(figure: Figure) -> bool {
    figure != Figure::Attempted
}

/// `6.2×`, or `≥6.2×` where our figure is a bound; empty without a ratio.
fn times(pair: &Pair) -> String {
    let bound = if pair.now.is_some_and(|now| now.is_bound) { "≥" } else { "" };
    pair.times.map_or(String::new(), |times| format!("{bound}{}×", digits(times)))
}
