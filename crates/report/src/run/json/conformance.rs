//! How much of the RFCs the subjects keep, as JSON.

use analysis::Conformity;
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::{AreaJson, CatalogueJson, FindingJson, ProtocolJson, TallyJson};
use crate::run::Findings;
use crate::run::conformance::cases;

/// How much of the RFCs a subject keeps.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "conformance")]
pub(super) struct ConformanceJson<'t> {
    /// the subject
    subject: &'t str,
    /// it is no competitor
    is_reference: bool,
    /// why there are no findings; null if there are
    not_checked: Option<&'t str>,
    /// which requirement of the experiment it does not meet
    not_ranked: Option<&'t str>,
    /// the run of the same store that made the check, with the same build; null: this run
    from_run: Option<u64>,
    /// which cases there were
    catalogue: Option<CatalogueJson>,
    /// how often each case was played
    rounds: Option<usize>,
    /// why the check ended early; null if it did not
    cut_short: Option<&'t str>,
    /// all cases
    all: Option<TallyJson>,
    /// the cases of each protocol
    protocols: Vec<ProtocolJson>,
    /// the cases of each area
    areas: Vec<AreaJson>,
    /// every case; failures have the first 500 octets of each side
    findings: Vec<FindingJson<'t>>,
}

pub(super) fn all<'t>(findings: &'t Findings<'_>) -> Vec<ConformanceJson<'t>> {
    findings.board.conformities.iter().map(|found| of(findings, found)).collect()
}

fn of<'t>(findings: &'t Findings<'_>, found: &'t Conformity) -> ConformanceJson<'t> {
    let score = found.score.as_ref().ok();
    let cut_short = score.map(|score| score.cut_short.as_str());
    ConformanceJson {
        subject: &found.subject,
        is_reference: found.is_reference,
        not_checked: found.score.as_ref().err().map(String::as_str),
        not_ranked: found.unmet.as_deref(),
        from_run: found.from_run,
        catalogue: score.map(|score| (&score.catalogue).into()),
        rounds: score.map(|score| score.rounds),
        cut_short: cut_short.filter(|says| !says.is_empty()),
        all: score.map(|score| (&score.all).into()),
        protocols: score.map_or(Vec::new(), |score| {
            let of_each = score.protocols.iter();
            of_each.map(|(protocol, tally)| ProtocolJson::new(*protocol, tally)).collect()
        }),
        areas: score.map_or(Vec::new(), |score| {
            score.areas.iter().map(|(area, tally)| AreaJson::new(*area, tally)).collect()
        }),
        findings: cases(findings, &found.subject).iter().map(FindingJson::from).collect(),
    }
}
