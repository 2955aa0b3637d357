//! The JSON that zrk writes of one load: times in microseconds, from when requests were due.

use serde_json::Value;

use super::stem;
use crate::row::{Limit, NoLimit, Row, Time};
use crate::text::figure_of;

pub(crate) fn rows(name: &str, value: &Value) -> Option<Vec<Row>> {
    let (latency, config) = (value.get("latency_us")?, value.get("config")?);
    figure_of(value, "achieved_rate")?;
    let connections = figure_of(config, "connections").filter(|number| 0.0 < *number);
    let is_closed = config.get("closed").and_then(Value::as_bool).unwrap_or(false);
    let limit = match connections {
        _ if !is_closed => Limit::Unknown(NoLimit::Schedule),
        Some(connections) => Limit::UnderWay(connections),
        None => Limit::Unknown(NoLimit::Connections),
    };
    let place = figure_of(value, "target_rate").filter(|_| !is_closed);
    let place = place.map_or(String::new(), |rate| format!("{rate} requests/s"));
    let mut row = Row::new(stem(name), &place, limit);
    row.connections = connections;
    row.rate_per_s = row.above_zero("achieved_rate", figure_of(value, "achieved_rate"));
    let micros = |number: f64| Time::exact(number * 1e3);
    row.mean = row.time("mean", figure_of(latency, "mean").map(micros));
    row.sd = figure_of(latency, "stdev").map(micros);
    row.shortest("min", figure_of(latency, "min").map(micros));
    let percentiles = [
        ("p50", 0.5),
        ("p75", 0.75),
        ("p90", 0.9),
        ("p99", 0.99),
        ("p99_9", 0.999),
        ("p99_99", 0.9999),
        ("max", 1.0),
    ];
    for (key, share) in percentiles {
        let found = row.time(key, figure_of(latency, key).map(micros));
        row.percentile(share, found);
    }
    let sum_of = |key: &str, names: &[&str]| {
        let counts = value.get(key)?;
        Some(names.iter().filter_map(|name| figure_of(counts, name)).sum::<f64>())
    };
    let answers = sum_of("status_codes", &["1xx", "2xx", "3xx", "4xx", "5xx"]);
    let broken = sum_of("errors", &["connect", "read", "write", "timeout", "deadline"]);
    let refused = sum_of("status_codes", &["4xx", "5xx"]);
    row.samples = row.count("status_codes", answers).filter(|count| 0.0 < *count);
    row.requests =
        answers.zip(broken).map(|(answers, broken)| answers + broken).filter(|all| 0.0 < *all);
    row.failed = row.requests.and(refused.zip(broken)).map(|(refused, broken)| refused + broken);
    Some(vec![row])
}
