//! Reads what others measured: results of other load generators and boards become rows of plain values, and the rules
//! of `analysis` say which of them cannot be true or should not be ranked. It opens no file and knows no words.

mod examine;
mod finding;
mod formats;
mod group;
mod row;
mod source;
mod text;

pub use examine::{Audit, AuditedRow, AuditedSource, Untested, audit};
pub use finding::{Finding, Rule, Why};
pub use formats::Format;
pub use row::{Limit, Mark, MarkOf, NoLimit, OwnVerdict, Row, Time};
pub use source::{Source, Stated, Unreadable, read};

#[cfg(test)]
mod tests;
