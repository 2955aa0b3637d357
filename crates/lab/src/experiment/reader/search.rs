//! A load whose rates are searched for: what a server must keep, and how far the search goes.

use std::time::Duration;

use serde::Deserialize;

use super::written::{SearchFailures, SearchTime, SearchWidth};
use super::{File, FileFlaw};
use crate::amounts;
use crate::experiment::{Promised, as_rate};
use crate::search_goal::{self, SaidBy, SearchGoal};
use crate::source_file::{ConfigError, SourceFile};

/// About how long the trials of a search load.
pub(super) const ABOUT: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchKeys {
    p50: Option<Limit>,
    p90: Option<Limit>,
    p95: Option<Limit>,
    p99: Option<Limit>,
    #[serde(rename = "p99.9")]
    p99_9: Option<Limit>,
    #[serde(rename = "p99.99")]
    p99_99: Option<Limit>,
    percentiles: Option<Vec<String>>,
    failures: Option<SearchFailures>,
    width: Option<SearchWidth>,
    limit: Option<SearchTime>,
    least: Option<PerSecond>,
    most: Option<PerSecond>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "LimitKey")]
struct Limit(Duration);

/// A time; `p99.9 = "1s"` without quotes around its key is a table in TOML.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a time, as in \"20ms\"")]
enum LimitKey {
    Time(String),
    Table {},
}

impl TryFrom<LimitKey> for Limit {
    type Error = String;

