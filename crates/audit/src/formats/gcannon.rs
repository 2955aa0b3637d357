//! What gcannon prints, once or several times in one file, and its JSON. Its times are of samples: of pipelined requests
//! not each is one.

use serde_json::Value;

use crate::row::{Limit, NoLimit, Row, Time, place_of};
use crate::text::{figure_of, first_number, number_after, number_before, seconds, text_of, time};

/// The columns of its table.
const COLUMNS: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

pub(crate) fn rows_of_text(name: &str, text: &str) -> Vec<Row> {
    if !text.contains("gcannon v") || !text.contains("Latency samples:") {
        return Vec::new();
    }
    super::runs(name, text, |line| line.starts_with("gcannon v"), "Latency samples:", row)
}

fn row(name: &str, text: &str) -> Row {
    let lines = || text.lines().map(str::trim);
    let behind = |head: &str| lines().find_map(|line| line.strip_prefix(head));
    let connections = behind("Conns:").and_then(first_number);
    let mut row = begun(name, connections, behind("Pipeline:").and_then(first_number));
    let rate = behind("Throughput:").and_then(|it| scaled(it.trim().strip_suffix(" req/s")?));
    row.rate_per_s = row.above_zero("Throughput", rate);
    // A table for each template has other lines.
    let words = behind("Latency ").filter(|it| !it.starts_with("samples")).unwrap_or_default();
    let mut times = words.split_whitespace().map(|word| time(word).map(|(time, _)| time));
    row.mean = row.time("Avg", times.next().flatten());
    for ((column, share), found) in COLUMNS.into_iter().zip(times) {
        row.percentile(column, share, found);
    }
    row.samples = behind("Latency samples:").and_then(first_number);
    // `… requests in 5.00s, … responses`, or frames of WebSockets.
    let counts = lines().find(|line| {
        line.contains(" in ") && (line.ends_with(" responses") || line.ends_with(" received"))
    });
    let counts = counts.unwrap_or_default();
    let answers = number_before(counts, " responses").or(number_before(counts, " frames received"));
    let elapsed = counts.split(" in ").nth(1).and_then(|it| seconds(it.split(',').next()?));
    row.counted = answers.zip(elapsed);
    let number = |head: &str, key: &str| behind(head).and_then(|it| number_after(it, key));
    let status = |key: &str| number("Status codes:", key);
    let error = |key: &str| number("Errors:", key);
    let refused = [status("4xx="), status("5xx=")];
    let broken = [error("connect"), error("read"), error("timeout")];
    count(&mut row, answers, refused, broken, status("other="));
    row
}

pub(crate) fn rows_of_json(name: &str, value: &Value) -> Option<Vec<Row>> {
    let (latency, depth) = (value.get("latency_us")?, figure_of(value, "pipeline_depth")?);
    let answers = figure_of(value, "responses")?;
    let mut row = begun(name, figure_of(value, "connections"), Some(depth));
    row.rate_per_s = row.above_zero("rps", figure_of(value, "rps"));
    let micros = |key: &str| Some(Time { value: figure_of(latency, key)? * 1e3, step: 1e3 });
    row.mean = row.time("avg", micros("avg"));
    for (key, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
        row.percentile(key, share, micros(key));
    }
    row.samples = row.count("samples", figure_of(latency, "samples"));
    let elapsed = figure_of(value, "elapsed_sec").map(|value| Time { value, step: 1e-3 });
    row.counted = Some(answers).zip(elapsed);
    let number = |object: &str, key: &str| figure_of(value.get(object)?, key);
    let refused = [number("status", "4xx"), number("status", "5xx")];
    let broken = ["connect", "read", "timeout"].map(|key| number("errors", key));
    // A frame has no status.
    let is_http = text_of(value, "mode") != Some("websocket");
    count(&mut row, Some(answers), refused, broken, number("status", "other").filter(|_| is_http));
    Some(vec![row])
}

/// A row whose connections carry so many requests at once.
fn begun(name: &str, connections: Option<f64>, depth: Option<f64>) -> Row {
    let connections = connections.filter(|number| 0.0 < *number);
    let depth = depth.filter(|depth| 1.0 <= *depth).unwrap_or(1.0);
    let limit = match connections {
        Some(connections) => Limit::UnderWay(connections * depth),
        None => Limit::Unknown(NoLimit::Connections),
    };
    let mut row = Row::new(name, place_of(connections), limit);
    row.connections = connections;
    row
}

/// The failed requests: answers with 4xx and 5xx, and what got no answer. An answer with another status is unclear.
fn count(
    row: &mut Row,
    answers: Option<f64>,
    refused: [Option<f64>; 2],
    broken: [Option<f64>; 3],
    other: Option<f64>,
) {
    let sum = |numbers: &[Option<f64>]| numbers.iter().flatten().sum::<f64>();
    let broken = sum(&broken);
    row.requests = answers.map(|answers| answers + broken).filter(|all| 0.0 < *all);
    row.failed = row.requests.map(|_| sum(&refused) + broken);
    row.unclear = other.unwrap_or(0.0);
}

/// `2.78M`, `512.00K` or `980`.
fn scaled(text: &str) -> Option<f64> {
    let units = [("M", 1e6), ("K", 1e3)];
    let unit =
        units.into_iter().find_map(|(ending, scale)| Some((text.strip_suffix(ending)?, scale)));
    let (digits, scale) = unit.unwrap_or((text, 1.0));
    digits.trim().parse::<f64>().ok().map(|number| number * scale)
}
