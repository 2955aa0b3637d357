//! Held connections as Markdown: the price list, and everybody's way up. Cells come as texts; whoever joins them escapes.

use analysis::{Climb, HeldFigure, Plateau, Ramps, Verdict};
use lab::figure::Unit;

use super::super::{Told, conformance};
use super::{cell, climbs, entries, mark, says, shown, shown_in, who};

/// A heading and its rows, not yet escaped.
pub(in crate::board) struct Grid {
    /// So many columns, from the left, are names.
    pub(in crate::board) names: usize,
    pub(in crate::board) head: Vec<String>,
    pub(in crate::board) rows: Vec<Vec<String>>,
}

/// What a held connection costs with each.
pub(in crate::board) fn prices(told: &Told<'_>) -> Grid {
    let head = [
        "subject",
        "held",
        "gave way first",
        "KiB each",
        "conformance",
        "95 %",
        "CPU/1k",
        "reached",
        "given back",
        "rounds",
        "verdict",
    ];
    let rows = climbs(told).map(|(ramps, climb)| price(told, ramps, climb)).collect();
    Grid { names: 3, head: head.map(String::from).to_vec(), rows }
}

/// What the list's columns mean.
pub(in crate::board) fn legend(told: &Told<'_>) -> String {
    says::price_legend(&climbs(told).collect::<Vec<_>>())
}

fn price(told: &Told<'_>, ramps: &Ramps, climb: &Climb) -> Vec<String> {
    let price = &climb.price;
    let given_back = price.after.as_ref().and_then(|after| after.given_back_percent);
    let number = |unit: Unit, found: Option<analysis::Estimate>| {
        found.map_or("–".to_string(), |found| shown_in(unit, &found))
    };
    vec![
        who(told, climb),
        ramps.workload.clone(),
        says::gave_way(climb).unwrap_or_else(|| "nothing".into()),
        says::each(climb) + mark(climb),
        conformance::short(told, &climb.subject),
        says::interval(climb),
        number(Unit::Milliseconds, price.cpu_ms_per_1000),
        number(Unit::Count, price.reached),
        number(Unit::Percent, given_back),
        climb.measured.to_string(),
        climb.verdict.map_or("–", Verdict::name).into(),
    ]
}

/// Everybody's plateaus with one workload.
pub(in crate::board) fn plateaus(told: &Told<'_>, ramps: &Ramps) -> Grid {
    let entries: Vec<(&Climb, &Plateau)> = entries(ramps).collect();
    let figures: Vec<HeldFigure> = shown(&entries).into_iter().map(|(figure, _)| figure).collect();
    let mut head = vec!["subject".to_string(), "held".to_string()];
    head.extend(figures.iter().map(|figure| figure.heading().to_string()));
    head.push("rounds".into());
    let row = |(climb, plateau): &(&Climb, &Plateau)| {
        let mut row = vec![who(told, climb), super::places(plateau)];
        row.extend(figures.iter().map(|&figure| cell(figure, plateau).parts().1.to_string()));
        row.push(plateau.rounds.to_string());
        row
    };
    Grid { names: 1, head, rows: entries.iter().map(row).collect() }
}
