//! Decides when to poll and when to sleep. Sleeping costs two switches and shows the wake-up as
//! the server's latency; polling costs a CPU.

use crate::Nanos;
use crate::order::Spin;

/// Never poll for longer than this before sleeping.
const POLL_MAX: Nanos = 50_000;
/// Never wake up earlier than this before a request is due.
const EARLY_MAX: Nanos = 200_000;

/// Pure: it knows nothing but the measurements that it is given.
pub(super) struct Pacer {
    spin: Spin,
    /// How long waits have recently been.
    wait: Nanos,
    /// By how much sleeps have recently lasted too long.
    oversleep: Nanos,
}

/// With more answers than this under way, sleeping gathers several in one wake-up and is cheaper.
const FEW: usize = 4;

impl Pacer {
    pub(super) fn new(spin: Spin) -> Pacer {
        Pacer { spin, wait: 0, oversleep: EARLY_MAX / 4 }
    }

    /// Polling pays while one or a few answers are awaited, and recent answers have come soon.
    pub(super) fn poll_until(&self, now: Nanos, deadline: Nanos, in_flight: usize) -> Nanos {
        match self.spin {
            Spin::Always => deadline,
            Spin::Never | Spin::Due => now,
            Spin::Adaptive if (1..=FEW).contains(&in_flight) && self.wait < POLL_MAX => {
                now + POLL_MAX
            }
            Spin::Adaptive => now,
        }
    }

    pub(super) fn rise(&self, now: Nanos, deadline: Nanos) -> Nanos {
        match self.spin {
            Spin::Always => now,
            Spin::Never => deadline,
            Spin::Adaptive | Spin::Due => {
                deadline.saturating_sub(self.oversleep.min(EARLY_MAX)).max(now)
            }
        }
    }

    pub(super) fn waited(&mut self, wait: Nanos) {
        self.wait = (self.wait * 7 + wait.min(POLL_MAX * 4)) / 8;
    }

    /// Follows longer oversleeps at once, and forgets them slowly.
    pub(super) fn overslept(&mut self, by: Nanos) {
        let by = by.min(EARLY_MAX);
        let wanted = by + by / 2 + 2_000;
        self.oversleep = if self.oversleep < wanted {
            wanted
        } else {
            self.oversleep - (self.oversleep - wanted) / 32
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECOND;

    #[test]
    fn polling_is_for_few_answers_that_come_soon() {
        let mut pacer = Pacer::new(Spin::Adaptive);
        assert_eq!(pacer.poll_until(0, SECOND, 1), POLL_MAX);
        assert_eq!(pacer.poll_until(0, SECOND, 0), 0, "nothing is awaited");
        assert_eq!(pacer.poll_until(0, SECOND, FEW + 1), 0, "sleep gathers many");
        for _ in 0..50 {
            pacer.waited(SECOND);
        }
        assert_eq!(pacer.poll_until(0, SECOND, 1), 0, "answers come late");
        assert_eq!(Pacer::new(Spin::Never).poll_until(0, SECOND, 1), 0);
        assert_eq!(Pacer::new(Spin::Due).poll_until(0, SECOND, 1), 0, "however soon answers come");
        assert_eq!(Pacer::new(Spin::Always).poll_until(0, SECOND, 9), SECOND);
    }

    #[test]
    fn a_lane_rises_as_early_as_it_has_overslept() {
        let mut pacer = Pacer::new(Spin::Adaptive);
        for _ in 0..500 {
            pacer.overslept(10_000);
        }
        let early = SECOND - pacer.rise(0, SECOND);
        assert!((17_000..18_000).contains(&early), "{early}");
        pacer.overslept(SECOND);
        assert_eq!(pacer.rise(0, SECOND), SECOND - EARLY_MAX, "bounded");
        assert_eq!(pacer.rise(SECOND - 5, SECOND), SECOND - 5, "never in the past");
        assert_eq!(Pacer::new(Spin::Never).rise(0, SECOND), SECOND);
        let due = Pacer::new(Spin::Due).rise(0, SECOND);
        assert_eq!(due, Pacer::new(Spin::Adaptive).rise(0, SECOND));
    }
}
