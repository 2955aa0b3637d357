//! When a lane did not look at its connections, and how far that has put back the requests that wait for a place.
//!
//! A stall delays the whole queue: by its length if all places were free when it was over, and by the share of them that
//! were if the server kept the others. What is owed so is paid off when the queue is empty.

use std::ops::Range;

use crate::Nanos;
use crate::pause::{Pause, STILL};

#[derive(Debug, Default)]
pub(super) struct Stalls {
    /// While the backlog is read: when the lane stopped looking. What came since then may well have come in time.
    pub(super) unread_since: Option<Nanos>,
    /// The last turn, if it worked for long, and what has passed since the lane should have woken after it.
    last: [Range<Nanos>; 2],
    /// How much sooner those that wait would have their places, if the lane had not stalled since some last waited.
    owed: Nanos,
    /// What lies before is part of `owed`.
    counted_until: Nanos,
}

impl Stalls {
    /// A turn and the sleep after it are over.
    pub(super) fn look_up(&mut self, pause: &Pause) {
        self.unread_since = pause.still_from;
        let Pause { slept, long_worked, overslept, .. } = pause;
        self.last = [slept.from - long_worked..slept.from, slept.until - overslept..slept.until];
    }

    /// Whether reading took so long that more may lie unread. The time itself is counted when the lane sleeps again.
    pub(super) fn was_kept(&mut self, since: Nanos, now: Nanos) -> bool {
        if now.saturating_sub(since) < STILL {
            return false;
        }
        self.unread_since = Some(self.unread_since.map_or(since, |from| from.min(since)));
        let [_, overslept] = &mut self.last;
        *overslept = if overslept.is_empty() { since..now } else { overslept.start..now };
        true
    }

    /// All that came meanwhile has been read: so many places are free, and the server keeps the others.
    pub(super) fn settle(&mut self, free: usize, kept: usize) {
        if self.unread_since.is_none() {
            return;
        }
        let share = free as f64 / (free as f64 + kept as f64).max(1.0);
        for stall in &self.last {
            let length = stall.end.saturating_sub(stall.start.max(self.counted_until));
            self.owed += (length as f64 * share) as Nanos;
            self.counted_until = stall.end.max(self.counted_until);
        }
    }

    /// Nobody waits any more.
    pub(super) fn end_queue(&mut self) {
        self.owed = 0;
    }

    /// How much of this wait for a place is due to stalls.
    pub(super) fn delayed(&self, wait: &Range<Nanos>) -> Nanos {
        self.owed.min(wait.end.saturating_sub(wait.start))
    }

    /// What stalls have added to a wait that ended with this turn, so that the place may have been free since the last
    /// one began.
    pub(super) fn kept(&self, wait: &Range<Nanos>) -> Nanos {
        let within = |stall: &Range<Nanos>| {
            stall.end.min(wait.end).saturating_sub(stall.start.max(wait.start))
        };
        let last = if self.unread_since.is_some() { self.last.iter().map(within).sum() } else { 0 };
        self.delayed(wait).max(last)
    }
}
