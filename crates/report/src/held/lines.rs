//! The lines that are shown: one for each subject and workload, the same in all charts.

use analysis::{Estimate, HeldSubject, Memory, Plateau, Slope};
use lab::figure::{Figure, Unit};

use crate::Findings;
use crate::chart::Trust;
use crate::chart::marks::short;
use crate::number_format::Written;
pub(super) use crate::number_format::number;

/// A subject that held connections over a workload. Its colour is the subject's; its dashes are the workload's.
pub(super) struct Line<'f> {
    pub(super) slot: usize,
    pub(super) dash: usize,
    pub(super) title: String,
    pub(super) workload: &'f str,
    pub(super) held: &'f HeldSubject,
}

/// All lines: a subject's lines beside each other, references last.
pub(super) fn lines<'f>(findings: &'f Findings<'_>) -> Vec<Line<'f>> {
    let mut lines: Vec<Line<'f>> = Vec::new();
    for (dash, ramps) in findings.board.ramps.iter().enumerate() {
        for held in &ramps.subjects {
            let is_same = |other: &&HeldSubject| other.subject == held.subject;
            let mut title = brief(findings, &held.subject, &ramps.workload);
            if 1 < ramps.subjects.iter().filter(is_same).count() {
                let many = number(Unit::Count, f64::from(held.connections));
                title = format!("{title} · {many}");
            }
            let slot = findings.slot(&held.subject);
            lines.push(Line { slot, dash, title, workload: &ramps.workload, held });
        }
    }
    lines.sort_by_key(|line| (line.held.is_reference, line.slot, line.dash));
    lines
}

/// A name short enough to stand beside a line, with room left for the workload.
fn brief(findings: &Findings<'_>, subject: &str, workload: &str) -> String {
    const LETTERS: usize = 17;
    const LEAST: usize = 8;
    if findings.board.ramps.len() < 2 {
        return findings.title(subject).into();
    }
    let room = LETTERS.saturating_sub(workload.chars().count() + " · ".chars().count());
    format!("{} · {workload}", short(findings.title(subject), room.max(LEAST)))
}

impl Line<'_> {
    pub(super) fn trust(&self) -> Trust {
        Trust::of(self.held.verdict)
    }
}

/// The memory that its price is made of: one kind for all its plateaus, so that a line never mixes two.
pub(super) fn memory(held: &HeldSubject, plateau: &Plateau) -> Option<Estimate> {
    match kind(held) {
        Memory::Pss => plateau.estimate(Figure::PssMean),
        Memory::Rss => plateau.estimate(Figure::RssMean),
    }
}

/// The maximum of the same.
pub(super) fn memory_max(held: &HeldSubject, plateau: &Plateau) -> Option<Estimate> {
    match kind(held) {
        Memory::Pss => plateau.estimate(Figure::PssMax),
        Memory::Rss => plateau.estimate(Figure::RssMax),
    }
}

/// A subject without a price may have one plateau only.
fn kind(held: &HeldSubject) -> Memory {
    let has_pss = || {
        let mut plateaus = held.plateaus.iter();
        plateaus.all(|plateau| plateau.estimate(Figure::PssMean).is_some())
    };
    match held.price.memory {
        Some(slope) => slope.of,
        None if has_pss() => Memory::Pss,
        None => Memory::Rss,
    }
}

/// Says that a price is RSS, because most are PSS.
pub(super) fn rss(slope: &Slope) -> &'static str {
    match slope.of {
        Memory::Pss => "",
        Memory::Rss => " RSS",
    }
}

/// A number from several rounds: `≥` where it is a bound, `*` where too few samples lie beyond.
pub(super) fn estimated(unit: Unit, estimate: &Estimate) -> String {
    Written::estimate(unit, estimate).marked()
}
