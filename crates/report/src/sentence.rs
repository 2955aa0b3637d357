//! Two or three honest sentences about a run.

use analysis::{Estimate, Row, Table};
use lab::figure::Figure;

use crate::Findings;

/// One about each workload, and what they are worth.
pub(crate) fn all(findings: &Findings<'_>) -> Vec<String> {
    let mut texts: Vec<String> =
        findings.board.tables.iter().filter_map(|table| most(findings, table)).collect();
    texts.push(worth(findings));
    texts
}

/// Of those who compete, who came to the most and who to the least, and who cannot be told from the first.
fn most(findings: &Findings<'_>, table: &Table) -> Option<String> {
    let mut found: Vec<(&str, Estimate, bool)> = match table.is_curve() {
        true => table
            .peaks
            .iter()
            .filter(|peak| !peak.is_reference)
            .map(|peak| (peak.subject.as_str(), peak.achieved, peak.is_doubtful))
            .collect(),
        false => {
            let of =
                |row: &Row| row.estimate(Figure::Achieved).map(|found| (found, row.is_doubtful()));
            let rows = table.rows.iter().filter(|row| !row.is_reference);
            rows.filter_map(|row| {
                of(row).map(|(found, doubt)| (row.subject.as_str(), found, doubt))
            })
            .collect()
        }
    };
    found.sort_by(|one, other| other.1.value.total_cmp(&one.1.value));
    let (first, last) = (found.first()?, found.last()?);
    let rate = |(subject, estimate, is_doubtful): &(&str, Estimate, bool)| {
        let doubt = if *is_doubtful { " (in doubt)" } else { "" };
        let rate = (findings.number)(Figure::Achieved, estimate.value);
        format!("{} {rate}/s{doubt}", findings.title(subject))
    };
    let mut says = format!("{}: the most came from {}", table.workload, rate(first));
    if 1 < found.len() {
        says.push_str(&format!(", the least from {}", rate(last)));
    }
    let overlaps = |other: &&(&str, Estimate, bool)| {
        let both = first.1.interval.zip(other.1.interval);
        both.is_some_and(|(one, other)| one.0 <= other.1)
    };
    let near: Vec<&str> =
        found.iter().skip(1).filter(overlaps).map(|other| findings.title(other.0)).collect();
    match near.is_empty() {
        true => says.push('.'),
        false => says.push_str(&format!(
            "; the intervals of {} reach into the first one's, so their order is not settled.",
            near.join(", ")
        )),
    }
    Some(says)
}

fn worth(findings: &Findings<'_>) -> String {
    let rows = || findings.board.tables.iter().flat_map(|table| &table.rows);
    let mut says = match rows().any(|row| 1 < row.measured()) {
        true => "Rounds differ as the intervals show; another day or machine may differ more.",
        false => "There was one round, so how far rounds lie apart is not known: small differences mean nothing.",
    }
    .to_string();
    if rows().any(|row| row.measured() < row.planned) {
        says.push_str(" Some trials are no measurement; they are told and not averaged.");
    }
    if rows().any(Row::is_doubtful) {
        says.push_str(" Some figures are in doubt; they are marked.");
    }
    says
}
