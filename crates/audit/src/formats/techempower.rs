//! TechEmpower's results.json: what its toolset kept of wrk's text. It has the mean and the longest latency as texts,
//! no percentile and no rate; connections are those of the concurrency levels.

use serde_json::Value;

use crate::row::{Limit, NoLimit, Row};
use crate::text::{figure, figure_of, text_of};

/// Failed requests that are among the total, as wrk counts, and those that are not.
const ANSWERED: [&str; 2] = ["5xx", "timeout"];
const BROKEN: [&str; 3] = ["connect", "read", "write"];

pub(crate) fn rows(_: &str, value: &Value) -> Option<Vec<Row>> {
    let tests = value.get("rawData")?.as_object()?;
    let levels = |key: &str| {
        let list = value.get(key).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(figure).collect::<Vec<f64>>()
    };
    let connections = value.get("concurrencyLevels").map(|_| levels("concurrencyLevels"))?;
    let duration_s = figure_of(value, "duration").filter(|seconds| 0.0 < *seconds);
    let mut rows = Vec::new();
    for (test, servers) in tests {
        let place = Places { test, connections: &connections, levels: levels(key_of_levels(test)) };
        for (server, runs) in servers.as_object().into_iter().flatten() {
            let Some(runs) = runs.as_array() else { continue };
            let numbered = runs.iter().enumerate();
            rows.extend(numbered.map(|(number, run)| row(server, &place, number, run, duration_s)));
        }
    }
    Some(rows)
}

/// What differs between the runs of a test.
fn key_of_levels(test: &str) -> &'static str {
    match test {
        "plaintext" => "pipelineConcurrencyLevels",
        "query" | "update" => "queryIntervals",
        "cached_query" | "cached-query" => "cachedQueryIntervals",
        _ => "concurrencyLevels",
    }
}

struct Places<'v> {
    test: &'v str,
    connections: &'v [f64],
    /// Of the runs of this test, in their order.
    levels: Vec<f64>,
}

impl Places<'_> {
    /// The connections of a run, and the place in words.
    fn of(&self, number: usize) -> (Option<f64>, String) {
        let level = self.levels.get(number).copied();
        let most = self.connections.iter().copied().reduce(f64::max);
        let is_of_queries =
            !matches!(key_of_levels(self.test), "concurrencyLevels" | "pipelineConcurrencyLevels");
        match (level, is_of_queries) {
            (Some(queries), true) => (most, format!("{}, {queries} queries", self.test)),
            (Some(level), false) => (Some(level), format!("{}, {level} connections", self.test)),
            (None, _) => (None, format!("{}, run {}", self.test, number + 1)),
        }
    }
}

fn row(
    server: &str,
    places: &Places<'_>,
    number: usize,
    run: &Value,
    duration_s: Option<f64>,
) -> Row {
    let (connections, place) = places.of(number);
    let limit = match connections {
        _ if places.test == "plaintext" => Limit::Unknown(NoLimit::Pipelined),
        Some(connections) => Limit::UnderWay(connections),
        None => Limit::Unknown(NoLimit::Connections),
    };
    let mut row = Row::new(server, place, limit);
    (row.connections, row.names_server) = (connections, true);
    let total = figure_of(run, "totalRequests");
    row.samples = row.above_zero("totalRequests", Some(total.unwrap_or(0.0)));
    row.rate_per_s = row.samples.zip(duration_s).map(|(total, seconds)| total / seconds);
    let mean = row.printed(text_of(run, "latencyAvg"));
    row.mean = row.time("latencyAvg", mean);
    let longest = row.printed(text_of(run, "latencyMax"));
    row.percentile("latencyMax", 1.0, longest);
    let sum = |keys: &[&str]| keys.iter().filter_map(|key| figure_of(run, key)).sum::<f64>();
    row.failed = Some(sum(&ANSWERED) + sum(&BROKEN));
    row.requests = row.samples.map(|total| total + sum(&BROKEN));
    row
}
