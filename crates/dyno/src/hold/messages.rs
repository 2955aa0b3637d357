//! The messages to and from a holding process: a line of JSON each.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use load::{HoldOrder, HoldWhat, HoldWindow, Holding, Loss, Ramp, Sends, Share, Target};
use serde::{Deserialize, Serialize};
use wire::{Ask, AskError, Cut, Expect, Request, socket_ask};

/// What is to be held, according to the flags.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HoldSpec {
    pub(crate) kind: Kind,
    pub(crate) host: String,
    /// Path and query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) connections: usize,
    pub(crate) step: usize,
    pub(crate) every_ns: u64,
    pub(crate) per_second: f64,
    pub(crate) settle_ns: u64,
    pub(crate) beat_ns: Option<u64>,
    pub(crate) silence_ns: u64,
    pub(crate) timeout_ns: u64,
    pub(crate) reopen: bool,
    pub(crate) sends: Option<SentText>,
    pub(crate) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// An answer whose chunks are messages.
    Chunks,
    /// `text/event-stream`.
    Events,
    Socket,
}

/// The text that is sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SentText {
    Echo { text: String, per_second: f64 },
    Broadcast { every_ns: u64 },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) spec: HoldSpec,
    pub(crate) address: SocketAddr,
    pub(crate) sources: Vec<IpAddr>,
    pub(crate) cpus: Vec<usize>,
    /// Its lanes, and out of how many.
    pub(crate) first: usize,
    pub(crate) lanes: usize,
    pub(crate) of: usize,
    /// When the clock begins, on the machine's monotonic clock.
    pub(crate) origin_ns: u64,
}

impl HoldSpec {
    pub(crate) fn ramp(&self) -> Ramp {
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
    pub(crate) fn order(&self) -> Result<HoldOrder, AskError> {
        let spec = &self.spec;
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
            ..HoldOrder::new(Target::Tcp(self.address), spec.what()?, spec.ramp())
        })
    }
}

/// The messages of a holding process: one each second, and one at its end.
#[derive(Serialize, Deserialize)]
pub(crate) enum HolderMessage {
    /// A second is over.
    Window(Box<HoldWindow>),
    /// It has finished; the seconds have been reported.
    Holding(Box<Holding>),
    /// It failed.
    Failed(String),
}

/// Those that occurred, by name.
pub(crate) fn named(counts: &[u64; Loss::COUNT]) -> BTreeMap<String, u64> {
    let all = Loss::all().zip(counts).filter(|(_, count)| 0 < **count);
    all.map(|(loss, count)| (loss.name().to_string(), *count)).collect()
}
