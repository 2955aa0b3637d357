//! Held connections as JSON, `dyno.hold/2`.

use std::collections::BTreeMap;

use load::{HoldWindow, Nanos, Plateau};
use report::json::{DistributionJson, written};
use report::units::seconds;
use schemars::JsonSchema;
use serde::Serialize;

use super::document::sentence;
use super::messages::{HoldSpec, Kind, SentText, named};
use super::parts::{HoldResult, LostProcess};
use report::verdict::ExplainedVerdict;

const SCHEMA: &str = "dyno.hold/2";

/// Held connections, step by step. Times count from the start of the ramp.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "hold")]
pub(crate) struct Document<'t> {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the dyno that wrote it
    dyno_version: &'static str,
    /// what was held, and what broke, in plain words
    sentence: String,
    /// what the figures are worth
    verdict: ExplainedVerdict,
    /// what was requested
    order: OrderJson<'t>,
    /// whether it was stopped before its end
    was_halted: bool,
    /// processes that ended early; their connections are in no plateau
    lost_processes: Vec<LostJson>,
    /// the steps of the ramp
    plateaus: Vec<PlateauJson>,
    /// what happened in each second
    windows: Vec<SecondJson>,
}

/// What was requested.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "order")]
struct OrderJson<'t> {
    /// what a connection holds: chunks (of an answer without an end), events (`text/event-stream`) or websocket
    #[schemars(extend("enum" = ["chunks", "events", "websocket"]))]
    kind: &'static str,
    /// the host in the requests
    host: &'t str,
    /// path and query
    path: &'t str,
    /// further header fields
    headers: &'t [(String, String)],
    /// the addresses of the server
    addresses: &'t [String],
    /// processes that held the connections
    processes: u64,
    /// connections in the end
    connections: usize,
    /// connections that each step adds
    step: usize,
    /// how long a step is
    every_s: f64,
    /// connections begun each second
    per_s: f64,
    /// how long a step waits before it measures
    settle_s: f64,
    /// the expected time between two messages of a connection; null if it is not known
    beat_s: Option<f64>,
    /// a connection that receives nothing for longer is silent
    silence_s: f64,
    /// when an attempt to open a connection was given up
    timeout_s: f64,
    /// whether lost connections were begun again
    reopen: bool,
    /// what dyno sends; null if it only listens
    sends: Option<SendsJson<'t>>,
    /// the seed of what is random
    seed: u64,
}

/// What dyno sends: a text on so many connections each second, which must come back; or a text on one connection, which
/// all must receive.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "sends")]
enum SendsJson<'t> {
    Echo { text: &'t str, per_s: f64 },
    Broadcast { every_s: f64 },
}

fn order<'t>(spec: &'t HoldSpec, addresses: &'t [String], processes: u64) -> OrderJson<'t> {
    OrderJson {
        kind: match spec.kind {
            Kind::Chunks => "chunks",
            Kind::Events => "events",
            Kind::Socket => "websocket",
        },
        host: &spec.host,
        path: &spec.path,
        headers: &spec.headers,
        addresses,
        processes,
        connections: spec.connections,
        step: spec.step,
        every_s: seconds(spec.every_ns),
        per_s: spec.per_second,
        settle_s: seconds(spec.settle_ns),
        beat_s: spec.beat_ns.map(seconds),
        silence_s: seconds(spec.silence_ns),
        timeout_s: seconds(spec.timeout_ns),
        reopen: spec.reopen,
        sends: spec.sends.as_ref().map(|text| match text {
            SentText::Echo { text, per_second } => SendsJson::Echo { text, per_s: *per_second },
            SentText::Broadcast { every_ns } => {
                SendsJson::Broadcast { every_s: seconds(*every_ns) }
            }
        }),
        seed: spec.seed,
    }
}

/// A process that ended early.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "lost_process")]
struct LostJson {
    /// which one, from 1
    process: usize,
    /// when it ended
    at_s: f64,
    /// connections that it held in its last second
    open: u64,
    /// this in words
    says: String,
}

fn lost(process: &LostProcess) -> LostJson {
    LostJson {
        process: process.number,
        at_s: seconds(process.at_ns),
        open: process.open,
        says: process.to_string(),
    }
}

/// A step of the ramp. Counts of connections are from its beginning on; messages and times are of its measured part.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "plateau")]
struct PlateauJson {
    /// connections that were to be there
    connections: usize,
    /// its beginning
    from_s: f64,
    /// where its measured part begins
    measured_from_s: f64,
    /// its end
    until_s: f64,
    /// what became of the connections
    books: HeldBooksJson,
    /// connections that could not be opened, by cause
    failed: BTreeMap<String, u64>,
    /// connections that were lost, by cause
    lost: BTreeMap<String, u64>,
    /// open connections that had received nothing for `silence_s` at its end
    silent: u64,
    /// messages received
    messages: u64,
    /// messages each second, over whole beats; null if there was none. Where no beat is known, over the measured part: up
    /// to one message of each connection too many or too few
    messages_per_s: Option<f64>,
    /// how long the whole beats lasted; null without a beat
    whole_beats_s: Option<f64>,
    /// messages received in them; null without a beat
    messages_in_whole_beats: Option<u64>,
    /// octets received
    received_bytes: u64,
    /// numbered messages that never came
    missed: u64,
    /// messages that say when they were due
    stamped: u64,
    /// from the start of a connection until it is established
    connect: DistributionJson,
    /// from there until the handshake, or the head of the answer
    agree: DistributionJson,
    /// messages, after their beat
    late: DistributionJson,
    /// from one message to the next on a connection
    gap: DistributionJson,
    /// the most that dyno may have added to a message's lateness
    own: DistributionJson,
    /// texts that were sent and had to come back; null if none was due
    echo: Option<EchoJson>,
    /// texts that all had to receive
    broadcasts: Vec<BroadcastJson>,
    /// CPU time of dyno's lanes
    cpu_s: f64,
    /// the lanes slept for longer than intended, or were kept from their CPUs
    stood_still_s: f64,
    /// the longest of these times
    stood_still_longest_s: f64,
}

