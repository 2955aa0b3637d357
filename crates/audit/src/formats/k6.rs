//! k6's summary at the end of a test: as text, as `--summary-export` and as what `handleSummary` is given. In JSON its
//! times are in milliseconds.

use serde_json::Value;

use crate::row::{Limit, NoLimit, Row, Time};
use crate::text::{figure_of, first_number, time};

pub(crate) fn rows_of_json(name: &str, value: &Value) -> Option<Vec<Row>> {
    let metrics = value.get("metrics")?.as_object()?;
    let values = |metric: &str| {
        let metric = metrics.get(metric)?;
        Some(metric.get("values").unwrap_or(metric))
    };
    let (duration, requests) = (values("http_req_duration")?, values("http_reqs")?);
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Executor));
    row.rate_per_s = row.above_zero("http_reqs.rate", figure_of(requests, "rate"));
    row.samples = row.count("http_reqs.count", figure_of(requests, "count"));
    for (key, share) in columns(duration.as_object()?.keys()) {
        let ms = figure_of(duration, &key).map(|ms| Time::exact(ms * 1e6));
        keep(&mut row, &key, share, ms);
    }
    // Its rate is one of requests that failed: they are its “passes”.
    let failed = values("http_req_failed").and_then(|failed| figure_of(failed, "passes"));
    row.failed = row.count("http_req_failed", failed);
    row.requests = row.samples;
    if let Some(users) = values("vus_max") {
        row.place = figure_of(users, "max").map_or(String::new(), users_in_words);
    }
    Some(vec![row])
}

pub(crate) fn rows_of_text(name: &str, text: &str) -> Vec<Row> {
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Executor));
    let mut is_k6 = false;
    for line in text.lines() {
        // `http_reqs......................: 180 4.36938/s`
        let Some((metric, rest)) = line.split_once(':') else { continue };
        let metric = metric.trim().trim_start_matches(['✓', '✗', ' ']).trim_end_matches('.');
        let words: Vec<&str> = rest.split_whitespace().collect();
        match metric {
            "http_req_duration" => {
                is_k6 = true;
                for (key, text) in words.iter().filter_map(|word| word.split_once('=')) {
                    let share = share(key);
                    let Some((found, has_unit)) = time(text) else { continue };
                    row.has_unit &= has_unit;
                    keep(&mut row, key, share, Some(found));
                }
            }
            "http_reqs" => {
                row.samples = words.first().and_then(|word| word.parse().ok());
                let rate = words.get(1).and_then(|word| word.strip_suffix("/s")?.parse().ok());
                row.rate_per_s = row.above_zero("http_reqs", rate);
            }
            "http_req_failed" => {
                // `0.00% ✓ 0 ✗ 180` or `0.00% 0 out of 45`: how many of them failed stands second.
                let counts: Vec<f64> = words[1.min(words.len())..]
                    .iter()
                    .filter_map(|word| word.parse().ok())
                    .collect();
                row.failed = counts.first().copied();
            }
            "vus_max" => {
                row.place = words
                    .first()
                    .and_then(|word| first_number(word))
                    .map_or(String::new(), users_in_words);
            }
            _ => {}
        }
    }
    row.requests = row.samples;
    if is_k6 { vec![row] } else { Vec::new() }
}

fn users_in_words(users: f64) -> String {
    format!("{users} virtual users")
}

fn columns<'k>(keys: impl Iterator<Item = &'k String>) -> Vec<(String, Option<f64>)> {
    keys.map(|key| (key.clone(), share(key))).collect()
}

/// The share of a column: `p(95)`, `med`, `min`, `max`.
fn share(key: &str) -> Option<f64> {
    match key {
        "min" => Some(0.0),
        "med" => Some(0.5),
        "max" => Some(1.0),
        _ => {
            let percent: f64 = key.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
            (0.0..100.0).contains(&percent).then_some(percent / 100.0)
        }
    }
}

fn keep(row: &mut Row, key: &str, share: Option<f64>, time: Option<Time>) {
    match (key, share) {
        ("avg", _) => row.mean = row.time(key, time),
        // A shortest time of 0 is one that its clock did not resolve.
        ("min", _) => row.percentile(key, 0.0, time.filter(|time| time.value != 0.0)),
        (_, Some(share)) => row.percentile(key, share, time),
        (_, None) => {}
    }
}
