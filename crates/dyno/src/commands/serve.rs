//! `dyno serve`: the oracle as a server, and at its end the truth about its delays and answers.

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use clap::Args;
use hdrhistogram::Histogram;
use lab::amounts;
use oracle::{Config, Delay, Fault, Listen, Oracle, Reply, Root, Stall, Truth};
use report::chart::bars;
use report::json::encoded;
use requests::file;
use serde::Serialize;

use crate::interrupt::on_interrupt;
use crate::order::check_cpus;
use crate::shell::{ExitStatus, Refusal, print};
use machine::limits::Machine;

/// `dyno serve`
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeFlags {
    /// Where to listen: ADDRESS:PORT, port 0 for any, or unix:PATH
    #[arg(long, value_name = "ADDR", value_parser = listen, default_value = "127.0.0.1:8080")]
    listen: Listen,
    /// Threads [one for each CPU]
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    threads: Option<u64>,
    /// CPUs for the threads, in turn: 1,3 or 0-3
    #[arg(long, value_name = "LIST", value_parser = amounts::cpus)]
    cpus: Option<amounts::Cpus>,
    /// The law of its delays: constant:5ms, uniform:1ms,9ms, exponential:5ms, lognormal:2ms,0.5 or
    /// bimodal:1ms,100ms,0.05
    #[arg(long, value_name = "LAW")]
    delay: Option<Delay>,
    /// How late its messages are: a law, as for --delay
    #[arg(long, value_name = "LAW")]
    late: Option<Delay>,
    /// Freeze for a while, again and again: 1s/5s is one second in every five
    #[arg(long, value_name = "TIME/TIME")]
    stall: Option<Stall>,
    /// Misbehave in this way; --list-faults lists the ways
    #[arg(long, value_name = "NAME")]
    fault: Option<Fault>,
    /// The share of the requests that have the fault
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "1")]
    fault_rate: f64,
    /// List the faults and stop
    #[arg(long)]
    list_faults: bool,
    /// Send each answer's true delay in the header field x-oracle-delay-ns
    #[arg(long)]
    tell_delay: bool,
    /// What GET / answers: empty, hello or xml-error
    #[arg(long, value_name = "ANSWER", default_value = "empty")]
    root: Root,
    /// Answer every request with what is in this file: an HTTP/1.1 head, an empty line, the body
    #[arg(long, value_name = "FILE")]
    reply: Option<PathBuf>,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Connections that may wait to be accepted
    #[arg(long, value_name = "N", default_value_t = 4096)]
    backlog: u32,
    /// Write what it did as JSON at the end
    #[arg(long)]
    json: bool,
    /// End when standard input ends: with the program that started it
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

const AFTER_HELP: &str = "\
A single request may ask for its own delay or fault: /hello?delay=uniform:1ms,9ms, /hello?fault=cut-body; so may one \
for beats: /poll/1?late=constant:5ms, /poll/1?beats=9 (then it ends), /poll/1?stops=9 (then it is silent).

It answers /hello, / (see --root), /?value=X as XML, /user/ID, POST /user, /poll/N with a chunk every N seconds; \
WebSockets at /wspoll/N (the same), /wsecho and /wsroom (what one connection sends, all receive).

Examples:
  # delays with a long tail, around 2 ms
  dyno serve --delay lognormal:2ms,0.5
  # frozen for one second in every five
  dyno serve --stall 1s/5s
  # a server that cuts off one body in twenty
  dyno serve --fault cut-body --fault-rate 0.05

Exit codes:
  0    it was ended, and has reported what it did
  2    it could not listen, or a flag was refused";

fn listen(text: &str) -> Result<Listen, String> {
    if let Some(path) = text.strip_prefix("unix:") {
        return match path.len() {
            1..=107 => Ok(Listen::Unix(path.into())),
            _ => Err("a socket's path has 1 to 107 bytes".into()),
        };
    }
    let text = text.replace("localhost:", "127.0.0.1:");
    let address: SocketAddr = text.parse().map_err(|_| {
        "it is no address with a port; write 127.0.0.1:8080, [::1]:8080 or unix:/path".to_string()
    })?;
    Ok(Listen::Tcp(address))
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("it is a share from 0 to 1, as 0.05".into()),
    }
}

pub(crate) fn run(flags: &ServeFlags) -> Result<ExitStatus, Refusal> {
    if flags.list_faults {
        return print(&faults());
    }
    let config = config(flags)?;
    let (end, ended) = channel();
    listen_for_the_end(flags, &end)?;
    let oracle =
        Oracle::start(config).map_err(|error| Refusal::new(format!("--listen: {error}")))?;
    print(&format!("listening on {}\n", shown(oracle.address())))?;
    warn_if_reachable(oracle.address());
    let _ = ended.recv();
    let truth = oracle.stop();
    print(&if flags.json { truth_json(&truth) } else { truth_text(&truth) })
}

