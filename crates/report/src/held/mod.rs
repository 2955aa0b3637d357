//! What held connections cost: a price list first, then every ramp against its connections, and one along its time.

mod course;
mod curves;
mod lines;
mod losses;
mod plateaus;
mod price;
mod sentence;
mod stated;

pub(crate) use sentence::all as sentences;

use crate::Findings;
use crate::chart::{Room, Stand};

/// How the parts of it stand.
pub(crate) const STYLE: &str = include_str!("held.css");

/// Nothing of a run that held none.
pub(crate) fn section(findings: &Findings<'_>) -> String {
    let lines = lines::lines(findings);
    if lines.is_empty() {
        return String::new();
    }
    [
        "<section>\n<h2>Held connections</h2>\n".to_string(),
        price::list(findings, &lines),
        price::charts(findings, &lines),
        stated::stated(findings, &lines),
        curves::curves(findings, &lines),
        losses::losses(findings, &lines),
        plateaus::table(findings, &lines),
        course::courses(findings),
        "</section>\n".to_string(),
    ]
    .concat()
}

/// The picture that stands alone for a workload: what its connections took, and how late its messages came.
pub(crate) fn drawn(findings: &Findings<'_>, workload: &str, stand: Stand<'_>) -> String {
    let all = lines::lines(findings).into_iter();
    // Of one workload all lines are whole.
    let lines: Vec<lines::Line<'_>> = all
        .filter(|line| line.workload == workload)
        .map(|line| lines::Line { dash: 0, ..line })
        .collect();
    curves::signature(findings, workload, &lines).svg(Room::Wide, stand)
}

/// A subject over a workload; of one workload its name says nothing.
fn named(findings: &Findings<'_>, subject: &str, workload: &str) -> String {
    let title = findings.title(subject);
    match findings.board.ramps.len() {
        0 | 1 => title.into(),
        _ => format!("{title} · {workload}"),
    }
}
