//! The order within the JSON: the flags as they were parsed.

use std::time::Duration;

use load::{Arrivals, Load, Protocol};
use requests::{RequestFile, RequestFileKind, RequestOrder, RequestSource};
use schemars::JsonSchema;
use serde::Serialize;

use crate::http2::Http2OrderJson;
use crate::json::json_type;
use crate::load::{FinishedLoad, words};
use crate::security::TlsOrderJson;

json_type! {
    /// What was requested.
    pub(super) struct OrderJson as "order" of run: FinishedLoad {
        /// the method of the request; null if a file has the requests
        method: Option<String> = match &run.asked.source {
            RequestSource::Flags { method } => Some(method.clone()),
            RequestSource::File(_) => None,
        },
        /// its URL; if a file has the requests, the URL of the server to which they were sent
        url: String = run.asked.url.clone(),
        /// the file that had the requests; null if the URL and the flags said what was requested
        request_file: Option<RequestFileJson> = match &run.asked.source {
            RequestSource::Flags { .. } => None,
            RequestSource::File(file) => Some(file.into()),
        },
        /// the address to which the host's name was resolved
        target_address: String = run.asked.address.clone(),
        /// what an answer must have
        expects: String = run.asked.expected(),
        /// the load in words
        in_words: String = words::of_load(&run.order),
        /// what was requested how often, on how many connections
        load: LoadJson = load(&run.order.load),
        /// stop after so many requests
        requests: Option<u64> = run.order.stop.total,
        /// stop after this time
        duration_s: Option<f64> = run.order.stop.duration.as_ref().map(Duration::as_secs_f64),
        /// how long the load ran before the measured time
        warmup_s: f64 = run.order.warmup.as_secs_f64(),
        /// when an exchange was given up
        timeout_s: f64 = run.order.timeout.as_secs_f64(),
        /// the limit within which an answer was on time
        on_time_within_s: f64 = run.order.on_time_within().as_secs_f64(),
        /// the percentage of the requests that may fail
        max_failures_percent: f64 = run.tolerated.failed_percent,
        /// how connections were secured; null without TLS
        tls: Option<TlsOrderJson> =
            run.order.tls.as_ref().map(|client| client.order().into()),
        /// how HTTP/2 was to be spoken; null with HTTP/1.1
        http2: Option<Http2OrderJson> = match &run.order.protocol {
            Protocol::Http1 => None,
            Protocol::Http2(order) => Some(order.into()),
        },
        /// which connection with room carried the next request: even (the one whose turn was longest ago) or fill (one
        /// after the other)
        #[schemars(extend("enum" = ["even", "fill"]))]
        spread: &'static str = words::spread(run.order.spread),
        /// whether connections were reused
        keep_alive: bool = run.order.keep_alive,
        /// whether broken framing was accepted
        lenient: bool = run.order.limits.lenient,
        /// threads that generated the load
        lanes: usize = run.order.lanes,
        /// the CPUs to which they were pinned
        cpus: Vec<usize> = run.order.cpus.clone(),
        /// whether they polled while they waited: adaptive, due (only just before a request was due), never, always
        spin: &'static str = run.order.spin.name(),
        /// the addresses from which connections were made
        sources: Vec<String> = run.order.sources.iter().map(ToString::to_string).collect(),
        /// the seed of the arrivals and of what is random in a request
        seed: u64 = run.order.seed,
        /// how long a window of `windows` is
        window_s: f64 = run.order.window.as_secs_f64(),
    }
}

json_type! {
    /// A file with requests.
    struct RequestFileJson as "request_file" of file: RequestFile {
        /// requests (a line each) or workload
        #[schemars(extend("enum" = ["requests", "workload"]))]
        kind: &'static str = match file.kind {
            RequestFileKind::Requests => "requests",
            RequestFileKind::Workload => "workload",
        },
        /// its name
        name: String = file.name.clone(),
        /// the SHA-256 of its content, in hexadecimal digits
        sha256: String = hex(&file.sha256),
        /// how many requests it has
        requests: usize,
        /// which of them came when: in_order (by their numbers, over and over), shuffled (the same, in an order that
        /// the seed determines) or weighted (drawn each time)
        #[schemars(extend("enum" = ["in_order", "shuffled", "weighted"]))]
        order: &'static str = match file.order {
            RequestOrder::InOrder => "in_order",
            RequestOrder::Shuffled => "shuffled",
            RequestOrder::Weighted => "weighted",
        },
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Closed: each connection sends its next request when the last one is answered. Open: requests are due on a
/// schedule. Sessions: so are sessions, each on a connection of its own.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(rename = "kind_of_load")]
enum LoadJson {
    Closed { connections: usize },
    Open { arrivals: ArrivalsJson, connections: usize, max_connections: usize },
    Sessions { arrivals: ArrivalsJson, calls: u32, max_connections: usize },
}

fn load(load: &Load) -> LoadJson {
    match load {
        Load::Closed { connections } => LoadJson::Closed { connections: *connections },
        Load::Open { arrivals, connections, max_connections } => LoadJson::Open {
            arrivals: self::arrivals(arrivals),
            connections: *connections,
            max_connections: *max_connections,
        },
        Load::Sessions { arrivals, calls, max_connections } => LoadJson::Sessions {
            arrivals: self::arrivals(arrivals),
            calls: *calls,
            max_connections: *max_connections,
        },
    }
}

/// When requests or sessions are due.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "law", rename_all = "snake_case")]
#[schemars(rename = "arrivals")]
enum ArrivalsJson {
    Constant { per_s: f64 },
    Poisson { per_s: f64 },
    Ramp { from_per_s: f64, to_per_s: f64, over_s: f64 },
    Steps { steps: Vec<StepJson> },
    Listed { times: u64, length_s: f64 },
}

/// A constant rate for some time.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "step")]
struct StepJson {
    /// its rate
    per_s: f64,
    /// how long it lasts
    for_s: f64,
}

fn arrivals(arrivals: &Arrivals) -> ArrivalsJson {
    match arrivals {
        Arrivals::Constant(rate) => ArrivalsJson::Constant { per_s: rate.as_f64() },
        Arrivals::Poisson(rate) => ArrivalsJson::Poisson { per_s: rate.as_f64() },
        Arrivals::Ramp { from, to, over } => ArrivalsJson::Ramp {
            from_per_s: from.as_f64(),
            to_per_s: to.as_f64(),
            over_s: over.as_secs_f64(),
        },
        Arrivals::Steps(steps) => {
            let step = |(rate, length): &(load::Rate, Duration)| StepJson {
                per_s: rate.as_f64(),
                for_s: length.as_secs_f64(),
            };
            ArrivalsJson::Steps { steps: steps.iter().map(step).collect() }
        }
        Arrivals::Listed(listed) => {
            ArrivalsJson::Listed { times: listed.count(), length_s: listed.length().as_secs_f64() }
        }
    }
}
