//! What hey prints, once or several times in one file, and what its text has in common with oha's.

use crate::row::{Limit, NoLimit, Row};
use crate::text::{first_number, seconds, time};

pub(crate) fn rows(name: &str, text: &str) -> Vec<Row> {
    let is_hey = text.contains("Summary:")
        && text.contains("Requests/sec:")
        && text.contains("Latency distribution:");
    if is_hey { runs(name, text) } else { Vec::new() }
}

/// What oha writes of requests that were under way when its time was over: they are no failures. A `deadline exceeded`
/// of hey's is one.
pub(super) const UNDER_WAY: &str = "aborted due to deadline";

/// A row for each summary.
pub(crate) fn runs(name: &str, text: &str) -> Vec<Row> {
    super::runs(name, text, |line| line == "Summary:", "Requests/sec:", row)
}

/// A summary of hey's shape: named figures, percentiles, and two lists of how requests ended.
fn row(name: &str, text: &str) -> Row {
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Connections));
    let mut total = None;
    let (mut list, mut answered, mut failed, mut broken) = (List::None, 0.0, 0.0, 0.0);
    for line in text.lines().map(str::trim) {
        list = List::begun(line).unwrap_or(list);
        let figure = line.split_once(':').map(|(name, rest)| (name, rest.trim()));
        match figure {
            Some(("Total", rest)) => total = seconds(rest),
            Some(("Slowest", rest)) => {
                let found = row.printed(Some(rest));
                row.percentile("Slowest", 1.0, found);
            }
            Some(("Fastest", rest)) => {
                let found = time(rest).map(|(time, _)| time);
                row.percentile("Fastest", 0.0, found);
            }
            Some(("Average", rest)) if row.mean.is_none() => {
                let found = row.printed(Some(rest));
                row.mean = row.time("Average", found);
            }
            Some(("Requests/sec", rest)) => {
                row.rate_per_s = row.above_zero("Requests/sec", first_number(rest));
            }
            Some(_) | None => {}
        }
        if let (List::Percentiles, Some((percent, rest))) = (list, percentile(line)) {
            let found = row.printed(Some(rest));
            row.percentile(&format!("p{percent}"), percent / 100.0, found);
        }
        if let Some((key, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            match list {
                List::Statuses => {
                    let count = first_number(rest).unwrap_or(0.0);
                    answered += count;
                    failed += if key.starts_with(['4', '5']) { count } else { 0.0 };
                }
                List::Errors if rest.contains(UNDER_WAY) => {}
                List::Errors => broken += key.trim().parse().unwrap_or(0.0),
                List::None | List::Percentiles => {}
            }
        }
    }
    row.samples = (0.0 < answered).then_some(answered);
    row.requests = (0.0 < answered + broken).then_some(answered + broken);
    row.failed = row.requests.map(|_| failed + broken);
    row.counted = row.requests.zip(total);
    row
}

/// Under which heading a line stands.
#[derive(Clone, Copy)]
enum List {
    None,
    Percentiles,
    Statuses,
    Errors,
}

impl List {
    fn begun(line: &str) -> Option<List> {
        match line.to_ascii_lowercase().as_str() {
            "latency distribution:" | "response time distribution:" => Some(List::Percentiles),
            "status code distribution:" => Some(List::Statuses),
            "error distribution:" => Some(List::Errors),
            heading if heading.ends_with(':') => Some(List::None),
            _ => None,
        }
    }
}

/// `99.90% in 0.0017 secs`; some versions write the sign twice.
fn percentile(line: &str) -> Option<(f64, &str)> {
    let (percent, rest) = line.split_once('%')?;
    let rest = rest.trim_start_matches('%').trim().strip_prefix("in ")?;
    let percent: f64 = percent.trim().parse().ok()?;
    (0.0 < percent && percent < 100.0).then_some((percent, rest))
}
