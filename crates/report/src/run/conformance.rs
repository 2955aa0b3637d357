//! How much of the RFCs each server keeps: in short beside its speed, and in a section of its own. What a server sent
//! is its own text: it is shown, never obeyed.

use analysis::{Conformity, Score, failures};
use lab::conformance::{CaseVerdict, Finding};

use super::findings::Findings;
use crate::check::{Cut, exchange};
use crate::conformance::{entry, table};
use crate::document::{Block, Cell, Depth, Entry, Fold, Section, Tone};
use crate::grouped::grouped;

/// Where no check was made.
pub(super) const NOT_CHECKED: &str = "not checked";
/// The legend of the column of that name.
pub(super) const MEANING: &str = "cases of the RFCs passed, of those that apply; then rules broken that the RFCs demand, and \
     failures that an attacker could use; never part of a speed";
/// At most this many failures of a server are shown with their bytes.
const WITH_BYTES: usize = 40;
/// Up to this many servers are shown unfolded.
const UNFOLDED: usize = 3;
const ABOUT: &str = "Each server was sent well-formed, odd and hostile requests, for the clauses of RFC 9110, 9112 and 6455. \
     A refusal counts only if its well-formed twin was accepted; silence is never a pass; the worst of all rounds counts. None \
     of this is part of a speed.";

/// The cell beside a speed; never blank.
pub(super) fn cell(findings: &Findings<'_>, subject: &str) -> Cell {
    let Some(score) = score(findings, subject) else {
        return Cell::text(NOT_CHECKED).toned(Tone::Dim);
    };
    let tone = match score.has_crashed() {
        true => Tone::Bad,
        false if 0 < score.all.must_broken || !score.all.security.is_empty() => Tone::Doubtful,
        false => Tone::Plain,
    };
    Cell::text(score.short()).valued(Some(score.all.points())).toned(tone)
}

pub(super) fn score<'t>(findings: &'t Findings<'_>, subject: &str) -> Option<&'t Score> {
    findings.board.conformity(subject)?.score.as_ref().ok()
}

/// The findings about a server, case by case.
pub(super) fn cases<'t>(findings: &'t Findings<'_>, subject: &str) -> &'t [Finding] {
    let found = findings.run.conformance.iter().find(|found| found.subject == subject);
    found.and_then(|found| found.found.as_ref().ok()).map_or(&[], |report| &report.findings)
}

/// A table of all servers, and for each of them what it breaks; empty if no server takes part in the run.
pub(super) fn section(findings: &Findings<'_>) -> Section {
    let section = Section::new("conformance", "Conformance to the RFCs", Depth::Full)
        .noting("not part of any speed figure");
    let all = &findings.board.conformities;
    if all.is_empty() || findings.is_load() {
        return section;
    }
    let mut blocks = Vec::new();
    let checked: Vec<(&Conformity, &Score)> =
        all.iter().filter_map(|found| Some((found, found.score.as_ref().ok()?))).collect();
    if !checked.is_empty() {
        blocks.push(Block::paragraph(Tone::Dim, ABOUT));
        blocks.push(Block::Table(table(findings)));
    }
    blocks.extend(unchecked(findings));
    let is_open = checked.len() <= UNFOLDED;
    let folds = checked.into_iter().map(|(found, score)| {
        Block::Fold(Fold {
            summary: format!("{}: {}", findings.title(&found.subject), score.short()),
            slot: (!found.is_reference).then(|| findings.slot(&found.subject)),
            is_open,
            blocks: of_server(cases(findings, &found.subject), found, score),
        })
    });
    section.with(blocks).with(folds)
}

/// The servers that were not checked, grouped by reason.
fn unchecked(findings: &Findings<'_>) -> Vec<Block> {
    let all = findings.board.conformities.iter();
    let unchecked = all.filter_map(|found| {
        Some((found.score.as_ref().err()?.as_str(), findings.title(&found.subject)))
    });
    let paragraph = |(why, titles): (&str, Vec<&str>)| {
        Block::paragraph(Tone::Plain, format!("Not checked: {}: {why}.", titles.join(", ")))
    };
    grouped(unchecked).into_iter().map(paragraph).collect()
}

fn of_server(all: &[Finding], found: &Conformity, score: &Score) -> Vec<Block> {
    let mut blocks: Vec<Block> =
        score.lines().into_iter().map(|line| Block::paragraph(Tone::Plain, line)).collect();
    if let Some(run) = found.from_run {
        let says = format!("As checked for run {run}, with the same build and version.");
        blocks.push(Block::paragraph(Tone::Dim, says));
    }
    if !score.cut_short.is_empty() {
        let says = format!("The check was cut short: {}.", score.cut_short);
        blocks.push(Block::paragraph(Tone::Doubtful, says));
    }
    let broken = failures(all);
    blocks.push(match broken.is_empty() {
        true => Block::paragraph(Tone::Dim, "No clause that was tested is broken."),
        false => Block::Entries(broken.iter().enumerate().map(failure).collect()),
    });
    blocks.extend(folded("tolerable", all, CaseVerdict::Warn));
    blocks.extend(folded("not testable", all, CaseVerdict::NotTestable));
    blocks
}

fn folded(heading: &str, all: &[Finding], verdict: CaseVerdict) -> Option<Block> {
    let own = all.iter().filter(|finding| finding.verdict == verdict);
    let entries: Vec<Entry> = own.map(entry).collect();
    let summary = format!("{heading}: {}", entries.len());
    (!entries.is_empty()).then(|| Block::fold(summary, vec![Block::Entries(entries)]))
}

fn failure((place, finding): (usize, &&Finding)) -> Entry {
    let bytes = if place < WITH_BYTES { exchange(finding, Cut::SHORT) } else { Vec::new() };
    Entry { bytes, ..entry(finding) }
}

#[cfg(test)]
pub(super) mod tests;
