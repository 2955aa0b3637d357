//! The load to apply: what, how, and until when.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tls::Client;
use units::named;
use wire::h2::H2Order;
use wire::{Asks, Limits};

use crate::Nanos;
use crate::arrivals::Arrivals;
use crate::bounds;

/// One load on one address. What is read from a written one can be carried out: `bounds.rs` says how much may be ordered.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Order {
    /// The address under load.
    pub target: Target,
    /// Local addresses to connect from, in turn; if there are none, the kernel chooses.
    pub sources: Vec<IpAddr>,
    pub asks: Asks,
    /// How connections are secured; none: not at all.
    pub tls: Option<Client>,
    /// How requests arrive.
    pub load: Load,
    pub stop: Stop,
    /// The load runs this long before the measured time, and is not counted.
    pub warmup: Duration,
    /// An exchange that is not done this long after its intended start has failed.
    pub timeout: Duration,
    /// A request that is answered as expected within this time of its intended start is on time; none: the time-out.
    pub on_time_within: Option<Duration>,
    /// Whether a connection carries more than one exchange. (A session's connection carries all its calls.)
    pub keep_alive: bool,
    /// What is spoken on the connections; the requests must have been made for it.
    pub protocol: Protocol,
    /// Which connection with room carries the next request.
    pub spread: Spread,
    /// How many CPUs the server has; none: that is not known.
    pub server_cpus: Option<u64>,
    /// Threads.
    pub lanes: usize,
    /// Which lanes of the whole these are, where several processes carry out one order together; none: all of them.
    pub share: Option<Share>,
    /// When the clock begins, on the machine's monotonic clock, in nanoseconds; none: immediately.
    pub origin: Option<u64>,
    /// CPUs for the lanes, in turn; if there are none, the kernel chooses.
    pub cpus: Vec<usize>,
    /// Whether dyno polls (busy-waits) for answers before it sleeps.
    pub spin: Spin,
    /// What a peer may send.
    pub limits: Limits,
    /// The seed of all random choices.
    pub seed: u64,
    /// The length of a window.
    pub window: Duration,
}

impl Order {
    /// This load on this target, with the usual values for everything else: one lane, kept-alive
    /// connections, a time-out of 5 s, no end.
    #[must_use]
    pub fn new(target: Target, asks: Asks, load: Load) -> Order {
        Order {
            target,
            sources: Vec::new(),
            asks,
            tls: None,
            load,
            stop: Stop::default(),
            warmup: Duration::ZERO,
            timeout: Duration::from_secs(5),
            on_time_within: None,
            keep_alive: true,
            protocol: Protocol::Http1,
            spread: Spread::Even,
            server_cpus: None,
            lanes: 1,
            share: None,
            origin: None,
            cpus: Vec::new(),
            spin: Spin::Adaptive,
            limits: Limits::default(),
            seed: 1,
            window: Duration::from_millis(100),
        }
    }
}

impl Order {
    /// How many lanes there are in all processes together, those for which there is nothing to do included.
    #[must_use]
    pub fn lanes_in_all(&self) -> usize {
        self.share.map_or(self.lanes, |share| share.of)
    }

    /// The length of a window: as ordered, or a little less, so that the measured time ends with one.
    #[must_use]
    pub fn window_length(&self) -> Nanos {
        let ordered = nanos(self.window).max(1_000_000);
        let length = self.length().filter(|length| 0 < *length).unwrap_or(ordered);
        length.div_ceil(length.div_ceil(ordered)).max(1_000_000)
    }

    /// How long is measured: as ordered, and no longer than the schedule goes on after the warm-up; none where nothing
    /// but the number of requests ends it.
    pub(crate) fn length(&self) -> Option<Nanos> {
        let scheduled = self.load.arrivals().and_then(Arrivals::length);
        let left = scheduled.map(|whole| whole.saturating_sub(self.warmup));
        self.stop.duration.into_iter().chain(left).min().map(nanos)
    }

    /// The number of this process's first lane.
    pub(crate) fn first_lane(&self) -> usize {
        self.share.map_or(0, |share| share.first)
    }

