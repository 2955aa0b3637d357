//! Runs the lanes and folds what they report.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

use wire::h2::{H2, Ledger};
use wire::{Ask, BodyRule, Chance, Forms, H1, HeadMemo, Meaning};

use crate::Nanos;
use crate::arrivals::{Arrivals, Schedule};
use crate::collector::{Collector, Glance};
use crate::engine::{Engine, Epoll, Origin, Tls};
use crate::halt::{Halt, StopTime};
use crate::handover::Handover;
use crate::http2::WantedStreams;
use crate::lane::{Lane, Rules, Seed};
use crate::order::{Load, Order, Protocol, nanos};
use crate::part::{Part, Parts};
use crate::plan::Plan;
use crate::recorder::{Clocks, Recorder};
use crate::recording::Recording;
use crate::security::SecurityLog;
use crate::supply::{Kind, Supply};
use crate::tally::Tally;
use crate::thread::{self, LoadError};
use crate::turns::{Place, TakesTurns};

/// Applies the load until the order is carried out, or `halt` asks for an end. `watch` runs on the caller's
/// thread, never on a lane's.
pub fn press(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Recording, LoadError> {
    whole(order, carry_out(order, None, halt, watch)?)
}

/// Applies a load of which this process has only some of the lanes, or all of them. A part does not give up on its own:
/// what puts the parts together asks for an end (see [`crate::LiveMerger::reason_to_give_up`]).
pub fn press_part(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Part, LoadError> {
    carry_out(order, None, halt, watch)
}

/// Applies a load in turns with others. The clock of the recording stands still while another side has its turn: so it
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
    let missing = format!("{} threads are those of other processes", parts.missing());
    parts.into_recording().ok_or_else(|| LoadError::new(missing))
}

fn carry_out(
    order: &Order,
    place: Option<&Place<'_>>,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Part, LoadError> {
    order.share.map_or(Ok(()), |share| share.check(order.lanes)).map_err(LoadError::new)?;
    order.asks.iter().for_each(Ask::prepare);
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
            let _ = give.send(Tally::new(plan.times.longest));
        }
        returns.push(give);
        lanes.push((number, epoll, Handover { full: full.clone(), empty }, seats.pop()));
    }
    drop(full);
    let (end, began_late) = (StopTime::open(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for (number, epoll, handover, mut seat) in lanes {
            let (plan, end, began_late) = (&plan, &end, &began_late);
            thread::start(scope, format!("loader {}", first_lane + number), end, move || {
                thread::prepare(&order.cpus, number);
                let (target, sources) = (order.target.clone(), order.sources.clone());
                let origin = seat.as_mut().map_or(origin, |seat| Origin::at(seat.begin()));
                if !origin.wait_unless(&|| end.agreed() == Some(0)) {
                    return plan.recorder(number, handover).finish(0, Clocks::default());
                }
                began_late.fetch_max(origin.elapsed(), Ordering::Relaxed);
                let lane = plan.own.start + number;
                let engine = Epoll::new(epoll, target, sources, order.spin, origin, lane);
                let turns = seat.as_mut().map(|seat| seat as &mut dyn TakesTurns);
                run_lane(order, plan, lane, engine, handover, turns, &|| end.agreed());
            })?;
        }
        let clock = place.is_none().then_some(origin);
        let collector = Collector::new(order, &plan, returns, clock);
        let part = collector.collect(&reports, &end, halt, watch);
        Ok(Part { began_late: began_late.load(Ordering::Relaxed), ..part })
    })
}

/// Windows that a lane may be ahead of the caller's thread before it must allocate.
const SPARE_WINDOWS: usize = 3;

impl Plan {
    /// What one of this process's lanes records with.
    fn recorder(&self, number: usize, handover: Handover) -> Recorder {
        Recorder::new(number, self.times.clone(), handover)
    }

    /// What one lane sends, and when.
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
            until: self.times.measured.end,
            counted_from: self.times.measured.start,
            left: order.stop.total.map_or(u64::MAX, |total| self.share(total, place)),
            held_back_since: None,
        }
    }
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
    let recorder = plan.recorder(number - plan.own.start, handover);
    match &order.tls {
        None => press_lane(order, plan, number, engine, recorder, turns, stopped_at),
        Some(client) => {
            let log = SecurityLog::new(plan.times.longest);
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
        judges_times: order.asks.iter().any(|ask| ask.expect.needs_times()),
    };
    let mut chance = Chance::new(order.seed ^ (number as u64).wrapping_mul(0x9e37_79b9));
    let seed =
        Seed { chance: chance.draw(), first_seq: number as u64, seq_stride: plan.lanes as u64 };
    let supply = plan.supply(order, number);
    let meanings = || order.asks.iter().filter_map(|ask| ask.expect.meaning());
    let learns = |ask: &Ask| matches!(ask.expect.body, BodyRule::Meaning(_) | BodyRule::File(_));
    let forms = order.asks.iter().any(learns).then(|| Forms::new(|| Origin::now().nanos()));
    let writes = meanings().any(|rule| matches!(rule, Meaning::Updated(_)));
    let recorder = recorder.comparing(forms.clone(), writes);
    match &order.protocol {
        Protocol::Http1 => {
            let memo = HeadMemo::default();
            let new_session = || H1::remembering(&order.limits, &memo).learning(forms.clone());
            Lane::new(engine, rules, &new_session, supply, recorder, seed).press(turns, stopped_at);
        }
        Protocol::Http2(spoken) => {
            let ledger = Ledger::default();
            let recorder = recorder.counting(ledger.clone(), WantedStreams::of(order));
            // A pool's connection is ready when the server has said what it takes; where a connection is made for one
            // request, that goes out at once.
            let new_session = || match order.has_pool() {
                true => H2::new(spoken, ledger.clone()).learning(forms.clone()),
                false => H2::eager(spoken, ledger.clone()).learning(forms.clone()),
            };
            Lane::new(engine, rules, &new_session, supply, recorder, seed).press(turns, stopped_at);
        }
    }
}
