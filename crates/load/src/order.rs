//! What is to be pressed, how, and until when.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use wire::{Asks, Limits};

use crate::Nanos;
use crate::arrivals::Arrivals;

/// One load on one address.
#[derive(Clone, Debug)]
pub struct Order {
    /// Whom to press.
    pub target: Target,
    /// Local addresses to connect from, in turn; none: the kernel's choice.
    pub sources: Vec<IpAddr>,
    /// What to ask.
    pub asks: Asks,
    /// How requests arrive.
    pub load: Load,
    /// When to stop.
    pub stop: Stop,
    /// Pressed before the measured time, and not counted.
    pub warmup: Duration,
    /// An exchange that is not done this long after its intended start has failed.
    pub timeout: Duration,
    /// A request that is answered as expected within this time of its intended start is on time; none: within the time-out.
    pub on_time_within: Option<Duration>,
    /// Whether a connection carries more than one exchange. (Sessions carry their calls.)
    pub keep_alive: bool,
    /// Threads.
    pub lanes: usize,
    /// CPUs for the lanes, in turn; none: wherever the kernel puts them.
    pub cpus: Vec<usize>,
    /// Whether to poll before sleeping.
    pub spin: Spin,
    /// What a peer may send.
    pub limits: Limits,
    /// Where all chance comes from.
    pub seed: u64,
    /// How long a window is.
    pub window: Duration,
}

impl Order {
    /// This load on this target, and everything else as it usually is: one lane, kept-alive
    /// connections, a time-out of 5 s, no end.
    #[must_use]
    pub fn new(target: Target, asks: Asks, load: Load) -> Order {
        Order {
            target,
            sources: Vec::new(),
            asks,
            load,
            stop: Stop::default(),
            warmup: Duration::ZERO,
            timeout: Duration::from_secs(5),
            on_time_within: None,
            keep_alive: true,
            lanes: 1,
            cpus: Vec::new(),
            spin: Spin::Adaptive,
            limits: Limits::default(),
            seed: 1,
            window: Duration::from_millis(100),
        }
    }
}

impl Order {
    /// The limit for being on time: never more than the time-out.
    #[must_use]
    pub fn on_time_within(&self) -> Duration {
        self.on_time_within.unwrap_or(self.timeout).min(self.timeout)
    }
}

/// An address to press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// How requests arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// So many connections; each asks again when it is answered.
    Closed {
        /// How many.
        connections: usize,
    },
    /// Requests arrive on a schedule, whatever the server does.
    Open {
        /// The schedule.
        arrivals: Arrivals,
        /// Opened before the start.
        connections: usize,
        /// The pool grows up to this when no connection is free.
        max_connections: usize,
    },
    /// Connections arrive on a schedule; each makes its calls one after the other and closes.
    Sessions {
        /// The schedule.
        arrivals: Arrivals,
        /// Requests on each connection.
        calls: u32,
        /// More sessions than this at once wait for a place.
        max_connections: usize,
    },
}

/// When to stop: whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// So many requests; of sessions, so many sessions. Those of the warm-up are not among them.
    pub total: Option<u64>,
    /// So much measured time.
    pub duration: Option<Duration>,
}

/// Whether a lane polls for a short while before it sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spin {
    /// As long as polling has lately been answered sooner than sleep would have been; bounded.
    #[default]
    Adaptive,
    /// Always sleep.
    Never,
    /// Never sleep: the most punctual, and a whole CPU for each lane.
    Always,
}

impl Load {
    /// The schedule, if there is one.
    #[must_use]
    pub fn arrivals(&self) -> Option<&Arrivals> {
        match self {
            Load::Closed { .. } => None,
            Load::Open { arrivals, .. } | Load::Sessions { arrivals, .. } => Some(arrivals),
        }
    }

    /// The most connections that may be open at once.
    #[must_use]
    pub fn connections_max(&self) -> usize {
        match *self {
            Load::Closed { connections } => connections,
            Load::Open { max_connections, .. } | Load::Sessions { max_connections, .. } => {
                max_connections
            }
        }
    }
}

/// A duration on the run's clock.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}
