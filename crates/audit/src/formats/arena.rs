//! HttpArena's data: a list of rows for each profile, an archive of such lists by profile, or the profiles of one
//! server. What was loaded how is the profile's name, which a list has only in its file's name.

use serde_json::Value;

use super::stem;
use crate::row::{Limit, NoLimit, Row, Time};
use crate::text::{figure_of, text_of};

/// Profiles whose connections carry many requests at once.
const MULTIPLEXED: [&str; 6] = ["h2", "h2c", "h3", "grpc", "gateway", "production"];
/// A profile in which refusals are the right answers.
const NOISY: &str = "noisy";

pub(crate) fn rows(name: &str, value: &Value) -> Option<Vec<Row>> {
    match value {
        Value::Array(list) => {
            let is_ours = list.iter().all(is_row);
            is_ours.then(|| list.iter().map(|one| row(stem(name), one)).collect())
        }
        Value::Object(of) => match of.get("results").and_then(Value::as_object) {
            Some(results) if of.contains_key("framework") => {
                let is_ours = results.values().all(is_row);
                is_ours.then(|| results.iter().map(|(profile, one)| row(profile, one)).collect())
            }
            Some(_) | None => {
                // An archive also describes its servers and its machine.
                let lists =
                    || of.iter().filter_map(|(profile, list)| Some((profile, list.as_array()?)));
                let is_ours = lists().any(|(_, list)| !list.is_empty())
                    && lists().all(|(_, list)| list.iter().all(is_row));
                let all = lists()
                    .flat_map(|(profile, list)| list.iter().map(move |one| row(profile, one)));
                is_ours.then(|| all.collect())
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn is_row(value: &Value) -> bool {
    value.get("framework").is_some_and(Value::is_string) && value.get("rps").is_some()
}

fn row(profile: &str, value: &Value) -> Row {
    let connections = figure_of(value, "connections").filter(|number| 0.0 < *number);
    let at_once = figure_of(value, "pipeline").filter(|number| 1.0 <= *number).unwrap_or(1.0);
    let is_of_profile = connections.is_some_and(|number| profile.ends_with(&format!("-{number}")));
    let is_multiplexed = profile.split('-').any(|word| MULTIPLEXED.contains(&word));
    // A row of a fixed-rate profile.
    let target = figure_of(value, "target_rate").filter(|rate| 0.0 < *rate);
    let limit = match connections {
        _ if target.is_some() => Limit::Unknown(NoLimit::Schedule),
        _ if is_multiplexed => Limit::Unknown(NoLimit::Streams),
        Some(_) if !is_of_profile => Limit::Unknown(NoLimit::Profile),
        Some(connections) => Limit::UnderWay(connections * at_once),
        None => Limit::Unknown(NoLimit::Connections),
    };
    let mut row = Row::new(text_of(value, "framework").unwrap_or_default(), profile, limit);
    (row.connections, row.names_server) = (connections, true);
    row.rate_per_s = row.above_zero("rps", figure_of(value, "rps"));
    row.asked_per_s = target;
    let mean = latency(&mut row, value, "avg_latency");
    row.mean = row.time("avg_latency", mean);
    for (key, share) in [("p99_latency", 0.99), ("p99_9_latency", 0.999)] {
        let found = latency(&mut row, value, key);
        row.percentile(key, share, found);
    }
    let status = |key: &str| figure_of(value, key);
    let all: Vec<f64> = ["status_2xx", "status_3xx", "status_4xx", "status_5xx"]
        .iter()
        .filter_map(|key| status(key))
        .collect();
    let all = row.count("status counts", (!all.is_empty()).then(|| all.iter().sum()));
    let refused = if profile.starts_with(NOISY) { None } else { status("status_4xx") };
    row.requests = all.filter(|all| 0.0 < *all);
    row.samples = row.requests;
    row.failed = row.requests.map(|_| refused.unwrap_or(0.0) + status("status_5xx").unwrap_or(0.0));
    for key in ["bandwidth", "input_bw"] {
        let text = text_of(value, key).unwrap_or_default();
        let is_figure = text.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
        if is_figure && !text.ends_with("B/s") {
            row.unitless.push(format!("{key} {text}"));
        }
    }
    row
}

fn latency(row: &mut Row, value: &Value, key: &str) -> Option<Time> {
    let value = value.get(key)?;
    let Some(number) = value.as_f64() else { return row.printed(value.as_str()) };
    row.has_unit &= number <= 0.0;
    Some(Time::exact(number))
}
