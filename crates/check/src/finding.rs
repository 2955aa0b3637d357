//! What was found: owned values, so that they can be kept and shown by those who have another catalogue.

use crate::case::{Area, Case, Level, Tag, named};
use crate::catalogue::Stamp;
use crate::judge::joined;

named! {
    /// What a case came to. The later, the worse; what does not apply is neither.
    Verdict {
        /// It does not apply to this server, or was not sent to it.
        NotApplicable = "n/a",
        /// As the clause asks.
        Pass = "pass",
        /// Tolerable.
        Warn = "warn",
        /// Its twin was not accepted, so it says nothing.
        NotTestable = "n/t",
        /// Not as the clause asks.
        Fail = "fail",
        /// The server was gone afterwards.
        Crash = "crash",
    }
}

/// What went over the wire in one talk, cut to what is worth keeping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// What was sent.
    pub sent: Vec<u8>,
    /// How much of it there was.
    pub sent_len: u64,
    /// What came.
    pub heard: Vec<u8>,
    /// How much of it there was.
    pub heard_len: u64,
}

/// So many octets of each side are kept.
pub(crate) const KEPT: usize = 2 << 10;

/// What one case came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The case's id.
    pub id: String,
    /// What was tried.
    pub title: String,
    /// Where it belongs.
    pub area: Area,
    /// `RFC 9112, 6.1`.
    pub clause: String,
    /// How strongly the clause asks.
    pub level: Level,
    /// What it weighs.
    pub weight: u8,
    /// What a breach can be used for.
    pub tags: Vec<Tag>,
    /// What the clause demands.
    pub demand: String,
    /// Why that which only warns is no failure.
    pub doubt: String,
    /// What would have passed.
    pub expected: String,
    /// The worst of all rounds.
    pub verdict: Verdict,
    /// What the server did in the round that counts, or why nothing can be said.
    pub why: String,
    /// The verdict of each round.
    pub rounds: Vec<Verdict>,
    /// What went over the wire in the round that counts.
    pub evidence: Evidence,
}

impl Finding {
    /// A case of which nothing is known yet.
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
            verdict: Verdict::NotApplicable,
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
        self.verdict >= Verdict::Fail
    }

    /// The id without its protocol: `F03`.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.split_once('-').map_or(&self.id, |(_, short)| short)
    }
}

/// What a whole check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// By which catalogue.
    pub catalogue: Stamp,
    /// Every selected case, in the catalogue's order.
    pub findings: Vec<Finding>,
    /// How often each was asked.
    pub rounds: usize,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Why it ended before its end; empty if it did not.
    pub cut_short: String,
}
