//! What is held, how connections are added, and which messages they carry.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tls::Client;
use wire::{Ask, Cut, HeldLimits, Limits};

use super::Ramp;
use crate::bounds;
use crate::order::{Share, Target};

/// One load of held connections on one address. What is read from a written one can be carried out: `bounds.rs` says how
/// much may be ordered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct HoldOrder {
    /// The address under load.
    pub target: Target,
    /// Local addresses to connect from, in turn; if there are none, the kernel chooses.
    pub sources: Vec<IpAddr>,
    /// How connections are secured; none: not at all.
    pub tls: Option<Client>,
    pub what: HoldWhat,
    /// How connections are added.
    pub ramp: Ramp,
    /// The interval between messages; none: not known.
    pub beat: Option<Duration>,
    /// Whether the time stamps in messages are by this machine's clock; those of another say nothing.
    pub reads_stamps: bool,
    /// A connection that receives nothing for this long is silent.
    pub silence: Duration,
    /// What dyno sends, if anything.
    pub sends: Option<Sends>,
    /// A connection that is not open this long after its beginning has failed; the same holds for an echo.
    pub timeout: Duration,
    /// Whether lost connections are begun again.
    pub reopen: bool,
    /// Threads.
    pub lanes: usize,
    /// Which part of the whole this process holds, where several processes hold it together.
    pub share: Share,
    /// When the clock begins, on the machine's monotonic clock, in nanoseconds; none: immediately.
    pub origin: Option<u64>,
    /// CPUs for the lanes, in turn; if there are none, the kernel chooses.
    pub cpus: Vec<usize>,
    /// What a peer may send before the first message.
    pub limits: Limits,
    /// What a peer may send in messages.
    pub held_limits: HeldLimits,
    /// The seed of all random choices.
    pub seed: u64,
    /// The length of a window.
    pub window: Duration,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldWhat {
    /// An HTTP answer that does not end.
    Stream {
        ask: Ask,
        /// How the stream is divided into messages.
        cut: Cut,
    },
    Socket {
        /// The request, built by `wire::socket_ask`.
        ask: Ask,
    },
}

impl HoldWhat {
    /// Its name in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            HoldWhat::Stream { cut: Cut::Chunk, .. } => "chunks",
            HoldWhat::Stream { cut: Cut::Event, .. } => "events",
            HoldWhat::Socket { .. } => "websocket",
        }
    }

    /// The request with which a connection begins.
    #[must_use]
    pub fn ask(&self) -> &Ask {
        let (HoldWhat::Stream { ask, .. } | HoldWhat::Socket { ask }) = self;
        ask
    }
}

/// What dyno sends over held WebSockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sends {
    /// Texts that come back to the connection that sent them, at one rate over all connections.
    Echo {
        #[serde(with = "crate::json_form::bytes")]
        text: Vec<u8>,
        /// The rate, over all connections.
        per_second: f64,
    },
    /// One connection sends, and all receive.
    Broadcast { every: Duration },
}

/// Each field is written as it is; then what they ask for together is judged, too.
impl<'de> Deserialize<'de> for HoldOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HoldOrder, D::Error> {
        let order = HoldOrder::deserialize(deserializer)?;
        bounds::of_hold(&order).map_err(serde::de::Error::custom)?;
        Ok(order)
    }
}

impl Serialize for HoldOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        HoldOrder::serialize(self, serializer)
    }
}

impl HoldOrder {
    /// These connections on this target, with the usual values for everything else: one lane, a time-out of 5 s, lost
    /// connections begun again.
    #[must_use]
    pub fn new(target: Target, what: HoldWhat, ramp: Ramp) -> HoldOrder {
        HoldOrder {
            target,
            sources: Vec::new(),
            tls: None,
            what,
            ramp,
            beat: None,
            reads_stamps: true,
            silence: Duration::from_secs(5),
            sends: None,
            timeout: Duration::from_secs(5),
            reopen: true,
            lanes: 1,
            share: Share { first: 0, of: 1 },
            origin: None,
            cpus: Vec::new(),
            limits: Limits::default(),
            held_limits: HeldLimits::default(),
            seed: 1,
            window: Duration::from_secs(1),
        }
    }
}
