//! Who is shown: a line for each subject and workload, alike in all charts.

use analysis::{Basis, Climb, Estimate, HeldFigure, Plateau, Slope, Verdict};
use lab::figure::{Figure, Unit};

use crate::Findings;

/// A subject that held connections over a workload. Its colour is the subject's; how it is broken is the workload's.
pub(super) struct Line<'f> {
    pub(super) slot: usize,
    pub(super) dash: usize,
    pub(super) title: String,
    pub(super) workload: &'f str,
    pub(super) climb: &'f Climb,
}

/// All of them: a subject's beside each other, references last.
pub(super) fn lines<'f>(findings: &'f Findings<'_>) -> Vec<Line<'f>> {
    let mut lines: Vec<Line<'f>> = Vec::new();
    for (dash, ramps) in findings.board.ramps.iter().enumerate() {
        for climb in &ramps.climbs {
            let is_same = |other: &&Climb| other.subject == climb.subject;
            let mut title = super::named(findings, &climb.subject, &ramps.workload);
            if 1 < ramps.climbs.iter().filter(is_same).count() {
                let many = number(findings, Unit::Count, f64::from(climb.connections));
                title = format!("{title} · {many}");
            }
            let slot = findings.slot(&climb.subject);
            lines.push(Line { slot, dash, title, workload: &ramps.workload, climb });
        }
    }
    lines.sort_by_key(|line| (line.climb.is_reference, line.slot, line.dash));
    lines
}

impl Line<'_> {
    pub(super) fn is_doubtful(&self) -> bool {
        self.climb.verdict.is_some_and(|verdict| verdict != Verdict::Valid)
    }
}

/// Memory in which shared pages are divided, where that was read.
pub(super) fn memory(plateau: &Plateau) -> Option<Estimate> {
    plateau.estimate(HeldFigure::PssMean).or(plateau.estimate(HeldFigure::RssMean))
}

/// The most of the same.
pub(super) fn memory_max(plateau: &Plateau) -> Option<Estimate> {
    plateau.estimate(HeldFigure::PssMax).or(plateau.estimate(HeldFigure::RssMax))
}

/// A number in its unit, as tables have it.
pub(super) fn number(findings: &Findings<'_>, unit: Unit, value: f64) -> String {
    let like = match unit {
        Unit::PerSecond => Figure::Achieved,
        Unit::Count => Figure::Attempted,
        Unit::Percent => Figure::CpuShare,
        Unit::Milliseconds => Figure::ResponseP99,
        Unit::Bytes => Figure::RssPeak,
        Unit::KibPerSecond => Figure::Received,
    };
    (findings.number)(like, value)
}

/// Bytes as units of 1,024, without their name.
pub(super) fn kib(findings: &Findings<'_>, bytes: f64) -> String {
    number(findings, Unit::KibPerSecond, units_of_1024(bytes))
}

/// What axes of such units count.
pub(super) fn units_of_1024(bytes: f64) -> f64 {
    bytes / 1_024.0
}

/// A slope's interval, `~` where it is about the line of one round only.
pub(super) fn interval(findings: &Findings<'_>, slope: &Slope) -> Option<String> {
    let line = match slope.basis {
        Basis::Rounds => "",
        Basis::Line => "~",
    };
    let (low, high) = slope.interval?;
    Some(format!("{line}[{}–{}]", kib(findings, low), kib(findings, high)))
}

/// A number of several rounds: `≥` where it is a bound, `*` where too few samples lie beyond.
pub(super) fn estimated(findings: &Findings<'_>, unit: Unit, estimate: &Estimate) -> String {
    let bound = if estimate.is_censored { "≥" } else { "" };
    let few = if estimate.is_supported || estimate.is_censored { "" } else { "*" };
    format!("{bound}{}{few}", number(findings, unit, estimate.value))
}
