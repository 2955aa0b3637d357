//! The order within the JSON: the flags as they were parsed. It is read again where files are compared.

use std::time::Duration;

use lab::experiment::Point;
use lab::record::{Fact, REQUEST};
use load::{Arrivals, Load, Protocol};
use requests::{RequestFile, RequestFileKind, RequestOrder, RequestSource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http2::Http2OrderJson;
use crate::json::json_type;
use crate::load::file::POLLING;
use crate::load::{FinishedLoad, order_text, terms};
use crate::security::TlsOrderJson;

json_type! {
    /// What was requested.
    #[derive(serde::Deserialize)]
    pub(in crate::load) struct OrderJson as "order" of run: FinishedLoad {
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
        pub(in crate::load) in_words: String = order_text::of_load(&run.order),
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
        pub(in crate::load) max_failures_percent: f64 = run.tolerated.failed_percent,
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
        spread: String = run.order.spread.name().into(),
        /// whether connections were reused
        keep_alive: bool = run.order.keep_alive,
        /// whether broken framing was accepted
        lenient: bool = run.order.limits.lenient,
        /// threads that generated the load
        lanes: usize = run.order.lanes,
        /// the CPUs to which they were pinned
        cpus: Vec<usize> = run.order.cpus.clone(),
        /// whether they polled while they waited: adaptive, due (only just before a request was due), never, always
        spin: String = run.order.spin.name().into(),
        /// the addresses from which connections were made
        sources: Vec<String> = run.order.sources.iter().map(ToString::to_string).collect(),
        /// the seed of the arrivals and of what is random in a request
        seed: u64 = run.order.seed,
        /// how long a window of `windows` is
        window_s: f64 = run.order.window_length() as f64 / 1e9,
    }
}

json_type! {
    /// A file with requests.
    #[derive(serde::Deserialize)]
    struct RequestFileJson as "request_file" of file: RequestFile {
        /// requests (a line each), workload or har (what a browser recorded)
        #[schemars(extend("enum" = ["requests", "workload", "har"]))]
        kind: String = match file.kind {
            RequestFileKind::Requests => "requests".into(),
            RequestFileKind::Workload => "workload".into(),
            RequestFileKind::Har => "har".into(),
        },
        /// its name
        name: String = file.name.clone(),
        /// the SHA-256 of its content, of har that of the lines that --write-requests writes, in hexadecimal digits
        sha256: String = units::hex(&file.sha256),
        /// how many requests it has
        requests: usize,
        /// which of them came when: in_order (by their numbers, over and over), shuffled (the same, in an order that
        /// the seed determines) or weighted (drawn each time)
        #[schemars(extend("enum" = ["in_order", "shuffled", "weighted"]))]
        order: String = match file.order {
            RequestOrder::InOrder => "in_order".into(),
            RequestOrder::Shuffled => "shuffled".into(),
            RequestOrder::Weighted => "weighted".into(),
        },
    }
}

impl OrderJson {
    /// What is offered of the load, at its most; none where that is nothing.
    pub(in crate::load) fn point(&self) -> Option<Point> {
        match &self.load {
            LoadJson::Closed { connections } => {
                let connections = u32::try_from(*connections).ok()?;
                (0 < connections).then_some(Point::Connections(connections))
            }
            LoadJson::Open { arrivals, .. } => arrivals.peak_per_s().map(Point::Requests),
            LoadJson::Sessions { arrivals, .. } => arrivals.peak_per_s().map(Point::Sessions),
        }
    }

    fn request(&self) -> String {
        match (&self.method, &self.request_file) {
            // Its name is its owner's: two files are alike if their content is.
            (_, Some(RequestFileJson { sha256, requests, order, .. })) => format!(
                "{requests} of the file with SHA-256 {sha256}, {}, to {}",
                order.replace('_', " "),
                self.url
            ),
            (Some(method), None) => format!("{method} {}", self.url),
            (None, None) => self.url.clone(),
        }
    }

    /// Whatever two loads may have in common, or not.
    pub(in crate::load) fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact { name: name.into(), value };
        let seconds = |seconds: f64| format!("{seconds} s");
        let yes = |is: bool| if is { "yes" } else { "no" }.to_string();
        let facts = [
            fact(REQUEST, self.request()),
            fact("load", self.in_words.clone()),
            fact("warm-up", seconds(self.warmup_s)),
            fact("time-out", seconds(self.timeout_s)),
            fact("on time within", seconds(self.on_time_within_s)),
            fact("connections kept", yes(self.keep_alive)),
            fact("lenient", yes(self.lenient)),
            fact("threads", self.lanes.to_string()),
            fact(POLLING, self.spin.clone()),
            fact("expected of an answer", self.expects.clone()),
        ];
        let terms = terms::facts(self.http2.as_ref(), &self.spread, self.tls.as_ref());
        facts.into_iter().chain(terms).collect()
    }
}

impl ArrivalsJson {
    /// The highest rate, whatever the law; of listed times, the mean one.
    fn peak_per_s(&self) -> Option<f64> {
        let peak = match self {
            ArrivalsJson::Constant { per_s } | ArrivalsJson::Poisson { per_s } => *per_s,
            ArrivalsJson::Ramp { from_per_s, to_per_s, .. } => from_per_s.max(*to_per_s),
            ArrivalsJson::Steps { steps } => {
                steps.iter().map(|step| step.per_s).fold(0.0, f64::max)
            }
            ArrivalsJson::Listed { times, length_s } => *times as f64 / length_s,
        };
        (0.0 < peak && peak.is_finite()).then_some(peak)
    }
}

/// Closed: each connection sends its next request when the last one is answered. Open: requests are due on a
/// schedule. Sessions: so are sessions, each on a connection of its own.
#[derive(Serialize, Deserialize, JsonSchema)]
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
#[derive(Serialize, Deserialize, JsonSchema)]
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
#[derive(Serialize, Deserialize, JsonSchema)]
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
