//! The flags of `dyno load`, those that a race shares among them. The habits of wrk and oha users work.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agents::Place;
use clap::Args;
use lab::amounts;
use lab::schedule::{Schedule, rate};
use load::{Rate, Spin};
use requests::answer;
use requests::url::{self, Url};
use serde::{Deserialize, Serialize};
use wire::StatusRule;

use super::feed::FeedFlags;
use super::http2::Http2Flags;
use super::keeping::KeepingFlags;
use super::requested::RequestsFlags;
use super::requirement::RequireFlags;
use super::schedule;
use super::tls::TlsFlags;
use crate::one_of::one_of;
use crate::results::{OF_TRIALS, ResultFlags};
use crate::shell::Refusal;

/// `dyno load`
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LoadFlags {
    /// https://host:port/path, http://…, host:port/path (without TLS) or unix:/path/to.sock:/path
    #[arg(value_parser = url::parse, required_unless_present_any = ["curl", "har", "calibrate"])]
    pub(crate) url: Option<Url>,
    #[command(flatten)]
    pub(crate) arriving: ArrivingFlags,
    /// With --arrivals FILE: play the times back this many times as fast [1]
    #[arg(long, value_name = "FACTOR", value_parser = schedule::speed)]
    pub(crate) speed: Option<f64>,
    /// How long to load: 500ms, 10s, 2m [10s, unless -n or --arrivals FILE is given]
    #[arg(short, short_alias = 'z', long, value_name = "TIME", value_parser = amounts::time)]
    pub(crate) duration: Option<Duration>,
    /// Stop after this many requests, or sessions with --sessions; the warm-up is not counted
    #[arg(short = 'n', long, value_name = "N", value_parser = amounts::count)]
    pub(crate) total: Option<u64>,
    /// Threads that send the load [half of the CPUs, at least 1; with --load-on, one for each process of local:N, or each CPU of other hosts]
    #[arg(short, long, value_name = "N", value_parser = amounts::count)]
    pub(crate) threads: Option<u64>,
    /// Send each request once before the load, and count every answer with a different body as a failure
    #[arg(long, conflicts_with = "expect_body")]
    pub(crate) same_body: bool,
    /// A header field whose value a command prints, 'Name: command argument'. The command is run once, before the
    /// load and without a shell; the first line of its output is sent, and neither shown nor kept. May be given again
    #[arg(long, value_name = "FIELD", value_parser = answer::field)]
    pub(crate) header_command: Vec<(String, String)>,
    /// Use HTTP/1.0
    #[arg(long = "http1.0")]
    pub(crate) http_1_0: bool,
    /// Accept broken framing that old servers send: bare LF, folded fields, Content-Length beside Transfer-Encoding
    #[arg(long)]
    pub(crate) lenient: bool,
    /// With -r or --sessions: a request is on time if it is answered correctly within this time after it was due
    /// [--timeout]
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    pub(crate) on_time: Option<Duration>,
    /// How long to load before the measured time; this is not counted
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none, default_value = "0")]
    pub(crate) warmup: Duration,
    /// Connect to this Unix socket; the URL gives Host and path
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Connect there, whatever the URL says; the request's Host and target stay the URL's
    #[arg(long, value_name = "HOST:PORT", value_parser = url::place, conflicts_with = "unix")]
    pub(crate) connect_to: Option<(String, u16)>,
    /// Whether dyno polls (busy-waits) for answers before it sleeps
    #[arg(long, value_name = "WHEN", default_value = "adaptive", value_parser = one_of(Spin::ALL, Spin::name, Spin::meaning))]
    pub(crate) spin: Spin,
    /// Exit with code 1 if more than this share of the requests, or sessions, failed
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent, default_value = "1")]
    pub(crate) max_failures: f64,
    #[command(flatten)]
    pub(crate) required: RequireFlags,
    #[command(flatten)]
    pub(crate) why: WhyFlag,
    /// Print more: the percentiles p50, p75, p90, p95, p99, p99.9 and p99.99 of each time
    #[arg(long)]
    pub(crate) full: bool,
    /// With --like wrk: print the Latency Distribution, too
    #[arg(long)]
    pub(crate) latency: bool,
    #[command(flatten, next_help_heading = "The request and the expected answer")]
    pub(crate) asking: AskingFlags,
    #[command(flatten)]
    pub(crate) from: RequestsFlags,
    #[command(flatten, next_help_heading = "HTTP/2 and TLS")]
    pub(crate) http2: Http2Flags,
    #[command(flatten)]
    pub(crate) tls: TlsFlags,
    #[command(flatten, next_help_heading = "Where the load comes from")]
    pub(crate) sent_from: FromFlags,
    #[command(flatten, next_help_heading = "Output during the load, and what is kept")]
    pub(crate) feed: FeedFlags,
    #[command(flatten)]
    pub(crate) keeping: KeepingFlags,
    #[command(flatten)]
    pub(crate) results: ResultFlags<OF_TRIALS>,
    #[command(flatten, next_help_heading = "What dyno itself can do here")]
    pub(crate) calibrating: CalibrateFlags,
}

