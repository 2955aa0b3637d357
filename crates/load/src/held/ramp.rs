//! When connections are added: exact, and the same for every lane.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::order::nanos;
use crate::{Nanos, SECOND};

/// Connections are added in steps; after each step, all that exist are watched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ramp {
    /// How many there are in the end.
    pub connections: usize,
    /// How many are added at a time.
    pub step: usize,
    /// From one step to the next.
    pub every: Duration,
    /// They are begun at this rate, over all lanes.
    pub per_second: f64,
    /// Between the last beginning of a step and what is measured.
    pub settle: Duration,
}

/// One step: connections are added, and then held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlateauTimes {
    /// How many connections there should be.
    pub connections: usize,
    /// When the step begins.
    pub from: Nanos,
    /// When its connections have been begun and had time to settle: it is measured from here on.
    pub measured_from: Nanos,
    /// When the next step begins, or all connections are closed.
    pub until: Nanos,
}

impl Ramp {
    #[must_use]
    pub fn plateaus(&self) -> usize {
        self.connections.div_ceil(self.step.max(1))
    }

    /// Step `number`, from 0.
    #[must_use]
    pub fn plateau(&self, number: usize) -> PlateauTimes {
        let every = nanos(self.every);
        let from = (number as Nanos).saturating_mul(every);
        let connections = self.connections.min((number + 1) * self.step);
        let added = connections.saturating_sub(number * self.step);
        let boot = (added as f64 / self.per_second * SECOND as f64) as Nanos + nanos(self.settle);
        let [measured_from, until] = [boot, every].map(|time| from.saturating_add(time));
        PlateauTimes { connections, from, measured_from, until }
    }

    /// When connection `n` is begun.
    #[must_use]
    pub fn due(&self, n: usize) -> Nanos {
        let step = n / self.step.max(1);
        let within = (n % self.step.max(1)) as f64;
        let before = (step as Nanos).saturating_mul(nanos(self.every));
        before.saturating_add((within / self.per_second * SECOND as f64) as Nanos)
    }

    /// The first instant from `at` on at which no connection of a step is still to be begun.
    pub(super) fn rests(&self, at: Nanos) -> Nanos {
        let number = at / nanos(self.every).max(1);
        match usize::try_from(number) {
            Ok(number) if number < self.plateaus() => {
                let times = self.plateau(number);
                at.max(times.measured_from - nanos(self.settle))
            }
            Ok(_) | Err(_) => at,
        }
    }

    /// When all connections are closed.
    #[must_use]
    pub fn end(&self) -> Nanos {
        (self.plateaus() as Nanos).saturating_mul(nanos(self.every))
    }

    /// Whether every step leaves time to measure.
    #[must_use]
    pub fn leaves_time(&self) -> bool {
        let first = self.plateau(0);
        self.step > 0 && self.per_second > 0.0 && first.measured_from < first.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp() -> Ramp {
        Ramp {
            connections: 2_500,
            step: 1_000,
            every: Duration::from_secs(10),
            per_second: 500.0,
            settle: Duration::from_secs(1),
        }
    }

    #[test]
    fn steps_are_added_held_and_the_last_may_be_small() {
        let ramp = ramp();
        assert_eq!(ramp.plateaus(), 3);
        let all: Vec<PlateauTimes> = (0..3).map(|number| ramp.plateau(number)).collect();
        assert_eq!(
            all.iter().map(|one| one.connections).collect::<Vec<_>>(),
            [1_000, 2_000, 2_500]
        );
        assert_eq!((all[0].from, all[0].measured_from, all[0].until), (0, 3 * SECOND, 10 * SECOND));
        assert_eq!((all[2].measured_from, all[2].until), (22 * SECOND, 30 * SECOND));
        assert_eq!(ramp.end(), 30 * SECOND);
        assert!(ramp.leaves_time());
        assert!(!Ramp { per_second: 100.0, ..ramp }.leaves_time());
    }

    #[test]
    fn connections_are_begun_at_their_rate() {
        let ramp = ramp();
        assert_eq!([0, 1, 999].map(|n| ramp.due(n)), [0, 2_000_000, 1_998_000_000]);
        assert_eq!(ramp.due(1_000), 10 * SECOND);
        assert!((0..2_499).all(|n| ramp.due(n) <= ramp.due(n + 1)));
        // 1,000 are begun in two seconds, the last 500 in one.
        let rests = [0, 1, 2, 3, 12, 20, 29, 30].map(|at| ramp.rests(at * SECOND) / SECOND);
        assert_eq!(rests, [2, 2, 2, 3, 12, 21, 29, 30]);
    }
}
