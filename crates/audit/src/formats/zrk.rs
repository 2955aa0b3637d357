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
    let streams = figure_of(config, "streams").filter(|number| 1.0 <= *number).unwrap_or(1.0);
    let limit = match connections {
        _ if !is_closed => Limit::Unknown(NoLimit::Schedule),
        Some(connections) => Limit::UnderWay(connections * streams),
        None => Limit::Unknown(NoLimit::Connections),
    };
    let target = figure_of(value, "target_rate").filter(|_| !is_closed);
    let last = figure_of(value, "target_rate_end").filter(|_| !is_closed).or(target);
    let place = match target.zip(last) {
        Some((target, last)) if target != last => format!("{target} to {last} requests/s"),
        Some((target, _)) => format!("{target} requests/s"),
        None => String::new(),
    };
    let mut row = Row::new(stem(name), place, limit);
    row.connections = connections;
    row.rate_per_s = row.above_zero("achieved_rate", figure_of(value, "achieved_rate"));
    // Of a ramp the rate is that of its end, since version 2.4.2.
    if target == last {
        let elapsed = figure_of(value, "duration_s").map(|value| Time { value, step: 1e-3 });
        row.counted = figure_of(value, "requests").zip(elapsed);
        row.asked_per_s = target.filter(|rate| 0.0 < *rate);
    }
    let micros = |number: f64| Time::exact(number * 1e3);
    row.mean = row.time("mean", figure_of(latency, "mean").map(micros));
    row.sd = figure_of(latency, "stdev").map(micros);
    let percentiles = [
        ("min", 0.0),
        ("p50", 0.5),
        ("p75", 0.75),
        ("p90", 0.9),
        ("p99", 0.99),
        ("p99_9", 0.999),
        ("p99_99", 0.9999),
        ("max", 1.0),
    ];
    for (key, share) in percentiles {
        row.percentile(key, share, figure_of(latency, key).map(micros));
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
