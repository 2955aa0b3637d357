//! How much of the RFCs the subjects keep, as text: beside each speed in short, and in a section of its own. What servers
//! did is theirs to say: it is shown, never obeyed.

use analysis::{Conformity, Score, failures};
use lab::conformance::{Finding, Verdict};

use super::Told;
use super::results::NOT_RANKED;
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::table::Cell;
use crate::report::units::count;

/// Of whom nothing was found.
pub(super) const NOT_CHECKED: &str = "not checked";
/// Behind a speed: its server was gone after a case.
pub(super) const CRASHED: &str = "†";
/// So many failures of a subject are told in a text.
const FAILURES: usize = 5;

/// As it stands beside a speed; never blank.
pub(super) fn short(told: &Told<'_>, subject: &str) -> String {
    score(told, subject).map_or(NOT_CHECKED.into(), Score::short)
}

/// The same in a table of a text.
pub(super) fn cell(told: &Told<'_>, subject: &str) -> Cell {
    let ink = match score(told, subject) {
        None => Ink::Dim,
        Some(score) if score.has_crashed() => Ink::Bad,
        Some(score) if 0 < score.all.must_broken || !score.all.security.is_empty() => Ink::Doubtful,
        Some(_) => Ink::Plain,
    };
    Cell::ink(ink, short(told, subject))
}

pub(super) fn score<'t>(told: &'t Told<'_>, subject: &str) -> Option<&'t Score> {
    told.board.conformity(subject)?.score.as_ref().ok()
}

/// What the column means, and its marks.
pub(super) fn legend(told: &Told<'_>) -> Vec<String> {
    let all = &told.board.conformities;
    let mut parts = vec![
        "conformance: cases of the RFCs passed, of those that apply · obligations broken · failures that an attacker \
         could use; never part of a speed"
            .to_string(),
    ];
    if all.iter().any(|found| found.score.as_ref().is_ok_and(Score::has_crashed)) {
        parts.push(format!("{CRASHED}: it was gone after a case of its conformance check"));
    }
    if all.iter().any(|found| found.unmet.is_some()) {
        parts.push("not ranked: it does not keep what the experiment requires, see below".into());
    }
    parts
}

/// Who is not ranked, and why: a sentence each.
pub(super) fn unmet(told: &Told<'_>) -> Vec<String> {
    let one = |found: &Conformity| {
        let why = found.unmet.as_ref()?;
        Some(format!("not ranked: {}: {why}", told.title(&found.subject)))
    };
    told.board.conformities.iter().filter_map(one).collect()
}

/// Behind the name of who is not ranked.
pub(super) fn beside(told: &Told<'_>, subject: &str) -> &'static str {
    let is_unmet = told.board.conformity(subject).is_some_and(|found| found.unmet.is_some());
    if is_unmet { NOT_RANKED } else { "" }
}

/// Why somebody was not checked, or where the check comes from; nothing if there is nothing to say.
pub(super) fn remark(found: &Conformity) -> Option<String> {
    match (&found.score, found.from_run) {
        (Err(why), _) => Some(format!("{NOT_CHECKED}: {why}")),
        (Ok(score), _) if !score.cut_short.is_empty() => {
            Some(format!("the check was cut short: {}", score.cut_short))
        }
        (Ok(_), Some(run)) => Some(format!("as checked for run {run}, with the same build")),
        (Ok(_), None) => None,
    }
}

/// The section: every subject's lines, and the gravest of what it breaks.
pub(super) fn lines(told: &Told<'_>, width: usize) -> Vec<Line> {
    if told.board.conformities.is_empty() {
        return Vec::new();
    }
    let title = Line::ink(Ink::Bold, "how much of the RFCs they keep");
    let mut lines = vec![title.and(Ink::Dim, "  beside the speed, and never part of it")];
    match in_one(told) {
        Some(says) => lines.extend(inked(Ink::Dim, &says, width, "")),
        None => {
            for found in &told.board.conformities {
                lines.extend(of_subject(told, found, width));
            }
        }
    }
    for says in unmet(told) {
        lines.extend(inked(Ink::Doubtful, &says, width, ""));
    }
    lines
}

/// If all were not checked for one reason, it is said once.
fn in_one(told: &Told<'_>) -> Option<String> {
    let all: Vec<Option<String>> = told.board.conformities.iter().map(remark).collect();
    let is_nobody = told.board.conformities.iter().all(|found| found.score.is_err());
    let is_alike = all.windows(2).all(|pair| pair[0] == pair[1]);
    all.first().cloned().flatten().filter(|_| is_nobody && is_alike)
}

fn of_subject(told: &Told<'_>, found: &Conformity, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::ink(Ink::Bold, told.title(&found.subject)).cut(width)];
    for says in found.score.iter().flat_map(Score::lines) {
        lines.extend(inked(Ink::Plain, &says, width, "  "));
    }
    if let Some(says) = remark(found) {
        lines.extend(inked(Ink::Dim, &says, width, "  "));
    }
    let failures = failures(findings(told, &found.subject));
    for failure in failures.iter().take(FAILURES) {
        lines.extend(inked(Ink::Bad, &failed(failure), width, "  "));
    }
    if FAILURES < failures.len() {
        let more = count((failures.len() - FAILURES) as u64);
        let says = format!("and {more} more: `dyno report {} --format html` has them all", told.id);
        lines.extend(inked(Ink::Dim, &says, width, "  "));
    }
    lines
}

/// What was found of a subject, case by case.
pub(super) fn findings<'t>(told: &'t Told<'_>, subject: &str) -> &'t [Finding] {
    let found = told.run.conformance.iter().find(|found| found.subject == subject);
    found.and_then(|found| found.found.as_ref().ok()).map_or(&[], |report| &report.findings)
}

/// `H1-F03 MUST two lengths: 200 (RFC 9112, 6.3)`.
pub(super) fn failed(finding: &Finding) -> String {
    let crashed = if finding.verdict == Verdict::Crash { "CRASH " } else { "" };
    format!(
        "{} {crashed}{} {}: {} ({})",
        finding.id,
        finding.level.name(),
        finding.title,
        finding.why,
        finding.clause
    )
}

fn inked(ink: Ink, text: &str, width: usize, indent: &str) -> Vec<Line> {
    let inner = width.saturating_sub(indent.len()).max(20);
    wrapped(text, inner).into_iter().map(|line| Line::ink(ink, format!("{indent}{line}"))).collect()
}

#[cfg(test)]
pub(super) mod tests;
