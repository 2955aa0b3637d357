//! What the reader should know of a table as a whole, besides its alarms.

use lab::experiment::Point;

use crate::fairness::Answers;
use crate::verdict::Gravity;

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
}

impl Remark {
    /// How it affects the table's verdict.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        match self {
            // Every answer was right: the other differences are shown, and the reader may judge them.
            Remark::NoCeiling(_) | Remark::Apart(_) => Gravity::Note,
            // What TLS costs may be the question.
            Remark::TlsMissing { .. } => Gravity::Note,
            // A subject with other requests cannot be compared with the others.
            Remark::RequestsUnlike { .. } => Gravity::Invalid,
            // The rows of those that differ are invalid.
            Remark::TlsUnlike { .. } => Gravity::Suspect,
        }
    }
}
