//! How much of the RFCs the subjects keep, as JSON.

use analysis::Conformity;
use lab::conformance::Stamp;

use crate::json::{AreaJson, FindingJson, ProtocolJson, TallyJson, json_type};
use crate::run::conformance::cases;
use crate::run::findings::Findings;

json_type! {
    /// How much of the RFCs a server keeps.
    pub(super) struct ConformanceJson<'t> as "conformance" of found: Conformity, with findings: Findings<'_>;
        let score = found.score.as_ref().ok();
        let cut_short = score.map(|score| score.cut_short.as_str());
    {
        /// the server
        subject: &'t str = &found.subject,
        /// it is no competitor
        is_reference: bool,
        /// why there are no findings; null if there are
        not_checked: Option<&'t str> = found.score.as_ref().err().map(String::as_str),
        /// which requirement of the experiment it does not meet
        not_ranked: Option<&'t str> = found.unmet.as_deref(),
        /// the run of the same store that made the check, with the same build; null: this run
        from_run: Option<u64>,
        /// which cases there were
        catalogue: Option<&'t Stamp> = score.map(|score| &score.catalogue),
        /// how often each case was played
        rounds: Option<usize> = score.map(|score| score.rounds),
        /// why the check ended early; null if it did not
        cut_short: Option<&'t str> = cut_short.filter(|says| !says.is_empty()),
        /// all cases
        all: Option<TallyJson> = score.map(|score| (&score.all).into()),
        /// the cases of each protocol
        protocols: Vec<ProtocolJson> = score.map_or(Vec::new(), |score| {
            let of_each = score.protocols.iter();
            of_each.map(|(protocol, tally)| ProtocolJson::of(protocol, tally)).collect()
        }),
        /// the cases of each area
        areas: Vec<AreaJson> = score.map_or(Vec::new(), |score| {
            score.areas.iter().map(|(area, tally)| AreaJson::of(area, tally)).collect()
        }),
        /// every case; failures have the first 500 octets of what was sent and of what came
        findings: Vec<FindingJson<'t>> =
            cases(findings, &found.subject).iter().map(FindingJson::from).collect(),
    }
}

pub(super) fn all<'t>(findings: &'t Findings<'_>) -> Vec<ConformanceJson<'t>> {
    findings.board.conformities.iter().map(|found| ConformanceJson::of(findings, found)).collect()
}
