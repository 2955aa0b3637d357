//! What h2load prints, once or several times in one file, and the JSON of its version 1.69 and later: times in seconds. It
//! says neither how many requests a connection carries at once nor, before that version, any percentile.

use serde_json::Value;

use crate::row::{Limit, NoLimit, Row, Time, place_of};
use crate::text::{figure_of, number_before, text_of, time};

/// What the line with the times of requests begins with: before version 1.69, and since then.
const TITLES: [&str; 2] = ["time for request", "request "];

pub(crate) fn rows(name: &str, text: &str) -> Vec<Row> {
    let has_times = || text.lines().any(|line| is_of_requests(line.trim()));
    if !text.contains("finished in ") || !has_times() {
        return Vec::new();
    }
    // Threads begin above the line with the results.
    let mut is_finished = true;
    super::runs(name, text, |line| begins(line, &mut is_finished), "finished in ", row)
}

fn is_of_requests(line: &str) -> bool {
    TITLES.iter().any(|title| line.starts_with(title)) && line.contains(':')
}

fn begins(line: &str, is_finished: &mut bool) -> bool {
    let finishes = line.starts_with("finished in ");
    let is_above = line.starts_with("spawning thread") || finishes;
    let begins = line.starts_with("starting benchmark") || (*is_finished && is_above);
    *is_finished = finishes || (*is_finished && !begins);
    begins
}

fn row(name: &str, text: &str) -> Row {
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Streams));
    let (mut columns, mut under_way): (Vec<String>, f64) = (Vec::new(), 0.0);
    for line in text.lines().map(str::trim) {
        if line.starts_with("spawning thread") {
            let clients = number_before(line, " total client").unwrap_or(0.0);
            row.connections = Some(row.connections.unwrap_or(0.0) + clients);
        } else if line.starts_with("finished in ") {
            row.rate_per_s = row.above_zero("req/s", number_before(line, " req/s"));
        } else if line.starts_with("requests:") {
            let number = |what: &str| number_before(line, what);
            row.samples = number(" succeeded");
            row.failed = number(" failed");
            // Those of a lost connection are not among those that are done.
            row.requests = row.samples.zip(row.failed).map(|(right, failed)| right + failed);
            under_way =
                number(" started").zip(row.requests).map_or(0.0, |(begun, ended)| begun - ended);
        } else if line.starts_with("status codes:") {
            let refused = [" 4xx", " 5xx"].iter().filter_map(|what| number_before(line, what));
            // An answer of 4xx or 5xx is among those that failed.
            row.failed = row.failed.map(|failed| failed.max(refused.sum()));
        } else if line.starts_with("min ") {
            // `+/- sd` is one column.
            columns =
                line.replace("+/- sd", "within").split_whitespace().map(String::from).collect();
        } else if is_of_requests(line) {
            let words = line.split_once(':').map_or("", |(_, rest)| rest).split_whitespace();
            for (column, word) in columns.iter().zip(words) {
                cell(&mut row, column, word);
            }
        }
    }
    if 0.0 < under_way {
        row.ended_with(under_way);
    }
    row.place = place_of(row.connections);
    row
}

/// The JSON, which also has every sampled time.
pub(crate) fn rows_of_json(name: &str, value: &Value) -> Option<Vec<Row>> {
    let generator = text_of(value.get("metadata")?, "generator")?;
    let measured = value.get("measurements").filter(|_| generator.starts_with("h2load "))?;
    let (counts, statuses) = (measured.get("requests")?, measured.get("status_codes")?);
    let times = measured.get("performance")?.get("request")?;
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Streams));
    let rate = figure_of(measured, "request_per_second");
    row.rate_per_s = row.above_zero("request_per_second", rate);
    let seconds = |key: &str| figure_of(times, key).map(|number| Time::exact(number * 1e9));
    row.mean = row.time("mean", seconds("mean"));
    row.sd = seconds("sd");
    for (key, share) in [("min", 0.0), ("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)]
    {
        row.percentile(key, share, seconds(key));
    }
    row.samples = figure_of(counts, "succeeded");
    let refused = ["4xx", "5xx"].iter().filter_map(|key| figure_of(statuses, key)).sum::<f64>();
    let failed = figure_of(counts, "failed");
    row.requests = row.samples.zip(failed).map(|(right, failed)| right + failed);
    row.failed = failed.map(|failed| failed.max(refused));
    let under_way = figure_of(counts, "started").zip(row.requests);
    let under_way = under_way.map_or(0.0, |(begun, ended)| begun - ended);
    if 0.0 < under_way {
        row.ended_with(under_way);
    }
    Some(vec![row])
}

fn cell(row: &mut Row, column: &str, word: &str) {
    let percent: Option<f64> = column.strip_prefix('p').and_then(|text| text.parse().ok());
    let share = match (column, percent) {
        ("sd", _) => {
            row.sd = time(word).map(|(time, _)| time);
            return;
        }
        ("mean", _) => None,
        ("min", _) => Some(0.0),
        ("max", _) => Some(1.0),
        ("median", _) => Some(0.5),
        (_, Some(percent)) if (0.0..100.0).contains(&percent) => Some(percent / 100.0),
        _ => return,
    };
    let found = row.printed(Some(word));
    match share {
        Some(share) => row.percentile(column, share, found),
        None => row.mean = row.time(column, found),
    }
}
