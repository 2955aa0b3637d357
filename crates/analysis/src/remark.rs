//! What the reader should know of a table as a whole, besides its alarms: each remark is defined as a doubt is.

use lab::experiment::Point;

use crate::doubt::{Definition, SAME_TLS, Threshold, table};
use crate::fairness::Answers;
use crate::verdict::Gravity::{self, Invalid, Note, Suspect};

/// Signatures within a chain of certificates vary by a few octets.
pub(crate) const CHAIN_ALIKE: u64 = 64;

const NO_CEILING: Definition = Definition::new("no_ceiling", Note)
    .when("dyno's own server was not measured under a load, or only invalidly; not where a service alone was measured")
    .because("the rate that the load itself can reach there is not known")
    .way_out("let a server of tier `reference` take part, and see why if it could not");

/// Every answer was right: the reader may judge the other differences.
const ANSWERS_APART: Definition = Definition::new("answers_apart", Note)
    .when("correct answers to the same request differ in more than server, time and framing")
    .because("all were judged right; what else differs is listed below the tables")
    .way_out("see what differs between their answers before they are compared");

/// A subject with other requests cannot be compared with the others.
const REQUESTS_UNLIKE: Definition = Definition::new("requests_unlike", Invalid)
    .when("two servers were sent different fields or bodies under one load, in one round and phase; what only \
        HTTP/1.1 or only \
        HTTP/2 demands does not count")
    .because("a bug in dyno, or the store was changed by another program")
    .way_out("this is a bug in dyno: please report it");

const TLS_UNLIKE: Definition = Definition::new("tls_unlike", Suspect)
    .graver_as_found("suspect; the rows that differ are invalid")
    .when("over TLS, a server's connections mostly have another version, suite, group, ALPN name or kind of \
        certificate \
        than those of most servers of the table, or a chain of certificates that differs by more than {} octets; where \
        no majority agrees, all rows differ")
    .thresholds(&[Threshold::Count(CHAIN_ALIKE)])
    .because("each of them costs another amount: the figures would compare these, and not the servers")
    .way_out(SAME_TLS);

/// What TLS costs may be the question.
const TLS_MISSING: Definition = Definition::new("tls_missing", Note)
    .when("one server was loaded over TLS, and another without it")
    .because("what TLS costs is in the difference")
    .way_out("the difference between them includes what TLS costs");

/// A rate says which of the two needs more of the CPU that they share, and not what the server can do.
const CPU_SHARED: Definition = Definition::new("cpu_shared", Note)
    .when("the service of the workload was on the CPUs of the server, because there were fewer than three")
    .because("a rate is that of both together; the rows are in the order of the server's own CPU time for an answer")
    .way_out("on a machine with three CPUs or more the service has CPUs of its own");

const CPU_UNKNOWN: Definition = Definition::new("cpu_unknown", Note)
    .when("servers are ordered by their own CPU time for an answer, and that of one is not known")
    .because("a place among those that are known would be a guess")
    .way_out("see at its trials why its processes could not be read");

/// All remarks, in the order of docs/validity.md.
const ALL: &[Definition] =
    &[NO_CEILING, ANSWERS_APART, REQUESTS_UNLIKE, TLS_UNLIKE, TLS_MISSING, CPU_SHARED, CPU_UNKNOWN];

/// Their table in docs/validity.md.
#[must_use]
pub fn remarks_table() -> String {
    table("remark | gravity | is made when", ALL)
}

/// Something about a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    /// No reference was measured at these places: the limit of the load itself is unknown there.
    NoCeiling(Vec<Point>),
    /// Right answers were not all the same.
    Apart(Answers),
    /// Subjects were not sent the same fields and content. A fault of dyno, or the store was edited.
    RequestsUnlike {
        ask: String,
        /// Subjects that were sent another request than the first.
        subjects: Vec<String>,
    },
    /// Subjects agreed on another TLS than the first of those that agree with the most.
    TlsUnlike {
        /// In what they differ: `version`.
        what: &'static str,
        first: String,
        subjects: Vec<String>,
    },
    /// Subjects were loaded without TLS, beside one that was loaded with it.
    TlsMissing { first: String, subjects: Vec<String> },
    /// The service had no CPUs of its own.
    SharesCpu,
    /// The order is by CPU time, and that of these subjects is not known: none is ranked.
    CpuUnknown { lacking: Vec<String> },
}

impl Remark {
    fn definition(&self) -> Definition {
        match self {
            Remark::NoCeiling(_) => NO_CEILING,
            Remark::Apart(_) => ANSWERS_APART,
            Remark::RequestsUnlike { .. } => REQUESTS_UNLIKE,
            Remark::TlsUnlike { .. } => TLS_UNLIKE,
            Remark::TlsMissing { .. } => TLS_MISSING,
            Remark::SharesCpu => CPU_SHARED,
            Remark::CpuUnknown { .. } => CPU_UNKNOWN,
        }
    }

    /// Its stable name.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.definition().id()
    }

    /// How it affects the table's verdict.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        self.definition().gravity()
    }

    /// What to do about it.
    #[must_use]
    pub fn way_out(&self) -> &'static str {
        self.definition().usual_way_out()
    }
}
