//! What may start, and when: the three loads as a lane sees them.

use std::iter::Peekable;

use crate::Nanos;
use crate::arrivals::Schedule;

/// How exchanges and connections belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each connection sends its next request when it is answered.
    Closed,
    /// A due request takes any free connection.
    Open,
    /// A due session takes a connection of its own and makes this many calls on it.
    Sessions { calls: u32 },
}

pub(crate) struct Supply {
    pub(crate) kind: Kind,
    /// Opened at the beginning.
    pub(crate) connections: usize,
    pub(crate) max_connections: usize,
    /// A closed loop has this many exchanges at once.
    pub(crate) concurrency: usize,
    /// None for a closed loop.
    pub(crate) schedule: Option<Peekable<Schedule>>,
    /// The schedule's zero on the run's clock.
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
    /// What starts before this is warm-up, and not counted.
    pub(crate) counted_from: Nanos,
    /// Exchanges (with sessions: sessions) that may still start and be counted.
    pub(crate) left: u64,
    /// Since when nothing may start, because the turn is over.
    pub(crate) held_back_since: Option<Nanos>,
}

impl Supply {
    /// The intended start of a request that may leave now, if the schedule has one.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<Nanos> {
        let at = self.next_scheduled()?;
        if now < at || self.held_back_since.is_some_and(|since| since <= at) {
            return None;
        }
        self.schedule.as_mut()?.next();
        self.left -= u64::from(self.counted_from <= at);
        Some(at)
    }

    /// Whether a closed loop may start one more.
    pub(crate) fn may_start(&self, now: Nanos) -> bool {
        now < self.until && 0 < self.left && self.held_back_since.is_none()
    }

    /// Whether a closed loop may start one more, which then counts as started.
    pub(crate) fn take_one(&mut self, now: Nanos) -> bool {
        let may = self.may_start(now);
        self.left -= u64::from(may && self.counted_from <= now);
        may
    }

    /// Nothing starts until `resume`.
    pub(crate) fn hold_back(&mut self, now: Nanos) {
        self.held_back_since.get_or_insert(now);
    }

    /// Starts again. The schedule stood still: nothing became due meanwhile.
    pub(crate) fn resume(&mut self, now: Nanos) {
        if let Some(since) = self.held_back_since.take() {
            self.from += now - since;
        }
    }

    fn next_scheduled(&mut self) -> Option<Nanos> {
        let at = self.from.saturating_add(*self.schedule.as_mut()?.peek()?);
        (at < self.until && 0 < self.left).then_some(at)
    }

    /// When something starts next by itself, or when the last start is over.
    pub(crate) fn next(&mut self, now: Nanos) -> Option<Nanos> {
        let end = (now < self.until && self.until < Nanos::MAX).then_some(self.until);
        if self.held_back_since.is_some() {
            return end;
        }
        self.next_scheduled().or(end)
    }

    pub(crate) fn stop(&mut self, now: Nanos) {
        self.until = self.until.min(now);
    }

    /// Whether nothing more will start. Ordered time passes even if nothing more is due in it.
    pub(crate) fn is_over(&mut self, now: Nanos) -> bool {
        let is_spent = self.left == 0 || self.until <= now;
        let is_endless = self.until == Nanos::MAX;
        is_spent || (is_endless && self.schedule.is_some() && self.next_scheduled().is_none())
    }
}
