//! What is to be held, how it is added, and what is to come over it.

use std::net::IpAddr;
use std::time::Duration;

use wire::{Ask, Cut, HeldLimits, Limits};

use super::Ramp;
use crate::order::Target;

/// One load of held connections on one address.
#[derive(Clone, Debug)]
pub struct HoldOrder {
    /// Whom to press.
    pub target: Target,
    /// Local addresses to connect from, in turn; none: the kernel's choice.
    pub sources: Vec<IpAddr>,
    /// What is held.
    pub what: HoldWhat,
    /// How connections are added.
    pub ramp: Ramp,
    /// Messages come this far apart; none: as they like.
    pub beat: Option<Duration>,
    /// Who hears nothing for so long is silent.
    pub silence: Duration,
    /// What we say, if anything.
    pub voice: Option<Voice>,
    /// A connection that is not open so long after its beginning has failed; so has an echo.
    pub timeout: Duration,
    /// Whether lost connections are begun again.
    pub reopen: bool,
    /// Threads.
    pub lanes: usize,
    /// Which part of the whole this is, where several processes hold it together.
    pub share: Share,
    /// When the clock begins, on the machine's monotonic clock, in nanoseconds; none: at once.
    pub origin: Option<u64>,
    /// CPUs for the lanes, in turn; none: wherever the kernel puts them.
    pub cpus: Vec<usize>,
    /// What a peer may send before the first message.
    pub limits: Limits,
    /// What a peer may send in messages.
    pub held_limits: HeldLimits,
    /// Where all chance comes from.
    pub seed: u64,
    /// How long a window is.
    pub window: Duration,
}

/// What is held.
#[derive(Clone, Debug)]
pub enum HoldWhat {
    /// An HTTP answer that does not end.
    Stream {
        /// What is asked.
        ask: Ask,
        /// What its messages are.
        cut: Cut,
    },
    /// A WebSocket.
    Socket {
        /// What is asked, of `wire::socket_ask`'s making.
        ask: Ask,
    },
}

/// What we say over held WebSockets.
#[derive(Clone, Debug, PartialEq)]
pub enum Voice {
    /// Texts that come back to the connection that said them, so many a second over all connections.
    Echo {
        /// What is said.
        text: Vec<u8>,
        /// How often, over all connections.
        per_second: f64,
    },
    /// One connection speaks, and all hear it.
    Broadcast {
        /// How often.
        every: Duration,
    },
}

/// Lanes `first..first + lanes` of `of`, over all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The first lane's number.
    pub first: usize,
    /// How many lanes there are in all.
    pub of: usize,
}

impl HoldOrder {
    /// These connections on this target, and everything else as it usually is: one lane, a time-out of 5 s, lost
    /// connections begun again.
    #[must_use]
    pub fn new(target: Target, what: HoldWhat, ramp: Ramp) -> HoldOrder {
        HoldOrder {
            target,
            sources: Vec::new(),
            what,
            ramp,
            beat: None,
            silence: Duration::from_secs(5),
            voice: None,
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
