//! What is demanded, from the flags.

use std::time::Duration;

use analysis::search::{Aim, Limit, Search};
use clap::Args;
use lab::amounts;
use load::Rate;

use super::CapacityFlags;
use crate::shell::Refusal;

#[derive(Args)]
pub(super) struct AimFlags {
    /// Half of the requests are answered within this, from when each was due
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    p50: Option<Duration>,
    /// 90 % of them
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    p90: Option<Duration>,
    /// 95 % of them
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    p95: Option<Duration>,
    /// 99 % of them
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    p99: Option<Duration>,
    /// 99.9 % of them
    #[arg(long = "p99.9", value_name = "TIME", value_parser = amounts::time)]
    p99_9: Option<Duration>,
    /// 99.99 % of them
    #[arg(long = "p99.99", value_name = "TIME", value_parser = amounts::time)]
    p99_99: Option<Duration>,
    /// Any other percentile, as 97.5=30ms; may be given again
    #[arg(long, value_name = "PERCENT=TIME", value_parser = percentile)]
    percentile: Vec<(f64, Duration)>,
    /// At most this share of the requests fails
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent, default_value = "1%")]
    pub(super) failures: f64,
}

fn percentile(text: &str) -> Result<(f64, Duration), String> {
    let unclear = || format!("`{text}` is no percentile with a limit; write it like 97.5=30ms");
    let (percent, time) = text.split_once('=').ok_or_else(unclear)?;
    let percent: f64 = percent.trim_start_matches('p').parse().map_err(|_| unclear())?;
    match (1.0..=99.999).contains(&percent) {
        true => Ok((percent, amounts::time(time)?)),
        false => Err(format!("`{text}`: a percentile is from 1 to 99.999")),
    }
}

/// A width of 0.5 % takes hours, and one above 100 % says nothing.
pub(super) fn width(text: &str) -> Result<f64, String> {
    match amounts::percent(text)? {
        percent if (0.5..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}`: a width is from 0.5 % to 100 %")),
    }
}

impl AimFlags {
    /// The percentiles, the lowest first.
    pub(super) fn limits(&self, timeout: Duration) -> Result<Vec<Limit>, Refusal> {
        let named = [
            (50.0, self.p50),
            (90.0, self.p90),
            (95.0, self.p95),
            (99.0, self.p99),
            (99.9, self.p99_9),
            (99.99, self.p99_99),
        ];
        let mut all: Vec<(f64, Duration)> =
            named.into_iter().filter_map(|(percent, within)| Some((percent, within?))).collect();
        all.extend(&self.percentile);
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        if all.is_empty() {
            return Err(Refusal::new(
                "an aim is needed: --p99 20ms, or another percentile (--p90, --p99.9, --percentile 97.5=30ms)",
            ));
        }
        for pair in all.windows(2) {
            let ((low, first), (high, second)) = (pair[0], pair[1]);
            if low == high {
                return Err(Refusal::new(format!("p{low} has two limits; leave one out")));
            }
            if second < first {
                return Err(Refusal::new(format!(
                    "p{high} within {} is more than p{low} within {}: whatever keeps the first keeps the second; leave \
                     p{low} out, or lower its limit",
                    units::duration(second),
                    units::duration(first)
                )));
            }
        }
        if let Some((percent, within)) = all.iter().find(|(_, within)| timeout <= *within) {
            return Err(Refusal::new(format!(
                "p{percent} within {}: a request fails after --timeout {}; raise that above the limit",
                units::duration(*within),
                units::duration(timeout)
            )));
        }
        let limit = |(percent, within): (f64, Duration)| Limit {
            percent,
            within: within.as_nanos() as u64,
        };
        Ok(all.into_iter().map(limit).collect())
    }
}

/// A rate that is nearer to the ceiling than this would be that of the load itself.
const BELOW_CEILING: f64 = 1.15;
/// Where there is no ceiling.
const MOST: f64 = 1e6;
/// The shortest search: a closed loop, some short trials, ten full ones.
const LIMIT_LEAST: Duration = Duration::from_secs(20);

/// The search, with what the reference achieves.
pub(super) fn search(
    flags: &CapacityFlags,
    ceiling: Option<f64>,
    is_fresh: bool,
) -> Result<Search, Refusal> {
    let limits = flags.aim.limits(flags.asking.timeout)?;
    if flags.limit < LIMIT_LEAST {
        return Err(Refusal::new(format!(
            "--limit {}: no search ends so soon; give it 20 s at least, and minutes for a narrow answer",
            units::duration(flags.limit)
        )));
    }
    let least = flags.least.as_f64();
    let own = ceiling.map(|per_s| per_s / BELOW_CEILING);
    let most = flags.most.map_or(MOST, Rate::as_f64).min(own.unwrap_or(f64::INFINITY));
    if most < least {
        return Err(Refusal::new(match flags.most {
            Some(_) if own.is_none_or(|own| least <= own) => {
                format!("--most {most} is below --least {least}; raise the one or lower the other")
            }
            _ => format!(
                "--least {least}: dyno's own server gives {:.0} answers/s here, and a rate so near to that is not \
                 measured; lower it",
                ceiling.unwrap_or_default()
            ),
        }));
    }
    Ok(Search {
        aim: Aim { limits, failures: flags.aim.failures / 100.0 },
        width: flags.width / 100.0,
        least,
        most,
        limit_s: flags.limit.as_secs_f64(),
        is_fresh,
        seed: flags.asking.seed,
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        aim: AimFlags,
    }

    fn limits(words: &[&str]) -> Result<Vec<(f64, u64)>, String> {
        let line =
            Line::try_parse_from([&["dyno"], words].concat()).map_err(|it| it.to_string())?;
        let limits = line.aim.limits(Duration::from_secs(5)).map_err(|it| it.to_string())?;
        Ok(limits.iter().map(|limit| (limit.percent, limit.within)).collect())
    }

    #[test]
    fn several_percentiles_are_one_aim() {
        let words = ["--p99.9", "100ms", "--p99", "20ms", "--percentile", "97.5=15ms"];
        let ms = 1_000_000;
        assert_eq!(limits(&words), Ok(vec![(97.5, 15 * ms), (99.0, 20 * ms), (99.9, 100 * ms)]));
    }

    #[test]
    fn aims_that_cannot_be_are_refused_with_the_way_out() {
        for (words, says) in [
            (&[][..], "an aim is needed"),
            (&["--p99", "10ms", "--percentile", "99=20ms"], "two limits"),
            (&["--p99", "30ms", "--p99.9", "20ms"], "leave p99 out"),
            (&["--p99", "5s"], "--timeout 5 s"),
            (&["--p99", "0s"], "longer than nothing"),
            (&["--percentile", "100=1s"], "from 1 to 99.999"),
            (&["--percentile", "fast"], "97.5=30ms"),
            (&["--failures", "-1", "--p99", "1s"], "-1"),
        ] {
            let found = limits(words).unwrap_err();
            assert!(found.contains(says), "{words:?}: {found}");
        }
        assert!(width("0.1%").is_err() && width("200").is_err() && width("x").is_err());
        assert_eq!(width("2%"), Ok(2.0));
    }
}
