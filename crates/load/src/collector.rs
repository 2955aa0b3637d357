//! Folds what the lanes report, on the caller's thread, and decides when to give up.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender};

use crate::Nanos;
use crate::distribution::Folded;
use crate::failure::Failure;
use crate::halt::{Halt, StopTime};
use crate::order::{Load, Order, nanos};
use crate::press::{Glance, Plan};
use crate::recorder::WindowReport;
use crate::recording::{Connections, End, LaneReport, Recording, Window};
use crate::section::Section;
use crate::tally::{Tally, add};

/// What the lanes have reported so far.
pub(crate) struct Collector<'a> {
    plan: &'a Plan,
    order: &'a Order,
    /// The measured time ends here: as planned, or sooner if the run is stopped.
    until: Nanos,
    returns: Vec<Sender<Tally>>,
    /// Each lane has reported all windows before this one.
    progress: Vec<u64>,
    /// No lane has ended a window with this number, or a later one.
    reached: u64,
    /// Windows that not all lanes have reported yet.
    open: BTreeMap<u64, Tally>,
    spare: Vec<Tally>,
    total: Tally,
    windows: Vec<Window>,
    lanes: Vec<LaneReport>,
    sections: Vec<Section>,
    /// How many of the smallest windows make one of `windows`.
    coarseness: u64,
    gave_up: Option<Failure>,
    /// Of the warm-up, where connections are not kept.
    begun_before: Connections,
}

/// More windows than this are merged in pairs: memory does not grow with time.
const WINDOWS_MAX: usize = 1_200;
/// After nothing but refusals for this long, the run is given up.
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
            order,
            until: plan.measured.end,
            returns,
            progress: vec![0; plan.lanes],
            reached: 0,
            open: BTreeMap::new(),
            spare: Vec::new(),
            total: Tally::new(plan.longest),
            windows: Vec::new(),
            lanes: (0..plan.lanes).map(lane).collect(),
            sections: Vec::new(),
            coarseness: 1,
            gave_up: None,
            begun_before: Connections::default(),
        }
    }

    pub(crate) fn collect(
        mut self,
        reports: &Receiver<WindowReport>,
        end: &StopTime,
        halt: &Halt,
        watch: &mut dyn FnMut(&Glance<'_>),
    ) -> Recording {
        let mut was_halted = false;
        while let Ok(report) = reports.recv() {
            // This thread may be behind the lanes: the end must not lie where they have already been.
            for report in iter::once(report).chain(reports.try_iter()) {
                self.take(report);
                while let Some((index, window)) = self.next_whole() {
                    self.close_window(index, &window, watch);
                    self.recycle(window);
                }
            }
            // Once all lanes have ended, nothing is left to be interrupted.
            if !was_halted && halt.is_asked() && !self.is_over() {
                was_halted = true;
                self.stop(end);
            }
            if self.gave_up.is_none() {
                self.gave_up = self.reason_to_give_up();
                if self.gave_up.is_some() {
                    self.stop(end);
                }
            }
        }
        self.into_recording(was_halted)
    }

    /// Ends the run with a window that no lane has reached yet, so that all lanes end with the same window.
    pub(crate) fn stop(&mut self, end: &StopTime) {
        if end.agreed().is_none() {
            end.agree_on((self.reached + 2) * self.plan.width);
        }
        self.ends_at(end);
    }

    /// Whether every lane has ended.
    fn is_over(&self) -> bool {
        self.progress.iter().all(|next| *next == u64::MAX)
    }

    /// Takes over the end that has been agreed on.
    pub(crate) fn ends_at(&mut self, end: &StopTime) {
        self.until = end.agreed().unwrap_or(Nanos::MAX).min(self.until);
    }

    fn now(&self) -> Nanos {
        self.windows.last().map_or(0, |window| window.until)
    }

    /// Whether a window that begins at this time belongs to the measured time.
    fn is_inside(&self, from: Nanos) -> bool {
        self.plan.measured.start <= from && from < self.until
    }

    fn take(&mut self, report: WindowReport) {
        let WindowReport { lane, index, mut tally, is_last, sections } = report;
        let from = index * self.plan.width;
        if self.is_inside(from) {
            let report = &mut self.lanes[lane];
            report.cpu_time += tally.cpu;
            report.idle += tally.idle;
            report.polled += tally.polled;
            report.still.merge(tally.still);
            tally.received_inside = Some(tally.bytes_received);
        } else {
            // A lane that stood still when all lanes were to end noticed the end late.
            (tally.correct_inside, tally.carried_in) = (0, 0);
        }
        self.progress[lane] = if is_last { u64::MAX } else { index + 1 };
        self.reached = self.reached.max(index + 1);
        match self.sections.is_empty() {
            true => self.sections = sections,
            false => {
                self.sections.iter_mut().zip(&sections).for_each(|(all, one)| all.merge(one));
            }
        }
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

    /// The next window that every lane has reported.
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
        if !is_warmup {
            self.total.connections.begun += std::mem::take(&mut self.begun_before).pending();
        }
        match (is_warmup, self.is_inside(from)) {
            // A pool's connections are opened before the measured time, and carry what is measured; of others, those
            // that are being established when it begins.
            (true, _) if self.order.has_pool() => self.total.merge_connections(tally),
            (true, _) => self.begun_before.add(tally.connections),
            (false, true) => self.total.merge(tally),
            (false, false) => self.total.merge_drain(tally),
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

    /// The reason, if nothing has worked from the start and for long enough.
    fn reason_to_give_up(&self) -> Option<Failure> {
        let answered: u64 = self.windows.iter().map(|window| window.correct).sum();
        if 0 < answered {
            return None;
        }
        let mut failed = [0; Failure::COUNT];
        self.windows.iter().for_each(|window| add(&mut failed, &window.failed));
        let (index, &most) = failed.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let now = self.now();
        let failure = Failure::ALL[index];
        let is_refused = failure.is_unreached() && !failure.is_censored();
        let is_long = REFUSED_FOR <= now && is_refused
            || REFUSED_FOR + 2 * nanos(self.order.timeout) <= now
                && self.order.stop.duration.is_none();
        (0 < most && is_long).then_some(failure)
    }

    fn into_recording(mut self, was_halted: bool) -> Recording {
        let from = self.plan.measured.start;
        let scheduled = self.plan.scheduled_until(self.order);
        // A run ended by the ordered number of requests lasted as long as they did, and at least until the next one
        // would have been due. Any other run lasted as long as planned.
        let is_spent = self.order.stop.total.is_some_and(|total| total <= self.starts());
        let until = match is_spent {
            true => self.until.min(self.total.last_done.max(scheduled.unwrap_or(0))),
            false => self.until.min(self.now()),
        };
        let until = until.max(from + 1);
        for lane in &mut self.lanes {
            lane.wall = until - from;
        }
        Recording {
            measured_from: from,
            measured_until: until,
            scheduled_until: scheduled.map(|scheduled| scheduled.min(until)),
            ended: self.now(),
            end: match (self.gave_up, was_halted) {
                (Some(failure), _) => End::GaveUp(failure),
                (None, true) => End::Halted,
                (None, false) => End::Done,
            },
            timeout: nanos(self.order.timeout),
            on_time_within: Some(nanos(self.order.on_time_within())),
            total: self.total,
            windows: self.windows,
            lanes: self.lanes,
            sections: self.sections,
        }
    }

    /// What an ordered number counts: requests, or sessions.
    fn starts(&self) -> u64 {
        match self.order.load {
            Load::Closed { .. } | Load::Open { .. } => self.total.attempted,
            Load::Sessions { .. } => self.total.sessions.attempted,
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
