//! How far the clock of another machine is from ours, by the four time stamps of a ping and its answer (RFC 5905, 8).

use crate::Nanos;

/// How many pings make an estimate.
pub const PINGS: usize = 16;

/// A ping and its answer: left and came back by our clock, arrived and was answered by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    pub sent: Nanos,
    pub heard: Nanos,
    pub answered: Nanos,
    pub came_back: Nanos,
}

/// The other clock minus ours, and the time that the ping and its answer were on their way. The estimate is wrong by no
/// more than half of that, however unlike the two ways are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockEstimate {
    pub offset: i64,
    pub round_trip: Nanos,
}

impl ClockEstimate {
    /// The clocks are one.
    pub const SAME: ClockEstimate = ClockEstimate { offset: 0, round_trip: 0 };

    /// The most by which the offset may be wrong.
    #[must_use]
    pub fn error(&self) -> Nanos {
        self.round_trip.div_ceil(2)
    }

    /// An instant of our clock, by the other.
    #[must_use]
    pub fn there(&self, here: Nanos) -> Nanos {
        here.saturating_add_signed(self.offset)
    }
}

impl Sample {
    /// None if the stamps contradict one another: an answer before its ping, or longer on the other side than away.
    #[must_use]
    pub fn estimate(&self) -> Option<ClockEstimate> {
        let away = self.came_back.checked_sub(self.sent)?;
        let there = self.answered.checked_sub(self.heard)?;
        let round_trip = away.checked_sub(there)?;
        let difference = |theirs: Nanos, ours: Nanos| i128::from(theirs) - i128::from(ours);
        let twice = difference(self.heard, self.sent) + difference(self.answered, self.came_back);
        let offset = i64::try_from(twice.div_euclid(2)).ok()?;
        Some(ClockEstimate { offset, round_trip })
    }
}

/// Samples, of which the one that was on its way for the shortest time counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    best: Option<ClockEstimate>,
    samples: usize,
}

impl Clock {
    pub fn add(&mut self, sample: Sample) {
        let Some(found) = sample.estimate() else { return };
        self.samples += 1;
        if self.best.is_none_or(|best| found.round_trip < best.round_trip) {
            self.best = Some(found);
        }
    }

    /// How many samples there are that do not contradict themselves.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.samples
    }

    #[must_use]
    pub fn estimate(&self) -> Option<ClockEstimate> {
        self.best
    }
}

#[cfg(test)]
mod tests {
    use load::Chance;

    use super::*;
    use crate::SECOND;

    const HOUR: Nanos = 3_600 * SECOND;

    /// One exchange: so long there, a pause, so long back; the other clock is so far ahead.
    fn exchange(sent: Nanos, ahead: i64, there: Nanos, pause: Nanos, back: Nanos) -> Sample {
        let heard = (sent + there).saturating_add_signed(ahead);
        Sample { sent, heard, answered: heard + pause, came_back: sent + there + pause + back }
    }

    #[test]
    fn the_error_is_at_most_half_the_round_trip_whatever_the_delays() {
        let mut chance = Chance::new(18);
        let mut draw = |below: u64| chance.draw() % below;
        for _ in 0..1_000 {
            // Clocks up to an hour apart, either way; the one way may take a hundred times as long as the other.
            let ahead = draw(2 * HOUR) as i64 - HOUR as i64;
            let (base_there, base_back) = (draw(20_000_000), draw(200_000));
            let mut clock = Clock::default();
            let mut least = Nanos::MAX;
            for number in 0..PINGS as u64 {
                let (there, back) = (base_there + draw(5_000_000), base_back + draw(5_000_000));
                clock.add(exchange(2 * HOUR + number * SECOND, ahead, there, draw(1_000), back));
                least = least.min(there + back);
            }
            let found = clock.estimate().unwrap();
            assert_eq!((clock.samples(), found.round_trip), (PINGS, least));
            let error = (found.offset - ahead).unsigned_abs();
            assert!(error <= found.error(), "{error} ns, of {} at most", found.error());
        }
    }

    #[test]
    fn equal_ways_make_no_error_and_nonsense_makes_no_sample() {
        let found = exchange(5_000, -700, 40, 9, 40).estimate().unwrap();
        assert_eq!(found, ClockEstimate { offset: -700, round_trip: 80 });
        assert_eq!((found.there(10_000), found.error()), (9_300, 40));
        let nonsense = [
            Sample { sent: 10, heard: 0, answered: 0, came_back: 9 },
            Sample { sent: 10, heard: 5, answered: 4, came_back: 20 },
            Sample { sent: 10, heard: 0, answered: 50, came_back: 20 },
            Sample { sent: 0, heard: u64::MAX, answered: u64::MAX, came_back: 0 },
        ];
        let mut clock = Clock::default();
        nonsense.into_iter().for_each(|sample| clock.add(sample));
        assert_eq!((clock.samples(), clock.estimate()), (0, None));
    }
}
