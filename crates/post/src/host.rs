//! What a coordinator learns of the host of an agent, and what the host's owner allows.

use serde::{Deserialize, Serialize};

/// The most that an agent takes part in; what is none is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Requests or sessions, or with held connections texts, that one agent begins each second.
    pub rate: Option<u64>,
    /// Connections of one agent.
    pub connections: Option<u64>,
    /// How long a load may last, seconds.
    pub seconds: Option<u64>,
}

/// An agent's host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// As the host calls itself.
    pub name: String,
    /// The dyno of the agent.
    pub dyno: String,
    /// The SHA-256 of its program, in hexadecimal digits; none where it is not needed.
    pub sha256: Option<String>,
    /// CPUs that the agent may use.
    pub cpus: Vec<usize>,
    /// Files that the agent may open.
    pub files: u64,
    pub caps: Caps,
    /// What else shapes a measurement there, by name.
    pub facts: Vec<(String, String)>,
}