/// What became of the connections: begun on all plateaus so far = failed + lost on all of them + open + opening.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "held_books")]
struct HeldBooksJson {
    /// connections that were begun
    begun: u64,
    /// connections of these that were begun again after they were lost
    begun_again: u64,
    /// connections that opened
    opened: u64,
    /// connections that could not be opened
    failed: u64,
    /// open connections that were lost
    lost: u64,
    /// open at its end
    open: u64,
    /// begun and neither open nor failed at its end
    opening: u64,
}

/// Texts that were sent and had to come back: `due` = `correct` + `failed` + `blocked` + `under_way`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "echo")]
struct EchoJson {
    /// texts that were due
    due: u64,
    /// texts that came back as they were sent
    correct: u64,
    /// texts that did not
    failed: u64,
    /// texts for which no connection was free
    blocked: u64,
    /// texts without an answer at the end
    under_way: u64,
    /// done − intended
    response: DistributionJson,
}

/// A text that all had to receive.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "broadcast")]
struct BroadcastJson {
    /// its number
    number: u64,
    /// connections that received it
    received: u64,
    /// from when it was due to its first arrival
    first_ns: Nanos,
    /// from when it was due to its last arrival
    last_ns: Nanos,
}

/// A second of the course.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "held_window")]
struct SecondJson {
    /// its beginning
    from_s: f64,
    /// its end
    until_s: f64,
    /// open at its end
    open: u64,
    /// begun and neither open nor failed at its end
    opening: u64,
    /// connections that were begun
    begun: u64,
    /// connections that could not be opened
    failed: u64,
    /// open connections that were lost
    lost: u64,
    /// messages received
    messages: u64,
    /// octets received
    received_bytes: u64,
    /// lateness of half the messages
    late_p50_ns: Option<Nanos>,
    /// lateness of 99 % of the messages
    late_p99_ns: Option<Nanos>,
    /// lateness of the latest message
    late_max_ns: Option<Nanos>,
}

/// All of it.
pub(crate) fn of(
    held: &HoldResult,
    verdict: &ExplainedVerdict,
    spec: &HoldSpec,
    addresses: &[String],
    processes: u64,
) -> serde_json::Result<String> {
    let holding = &held.holding;
    written(&Document {
        schema: SCHEMA,
        dyno_version: env!("CARGO_PKG_VERSION"),
        sentence: sentence(holding),
        verdict: verdict.clone(),
        order: order(spec, addresses, processes),
        was_halted: holding.was_halted,
        lost_processes: held.lost.iter().map(lost).collect(),
        plateaus: holding.plateaus.iter().map(plateau).collect(),
        windows: holding.windows.iter().map(second).collect(),
    })
}

fn plateau(plateau: &Plateau) -> PlateauJson {
    let echoes = &plateau.echoes;
    PlateauJson {
        connections: plateau.times.connections,
        from_s: seconds(plateau.times.from),
        measured_from_s: seconds(plateau.times.measured_from),
        until_s: seconds(plateau.times.until),
        books: HeldBooksJson {
            begun: plateau.begun,
            begun_again: plateau.begun_again,
            opened: plateau.opened,
            failed: plateau.failed_in_all(),
            lost: plateau.lost_in_all(),
            open: plateau.open,
            opening: plateau.opening,
        },
        failed: named(&plateau.failed),
        lost: named(&plateau.lost),
        silent: plateau.silent,
        messages: plateau.messages,
        messages_per_s: plateau.messages_per_s(),
        whole_beats_s: plateau.whole.map(|whole| seconds(whole.lasted)),
        messages_in_whole_beats: plateau.whole.map(|whole| whole.messages),
        received_bytes: plateau.bytes,
        missed: plateau.missed,
        stamped: plateau.stamped,
        connect: (&plateau.connect).into(),
        agree: (&plateau.agree).into(),
        late: (&plateau.late).into(),
        gap: (&plateau.gap).into(),
        own: (&plateau.own).into(),
        echo: (0 < echoes.due).then(|| EchoJson {
            due: echoes.due,
            correct: echoes.correct,
            failed: echoes.failed,
            blocked: echoes.blocked,
            under_way: echoes.under_way,
            response: (&echoes.response).into(),
        }),
        broadcasts: plateau
            .broadcasts
            .iter()
            .map(|(&number, heard)| BroadcastJson {
                number,
                received: heard.heard,
                first_ns: heard.first,
                last_ns: heard.last,
            })
            .collect(),
        cpu_s: seconds(plateau.cpu),
        stood_still_s: seconds(plateau.still.sum),
        stood_still_longest_s: seconds(plateau.still.longest()),
    }
}

fn second(window: &HoldWindow) -> SecondJson {
    let late = window.late.unfold();
    let at = |q| late.quantile(q).map(|found| found.value);
    SecondJson {
        from_s: seconds(window.from),
        until_s: seconds(window.until),
        open: window.open,
        opening: window.opening,
        begun: window.begun,
        failed: window.failed,
        lost: window.lost,
        messages: window.messages,
        received_bytes: window.bytes,
        late_p50_ns: at(0.5),
        late_p99_ns: at(0.99),
        late_max_ns: late.extremes().map(|(_, most)| most),
    }
}
