//! Runs the lanes and folds what they tell.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use rustix::thread::CpuSet;
use wire::H1;

use crate::Nanos;
use crate::arrivals::{Arrivals, Chance, Schedule};
use crate::collector::Collector;
use crate::engine::{Epoll, Origin};
use crate::lane::{Lane, Rules, Seed};
use crate::order::{Load, Order, nanos};
use crate::recorder::{Handover, Recorder};
use crate::recording::{Recording, Tally};
use crate::supply::{Kind, Supply};

/// Asks a run to end early; it still reports what it measured.
#[derive(Debug, Default)]
pub struct Halt {
    asked: AtomicBool,
}

impl Halt {
    /// Stops new requests; what is under way is waited for, for a short while.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}

/// What a watcher is shown, about ten times a second.
#[derive(Debug)]
pub struct Glance<'a> {
    /// On the run's clock, which starts with the warm-up.
    pub now: Nanos,
    /// Since when the newest window, all lanes together, lasts.
    pub from: Nanos,
    /// Whether it lies before the measured time.
    pub is_warmup: bool,
    /// What happened within it.
    pub window: &'a Tally,
    /// The measured time so far.
    pub total: &'a Tally,
}

/// Why nothing could be pressed at all.
#[derive(Debug)]
pub struct PressError(String);

impl PressError {
    pub(crate) fn new(says: String) -> PressError {
        PressError(says)
    }
}

impl fmt::Display for PressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PressError {}

/// Presses until the order is carried out, or `halt` is asked. `watch` runs on the caller's
/// thread, never on a lane's.
pub fn press(
    order: &Order,
    halt: &Halt,
    watch: &mut dyn FnMut(&Glance<'_>),
) -> Result<Recording, PressError> {
    let plan = Plan::of(order);
    let (full, told) = channel();
    let mut returns = Vec::new();
    let mut lanes = Vec::new();
    let origin = Origin::now();
    for number in 0..plan.lanes {
        let (give, empty) = channel();
        for _ in 0..SPARE_WINDOWS {
            let _ = give.send(Tally::new(plan.longest));
        }
        returns.push(give);
        let epoll = Epoll::descriptor()
            .map_err(|error| PressError(format!("cannot create an epoll instance: {error}")))?;
        lanes.push((number, epoll, Handover { full: full.clone(), empty }));
    }
    drop(full);
    let give_up = Halt::default();
    std::thread::scope(|scope| {
        let mut joins = Vec::new();
        for (number, epoll, handover) in lanes {
            let (plan, give_up) = (&plan, &give_up);
            let run = move || {
                prepare_thread(&order.cpus, number);
                let (target, sources) = (order.target.clone(), order.sources.clone());
                let engine = Epoll::new(epoll, target, sources, order.spin, origin, number);
                run_lane(order, plan, number, engine, handover, &|| {
                    halt.is_asked() || give_up.is_asked()
                });
            };
            let thread = std::thread::Builder::new().name(format!("lane {number}"));
            let join = thread
                .spawn_scoped(scope, run)
                .map_err(|error| PressError(format!("cannot start a thread: {error}")))?;
            joins.push(join);
        }
        let collector = Collector::new(order, &plan, returns);
        let recording = collector.collect(&told, &give_up, halt, watch);
        Ok(recording)
    })
}

/// Windows that a lane may be ahead of the caller's thread before it must allocate.
const SPARE_WINDOWS: usize = 3;

/// The run's times and shares, the same for all lanes.
pub(crate) struct Plan {
    pub(crate) lanes: usize,
    pub(crate) width: Nanos,
    /// Schedules start here; connections are opened before.
    lead: Nanos,
    pub(crate) measured: Range<Nanos>,
    /// Latencies up to here are told apart.
    pub(crate) longest: Nanos,
}

impl Plan {
    fn of(order: &Order) -> Plan {
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
        let length = match (order.stop.duration, own_length) {
            (Some(length), Some(own)) => Some(length.min(own.saturating_sub(order.warmup))),
            (length, own) => length.or(own),
        };
        let until = length.map_or(Nanos::MAX, |length| from.saturating_add(nanos(length)));
        Plan {
            lanes: order.lanes.clamp(1, order.load.connections_max().max(1)),
            width,
            lead,
            measured: from..until,
            longest: nanos(order.timeout).saturating_mul(2),
        }
    }

    /// What of `all` falls to one lane.
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
        let (kind, connections, max_connections, schedule) = match &order.load {
            Load::Closed { connections } => (Kind::Closed, *connections, *connections, None),
            Load::Open { arrivals, connections, max_connections } => {
                (Kind::Open, *connections, *max_connections, Some(schedule(arrivals)))
            }
            Load::Sessions { arrivals, calls, max_connections } => {
                (Kind::Sessions { calls: *calls }, 0, *max_connections, Some(schedule(arrivals)))
            }
        };
        let left = order.stop.total.map_or(u64::MAX, |total| self.share(total, lane));
        let time = self.lead..self.measured.end;
        let (connections, max_connections) = (share(connections), share(max_connections));
        let counted_from = self.measured.start;
        Supply::new(kind, connections, max_connections, schedule, time, counted_from, left)
    }
}

/// Pins the thread where told, and asks the kernel to wake it when it says.
pub(crate) fn prepare_thread(among: &[usize], number: usize) {
    if !among.is_empty() {
        let mut cpus = CpuSet::new();
        cpus.set(among[number % among.len()]);
        // A CPU that cannot be had was refused when the order was read; since then it may have
        // been taken away, and then the kernel's choice is the best one.
        let _ = rustix::thread::sched_setaffinity(None, &cpus);
    }
    // By default sleeps may last 50 µs longer than asked.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

fn run_lane(
    order: &Order,
    plan: &Plan,
    number: usize,
    engine: Epoll,
    handover: Handover,
    is_halted: &dyn Fn() -> bool,
) {
    let rules =
        Rules { asks: &order.asks, timeout: nanos(order.timeout), keep_alive: order.keep_alive };
    let recorder = Recorder::new(number, plan.width, plan.measured.clone(), plan.longest, handover);
    let mut chance = Chance::new(order.seed ^ (number as u64).wrapping_mul(0x9e37_79b9));
    let seed =
        Seed { chance: chance.next(), first_seq: number as u64, seq_stride: plan.lanes as u64 };
    let new_session = || H1::new(&order.limits);
    let supply = plan.supply(order, number);
    Lane::new(engine, rules, &new_session, supply, recorder, seed).press(is_halted);
}