/// How requests arrive: the same for a load and for a race.
#[derive(Args, Clone)]
pub(crate) struct ArrivingFlags {
    /// Connections. With -r they are opened before the load starts, unless --no-keepalive is given, and
    /// --max-connections may allow more [50]
    #[arg(short, long, value_name = "N", value_parser = amounts::connections)]
    pub(crate) connections: Option<usize>,
    /// Requests per second: 1000, 20k, 0.5; a ramp, 100..5000; or steps, 1000:5s,2000:5s
    #[arg(short, short_aliases = ['q', 'R'], long, value_name = "RATE")]
    #[arg(value_parser = Schedule::parse, conflicts_with = "sessions")]
    pub(crate) rate: Option<Schedule>,
    /// How the requests are spaced in time: constant, poisson or, for `dyno load`, a file of times, which replaces -r:
    /// one time a line, in seconds or as RFC 3339, or an access log of nginx or Apache (a file called poisson is
    /// written ./poisson) [constant; poisson for one rate from several machines, because their clocks need not agree
    /// for it]
    #[arg(long, value_name = "SPACING|FILE", value_parser = schedule::spacing)]
    pub(crate) arrivals: Option<schedule::Spacing>,
    /// Sessions per second; a session is a connection that sends --calls requests, one after the other, and closes
    #[arg(long, value_name = "RATE", value_parser = rate, conflicts_with = "no_keepalive")]
    pub(crate) sessions: Option<Rate>,
    /// Requests in each session [10]
    #[arg(long, value_name = "N", value_parser = amounts::count, requires = "sessions")]
    pub(crate) calls: Option<u64>,
    /// With -r or --sessions: the most connections at once [-c, or else what the limit of open files allows, up to 10,000]
    #[arg(long, value_name = "N", value_parser = amounts::connections)]
    pub(crate) max_connections: Option<usize>,
}

/// What is requested, and what must be answered: the same for a load and for a race.
#[derive(Args, Serialize, Deserialize)]
pub(crate) struct AskingFlags {
    /// The request's method [GET, or POST if there is a body]
    #[arg(short, long, value_name = "METHOD", value_parser = method)]
    pub(crate) method: Option<String>,
    /// A header field, 'Name: value'; may be given again
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = answer::field)]
    pub(crate) header: Vec<(String, String)>,
    /// The request's body; -H 'Transfer-Encoding: chunked' sends it in chunks
    #[arg(short, long, value_name = "TEXT", conflicts_with = "body_file", value_parser = body)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// The request's body, from a file
    #[arg(short = 'B', long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
    /// Open a new connection for each request
    #[arg(long, alias = "disable-keepalive")]
    pub(crate) no_keepalive: bool,
    #[command(flatten)]
    #[serde(default)]
    pub(crate) varying: VaryFlag,

    /// The expected status: 200, 2xx, or any for every status [2xx]
    #[arg(long, value_name = "STATUS", value_parser = answer::status)]
    pub(crate) expect_status: Option<StatusRule>,
    /// The expected body: TEXT (with placeholders), @FILE, length:N or sha256:HEX
    #[arg(long, value_name = "BODY", allow_hyphen_values = true)]
    pub(crate) expect_body: Option<String>,
    /// A header field that the answer must have; may be given again
    #[arg(long, value_name = "FIELD", value_parser = answer::field)]
    pub(crate) expect_header: Vec<(String, String)>,

    /// A request that is not answered within this time after it was due has failed
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "5s")]
    pub(crate) timeout: Duration,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) owner: OwnerFlag,
}

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct VaryFlag {
    /// Send requests in several forms, all of which a server must accept: other orders and cases of field names, an
    /// unknown field, other white space; of one request in a hundred the head in two segments. Failures are counted by
    /// form
    #[arg(long)]
    pub(crate) vary: bool,
}

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct WhyFlag {
    /// After the measured load, load each server again and sample its stacks: where the CPU time of an answer goes,
    /// and in what two servers differ
    #[arg(long)]
    pub(crate) why: bool,
}

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct OwnerFlag {
    /// The owner of the target agrees to the load; required unless it is on this machine or in a private network
    #[arg(long)]
    pub(crate) i_may_load_this_target: bool,
}

