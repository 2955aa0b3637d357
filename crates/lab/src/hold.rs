//! Held connections, as flags describe them, and the order that they make.

use std::net::IpAddr;
use std::time::Duration;

use load::{HoldOrder, HoldWhat, Ramp, Sends, Target};
use tls::{Client, TlsOrder};
use wire::{Ask, AskError, Cut, Expect, Request, socket_ask};

/// Where no rate is given, no fewer connections than this are begun each second. It is low because every server can
/// accept so many; a run kept without a rate was made with it.
const USUAL_PER_SECOND_LEAST: f64 = 100.0;

/// How many connections are begun each second where no rate is given: a step within a third of its time.
#[must_use]
pub fn usual_per_second(step: usize, every: Duration) -> u32 {
    (3.0 * step as f64 / every.as_secs_f64()).ceil().max(USUAL_PER_SECOND_LEAST) as u32
}

/// What is to be held, according to the flags.
#[derive(Clone, Debug)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An answer whose chunks are messages.
    Chunks,
    /// `text/event-stream`.
    Events,
    Socket,
}

/// The text that is sent.
#[derive(Clone, Debug)]
pub enum SentText {
    Echo { text: String, per_second: f64 },
    Broadcast { every_ns: u64 },
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

    /// The order on this target, from these local addresses, for so many lanes; or why there is none.
    pub fn order(
        &self,
        target: Target,
        sources: &[IpAddr],
        lanes: usize,
    ) -> Result<HoldOrder, String> {
        let what = self.what().map_err(|error| error.to_string())?;
        let sends = self.sends.as_ref().map(|text| match text {
            SentText::Echo { text, per_second } => {
                Sends::Echo { text: text.clone().into_bytes(), per_second: *per_second }
            }
            SentText::Broadcast { every_ns } => {
                Sends::Broadcast { every: Duration::from_nanos(*every_ns) }
            }
        });
        Ok(HoldOrder {
            sources: sources.to_vec(),
            beat: self.beat_ns.map(Duration::from_nanos),
            silence: Duration::from_nanos(self.silence_ns),
            sends,
            timeout: Duration::from_nanos(self.timeout_ns),
            reopen: self.reopen,
            lanes,
            seed: self.seed,
            tls: self.tls.as_ref().map(Client::new).transpose()?,
            ..HoldOrder::new(target, what, self.ramp())
        })
    }
}
