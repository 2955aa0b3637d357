//! A subject's check as rows, and back.

use lab::conformance::{Conformance, Report, Stamp};

use crate::cell::row;
use crate::table::Rows;

/// What is written where a check found nothing.
static NOTHING: Report = Report {
    catalogue: Stamp { version: String::new(), hash: String::new() },
    findings: Vec::new(),
    rounds: 0,
    took_ms: 0,
    cut_short: String::new(),
};

/// The rows of a subject's check.
pub(crate) fn rows(conformance: &Conformance) -> Rows {
    let mut rows = Rows::default();
    let report = conformance.found.as_ref().unwrap_or(&NOTHING);
    let wrong = conformance.found.as_ref().err().cloned();
    rows.add("run_conformance", row![conformance.from_run, wrong, *report]);
    rows.add_list("run_finding", &report.findings);
    rows
}

/// The check that is read from these rows.
pub(crate) fn conformance(subject: &str, mut rows: Rows) -> Result<Conformance, String> {
    let findings = rows.take_list("run_finding")?;
    let (from_run, (wrong, report)) = rows.take_only("run_conformance")?;
    let found = Option::map_or(wrong, Ok(Report { findings, ..report }), Err);
    Ok(Conformance { subject: subject.into(), from_run, found })
}
