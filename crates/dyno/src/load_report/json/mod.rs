//! A load as JSON, `dyno.load/2`: everything, with units in the names.

mod findings;
mod order;
mod windows;

use std::collections::BTreeMap;

use analysis::{measured_s, offered_per_s, on_time, throughput_per_s};
use load::{End, Failure, LaneReport, Nanos, Slow, Tally};
use report::evidence::EvidenceJson;
use report::json::{DistributionJson, DoubtJson, VerdictJson, written};
use report::units::seconds;
use schemars::JsonSchema;
use serde::Serialize;

use super::sentence;
use crate::run::{self, Run};
use crate::verdict::RunVerdict;

const SCHEMA: &str = "dyno.load/2";

/// The whole document, with a line end.
pub(crate) fn of(run: &Run) -> serde_json::Result<String> {
    written(&document(run))
}

/// A load, and what came of it. Times within the run count from its start, warm-up included.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "load")]
pub(crate) struct Document {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the dyno that wrote it
    dyno_version: &'static str,
    /// the run in plain words, with its gravest doubt
    sentence: String,
    /// what the figures are worth
    verdict: VerdictJson,
    /// what was requested
    order: order::OrderJson,
    /// how the run ended
    end: EndJson,
    /// the measured time, without warm-up and without the wait for the last answers
    measured_s: f64,
    /// what became of the requests
    books: Books,
    /// how fast it went
    rate: Rate,
    /// each tenth of a ramp, or each step
    sections: Vec<findings::SectionJson>,
    /// done − intended: what a user feels, with time-outs as censored samples
    response: DistributionJson,
    /// done − sent
    service: DistributionJson,
    /// first byte of the answer − sent
    first_byte: DistributionJson,
    /// dyno's own delay in sending a request that was due and had a free connection
    late: DistributionJson,
    /// the wait for a free connection, of the requests that had to wait
    blocked: DistributionJson,
    /// from the start of a connection until it is established
    connect: DistributionJson,
    /// connections from the run's start: those of a pool are opened before the measured time
    connections: Connections,
    /// zeros if the load has no sessions
    sessions: Sessions,
    /// octets of the measured requests and answers
    bytes: Bytes,
    /// events besides the exchanges
    notes: Notes,
    /// what dyno itself took
    generator: Generator,
    /// the accept queue of a server on this machine; null for any other server
    queue: Option<findings::QueueJson>,
    /// the slowest exchanges
    slowest: Vec<SlowJson>,
    /// the first three failures of each class that was sent
    evidence: Vec<EvidenceJson>,
    /// the course of the run: a window for each `window_s` of the order; in a long run several are merged
    windows: Vec<windows::WindowJson>,
}

fn document(run: &Run) -> Document {
    let recording = &run.recording;
    let total = &recording.total;
    Document {
        schema: SCHEMA,
        dyno_version: env!("CARGO_PKG_VERSION"),
        sentence: sentence::of(run),
        verdict: verdict(&run.verdict),
        order: order::of(run),
        end: end(recording.end),
        measured_s: measured_s(recording),
        books: books(total),
        rate: Rate {
            offered_per_s: offered_per_s(recording),
            throughput_per_s: throughput_per_s(recording).unwrap_or(0.0),
            on_time: run.order.load.arrivals().map(|_| findings::on_time(on_time(recording, None))),
        },
        sections: recording.sections.iter().map(findings::section).collect(),
        response: (&total.response).into(),
        service: (&total.service).into(),
        first_byte: (&total.first_byte).into(),
        late: (&total.late).into(),
        blocked: (&total.blocked).into(),
        connect: (&total.connect).into(),
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
        evidence: total.evidence.iter().map(EvidenceJson::from).collect(),
        windows: recording.windows.iter().map(windows::of).collect(),
    }
}

/// The verdict on a load or on held connections.
pub(crate) fn verdict(verdict: &RunVerdict) -> VerdictJson {
    let doubts = verdict.doubts.iter().map(|doubt| {
        DoubtJson::new(doubt.id, doubt.gravity, doubt.says.clone(), doubt.what_to_do.clone())
    });
    VerdictJson { word: Some(verdict.word()), doubts: doubts.collect() }
}

