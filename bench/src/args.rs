//! The command line: the benchmark itself, and the hidden parts that it starts as processes.

use clap::{Parser, Subcommand};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Measures dyno against its peers: ratios from alternating runs, medians, requests counted at
/// the server.
#[derive(Parser)]
#[command(name = "bench", args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) bench: BenchArgs,
    #[command(subcommand)]
    pub(crate) part: Option<Part>,
}

/// What the benchmark itself takes.
#[derive(clap::Args)]
pub(crate) struct BenchArgs {
    /// The dyno program [default: beside this one].
    #[arg(long)]
    pub(crate) dyno: Option<PathBuf>,
    /// Sections to measure, by letter [default: all].
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Generators to measure beside dyno and the floors, by name [default: all there are].
    #[arg(long, value_delimiter = ',')]
    pub(crate) peers: Option<Vec<String>>,
    /// Alternating rounds [default: 5, with --quick 3].
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// Seconds of a closed-loop run [default: 3, with --quick 1].
    #[arg(long)]
    pub(crate) seconds: Option<u32>,
    /// Fewer and shorter runs: for a look, not for a claim.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also write the tables as Markdown to this file; with --only, in place of those sections that it has.
    #[arg(long)]
    pub(crate) markdown: Option<PathBuf>,
    /// Also write the figures about dyno itself, with the build's hash, into this README; not with --quick.
    #[arg(long)]
    pub(crate) readme: Option<PathBuf>,
    /// First install the peers that ordinary package clients have.
    #[arg(long)]
    pub(crate) install: bool,
    /// Where installed peers are kept [default: ~/.cache/dyno-bench].
    #[arg(long)]
    pub(crate) cache: Option<PathBuf>,
}

/// The processes the benchmark is made of.
#[derive(Subcommand)]
pub(crate) enum Part {
    /// The least a closed-loop client can do.
    #[command(hide = true)]
    Floor {
        #[command(flatten)]
        load: FloorLoad,
        /// A connection for every request.
        #[arg(long)]
        fresh: bool,
    },
    /// The least a client of HTTP/2 can do, in a closed loop.
    #[command(hide = true)]
    FloorH2 {
        #[command(flatten)]
        load: FloorLoad,
        /// Requests at once on each connection.
        #[arg(long, default_value_t = 100)]
        streams: u32,
    },
    /// The least an open-loop client can do, at a constant rate.
    #[command(hide = true)]
    FloorOpen {
        #[command(flatten)]
        load: FloorLoad,
        #[arg(long, default_value_t = 1000)]
        rate: u32,
    },
    /// A server with one answer.
    #[command(hide = true)]
    Canned {
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        /// Steps of arithmetic for each request, about a nanosecond each: a server that has something to do.
        #[arg(long, default_value_t = 0)]
        work: u64,
    },
    /// Runs one command and writes what it used.
    #[command(hide = true)]
    Measure(MeasureArgs),
}

/// Whom a floor loads, on how many connections, and for how long.
#[derive(clap::Args)]
pub(crate) struct FloorLoad {
    pub(crate) address: SocketAddr,
    #[arg(long, default_value_t = 50)]
    pub(crate) connections: usize,
    #[arg(long, default_value_t = 3)]
    pub(crate) seconds: u32,
}

/// One measured command.
#[derive(clap::Args)]
pub(crate) struct MeasureArgs {
    /// Where the figures are written, as JSON.
    #[arg(long)]
    pub(crate) report: PathBuf,
    /// The CPU it is bound to.
    #[arg(long)]
    pub(crate) cpu: usize,
    /// After so many seconds it is killed.
    #[arg(long)]
    pub(crate) limit: u32,
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<String>,
}
