//! What TLS, HTTP/2 and full handshakes cost each server, or save it: ratios of two tasks of the run, as a section and as
//! sentences.

use analysis::{LeftOut, MannerPrice, PaidFor, Pair, Unranked, Why};
use lab::experiment::Point;
use lab::figure::Figure;
use units::listed_in_short;

use super::findings::Findings;
use crate::chart::{About, Axis, Column as Ratios, Rows, Stand, Trust, Value, both};
use crate::document::{self, Block, Cell, Column, Depth, Mark, Marks, Section, Sign, Table, Tone};
use crate::grouped::grouped;
use crate::paired::{Finding, NAMED, Ratio};

/// Empty where the run has no two tasks that differ in one thing.
pub(super) fn section(findings: &Findings<'_>) -> Section {
    let prices = findings.board.prices();
    let all = PaidFor::ALL.into_iter();
    let is_paid = |kind: &PaidFor| prices.iter().any(|price| price.paid_for == *kind);
    let kinds: Vec<String> = all.filter(is_paid).map(|kind| kind.meaning().into()).collect();
    let blocks = prices.iter().enumerate().flat_map(|(n, price)| blocks(findings, price, n));
    Section::new("price", format!("The price of {}", listed_in_short(&kinds)), Depth::Brief)
        .noting("1× is no difference")
        .with(blocks)
}

/// `hello over http/1.1+tls ÷ hello over http/1.1, at 4 connections`.
fn which(findings: &Findings<'_>, price: &MannerPrice<'_>) -> String {
    let [without, with] = price.tasks.each_ref().map(|task| findings.task(&task.to_string()));
    format!("{with} ÷ {without}, at {}", findings.place(price.point))
}

fn blocks(findings: &Findings<'_>, price: &MannerPrice<'_>, n: usize) -> Vec<Block> {
    let mut blocks =
        vec![Block::Heading(format!("{}: {}", price.paid_for.meaning(), which(findings, price)))];
    if !price.pairs.is_empty() {
        let rows = rows(findings, price);
        let picture = both(|room| rows.svg(room, Stand::Page));
        blocks.push(Block::picture(picture));
        blocks.push(Block::Table(table(findings, price, format!("price{n}"))));
    }
    if !price.left_out.is_empty() {
        blocks.push(Block::paragraph(Tone::Doubtful, left_out(findings, price)));
    }
    blocks
}

/// `no price: nginx and Go, hello over h2: invalid; 7 servers, hello over h2c: not measured`. Why that is so stands where
/// rows are doubted.
fn left_out(findings: &Findings<'_>, price: &MannerPrice<'_>) -> String {
    let lacks = price
        .left_out
        .iter()
        .map(|lack| ((lack.task, why(lack)), findings.title(&lack.row.subject).to_string()));
    let said = grouped(lacks).into_iter().map(|((task, why), titles)| {
        format!("{}, {}: {why}", servers(&titles), findings.task(task))
    });
    format!("no price: {}", said.collect::<Vec<_>>().join("; "))
}

