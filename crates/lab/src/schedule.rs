//! How the offered rate changes within a load, in its written form: `1000`, `100..5000` or `1000:5s,2000:5s`.

use std::time::Duration;

use load::{Arrivals, Rate};
use serde::{Deserialize, Serialize};
use units::named;

use crate::amounts;

named! {
    /// How arrivals are spaced.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Law {
        Constant = "constant" => "Evenly",
        Poisson = "poisson" => "Independently of one another",
    }
}

/// A rate in its written form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// `1000`
    Level(Rate),
    /// `100..5000`, over the duration
    Ramp(Rate, Rate),
    /// `1000:5s,2000:5s`
    Steps(Vec<(Rate, Duration)>),
}

fn step(text: &str) -> Result<(Rate, Duration), String> {
    let (level, length) = text
        .split_once(':')
        .ok_or_else(|| format!("`{text}` has no length; write steps like 1000:5s,2000:5s"))?;
    Ok((rate(level)?, amounts::time(length)?))
}

impl Schedule {
    /// Reads a level, a ramp or steps.
    pub fn parse(text: &str) -> Result<Schedule, String> {
        if let Some((from, to)) = text.split_once("..") {
            return Ok(Schedule::Ramp(rate(from)?, rate(to)?));
        }
        if !text.contains(':') {
            return Ok(Schedule::Level(rate(text)?));
        }
        text.split(',').map(step).collect::<Result<_, String>>().map(Schedule::Steps)
    }

    /// The arrivals; a level is evenly spaced, and a ramp takes so long.
    #[must_use]
    pub fn arrivals(&self, over: Duration) -> Arrivals {
        match self {
            Schedule::Level(rate) => Arrivals::Constant(*rate),
            Schedule::Ramp(from, to) => Arrivals::Ramp { from: *from, to: *to, over },
            Schedule::Steps(steps) => Arrivals::Steps(steps.clone()),
        }
    }

    /// How long it lasts, where it says so itself.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        match self {
            Schedule::Level(_) | Schedule::Ramp(..) => None,
            Schedule::Steps(steps) => Some(steps.iter().map(|(_, length)| *length).sum()),
        }
    }

    /// Its highest rate.
    #[must_use]
    pub fn peak(&self) -> Rate {
        self.arrivals(Duration::ZERO).peak()
    }
}

/// One rate.
pub fn rate(text: &str) -> Result<Rate, String> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_level_a_ramp_or_steps() {
        let level = |text| rate(text).unwrap();
        let s = Duration::from_secs;
        let read = |text| Schedule::parse(text);
        assert_eq!(read("20k"), Ok(Schedule::Level(level("20000"))));
        assert_eq!(read("100..5k"), Ok(Schedule::Ramp(level("100"), level("5000"))));
        let steps = Schedule::Steps(vec![(level("1000"), s(5)), (level("2000"), s(60))]);
        assert_eq!(read("1000:5s,2000:1m"), Ok(steps.clone()));
        assert_eq!((steps.length(), steps.peak()), (Some(s(65)), level("2000")));
        for text in ["", "0", "1..", "..5", "1000:5s,2000", "1:0s", "1000:", "-1", "1e9k"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
