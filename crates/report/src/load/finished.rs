//! A load that has just ended: what was ordered, what was measured, and what it is worth.

use agents::{AgentFacts, LostAgent};
use analysis::{JudgedRequirement, Tolerated};
use lab::checked::Checked;
use load::{Nanos, Order, Recording};
use requests::{RequestOrder, RequestSource};
use schemars::JsonSchema;
use serde::Serialize;

use crate::verdict::ExplainedVerdict;

/// A finished load: the order, the measurement, and the verdict.
pub struct FinishedLoad {
    /// Wall time of its start, milliseconds since 1970.
    pub began_unix_ms: i64,
    pub asked: RequestSummary,
    pub order: Order,
    pub recording: Recording,
    pub verdict: ExplainedVerdict,
    pub costs: Costs,
    pub queue: Option<Queue>,
    /// Those that loaded; none where this process did.
    pub agents: Vec<AgentFacts>,
    /// Those that did not finish: what they measured is not in the recording.
    pub lost: Vec<LostAgent>,
    /// How many failures are no reason to name them first.
    pub tolerated: Tolerated,
    /// What was required of it, and whether that was met.
    pub requirements: Vec<JudgedRequirement>,
}

/// What was requested, in words.
#[derive(Clone, Debug)]
pub struct RequestSummary {
    pub source: RequestSource,
    /// Where a file has the requests, the URL of their server.
    pub url: String,
    /// The address that the name was resolved to.
    pub address: String,
    /// The status that an answer must have: 200, 2xx or any.
    pub status: String,
    /// What else an answer must have; empty if nothing.
    pub expects: String,
}

/// What was checked of its answers.
pub(crate) fn checked(run: &FinishedLoad) -> Checked {
    let expects: Vec<_> = run.order.asks.iter().map(|ask| ask.expect.clone()).collect();
    Checked::of(std::iter::once(&run.recording.total), &expects, None)
}

impl RequestSummary {
    /// What an answer must have.
    pub fn expected(&self) -> String {
        match self.expects.as_str() {
            "" => format!("status {}", self.status),
            more => format!("status {}, {more}", self.status),
        }
    }

    /// The request in words, and the SHA-256 of a file: two loads that have these in common sent the same requests.
    #[must_use]
    pub fn identity(&self) -> String {
        match &self.source {
            RequestSource::Flags { .. } => self.words(),
            RequestSource::File(file) => {
                format!("{} (SHA-256 {})", self.words(), units::hex(&file.sha256))
            }
        }
    }

    /// `GET http://localhost:8080/`, or how many requests of which file.
    #[must_use]
    pub fn words(&self) -> String {
        let file = match &self.source {
            RequestSource::Flags { method } => return format!("{method} {}", self.url),
            RequestSource::File(file) => file,
        };
        let requests = units::counted(file.requests as u64, "request", "requests");
        let order = match (file.requests, file.order) {
            (1, _) => "",
            (_, RequestOrder::InOrder) => ", in order",
            (_, RequestOrder::Shuffled) => ", shuffled",
            (_, RequestOrder::Weighted) => ", by weight",
        };
        format!("{requests} of {}{order}, to {}", file.name, self.url)
    }
}

/// What the load cost on this machine, apart from the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// CPU time of the live view, its share in the watcher included.
    pub live_view_cpu: Nanos,
    pub peak_memory_bytes: Option<u64>,
}

/// The server's accept queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "queue")]
pub struct Queue {
    /// how many connections it holds; null if the kernel does not report it
    pub backlog: Option<u32>,
    /// connections that found a queue of this machine full during the run
    pub overflows: u64,
}
