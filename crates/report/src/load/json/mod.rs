//! A load as JSON, `dyno.load/1`: everything, with units in the names.

mod findings;
mod order;
mod windows;

pub(super) use order::OrderJson;

use std::collections::BTreeMap;

use units::seconds;

use crate::agents::{AgentJson, LostAgentJson};
use crate::http2::Http2Json;
use crate::json::{ByFigure, CheckedJson, DistributionJson, figure_values, json_type, written};
use crate::security::SecurityJson;
use analysis::why::Explained;
use analysis::{
    Faults, Figures, Number, generator_busy, generator_cpu, generator_cpu_per_request_ns,
    measured_s, offered_per_s, on_time, throughput_per_s,
};
use load::{
    Connections, End, Evidence, Failure, LaneReport, Nanos, Notes, Section, Sessions, Slow, Tally,
};

use super::answers::AnswersJson;
use super::requirements::RequirementJson;
use super::{FinishedLoad, Queue, sentence};
use crate::verdict::ExplainedVerdict;

pub(crate) const SCHEMA: &str = "dyno.load/1";

/// The whole document, with a line end.
pub(crate) fn json(run: &FinishedLoad, explained: &[Explained]) -> serde_json::Result<String> {
    written(&LoadDocument::of(explained, run))
}

json_type! {
    /// A load, and what came of it. Times within the run count from its start, warm-up included.
    pub(crate) struct LoadDocument<'t> as "load", SCHEMA of run: FinishedLoad, with explained: [Explained] {
        /// when it began: milliseconds since 1970
        began_unix_ms: i64,
        /// the run in plain words, with its gravest doubt
        sentence: String = sentence::of(run),
        /// where the CPU time of its answers goes, with `--why`; of several loads the document of all of them has it
        why: &'t [Explained] = explained,
        /// what the figures are worth
        verdict: ExplainedVerdict = run.verdict.clone(),
        /// what was required of it with `--require`
        requirements: Vec<RequirementJson> = run
            .requirements
            .iter()
            .map(|judged| (&(judged, &run.verdict)).into())
            .collect(),
        /// what was checked of the answers
        checked: CheckedJson = (&super::finished::checked(run)).into(),
        /// what was requested
        order: OrderJson = run.into(),
        /// how the run ended
        end: EndJson = (&run.recording.end).into(),
        /// the measured time, without warm-up and without the wait for the last answers
        measured_s: f64 = measured_s(&run.recording),
        /// what became of the requests
        books: Books = (&run.recording.total).into(),
        /// what went wrong through the server's doing
        faults: Faults = Faults::of([&run.recording.total]),
        /// how fast it went
        rate: Rate = run.into(),
        /// each figure of the load
        figures: ByFigure<Number> = figure_values(&Figures::of_load(&run.recording)),
        /// times in which no correct answer came
        silence: findings::SilenceJson = (&run.recording).into(),
        /// each tenth of a ramp or of listed times, or each step
        sections: Vec<Section<DistributionJson>> = run
            .recording
            .sections
            .iter()
            .map(|section| section.with((&section.response).into()))
            .collect(),
        /// done − intended: what a user feels, with time-outs as censored samples
        response: DistributionJson = (&run.recording.total.response).into(),
        /// done − sent
        service: DistributionJson = (&run.recording.total.service).into(),
        /// first byte of the answer − sent
        first_byte: DistributionJson = (&run.recording.total.first_byte).into(),
        /// dyno's own delay in sending a request that was due and had a free connection
        late: DistributionJson = (&run.recording.total.late).into(),
        /// the wait for a free connection, of the requests that had to wait
        blocked: DistributionJson = (&run.recording.total.blocked).into(),
        /// from the start of a connection until TCP has established it
        connect: DistributionJson = (&run.recording.total.connect).into(),
        /// what connections agreed on with TLS; null without TLS
        tls: Option<SecurityJson> =
            run.recording.total.security.as_deref().map(SecurityJson::from),
        /// what was seen of HTTP/2; null with HTTP/1.1
        http2: Option<Http2Json> = run.recording.total.http2.as_deref().map(Http2Json::from),
        /// connections. A pool's are counted from the run's start, because it is opened before the measured time; where each request or session has a connection of its own, those of the measured time are
        connections: Connections = run.recording.total.connections,
        /// zeros if the load has no sessions
        sessions: Sessions = run.recording.total.sessions,
        /// what the answers looked like
        answers: AnswersJson = (&run.recording.total.answers).into(),
        /// octets of the measured requests and answers
        bytes: Bytes = (&run.recording.total).into(),
        /// events besides the exchanges
        notes: Notes = run.recording.total.notes,
        /// what dyno itself took
        generator: Generator = run.into(),
        /// the agents that loaded; empty where this process did
        agents: Vec<AgentJson> = run.agents.iter().map(AgentJson::from).collect(),
        /// agents that did not finish: what they measured is in no figure
        lost_agents: Vec<LostAgentJson> = run.lost.iter().map(LostAgentJson::from).collect(),
        /// the accept queue of a server on this machine; null for any other server
        queue: Option<Queue> = run.queue,
        /// the slowest exchanges
        slowest: Vec<SlowJson> = run.recording.total.slowest.iter().map(SlowJson::from).collect(),
        /// the first three failures of each class that was sent
        evidence: Vec<Evidence> = run.recording.total.evidence.clone(),
        /// the course of the run: a window for each `window_s` of the order; in a long run several are merged
        windows: Vec<windows::WindowJson> =
            run.recording.windows.iter().map(windows::WindowJson::from).collect(),
    }
}

