//! How an oracle is to serve: where, how fast, and how badly.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use units::named;

use crate::burn::Burns;
use crate::dataset::Dataset;
use crate::delays::{Delay, Stall};
use crate::faults::Fault;
use crate::files::Files;
use crate::queue::{Queue, RateLimit};
use crate::reply::Reply;
use crate::tls::TlsConfig;

/// How an oracle is to serve.
#[derive(Clone, Debug)]
pub struct Config {
    pub listen: Listen,
    /// How many threads; 0 is one for each of `cpus`, or if there are none, for each CPU that may be used.
    pub threads: usize,
    /// CPUs to pin the threads to, in turn; empty: not pinned.
    pub cpus: Vec<usize>,
    /// The law of the service times of requests that do not name one.
    pub delay: Option<Delay>,
    /// A queue in place of delays: requests wait for servers that all of them share.
    pub queue: Option<Queue>,
    /// What is beyond this rate is answered 503 at once, and neither waits nor has a fault.
    pub rate_limit: Option<RateLimit>,
    /// The law of the lateness of beats whose request does not name one.
    pub late: Option<Delay>,
    /// When everything freezes.
    pub stall: Option<Stall>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// The share of requests that have the fault, or of connections for a fault that affects these. A
    /// fault of the listener itself is always present.
    pub fault_rate: f64,
    /// What is burnt for each answer, but for refusals and 503 beyond the limit of the rate.
    pub burns: Burns,
    /// How many system calls without any use are made for each of them.
    pub calls: u32,
    /// Whether each answer carries `x-oracle-delay-ns`: from reading the request off the socket to writing the answer.
    pub tell_delay: bool,
    /// What a bare `GET /` answers.
    pub root: Root,
    /// What `/json/N` lists.
    pub dataset: Option<Arc<Dataset>>,
    /// What is below `/static/`.
    pub files: Option<Arc<Files>>,
    /// What every request is answered with, in place of all else.
    pub reply: Option<Arc<Reply>>,
    /// The seed of all random choices.
    pub seed: u64,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// Which versions of HTTP are spoken.
    pub http: HttpVersions,
    /// How TLS is spoken; without it, nothing else than bare TCP is.
    pub tls: Option<Arc<TlsConfig>>,
    /// How many streams of HTTP/2 may be open on a connection.
    pub streams: u32,
    /// How much of a request's content may come on a stream of HTTP/2 before more is allowed.
    pub window: u32,
    /// Whether the times of each stream are kept, for `Oracle::streams`.
    pub log_streams: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: Listen::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            threads: 0,
            cpus: Vec::new(),
            delay: None,
            queue: None,
            rate_limit: None,
            late: None,
            stall: None,
            fault: None,
            fault_rate: 1.0,
            burns: Burns::default(),
            calls: 0,
            tell_delay: false,
            root: Root::Empty,
            dataset: None,
            files: None,
            reply: None,
            seed: 0,
            backlog: 4096,
            http: HttpVersions::Both,
            tls: None,
            streams: 250,
            window: 1 << 20,
            log_streams: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// An address, IPv4 or IPv6; port 0 is any free one.
    Tcp(SocketAddr),
    /// A path for a Unix socket.
    Unix(PathBuf),
}

/// Where an oracle listens: as configured, with the real port.
pub type Address = Listen;

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => address.fmt(f),
            Listen::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Which versions of HTTP are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpVersions {
    /// Within TLS as the client chooses; else HTTP/2 to a client that begins with it, and HTTP/1.1 to all others.
    #[default]
    Both,
    Http1,
    Http2,
}

named! {
    /// What a bare `GET /` answers.
    #[derive(Default)]
    pub enum Root {
        /// 200 without content.
        #[default]
        Empty = "empty",
        /// `Hello, world!`
        Hello = "hello",
        /// The XML error of the echo tests.
        XmlError = "xml-error",
    }
}
