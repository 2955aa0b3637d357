//! A run as JSON, `dyno.load/1`: everything, with units in the names. docs/load-json.md explains each field,
//! docs/load.schema.json is the schema.

use std::collections::BTreeMap;

use analysis::{measured_s, offered_per_s, on_time, throughput_per_s};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use load::{Distribution, End, Failure, LaneReport, Nanos, Slow, Tally, Window};
use serde::Serialize;

use super::json_findings as findings;
use super::json_order::{self, OrderJson};
use super::sentence;
use crate::run::{self, Run};
use report::evidence::{self, EvidenceJson};
use report::units::seconds;

/// The whole document, with a line end.
pub(crate) fn of(run: &Run) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&document(run)).map(|text| text + "\n")
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    dyno_version: &'static str,
    sentence: String,
    verdict: VerdictJson,
    order: OrderJson,
    end: EndJson,
    measured_s: f64,
    books: Books,
    rate: Rate,
    sections: Vec<findings::SectionJson>,
    response: DistributionJson,
    service: DistributionJson,
    first_byte: DistributionJson,
    late: DistributionJson,
    blocked: DistributionJson,
    connect: DistributionJson,
    connections: Connections,
    sessions: Sessions,
    bytes: Bytes,
    notes: Notes,
    generator: Generator,
    queue: Option<findings::QueueJson>,
    slowest: Vec<SlowJson>,
    evidence: Vec<EvidenceJson>,
    windows: Vec<WindowJson>,
}

fn document(run: &Run) -> Document {
    let recording = &run.recording;
    let total = &recording.total;
    Document {
        schema: "dyno.load/1",
        dyno_version: env!("CARGO_PKG_VERSION"),
        sentence: sentence::of(run),
        verdict: verdict(run),
        order: json_order::of(run),
        end: end(recording.end),
        measured_s: measured_s(recording),
        books: books(total),
        rate: Rate {
            offered_per_s: offered_per_s(recording),
            achieved_per_s: throughput_per_s(recording).unwrap_or(0.0),
            on_time: run.order.load.arrivals().map(|_| findings::on_time(on_time(recording, None))),
        },
        sections: recording.sections.iter().map(findings::section).collect(),
        response: distribution(&total.response),
        service: distribution(&total.service),
        first_byte: distribution(&total.first_byte),
        late: distribution(&total.late),
        blocked: distribution(&total.blocked),
        connect: distribution(&total.connect),
        connections: Connections {
            begun: total.connections.begun,
            established: total.connections.established,
            failed: total.connections.failed,
        },
        sessions: Sessions {
            attempted: total.sessions.attempted,
            complete: total.sessions.complete,
            failed: total.sessions.failed,
        },
        bytes: Bytes { sent_bytes: total.bytes_sent, received_bytes: total.bytes_received },
        notes: Notes {
            stale_retries: total.notes.stale_retries,
            idle_closed: total.notes.idle_closed,
            surplus: total.notes.surplus,
            unsolicited: total.notes.unsolicited,
            announced_closes: total.notes.announced_closes,
        },
        generator: generator(run),
        queue: run.queue.map(findings::queue),
        slowest: total.slowest.iter().map(slow).collect(),
        evidence: total.evidence.iter().map(evidence::json).collect(),
        windows: recording.windows.iter().map(window).collect(),
    }
}

#[derive(Serialize)]
struct VerdictJson {
    word: &'static str,
    doubts: Vec<DoubtJson>,
}

#[derive(Serialize)]
struct DoubtJson {
    id: &'static str,
    gravity: &'static str,
    says: String,
    what_to_do: String,
}

fn verdict(run: &Run) -> VerdictJson {
    let doubts = run.verdict.doubts.iter().map(|doubt| DoubtJson {
        id: doubt.id,
        gravity: doubt.gravity.name(),
        says: doubt.says.clone(),
        what_to_do: doubt.what_to_do.clone(),
    });
    VerdictJson { word: run.verdict.word(), doubts: doubts.collect() }
}

#[derive(Serialize)]
struct EndJson {
    word: &'static str,
    failure: Option<&'static str>,
}

