//! What a holding process is told, and what it tells: a line of JSON each.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use load::{
    Broadcast, Distribution, Echoes, Folded, HoldOrder, HoldWhat, HoldWindow, Holding, Loss, Nanos,
    Plateau, PlateauTimes, Ramp, Share, Target, Voice,
};
use serde::{Deserialize, Serialize};
use wire::{Ask, AskError, Cut, Expect, Request, socket_ask};

/// What is to be held, as flags say it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wish {
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
    pub(crate) voice: Option<Said>,
    pub(crate) seed: u64,
}

/// What is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// An answer whose chunks are messages.
    Chunks,
    /// `text/event-stream`.
    Events,
    /// A WebSocket.
    Socket,
}

/// What is said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Said {
    Echo { text: String, per_second: f64 },
    Broadcast { every_ns: u64 },
}

/// One process' part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) wish: Wish,
    pub(crate) address: SocketAddr,
    pub(crate) sources: Vec<IpAddr>,
    pub(crate) cpus: Vec<usize>,
    /// Its lanes, and of how many.
    pub(crate) first: usize,
    pub(crate) lanes: usize,
    pub(crate) of: usize,
    /// When the clock begins, on the machine's monotonic clock.
    pub(crate) origin_ns: u64,
}

impl Wish {
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
        let wish = &self.wish;
        let voice = wish.voice.as_ref().map(|said| match said {
            Said::Echo { text, per_second } => {
                Voice::Echo { text: text.clone().into_bytes(), per_second: *per_second }
            }
            Said::Broadcast { every_ns } => {
                Voice::Broadcast { every: Duration::from_nanos(*every_ns) }
            }
        });
        Ok(HoldOrder {
            sources: self.sources.clone(),
            beat: wish.beat_ns.map(Duration::from_nanos),
            silence: Duration::from_nanos(wish.silence_ns),
            voice,
            timeout: Duration::from_nanos(wish.timeout_ns),
            reopen: wish.reopen,
            lanes: self.lanes,
            share: Share { first: self.first, of: self.of },
            origin: Some(self.origin_ns),
            cpus: self.cpus.clone(),
            seed: wish.seed,
            ..HoldOrder::new(Target::Tcp(self.address), wish.what()?, wish.ramp())
        })
    }
}

/// What a holding process tells.
#[derive(Serialize, Deserialize)]
pub(crate) enum Told {
    /// A second is over.
    Window(WindowTold),
    /// All is over.
    Holding(HoldingTold),
    /// It could not be done.
    Failed(String),
}

/// A distribution: HdrHistogram V2 in base64, its exact sum, what of it is censored.
#[derive(Serialize, Deserialize)]
pub(crate) struct Spread {
    histogram: String,
    sum: String,
    censored: u64,
}

impl Spread {
    pub(super) fn of(distribution: &Distribution) -> Spread {
        Spread::folded(&Folded::of(distribution))
    }

    fn folded(folded: &Folded) -> Spread {
        Spread {
            histogram: STANDARD.encode(folded.bytes()),
            sum: folded.sum().to_string(),
            censored: folded.censored(),
        }
    }

    fn read(&self) -> Result<Distribution, String> {
        Ok(self.read_folded()?.unfold())
    }

