//! Folds what the lanes report, on the caller's thread, and decides when to give up.

use std::collections::BTreeMap;
use std::iter;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::engine::Origin;
use crate::failure::Failure;
use crate::halt::{Halt, StopTime};
use crate::handover::WindowReport;
use crate::order::{Order, nanos};
use crate::part::{Outlook, Part};
use crate::plan::Plan;
use crate::recording::Window;
use crate::silence::Quiet;
use crate::tally::Tally;

/// What a load does meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meanwhile<T> {
    /// The time on the run's clock, which starts with the warm-up: the window's end.
    pub now: Nanos,
    /// The start of the newest window, of all lanes together.
    pub from: Nanos,
    /// Whether the window lies before the measured time.
    pub is_warmup: bool,
    /// What happened within the window.
    pub window: T,
    /// The measured time so far.
    pub total: T,
}

/// What a watcher is shown, about ten times a second.
pub type Glance<'a> = Meanwhile<&'a Tally>;

/// What the lanes have reported so far.
pub(crate) struct Collector<'a> {
    plan: &'a Plan,
    order: &'a Order,
    /// The zero of the lanes' clocks; none where these stand still from time to time.
    origin: Option<Origin>,
    returns: Vec<Sender<Tally>>,
    /// Each lane has reported all windows before this one.
    progress: Vec<u64>,
    /// No lane has ended a window with this number, or a later one.
    reached: u64,
    /// Windows that not all lanes have reported yet.
    open: BTreeMap<u64, Tally>,
    spare: Vec<Tally>,
    part: Part,
    /// Where each lane had no right answers.
    quiet: Vec<Quiet>,
    outlook: Outlook,
}

/// How often the program checks whether the run is to be halted.
const LOOK: Duration = Duration::from_millis(20);

