//! Held connections as JSON, `dyno.hold/1`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use load::{Broadcast, Echoes, HoldWindow, Loss, Nanos, Plateau, Sends};
use schemars::JsonSchema;
use serde::Serialize;
use units::seconds;

use super::{FinishedHold, sentence, with_findings};
use crate::agents::{AgentJson, LostAgentJson};
use crate::json::{DistributionJson, json_type};
use crate::security::{SecurityJson, TlsOrderJson};
use crate::verdict::ExplainedVerdict;

json_type! {
    /// Held connections, step by step. Times count from the start of the ramp.
    pub(crate) struct HoldDocument<'t> as "hold", "dyno.hold/1" of held: FinishedHold {
        /// what was held, and what broke, in plain words
        sentence: String = with_findings(held, sentence),
        /// what the figures are worth
        verdict: ExplainedVerdict = held.verdict.clone(),
        /// what was requested
        order: OrderJson<'t> = held.into(),
        /// whether it was stopped before its end
        was_halted: bool = held.holding.was_halted,
        /// agents (each a process, on this machine or another) that ended early; their connections are in no plateau
        lost_processes: Vec<LostAgentJson> = held.lost.iter().map(LostAgentJson::from).collect(),
        /// the agents that held the connections
        agents: Vec<AgentJson> = held.agents.iter().map(AgentJson::from).collect(),
        /// the steps of the ramp
        plateaus: Vec<PlateauJson> = held.holding.plateaus.iter().map(PlateauJson::from).collect(),
        /// what happened in each second
        windows: Vec<SecondJson> = held.holding.windows.iter().map(SecondJson::from).collect(),
    }
}

fn length(time: Duration) -> f64 {
    seconds(time.as_nanos() as u64)
}

json_type! {
    /// What was requested.
    struct OrderJson<'t> as "order" of held: FinishedHold {
        /// what a connection holds: chunks (of an answer without an end), events (`text/event-stream`) or websocket
        #[schemars(extend("enum" = ["chunks", "events", "websocket"]))]
        kind: &'static str = held.order.what.name(),
        /// the host in the requests
        host: &'t str = &held.order.what.ask().made_from().host,
        /// path and query
        path: &'t str = &held.order.what.ask().made_from().target,
        /// further header fields
        headers: &'t [(String, String)] = &held.headers,
        /// the addresses of the server
        addresses: &'t [String] = &held.addresses,
        /// processes that held the connections: as many as `agents`
        processes: usize = held.agents.len(),
        /// connections in the end
        connections: usize = held.order.ramp.connections,
        /// connections that each step adds
        step: usize = held.order.ramp.step,
        /// how long a step is
        every_s: f64 = length(held.order.ramp.every),
        /// connections begun each second
        per_s: f64 = held.order.ramp.per_second,
        /// how long a step waits before it measures
        settle_s: f64 = length(held.order.ramp.settle),
        /// the expected time between two messages of a connection; null if it is not known
        beat_s: Option<f64> = held.order.beat.map(length),
        /// a connection that receives nothing for longer is silent
        silence_s: f64 = length(held.order.silence),
        /// when an attempt to open a connection was given up
        timeout_s: f64 = length(held.order.timeout),
        /// whether failed and lost connections were begun again
        reopen: bool = held.order.reopen,
        /// what dyno sends; null if it only listens
        sends: Option<SendsJson<'t>> = held.order.sends.as_ref().map(|sends| match sends {
            Sends::Echo { text, per_second } => {
                SendsJson::Echo { text: String::from_utf8_lossy(text), per_s: *per_second }
            }
            Sends::Broadcast { every } => SendsJson::Broadcast { every_s: length(*every) },
        }),
        /// how connections were secured; null without TLS
        tls: Option<TlsOrderJson> = held.order.tls.as_ref().map(|client| TlsOrderJson::from(client.order())),
        /// the seed of what is random
        seed: u64 = held.order.seed,
    }
}

/// What dyno sends: a text on so many connections each second, which must come back; or a text on one connection, which
/// all must receive.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "sends")]
enum SendsJson<'t> {
    Echo { text: Cow<'t, str>, per_s: f64 },
    Broadcast { every_s: f64 },
}