    fn try_from(key: LimitKey) -> Result<Limit, String> {
        match key {
            LimitKey::Time(text) => amounts::time(&text).map(Limit),
            LimitKey::Table {} => {
                Err("a dot in a key begins a table; put the key into quotes: \"p99.9\" = \"100ms\""
                    .into())
            }
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
struct PerSecond(f64);

impl TryFrom<f64> for PerSecond {
    type Error = String;

    fn try_from(rate: f64) -> Result<PerSecond, String> {
        let wrong = || format!("{rate} is not a rate; from 0.001 to 100,000,000 a second");
        as_rate(rate).map(|_| PerSecond(rate)).ok_or_else(wrong)
    }
}

impl SearchGoal {
    /// The promise by which single trials are judged.
    pub(super) fn promised(&self) -> Promised {
        let within = self.limits.first().map_or(0, |limit| limit.within);
        Promised::of(Some(Duration::from_nanos(within)), Some(self.failures * 100.0))
    }
}

/// What is searched for; none where the load has rates of its own.
pub(super) fn sought(file: &File, timeout: Duration) -> Result<Option<SearchGoal>, FileFlaw> {
    let keys = match (&file.search, file.load.is_search()) {
        (None, false) => return Ok(None),
        (Some(keys), true) => keys,
        (Some(_), false) => {
            let says = "no load is searched for here; write load = { open = { rate = \"search\" } }, or leave \
                        [search] out";
            return Err(FileFlaw::at("search", says));
        }
        (None, true) => {
            let says = "what is searched for is not said; add it as in [search] p99 = \"20ms\"";
            return Err(FileFlaw::at("load.open.rate", says));
        }
    };
    let limits = search_goal::limits(keys.percentiles()?, timeout, SaidBy::File)
        .map_err(|says| FileFlaw::at("search", says))?;
    let usual = || search_goal::LEAST.parse().map_err(|_| search_goal::LEAST.into());
    let least = keys.least.map_or_else(usual, |rate| Ok(rate.0)).map_err(FileFlaw::of_default)?;
    let most = keys.most.map(|rate| rate.0);
    search_goal::check_range(least, most, SaidBy::File)
        .map_err(|says| FileFlaw::at("search.most", says))?;
    Ok(Some(SearchGoal {
        limits,
        failures: said(keys.failures, search_goal::FAILURES)?.0 / 100.0,
        width: said(keys.width, search_goal::WIDTH)?.0 / 100.0,
        limit: said(keys.limit, search_goal::LIMIT)?.0,
        least,
        most,
    }))
}

impl SearchKeys {
    fn percentiles(&self) -> Result<Vec<(f64, Duration)>, FileFlaw> {
        let named = [self.p50, self.p90, self.p95, self.p99, self.p99_9, self.p99_99];
        let named = search_goal::named(named.map(|limit| Some(limit?.0)));
        let others = self.percentiles.iter().flatten().map(|text| search_goal::percentile(text));
        let all: Result<_, _> = named.map(Ok).chain(others).collect();
        all.map_err(|says: String| FileFlaw::at("search.percentiles", says))
    }
}

/// A setting, or the usual one.
fn said<T: TryFrom<String, Error = String>>(stated: Option<T>, usual: &str) -> Result<T, FileFlaw> {
    stated.map_or_else(|| T::try_from(usual.into()), Ok).map_err(FileFlaw::of_default)
}

/// Refuses what a search decides itself, and what has no meaning beside one; and where there is no search, what only a
/// search has.
pub(super) fn refuse_beside(file: &File, source: &SourceFile) -> Result<(), ConfigError> {
    let alone = "only a search has this: load = { open = { rate = \"search\" } }; leave it out";
    let length = "a search decides how long each of its trials lasts; leave this out";
    let number = "a search decides how many trials it has, and has no rounds; leave this out";
    let promise = "what a search keeps stands in `[search]`; leave `[promise]` out";
    let quickly = "with --quick a search has `width`, `limit` and `warmup`; leave this out";
    if !file.load.is_search() {
        return source.refuse(&[("quick.width", alone), ("quick.limit", alone)]);
    }
    source.refuse(&[
        ("load.total", length),
        ("load.duration", length),
        ("trials.repeat", number),
        ("trials.until", number),
        ("trials.repeat_max", number),
        ("trials.pairs", "a search is not a comparison of pairs; leave this out"),
        ("trials.limit", "how long a search may take stands in [search] as `limit`; move it there"),
        ("trials.slices", "the trials of a search follow one another; leave this out"),
        ("history", "published figures cannot stand beside a search; leave this out"),
        ("columns.0", "a search has a table of its own; leave this out"),
        ("promise.p99", promise),
        ("promise.failures", promise),
        ("quick.points", quickly),
        ("quick.repeat", quickly),
        ("quick.total", quickly),
        ("quick.duration", quickly),
        ("quick.step", quickly),
        ("quick.every", quickly),
    ])
}

#[cfg(test)]
mod tests {
    use crate::experiment::tests::read;
    use crate::experiment::{Experiment, Point, Shape};

    const WHOLE: &str = "question = 'x'
subjects = ['a', 'b']
workload = 'u'
load = { open = { rate = 'search' }, timeout = '5s' }
trials = { seed = 1 }

[search]
p99 = '20ms'

[quick]
warmup = '100ms'
";

    fn check(old: &str, new: &str) -> Result<Experiment, String> {
        assert!(WHOLE.contains(old), "{old}");
        read(&WHOLE.replace(old, new))
    }

    #[test]
    fn a_search_has_an_aim_and_the_usual_settings() {
        let found = read(WHOLE).unwrap();
        let sought = found.sought.clone().unwrap();
        assert_eq!((sought.limits.len(), sought.limits[0].within), (1, 20_000_000));
        assert_eq!((sought.failures, sought.width, sought.least), (0.01, 0.05, 10.0));
        assert_eq!((sought.limit.as_secs(), sought.most), (1_200, None));
        assert!(matches!(found.shape, Shape::Open { poisson: true, .. }), "{:?}", found.shape);
        assert_eq!(found.points, [Point::Requests(10.0)]);
        assert_eq!((found.rounds(), found.warmup.as_secs()), (1, 1));
        assert_eq!(found.promise.p99.as_millis(), 20);
        let evenly = check("rate = 'search'", "rate = 'search', arrivals = 'constant'").unwrap();
        assert!(matches!(evenly.shape, Shape::Open { poisson: false, .. }));
        let all = "p99 = '20ms'\n'p99.9' = '100ms'\npercentiles = ['97.5=15ms']\nfailures = '0.1%'\nwidth = '10%'\n\
                   limit = '4min'\nleast = 100\nmost = 5000.5";
        let all = check("p99 = '20ms'", all).unwrap().sought.unwrap();
        let percents: Vec<f64> = all.limits.iter().map(|limit| limit.percent).collect();
        assert_eq!(percents, [97.5, 99.0, 99.9]);
        assert_eq!((all.failures, all.width, all.limit.as_secs()), (0.001, 0.1, 240));
        assert_eq!((all.least, all.most), (100.0, Some(5_000.5)));
    }

    #[test]
    fn quick_is_wider_and_shorter_unless_the_file_says_how() {
        let quick = read(WHOLE).unwrap().quickened();
        let sought = quick.sought.unwrap();
        assert_eq!(
            (sought.width, sought.limit.as_secs(), quick.warmup.as_millis()),
            (0.2, 90, 100)
        );
        let said = check("warmup = '100ms'", "width = '8%'\nlimit = '2min'").unwrap().quickened();
        let sought = said.sought.unwrap();
        assert_eq!((sought.width, sought.limit.as_secs()), (0.08, 120));
        let short = check("p99 = '20ms'", "p99 = '20ms'\nwidth = '50%'\nlimit = '30s'").unwrap();
        let sought = short.quickened().sought.unwrap();
        assert_eq!((sought.width, sought.limit.as_secs()), (0.5, 30), "never more than the file");
    }

    #[test]
    fn what_a_search_decides_or_has_no_place_beside_it_is_refused_at_its_line() {
        let top = "trials = { seed = 1 }";
        for (old, new, says) in [
            ("timeout = '5s'", "total = 9", "x:4: a search decides how long"),
            ("timeout = '5s'", "duration = '9s'", "x:4: a search decides how long"),
            ("seed = 1", "repeat = 3", "x:5: a search decides how many trials"),
            ("seed = 1", "until = '±3%'", "x:5: a search decides how many trials"),
            ("seed = 1", "repeat_max = 3", "x:5: a search decides how many trials"),
            ("seed = 1", "limit = '4min'", "x:5: how long a search may take stands in [search]"),
            ("seed = 1", "slices = '100ms'", "x:5: the trials of a search follow"),
            (
                "seed = 1",
                "pairs = { detect = 0.05, level = 0.01, missed = 0.1, figures = ['throughput_per_s'], most = 20 }",
                "x:5: a search is no",
            ),
            (top, "history = 'a.csv'", "x:5: published figures"),
            (top, "order = 'cpu'", "x:5: a search is ordered by"),
            (top, "columns = ['throughput_per_s']", "x:5: a search has a table of its own"),
            (top, "promise = { p99 = '1s' }", "x:5: what a search keeps stands in `[search]`"),
            (top, "promise = { failures = '1%' }", "x:5: what a search keeps stands in `[search]`"),
            ("[search]\np99 = '20ms'\n", "", "x:4: what is searched for is not said"),
            ("p99 = '20ms'", "", "x:7: a limit is needed: p99 ="),
            ("p99 = '20ms'", "p99 = 'soon'", "x:8: `soon` is not a time"),
            ("p99 = '20ms'", "p99.9 = '20ms'", "x:8: a dot in a key begins a table"),
            (
                "p99 = '20ms'",
                "p99 = '6s'",
                "x:7: p99 within 6s: a request fails after `timeout` 5s",
            ),
            ("p99 = '20ms'", "percentiles = ['fast']", "x:8: `fast` is not a percentile"),
            ("p99 = '20ms'", "p99 = '20ms'\nwidth = '0%'", "x:9: `0%`: a width is from"),
            ("p99 = '20ms'", "p99 = '20ms'\nlimit = '2s'", "x:9: `2s`: no search ends so soon"),
            ("p99 = '20ms'", "p99 = '20ms'\nfailures = '100%'", "x:9: `100%`: a server whose"),
            ("p99 = '20ms'", "p99 = '20ms'\nleast = 0", "x:9: 0 is not a rate"),
            ("p99 = '20ms'", "p99 = '20ms'\nmost = 5", "x:9: `most` 5 is below `least` 10"),
            ("p99 = '20ms'", "p99 = '20ms'\nfaster = 1", "x:9: unknown key"),
            ("rate = 'search'", "rate = 100", "x:7: no load is searched for here"),
            (
                "open = { rate = 'search' }",
                "sessions = { rate = 'search', calls = 2 }",
                "x:7: no load is searched",
            ),
        ] {
            let found = check(old, new).unwrap_err();
            assert!(found.starts_with(says), "{new}: {found}");
        }
        for key in [
            "points = [1]",
            "repeat = 1",
            "total = 1",
            "duration = '1s'",
            "step = 1",
            "every = '1s'",
        ] {
            let found = check("warmup = '100ms'", key).unwrap_err();
            assert!(found.starts_with("x:11: with --quick a search has `width`"), "{key}: {found}");
        }
        let plain = WHOLE.replace("[search]\np99 = '20ms'\n", "").replace("'search'", "9");
        let plain = plain.replace("timeout = '5s'", "duration = '1s'");
        assert!(read(&plain).is_ok());
        for key in ["width = '5%'", "limit = '4min'"] {
            let found = read(&plain.replace("warmup = '100ms'", key)).unwrap_err();
            assert!(found.starts_with("x:9: only a search has this"), "{found}");
        }
    }
}