/// Where connections come from, and what a person sees meanwhile: the same for a load and for held connections.
#[derive(Args)]
pub(crate) struct FromFlags {
    /// Where the load comes from: local:N (processes of this machine), ssh:HOST,HOST (other machines, one thread for
    /// each CPU, or ssh:HOST:cpus=0-3), slurm (the other nodes of this job), or nats://HOST/LAB?agents=NAME,NAME [this
    /// process; for `hold` as few local processes as the limit of open files allows]
    #[arg(long, value_name = "PLACE", value_parser = Place::parse)]
    pub(crate) load_on: Option<Place>,
    /// CPUs for the threads or processes that send the load, in turn: 1,3 or 0-3
    #[arg(long, value_name = "LIST", value_parser = amounts::cpus)]
    pub(crate) load_cpus: Option<amounts::Cpus>,
    /// Local addresses to connect from, in turn [for `hold` on loopback: as many as are needed]
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,
    /// Do not show the live view
    #[arg(long, alias = "no-tui")]
    pub(crate) no_live: bool,
}

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args)]
pub(crate) struct CalibrateFlags {
    /// Load dyno's own server, and report how fast and how punctual dyno is on this machine. Kept in -o FILE.json
    /// [$XDG_DATA_HOME/dyno/calibration.json, else under ~/.local/share]
    #[arg(long, conflicts_with_all = OF_A_LOAD)]
    pub(crate) calibrate: bool,
    /// With --calibrate: take 8 seconds only; less certain
    #[arg(long, requires = "calibrate")]
    pub(crate) quick: bool,
}

/// What has no meaning with it.
const OF_A_LOAD: [&str; 30] = [
    "url",
    "connections",
    "rate",
    "arrivals",
    "sessions",
    "duration",
    "total",
    "threads",
    "same_body",
    "header_command",
    "warmup",
    "unix",
    "connect_to",
    "method",
    "header",
    "body",
    "timeout",
    "http2",
    "requests",
    "workload",
    "har",
    "curl",
    "load_on",
    "stream",
    "openmetrics",
    "require",
    "keep",
    "rounds",
    "like",
    "why",
];

/// A body; curl, and `--expect-body`, take `@FILE` for the file.
fn body(text: &str) -> Result<String, String> {
    match text.strip_prefix('@') {
        Some(file) => Err(format!(
            "`@{file}` is not sent: a file is --body-file {file}, and a text that begins with @ is sent from a file, too"
        )),
        None => Ok(text.into()),
    }
}

/// A method; h2load's -m is a number of streams.
fn method(text: &str) -> Result<String, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match is_number {
        true => Err(format!("-m is the method, as POST; for streams write --streams {text}")),
        false => Ok(text.into()),
    }
}

impl FromFlags {
    /// Refuses flags that are about this machine, where the load comes from others.
    pub(crate) fn refuse_local(&self) -> Result<(), Refusal> {
        let cpus = self.load_cpus.as_ref().map(|_| "--load-cpus");
        match cpus.or((!self.source.is_empty()).then_some("--source")) {
            None => Ok(()),
            Some(flag) => Err(Refusal::new(format!(
                "{flag} is about this machine, but with --load-on the load comes from other machines; leave it out \
                 (CPUs are named with the host: ssh:desk2:cpus=0-3)"
            ))),
        }
    }
}

