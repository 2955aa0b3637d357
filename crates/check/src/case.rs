//! A case: one requirement of a clause, what is sent to test it, and what is accepted.

use std::fmt;
use std::time::Duration;

pub use crate::labels::{Area, Level, Need, Protocol, Scheduling, Tag};
use crate::script::{Rule, Step};

/// One entry of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Never reused for another case: `H1-F03`.
    pub id: &'static str,
    /// What is tested, in a few words.
    pub title: &'static str,
    /// The area that it belongs to.
    pub area: Area,
    pub clause: Clause,
    /// How strongly.
    pub level: Level,
    /// 5: smuggling, injection, memory, crash; 3: any other MUST, or a SHOULD that matters for safety; 1: minor points.
    pub weight: u8,
    /// What an attacker could use a failure for.
    pub tags: &'static [Tag],
    /// The well-formed request that must have been accepted in the same run; otherwise this case says nothing.
    pub twin: Option<&'static str>,
    /// What a server must offer for the case to apply.
    pub needs: Need,
    /// The case applies if any of these was seen; empty if it always applies.
    pub applies: &'static [Rule],
    /// Beside other cases, or alone.
    pub scheduling: Scheduling,
    /// Its exchange takes no longer than this, whatever the server sends.
    pub limit: Duration,
    pub steps: &'static [Step],
    /// The exchange ends after this many answers, unless it ends earlier; if 0, nothing is read after the steps.
    pub answers: usize,
    pub pass: &'static [Rule],
    /// What is tolerable. Everything else is a failure.
    pub warn: &'static [Rule],
    /// What the clause demands, in our words.
    pub demand: &'static str,
    /// Why an answer that only warns is no failure; empty if nothing only warns.
    pub doubt: &'static str,
}

impl Case {
    /// The defaults that entries start from.
    pub(crate) const BLANK: Case = Case {
        id: "",
        title: "",
        area: Area::RequestLine,
        clause: Clause { rfc: 9112, section: "", erratum: None },
        level: Level::Must,
        weight: 3,
        tags: &[],
        twin: None,
        needs: Need::Get,
        applies: &[],
        scheduling: Scheduling::Together,
        limit: Duration::from_secs(20),
        steps: &[],
        answers: 1,
        pass: &[],
        warn: &[],
        demand: "",
        doubt: "",
    };

    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.area.protocol()
    }

    /// The id without its protocol: `F03`.
    #[must_use]
    pub fn short(&self) -> &'static str {
        self.id.split_once('-').map_or(self.id, |(_, short)| short)
    }

    /// Whether it is sent only to servers that may be harmed: those on this machine, and those whose owner has agreed.
    #[must_use]
    pub(crate) fn is_rude(&self) -> bool {
        use Tag::{Crash, Injection, Size, Slow, Smuggling};
        self.tags.iter().any(|tag| matches!(tag, Smuggling | Size | Slow | Crash | Injection))
    }

    /// Whether it is sent only to servers on this machine, whatever their owner has agreed to.
    #[must_use]
    pub(crate) fn is_flood(&self) -> bool {
        self.area == Area::Http2Limits
    }
}

/// A sentence of an RFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause {
    pub rfc: u16,
    pub section: &'static str,
    /// The erratum that settles the question, if the text does not.
    pub erratum: Option<u16>,
}

impl fmt::Display for Clause {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "RFC {}, {}", self.rfc, self.section)?;
        self.erratum.map_or(Ok(()), |number| write!(form, " (erratum {number})"))
    }
}
