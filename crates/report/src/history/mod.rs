//! A history of runs: a file with a line for each figure of each row of each run, that only grows; and what it shows from
//! run to run.

mod cause;
mod document;
mod gates;
pub(crate) mod json;
mod line;
mod lines;
mod naming;
mod origin;
mod proof;
mod reader;
mod series;

use lab::record::fact;

use crate::document::Document;
use crate::json::written;
use crate::page;
use crate::render::Shown;

pub use document::illustrated;
pub use gates::{GateLine, GateOf, Like, differences, gate_line, plan_key};
pub use line::Line;
pub use lines::{Commit, kept_lines, lines, machine_key};
pub use origin::{Flags, MadeBy, Origin, RaceSide, Side, SideKind, without_values};
pub use reader::{Broken, History, read};
pub use series::Trend;

/// The fact that is a part of the conditions, and no part of a machine: kernels are renewed more often than histories.
const KERNEL: &str = "kernel";

impl Shown for Trend {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&json::TrendDocument::from(self))
    }

    fn page(&self) -> String {
        page::alone(&illustrated(self)).into_string()
    }
}

#[cfg(test)]
mod tests;
