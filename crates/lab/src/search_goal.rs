//! What a search for a capacity looks for, and how far it goes, as flags or an experiment's file say it.

use std::time::Duration;

use load::Nanos;
use serde::{Deserialize, Serialize};

use crate::amounts;

/// What is searched for, and how thoroughly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchGoal {
    /// Percentiles of the response time that are to be kept, the lowest first; at least one.
    pub limits: Vec<Limit>,
    /// The share of the requests that may fail.
    pub failures: f64,
    /// How far the two ends of the answer may lie apart: 0.05 is 5 %.
    pub width: f64,
    /// No trial of a search begins that would end after so much time of its trials.
    pub limit: Duration,
    /// The lowest rate that is tried, each second.
    pub least: f64,
    /// The highest; none: as much as the load itself allows. `least <= most`.
    pub most: Option<f64>,
}

/// A percentile with its limit: `p99 = "20ms"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// 99.9 is p99.9.
    pub percent: f64,
    pub within: Nanos,
}

/// Where it was said: a refusal names what can be changed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaidBy {
    Flags,
    File,
}

/// The rate in an experiment's file that asks for a search.
pub const SEARCH: &str = "search";
/// The share of the requests that may fail where nothing else is said.
pub const FAILURES: &str = "1%";
/// The width of the answer where nothing else is said.
pub const WIDTH: &str = "5%";
/// The limit of a search where nothing else is said.
pub const LIMIT: &str = "20min";
/// The lowest rate that is tried where nothing else is said.
pub const LEAST: &str = "10";
/// How long each trial loads before it counts, where nothing else is said.
pub const WARMUP: &str = "1s";
/// The shortest search: a closed loop, some short trials, ten full ones.
const LIMIT_LEAST: Duration = Duration::from_secs(20);
/// With `--quick` an answer is at least so wide, and a search takes no longer than this.
const QUICK_WIDTH: f64 = 0.2;
const QUICK_LIMIT: Duration = Duration::from_secs(90);

/// The percentiles that have names of their own: p50 to p99.99.
const NAMED: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Those of the named percentiles, p50 to p99.99, that have a limit.
pub fn named(limits: [Option<Duration>; 6]) -> impl Iterator<Item = (f64, Duration)> {
    NAMED.into_iter().zip(limits).filter_map(|(percent, within)| Some((percent, within?)))
}

/// A percentile as it is written where it has no name of its own: `97.5=30ms`.
pub fn percentile(text: &str) -> Result<(f64, Duration), String> {
    let unclear = || format!("`{text}` is not a percentile with a limit; write it like 97.5=30ms");
    let (percent, time) = text.split_once('=').ok_or_else(unclear)?;
    let percent: f64 = percent.trim_start_matches('p').parse().map_err(|_| unclear())?;
    match (1.0..=99.999).contains(&percent) {
        true => Ok((percent, amounts::time(time)?)),
        false => Err(format!("`{text}`: a percentile is from 1 to 99.999")),
    }
}