fn config(flags: &ServeFlags) -> Result<Config, Refusal> {
    let amounts::Cpus(cpus) = flags.cpus.clone().unwrap_or_default();
    check_cpus(&cpus, &Machine::read())?;
    let threads = flags.threads.unwrap_or(0);
    if 1_024 < threads {
        return Err(Refusal::new("--threads: 1,024 are the most; one a CPU is plenty"));
    }
    Ok(Config {
        listen: flags.listen.clone(),
        threads: threads as usize,
        cpus,
        delay: flags.delay,
        late: flags.late,
        stall: flags.stall,
        fault: flags.fault,
        fault_rate: flags.fault_rate,
        tell_delay: flags.tell_delay,
        root: flags.root,
        reply: flags.reply.as_deref().map(reply).transpose()?,
        seed: flags.seed,
        backlog: flags.backlog,
    })
}

fn reply(path: &Path) -> Result<Arc<Reply>, Refusal> {
    let bytes = file::bytes("--reply", path)?;
    let reply = Reply::parse(&bytes);
    let refused = |says| Refusal::new(format!("--reply {}: {says}", path.display()));
    reply.map(Arc::new).map_err(refused)
}

/// Waits for Ctrl-C, or for the end of standard input in a child.
fn listen_for_the_end(flags: &ServeFlags, end: &Sender<()>) -> Result<(), Refusal> {
    let interrupted = end.clone();
    on_interrupt(move || {
        let _ = interrupted.send(());
    })?;
    if flags.until_stdin_ends {
        let orphaned = end.clone();
        thread::spawn(move || {
            let _ = std::io::stdin().read(&mut [0]);
            let _ = orphaned.send(());
        });
    }
    Ok(())
}

fn shown(address: &Listen) -> String {
    match address {
        Listen::Tcp(address) => format!("http://{address}"),
        Listen::Unix(_) => address.to_string(),
    }
}

fn warn_if_reachable(address: &Listen) {
    if let Listen::Tcp(address) = address
        && !address.ip().is_loopback()
    {
        terminal::notice(
            "dyno: note: other machines can reach this; --listen 127.0.0.1:8080 keeps it to this one",
        );
    }
}

fn faults() -> String {
    let width = Fault::all().iter().map(|fault| fault.name.len()).max().unwrap_or(0);
    let line = |fault: &Fault| format!("{:<width$}  {}\n", fault.name, fault.about);
    Fault::all().iter().map(line).collect()
}

#[derive(Serialize)]
struct TruthJson {
    schema: &'static str,
    elapsed_s: f64,
    requests: u64,
    answers: u64,
    faults: u64,
    beats: u64,
    beats_skipped: u64,
    messages: u64,
    spread: u64,
    spread_skipped: u64,
    received_bytes: u64,
    sent_bytes: u64,
    connections: u64,
    connections_peak: u64,
    connections_lost: u64,
    imposed: TimesJson,
    drawn: TimesJson,
    late: TimesJson,
}

#[derive(Serialize)]
struct TimesJson {
    count: u64,
    mean_ns: f64,
    sd_ns: f64,
    min_ns: u64,
    p50_ns: u64,
    p90_ns: u64,
    p99_ns: u64,
    p99_9_ns: u64,
    max_ns: u64,
    /// Base64 of HdrHistogram's V2 format with deflate.
    histogram: Option<String>,
}

/// The table, and the histogram of the served times.
fn truth_text(truth: &Truth) -> String {
    let is_coloured = terminal::stdout_is_coloured();
    let mut text = truth.to_string();
    let bins = bars::lines(&truth.served_ns);
    if !bins.is_empty() {
        text.push_str("\n\nserved, how many answers took how long\n");
    }
    for line in bins {
        text.push_str(line.shown(is_coloured).trim_end());
        text.push('\n');
    }
    text
}

fn truth_json(truth: &Truth) -> String {
    let json = TruthJson {
        schema: "dyno.truth/1",
        elapsed_s: truth.elapsed.as_secs_f64(),
        requests: truth.requests,
        answers: truth.answers,
        faults: truth.faults,
        beats: truth.beats,
        beats_skipped: truth.beats_skipped,
        messages: truth.messages,
        spread: truth.spread,
        spread_skipped: truth.spread_skipped,
        received_bytes: truth.bytes_in,
        sent_bytes: truth.bytes_out,
        connections: truth.connections,
        connections_peak: truth.connections_peak,
        connections_lost: truth.connections_lost,
        imposed: times(&truth.served_ns),
        drawn: times(&truth.drawn_ns),
        late: times(&truth.late_ns),
    };
    serde_json::to_string_pretty(&json).expect("numbers and names are JSON") + "\n"
}

fn times(histogram: &Histogram<u64>) -> TimesJson {
    TimesJson {
        count: histogram.len(),
        mean_ns: histogram.mean(),
        sd_ns: histogram.stdev(),
        min_ns: histogram.min(),
        p50_ns: histogram.value_at_quantile(0.5),
        p90_ns: histogram.value_at_quantile(0.9),
        p99_ns: histogram.value_at_quantile(0.99),
        p99_9_ns: histogram.value_at_quantile(0.999),
        max_ns: histogram.max(),
        histogram: encoded(histogram),
    }
}
