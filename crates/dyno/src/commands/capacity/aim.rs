//! What is demanded, from the flags.

use std::time::Duration;

use analysis::search::Search;
use clap::Args;
use lab::amounts;
use lab::search_goal::{self, Limit, SaidBy, SearchGoal};
use load::Rate;
use serde::{Deserialize, Serialize};

use super::CapacityFlags;
use crate::shell::Refusal;

#[derive(Args, Serialize, Deserialize)]
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
    #[arg(long, value_name = "PERCENT=TIME", value_parser = search_goal::percentile)]
    percentile: Vec<(f64, Duration)>,
    /// At most this share of the requests fails
    #[arg(long, value_name = "PERCENT", value_parser = search_goal::failures, default_value = search_goal::FAILURES)]
    pub(super) max_failures: f64,
}

impl AimFlags {
    /// The percentiles, the lowest first.
    pub(super) fn limits(&self, timeout: Duration) -> Result<Vec<Limit>, Refusal> {
        let named = [self.p50, self.p90, self.p95, self.p99, self.p99_9, self.p99_99];
        let mut all: Vec<(f64, Duration)> = search_goal::named(named).collect();
        all.extend(&self.percentile);
        search_goal::limits(all, timeout, SaidBy::Flags).map_err(Refusal::new)
    }
}

/// What is searched for.
pub(super) fn sought(flags: &CapacityFlags) -> Result<SearchGoal, Refusal> {
    let (least, most) = (flags.min_rate.as_f64(), flags.max_rate.map(Rate::as_f64));
    search_goal::check_range(least, most, SaidBy::Flags).map_err(Refusal::new)?;
    Ok(SearchGoal {
        limits: flags.aim.limits(flags.at.asking.timeout)?,
        failures: flags.aim.max_failures / 100.0,
        width: flags.width / 100.0,
        limit: flags.max_time,
        least,
        most,
    })
}

/// The search, with what the reference achieves.
pub(super) fn search(
    flags: &CapacityFlags,
    ceiling: Option<f64>,
    is_fresh: bool,
) -> Result<Search, Refusal> {
    Search::of(&sought(flags)?, ceiling, is_fresh, flags.at.asking.seed)
        .map_err(|says| Refusal::new(format!("--min-rate: {says}")))
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
    fn aims_that_cannot_be_are_refused_with_the_flag_that_can_be_changed() {
        for (words, says) in [
            (&[][..], "a limit is needed: --p99 20ms"),
            (&["--p99", "30ms", "--p99.9", "20ms"], "leave p99 out"),
            (&["--p99", "5s"], "--timeout 5s"),
            (&["--p99", "0s"], "longer than 0"),
            (&["--percentile", "100=1s"], "from 1 to 99.999"),
            (&["--max-failures", "-1", "--p99", "1s"], "-1"),
            (&["--max-failures", "100%", "--p99", "1s"], "holds no rate"),
        ] {
            let found = limits(words).unwrap_err();
            assert!(found.contains(says), "{words:?}: {found}");
        }
    }
}
