//! Known delays: the laws from which service times are drawn, and the shared schedule of stalls.
//! Pure: no clock, no thread; randomness comes in as `Dice`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use units::nearest;

use crate::dice::Dice;
use crate::spans::{Shown, span};

/// No drawn delay is longer than this, however long the law's tail is.
const LONGEST_NS: f64 = 3_600e9;

/// The law of the service times.
///
/// As text: `constant:5ms`, `uniform:1ms,9ms`, `exponential:5ms` (its mean), `lognormal:2ms,0.5`
/// (median and sigma of the logarithm), `bimodal:1ms,100ms,0.05` (the second in that share).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// One time for every request.
    Constant(Duration),
    /// Any value between the two is equally likely.
    Uniform(Duration, Duration),
    /// Memoryless, with this mean.
    Exponential(Duration),
    /// Its logarithm is normal: median, and sigma of the logarithm.
    Lognormal(Duration, f64),
    /// Mostly the first; the second in this share of the requests.
    Bimodal(Duration, Duration, f64),
}

const LAWS: [(&str, &str); 5] = [
    ("constant", "constant:5ms"),
    ("uniform", "uniform:1ms,9ms"),
    ("exponential", "exponential:5ms"),
    ("lognormal", "lognormal:2ms,0.5"),
    ("bimodal", "bimodal:1ms,100ms,0.05"),
];

impl Delay {
    /// One service time.
    pub(crate) fn draw_ns(&self, dice: &mut Dice) -> u64 {
        let nanos = |duration: &Duration| duration.as_nanos() as f64;
        let drawn = match self {
            Delay::Constant(always) => nanos(always),
            Delay::Uniform(low, high) => nanos(low) + dice.unit() * (nanos(high) - nanos(low)),
            Delay::Exponential(mean) => -(1.0 - dice.unit()).ln() * nanos(mean),
            Delay::Lognormal(median, sigma) => nanos(median) * (sigma * dice.normal()).exp(),
            Delay::Bimodal(usual, rare, share) => {
                nanos(if dice.happens(*share) { rare } else { usual })
            }
        };
        drawn.min(LONGEST_NS) as u64
    }

    /// Its mean by theory.
    pub(crate) fn mean_ns(&self) -> f64 {
        let nanos = |duration: &Duration| duration.as_nanos() as f64;
        match self {
            Delay::Constant(mean) | Delay::Exponential(mean) => nanos(mean),
            Delay::Uniform(low, high) => f64::midpoint(nanos(low), nanos(high)),
            Delay::Lognormal(median, sigma) => nanos(median) * (sigma * sigma / 2.0).exp(),
            Delay::Bimodal(usual, rare, share) => {
                nanos(usual) * (1.0 - share) + nanos(rare) * share
            }
        }
    }
}

impl FromStr for Delay {
    type Err = String;

    fn from_str(text: &str) -> Result<Delay, String> {
        let (law, parameters) = text.split_once(':').unwrap_or((text, ""));
        let Some((_, example)) = LAWS.iter().find(|(name, _)| *name == law) else {
            return Err(unknown(law));
        };
        let wrong = || format!("`{text}` has the wrong parameters; write it like {example}");
        let parts: Vec<&str> = parameters.split(',').map(str::trim).collect();
        match (law, parts.as_slice()) {
            ("constant", [always]) => Ok(Delay::Constant(span(always)?)),
            ("uniform", [low, high]) => {
                let (low, high) = (span(low)?, span(high)?);
                if low <= high { Ok(Delay::Uniform(low, high)) } else { Err(wrong()) }
            }
            ("exponential", [mean]) => Ok(Delay::Exponential(span(mean)?)),
            ("lognormal", [median, sigma]) => {
                Ok(Delay::Lognormal(span(median)?, number(sigma, 10.0).ok_or_else(wrong)?))
            }
            ("bimodal", [usual, rare, share]) => {
                let share = number(share, 1.0).ok_or_else(wrong)?;
                Ok(Delay::Bimodal(span(usual)?, span(rare)?, share))
            }
            _ => Err(wrong()),
        }
    }
}

