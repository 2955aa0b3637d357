//! The shape of the JSON that zrk writes: times in microseconds.

use analysis::{Scatter, measured_s, offered_per_s, throughput_per_s};
use load::Failure;
use serde_json::{Map, Value, json};

use super::failed;
use crate::json::encoded;
use crate::load::FinishedLoad;

/// The percentiles by zrk's names.
const PERCENTILES: [(&str, f64); 6] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.9999),
];

pub(super) fn text(run: &FinishedLoad) -> String {
    let (recording, total) = (&run.recording, &run.recording.total);
    let micros = |ns: f64| (ns / 100.0).round() / 10.0;
    let seconds = measured_s(recording);
    let (rate, target) = (throughput_per_s(recording), offered_per_s(recording));
    let scatter = Scatter::of_times(&total.response);
    let (fastest, slowest) = total.response.extremes().unwrap_or_default();
    let mut latency = Map::from_iter([
        ("min".to_string(), json!(fastest / 1_000)),
        ("mean".to_string(), json!(micros(scatter.mean))),
        ("stdev".to_string(), json!(micros(scatter.sd))),
        ("max".to_string(), json!(slowest / 1_000)),
    ]);
    for (name, q) in PERCENTILES {
        let value = total.response.quantile(q).map_or(0, |quantile| quantile.value / 1_000);
        latency.insert(name.into(), json!(value));
    }
    let of_class = |class: u16| {
        let statuses = total.answers.statuses().iter();
        statuses.filter(|(status, _)| status / 100 == class).map(|(_, times)| *times).sum::<u64>()
    };
    let codes: Map<String, Value> =
        (1..=5).map(|class| (format!("{class}xx"), json!(of_class(class)))).collect();
    let connect = failed(run, |failure| failure.is_unreached() || failure == Failure::ConnectReset);
    let timeout =
        failed(run, |failure| !failure.is_unreached() && failure.name().contains("timeout"));
    let refused = of_class(4) + of_class(5);
    let others = total.failed_in_all().saturating_sub(connect + timeout + refused);
    let due = total.attempted.max(1);
    let document = json!({
        "zrk_version": format!("dyno {}", env!("CARGO_PKG_VERSION")),
        "target": { "url": run.asked.url, "method": run.order.asks.iter().next().map_or("GET", |ask| ask.made_from().method.as_str()) },
        "config": {
            "connections": run.order.load.connections_max(),
            "duration_s": seconds,
            "closed": target.is_none(),
            "target_rate": target.unwrap_or(0.0),
            "timeout_ms": recording.timeout / 1_000_000,
        },
        "duration_s": seconds,
        "requests": total.correct_inside,
        "bytes": total.received_inside,
        "achieved_rate": rate.unwrap_or(0.0),
        "target_rate": target.unwrap_or(0.0),
        "rate_ratio": target.zip(rate).map_or(1.0, |(target, rate)| rate / target),
        "bytes_per_sec": if 0.0 < seconds { total.received_inside as f64 / seconds } else { 0.0 },
        "error_rate": total.failed_in_all() as f64 / due as f64,
        "max_schedule_lag_us": total.late.extremes().map_or(0, |(_, most)| most / 1_000),
        "latency_us": latency,
        "status_codes": codes,
        "errors": {
            "connect": connect, "read": others, "write": 0, "timeout": timeout, "deadline": 0,
            "non_2xx_3xx": refused,
        },
        "latency_histogram": encoded(&in_micros(run)),
    });
    crate::json::written(&document).expect("a document of numbers can be written")
}

/// zrk's histogram counts microseconds.
fn in_micros(run: &FinishedLoad) -> hdrhistogram::Histogram<u64> {
    let mut histogram = hdrhistogram::Histogram::new(3).expect("three digits are valid");
    for (ns, times) in run.recording.total.response.values() {
        histogram.saturating_record_n(ns / 1_000, times);
    }
    histogram
}
