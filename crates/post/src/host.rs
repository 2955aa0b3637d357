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
    /// How long after the agreed instant the last of its lanes began.
    pub began_late: Nanos,
    /// The link of its host towards the server, while the load went on.
    pub link: Option<LinkUse>,
}

/// A link, and what passed over it while a load went on, of this load and of all else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "link")]
#[serde(deny_unknown_fields)]
pub struct LinkUse {
    /// its name on its host
    pub name: String,
    /// bits a second that it, or its shaper, can send; null where that is not known
    #[serde(rename = "bits_per_s")]
    pub speed: Option<u64>,
    /// the longest packet, in octets
    pub mtu: u32,
    /// octets sent
    #[serde(rename = "sent_bytes")]
    pub sent: u64,
    /// octets received
    #[serde(rename = "received_bytes")]
    pub received: u64,
    /// over which time
    #[serde(rename = "over_ns")]
    pub over: Nanos,
    /// segments of TCP that its host sent
    pub segments: u64,
    /// those of them that were sent again
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

/// The way from a host to the server, as it was before a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "way")]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// the name of the link on its host; null where that is not known
    pub link: Option<String>,
    /// bits a second that the link, or its shaper, can send; null where that is not known
    #[serde(rename = "bits_per_s")]
    pub speed: Option<u64>,
    /// the longest packet, in octets
    pub mtu: Option<u32>,
    /// how long a TCP connection took, the median; null if the server could not be connected to
    #[serde(rename = "connect_p50_ns")]
    pub connect_p50: Option<Nanos>,
    /// how many connections that is of
    pub connects: u32,
}

/// An agent's host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// As the host calls itself.
    pub name: String,
    pub program: Program,
    /// CPUs that the agent may use.
    pub cpus: Vec<usize>,
    /// Files that the agent may open.
    pub files: u64,
    pub caps: Caps,
    /// What its owner allows to be loaded, as rules; none: whatever its coordinator may.
    pub allow: Option<Vec<String>>,
    /// What else shapes a measurement there, by name.
    pub facts: Vec<(String, String)>,
}

/// The program that an agent is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Program {
    /// the dyno that it is
    pub dyno: String,
    /// the SHA-256 of its program; null where agents are processes of this machine
    pub sha256: Option<String>,
}

/// How much a coordinator keeps of what an agent says of itself, in letters, and in entries of a list.
const NAME_MAX: usize = 255;
const VALUE_MAX: usize = 500;
const FACTS_MAX: usize = 100;
const CPUS_MAX: usize = 4_096;

impl Host {
    /// The facts, short enough to be kept, and without what would move a cursor.
    #[must_use]
    pub(crate) fn bounded(mut self) -> Host {
        let short = |text: &str| bounded(text, NAME_MAX);
        let Program { dyno, sha256 } = &self.program;
        self.program = Program { dyno: short(dyno), sha256: sha256.as_deref().map(short) };
        self.name = short(&self.name);
        self.cpus.truncate(CPUS_MAX);
        self.facts.truncate(FACTS_MAX);
        for (name, value) in &mut self.facts {
            (*name, *value) = (short(name), bounded(value, VALUE_MAX));
        }
        self
    }
}

impl Way {
    /// The way, short enough to be kept, and without what would move a cursor.
    #[must_use]
    pub(crate) fn bounded(mut self) -> Way {
        self.link = self.link.map(|name| bounded(&name, NAME_MAX));
        self
    }
}

fn bounded(text: &str, most: usize) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_says_of_itself_is_bounded_and_moves_no_cursor() {
        let long = "x\u{1b}[2J".repeat(9_999);
        let host = Host {
            name: long.clone(),
            program: Program { dyno: long.clone(), sha256: Some(long.clone()) },
            cpus: (0..99_999).collect(),
            facts: vec![(long.clone(), long.clone()); 9_999],
            ..Host::default()
        };
        let host = host.bounded();
        let Program { dyno, sha256 } = &host.program;
        let texts = [&host.name, dyno, sha256.as_ref().unwrap(), &host.facts[99].0];
        assert!(texts.iter().all(|text| text.len() == 255), "{host:?}");
        assert_eq!((host.cpus.len(), host.facts.len()), (4_096, 100));
        assert_eq!((host.facts[0].1.len(), &host.name[..5]), (500, "x [2J"));
        let way = Way { link: Some(long), ..Way::default() }.bounded();
        assert_eq!(way.link.unwrap().len(), 255);
    }
}
