//! A single load as text and as JSON: what was ordered, what was measured, and what it is worth.

mod answers;
mod document;
pub(crate) mod json;
mod openmetrics;
mod requirements;
mod sentence;
pub(crate) mod slice;
mod verdict;
pub mod words;

use analysis::JudgedRequirement;
use load::{Nanos, Order, Recording};

use crate::verdict::ExplainedVerdict;
pub use document::document;
pub use json::json;
pub use openmetrics::Totals;
pub use slice::Slice;
pub use verdict::weigh;

/// A finished load: the order, the measurement, and the verdict.
pub struct FinishedLoad {
    pub asked: RequestSummary,
    pub order: Order,
    pub recording: Recording,
    pub verdict: ExplainedVerdict,
    pub costs: Costs,
    pub queue: Option<Queue>,
    /// What was required of it, and whether that was met.
    pub requirements: Vec<JudgedRequirement>,
}

/// The request, in words.
#[derive(Clone, Debug)]
pub struct RequestSummary {
    pub method: String,
    pub url: String,
    /// The address that the name was resolved to.
    pub address: String,
}

/// What the load cost on this machine, apart from the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// CPU time of the live view, its share in the watcher included.
    pub live_view_cpu: Nanos,
    pub peak_memory_bytes: Option<u64>,
}

/// The server's accept queue, if the server is on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// The number of connections that it holds, if the kernel says so.
    pub backlog: Option<u32>,
    /// The number of connections that found a queue of this machine full during the load.
    pub overflows: u64,
}

#[cfg(test)]
mod fixture;
