//! The shape of the JSON that zrk writes: times in microseconds. What zrk counts as requests and as its rate are here the
//! answers as expected.

use analysis::{Scatter, measured_s, offered_per_s, throughput_per_s};
use load::{Arrivals, Distribution, Load};
use serde_json::{Map, Value, json};

use super::{Errors, failed};
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
    let seconds = measured_s(recording);
    let rate = throughput_per_s(recording).unwrap_or(0.0);
    // A closed loop has no target but what it reached.
    let (target, is_closed) = target(run).map_or((rate, true), |target| (target, false));
    let Errors { connect, read, write, timeout, status } = Errors::of(run);
    let known = connect + read + write + timeout;
    let statuses = failed(run, |failure| failure.name() == "content.status");
    // A wrong body has no class of its own.
    let wrong = total.failed_in_all().saturating_sub(known + statuses);
    let lag = [&total.late, &total.blocked].map(|times| times.extremes().map_or(0, |it| it.1));
    let method = run.order.asks.iter().next().map(|ask| ask.made_from().method.as_str());
    let document = json!({
        "zrk_version": format!("dyno {}", env!("CARGO_PKG_VERSION")),
        "target": { "url": run.asked.url, "method": method.unwrap_or("GET") },
        "config": {
            "connections": run.order.load.connections_max(),
            "duration_s": run.order.stop.duration.map_or(seconds, |span| span.as_secs_f64()),
            "closed": is_closed,
            "target_rate": target,
            "timeout_ms": recording.timeout / 1_000_000,
        },
        "duration_s": seconds,
        "requests": total.correct_inside,
        "bytes": total.received_inside,
        "achieved_rate": rate,
        "target_rate": target,
        "rate_ratio": if 0.0 < target { rate / target } else { 0.0 },
        "bytes_per_sec": if 0.0 < seconds { total.received_inside as f64 / seconds } else { 0.0 },
        "error_rate": total.failed_in_all() as f64 / total.attempted.max(1) as f64,
        "max_schedule_lag_us": lag.into_iter().max().unwrap_or(0) / 1_000,
        "latency_us": latency(run),
        "status_codes": statuses_by_class(run),
        "errors": {
            "connect": connect, "read": read + wrong, "write": write, "timeout": timeout,
            "deadline": 0, "non_2xx_3xx": status,
        },
        "latency_histogram": in_micros(&run.recording.total.response).encoded(),
    });
    crate::json::written(&document).expect("a document of numbers can be written")
}

/// The rate that was to be offered.
fn target(run: &FinishedLoad) -> Option<f64> {
    match &run.order.load {
        Load::Open { arrivals: Arrivals::Constant(rate), .. } => Some(rate.as_f64()),
        Load::Open { .. } | Load::Sessions { .. } | Load::Closed { .. } => {
            offered_per_s(&run.recording)
        }
    }
}

fn latency(run: &FinishedLoad) -> Map<String, Value> {
    let response = &run.recording.total.response;
    let scatter = Scatter::of_times(response);
    let micros = |ns: f64| (ns / 100.0).round() / 10.0;
    let (fastest, slowest) = response.extremes().unwrap_or_default();
    let mut latency = Map::from_iter([
        ("min".to_string(), json!(fastest / 1_000)),
        ("mean".to_string(), json!(micros(scatter.mean))),
        ("stdev".to_string(), json!(micros(scatter.sd))),
        ("max".to_string(), json!(slowest / 1_000)),
    ]);
    for (name, q) in PERCENTILES {
        let value = response.quantile(q).map_or(0, |quantile| quantile.value / 1_000);
        latency.insert(name.into(), json!(value));
    }
    latency
}

fn statuses_by_class(run: &FinishedLoad) -> Map<String, Value> {
    let of_class = |class: u16| {
        let statuses = run.recording.total.answers.statuses().iter();
        statuses.filter(|(status, _)| status / 100 == class).map(|(_, times)| *times).sum::<u64>()
    };
    (1..=5).map(|class| (format!("{class}xx"), json!(of_class(class)))).collect()
}

/// zrk's histogram counts microseconds.
fn in_micros(times: &Distribution) -> Distribution {
    let mut micros = Distribution::new(times.high() / 1_000);
    times.values().for_each(|(ns, times)| micros.record_many(ns / 1_000, times));
    micros
}