/// A width in percent. One of 0.1 % takes hours, and one above 100 % says nothing.
pub fn width(text: &str) -> Result<f64, String> {
    match amounts::percent(text)? {
        percent if (0.5..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}`: a width is from 0.5 % to 100 %")),
    }
}

/// The most time of a search.
pub fn limit(text: &str) -> Result<Duration, String> {
    match amounts::time(text)? {
        time if LIMIT_LEAST <= time => Ok(time),
        _ => Err(format!(
            "`{text}`: no search ends so soon; give it 20 s at least, and minutes for a narrow answer"
        )),
    }
}

/// The share of the requests that may fail, in percent: not all of them.
pub fn failures(text: &str) -> Result<f64, String> {
    match amounts::percent(text)? {
        percent if percent < 100.0 => Ok(percent),
        _ => Err(format!("`{text}`: a server whose requests all fail holds no rate; write less")),
    }
}

/// The percentiles of an aim, the lowest first.
pub fn limits(
    mut all: Vec<(f64, Duration)>,
    timeout: Duration,
    by: SaidBy,
) -> Result<Vec<Limit>, String> {
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    if all.is_empty() {
        return Err(by.lacks_an_aim().into());
    }
    for pair in all.windows(2) {
        let ((low, first), (high, second)) = (pair[0], pair[1]);
        if low == high {
            return Err(format!("p{low} has two limits; leave one out"));
        }
        if second < first {
            return Err(format!(
                "p{high} within {} is more than p{low} within {}: whatever keeps the first keeps the second; leave \
                 p{low} out, or lower its limit",
                amounts::written(second),
                amounts::written(first)
            ));
        }
    }
    if let Some((percent, within)) = all.iter().find(|(_, within)| timeout <= *within) {
        return Err(format!(
            "p{percent} within {}: a request fails after {} {}; raise that above the limit",
            amounts::written(*within),
            by.key("timeout"),
            amounts::written(timeout)
        ));
    }
    let limit =
        |(percent, within): (f64, Duration)| Limit { percent, within: within.as_nanos() as u64 };
    Ok(all.into_iter().map(limit).collect())
}

/// Refuses a range without a rate in it.
pub fn check_range(least: f64, most: Option<f64>, by: SaidBy) -> Result<(), String> {
    match most {
        Some(most) if most < least => Err(format!(
            "{} {most} is below {} {least}; raise the one or lower the other",
            by.key("most"),
            by.key("least")
        )),
        Some(_) | None => Ok(()),
    }
}

impl SaidBy {
    /// A setting, as it is called there: by its key in a file, or by the flag of the same meaning.
    #[must_use]
    pub fn key(self, key: &str) -> String {
        let flag = match key {
            "least" => "min-rate",
            "most" => "max-rate",
            "limit" => "max-time",
            "failures" => "max-failures",
            key => key,
        };
        match self {
            SaidBy::Flags => format!("--{flag}"),
            SaidBy::File => format!("`{key}`"),
        }
    }

    fn lacks_an_aim(self) -> &'static str {
        match self {
            SaidBy::Flags => {
                "a limit is needed: --p99 20ms, or another percentile (--p90, --p99.9, --percentile 97.5=30ms)"
            }
            SaidBy::File => {
                "a limit is needed: p99 = \"20ms\", or another percentile (p90, \"p99.9\", \
                 percentiles = [\"97.5=30ms\"])"
            }
        }
    }
}

impl SearchGoal {
    /// The search with less of everything: what the file says for `--quick`, else a wider answer in a shorter time.
    pub(crate) fn quickened(self, width: Option<f64>, limit: Option<Duration>) -> SearchGoal {
        SearchGoal {
            width: width.unwrap_or(self.width.max(QUICK_WIDTH)),
            limit: limit.unwrap_or(self.limit.min(QUICK_LIMIT)),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn of(all: &[(f64, Duration)], by: SaidBy) -> Result<Vec<Limit>, String> {
        limits(all.to_vec(), Duration::from_secs(5), by)
    }

    #[test]
    fn several_percentiles_are_one_aim_the_lowest_first() {
        let found = of(&[(99.9, 100 * MS), (97.5, 15 * MS), (99.0, 20 * MS)], SaidBy::Flags);
        let found: Vec<_> =
            found.unwrap().iter().map(|limit| (limit.percent, limit.within)).collect();
        assert_eq!(found, [(97.5, 15_000_000), (99.0, 20_000_000), (99.9, 100_000_000)]);
    }

    #[test]
    fn aims_that_cannot_be_are_refused_with_the_way_out() {
        for (all, by, says) in [
            (&[][..], SaidBy::Flags, "a limit is needed: --p99 20ms"),
            (&[], SaidBy::File, "a limit is needed: p99 = \"20ms\""),
            (&[(99.0, 10 * MS), (99.0, 20 * MS)], SaidBy::File, "two limits"),
            (&[(99.0, 30 * MS), (99.9, 20 * MS)], SaidBy::File, "leave p99 out"),
            (&[(99.0, 5_000 * MS)], SaidBy::Flags, "after --timeout 5s; raise"),
            (&[(99.0, 5_000 * MS)], SaidBy::File, "after `timeout` 5s; raise"),
        ] {
            let found = of(all, by).unwrap_err();
            assert!(found.contains(says), "{all:?}: {found}");
        }
    }

    #[test]
    fn amounts_have_bounds() {
        assert!(width("0.1%").is_err() && width("200").is_err() && width("x").is_err());
        assert_eq!(width("2%"), Ok(2.0));
        assert!(limit("19s").is_err() && limit("soon").is_err());
        assert_eq!(limit("20s"), Ok(LIMIT_LEAST));
        assert!(failures("100%").is_err() && failures("-1").is_err());
        assert_eq!(failures("0"), Ok(0.0));
        assert_eq!(percentile("p97.5=30ms"), Ok((97.5, 30 * MS)));
        for wrong in ["100=1s", "0=1s", "fast", "99=soon", "99=0s"] {
            assert!(percentile(wrong).is_err(), "{wrong}");
        }
        let range = |least, most| check_range(least, most, SaidBy::Flags);
        assert!(range(10.0, None).is_ok() && range(10.0, Some(10.0)).is_ok());
        assert!(
            range(10.0, Some(9.0)).unwrap_err().starts_with("--max-rate 9 is below --min-rate 10")
        );
    }
}
