//! How much of the RFCs the subjects keep: a matrix, and of each what it breaks, with the bytes. Beside the speed, and
//! never part of it.

mod matrix;
mod subject;

use analysis::{Conformity, Row, Score};

use crate::Findings;
use crate::markup::escaped;
use crate::page::part::paragraph;

/// How the parts of it stand.
pub(crate) const STYLE: &str = include_str!("conformance.css");

/// Of whom nothing was found.
const NOT_CHECKED: &str = "not checked";

/// Nothing of a run in which nobody takes part.
pub(crate) fn section(findings: &Findings<'_>) -> String {
    let all = &findings.board.conformities;
    if all.is_empty() {
        return String::new();
    }
    let mut html =
        String::from("<section>\n<h2 id=\"conformance\">How much of the RFCs they keep</h2>\n");
    html.push_str(&paragraph("dim", ABOUT));
    html.push_str(&unmet(findings));
    if all.iter().any(|found| found.score.is_ok()) {
        html.push_str(&matrix::matrix(findings));
    }
    html.push_str(&unchecked(findings));
    // A few are read at a glance; of many, who looks for one opens it.
    let is_open = all.iter().filter(|found| found.score.is_ok()).count() <= 3;
    for (found, score) in checked(all) {
        html.push_str(&subject::told(findings, found, score, is_open));
    }
    html + "</section>\n"
}

const ABOUT: &str = "Each subject was asked, once, what RFC 9110, 9112 and 6455 speak of: well-formed, odd and hostile requests. A refusal \
     counts only if its well-formed twin was accepted; silence is never a pass; the worst of all rounds counts. None of \
     this is part of a speed. It was not asked under load, but for the cheapest cases.";

fn checked(all: &[Conformity]) -> impl Iterator<Item = (&Conformity, &Score)> {
    all.iter().filter_map(|found| Some((found, found.score.as_ref().ok()?)))
}

/// Who is not ranked, and why.
fn unmet(findings: &Findings<'_>) -> String {
    let one = |found: &Conformity| {
        let why = found.unmet.as_ref()?;
        Some(paragraph("warn", &format!("Not ranked: {}: {why}.", findings.title(&found.subject))))
    };
    findings.board.conformities.iter().filter_map(one).collect()
}

/// Of whom nothing was found, by the reason.
fn unchecked(findings: &Findings<'_>) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for found in &findings.board.conformities {
        let Err(why) = &found.score else { continue };
        let title = findings.title(&found.subject);
        match reasons.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, titles)) => titles.push(title),
            None => reasons.push((why, vec![title])),
        }
    }
    let one = |(why, titles): (&str, Vec<&str>)| {
        paragraph("", &format!("Not checked: {}: {why}.", titles.join(", ")))
    };
    reasons.into_iter().map(|(why, titles)| one((why, titles))).collect()
}

/// As it stands beside a speed; never blank.
pub(crate) fn short(findings: &Findings<'_>, subject: &str) -> String {
    let score = findings.board.conformity(subject).and_then(|found| found.score.as_ref().ok());
    score.map_or(NOT_CHECKED.into(), Score::short)
}

/// What it is sorted by: none of who was not checked.
pub(crate) fn value(findings: &Findings<'_>, subject: &str) -> Option<f64> {
    let found = findings.board.conformity(subject)?;
    found.score.as_ref().ok().map(|score| score.all.points())
}

/// Behind a speed: its server was gone after a case.
pub(crate) fn mark(row: &Row) -> &'static str {
    if row.has_crashed { "†" } else { "" }
}

/// Who is not ranked is pale wherever it is drawn, in a page and in a chart that leaves it.
pub(crate) fn pale(findings: &Findings<'_>) -> String {
    paled(findings, "svg ")
}

/// And wherever it has a row.
pub(crate) fn pale_rows(findings: &Findings<'_>) -> String {
    paled(findings, ":is(.results,.capacities) tr")
}

fn paled(findings: &Findings<'_>, what: &str) -> String {
    let unmet = findings.board.conformities.iter().filter(|found| found.unmet.is_some());
    let rule = |found: &Conformity| {
        let slot = findings.slot(&found.subject);
        format!("{what}[data-s=\"{slot}\"]{{filter:grayscale(1);opacity:.45}}\n")
    };
    unmet.map(rule).collect()
}

/// Octets as text: what is no letter is named, and lines end where they do.
fn octets(octets: &[u8]) -> String {
    let shown = octets.escape_ascii().to_string();
    escaped(&shown.replace("\\r\\n", "\\r\\n\n").replace("\\\"", "\"").replace("\\'", "'"))
}
