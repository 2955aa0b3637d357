//! The times at which requests are intended to leave: pure, and exact however long the run lasts.

mod rate;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wire::Chance;

pub use self::rate::Rate;
use crate::order::nanos;
use crate::{Nanos, SECOND};

/// A schedule's shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly spaced.
    Constant(Rate),
    /// Independent of one another, with this mean rate.
    Poisson(Rate),
    /// From one rate to another, in a straight line; then the schedule ends.
    Ramp {
        /// At the start.
        from: Rate,
        /// At the end.
        to: Rate,
        /// How long.
        over: Duration,
    },
    /// One constant rate after the other; then the schedule ends.
    Steps(Vec<(Rate, Duration)>),
    /// At listed times; then the schedule ends.
    Listed(Listed),
}

/// Instants in ascending order, counted from the first one, which is zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Nanos>", into = "Vec<Nanos>")]
pub struct Listed(Arc<[Nanos]>);

impl TryFrom<Vec<Nanos>> for Listed {
    type Error = &'static str;

    fn try_from(times: Vec<Nanos>) -> Result<Listed, &'static str> {
        Listed::new(&times).ok_or("there are no times, or one is earlier than the one before it")
    }
}

impl From<Listed> for Vec<Nanos> {
    fn from(listed: Listed) -> Vec<Nanos> {
        listed.0.to_vec()
    }
}

impl Listed {
    /// None if there are no times, or if one is earlier than the one before it.
    #[must_use]
    pub fn new(times: &[Nanos]) -> Option<Listed> {
        let first = *times.first()?;
        times.is_sorted().then(|| Listed(times.iter().map(|at| at - first).collect()))
    }

    /// The instants, from the first one's zero.
    #[must_use]
    pub fn times(&self) -> &[Nanos] {
        &self.0
    }

    /// How many arrivals there are; never none.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// From the first arrival to the last, and one mean gap more: so arrivals divided by length are one divided by the
    /// mean gap, and evenly spaced arrivals have exactly their rate. Where all are due at once no gap is known, and the
    /// length is a second.
    #[must_use]
    pub fn length(&self) -> Duration {
        let last = self.0.last().copied().unwrap_or(0);
        let gaps = self.count() - 1;
        let length = last.checked_add(last.checked_div(gaps).unwrap_or(0));
        match last {
            0 => Duration::from_secs(1),
            _ => Duration::from_nanos(length.unwrap_or(Nanos::MAX).max(last + 1)),
        }
    }

    fn before(&self, time: Nanos) -> u64 {
        self.0.partition_point(|at| *at < time) as u64
    }

    fn get(&self, n: u64) -> Option<Nanos> {
        self.0.get(usize::try_from(n).ok()?).copied()
    }

    /// The most arrivals within a second.
    fn peak(&self) -> u64 {
        let mut from = 0;
        let within = self.0.iter().enumerate().map(|(place, at)| {
            while self.0[from] + SECOND <= *at {
                from += 1;
            }
            place - from + 1
        });
        within.max().unwrap_or(1) as u64
    }
}

