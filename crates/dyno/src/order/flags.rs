//! The flags of `dyno load`. The habits of wrk and oha users work.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use lab::amounts;
use load::Rate;
use wire::StatusRule;

use super::url::Url;
use super::{answer, schedule, url};

/// `dyno load`
#[derive(Args)]
#[command(
    after_help = "Holes: {seq} is the request's number, {random:8} so many characters out of \
0-9a-z, the same ones in every hole of a request. They are filled in the URL, in -H, in -b, in \
--expect-body and in --expect-header; never in files.\n\
\n\
Loads: closed (-c) by default: each connection asks again when it is answered. Open (-r): requests \
arrive on a schedule, whatever the server does. Sessions (--sessions): connections arrive on a \
schedule, and each makes its --calls and closes."
)]
pub(crate) struct LoadFlags {
    /// http://host:port/path, host:port/path or unix:/path/to.sock:/path
    #[arg(value_parser = url::parse)]
    pub(crate) url: Url,

    /// Connections; of an open load, opened before the start and the most there may be [50]
    #[arg(short, long, value_name = "N", value_parser = amounts::connections)]
    pub(crate) connections: Option<usize>,
    /// For how long, as 500ms, 10s, 2m; 10s if -n is not given either
    #[arg(short, short_alias = 'z', long, value_name = "TIME", value_parser = amounts::time)]
    pub(crate) duration: Option<Duration>,
    /// So many requests, the warm-up's not counted; with --sessions, so many sessions
    #[arg(short = 'n', long, value_name = "N", value_parser = amounts::count)]
    pub(crate) requests: Option<u64>,
    /// Requests a second: 1000, 20k, 0.5; a ramp 100..5000; steps 1000:5s,2000:5s
    #[arg(short, short_aliases = ['q', 'R'], long, value_name = "RATE")]
    #[arg(value_parser = schedule::shape, conflicts_with = "sessions")]
    pub(crate) rate: Option<schedule::Shape>,
    /// How the requests of a rate are spaced [constant]
    #[arg(long, value_name = "LAW")]
    pub(crate) arrivals: Option<Law>,
    /// Sessions a second: connections that make their --calls and close
    #[arg(long, value_name = "RATE", value_parser = schedule::rate)]
    pub(crate) sessions: Option<Rate>,
    /// Requests of each session [10]
    #[arg(long, value_name = "N", value_parser = amounts::count, requires = "sessions")]
    pub(crate) calls: Option<u64>,
    /// With -r or --sessions, the pool grows up to this [-c, else what files allow up to 10,000]
    #[arg(long, value_name = "N", value_parser = amounts::connections)]
    pub(crate) max_connections: Option<usize>,
    /// Threads that send the load [half of the CPUs, at least 1]
    #[arg(short = 't', long, visible_alias = "threads", value_name = "N")]
    #[arg(value_parser = amounts::count)]
    pub(crate) lanes: Option<u64>,
    /// CPUs for the lanes, in turn: 1,3 or 0-3
    #[arg(long, value_name = "LIST", value_parser = amounts::cpus)]
    pub(crate) cpus: Option<amounts::Cpus>,

    /// Method [GET; POST if there is a body]
    #[arg(short, long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// A header field, 'Name: value'; may be given again
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = answer::field)]
    pub(crate) header: Vec<(String, String)>,
    /// A body
    #[arg(short, long, value_name = "TEXT", conflicts_with = "body_file")]
    #[arg(allow_hyphen_values = true)]
    pub(crate) body: Option<String>,
    /// A body from a file, byte by byte
    #[arg(short = 'B', long, value_name = "FILE")]
    pub(crate) body_file: Option<PathBuf>,
    /// Speak HTTP/1.0
    #[arg(long = "http1.0")]
    pub(crate) http_1_0: bool,
    /// One request a connection
    #[arg(long, alias = "disable-keepalive", conflicts_with = "sessions")]
    pub(crate) no_keepalive: bool,
    /// Accept what old servers do: bare LF, folded fields, both lengths
    #[arg(long)]
    pub(crate) lenient: bool,

    /// The right status, or any [2xx]
    #[arg(long, value_name = "STATUS", value_parser = answer::status)]
    pub(crate) expect_status: Option<StatusRule>,
    /// The right body: TEXT (with holes), @FILE, length:N or sha256:HEX
    #[arg(long, value_name = "BODY", allow_hyphen_values = true)]
    pub(crate) expect_body: Option<String>,
    /// A field that must come back; may be given again
    #[arg(long, value_name = "FIELD", value_parser = answer::field)]
    pub(crate) expect_header: Vec<(String, String)>,

    /// An exchange that is not done so long after its intended start has failed
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "5s")]
    pub(crate) timeout: Duration,
    /// A request of a schedule is on time if it is answered correctly this long after it was due [--timeout]
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    pub(crate) on_time: Option<Duration>,
    /// Load before the measured time, not counted
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none, default_value = "0")]
    pub(crate) warmup: Duration,
    /// Local addresses to connect from, in turn
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    pub(crate) source: Vec<IpAddr>,
    /// Connect to this Unix socket; the URL gives Host and path
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Whether to poll before sleeping
    #[arg(long, value_name = "WHEN", default_value = "adaptive")]
    pub(crate) spin: SpinWhen,
    /// Where all chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Exit with 1 if more than so many percent of the attempts failed
    #[arg(long, value_name = "PERCENT", value_parser = amounts::percent, default_value = "1")]
    pub(crate) max_failures: f64,
    /// The owner of this address, which is neither this machine nor a private network, agrees to be loaded
    #[arg(long)]
    pub(crate) i_may_load_this_target: bool,

    /// The results as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// The results as JSON in a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// No live view
    #[arg(long, alias = "no-tui")]
    pub(crate) no_live: bool,
    /// wrk's; latencies are always shown
    #[arg(long, hide = true)]
    pub(crate) latency: bool,
}

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Law {
    /// Evenly
    Constant,
    /// Independently of one another
    Poisson,
}

/// When to poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpinWhen {
    /// As long as it has lately paid
    Adaptive,
    /// Always sleep
    Never,
    /// Never sleep
    Always,
}