impl LoadFlags {
    /// The files that are read, the store and the history, with their flags: no result may be written over one.
    pub(crate) fn files_read(&self) -> Vec<(&'static str, &Path)> {
        let times = match &self.arriving.arrivals {
            Some(schedule::Spacing::File(path)) => Some(path.as_path()),
            Some(_) | None => None,
        };
        let body = self.asking.body_file.as_deref();
        let store = self.keeping.store.named();
        let others = [("--arrivals", times), ("--body-file", body), ("--store", store)];
        let all = others.into_iter().chain(self.from.files());
        let all = all.filter_map(|(flag, path)| Some((flag, path?)));
        all.chain(self.keeping.history.named()).collect()
    }
}

impl AskingFlags {
    /// Whether nothing is said of the request or of its answer.
    pub(crate) fn is_usual(&self) -> bool {
        let request = self.method.is_none() && self.body.is_none() && self.body_file.is_none();
        let answer = self.expect_status.is_none() && self.expect_body.is_none();
        request && answer && self.header.is_empty() && self.expect_header.is_empty()
    }
}

const AFTER_HELP: &str = "\
Placeholders: {seq} is the request's number, {random:8} is 8 random characters out of 0-9a-z, the same ones everywhere \
in one request. They work in the URL, in -H, -b, --expect-body and --expect-header, and in the corresponding parts of \
--requests and --curl; never in files that these name.

Several requests (--requests, --workload): what a line leaves out comes from the URL and the flags. Requests are \
numbered as they begin, whichever connection or session sends them, and threads take numbers in turn. In order, request 0 \
is the first line, and after the last line the first one follows. So -n N with N lines sends each line once; with -t 1 \
the lines begin in their order, and with -t 1 -c 1 each is answered before the next is sent.

Loads: closed (-c) by default: each connection, or with --http2 each of its --streams, sends its next request when it \
is answered. Open (-r): requests arrive on a schedule, whatever the server does. Sessions (--sessions): sessions begin \
on a schedule; each is a connection that sends --calls requests and closes.

Examples:
  # closed: 50 connections for 10 s
  dyno load localhost:8080/hello
  # open: 2,000 requests/s, however slow the server is
  dyno load localhost:8080/hello -r 2000 -d 30s
  # open: a ramp from 100 to 5,000 requests/s
  dyno load localhost:8080/hello -r 100..5000 -d 60s
  # sessions: 200 connections/s, each sends ten requests and closes
  dyno load localhost:8080/hello --sessions 200 --calls 10 -n 5000
  # HTTP/2 within TLS, ten requests at once on each of four connections
  dyno load https://localhost:8443/hello --ca ca.pem --http2 -c 4 --streams 10
  # five loads, with intervals, kept for `dyno report` and `dyno compare`
  dyno load localhost:8080/hello --rounds 5 --keep
  # appended to a history, whose changes `dyno trend` finds
  dyno load localhost:8080/hello --rounds 5 --history perf/history.jsonl
  # for a script that reads wrk's output
  dyno load -t2 -c50 -d10s --latency --like wrk localhost:8080/hello
  # open: requests at the times of a log, twice as fast
  dyno load localhost:8080/hello --arrivals access.log --speed 2
  # exit code 1 if the server is slower than this, 2 if that is not known
  dyno load localhost:8080/hello -r 2000 -d 30s --require 'p99<50ms' --require 'on-time>=99%'
  # 20,000 requests/s from two other machines; nothing has to be installed there
  dyno load http://10.0.0.5:8080/hello -r 20k -d 30s --load-on ssh:desk2,desk3
  # each answer must have the random value of its own request
  dyno load localhost:8080/echo -b '{random:8}' --expect-body '{random:8}'
  # the requests of a file, {\"path\": \"/hello\", \"weight\": 9} on a line, in the order of their weights
  dyno load localhost:8080 --requests requests.jsonl
  # what a browser recorded: sent to a server here, or written to a file for --requests
  dyno load localhost:8080 --har shop.har
  dyno load --har shop.har --write-requests requests.jsonl
  # the request of a curl command
  dyno load --curl 'curl http://localhost:8080/user -d name=dyno'
  # how fast, and how punctual, dyno itself is on this machine
  dyno load --calibrate

Exit codes:
  0    at most --max-failures of the requests, or sessions, failed, and every --require was met
  1    more of them failed, an answer was wrong, or a --require was not met
  2    could not tell: no server was reached, the load was refused or is invalid, or a --require
       could not be decided
  130  interrupted; what was measured until then is reported";