json_type! {
    /// A step of the ramp. Counts of connections are from its beginning on; messages and times are of its measured
    /// part.
    struct PlateauJson as "plateau" of plateau: Plateau {
        /// connections that were to be there
        connections: usize = plateau.times.connections,
        /// its beginning
        from_s: f64 = seconds(plateau.times.from),
        /// where its measured part begins
        measured_from_s: f64 = seconds(plateau.times.measured_from),
        /// its end
        until_s: f64 = seconds(plateau.times.until),
        /// what became of the connections
        books: HeldBooksJson = plateau.into(),
        /// connections that could not be opened, by cause
        failed: BTreeMap<String, u64> = named(&plateau.failed),
        /// connections that were lost, by cause
        lost: BTreeMap<String, u64> = named(&plateau.lost),
        /// open connections that had received nothing for `silence_s` at its end
        silent: u64,
        /// messages received
        messages: u64,
        /// messages each second, over whole intervals; null if there was none. Where no interval is known, over the
        /// measured part: up to one message of each connection too many or too few
        messages_per_s: Option<f64> = plateau.messages_per_s(),
        /// how long the whole intervals lasted; null where the interval is not known
        whole_beats_s: Option<f64> = plateau.whole.map(|whole| seconds(whole.lasted)),
        /// messages received in them; null where the interval is not known
        messages_in_whole_beats: Option<u64> = plateau.whole.map(|whole| whole.messages),
        /// octets received
        received_bytes: u64 = plateau.bytes,
        /// numbered messages that never came
        missed: u64,
        /// messages that say when they were due
        stamped: u64,
        /// what connections agreed on with TLS; null without TLS
        tls: Option<SecurityJson> = plateau.security.as_deref().map(SecurityJson::from),
        /// from the start of a connection until TCP has established it
        connect: DistributionJson = (&plateau.connect).into(),
        /// from there until the handshake, or the head of the answer
        agree: DistributionJson = (&plateau.agree).into(),
        /// how late messages came
        late: DistributionJson = (&plateau.late).into(),
        /// from one message to the next on a connection
        gap: DistributionJson = (&plateau.gap).into(),
        /// the most that dyno may have added to a message's lateness
        own: DistributionJson = (&plateau.own).into(),
        /// texts that were sent and had to come back; null if none was due
        echo: Option<Echoes<DistributionJson>> = (0 < plateau.echoes.due)
            .then(|| plateau.echoes.with((&plateau.echoes.response).into())),
        /// texts that all had to receive
        broadcasts: Vec<BroadcastJson> = plateau.broadcasts.iter().map(|(number, it)| BroadcastJson::of(number, it)).collect(),
        /// CPU time of dyno's threads
        cpu_s: f64 = seconds(plateau.cpu),
        /// the threads slept for longer than intended, or were kept from their CPUs
        stood_still_s: f64 = seconds(plateau.still.sum),
        /// the longest of these times
        stood_still_longest_s: f64 = seconds(plateau.still.longest()),
    }
}

// `Plateau` and `HoldWindow` keep each cause; the books add the causes up, and stand apart from the messages.
json_type! {
    /// What became of the connections: begun on all plateaus so far = failed + lost on all of them + open + opening.
    struct HeldBooksJson as "held_books" of plateau: Plateau {
        /// connections that were begun
        begun: u64,
        /// connections of these that were begun again after they had failed or been lost
        begun_again: u64,
        /// connections that opened
        opened: u64,
        /// connections that could not be opened
        failed: u64 = plateau.failed_in_all(),
        /// open connections that were lost
        lost: u64 = plateau.lost_in_all(),
        /// open at its end
        open: u64,
        /// begun and neither open nor failed at its end
        opening: u64,
    }
}

json_type! {
    /// A text that all had to receive.
    struct BroadcastJson as "broadcast" of received: Broadcast, with number: u64 {
        /// its number
        number: u64 = *number,
        /// connections that received it; its times are 0 where none did
        received: u64,
        /// from when it was due to its first arrival
        first_ns: Nanos = received.first,
        /// from when it was due to its last arrival
        last_ns: Nanos = received.last,
    }
}

json_type! {
    /// A second of the course.
    struct SecondJson as "held_window" of window: HoldWindow;
        let late = window.late.unfold();
        let quantile = |q| late.quantile(q).map(|found| found.value);
    {
        /// its beginning
        from_s: f64 = seconds(window.from),
        /// its end
        until_s: f64 = seconds(window.until),
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
        received_bytes: u64 = window.bytes,
        /// lateness of half the messages
        late_p50_ns: Option<Nanos> = quantile(0.5),
        /// lateness of 99 % of the messages
        late_p99_ns: Option<Nanos> = quantile(0.99),
        /// lateness of the latest message
        late_max_ns: Option<Nanos> = late.extremes().map(|(_, most)| most),
    }
}

/// Those that occurred, by name.
fn named(counts: &[u64; Loss::COUNT]) -> BTreeMap<String, u64> {
    let all = Loss::ALL.into_iter().zip(counts).filter(|(_, count)| 0 < **count);
    all.map(|(loss, count)| (loss.name().to_string(), *count)).collect()
}
