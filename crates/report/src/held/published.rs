//! The figures that the article states, and beside them what this run says about the same.

use analysis::{Estimate, Plateau};
use lab::figure::{Figure, Unit};
use lab::history::Published;

use super::lines::{Line, estimated, number};
use crate::Findings;
use crate::document::Table;
use crate::run::fairness::text_table;

/// None if the article states nothing about what was held.
pub(super) fn published(findings: &Findings<'_>, lines: &[Line<'_>]) -> Option<Table> {
    let history = &findings.history;
    let is_held = |published: &&Published| {
        findings.board.ramps.iter().any(|ramps| ramps.workload == published.workload)
    };
    let figures: Vec<&Published> = history.figures.iter().filter(is_held).collect();
    let label = history.label.as_str();
    let head = ["server", "workload", "connections", "figure", label, "this run", "note"];
    let rows = figures.iter().map(|published| {
        let unit = published.figure.unit();
        let line = lines.iter().find(|line| {
            line.held.subject == published.subject && line.workload == published.workload
        });
        vec![
            findings.title(&published.subject).to_string(),
            published.workload.clone(),
            published.point.map_or("most".into(), |point| number(Unit::Count, point)),
            published.figure.heading().into(),
            number(unit, published.value),
            line.and_then(|line| now(line, published)).unwrap_or("–".into()),
            published.note.clone(),
        ]
    });
    (!figures.is_empty()).then(|| text_table("stated", &head, rows))
}

/// Our figure for the same: at the plateau with so many connections, else at the last one.
fn now(line: &Line<'_>, published: &Published) -> Option<String> {
    let plateaus = &line.held.plateaus;
    let is_it = |plateau: &&Plateau| Some(plateau.connections as f64) == published.point;
    let plateau = match published.point {
        Some(_) => plateaus.iter().find(is_it)?,
        None => plateaus.last()?,
    };
    if published.figure == Figure::FailedShare {
        let count = |many: u64| number(Unit::Count, many as f64);
        let (failed, lost) = (count(plateau.sums.failed), count(plateau.sums.lost));
        let rounds = if plateau.rounds == 1 { "round" } else { "rounds" };
        return Some(format!("{failed} failed, {lost} lost in {} {rounds}", plateau.rounds));
    }
    let found = alike(line, plateau, published.figure)?;
    Some(estimated(published.figure.unit(), &found))
}

/// The figure of ours that means the same.
fn alike(line: &Line<'_>, plateau: &Plateau, figure: Figure) -> Option<Estimate> {
    match figure {
        // A request of an article is a connection here.
        Figure::Attempted | Figure::Correct => line.held.price.reached,
        _ => plateau.estimate(figure.at_step()?),
    }
}