impl Arrivals {
    /// How long the schedule lasts, if it ends by itself.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        match self {
            Arrivals::Constant(_) | Arrivals::Poisson(_) => None,
            Arrivals::Ramp { over, .. } => Some(*over),
            Arrivals::Steps(steps) => Some(steps.iter().map(|(_, length)| *length).sum()),
            Arrivals::Listed(listed) => Some(listed.length()),
        }
    }

    /// How many arrivals are expected within this time.
    #[must_use]
    pub fn expected(&self, time: Duration) -> f64 {
        let seconds = time.as_secs_f64();
        match self {
            Arrivals::Constant(rate) | Arrivals::Poisson(rate) => rate.as_f64() * seconds,
            Arrivals::Ramp { from, to, over } => {
                let part = (seconds / over.as_secs_f64()).min(1.0);
                let rise = to.as_f64() - from.as_f64();
                (from.as_f64() + rise * part / 2.0) * part * over.as_secs_f64()
            }
            Arrivals::Steps(steps) => {
                let mut left = seconds;
                let mut expected = 0.0;
                for (rate, length) in steps {
                    let here = left.min(length.as_secs_f64()).max(0.0);
                    expected += rate.as_f64() * here;
                    left -= here;
                }
                expected
            }
            Arrivals::Listed(listed) => listed.before(nanos(time)) as f64,
        }
    }

    /// When arrival `n`, counted from 0, is due; its mean, where arrivals are random. None after the schedule's end.
    pub(crate) fn instant(&self, n: u64) -> Nanos {
        match self {
            Arrivals::Constant(rate) | Arrivals::Poisson(rate) => rate.instant(n),
            Arrivals::Ramp { from, to, over } => {
                ramp(from.as_f64(), to.as_f64(), *over, n).unwrap_or(nanos(*over))
            }
            Arrivals::Steps(steps) => {
                let end = || steps.iter().map(|(_, length)| nanos(*length)).sum();
                step(steps, n).unwrap_or_else(end)
            }
            Arrivals::Listed(listed) => listed.get(n).unwrap_or_else(|| nanos(listed.length())),
        }
    }

    /// The mean time between two arrivals, where they are random.
    pub(crate) fn mean_gap(&self) -> Option<Nanos> {
        match self {
            Arrivals::Poisson(rate) => Some(rate.instant(1)),
            Arrivals::Constant(_)
            | Arrivals::Ramp { .. }
            | Arrivals::Steps(_)
            | Arrivals::Listed(_) => None,
        }
    }

    /// The highest rate that the schedule reaches.
    #[must_use]
    pub fn peak(&self) -> Rate {
        match self {
            Arrivals::Constant(rate) | Arrivals::Poisson(rate) => *rate,
            Arrivals::Ramp { from, to, .. } => *from.max(to),
            Arrivals::Steps(steps) => {
                steps.iter().map(|(rate, _)| *rate).max().unwrap_or(Rate::LEAST)
            }
            Arrivals::Listed(listed) => {
                Rate::per_s(listed.peak().min(Rate::MAX_PER_S)).unwrap_or(Rate::LEAST)
            }
        }
    }
}

/// One lane's share of a schedule: arrivals `lane`, `lane + lanes`, `lane + 2·lanes`, …
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    arrivals: Arrivals,
    n: u64,
    stride: u64,
    /// Poisson only: each lane draws its own gaps, and the lanes together are Poisson again.
    chance: Chance,
    at: f64,
}

impl Schedule {
    pub(crate) fn new(arrivals: &Arrivals, lane: usize, lanes: usize, seed: u64) -> Schedule {
        Schedule {
            arrivals: arrivals.clone(),
            n: lane as u64,
            stride: lanes as u64,
            chance: Chance::new(seed),
            at: 0.0,
        }
    }
}

impl Iterator for Schedule {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        let n = self.n;
        self.n += self.stride;
        match &self.arrivals {
            Arrivals::Constant(rate) => Some(rate.instant(n)),
            Arrivals::Poisson(rate) => {
                let rate = rate.as_f64() / self.stride as f64;
                self.at += exponential(&mut self.chance) / rate * SECOND as f64;
                Some(self.at as Nanos)
            }
            Arrivals::Ramp { from, to, over } => ramp(from.as_f64(), to.as_f64(), *over, n),
            Arrivals::Steps(steps) => step(steps, n),
            Arrivals::Listed(listed) => listed.get(n),
        }
    }
}

/// n = from·t + (to − from)·t²/(2·over), solved for t.
fn ramp(from: f64, to: f64, over: Duration, n: u64) -> Option<Nanos> {
    let slope = (to - from) / over.as_secs_f64();
    let n = n as f64;
    let t = if slope == 0.0 {
        n / from
    } else {
        // Written so that no digits are lost where the slope is small.
        2.0 * n / (from + (from * from + 2.0 * slope * n).sqrt())
    };
    let at = t * SECOND as f64;
    (at < nanos(over) as f64).then_some(at as Nanos)
}

