//! The times at which requests are intended to leave: pure, and exact however long the run lasts.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use wire::Chance;

use crate::order::nanos;
use crate::{Nanos, SECOND};

/// A number per second, to a thousandth; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate {
    per_1000_s: u64,
}

/// A schedule's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed(Arc<[Nanos]>);

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

/// Why a text is not a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateError(String);

impl fmt::Display for RateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no rate: write requests a second between 0.001 and {}, as 500, 0.5, 20k or 90/m",
            self.0.escape_debug(),
            Rate::MAX_PER_S
        )
    }
}

impl std::error::Error for RateError {}

impl Rate {
    /// The highest rate that is accepted.
    pub(crate) const MAX_PER_S: u64 = 100_000_000;

    /// Whole requests a second.
    pub fn per_s(rate: u64) -> Result<Rate, RateError> {
        rate.to_string().parse()
    }

    /// Requests a second.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.per_1000_s as f64 / 1_000.0
    }

    /// The instant of arrival `n`: exactly n/rate, so that nothing ever drifts.
    fn instant(self, n: u64) -> Nanos {
        let instant = u128::from(n) * 1_000 * u128::from(SECOND) / u128::from(self.per_1000_s);
        Nanos::try_from(instant).unwrap_or(Nanos::MAX)
    }

    /// How many arrive before `end`.
    fn count(self, end: Nanos) -> u64 {
        let count =
            (u128::from(end) * u128::from(self.per_1000_s)).div_ceil(1_000 * u128::from(SECOND));
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Rate, RateError> {
        let error = || RateError(text.to_string());
        let (number, per_s) = match text.rsplit_once('/') {
            None | Some((_, "s")) => (text.trim_end_matches("/s"), 1.0),
            Some((number, "m")) => (number, 1.0 / 60.0),
            Some((number, "h")) => (number, 1.0 / 3_600.0),
            Some(_) => return Err(error()),
        };
        let (number, scale) = match number.strip_suffix(['k', 'K']) {
            Some(number) => (number, 1_000.0),
            None => (number, 1.0),
        };
        let is_plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        if !number.bytes().all(is_plain) {
            return Err(error());
        }
        let rate: f64 = number.parse().map_err(|_| error())?;
        let per_1000_s = (rate * scale * per_s * 1_000.0).round();
        if !(1.0..=(Rate::MAX_PER_S * 1_000) as f64).contains(&per_1000_s) {
            return Err(error());
        }
        Ok(Rate { per_1000_s: per_1000_s as u64 })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_f64())
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

    /// The highest rate that the schedule reaches.
    #[must_use]
    pub fn peak(&self) -> Rate {
        match self {
            Arrivals::Constant(rate) | Arrivals::Poisson(rate) => *rate,
            Arrivals::Ramp { from, to, .. } => *from.max(to),
            Arrivals::Steps(steps) => {
                steps.iter().map(|(rate, _)| *rate).max().unwrap_or(Rate { per_1000_s: 1 })
            }
            Arrivals::Listed(listed) => {
                Rate { per_1000_s: listed.peak().min(Rate::MAX_PER_S) * 1_000 }
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

    #[test]
    fn steps_follow_one_another_and_end() {
        let second = Duration::from_secs(1);
        let times = all(&Arrivals::Steps(vec![(rate("2"), second), (rate("4"), second)]));
        assert_eq!(
            times.iter().map(|at| at / 1_000_000).collect::<Vec<_>>(),
            [0, 500, 1_000, 1_250, 1_500, 1_750]
        );
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

    #[test]
    fn a_rate_is_read_as_people_write_it() {
        assert_eq!(rate("20k").as_f64(), 20_000.0);
        assert_eq!(rate("0.5").as_f64(), 0.5);
        assert_eq!(rate("90/m").as_f64(), 1.5);
        assert_eq!(rate("5/s").as_f64(), 5.0);
        for text in
            ["", "0", "-1", "1e9", "inf", "NaN", "1/d", "k", "0.0001", "1000000001", "1.2.3"]
        {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
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
