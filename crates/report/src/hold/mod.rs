//! Held connections of one command as text and as JSON: what was held, how late messages were, and what broke.

mod document;
pub(crate) mod json;

use agents::{AgentFacts, LostAgent};
use lab::hold::HoldSpec;
use load::Holding;
use units::counted;

use crate::document::Document;
use crate::render::Shown;
use crate::verdict::ExplainedVerdict;
pub use document::{document, second};
pub use json::json;

/// What was held, and how.
pub struct FinishedHold {
    pub spec: HoldSpec,
    /// The addresses of the server.
    pub addresses: Vec<String>,
    /// The agents that held the connections, each a process.
    pub agents: Vec<AgentFacts>,
    pub holding: Holding,
    pub lost: Vec<LostAgent>,
    pub verdict: ExplainedVerdict,
}

impl Shown for FinishedHold {
    fn document(&self) -> Document {
        document(self)
    }

    fn json(&self) -> serde_json::Result<String> {
        json(self)
    }

    fn page(&self) -> String {
        crate::page::alone(&document(self)).into_string()
    }
}

/// `1,000 connections to 127.0.0.1:8080/poll/1`
pub fn title(spec: &HoldSpec) -> String {
    let connections = counted(spec.connections as u64, "connection", "connections");
    format!("{connections} to {}{}", spec.host, spec.path)
}