fn unknown(law: &str) -> String {
    let way_out = match nearest(law, LAWS.iter().map(|(name, _)| *name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the distributions are: {}", LAWS.map(|(_, example)| example).join(" ")),
    };
    format!("unknown distribution of delays `{law}`; {way_out}")
}

fn number(text: &str, most: f64) -> Option<f64> {
    text.parse().ok().filter(|number| (0.0..=most).contains(number))
}

impl fmt::Display for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Delay::Constant(always) => write!(f, "constant:{}", Shown(always)),
            Delay::Uniform(low, high) => write!(f, "uniform:{},{}", Shown(low), Shown(high)),
            Delay::Exponential(mean) => write!(f, "exponential:{}", Shown(mean)),
            Delay::Lognormal(median, sigma) => write!(f, "lognormal:{},{sigma}", Shown(median)),
            Delay::Bimodal(usual, rare, share) => {
                write!(f, "bimodal:{},{},{share}", Shown(usual), Shown(rare))
            }
        }
    }
}

/// Everything freezes for `length`, every `every`; the first time `every` after the start.
///
/// As text: `1s/5s` is one second in every five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// From the start of one freeze to the start of the next.
    every: Duration,
    /// How long a freeze lasts: `0 < length < every`.
    length: Duration,
}

impl Stall {
    /// If this instant (nanoseconds since the start) lies in a freeze, the freeze's end.
    pub(crate) fn thaw_ns(&self, instant_ns: u64) -> Option<u64> {
        let (every, length) = (self.every.as_nanos() as u64, self.length.as_nanos() as u64);
        let into = instant_ns % every;
        (instant_ns >= every && into < length).then(|| instant_ns - into + length)
    }

    /// When work that begins at this instant, outside of a freeze, is done; in a freeze it rests.
    pub(crate) fn done_ns(&self, begun_ns: u64, work_ns: u64) -> u64 {
        let (every, length) = (self.every.as_nanos() as u64, self.length.as_nanos() as u64);
        let freeze_ns = (begun_ns / every + 1) * every;
        let Some(left_ns) = work_ns.checked_sub(freeze_ns - begun_ns) else {
            return begun_ns + work_ns;
        };
        let (freezes, rest_ns) = (left_ns / (every - length), left_ns % (every - length));
        freeze_ns.saturating_add(freezes.saturating_mul(every)).saturating_add(length + rest_ns)
    }
}

impl FromStr for Stall {
    type Err = String;

    fn from_str(text: &str) -> Result<Stall, String> {
        let (length, every) = text.split_once('/').ok_or_else(|| no_stall(text))?;
        let stall = Stall { every: span(every)?, length: span(length)? };
        let is_possible = stall.length < stall.every && !stall.length.is_zero();
        is_possible.then_some(stall).ok_or_else(|| no_stall(text))
    }
}

