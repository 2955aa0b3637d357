//! How often CPUs are sampled: on average as often as asked for, by a period that changes. In a closed loop all answers often
//! take the same time, and samples at a constant period keep step with them: for seconds, they meet the same few places of
//! the server's work.

use std::time::Duration;

/// A period is kept for about so many samples.
const KEPT: f64 = 40.0;
/// The shortest and the longest one, as parts of the usual one.
const SHORTEST: f64 = 0.75;
const LONGEST: f64 = 1.25;
/// By so much of what lies between them the next one differs: no few numbers come again and again.
const GOLDEN: f64 = 0.618_033_988_749_895;

#[derive(Debug)]
pub(crate) struct Pace {
    hz: f64,
    period: Duration,
    /// When it began, since the first one did.
    since: Duration,
    /// Samples that came until then on a CPU that was always busy.
    samples: f64,
    /// Where it lies between the shortest and the longest.
    place: f64,
}

impl Pace {
    pub(crate) fn new(hz: u32) -> Pace {
        let hz = f64::from(hz);
        let period = Duration::from_secs_f64(1.0 / hz);
        Pace { hz, period, since: Duration::ZERO, samples: 0.0, place: 0.0 }
    }

    /// The next period, once it is time for it, so long after the first one began.
    pub(crate) fn next(&mut self, now: Duration) -> Option<Duration> {
        let kept = now.saturating_sub(self.since).as_secs_f64();
        let usual = kept * self.hz;
        if usual < KEPT {
            return None;
        }
        // What has passed since the last sample of a period is lost when the next one begins.
        self.samples += (kept / self.period.as_secs_f64()).floor();
        self.since = now;
        self.place = (self.place + GOLDEN).fract();
        // If it is kept as long as this one, then there will be as many samples in all as were asked for.
        let missing = self.hz * now.as_secs_f64() - self.samples;
        let samples = (usual + missing + 0.5).clamp(usual / 2.0, usual * 2.0);
        let part = SHORTEST + self.place * (LONGEST - SHORTEST);
        self.period = Duration::from_secs_f64(kept / samples * part);
        Some(self.period)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a busy CPU is sampled until then, by the period that changes where `look` is called, and by a constant one.
    fn samples(hz: u32, until: f64, mut look: impl FnMut() -> f64) -> Vec<f64> {
        let mut pace = Pace::new(hz);
        let (mut now, mut samples) = (0.0, Vec::new());
        while now < until {
            let (begun, period) = (now, pace.period.as_secs_f64());
            let next = loop {
                now += look();
                if let Some(next) = pace.next(Duration::from_secs_f64(now)) {
                    break next;
                }
            };
            let count = ((now - begun) / period).floor() as u32;
            samples.extend((1..=count).map(|at| begun + f64::from(at) * period));
            assert!((0.3..3.0).contains(&(next.as_secs_f64() * f64::from(hz))), "{next:?}");
        }
        samples
    }

    #[test]
    fn there_are_as_many_samples_as_asked_for() {
        for (hz, until) in [(10, 60.0), (97, 6.0), (997, 2.0), (4_000, 2.0)] {
            let mut late = 0.0;
            let uneven = || {
                late = (late + GOLDEN) % 1.0;
                0.050 + 0.004 * late + if late < 0.05 { 0.2 } else { 0.0 }
            };
            for all in [samples(hz, until, || 0.0501), samples(hz, until, uneven)] {
                let in_time = all.iter().filter(|at| **at < until).count() as f64;
                let off = in_time / (until * f64::from(hz)) - 1.0;
                assert!(off.abs() < 0.02, "{hz}/s: {off}");
            }
        }
    }

    /// By how much the share of a function in the samples is off, which has a third of each of these answers.
    fn error(samples: &[f64], answer: f64) -> f64 {
        let is_seen = |at: &&f64| (0.4..0.4 + 1.0 / 3.0).contains(&(**at / answer).fract());
        let seen = samples.iter().filter(is_seen).count();
        (seen as f64 / samples.len() as f64 - 1.0 / 3.0).abs()
    }

    /// Of answers that take from 25 to 55 µs.
    fn worst(samples: &[f64]) -> f64 {
        let answers = (0..1_500).map(|at| 1.0 / 997.0 / 40.0 + f64::from(at) * 2e-8);
        answers.map(|answer| error(samples, answer)).fold(0.0, f64::max)
    }

    #[test]
    fn work_of_a_constant_rhythm_is_seen_as_often_as_it_is_done() {
        let paced = worst(&samples(997, 2.0, || 0.0501));
        let constant: Vec<f64> = (1..2_000).map(|at| f64::from(at) / 997.0).collect();
        assert!(0.3 < worst(&constant));
        assert!(paced < 0.05, "{paced}");
    }
}