fn step(steps: &[(Rate, Duration)], mut n: u64) -> Option<Nanos> {
    let mut start = 0;
    for &(rate, length) in steps {
        let count = rate.count(nanos(length));
        if n < count {
            return Some(start + rate.instant(n));
        }
        n -= count;
        start += nanos(length);
    }
    None
}

/// Exponentially distributed, with mean 1.
fn exponential(chance: &mut Chance) -> f64 {
    -(1.0 - chance.unit()).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    fn all(arrivals: &Arrivals) -> Vec<Nanos> {
        Schedule::new(arrivals, 0, 1, 1).collect()
    }

    #[test]
    fn constant_never_drifts() {
        for per_s in [1, 3, 7, 1_000, 300_000, 999_983] {
            let arrivals = Arrivals::Constant(Rate::per_s(per_s).unwrap());
            let mut schedule = Schedule::new(&arrivals, 0, 1, 1);
            let a_minute_in = schedule.nth(per_s as usize * 60);
            assert_eq!(a_minute_in, Some(60 * SECOND), "{per_s}/s");
        }
    }

    #[test]
    fn ramp_sends_the_area_under_the_line() {
        let over = Duration::from_secs(10);
        let times = all(&Arrivals::Ramp { from: rate("0.001"), to: rate("1000"), over });
        assert!(times.is_sorted());
        assert!(times.len().abs_diff(5_000) <= 1, "{}", times.len());
        let down = all(&Arrivals::Ramp { from: rate("1000"), to: rate("500"), over });
        assert!(down.is_sorted());
        assert!(down.len().abs_diff(7_500) <= 1, "{}", down.len());
    }

    fn listed(millis: &[u64]) -> Listed {
        let times: Vec<Nanos> = millis.iter().map(|at| at * 1_000_000).collect();
        Listed::new(&times).unwrap()
    }

    #[test]
    fn listed_times_are_kept_as_they_are_and_counted_from_the_first() {
        let burst = Arrivals::Listed(listed(&[5_000, 5_000, 5_000, 5_700, 9_000]));
        let times: Vec<Nanos> = all(&burst).iter().map(|at| at / 1_000_000).collect();
        assert_eq!(times, [0, 0, 0, 700, 4_000]);
        assert_eq!(burst.length(), Some(Duration::from_secs(5)), "a mean gap of a second is added");
        assert_eq!(burst.peak().as_f64(), 4.0);
        let within = |millis| burst.expected(Duration::from_millis(millis));
        assert_eq!([within(0), within(1), within(700), within(4_001)], [0.0, 3.0, 3.0, 5.0]);
        assert_eq!([burst.instant(3), burst.instant(5)], [700_000_000, 5 * SECOND]);
    }

    #[test]
    fn listed_times_at_one_pace_have_exactly_its_rate() {
        let even = listed(&[0, 250, 500, 750]);
        assert_eq!((even.length(), even.count()), (Duration::from_secs(1), 4));
        let at_once = listed(&[3, 3]);
        assert_eq!((at_once.length(), at_once.count()), (Duration::from_secs(1), 2));
        assert!(Listed::new(&[]).is_none() && Listed::new(&[2, 1]).is_none());
    }

    #[test]
    fn poisson_has_the_rate_and_the_spread_of_poisson() {
        let mut schedule = Schedule::new(&Arrivals::Poisson(rate("1000")), 0, 1, 42);
        let times: Vec<Nanos> = schedule.by_ref().take(100_000).collect();
        let gaps: Vec<f64> =
            times.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((variance - 1.0).abs() < 0.04, "{variance}");
    }

    proptest! {
        #[test]
        fn lanes_share_a_schedule_without_loss(lanes in 1_usize..6, per_s in 1_u64..5_000) {
            let arrivals = Arrivals::Steps(vec![
                (Rate::per_s(per_s).unwrap(), Duration::from_millis(700)),
                (Rate::per_s(per_s * 2).unwrap(), Duration::from_millis(300)),
            ]);
            let mut shared: Vec<Nanos> = (0..lanes)
                .flat_map(|lane| Schedule::new(&arrivals, lane, lanes, 1))
                .collect();
            shared.sort_unstable();
            prop_assert_eq!(shared, all(&arrivals));
        }
    }
}