    /// The measured time, on the load's own clock; without an end where nothing but the number of requests ends it.
    #[must_use]
    pub fn measured(&self) -> std::ops::Range<Nanos> {
        crate::plan::Plan::of(self).times.measured
    }

    /// Whether connections are kept for the whole load, and are not made for a request or a session.
    #[must_use]
    pub fn has_pool(&self) -> bool {
        self.keep_alive && !matches!(self.load, Load::Sessions { .. })
    }

    /// The limit for being on time: never more than the time-out.
    #[must_use]
    pub fn on_time_within(&self) -> Duration {
        self.on_time_within.unwrap_or(self.timeout).min(self.timeout)
    }
}

/// Each field is written as it is; then what they ask for together is judged, too.
impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Order, D::Error> {
        let order = Order::deserialize(deserializer)?;
        bounds::of_load(&order).map_err(serde::de::Error::custom)?;
        Ok(order)
    }
}

impl Serialize for Order {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Order::serialize(self, serializer)
    }
}

/// Lanes `first..first + lanes` of `of`, over all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The first lane's number.
    pub first: usize,
    /// How many lanes there are in all.
    pub of: usize,
}

impl Share {
    /// Refuses so many lanes from the first one on, where there are fewer.
    pub(crate) fn check(self, lanes: usize) -> Result<(), String> {
        match self.first.checked_add(lanes) {
            Some(end) if end <= self.of => Ok(()),
            end => Err(format!(
                "threads {}..{} are not of {}; `share.of` is the number of threads over all processes",
                self.first,
                end.unwrap_or(usize::MAX),
                self.of
            )),
        }
    }
}

/// An address to put under load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// How requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// A fixed number of connections; each sends its next request when it is answered.
    Closed { connections: usize },
    /// Requests arrive on a schedule, regardless of the server.
    Open {
        arrivals: Arrivals,
        /// Opened before the start.
        connections: usize,
        /// The pool grows up to this size when no connection is free.
        max_connections: usize,
    },
    /// Connections arrive on a schedule; each makes its calls one after the other and closes.
    Sessions {
        arrivals: Arrivals,
        /// Requests on each connection.
        calls: u32,
        /// Beyond this many sessions at once, a session waits for a place.
        max_connections: usize,
    },
}

impl Target {
    /// Whether it is on this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        match self {
            Target::Tcp(address) => address.ip().is_loopback(),
            Target::Unix(_) => true,
        }
    }
}

/// When to stop: whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// This many requests; with sessions, this many sessions. The warm-up's are not counted.
    pub total: Option<u64>,
    /// This much measured time.
    pub duration: Option<Duration>,
}

/// What is spoken on the connections of a load. It is never guessed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1, or HTTP/1.0 where the requests say so.
    #[default]
    Http1,
    Http2(H2Order),
}

impl Protocol {
    /// How many exchanges a connection may carry at once.
    #[must_use]
    pub fn streams(&self) -> usize {
        match self {
            Protocol::Http1 => 1,
            Protocol::Http2(order) => usize::from(order.streams.get()),
        }
    }
}

named! {
    /// How requests are spread over connections that have room.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Spread {
        #[default]
        Even = "even" => "The least recently used one with a free stream",
        Fill = "fill" => "The most recently used one, until it has no free stream",
    }
}

named! {
    /// Whether a lane polls (busy-waits) for answers before it sleeps.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Spin {
        /// For as long as polling has recently got answers sooner than sleeping would have; bounded.
        #[default]
        Adaptive = "adaptive" => "Poll while answers come soon",
        /// When it polls does not depend on how soon a server answers, so servers that are compared are treated alike.
        Due = "due"
            => "Poll only just before a request is due, as run, race, gate and capacity do; for loads that will be \
                compared",
        Never = "never" => "Always sleep",
        /// The most punctual, and a whole CPU for each lane.
        Always = "always" => "Never sleep",
    }
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

    /// The largest number of connections that may be open at once.
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
