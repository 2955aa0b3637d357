//! Runs the lanes and folds what they report.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use wire::h2::{H2, Ledger};
use wire::{Chance, H1, HeadMemo};

use crate::Nanos;
use crate::arrivals::{Arrivals, Rate, Schedule};
use crate::collector::Collector;
use crate::engine::{Engine, Epoll, Origin, Tls};
use crate::halt::{Halt, StopTime};
use crate::handover::Handover;
use crate::http2::WantedStreams;
use crate::lane::{Lane, Rules, Seed};
use crate::order::{Load, Order, Protocol, nanos};
use crate::part::{Part, Parts};
use crate::recorder::{Clocks, Recorder, Times};
use crate::recording::Recording;
use crate::security::SecurityLog;
use crate::supply::{Kind, Supply};
use crate::tally::Tally;
use crate::thread::{self, LoadError};
use crate::turns::{Place, TakesTurns};

/// What a watcher is shown, about ten times a second.
#[derive(Debug)]
pub struct Glance<'a> {
    /// The time on the run's clock, which starts with the warm-up.
    pub now: Nanos,
    /// The start of the newest window, of all lanes together.
    pub from: Nanos,
    /// Whether the window lies before the measured time.
    pub is_warmup: bool,
    /// What happened within the window.
    pub window: &'a Tally,
    /// The measured time so far.
    pub total: &'a Tally,
}

