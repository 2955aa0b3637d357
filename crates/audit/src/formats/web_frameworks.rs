//! the-benchmarker's data.json: a list of numbers, each with the name of its figure, the number of connections and its
//! server. Times have no unit, figures are means of several runs, and −1 stands for what was not measured.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::row::{Limit, NoLimit, Row, Time};
use crate::text::{figure_of, text_of};

const FAILURES: [&str; 5] = [
    "http_errors",
    "request_timeouts",
    "socket_connection_errors",
    "socket_read_errors",
    "socket_write_errors",
];

pub(crate) fn rows(_: &str, value: &Value) -> Option<Vec<Row>> {
    let (metrics, servers) =
        (value.get("metrics")?.as_array()?, value.get("frameworks")?.as_array()?);
    let id = |number: f64| number as u64;
    let names: BTreeMap<u64, &str> = servers
        .iter()
        .filter_map(|server| Some((id(figure_of(server, "id")?), text_of(server, "label")?)))
        .collect();
    let mut figures: BTreeMap<(u64, u64), Vec<(&str, f64)>> = BTreeMap::new();
    for metric in metrics {
        let key = (figure_of(metric, "framework_id"), figure_of(metric, "level"));
        if let ((Some(server), Some(level)), Some(label)) = (key, text_of(metric, "label")) {
            let of = figures.entry((id(server), id(level))).or_default();
            of.extend(figure_of(metric, "value").map(|number| (label, number)));
        }
    }
    let rows = figures.into_iter().map(|((server, level), figures)| {
        let name = names.get(&server).map_or(format!("framework {server}"), ToString::to_string);
        row(name, level, &figures)
    });
    Some(rows.collect())
}

fn row(name: String, level: u64, figures: &[(&str, f64)]) -> Row {
    let mut row = Row::new(name, format!("{level} connections"), Limit::Unknown(NoLimit::Averages));
    row.connections = (0 < level).then_some(level as f64);
    (row.has_unit, row.names_server) = (false, true);
    let mut failed: Option<f64> = None;
    for &(label, number) in figures {
        if label == "total_requests_per_s" {
            row.rate_per_s = row.above_zero(label, Some(number));
        } else if label == "total_requests" {
            row.samples = row.count(label, Some(number)).filter(|count| 0.0 < *count);
        } else if FAILURES.contains(&label) {
            let count = row.count(label, Some(number));
            failed = count.map(|count| count + failed.unwrap_or(0.0)).or(failed);
        } else if let Some(of) = Of::named(label) {
            let time = Some(Time::exact(number));
            match of {
                Of::Mean => row.mean = row.time(label, time),
                Of::Share(share) => row.percentile(label, share, time),
            }
        }
    }
    row.failed = failed;
    row.requests = row.samples;
    row
}

/// What a time is.
enum Of {
    Mean,
    Share(f64),
}

impl Of {
    /// `percentile_99.999` was later written `percentile99999`.
    fn named(label: &str) -> Option<Of> {
        match label {
            "average_latency" => return Some(Of::Mean),
            "minimum_latency" => return Some(Of::Share(0.0)),
            "maximum_latency" => return Some(Of::Share(1.0)),
            _ => {}
        }
        let digits = label.strip_prefix("percentile")?.trim_start_matches('_');
        let whole = digits.char_indices().nth(2).map_or(digits.len(), |(place, _)| place);
        let text = match digits.contains('.') {
            true => digits.to_string(),
            false => format!("{}.{}", &digits[..whole], &digits[whole..]),
        };
        let percent: f64 = text.parse().ok()?;
        (0.0 < percent && percent < 100.0).then_some(Of::Share(percent / 100.0))
    }
}
