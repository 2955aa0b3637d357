//! Checks as readers and programs see them: the catalogue, and what was found, as text, JSON, JUnit and Markdown. What
//! is sent and how it is judged is decided in the room `check`.

mod document;
mod excerpt;
mod issue;
pub(crate) mod json;
pub(crate) mod junit;
pub mod list;
mod repeat;

use check::{CaseVerdict, FailOn, Finding, Protocol, Report, Target, VerdictCounts};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Document;
use crate::json::written;
use crate::render::{self, Screen, Shown};
pub use document::{Style, document};
pub(crate) use excerpt::{Cut, exchange};
pub use issue::issue;

/// A server that was to be checked.
#[derive(Serialize, JsonSchema)]
pub struct CheckedServer {
    /// its name, or the address as it was written
    pub name: String,
    /// its title
    pub title: String,
    /// The result, or why the server could not be checked.
    #[serde(skip)]
    pub result: Result<CheckResult, String>,
}

pub struct CheckResult {
    pub target: Target,
    /// The server's version; empty if it is not known.
    pub version: String,
    pub report: Report,
    /// Whether cases that could harm a server were sent, too.
    pub was_rude: bool,
    /// Whether only its WebSocket was checked.
    pub is_socket: bool,
}

impl CheckedServer {
    /// Its version; empty if it is not known.
    pub(crate) fn version(&self) -> &str {
        self.result.as_ref().map_or("", |result| &result.version)
    }
}

impl CheckResult {
    /// The findings of a protocol.
    pub fn of(&self, protocol: Protocol) -> impl Iterator<Item = &Finding> {
        self.report.findings.iter().filter(move |finding| finding.area.protocol() == protocol)
    }

    /// The protocols that any selected case speaks, with their tallies.
    pub fn tallies(&self) -> Vec<(Protocol, VerdictCounts)> {
        let spoken = Protocol::ALL.into_iter().filter(|it| self.of(*it).next().is_some());
        spoken.map(|protocol| (protocol, VerdictCounts::of(self.of(protocol)))).collect()
    }

    /// All of it together.
    pub fn tally(&self) -> VerdictCounts {
        VerdictCounts::of(&self.report.findings)
    }

    /// The findings with these verdicts: the worst first, then the highest weight.
    pub fn with(&self, verdicts: &[CaseVerdict]) -> Vec<&Finding> {
        let mut found: Vec<&Finding> = (self.report.findings.iter())
            .filter(|finding| verdicts.contains(&finding.verdict))
            .collect();
        found.sort_by_key(|finding| urgency(finding));
        found
    }
}

/// What a check of one server or of several has found.
pub struct FinishedCheck<'a> {
    pub servers: &'a [CheckedServer],
    pub style: Style,
    /// What a test fails on.
    pub fail_on: FailOn,
}

impl FinishedCheck<'_> {
    /// A row for each server.
    pub fn summary(&self) -> Document {
        document::summary(self.servers, self.style.is_part)
    }
}

impl Shown for FinishedCheck<'_> {
    /// Of several servers the summary; of one all that was found.
    fn document(&self) -> Document {
        match self.servers {
            [one] => document(one, self.style),
            _ => self.summary(),
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&json::CheckDocument::from(self.servers))
    }

    /// Each server, and then the summary of several.
    fn text(&self, screen: Screen) -> String {
        let several = (1 < self.servers.len()).then(|| self.summary());
        let each = self.servers.iter().map(|one| document(one, self.style));
        let all: Vec<String> =
            each.chain(several).map(|document| render::text(&document, screen)).collect();
        all.join("\n")
    }

    fn markdown(&self) -> String {
        render::markdown(&self.summary())
    }

    fn junit(&self) -> Option<String> {
        Some(junit::junit(self.servers, self.fail_on))
    }
}

/// A crash comes first, then a broken obligation that an attacker could use, then other obligations.
fn urgency(finding: &Finding) -> impl Ord + use<> {
    let is_harmless = finding.tags.is_empty();
    let is_no_crash = finding.verdict != CaseVerdict::Crash;
    (is_no_crash, finding.level, is_harmless, std::cmp::Reverse(finding.weight))
}
