//! The messages to and from a holding process: a line of JSON each.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use load::{HoldOrder, HoldWhat, HoldWindow, Holding, Ramp, Sends, Share, Target};
use serde::{Deserialize, Serialize};
use tls::{Client, TlsOrder};
use wire::{Ask, AskError, Cut, Expect, Request, socket_ask};

/// What is to be held, according to the flags.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HoldSpec {
    pub kind: Kind,
    pub host: String,
    /// Path and query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub connections: usize,
    pub step: usize,
    pub every_ns: u64,
    pub per_second: f64,
    pub settle_ns: u64,
    pub beat_ns: Option<u64>,
    pub silence_ns: u64,
    pub timeout_ns: u64,
    pub reopen: bool,
    pub sends: Option<SentText>,
    /// How connections are secured; none: not at all.
    pub tls: Option<TlsOrder>,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// An answer whose chunks are messages.
    Chunks,
    /// `text/event-stream`.
    Events,
    Socket,
}

/// The text that is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SentText {
    Echo { text: String, per_second: f64 },
    Broadcast { every_ns: u64 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) spec: HoldSpec,
    pub(super) address: SocketAddr,
    pub(super) sources: Vec<IpAddr>,
    pub(super) cpus: Vec<usize>,
    /// Its lanes, and out of how many.
    pub(super) first: usize,
    pub(super) lanes: usize,
    pub(super) of: usize,
    /// When the clock begins, on the machine's monotonic clock.
    pub(super) origin_ns: u64,
}

impl HoldSpec {
    #[must_use]
    pub fn ramp(&self) -> Ramp {
        Ramp {
            connections: self.connections,
            step: self.step,
            every: Duration::from_nanos(self.every_ns),
            per_second: self.per_second,
            settle: Duration::from_nanos(self.settle_ns),
        }
    }

    fn what(&self) -> Result<HoldWhat, AskError> {
        let cut = match self.kind {
            Kind::Socket => {
                let ask = socket_ask(&self.host, &self.path, &self.headers)?;
                return Ok(HoldWhat::Socket { ask });
            }
            Kind::Chunks => Cut::Chunk,
            Kind::Events => Cut::Event,
        };
        let request =
            Request { headers: self.headers.clone(), ..Request::get(&self.host, &self.path) };
        Ok(HoldWhat::Stream { ask: Ask::new(&request, Expect::default())?, cut })
    }
}

impl Part {
    pub(super) fn order(&self) -> Result<HoldOrder, String> {
        let spec = &self.spec;
        let what = spec.what().map_err(|error| error.to_string())?;
        let sends = spec.sends.as_ref().map(|text| match text {
            SentText::Echo { text, per_second } => {
                Sends::Echo { text: text.clone().into_bytes(), per_second: *per_second }
            }
            SentText::Broadcast { every_ns } => {
                Sends::Broadcast { every: Duration::from_nanos(*every_ns) }
            }
        });
        Ok(HoldOrder {
            sources: self.sources.clone(),
            beat: spec.beat_ns.map(Duration::from_nanos),
            silence: Duration::from_nanos(spec.silence_ns),
            sends,
            timeout: Duration::from_nanos(spec.timeout_ns),
            reopen: spec.reopen,
            lanes: self.lanes,
            share: Share { first: self.first, of: self.of },
            origin: Some(self.origin_ns),
            cpus: self.cpus.clone(),
            seed: spec.seed,
            tls: spec.tls.as_ref().map(Client::new).transpose()?,
            ..HoldOrder::new(Target::Tcp(self.address), what, spec.ramp())
        })
    }
}

/// The messages of a holding process: one each second, and one at its end.
#[derive(Serialize, Deserialize)]
pub(super) enum HolderMessage {
    /// A second is over.
    Window(Box<HoldWindow>),
    /// It has finished; the seconds have been reported.
    Holding(Box<Holding>),
    /// It failed.
    Failed(String),
}
