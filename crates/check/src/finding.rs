//! What was found: owned values, so that they can be kept and shown by a program that has another catalogue.

use std::fmt;

use units::named;

use crate::case::{Area, Case, Level, Tag};
use crate::script::joined;

named! {
    /// The result of a case. A later value is worse; "does not apply" is neither good nor bad.
    pub enum CaseVerdict {
        /// It does not apply to this server, or was not sent to it.
        NotApplicable = "n/a",
        /// As the clause requires.
        Pass = "pass",
        /// Tolerable.
        Warn = "warn",
        /// Its twin was not accepted, so the case says nothing.
        NotTestable = "n/t",
        /// Not as the clause requires.
        Fail = "fail",
        /// The server was gone afterwards.
        Crash = "crash",
    }
}

/// The bytes of one exchange, cut to what is worth keeping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub sent: Vec<u8>,
    /// How many octets it was.
    pub sent_len: u64,
    pub received: Vec<u8>,
    /// How many octets it was.
    pub received_len: u64,
}

/// This many octets of each side are kept.
pub(crate) const KEPT: usize = 2 << 10;

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The case's id.
    pub id: String,
    pub title: String,
    /// The area that it belongs to.
    pub area: Area,
    /// `RFC 9112, 6.1`.
    pub clause: String,
    /// How strongly the clause requires it.
    pub level: Level,
    pub weight: u8,
    /// What an attacker could use a failure for.
    pub tags: Vec<Tag>,
    pub demand: String,
    /// Why an answer that only warns is no failure.
    pub doubt: String,
    /// What would have passed.
    pub expected: String,
    /// The worst result of all rounds.
    pub verdict: CaseVerdict,
    /// What the server did in the round that counts, or why nothing can be said.
    pub why: String,
    /// The verdict of each round.
    pub rounds: Vec<CaseVerdict>,
    /// What went over the wire in the round that counts.
    pub evidence: Evidence,
}

impl Finding {
    /// A case without a result yet.
    pub(crate) fn of(case: &Case) -> Finding {
        Finding {
            id: case.id.into(),
            title: case.title.into(),
            area: case.area,
            clause: case.clause.to_string(),
            level: case.level,
            weight: case.weight,
            tags: case.tags.to_vec(),
            demand: case.demand.into(),
            doubt: case.doubt.into(),
            expected: joined(case.pass, ", or "),
            verdict: CaseVerdict::NotApplicable,
            why: String::new(),
            rounds: Vec::new(),
            evidence: Evidence::default(),
        }
    }

    /// Whether the rounds differ.
    #[must_use]
    pub fn is_unstable(&self) -> bool {
        self.rounds.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// Failed or worse.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.verdict >= CaseVerdict::Fail
    }

    /// The id without its protocol: `F03`.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.split_once('-').map_or(&self.id, |(_, short)| short)
    }
}

/// Which cases there are. Scores by different catalogues cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "catalogue")]
pub struct Stamp {
    /// raised with every change of a case, such as `1.0`
    pub version: String,
    /// of everything that decides a score: eight hexadecimal digits
    pub hash: String,
}

impl fmt::Display for Stamp {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "{} ({})", self.version, self.hash)
    }
}

/// The findings of a whole check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub catalogue: Stamp,
    /// Every selected case, in the catalogue's order.
    pub findings: Vec<Finding>,
    /// How often each case was run.
    pub rounds: usize,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Why it ended early; empty if it did not.
    pub cut_short: String,
}

impl Report {
    /// The findings of both, as of one check of the same server.
    #[must_use]
    pub fn and(mut self, other: Report) -> Report {
        self.findings.extend(other.findings);
        self.rounds = self.rounds.min(other.rounds);
        self.took_ms += other.took_ms;
        if self.cut_short.is_empty() {
            self.cut_short = other.cut_short;
        }
        self
    }
}