fn end(end: End) -> EndJson {
    match end {
        End::Done => EndJson { word: "done", failure: None },
        End::Halted => EndJson { word: "halted", failure: None },
        End::GaveUp(failure) => EndJson { word: "gave_up", failure: Some(failure.name()) },
    }
}

#[derive(Serialize)]
struct Books {
    attempted: u64,
    correct: u64,
    failed: u64,
    under_way: u64,
    due: u64,
    correct_inside: u64,
    carried_in: u64,
    by_class: BTreeMap<&'static str, u64>,
}

fn books(total: &Tally) -> Books {
    Books {
        attempted: total.attempted,
        correct: total.correct,
        failed: total.failed_in_all(),
        under_way: total.under_way,
        due: total.due,
        correct_inside: total.correct_inside,
        carried_in: total.carried_in,
        by_class: by_class(&total.failed),
    }
}

/// The classes that occurred.
fn by_class(failed: &[u64; Failure::COUNT]) -> BTreeMap<&'static str, u64> {
    let named = Failure::ALL.iter().zip(failed).map(|(failure, times)| (failure.name(), *times));
    named.filter(|(_, times)| 0 < *times).collect()
}

#[derive(Serialize)]
struct Rate {
    offered_per_s: Option<f64>,
    achieved_per_s: f64,
    on_time: Option<findings::OnTimeJson>,
}

/// Null if there is no sample.
#[derive(Serialize)]
pub(super) struct DistributionJson {
    count: u64,
    censored: u64,
    mean_ns: Option<f64>,
    sd_ns: Option<f64>,
    min_ns: Option<Nanos>,
    p50_ns: Option<Nanos>,
    p75_ns: Option<Nanos>,
    p90_ns: Option<Nanos>,
    p95_ns: Option<Nanos>,
    p99_ns: Option<Nanos>,
    p99_9_ns: Option<Nanos>,
    p99_99_ns: Option<Nanos>,
    max_ns: Option<Nanos>,
    /// Percentiles beyond which fewer than ten samples lie.
    unsupported: Vec<&'static str>,
    /// Percentiles among requests that were given up: the true value is no less.
    censored_percentiles: Vec<&'static str>,
    histogram: Option<String>,
}

const PERCENTILES: [(&str, f64); 7] = [
    ("p50_ns", 0.5),
    ("p75_ns", 0.75),
    ("p90_ns", 0.9),
    ("p95_ns", 0.95),
    ("p99_ns", 0.99),
    ("p99_9_ns", 0.999),
    ("p99_99_ns", 0.9999),
];

pub(super) fn distribution(distribution: &Distribution) -> DistributionJson {
    let is_there = 0 < distribution.count();
    let quantiles = PERCENTILES.map(|(_, q)| distribution.quantile(q));
    let value = |place: usize| quantiles[place].map(|quantile| quantile.value);
    let named = |is: fn(load::Quantile) -> bool| {
        let all = PERCENTILES.iter().zip(quantiles);
        all.filter(|(_, quantile)| quantile.is_some_and(is)).map(|((name, _), _)| *name).collect()
    };
    DistributionJson {
        count: distribution.count(),
        censored: distribution.censored(),
        mean_ns: is_there.then(|| distribution.mean()),
        sd_ns: is_there.then(|| distribution.standard_deviation()),
        min_ns: distribution.extremes().map(|(min, _)| min),
        p50_ns: value(0),
        p75_ns: value(1),
        p90_ns: value(2),
        p95_ns: value(3),
        p99_ns: value(4),
        p99_9_ns: value(5),
        p99_99_ns: value(6),
        max_ns: distribution.extremes().map(|(_, max)| max),
        unsupported: named(|quantile| !quantile.is_supported),
        censored_percentiles: named(|quantile| quantile.is_censored),
        histogram: is_there.then(|| encoded(&distribution.histogram())).flatten(),
    }
}