/// Applies the load until the order is carried out, or `halt` asks for an end. `watch` runs on the caller's
/// thread, never on a lane's.
pub fn press(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Recording, LoadError> {
    whole(order, carry_out(order, None, halt, watch)?)
}

/// The same, where this process has only some of the lanes, or all of them. A part does not give up on its own: what
/// puts the parts together asks for an end (see [`crate::LiveMerger::reason_to_give_up`]).
pub fn press_part(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Part, LoadError> {
    carry_out(order, None, halt, watch)
}

/// The same, in turns with other loads. The clock of the recording stands still while another side has its turn: so it
/// has no gaps, and every figure means what it means without turns.
pub fn press_in_turns(
    order: &Order,
    place: &Place<'_>,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Recording, LoadError> {
    whole(order, carry_out(order, Some(place), halt, watch)?)
}

/// The recording of a process that has all lanes.
fn whole(order: &Order, part: Part) -> Result<Recording, LoadError> {
    let mut parts = Parts::new(order);
    debug_assert_eq!(parts.check(&part), Ok(()));
    parts.take(part);
    let missing = format!("{} lanes are those of other processes", parts.missing());
    parts.into_recording().ok_or_else(|| LoadError::new(missing))
}

fn carry_out(
    order: &Order,
    place: Option<&Place<'_>>,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Part, LoadError> {
    order.share.map_or(Ok(()), |share| share.check(order.lanes)).map_err(LoadError::new)?;
    let plan = Plan::of(order);
    let (full, reports) = channel();
    let mut returns = Vec::new();
    let mut lanes = Vec::new();
    let origin = Origin::ordered(order.origin).map_err(LoadError::new)?;
    // Each lane takes its seat along, so that one whose thread cannot be started is waited for by no other.
    let mut seats = place.map_or(Vec::new(), |place| place.seats(plan.own.len()));
    let first_lane = place.map_or(plan.own.start, |place| place.first_lane(plan.own.len()));
    for (number, epoll) in thread::epolls(plan.own.len())?.into_iter().enumerate() {
        let (give, empty) = channel();
        for _ in 0..SPARE_WINDOWS {
            let _ = give.send(Tally::new(plan.longest));
        }
        returns.push(give);
        lanes.push((number, epoll, Handover { full: full.clone(), empty }, seats.pop()));
    }
    drop(full);
    let (end, began_late) = (StopTime::open(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (number, epoll, handover, mut seat) in lanes {
            let (plan, end, began_late) = (&plan, &end, &began_late);
            let run = move || {
                thread::prepare(&order.cpus, number);
                let (target, sources) = (order.target.clone(), order.sources.clone());
                let origin = seat.as_mut().map_or(origin, |seat| Origin::at(seat.begin()));
                if !origin.wait_unless(&|| end.agreed() == Some(0)) {
                    return plan.recorder(order, number, handover).finish(Clocks::default());
                }
                began_late.fetch_max(origin.elapsed(), Ordering::Relaxed);
                let lane = plan.own.start + number;
                let engine = Epoll::new(epoll, target, sources, order.spin, origin, lane);
                let turns = seat.as_mut().map(|seat| seat as &mut dyn TakesTurns);
                run_lane(order, plan, lane, engine, handover, turns, &|| end.agreed());
            };
            thread::start(scope, format!("lane {}", first_lane + number), end, run)?;
        }
        let clock = place.is_none().then_some(origin);
        let collector = Collector::new(order, &plan, returns, clock);
        let part = collector.collect(&reports, &end, halt, watch);
        Ok(Part { began_late: began_late.load(Ordering::Relaxed), ..part })
    })
}

/// Windows that a lane may be ahead of the caller's thread before it must allocate.
const SPARE_WINDOWS: usize = 3;

/// The run's times and shares, the same for all lanes of all processes.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Lanes that have something to do, over all processes.
    pub(crate) lanes: usize,
    /// Those of this process, by their numbers.
    pub(crate) own: Range<usize>,
    pub(crate) width: Nanos,
    /// Schedules start here; connections are opened before.
    pub(crate) lead: Nanos,
    pub(crate) measured: Range<Nanos>,
    /// Latencies up to this one are distinguished.
    pub(crate) longest: Nanos,
    /// Parts of the measured time over which a changing load is reported separately.
    pub(crate) sections: Vec<Range<Nanos>>,
}

/// A ramp is divided into this many parts, and so are listed times.
const TENTHS: Nanos = 10;
/// If there are more steps than this, several are reported together.
const SECTIONS_MAX: usize = 64;

impl Plan {
    pub(crate) fn of(order: &Order) -> Plan {
        let width = nanos(order.window).max(1_000_000);
        let lead = match &order.load {
            Load::Closed { .. } => 0,
            Load::Open { connections, .. } => {
                (20_000 * *connections as Nanos).div_ceil(width).max(1) * width
            }
            Load::Sessions { .. } => width,
        };
        // The measured time begins with a window, so that no window is half of it.
        let from = (lead + nanos(order.warmup)).div_ceil(width) * width;
        let own_length = match &order.load {
            Load::Closed { .. } => None,
            Load::Open { arrivals, .. } | Load::Sessions { arrivals, .. } => arrivals.length(),
        };
        let own_length = own_length.map(|own| own.saturating_sub(order.warmup));
        let length = match (order.stop.duration, own_length) {
            (Some(length), Some(own)) => Some(length.min(own)),
            (length, own) => length.or(own),
        };
        let until = length.map_or(Nanos::MAX, |length| from.saturating_add(nanos(length)));
        let lanes = order.lanes_in_all().clamp(1, order.load.connections_max().max(1));
        Plan {
            lanes,
            own: own_lanes(order.first_lane(), order.lanes.max(1), lanes),
            width,
            lead,
            measured: from..until,
            longest: nanos(order.timeout).saturating_mul(2),
            sections: sections(&order.load, lead, &(from..until)),
        }
    }

    /// The same, where all lanes are this process's.
    pub(crate) fn of_all(order: &Order) -> Plan {
        let plan = Plan::of(order);
        Plan { own: 0..plan.lanes, ..plan }
    }

    /// So many lanes from this one on, without those that have nothing to do.
    pub(crate) fn own_of(&self, first: usize, lanes: usize) -> Range<usize> {
        own_lanes(first, lanes, self.lanes)
    }

    /// What one of this process's lanes records with.
    fn recorder(&self, order: &Order, number: usize, handover: Handover) -> Recorder {
        let times = Times {
            width: self.width,
            measured: self.measured.clone(),
            longest: self.longest,
            on_time_within: nanos(order.on_time_within()),
            sections: self.sections.clone(),
        };
        Recorder::new(number, &times, handover)
    }

    /// Until when a schedule has something due in the measured time; where the ordered number ends it, until when the
    /// next request would have been due. None for a closed loop.
    pub(crate) fn scheduled_until(&self, order: &Order) -> Option<Nanos> {
        let arrivals = order.load.arrivals()?;
        let by_total = order.stop.total.map(|total| {
            let before = self.before_measured(arrivals);
            self.lead.saturating_add(arrivals.instant(before.saturating_add(total)))
        });
        Some(by_total.unwrap_or(Nanos::MAX).min(self.measured.end).max(self.measured.start))
    }

    /// How many arrivals are due during the warm-up; on average, where they are random.
    fn before_measured(&self, arrivals: &Arrivals) -> u64 {
        arrivals.expected(Duration::from_nanos(self.measured.start - self.lead)).ceil() as u64
    }

    /// One lane's share of `all`.
    fn share(&self, all: u64, lane: usize) -> u64 {
        let (lanes, lane) = (self.lanes as u64, lane as u64);
        all / lanes + u64::from(lane < all % lanes)
    }

    fn supply(&self, order: &Order, lane: usize) -> Supply {
        let share = |all: usize| self.share(all as u64, lane) as usize;
        let schedule = |arrivals: &Arrivals| {
            let seed = order.seed.wrapping_add(lane as u64 * 0x1234_5678_9abc_def1);
            Schedule::new(arrivals, lane, self.lanes, seed)
        };
        // The lanes take arrivals in turn: the first measured one is not always the first lane's.
        let first = order.load.arrivals().map_or(0, |arrivals| self.before_measured(arrivals));
        let place = (lane + self.lanes - (first % self.lanes as u64) as usize) % self.lanes;
        let (kind, connections, max_connections, schedule) = match &order.load {
            Load::Closed { connections } => (Kind::Closed, *connections, *connections, None),
            Load::Open { arrivals, connections, max_connections } => {
                // Without keep-alive, each request has a connection of its own, the first ones like all others.
                let kept = if order.keep_alive { *connections } else { 0 };
                (Kind::Open, kept, *max_connections, Some(schedule(arrivals)))
            }
            Load::Sessions { arrivals, calls, max_connections } => {
                (Kind::Sessions { calls: *calls }, 0, *max_connections, Some(schedule(arrivals)))
            }
        };
        Supply {
            kind,
            connections: share(connections),
            max_connections: share(max_connections),
            concurrency: share(connections).saturating_mul(order.protocol.streams()),
            schedule: schedule.map(Iterator::peekable),
            from: self.lead,
            until: self.measured.end,
            counted_from: self.measured.start,
            left: order.stop.total.map_or(u64::MAX, |total| self.share(total, place)),
            held_back_since: None,
        }
    }
}

/// So many lanes from the first one on, of those that there are.
fn own_lanes(first: usize, lanes: usize, of: usize) -> Range<usize> {
    first.min(of)..first.saturating_add(lanes).min(of)
}

/// The parts of a changing load that lie in the measured time.
fn sections(load: &Load, lead: Nanos, measured: &Range<Nanos>) -> Vec<Range<Nanos>> {
    let lengths: Vec<Nanos> = match load.arrivals() {
        Some(Arrivals::Ramp { over, .. }) => tenths(nanos(*over)),
        Some(Arrivals::Listed(listed)) => tenths(nanos(listed.length())),
        Some(Arrivals::Steps(steps)) => {
            let together = steps.len().div_ceil(SECTIONS_MAX).max(1);
            let length =
                |steps: &[(Rate, Duration)]| steps.iter().map(|(_, one)| nanos(*one)).sum();
            steps.chunks(together).map(length).collect()
        }
        Some(Arrivals::Constant(_) | Arrivals::Poisson(_)) | None => Vec::new(),
    };
    let mut from = lead;
    let parts = lengths.into_iter().map(|length| {
        let part = from.max(measured.start)..(from + length).min(measured.end);
        from += length;
        part
    });
    parts.filter(|part| part.start < part.end).collect()
}

/// The lengths of ten parts, which are `whole` together.
fn tenths(whole: Nanos) -> Vec<Nanos> {
    let border = |part: Nanos| (u128::from(whole) * u128::from(part) / u128::from(TENTHS)) as Nanos;
    (0..TENTHS).map(|part| border(part + 1) - border(part)).collect()
}

/// The whole run of the lane with this number among all, on any engine; with TLS between the two, if that was ordered.
pub(crate) fn run_lane(
    order: &Order,
    plan: &Plan,
    number: usize,
    engine: impl Engine,
    handover: Handover,
    turns: Option<&mut dyn TakesTurns>,
    stopped_at: &dyn Fn() -> Option<Nanos>,
) {
    let recorder = plan.recorder(order, number - plan.own.start, handover);
    match &order.tls {
        None => press_lane(order, plan, number, engine, recorder, turns, stopped_at),
        Some(client) => {
            let log = SecurityLog::new(plan.longest);
            let engine = Tls::new(engine, client, log.clone());
            press_lane(order, plan, number, engine, recorder.reading(log), turns, stopped_at);
        }
    }
}

fn press_lane(
    order: &Order,
    plan: &Plan,
    number: usize,
    engine: impl Engine,
    recorder: Recorder,
    turns: Option<&mut dyn TakesTurns>,
    stopped_at: &dyn Fn() -> Option<Nanos>,
) {
    let rules = Rules {
        asks: &order.asks,
        timeout: nanos(order.timeout),
        keep_alive: order.keep_alive,
        spread: order.spread,
    };
    let mut chance = Chance::new(order.seed ^ (number as u64).wrapping_mul(0x9e37_79b9));
    let seed =
        Seed { chance: chance.draw(), first_seq: number as u64, seq_stride: plan.lanes as u64 };
    let supply = plan.supply(order, number);
    match &order.protocol {
        Protocol::Http1 => {
            let memo = HeadMemo::default();
            let new_session = || H1::remembering(&order.limits, &memo);
            Lane::new(engine, rules, &new_session, supply, recorder, seed).press(turns, stopped_at);
        }
        Protocol::Http2(spoken) => {
            let ledger = Ledger::default();
            let recorder = recorder.counting(ledger.clone(), WantedStreams::of(order));
            // A pool's connection is ready when the server has said what it takes; where a connection is made for one
            // request, that goes out at once.
            let new_session = || {
                if order.has_pool() {
                    H2::new(spoken, ledger.clone())
                } else {
                    H2::eager(spoken, ledger.clone())
                }
            };
            Lane::new(engine, rules, &new_session, supply, recorder, seed).press(turns, stopped_at);
        }
    }
}