/// How a run ended.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "end")]
struct EndJson {
    /// done, halted (it was interrupted) or gave_up
    #[schemars(extend("enum" = ["done", "halted", "gave_up"]))]
    word: &'static str,
    /// if it gave up, the class of failure that was seen most
    failure: Option<&'static str>,
}

fn end(end: End) -> EndJson {
    match end {
        End::Done => EndJson { word: "done", failure: None },
        End::Halted => EndJson { word: "halted", failure: None },
        End::GaveUp(failure) => EndJson { word: "gave_up", failure: Some(failure.name()) },
    }
}

/// What became of the requests: `attempted` = `correct` + `failed` + `under_way`, always.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "books")]
struct Books {
    /// requests that were due in the measured time, and begun
    attempted: u64,
    /// requests that were answered as expected
    correct: u64,
    /// requests that failed
    failed: u64,
    /// requests without an answer when the run was stopped
    under_way: u64,
    /// `attempted`, and the calls that sessions did not reach
    due: u64,
    /// correct answers inside the measured time, whenever they were due
    correct_inside: u64,
    /// those of them that were due before it
    carried_in: u64,
    /// failures by their stable names, only the classes that occurred
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

/// How fast it went.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "rate")]
struct Rate {
    /// the rate that the schedule requested: `due` divided by the time in which these were due; null for a closed loop
    offered_per_s: Option<f64>,
    /// correct answers per second: `correct_inside` divided by `measured_s`
    throughput_per_s: f64,
    /// whether the server kept up; null for a closed loop
    on_time: Option<findings::OnTimeJson>,
}

/// Numbers of connections.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "connections")]
struct Connections {
    /// connections that were begun
    begun: u64,
    /// connections that were established
    established: u64,
    /// connections that could not be established
    failed: u64,
}

/// Numbers of sessions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "sessions")]
struct Sessions {
    /// sessions that were begun
    attempted: u64,
    /// sessions all of whose calls were answered as expected
    complete: u64,
    /// sessions with a call that failed
    failed: u64,
}

/// Octets on the wire.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "bytes")]
struct Bytes {
    /// octets sent
    sent_bytes: u64,
    /// octets received
    received_bytes: u64,
}

/// Events besides the exchanges.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "notes")]
struct Notes {
    /// a reused connection was closed, and the request was sent once more
    stale_retries: u64,
    /// idle connections that the server closed
    idle_closed: u64,
    /// bytes that came after an answer
    surplus: u64,
    /// answers without a request
    unsolicited: u64,
    /// answers that said that the connection closes, where connections are kept
    announced_closes: u64,
}

/// What dyno itself took.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "generator")]
struct Generator {
    /// CPU time, user and system, of all lanes
    cpu_s: f64,
    /// the same for each request
    cpu_per_request_ns: Option<f64>,
    /// the share of their time in which lanes had something to do
    busy_share: f64,
    /// the most memory of the whole process
    peak_memory_bytes: Option<u64>,
    /// CPU time of the live view
    live_view_cpu_s: f64,
    /// each thread that generated load
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

/// A thread that generated load.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "lane")]
struct LaneJson {
    /// the CPU to which it was pinned; null if it was not
    cpu: Option<usize>,
    /// CPU time, user and system
    cpu_s: f64,
    /// how long it ran
    wall_s: f64,
    /// asleep or polling
    idle_s: f64,
    /// polling
    polled_s: f64,
    /// slept for longer than intended, or was kept from its CPU
    stood_still_s: f64,
    /// the longest of these times
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

/// A slow exchange.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "slow")]
struct SlowJson {
    /// which request: the number that `{seq}` stands for
    seq: u64,
    /// the status of its answer
    status: u16,
    /// when it was due
    intended_ns: Nanos,
    /// when it was sent
    sent_ns: Nanos,
    /// when its answer began
    first_byte_ns: Nanos,
    /// when its answer was complete
    done_ns: Nanos,
    /// `done_ns` − `intended_ns`
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
