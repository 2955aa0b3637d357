//! What held connections cost, as pictures: every ramp against its connections, and one along its time.

mod course;
mod curves;
pub(crate) mod lines;
mod price;
mod published;
mod sentence;

pub(crate) use price::{cause, gave_way};
pub(crate) use sentence::{all as sentences, held as sentence};

use crate::Findings;
use crate::chart::{Room, Stand};
use crate::document::Table;
use crate::markup::Markup;

/// The figures of the article, and of this run.
pub(crate) fn stated(findings: &Findings<'_>) -> Option<Table> {
    published::published(findings, &lines::lines(findings))
}

/// All pictures of a run of held connections.
pub(crate) fn pictures(findings: &Findings<'_>) -> Markup {
    let lines = lines::lines(findings);
    [curves::curves(findings, &lines), course::courses(findings)].into_iter().collect()
}

/// The picture that stands alone for a workload: what its connections took, and how late its messages arrived.
pub(crate) fn drawn(findings: &Findings<'_>, workload: &str, stand: Stand<'_>) -> Markup {
    let all = lines::lines(findings).into_iter();
    // With one workload all lines are unbroken.
    let lines: Vec<lines::Line<'_>> = all
        .filter(|line| line.workload == workload)
        .map(|line| lines::Line { dash: 0, ..line })
        .collect();
    curves::signature(findings, workload, &lines).svg(Room::Wide, stand)
}

/// A subject over a workload; if there is one workload only, its name is left out.
fn named(findings: &Findings<'_>, subject: &str, workload: &str) -> String {
    let title = findings.title(subject);
    match findings.board.ramps.len() {
        0 | 1 => title.into(),
        _ => format!("{title} · {}", findings.task(workload)),
    }
}
