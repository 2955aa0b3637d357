//! What the oracle did, as text and as JSON.

use hdrhistogram::Histogram;
use oracle::{QueueTruth, Truth};
use report::chart::bars;
use report::json::encoded;
use serde::Serialize;

#[derive(Serialize)]
struct TruthJson {
    schema: &'static str,
    elapsed_s: f64,
    requests: u64,
    answers: u64,
    limited: u64,
    faults: u64,
    beats: u64,
    beats_skipped: u64,
    messages: u64,
    spread: u64,
    spread_skipped: u64,
    received_bytes: u64,
    sent_bytes: u64,
    connections: u64,
    connections_peak: u64,
    connections_lost: u64,
    handshakes_full: u64,
    handshakes_resumed: u64,
    handshakes_failed: u64,
    imposed: TimesJson,
    drawn: TimesJson,
    waited: TimesJson,
    late: TimesJson,
    queue: Option<QueueJson>,
}

#[derive(Serialize)]
struct QueueJson {
    servers: u32,
    seed: u64,
    /// 1 is the law's own speed.
    speed: f64,
    /// None as long as service has not collapsed.
    collapsed_s: Option<f64>,
}

#[derive(Serialize)]
struct TimesJson {
    count: u64,
    mean_ns: f64,
    sd_ns: f64,
    min_ns: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p99_9_ns: u64,
    max_ns: u64,
    /// Base64 of HdrHistogram's V2 format with deflate.
    histogram: Option<String>,
}

/// The table, and the histogram of the served times.
pub(super) fn text(truth: &Truth) -> String {
    let is_coloured = terminal::stdout_is_coloured();
    let mut text = truth.to_string();
    let bins = bars::lines(&truth.served_ns);
    if !bins.is_empty() {
        text.push_str("\n\nserved, how many answers took how long\n");
    }
    for line in bins {
        text.push_str(line.shown(is_coloured).trim_end());
        text.push('\n');
    }
    text
}

pub(super) fn json(truth: &Truth) -> String {
    let json = TruthJson {
        schema: "dyno.truth/1",
        elapsed_s: truth.elapsed.as_secs_f64(),
        requests: truth.requests,
        answers: truth.answers,
        limited: truth.limited,
        faults: truth.faults,
        beats: truth.beats,
        beats_skipped: truth.beats_skipped,
        messages: truth.messages,
        spread: truth.spread,
        spread_skipped: truth.spread_skipped,
        received_bytes: truth.bytes_in,
        sent_bytes: truth.bytes_out,
        connections: truth.connections,
        connections_peak: truth.connections_peak,
        connections_lost: truth.connections_lost,
        handshakes_full: truth.handshakes_full,
        handshakes_resumed: truth.handshakes_resumed,
        handshakes_failed: truth.handshakes_failed,
        imposed: times(&truth.served_ns),
        drawn: times(&truth.drawn_ns),
        waited: times(&truth.waited_ns),
        late: times(&truth.late_ns),
        queue: truth.queue.as_ref().map(queue),
    };
    serde_json::to_string_pretty(&json).expect("numbers and names are JSON") + "\n"
}

fn queue(queue: &QueueTruth) -> QueueJson {
    QueueJson {
        servers: queue.servers,
        seed: queue.seed,
        speed: queue.speed,
        collapsed_s: queue.collapsed.map(|collapsed| collapsed.as_secs_f64()),
    }
}

fn times(histogram: &Histogram<u64>) -> TimesJson {
    TimesJson {
        count: histogram.len(),
        mean_ns: histogram.mean(),
        sd_ns: histogram.stdev(),
        min_ns: histogram.min(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p99_9_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
        histogram: encoded(histogram),
    }
}
