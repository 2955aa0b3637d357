//! What `dyno load --json` writes, for one load or for several: an instrument's own results are examined by the same
//! rules.

use analysis::Gravity;
use load::PERCENTILES;
use serde_json::Value;

use super::numbered;
use crate::row::{Limit, NoLimit, OwnVerdict, Row, Time};
use crate::text::{figure_of, text_of};

/// The loads of a document of dyno's, with its version left out; none if it is another document.
pub(crate) fn rows(document: &str, name: &str, value: &Value) -> Option<Vec<Row>> {
    match document.split('/').next() {
        Some("load") => Some(vec![row(name, value)]),
        Some("loads") => {
            let loads = value.get("loads").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let numbered_row = |(place, load)| row(&numbered(name, place), load);
            Some(loads.iter().enumerate().map(numbered_row).collect())
        }
        _ => None,
    }
}

/// By how much more the times may add up to than the measured time: those of the last requests reach beyond its end, by
/// the longest at most.
fn reach(value: &Value) -> f64 {
    let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_f64);
    match (number("/measured_s"), number("/response/max_ns")) {
        (Some(measured_s), Some(max_ns)) if 0.0 < measured_s && 0.0 < max_ns => {
            1.0 + max_ns / 1e9 / measured_s
        }
        _ => 1.0,
    }
}

/// The names of so many doubts are taken over.
const DOUBTS_AT_MOST: usize = 64;

/// What the file says against its load. Notes are no reason for a verdict.
fn own(verdict: &Value) -> Option<OwnVerdict> {
    let grave = [Gravity::Invalid, Gravity::Suspect];
    let graver =
        |value, key| grave.into_iter().find(|gravity| text_of(value, key) == Some(gravity.name()));
    let gravity = graver(verdict, "word")?;
    let doubts = verdict.get("doubts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let reasons = doubts.iter().filter(|doubt| graver(doubt, "gravity").is_some());
    let ids = reasons.filter_map(|doubt| text_of(doubt, "id")).map(String::from);
    Some(OwnVerdict { gravity, doubts: ids.take(DOUBTS_AT_MOST).collect() })
}

fn row(name: &str, value: &Value) -> Row {
    let value_of = |pointer: &str| value.pointer(pointer).unwrap_or(&Value::Null);
    let load = value_of("/order/load");
    let connections = figure_of(load, "connections").filter(|number| 0.0 < *number);
    let (limit, place) = match (text_of(load, "kind"), connections) {
        (Some("closed"), Some(number)) => {
            (Limit::UnderWay(number * reach(value)), format!("{number} connections"))
        }
        (Some("open" | "sessions"), _) => (Limit::Unknown(NoLimit::Schedule), "a schedule".into()),
        _ => (Limit::Unknown(NoLimit::Connections), String::new()),
    };
    let mut row = Row::new(name, place, limit);
    row.own = own(value_of("/verdict"));
    row.connections = connections;
    row.rate_per_s =
        row.above_zero("throughput_per_s", figure_of(value_of("/rate"), "throughput_per_s"));
    let response = value_of("/response");
    let exact = |key: &str| figure_of(response, key).map(Time::exact);
    row.mean = row.time("mean_ns", exact("mean_ns"));
    for (key, share) in PERCENTILES.into_iter().chain([("min_ns", 0.0), ("max_ns", 1.0)]) {
        row.percentile(key, share, exact(key));
    }
    row.samples = row.count("count", figure_of(response, "count")).filter(|count| 0.0 < *count);
    row.requests = row.count("attempted", figure_of(value_of("/books"), "attempted"));
    row.failed = row.count("failed", figure_of(value_of("/books"), "failed"));
    row
}
