//! Folds what the lanes tell, on the caller's thread, and decides when to give up.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender};

use crate::Nanos;
use crate::distribution::Folded;
use crate::failure::Failure;
use crate::order::{Order, nanos};
use crate::press::{Glance, Halt, Plan};
use crate::recorder::Told;
use crate::recording::{End, LaneReport, Recording, Tally, Window};

/// What has been told so far.
pub(crate) struct Collector<'a> {
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
const WINDOWS_MAX: usize = 1_200;
/// Nothing but refusals for so long, and the run is given up.
const REFUSED_FOR: Nanos = 3_000_000_000;

impl<'a> Collector<'a> {
    pub(crate) fn new(
        order: &'a Order,
        plan: &'a Plan,
        returns: Vec<Sender<Tally>>,
    ) -> Collector<'a> {
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

    pub(crate) fn collect(
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
        let is_refused = matches!(
            failure,
            Failure::ConnectRefused
                | Failure::ConnectUnreachable
                | Failure::NoPorts
                | Failure::NoFiles
        );
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
