//! The parts of one load, put together.

use std::collections::BTreeMap;

use super::{Outlook, Part};
use crate::Nanos;
use crate::arrivals::Arrivals;
use crate::failure::Failure;
use crate::order::{Load, Order, Share, nanos};
use crate::plan::Plan;
use crate::recording::{End, LaneReport, Recording};

/// The parts of one load, as they come. When none is missing, they are what one process would have recorded.
#[derive(Debug)]
pub struct Parts {
    pub(super) plan: Plan,
    pub(super) facts: Facts,
    /// All that has come; its reports are those of all lanes.
    pub(super) whole: Part,
    /// The first lanes of the parts that have come, and how many each has.
    pub(super) have: BTreeMap<usize, usize>,
    /// When those that were stopped ended.
    stopped: Option<Nanos>,
}

/// What of an order is needed at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) total: Option<u64>,
    pub(super) counts_sessions: bool,
    is_limited: bool,
    timeout: Nanos,
    pub(super) on_time_within: Nanos,
    scheduled_until: Option<Nanos>,
    mean_gap: Option<Nanos>,
}

impl Parts {
    /// None of the parts of this load has come. Which share of it the order is about does not matter.
    #[must_use]
    pub fn new(order: &Order) -> Parts {
        let plan = Plan::of_all(order);
        let facts = Facts {
            total: order.stop.total,
            counts_sessions: matches!(order.load, Load::Sessions { .. }),
            is_limited: order.stop.duration.is_some(),
            timeout: nanos(order.timeout),
            on_time_within: nanos(order.on_time_within()),
            scheduled_until: plan.scheduled_until(order),
            mean_gap: order.load.arrivals().and_then(Arrivals::mean_gap),
        };
        let whole = Part {
            share: Share { first: 0, of: order.lanes_in_all() },
            lanes: order.lanes_in_all(),
            reports: vec![LaneReport::default(); plan.lanes],
            ..Part::new(order, &plan)
        };
        Parts { plan, facts, whole, have: BTreeMap::new(), stopped: None }
    }

    /// Adds a part, or says why it cannot be one of this load. Parts come from other machines and are not believed: what
    /// is refused changes nothing.
    pub fn add(&mut self, part: Part) -> Result<(), String> {
        self.check(&part)?;
        self.take(part);
        Ok(())
    }

    /// Adds a part that this process has made itself.
    pub(crate) fn take(&mut self, part: Part) {
        let whole = &mut self.whole;
        let of_lanes = self.plan.own_of(part.share.first, part.lanes);
        whole.reports[of_lanes].copy_from_slice(&part.reports);
        self.have.insert(part.share.first, part.lanes);
        if part.was_halted || part.gave_up.is_some() {
            // A process that was behind the others has ended its load later.
            self.stopped = self.stopped.max(Some(part.until));
        }
        whole.total.merge(&part.total);
        whole.windows.merge(whole.width, part.windows);
        whole.add_sections(part.sections);
        whole.quiet = whole.quiet.and(&part.quiet);
        whole.begun_before.add(part.begun_before);
        whole.began_late = whole.began_late.max(part.began_late);
        whole.was_halted |= part.was_halted;
        whole.gave_up = whole.gave_up.or(part.gave_up);
    }

    /// How many lanes are missing.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.whole.lanes - self.have.values().sum::<usize>()
    }

    /// The whole recording; none if a lane is missing.
    #[must_use]
    pub fn into_recording(self) -> Option<Recording> {
        (self.missing() == 0).then(|| self.finish())
    }

    /// What has come, and the lanes that it is of; none if nothing has. Where lanes are missing, it is less than was
    /// ordered.
    #[must_use]
    pub fn into_recording_of_some(mut self) -> Option<Recording> {
        let ranges: Vec<_> =
            self.have.iter().map(|(&first, &lanes)| self.plan.own_of(first, lanes)).collect();
        let reports = &self.whole.reports;
        self.whole.reports = ranges.into_iter().flat_map(|own| reports[own].to_vec()).collect();
        (!self.have.is_empty()).then(|| self.finish())
    }

    fn finish(mut self) -> Recording {
        let (from, facts, ended) = (self.plan.times.measured.start, self.facts, self.whole.ended());
        let stopped_at = self.stopped.unwrap_or(self.plan.times.measured.end);
        let end = self.end(stopped_at);
        let whole = &mut self.whole;
        if whole.windows.iter().any(|window| !window.is_warmup) {
            whole.total.connections.begun += whole.begun_before.pending();
        }
        // A run ended by the ordered number of requests lasted as long as they did, and at least until the next one
        // would have been due. Any other run lasted as long as planned.
        let starts = match facts.counts_sessions {
            true => whole.total.sessions.attempted,
            false => whole.total.attempted,
        };
        let is_by_total = facts.total.is_some_and(|total| total <= starts);
        let last_due = whole.total.last_due;
        let random_until = facts.mean_gap.filter(|_| is_by_total).map(|gap| last_due + gap);
        let scheduled_until = random_until.or(facts.scheduled_until);
        let until = match is_by_total {
            true => whole.total.last_done.max(scheduled_until.unwrap_or(0)),
            false => ended,
        };
        let until = stopped_at.min(until).max(from);
        for lane in &mut self.whole.reports {
            // A lane that has ended has nothing to do.
            lane.idle += (until - from).saturating_sub(lane.wall);
            lane.wall = until - from;
        }
        let Part { total, windows, quiet, .. } = &mut self.whole;
        quiet.bound(ended);
        let silence = quiet.silence(from..until, total, windows);
        Recording {
            measured_from: from,
            measured_until: until,
            scheduled_until: scheduled_until.map(|scheduled| scheduled.min(until)),
            ended,
            end,
            timeout: facts.timeout,
            on_time_within: facts.on_time_within,
            total: self.whole.total,
            windows: self.whole.windows.into_windows(),
            lanes: self.whole.reports,
            sections: self.whole.sections,
            silence,
        }
    }

    /// A load that was stopped after nothing but failures was stopped because of them. Where several processes carry it
    /// out, none of them decides that on its own.
    fn end(&self, stopped_at: Nanos) -> End {
        match (self.whole.gave_up, self.whole.was_halted) {
            (Some(failure), _) => End::GaveUp(failure),
            (None, true) if 1 < self.have.len() => match self.reason_to_give_up(stopped_at) {
                Some(failure) => End::GaveUp(failure),
                None => End::Halted,
            },
            (None, true) => End::Halted,
            (None, false) => End::Done,
        }
    }

    /// Why the load would have been given up by what all parts together had recorded.
    fn reason_to_give_up(&self, stopped_at: Nanos) -> Option<Failure> {
        let mut outlook = Outlook::default();
        for window in self.whole.windows.iter().filter(|window| window.from < stopped_at) {
            outlook.see(window.until, window.correct, &window.failed);
        }
        outlook.reason_to_give_up(self.facts.timeout, self.facts.is_limited)
    }
}