json_type! {
    /// How a run ended.
    struct EndJson as "end" of end: End;
        let (word, failure) = match end {
            End::Done => ("done", None),
            End::Halted => ("halted", None),
            End::GaveUp(failure) => ("gave_up", Some(failure.name())),
        };
    {
        /// done, halted (it was interrupted) or gave_up
        #[schemars(extend("enum" = ["done", "halted", "gave_up"]))]
        word: &'static str = word,
        /// if it gave up, the class of failure that was seen most
        failure: Option<&'static str> = failure,
    }
}

json_type! {
    /// What became of the requests: `attempted` = `correct` + `failed` + `under_way`, always.
    struct Books as "books" of total: Tally {
        /// requests that were due in the measured time, and begun
        attempted: u64,
        /// requests that were answered as expected
        correct: u64,
        /// requests that failed
        failed: u64 = total.failed_in_all(),
        /// requests without an answer when the run was stopped
        under_way: u64,
        /// `attempted`, and the calls that sessions did not reach
        due: u64,
        /// correct answers inside the measured time, whenever they were due
        correct_inside: u64,
        /// those of them that were due before it
        carried_in: u64,
        /// failures by their stable names, only the classes that occurred
        by_class: BTreeMap<&'static str, u64> = by_class(&total.failed),
    }
}

/// The classes that occurred.
pub(super) fn by_class(failed: &[u64; Failure::COUNT]) -> BTreeMap<&'static str, u64> {
    let named = Failure::ALL.iter().zip(failed).map(|(failure, times)| (failure.name(), *times));
    named.filter(|(_, times)| 0 < *times).collect()
}

json_type! {
    /// How fast it went.
    struct Rate as "rate" of run: FinishedLoad {
        /// the rate that the schedule requested: `due` divided by the time in which these were due; null for a closed
        /// loop
        offered_per_s: Option<f64> = offered_per_s(&run.recording),
        /// correct answers per second: `correct_inside` divided by `measured_s`; null if no request was due in the
        /// measured time
        throughput_per_s: Option<f64> = throughput_per_s(&run.recording),
        /// whether the server kept up; null for a closed loop
        on_time: Option<findings::OnTimeJson> =
            run.order.load.arrivals().map(|_| (&on_time(&run.recording, None)).into()),
    }
}

json_type! {
    /// Octets on the wire, or with TLS within it.
    struct Bytes as "bytes" of total: Tally {
        /// octets sent
        sent_bytes: u64 = total.bytes_sent,
        /// octets received
        received_bytes: u64 = total.bytes_received,
    }
}

json_type! {
    /// What dyno itself took.
    struct Generator as "generator" of run: FinishedLoad {
        /// CPU time, user and system, of all threads
        cpu_s: f64 = seconds(generator_cpu(&run.recording.lanes)),
        /// the same for each request
        cpu_per_request_ns: Option<f64> = generator_cpu_per_request_ns(&run.recording),
        /// the share of their time in which threads had something to do
        busy_share: f64 = generator_busy(&run.recording.lanes).unwrap_or(0.0),
        /// the most memory of the whole process
        peak_memory_bytes: Option<u64> = run.costs.peak_memory_bytes,
        /// CPU time of the live view
        live_view_cpu_s: f64 = seconds(run.costs.live_view_cpu),
        /// each thread that generated load
        lanes: Vec<LaneJson> = run.recording.lanes.iter().map(LaneJson::from).collect(),
    }
}

json_type! {
    /// A thread that generated load.
    struct LaneJson as "thread" of lane: LaneReport {
        /// the CPU to which it was pinned; null if it was not
        cpu: Option<usize>,
        /// CPU time, user and system
        cpu_s: f64 = seconds(lane.cpu_time),
        /// how long it ran
        wall_s: f64 = seconds(lane.wall),
        /// asleep or polling
        idle_s: f64 = seconds(lane.idle),
        /// polling
        polled_s: f64 = seconds(lane.polled),
        /// slept for longer than intended, or was kept from its CPU
        stood_still_s: f64 = seconds(lane.still.sum),
        /// the longest of these times
        stood_still_longest_s: f64 = seconds(lane.still.longest()),
    }
}

json_type! {
    /// A slow exchange.
    struct SlowJson as "slow" of slow: Slow {
        #[serde(flatten)]
        slow: Slow = *slow,
        /// `done_ns` − `intended_ns`
        response_ns: Nanos = slow.done.saturating_sub(slow.intended),
    }
}
