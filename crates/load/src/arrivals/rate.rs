//! A number per second, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Nanos, SECOND};

/// A number per second, to a thousandth; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Rate {
    per_1000_s: u64,
}

fn no_rate(text: &str) -> String {
    format!(
        "`{}` is not a rate: write requests a second between 0.001 and {}, as 500, 0.5, 20k or 90/m",
        text.escape_debug(),
        Rate::MAX_PER_S
    )
}

/// Written as thousandths of a request a second.
impl TryFrom<u64> for Rate {
    type Error = String;

    fn try_from(per_1000_s: u64) -> Result<Rate, String> {
        match (1..=Rate::MAX_PER_S * 1_000).contains(&per_1000_s) {
            true => Ok(Rate { per_1000_s }),
            false => Err(no_rate(&format!("{per_1000_s} in 1,000 s"))),
        }
    }
}

impl From<Rate> for u64 {
    fn from(rate: Rate) -> u64 {
        rate.per_1000_s
    }
}

impl Rate {
    /// The highest rate that is accepted.
    pub(crate) const MAX_PER_S: u64 = 100_000_000;
    pub(super) const LEAST: Rate = Rate { per_1000_s: 1 };

    /// Whole requests a second.
    pub fn per_s(rate: u64) -> Result<Rate, String> {
        rate.to_string().parse()
    }

    /// Requests a second.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.per_1000_s as f64 / 1_000.0
    }

    /// The instant of arrival `n`: exactly n/rate, so that nothing ever drifts.
    pub(super) fn instant(self, n: u64) -> Nanos {
        let instant = u128::from(n) * 1_000 * u128::from(SECOND) / u128::from(self.per_1000_s);
        Nanos::try_from(instant).unwrap_or(Nanos::MAX)
    }

    /// How many arrive before `end`.
    pub(super) fn count(self, end: Nanos) -> u64 {
        let count =
            (u128::from(end) * u128::from(self.per_1000_s)).div_ceil(1_000 * u128::from(SECOND));
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let error = || no_rate(text);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
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

    #[test]
    fn a_rate_is_written_exactly() {
        for text in ["0.001", "0.333", "123456.789", "100000000"] {
            let text = serde_json::to_string(&rate(text)).unwrap();
            let again: Rate = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&again).unwrap(), text);
        }
        assert!(
            ["0", "100000000001", "-1"]
                .iter()
                .all(|bad| serde_json::from_str::<Rate>(bad).is_err())
        );
    }
}