fn no_stall(text: &str) -> String {
    format!(
        "`{text}` is no stall; write length/period, the length shorter: 1s/5s is one second in every five"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 200_000;

    /// Mean and standard change in ms, and the share of draws under the first argument.
    fn moments(text: &str, under_ms: f64) -> (f64, f64, f64) {
        let (law, mut dice) = (text.parse::<Delay>().unwrap(), Dice::seeded(2011));
        let drawn: Vec<f64> = (0..DRAWS).map(|_| law.draw_ns(&mut dice) as f64 / 1e6).collect();
        let count = f64::from(DRAWS);
        let mean = drawn.iter().sum::<f64>() / count;
        let variance = drawn.iter().map(|ms| (ms - mean).powi(2)).sum::<f64>() / count;
        let under = drawn.iter().filter(|ms| **ms < under_ms).count() as f64 / count;
        (mean, variance.sqrt(), under)
    }

    fn check(text: &str, mean: f64, change: f64, under: (f64, f64)) {
        let (found_mean, found_deviation, found_under) = moments(text, under.0);
        let near = |found: f64, theory: f64| (found - theory).abs() <= 0.01 * theory.max(0.1);
        let told = text.parse::<Delay>().unwrap().mean_ns() / 1e6;
        assert!((told - mean).abs() < 1e-6 * mean, "{text}: the mean is said to be {told}");
        assert!(near(found_mean, mean), "{text}: mean {found_mean}, theory {mean}");
        assert!(near(found_deviation, change), "{text}: {found_deviation} for {change}");
        assert!(near(found_under, under.1), "{text}: {found_under} under {}", under.0);
    }

    #[test]
    fn the_laws_have_the_moments_and_shares_of_theory() {
        check("constant:5ms", 5.0, 0.0, (5.0, 0.0));
        check("uniform:1ms,9ms", 5.0, 8.0 / 12f64.sqrt(), (3.0, 0.25));
        check("exponential:5ms", 5.0, 5.0, (5.0, 1.0 - (-1f64).exp()));
        let (s2, e) = (0.25f64, f64::exp);
        check(
            "lognormal:2ms,0.5",
            2.0 * e(s2 / 2.0),
            2.0 * (e(s2 / 2.0)) * (e(s2) - 1.0).sqrt(),
            (2.0, 0.5),
        );
        check("bimodal:1ms,100ms,0.05", 5.95, 99.0 * (0.05f64 * 0.95).sqrt(), (50.0, 0.95));
    }

    #[test]
    fn a_law_is_written_as_it_is_read() {
        for (_, example) in LAWS {
            assert_eq!(example.parse::<Delay>().unwrap().to_string(), example);
        }
    }

    #[test]
    fn a_refusal_ends_in_the_way_out() {
        let refusal = |text: &str| text.parse::<Delay>().unwrap_err().to_string();
        assert!(refusal("unifrom:1ms,2ms").ends_with("did you mean `uniform`?"));
        assert!(refusal("zebra").contains("the distributions are: constant:5ms"));
        assert!(refusal("uniform:9ms,1ms").ends_with("write it like uniform:1ms,9ms"));
        assert!(refusal("constant:5").ends_with("write it like 150us, 1.5ms or 2s"));
        assert!(refusal("bimodal:1ms,2ms,1.5").contains("wrong parameters"));
        for text in ["5s/1s", "1s", "1s/1s", "0s/1s"] {
            assert!(
                text.parse::<Stall>().unwrap_err().contains("1s/5s is one second in every five")
            );
        }
    }

    #[test]
    fn a_freeze_ends_on_the_shared_schedule() {
        let stall: Stall = "1s/5s".parse().unwrap();
        let thaw_ms = |ms: u64| stall.thaw_ns(ms * 1_000_000).map(|ns| ns / 1_000_000);
        assert_eq!(thaw_ms(0), None, "no freeze at the very start");
        assert_eq!(thaw_ms(4_999), None);
        assert_eq!(thaw_ms(5_000), Some(6_000));
        assert_eq!(thaw_ms(5_999), Some(6_000));
        assert_eq!(thaw_ms(6_000), None);
        assert_eq!(thaw_ms(10_250), Some(11_000));
    }

    #[test]
    fn work_rests_in_each_freeze() {
        let stall: Stall = "3ns/10ns".parse().unwrap();
        for (begun, work) in (0..50).flat_map(|begun| (0..40).map(move |work| (begun, work))) {
            if stall.thaw_ns(begun).is_some() {
                continue;
            }
            // An instant at a time: a step of work where nothing is frozen.
            let (mut now, mut left) = (begun, work);
            while 0 < left || stall.thaw_ns(now).is_some() {
                left -= u64::from(stall.thaw_ns(now).is_none());
                now += 1;
            }
            assert_eq!(stall.done_ns(begun, work), now, "{work} from {begun}");
        }
        let wide: Stall = "86399s/86400s".parse().unwrap();
        assert!(wide.done_ns(u64::MAX / 4, u64::MAX / 4) > u64::MAX / 2, "nothing overflows");
    }
}
