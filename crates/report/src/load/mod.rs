//! A single load as text and as JSON: what was ordered, what was measured, and what it is worth.

mod answers;
pub(crate) mod details;
pub mod file;
pub(crate) mod finished;
pub(crate) mod json;
pub mod like;
mod openmetrics;
pub mod order_text;
pub(crate) mod page;
pub(crate) mod repeat;
mod requirements;
pub(crate) mod sentence;
pub(crate) mod slice;
pub mod terms;
mod verdict;

use crate::document::Document;
use crate::render::{Charts, Measure, Shown};
use crate::run::findings::Findings;
pub use finished::{Costs, FinishedLoad, Queue, RequestSummary};
pub use json::json;
pub use like::Tool;
pub use openmetrics::Totals;
pub use repeat::repeated_json;
pub(crate) use requirements::required;
pub use slice::Slice;
pub use verdict::weigh;

/// What `dyno load` has found: a run of one load, or of several.
pub struct FinishedLoads<'a> {
    pub findings: &'a Findings<'a>,
    /// Whether the JSON has all of them and what they have in common, and not only the first.
    pub are_together: bool,
}

impl Shown for FinishedLoads<'_> {
    fn document(&self) -> Document {
        self.findings.document()
    }

    fn json(&self) -> serde_json::Result<String> {
        match self.findings.ended.first().filter(|_| !self.are_together) {
            Some(load) => json(load, self.findings.explained()),
            None => repeated_json(self.findings),
        }
    }

    fn page(&self) -> String {
        self.findings.page()
    }

    fn csv(&self) -> Option<String> {
        self.findings.csv()
    }

    fn measures(&self) -> Option<Vec<Measure>> {
        self.findings.measures()
    }

    fn charts(&self) -> Charts<'_> {
        self.findings.charts()
    }
}

#[cfg(test)]
pub(crate) mod fixture;

#[cfg(test)]
mod tests;
