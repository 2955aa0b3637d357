//! A check as readers and programs see it: which cases, which servers, its progress, and its result as text, JSON,
//! JUnit and Markdown. What is sent and how it is judged is decided in the crate `check`.

pub(crate) mod aim;
pub(crate) mod choice;
pub(crate) mod document;
pub(crate) mod excerpt;
pub(crate) mod interview;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod list;
pub(crate) mod progress;

use check::{CaseVerdict, Finding, Protocol, Report, Target, VerdictCounts};

/// A server that was to be checked.
pub(crate) struct Checked {
    /// The subject's name, or the address as it was written.
    pub(crate) name: String,
    /// A subject's title.
    pub(crate) title: String,
    /// A subject's version; empty if it is not known.
    pub(crate) version: String,
    /// The result, or why the server could not be checked.
    pub(crate) result: Result<CheckResult, String>,
}

pub(crate) struct CheckResult {
    pub(crate) target: Target,
    pub(crate) report: Report,
    /// Whether cases that could harm a server were sent, too.
    pub(crate) was_rude: bool,
    /// Whether only its WebSocket was checked.
    pub(crate) is_socket: bool,
}

impl CheckResult {
    /// The findings of a protocol.
    pub(crate) fn of(&self, protocol: Protocol) -> impl Iterator<Item = &Finding> {
        self.report.findings.iter().filter(move |finding| finding.area.protocol() == protocol)
    }

    /// The protocols that any selected case speaks, with their tallies.
    pub(crate) fn tallies(&self) -> Vec<(Protocol, VerdictCounts)> {
        let spoken = Protocol::ALL.into_iter().filter(|it| self.of(*it).next().is_some());
        spoken.map(|protocol| (protocol, VerdictCounts::of(self.of(protocol)))).collect()
    }

    /// All of it together.
    pub(crate) fn tally(&self) -> VerdictCounts {
        VerdictCounts::of(&self.report.findings)
    }

    /// The findings with these verdicts: the worst first, then the highest weight.
    pub(crate) fn with(&self, verdicts: &[CaseVerdict]) -> Vec<&Finding> {
        let mut found: Vec<&Finding> = (self.report.findings.iter())
            .filter(|finding| verdicts.contains(&finding.verdict))
            .collect();
        found.sort_by_key(|finding| urgency(finding));
        found
    }
}

/// A crash comes first, then a broken obligation that an attacker could use, then other obligations.
fn urgency(finding: &Finding) -> impl Ord + use<> {
    let is_harmless = finding.tags.is_empty();
    let is_no_crash = finding.verdict != CaseVerdict::Crash;
    (is_no_crash, finding.level, is_harmless, std::cmp::Reverse(finding.weight))
}

/// `pass, fail, pass`: the verdict of each round.
pub(crate) fn rounds(finding: &Finding) -> String {
    finding.rounds.iter().map(|verdict| verdict.name()).collect::<Vec<_>>().join(", ")
}
