//! What is known of the agents that carried out the shares of a load: on other machines, or as processes of this one.

use load::Nanos;
use serde::{Deserialize, Serialize};

use crate::record::Fact;

/// An agent, its share of the load, and what can be said of the way between it and the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// As it was named: `desk2`, `local 3`.
    pub name: String,
    /// What its host is: `cpu`, `kernel`, `dyno`, …
    pub facts: Vec<Fact>,
    /// Its lanes are these many from this one on, of so many in all.
    pub first: u64,
    pub lanes: u64,
    pub of: u64,
    /// From a connection's beginning to its establishment, as the agent measured it before the load.
    pub connect: Option<Nanos>,
    /// Its clock against the coordinator's; none where both have the same clock.
    pub clock: Option<AgentClock>,
    /// By how much its load began after the instant that had been agreed on.
    pub began_late: Nanos,
    /// What it did; none if it was lost before it could report.
    pub did: Option<AgentShare>,
    /// The link of its host towards the server, while the load went on.
    pub link: Option<LinkUse>,
    /// How long the connection to it was interrupted, each time.
    #[serde(default)]
    pub blinks: Vec<Nanos>,
}

/// A clock, compared with the coordinator's before the load and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentClock {
    /// How far it was ahead, in nanoseconds; its start on another day is no error.
    pub ahead: i64,
    /// The estimate is wrong by no more than this: half of the round trip.
    pub within: Nanos,
    /// By how much it had gone another way when the load was over, and how exactly that is known.
    pub drifted: Option<(i64, Nanos)>,
}

/// An agent's share of what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentShare {
    pub attempted: u64,
    pub correct: u64,
    /// The median of its response times, and the 10th and the 90th percentile of its windows' medians.
    pub p50: Option<Nanos>,
    pub p50_of_windows: Option<(Nanos, Nanos)>,
    pub p99: Option<Nanos>,
    /// How late its lanes began requests.
    pub late_p99: Option<Nanos>,
    /// How large a share of the measured time its busiest lane had no time to sleep.
    pub busy: f64,
}

/// What passed over a link while a load went on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    pub name: String,
    /// Bits a second.
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