/// Why a server has no price.
pub(super) fn why(lack: &LeftOut<'_>) -> &'static str {
    match lack.why {
        Unranked::Unmet | Unranked::Reference => "not ranked",
        Unranked::Unmeasured => "not measured",
        Unranked::Invalid => "invalid",
    }
}

/// Their names, or how many there are.
fn servers(titles: &[String]) -> String {
    match titles.len() {
        many if NAMED < many => format!("{many} servers"),
        _ => listed_in_short(titles),
    }
}

/// The figures that any server has.
fn figures(price: &MannerPrice<'_>) -> Vec<Figure> {
    let first = price.pairs.first().map_or(&[][..], |pair| &pair.figures);
    first.iter().map(|(figure, _)| *figure).filter(|figure| is_compared(price, *figure)).collect()
}

fn is_compared(price: &MannerPrice<'_>, figure: Figure) -> bool {
    let mut all = price.pairs.iter().flat_map(|pair| &pair.figures);
    all.any(|(of, made)| *of == figure && !matches!(made, Err(Why::Missing | Why::KeptUp)))
}

fn is_doubtful(pair: &Pair<'_>) -> bool {
    pair.a.is_doubtful() || pair.b.is_doubtful()
}

fn table(findings: &Findings<'_>, price: &MannerPrice<'_>, key: String) -> Table {
    let figures = figures(price);
    let primary = price.primary();
    let mut columns = vec![Column::new("subject", "server", 0).left()];
    columns.extend(figures.iter().map(|figure| {
        let priority = match figure {
            figure if *figure == primary => 0,
            Figure::CpuPerThousand => 2,
            Figure::ResponseP99 => 3,
            Figure::ResponseP50 => 4,
            _ => 5,
        };
        Column::new(figure.name(), figure.heading(), priority)
    }));
    columns.push(Column::new("finding", "finding", 1).left());
    let rows = price.pairs.iter().map(|pair| row(findings, pair, &figures, primary));
    Table::of(key, columns, rows).noting(notes(price))
}

fn row(
    findings: &Findings<'_>,
    pair: &Pair<'_>,
    figures: &[Figure],
    primary: Figure,
) -> document::Row {
    let is_reference = pair.b.is_reference;
    let marks = Marks::default().when(is_reference, Mark::Reference);
    let subject = Cell::text(findings.title(&pair.b.subject)).marked(marks);
    let mut cells = vec![Cell { sign: Sign::Slot, ..subject }];
    cells.extend(figures.iter().map(|figure| {
        let cell = cell(pair, *figure);
        let is_marked = *figure == primary && is_doubtful(pair);
        Cell { marks: cell.marks.when(is_marked, Mark::Suspect), ..cell }
    }));
    cells.push(Finding::of(&pair.made(primary)).cell());
    let slot = Some(findings.slot(&pair.b.subject));
    document::Row { slot, cells, is_reference, ..document::Row::default() }
}

fn notes(price: &MannerPrice<'_>) -> Vec<String> {
    let mut notes = vec![
        "each figure with it, divided by the same without it, in the same rounds (geometric mean); in brackets the interval \
         that decides: of at least 95 %, wider because all prices of the run are decided together (Holm's correction)"
            .into(),
        "finding: what this shows of the first figure, with it".into(),
    ];
    let [without, with] = price.tasks.each_ref().map(|task| task.manner.streams);
    if without < with && matches!(price.point, Point::Connections(_)) {
        notes.push(
            "with several streams on a connection more requests are in flight than over HTTP/1.1: that is in the \
             throughput, and in the response times"
                .into(),
        );
    }
    notes
}

fn cell(pair: &Pair<'_>, figure: Figure) -> Cell {
    let made = pair.made(figure).ok();
    let is_shown = made.is_some_and(|made| made.is_shown());
    let is_unsupported = made.is_some_and(|made| !made.is_supported);
    let marks = Marks::default().when(is_unsupported, Mark::FewSamples);
    let tone = if is_shown { Tone::Plain } else { Tone::Dim };
    let ratio = Ratio::of(pair, figure);
    ratio.map_or_else(Cell::none, |ratio| ratio.cell().toned(tone).marked(marks))
}

/// A row for each server and a column for each of three figures: what the load is about, what it cost, how long it took.
fn rows(findings: &Findings<'_>, price: &MannerPrice<'_>) -> Rows {
    let drawn = [price.primary(), Figure::CpuPerThousand, Figure::ResponseP99];
    let mut figures = figures(price);
    figures.retain(|figure| drawn.contains(figure));
    figures.sort_by_key(|figure| drawn.iter().position(|other| other == figure));
    let column = |figure: &Figure| {
        let values = price.pairs.iter().map(|pair| drawn_ratio(pair, *figure)).collect();
        Ratios::new(figure.heading(), Axis::Ratio, values)
    };
    Rows {
        about: About {
            title: format!("The price of {}: {}", price.paid_for.meaning(), which(findings, price)),
            description: "For each server the ratio of each figure, with its interval".into(),
        },
        names: price.pairs.iter().map(|pair| findings.name(&pair.b.subject)).collect(),
        columns: figures.iter().map(column).collect(),
        note: "logarithmic; the line is 1×, no difference".into(),
        bars: "bars: the interval that decides",
    }
}

pub(super) fn drawn_ratio(pair: &Pair<'_>, figure: Figure) -> Value {
    let Some(ratio) = Ratio::of(pair, figure) else { return Value::absent("not measured") };
    let rounds = if ratio.interval.is_none() { " one round" } else { "" };
    Value {
        trust: Trust::of_row(pair.a).or_doubtful(is_doubtful(pair)),
        says: format!("{ratio}{rounds} {}", figure.heading()),
        ..Value::from(ratio)
    }
}

mod sentence;

pub(crate) use sentence::sentences;

#[cfg(test)]
mod tests;
