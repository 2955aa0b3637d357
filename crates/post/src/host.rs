//! What a coordinator learns of the host of an agent, and what the host's owner allows.

use serde::{Deserialize, Serialize};

use crate::Nanos;

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

/// What an agent noticed beside its load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beside {
    /// How long after its time the first window was over.
    pub began_late: Nanos,
    /// The link of its host towards the server, while the load went on.
    pub link: Option<LinkUse>,
}

/// What passed over a link while a load went on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkUse {
    pub name: String,
    /// Bits a second, where that is known.
    pub speed: Option<u64>,
    pub mtu: u32,
    /// Octets, and over which time.
    pub sent: u64,
    pub received: u64,
    pub over: Nanos,
    /// Segments of TCP, and those of them that were sent again.
    pub segments: u64,
    pub retransmitted: u64,
}

impl LinkUse {
    /// The busier direction, as a share of what the link can carry.
    #[must_use]
    pub fn full(&self) -> Option<f64> {
        let speed = self.speed.filter(|speed| 0 < *speed)?;
        let bits = 8.0 * self.sent.max(self.received) as f64;
        (0 < self.over).then(|| bits / (self.over as f64 / 1e9) / speed as f64)
    }
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
    /// What its owner allows to be loaded, as rules; none: whatever its coordinator may.
    #[serde(default)]
    pub allow: Option<Vec<String>>,
    /// What else shapes a measurement there, by name.
    pub facts: Vec<(String, String)>,
}
