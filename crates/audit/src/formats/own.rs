//! What `dyno load --json` writes: an instrument's own results are examined by the same rules.

use load::PERCENTILES;
use serde_json::Value;

use crate::row::{Limit, NoLimit, Row, Time};
use crate::text::{figure_of, text_of};

pub(crate) fn rows(name: &str, value: &Value) -> Vec<Row> {
    let at = |pointer: &str| value.pointer(pointer).unwrap_or(&Value::Null);
    let load = at("/order/load");
    let connections = figure_of(load, "connections").filter(|number| 0.0 < *number);
    let (limit, place) = match (text_of(load, "kind"), connections) {
        (Some("closed"), Some(number)) => {
            (Limit::UnderWay(number), format!("{number} connections"))
        }
        (Some("open" | "sessions"), _) => (Limit::Unknown(NoLimit::Schedule), "a schedule".into()),
        _ => (Limit::Unknown(NoLimit::Connections), String::new()),
    };
    let mut row = Row::new(name, place, limit);
    row.connections = connections;
    row.rate_per_s = row.above_zero("throughput_per_s", figure_of(at("/rate"), "throughput_per_s"));
    let response = at("/response");
    let exact = |key: &str| figure_of(response, key).map(Time::exact);
    row.mean = row.time("mean_ns", exact("mean_ns"));
    row.shortest("min_ns", exact("min_ns"));
    for (key, share) in PERCENTILES.into_iter().chain([("max_ns", 1.0)]) {
        let found = row.time(key, exact(key));
        row.percentile(share, found);
    }
    row.samples = row.count("count", figure_of(response, "count")).filter(|count| 0.0 < *count);
    row.requests = row.count("attempted", figure_of(at("/books"), "attempted"));
    row.failed = row.count("failed", figure_of(at("/books"), "failed"));
    vec![row]
}
