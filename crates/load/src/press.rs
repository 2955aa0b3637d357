//! Runs the lanes and folds what they tell.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use rustix::thread::CpuSet;
use wire::H1;

use crate::Nanos;
use crate::arrivals::{Arrivals, Chance, Schedule};
use crate::engine::{Epoll, Origin};
use crate::failure::Failure;
use crate::lane::{Lane, Rules, Seed};
use crate::order::{Load, Order, nanos};
use crate::recorder::{Handover, Recorder, Told};
use crate::recording::{End, Folded, LaneReport, Recording, Tally, Window};
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
                prepare_thread(order, number);
                let engine = Epoll::new(epoll, order, origin, number);
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
struct Plan {
    lanes: usize,
    width: Nanos,
    /// Schedules start here; connections are opened before.
    lead: Nanos,
    measured: Range<Nanos>,
    /// Latencies up to here are told apart.
    longest: Nanos,
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
        Supply::new(kind, share(connections), share(max_connections), schedule, time, left)
    }
}

/// Pins the thread where told, and asks the kernel to wake it when it says.
fn prepare_thread(order: &Order, number: usize) {
    if !order.cpus.is_empty() {
        let mut cpus = CpuSet::new();
        cpus.set(order.cpus[number % order.cpus.len()]);
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

/// Folds what the lanes tell, on the caller's thread.
struct Collector<'a> {
    plan: &'a Plan,
    timeout: Nanos,
    /// A run without an end of its own gives up when nothing works.
    may_give_up_on_silence: bool,
    returns: Vec<Sender<Tally>>,
    /// Each lane has told all windows before this one.
    progress: Vec<u64>,
    /// Windows that not all lanes have told yet.
    open: BTreeMap<u64, Tally>,
    spare: Vec<Tally>,
    total: Tally,
    windows: Vec<Window>,
    lanes: Vec<LaneReport>,
    /// How many of the least windows make one of `windows`.
    coarseness: u64,
    gave_up: Option<Failure>,
    last_answer: Nanos,
}

/// More windows than this are merged in pairs: memory does not grow with time.
const WINDOWS_MAX: usize = 6_000;
/// Nothing but refusals for so long, and the run is given up.
const REFUSED_FOR: Nanos = 3_000_000_000;

impl<'a> Collector<'a> {
    fn new(order: &'a Order, plan: &'a Plan, returns: Vec<Sender<Tally>>) -> Collector<'a> {
        let lane = |number: usize| LaneReport {
            cpu: (!order.cpus.is_empty()).then(|| order.cpus[number % order.cpus.len()]),
            ..LaneReport::default()
        };
        Collector {
            plan,
            timeout: nanos(order.timeout),
            may_give_up_on_silence: order.stop.duration.is_none(),
            returns,
            progress: vec![0; plan.lanes],
            open: BTreeMap::new(),
            spare: Vec::new(),
            total: Tally::new(plan.longest),
            windows: Vec::new(),
            lanes: (0..plan.lanes).map(lane).collect(),
            coarseness: 1,
            gave_up: None,
            last_answer: 0,
        }
    }

    fn collect(
        mut self,
        told: &Receiver<Told>,
        give_up: &Halt,
        halt: &Halt,
        watch: &mut dyn FnMut(&Glance<'_>),
    ) -> Recording {
        let mut halted_at = None;
        while let Ok(told) = told.recv() {
            self.take(told);
            while let Some((index, window)) = self.next_whole() {
                self.close_window(index, &window, watch);
                self.recycle(window);
            }
            if halted_at.is_none() && halt.is_asked() {
                halted_at = Some(self.now());
            }
            if self.gave_up.is_none() {
                self.gave_up = self.reason_to_give_up();
                if self.gave_up.is_some() {
                    give_up.ask();
                }
            }
        }
        self.into_recording(halted_at)
    }

    fn now(&self) -> Nanos {
        self.windows.last().map_or(0, |window| window.until)
    }

    fn take(&mut self, told: Told) {
        let Told { lane, index, mut tally, is_last } = told;
        let from = index * self.plan.width;
        if self.plan.measured.start <= from && from < self.plan.measured.end {
            let report = &mut self.lanes[lane];
            report.cpu_time += tally.cpu;
            report.idle += tally.idle;
            report.polled += tally.polled;
        }
        self.progress[lane] = if is_last { u64::MAX } else { index + 1 };
        if let Some(window) = self.open.get_mut(&index) {
            window.merge(&tally);
            tally.clear();
            let _ = self.returns[lane].send(tally);
        } else {
            self.open.insert(index, tally);
            let empty = self.spare.pop();
            let empty = empty.unwrap_or_else(|| Tally::new(self.plan.longest));
            let _ = self.returns[lane].send(empty);
        }
    }

    /// The next window that every lane has told.
    fn next_whole(&mut self) -> Option<(u64, Tally)> {
        let (&index, _) = self.open.first_key_value()?;
        let is_whole = self.progress.iter().all(|&next| index < next);
        is_whole.then(|| self.open.pop_first()).flatten()
    }

    fn recycle(&mut self, mut window: Tally) {
        window.clear();
        self.spare.push(window);
    }

    fn close_window(&mut self, index: u64, tally: &Tally, watch: &mut dyn FnMut(&Glance<'_>)) {
        let width = self.plan.width;
        let from = index * width;
        let is_warmup = from < self.plan.measured.start;
        if is_warmup {
            self.total.merge_connections(tally);
        } else {
            self.total.merge(tally);
        }
        if 0 < tally.answered {
            self.last_answer = from + width;
        }
        watch(&Glance { now: from + width, from, is_warmup, window: tally, total: &self.total });
        self.keep(from, is_warmup, tally);
    }

    /// Keeps the window, merged with its neighbour if the run is a long one.
    fn keep(&mut self, from: Nanos, is_warmup: bool, tally: &Tally) {
        let width = self.plan.width;
        let wide = width * self.coarseness;
        let window = fold(from..from + width, is_warmup, tally);
        match self.windows.last_mut() {
            Some(last) if last.from / wide == from / wide && last.is_warmup == is_warmup => {
                last.absorb(&window);
            }
            Some(_) | None => self.windows.push(window),
        }
        if WINDOWS_MAX <= self.windows.len() {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.coarseness *= 2;
        let wide = self.plan.width * self.coarseness;
        let mut coarse: Vec<Window> = Vec::with_capacity(self.windows.len() / 2 + 1);
        for window in self.windows.drain(..) {
            match coarse.last_mut() {
                Some(last)
                    if last.from / wide == window.from / wide
                        && last.is_warmup == window.is_warmup =>
                {
                    last.absorb(&window);
                }
                Some(_) | None => coarse.push(window),
            }
        }
        self.windows = coarse;
    }

    /// Nothing has worked from the start, for long enough.
    fn reason_to_give_up(&self) -> Option<Failure> {
        let answered: u64 = self.windows.iter().map(|window| window.correct).sum();
        if 0 < answered {
            return None;
        }
        let mut failed = [0; Failure::COUNT];
        for window in &self.windows {
            for (sum, count) in failed.iter_mut().zip(window.failed) {
                *sum += count;
            }
        }
        let (index, &most) = failed.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let now = self.now();
        let failure = Failure::ALL[index];
        let is_refused = matches!(failure, Failure::ConnectRefused | Failure::ConnectUnreachable);
        let is_long = REFUSED_FOR <= now && is_refused
            || REFUSED_FOR + 2 * self.timeout <= now && self.may_give_up_on_silence;
        (0 < most && is_long).then_some(failure)
    }

    fn into_recording(mut self, halted_at: Option<Nanos>) -> Recording {
        let ended = self.now();
        let from = self.plan.measured.start;
        // A run that did all it was told before its time was up lasted as long as it did.
        let until = match halted_at {
            Some(at) => at.min(self.plan.measured.end),
            None => self.plan.measured.end.min(self.total.last_done),
        };
        let until = until.max(from + 1);
        for lane in &mut self.lanes {
            lane.wall = until - from;
        }
        Recording {
            total: self.total,
            windows: self.windows,
            lanes: self.lanes,
            measured_from: from,
            measured_until: until,
            ended,
            end: match (self.gave_up, halted_at) {
                (Some(failure), _) => End::GaveUp(failure),
                (None, Some(_)) => End::Halted,
                (None, None) => End::Done,
            },
            timeout: self.timeout,
        }
    }
}

fn fold(time: Range<Nanos>, is_warmup: bool, tally: &Tally) -> Window {
    Window {
        in_flight: tally.in_flight_area as f64 / (time.end - time.start) as f64,
        from: time.start,
        until: time.end,
        is_warmup,
        attempted: tally.attempted + tally.warmup_attempted,
        correct: tally.answered,
        failed: tally.failed,
        bytes_sent: tally.bytes_sent,
        bytes_received: tally.bytes_received,
        cpu: tally.cpu,
        response: Folded::of(&tally.response),
        service: Folded::of(&tally.service),
    }
}

/// How long a run may take at the most, counted from its start: nothing outlives it.
#[must_use]
pub fn longest_run(order: &Order) -> Option<Duration> {
    let plan = Plan::of(order);
    let until = (plan.measured.end < Nanos::MAX).then_some(plan.measured.end)?;
    Some(Duration::from_nanos(until) + order.timeout.min(Duration::from_millis(1_500)))
}