/// Base64 of HdrHistogram's V2 format with deflate, as its log readers expect it.
pub(crate) fn encoded(histogram: &Histogram<u64>) -> Option<String> {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

#[derive(Serialize)]
struct Connections {
    begun: u64,
    established: u64,
    failed: u64,
}

#[derive(Serialize)]
struct Sessions {
    attempted: u64,
    complete: u64,
    failed: u64,
}

#[derive(Serialize)]
struct Bytes {
    sent_bytes: u64,
    received_bytes: u64,
}

#[derive(Serialize)]
struct Notes {
    stale_retries: u64,
    idle_closed: u64,
    surplus: u64,
    unsolicited: u64,
    announced_closes: u64,
}

#[derive(Serialize)]
struct Generator {
    cpu_s: f64,
    cpu_per_request_ns: Option<f64>,
    busy_share: f64,
    peak_memory_bytes: Option<u64>,
    live_view_cpu_s: f64,
    lanes: Vec<LaneJson>,
}

fn generator(run: &Run) -> Generator {
    let recording = &run.recording;
    Generator {
        cpu_s: seconds(run::lanes_cpu(recording)),
        cpu_per_request_ns: run::cpu_per_request_ns(recording),
        busy_share: run::busy_share(&recording.lanes),
        peak_memory_bytes: run.costs.peak_memory_bytes,
        live_view_cpu_s: seconds(run.costs.live_view_cpu),
        lanes: recording.lanes.iter().map(lane).collect(),
    }
}

#[derive(Serialize)]
struct LaneJson {
    cpu: Option<usize>,
    cpu_s: f64,
    wall_s: f64,
    idle_s: f64,
    polled_s: f64,
    stood_still_s: f64,
    stood_still_longest_s: f64,
}

fn lane(lane: &LaneReport) -> LaneJson {
    LaneJson {
        cpu: lane.cpu,
        cpu_s: seconds(lane.cpu_time),
        wall_s: seconds(lane.wall),
        idle_s: seconds(lane.idle),
        polled_s: seconds(lane.polled),
        stood_still_s: seconds(lane.still.sum),
        stood_still_longest_s: seconds(lane.still.longest()),
    }
}

#[derive(Serialize)]
struct SlowJson {
    seq: u64,
    status: u16,
    intended_ns: Nanos,
    sent_ns: Nanos,
    first_byte_ns: Nanos,
    done_ns: Nanos,
    response_ns: Nanos,
}

fn slow(slow: &Slow) -> SlowJson {
    SlowJson {
        seq: slow.seq,
        status: slow.status,
        intended_ns: slow.intended,
        sent_ns: slow.sent,
        first_byte_ns: slow.first_byte,
        done_ns: slow.done,
        response_ns: slow.done.saturating_sub(slow.intended),
    }
}

#[derive(Serialize)]
struct WindowJson {
    from_s: f64,
    until_s: f64,
    is_warmup: bool,
    attempted: u64,
    correct: u64,
    failed: u64,
    by_class: BTreeMap<&'static str, u64>,
    in_flight: f64,
    sent_bytes: u64,
    received_bytes: u64,
    cpu_s: f64,
    p50_ns: Option<Nanos>,
    p99_ns: Option<Nanos>,
    max_ns: Option<Nanos>,
    response_histogram: Option<String>,
    service_histogram: Option<String>,
}

fn window(window: &Window) -> WindowJson {
    let (response, service) = (window.response.unfold(), window.service.unfold());
    let value = |q| response.quantile(q).map(|quantile| quantile.value);
    let histogram =
        |of: &Distribution| (0 < of.count()).then(|| encoded(&of.histogram())).flatten();
    WindowJson {
        from_s: seconds(window.from),
        until_s: seconds(window.until),
        is_warmup: window.is_warmup,
        attempted: window.attempted,
        correct: window.correct,
        failed: window.failed.iter().sum(),
        by_class: by_class(&window.failed),
        in_flight: window.in_flight,
        sent_bytes: window.bytes_sent,
        received_bytes: window.bytes_received,
        cpu_s: seconds(window.cpu),
        p50_ns: value(0.5),
        p99_ns: value(0.99),
        max_ns: response.extremes().map(|(_, max)| max),
        response_histogram: histogram(&response),
        service_histogram: histogram(&service),
    }
}