    fn read_folded(&self) -> Result<Folded, String> {
        let bytes = STANDARD.decode(&self.histogram).map_err(|error| error.to_string())?;
        let sum = self.sum.parse().map_err(|_| "a sum that is no number".to_string())?;
        Folded::from_counted(&bytes, sum, self.censored).map_err(|error| error.to_string())
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct WindowTold {
    from: Nanos,
    until: Nanos,
    open: u64,
    opening: u64,
    begun: u64,
    opened: u64,
    failed: u64,
    lost: u64,
    messages: u64,
    bytes: u64,
    open_after: Spread,
    late: Spread,
}

impl WindowTold {
    pub(crate) fn of(window: &HoldWindow) -> WindowTold {
        WindowTold {
            from: window.from,
            until: window.until,
            open: window.open,
            opening: window.opening,
            begun: window.begun,
            opened: window.opened,
            failed: window.failed,
            lost: window.lost,
            messages: window.messages,
            bytes: window.bytes,
            open_after: Spread::folded(&window.open_after),
            late: Spread::folded(&window.late),
        }
    }

    pub(crate) fn read(&self) -> Result<HoldWindow, String> {
        Ok(HoldWindow {
            from: self.from,
            until: self.until,
            open: self.open,
            opening: self.opening,
            begun: self.begun,
            opened: self.opened,
            failed: self.failed,
            lost: self.lost,
            messages: self.messages,
            bytes: self.bytes,
            open_after: self.open_after.read_folded()?,
            late: self.late.read_folded()?,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct HoldingTold {
    plateaus: Vec<PlateauTold>,
    windows: Vec<WindowTold>,
    closed_at: Nanos,
    was_halted: bool,
}

#[derive(Serialize, Deserialize)]
struct PlateauTold {
    connections: usize,
    from: Nanos,
    measured_from: Nanos,
    until: Nanos,
    begun: u64,
    begun_again: u64,
    opened: u64,
    failed: BTreeMap<String, u64>,
    lost: BTreeMap<String, u64>,
    open: u64,
    opening: u64,
    silent: u64,
    messages: u64,
    bytes: u64,
    missed: u64,
    stamped: u64,
    connect: Spread,
    agree: Spread,
    late: Spread,
    gap: Spread,
    own: Spread,
    echoes_due: u64,
    echoes_blocked: u64,
    echoes_correct: u64,
    echoes_failed: u64,
    echoes_under_way: u64,
    echoes_response: Spread,
    broadcasts: BTreeMap<u64, (Nanos, Nanos, u64)>,
    cpu: Nanos,
    measured: Nanos,
}

impl HoldingTold {
    pub(crate) fn of(holding: &Holding) -> HoldingTold {
        HoldingTold {
            plateaus: holding.plateaus.iter().map(PlateauTold::of).collect(),
            windows: holding.windows.iter().map(WindowTold::of).collect(),
            closed_at: holding.closed_at,
            was_halted: holding.was_halted,
        }
    }

    pub(crate) fn read(&self) -> Result<Holding, String> {
        Ok(Holding {
            plateaus: self.plateaus.iter().map(PlateauTold::read).collect::<Result<_, _>>()?,
            windows: self.windows.iter().map(WindowTold::read).collect::<Result<_, _>>()?,
            closed_at: self.closed_at,
            was_halted: self.was_halted,
        })
    }
}

impl PlateauTold {
    fn of(plateau: &Plateau) -> PlateauTold {
        let broadcasts = plateau.broadcasts.iter();
        PlateauTold {
            connections: plateau.times.connections,
            from: plateau.times.from,
            measured_from: plateau.times.measured_from,
            until: plateau.times.until,
            begun: plateau.begun,
            begun_again: plateau.begun_again,
            opened: plateau.opened,
            failed: named(&plateau.failed),
            lost: named(&plateau.lost),
            open: plateau.open,
            opening: plateau.opening,
            silent: plateau.silent,
            messages: plateau.messages,
            bytes: plateau.bytes,
            missed: plateau.missed,
            stamped: plateau.stamped,
            connect: Spread::of(&plateau.connect),
            agree: Spread::of(&plateau.agree),
            late: Spread::of(&plateau.late),
            gap: Spread::of(&plateau.gap),
            own: Spread::of(&plateau.own),
            echoes_due: plateau.echoes.due,
            echoes_blocked: plateau.echoes.blocked,
            echoes_correct: plateau.echoes.correct,
            echoes_failed: plateau.echoes.failed,
            echoes_under_way: plateau.echoes.under_way,
            echoes_response: Spread::of(&plateau.echoes.response),
            broadcasts: broadcasts
                .map(|(number, heard)| (*number, (heard.first, heard.last, heard.heard)))
                .collect(),
            cpu: plateau.cpu,
            measured: plateau.measured,
        }
    }

    fn read(&self) -> Result<Plateau, String> {
        let broadcasts = self.broadcasts.iter();
        Ok(Plateau {
            times: PlateauTimes {
                connections: self.connections,
                from: self.from,
                measured_from: self.measured_from,
                until: self.until,
            },
            begun: self.begun,
            begun_again: self.begun_again,
            opened: self.opened,
            failed: counted(&self.failed)?,
            lost: counted(&self.lost)?,
            open: self.open,
            opening: self.opening,
            silent: self.silent,
            messages: self.messages,
            bytes: self.bytes,
            missed: self.missed,
            stamped: self.stamped,
            connect: self.connect.read()?,
            agree: self.agree.read()?,
            late: self.late.read()?,
            gap: self.gap.read()?,
            own: self.own.read()?,
            echoes: Echoes {
                due: self.echoes_due,
                blocked: self.echoes_blocked,
                correct: self.echoes_correct,
                failed: self.echoes_failed,
                under_way: self.echoes_under_way,
                response: self.echoes_response.read()?,
            },
            broadcasts: broadcasts
                .map(|(&number, &(first, last, heard))| (number, Broadcast { first, last, heard }))
                .collect(),
            cpu: self.cpu,
            measured: self.measured,
        })
    }
}

/// Those that occurred, by name.
pub(crate) fn named(counts: &[u64; Loss::COUNT]) -> BTreeMap<String, u64> {
    let all = Loss::all().zip(counts).filter(|(_, count)| 0 < **count);
    all.map(|(loss, count)| (loss.name().to_string(), *count)).collect()
}

fn counted(names: &BTreeMap<String, u64>) -> Result<[u64; Loss::COUNT], String> {
    let mut counts = [0; Loss::COUNT];
    for (name, count) in names {
        let loss = Loss::from_name(name).ok_or_else(|| format!("`{name}` is no loss"))?;
        counts[loss.index()] = *count;
    }
    Ok(counts)
}
