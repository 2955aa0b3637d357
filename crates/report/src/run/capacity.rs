//! The rate that each server can be offered within the promise, and where its knee is.

use analysis::{Capacity, Table};
use lab::experiment::Point;

use super::findings::Findings;
use crate::document::{self, Block, Cell, Column, Mark, Marks, Row, Sign, Tone};
use crate::sentence::{broken, promised};

/// Empty for closed loops and for a single load level.
pub(super) fn blocks(findings: &Findings<'_>, table: &Table, key: String) -> Vec<Block> {
    let found = table.capacities();
    if found.is_empty() {
        return Vec::new();
    }
    let says = format!(
        "The limits: {}. Capacity is read off the rates that were tried, in {}; it lies between the first two columns. \
         The knee is the rate with the most throughput for its median response time.",
        promised(table.promise),
        findings.axis(table)
    );
    let column = |key, heading: &str, meaning: &str| Column::new(key, heading, 1).meaning(meaning);
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        column(
            "good",
            "keeps it up to",
            "the highest rate that meets the limits, as do all below it",
        ),
        column(
            "bad",
            "breaks it at",
            "the lowest rate that does not: capacity lies between the two",
        ),
        column("by", "by", "which limits were exceeded there").left(),
        column("rounds", "single rounds", "between these rates each round alone broke it")
            .folding(),
        column("knee", "knee", "the rate with the most throughput for its median response time"),
    ];
    let rows = found.iter().map(|(subject, capacity)| line(findings, table, subject, capacity));
    let table = document::Table::of(key, columns, rows);
    vec![
        Block::Heading("What each can be offered".into()),
        Block::paragraph(Tone::Dim, says),
        Block::Table(table),
    ]
}

fn line(findings: &Findings<'_>, table: &Table, subject: &str, capacity: &Capacity) -> Row {
    let place = |point: Option<Point>| match point {
        None => Cell::none(),
        Some(point) => Cell::text(findings.place_alone(point)).valued(Some(point.value())),
    };
    let bad = capacity.bad.as_ref();
    let good = match (capacity.good, bad) {
        (Some(good), None) => {
            Cell::text(format!("≥{}", findings.place_alone(good))).valued(Some(good.value()))
        }
        (None, Some(_)) => Cell::text("no rate tried"),
        (good, _) => place(good),
    };
    let ragged = if capacity.is_ragged { "; kept again at a higher rate, so in doubt" } else { "" };
    let by = broken(table, subject, capacity).map_or("–".into(), |by| by + ragged);
    let rounds = capacity.rounds.map_or(Cell::none(), |(low, high)| {
        Cell::text(format!("{}–{}", findings.place_alone(low), findings.place_alone(high)))
    });
    let unmet = findings.board.conformity(subject).is_some_and(|found| found.unmet.is_some());
    let name = Cell { sign: Sign::Slot, ..Cell::text(findings.title(subject)) };
    let cells = vec![
        name.marked(Marks::default().when(unmet, Mark::Unranked)),
        good.toned(Tone::Strong),
        place(bad.map(|(point, _)| *point)),
        Cell::text(by),
        rounds,
        place(capacity.knee),
    ];
    Row { slot: Some(findings.slot(subject)), cells, ..Row::default() }
}
