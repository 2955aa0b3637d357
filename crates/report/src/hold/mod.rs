//! Held connections of one command as text and as JSON: what was held, how late messages were, and what broke.

mod document;
pub(crate) mod json;

use lab::hold::{HoldSpec, LostProcess};
use load::Holding;
use units::{count, counted};

use crate::verdict::ExplainedVerdict;
pub use document::{document, second};
pub use json::json;

/// What was held, and how.
pub struct FinishedHold {
    pub spec: HoldSpec,
    /// The addresses of the server.
    pub addresses: Vec<String>,
    /// Processes that held the connections.
    pub processes: u64,
    pub holding: Holding,
    pub lost: Vec<LostProcess>,
    pub verdict: ExplainedVerdict,
}

/// `1,000 connections to 127.0.0.1:8080/poll/1`
pub fn title(spec: &HoldSpec) -> String {
    let connections = counted(spec.connections as u64, "connection", "connections");
    format!("{connections} to {}{}", spec.host, spec.path)
}

/// A process that ended early.
pub fn lost_process(lost: &LostProcess) -> String {
    let LostProcess { number, of, at_ns, open, how } = lost;
    let (after, open) = (*at_ns as f64 / 1e9, count(*open));
    format!(
        "holding process {number} of {of} was lost after {after:.1} s with {open} open connections: {how}; no step \
         counts its connections"
    )
}