impl<'a> Collector<'a> {
    pub(crate) fn new(
        order: &'a Order,
        plan: &'a Plan,
        returns: Vec<Sender<Tally>>,
        origin: Option<Origin>,
    ) -> Collector<'a> {
        Collector {
            plan,
            order,
            origin,
            returns,
            progress: vec![0; plan.own.len()],
            reached: 0,
            open: BTreeMap::new(),
            spare: Vec::new(),
            part: Part::new(order, plan),
            quiet: vec![Quiet::none(); plan.own.len()],
            outlook: Outlook::default(),
        }
    }

    pub(crate) fn collect(
        mut self,
        reports: &Receiver<WindowReport>,
        end: &StopTime,
        halt: &Halt,
        watch: &mut dyn FnMut(&Glance<'_>),
    ) -> Part {
        loop {
            match reports.recv_timeout(LOOK) {
                // This thread may be behind the lanes: the end must not lie where they have already been.
                Ok(report) => self.take_all(iter::once(report).chain(reports.try_iter()), watch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.finish(),
            }
            // Once all lanes have ended, nothing is left to be interrupted.
            if !self.part.was_halted && halt.is_asked() && !self.is_over() {
                self.part.was_halted = true;
                self.stop(end, halt.at());
            }
            if self.part.gave_up.is_none() && self.is_alone() {
                self.part.gave_up = self.reason_to_give_up();
                if self.part.gave_up.is_some() {
                    self.stop(end, None);
                }
            }
        }
    }

    fn finish(mut self) -> Part {
        let all = self.quiet.iter().fold(Quiet::always(), |all, lane| all.and(lane));
        self.part.quiet = all;
        self.part.quiet.bound(self.part.ended());
        self.part
    }

    fn take_all(
        &mut self,
        reports: impl Iterator<Item = WindowReport>,
        watch: &mut dyn FnMut(&Glance<'_>),
    ) {
        for report in reports {
            self.take(report);
            while let Some((index, window)) = self.next_whole() {
                self.close_window(index, &window, watch);
                self.recycle(window);
            }
        }
    }

    /// Ends the run with a window that no lane has reached yet, so that all lanes end with the same window: with the one
    /// at whose end or in which that instant lies on which several processes have agreed, or as soon as possible: soon
    /// after now, even if no lane has reported for a while, so that a time in which this process did not run is not left
    /// out. A run that has not begun does not begin.
    fn stop(&mut self, end: &StopTime, at: Option<u64>) {
        let width = self.plan.times.width;
        if end.agreed().is_none() {
            let is_before = |origin: Origin| Origin::now().nanos() < origin.nanos();
            let is_at_once = |origin: Origin| at.is_none_or(|at| at <= origin.nanos());
            end.agree_on(match (self.origin, self.origin.zip(at)) {
                (Some(origin), _) if is_before(origin) && is_at_once(origin) => 0,
                (_, Some((origin, at))) => {
                    let ordered = at.saturating_sub(origin.nanos()).div_ceil(width);
                    ordered.max(self.reached + 1).saturating_mul(width)
                }
                (origin, None) => {
                    let now = origin
                        .map_or(0, |origin| Origin::now().nanos().saturating_sub(origin.nanos()));
                    (self.reached.max(now / width) + 2) * width
                }
            });
        }
        self.ends_at(end);
    }

    /// Whether every lane has ended.
    fn is_over(&self) -> bool {
        self.progress.iter().all(|next| *next == u64::MAX)
    }

    /// Whether there are no other processes that would have to give up with this one.
    fn is_alone(&self) -> bool {
        self.part.lanes == self.part.share.of
    }

    fn reason_to_give_up(&self) -> Option<Failure> {
        let is_limited = self.order.stop.duration.is_some();
        self.outlook.reason_to_give_up(nanos(self.order.timeout), is_limited)
    }

    /// An end was requested, and has been agreed on.
    #[cfg(test)]
    pub(crate) fn is_halted_at(&mut self, end: &StopTime) {
        self.part.was_halted = true;
        self.ends_at(end);
    }

    /// Takes over the end that has been agreed on.
    fn ends_at(&mut self, end: &StopTime) {
        self.part.until = end.agreed().unwrap_or(Nanos::MAX).min(self.part.until);
    }

    /// Whether a window that begins at this time belongs to the measured time.
    fn is_inside(&self, from: Nanos) -> bool {
        self.plan.times.measured.start <= from && from < self.part.until
    }

    fn take(&mut self, report: WindowReport) {
        let WindowReport { lane, index, mut tally, quiet, ended, sections } = report;
        let from = index * self.plan.times.width;
        self.quiet[lane].append(quiet, from);
        if self.is_inside(from) {
            let report = &mut self.part.reports[lane];
            report.cpu_time += tally.cpu;
            report.idle += tally.idle;
            report.polled += tally.polled;
            report.still.merge(tally.still);
            if let Some(compared) = tally.compared {
                *report.meaning.get_or_insert_default() += compared.meaning_ns;
            }
            tally.received_inside = tally.bytes_received;
        } else {
            // A lane that was not running when all lanes were to end noticed the end late.
            (tally.correct_inside, tally.carried_in) = (0, 0);
        }
        self.progress[lane] = match ended {
            Some(ended) => {
                let measured = self.plan.times.measured.start..self.part.until.min(ended);
                self.part.reports[lane].wall = measured.end.saturating_sub(measured.start);
                u64::MAX
            }
            None => index + 1,
        };
        self.reached = self.reached.max(index + 1);
        self.part.add_sections(sections);
        if let Some(window) = self.open.get_mut(&index) {
            window.merge(&tally);
            tally.clear();
            let _ = self.returns[lane].send(tally);
        } else {
            self.open.insert(index, tally);
            let empty = self.spare.pop();
            let empty = empty.unwrap_or_else(|| Tally::new(self.plan.times.longest));
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
        let width = self.plan.times.width;
        let (from, until) = (index * width, (index + 1) * width);
        let is_warmup = from < self.plan.times.measured.start;
        let is_inside = self.is_inside(from);
        let part = &mut self.part;
        if !is_warmup {
            part.total.connections.begun += std::mem::take(&mut part.begun_before).pending();
        }
        if until <= self.plan.lead {
            // HTTP/2 introduces itself on a pool's connections before anything is due.
            part.total.bytes_sent += tally.bytes_sent;
            part.total.bytes_received += tally.bytes_received;
        }
        match (is_warmup, is_inside) {
            // A pool's connections are opened before the measured time, and carry what is measured; of others, those
            // that are being established when it begins.
            (true, _) if self.order.has_pool() => part.total.merge_connections(tally),
            (true, _) => part.begun_before.add(tally.connections),
            (false, true) => part.total.merge(tally),
            (false, false) => part.total.merge_drain(tally),
        }
        watch(&Glance { now: until, from, is_warmup, window: tally, total: &part.total });
        self.outlook.see(until, tally.answered, &tally.failed);
        part.windows.keep(width, Window::of(from, until, is_warmup, tally));
    }
}
