//! `dyno serve`: the oracle as a server, and at its end the truth about its delays and answers.

mod protocols;
mod queue;
mod truth;

use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use clap::Args;
use lab::amounts;
use oracle::{
    Burns, Config, Dataset, Delay, Fault, Files, Listen, Oracle, Reply, Root, Stall, StartError,
};
use requests::file;

use crate::interrupt::on_interrupt;
use crate::order::cpus_of;
use crate::shell::{ExitStatus, Refusal, print};
use machine::limits::Machine;
use protocols::ProtocolFlags;
use queue::QueueFlags;

/// `dyno serve`
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeFlags {
    /// Where to listen: ADDRESS:PORT, port 0 for any, or unix:PATH
    #[arg(long, value_name = "ADDR", value_parser = listen, default_value = "127.0.0.1:8080")]
    listen: Listen,
    /// Threads [one for each CPU]
    #[arg(short, long, value_name = "N", value_parser = amounts::count)]
    threads: Option<u64>,
    /// CPUs for the threads, in turn: 1,3 or 0-3
    #[arg(long, value_name = "LIST", value_parser = amounts::cpus)]
    cpus: Option<amounts::Cpus>,
    /// The distribution of its delays: constant:5ms, uniform:1ms,9ms, exponential:5ms, lognormal:2ms,0.5 or
    /// bimodal:1ms,100ms,0.05
    #[arg(long, value_name = "DISTRIBUTION")]
    delay: Option<Delay>,
    #[command(flatten)]
    queue: QueueFlags,
    /// How late its messages are: a distribution, as for --delay
    #[arg(long, value_name = "DISTRIBUTION")]
    late: Option<Delay>,
    /// Freeze for a while, again and again: 1s/5s is one second in every five
    #[arg(long, value_name = "TIME/TIME")]
    stall: Option<Stall>,
    /// Misbehave in this way; --list-faults lists the ways
    #[arg(long, value_name = "NAME")]
    fault: Option<Fault>,
    /// The share of the requests, or of the connections, that have the fault
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "1")]
    fault_rate: f64,
    /// List the faults and stop
    #[arg(long)]
    list_faults: bool,
    /// Burn CPU time for each answer in functions of these names: parse:8us,render:4us; parse:5ms/1000 is for one answer
    /// in 1,000. There are parse, render, collect, route, encode, decode, hash and sort
    #[arg(long, value_name = "NAME:TIME,...")]
    burn: Option<Burns>,
    /// Make so many system calls (getppid) more for each answer
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    calls: u32,
    /// Send each answer's true delay in the header field x-oracle-delay-ns
    #[arg(long)]
    tell_delay: bool,
    /// What GET / answers: empty, hello or xml-error
    #[arg(long, value_name = "ANSWER", value_parser = root, default_value = "empty")]
    root: Root,
    /// Answer every request with what is in this file: an HTTP/1.1 head, an empty line, the body
    #[arg(long, value_name = "FILE")]
    reply: Option<PathBuf>,
    /// The items that /json/N lists: a JSON array of objects with a price and a quantity
    #[arg(long, value_name = "FILE")]
    dataset: Option<PathBuf>,
    /// The folder whose files are at /static/
    #[arg(long, value_name = "FOLDER")]
    files: Option<PathBuf>,
    /// The seed of all random numbers [1; with --service, each process has its own]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Connections that may wait to be accepted
    #[arg(long, value_name = "N", default_value_t = 4096)]
    backlog: u32,
    #[command(flatten)]
    protocols: ProtocolFlags,
    /// Write what it did as JSON at the end
    #[arg(long)]
    json: bool,
    /// End when standard input ends: with the program that started it
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

const AFTER_HELP: &str = "\
A single request may ask for its own delay or fault: /hello?delay=uniform:1ms,9ms, /hello?fault=cut-body; so may one \
for messages: /poll/1?late=constant:5ms, /poll/1?beats=9 (then it ends), /poll/1?stops=9 (then it is silent).

It answers /hello, / (see --root), /?value=X as XML, /user/ID, POST /user, /poll/N with a chunk every N seconds; \
WebSockets at /wspoll/N (the same), /wsecho and /wsroom (what one connection sends, all receive). It answers /delay/N \
after N milliseconds, /header with the value of X-Request-Id, /json/N?m=M with N items of --dataset, POST /sum with the \
sum of {\"values\":[1,2]}, POST /echo with what was sent, and /static/NAME with a file of --files, compressed, in part \
or 304 as the request wants.

With --service a request waits in one queue, as at a counter: all connections and threads share it, and it is served \
in the order of arrival. Waiting burns no CPU. A request whose client has gone away is served all the same. A request's \
own ?delay= is then its service time. All service stands still in the freezes of --stall.

One port speaks HTTP/1.1 and, to a client that begins with it, HTTP/2; within TLS the client chooses by ALPN. Delays, \
freezes and faults whose name begins with h2- belong to one stream, or to one connection where a fault says so.

Examples:
  # delays with a long tail, around 2 ms
  dyno serve --delay lognormal:2ms,0.5
  # frozen for one second in every five
  dyno serve --stall 1s/5s
  # a server that holds 1,539.5 requests a second with p99 <= 10 ms, by theory (M/M/1)
  dyno serve --service exponential:500us
  # four servers behind one queue, of which all stand still for one second in every 20
  dyno serve --servers 4 --service lognormal:1ms,0.5 --stall 1s/20s
  # a hard limit: 1,000 a second, and 50 at once; 503 for all others
  dyno serve --rate-limit 1000,50
  # a server that never recovers once a request has waited for 100 ms: four times slower
  dyno serve --service exponential:500us --collapse 100ms,4
  # processes up to 5 % faster or slower than the distribution says, each for its whole life
  dyno serve --service exponential:500us --lottery 5%
  # a server that cuts off one body in twenty
  dyno serve --fault cut-body --fault-rate 0.05
  # HTTP/1.1 and HTTP/2 within TLS, and what curl --cacert needs to trust it
  dyno serve --listen 127.0.0.1:8443 --tls --ca-out ca.pem
  # HTTP/2 whose connections end in peace after ten requests
  dyno serve --http 2 --fault h2-goaway-10

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
        "it is not an address with a port; write 127.0.0.1:8080, [::1]:8080 or unix:/path"
            .to_string()
    })?;
    Ok(Listen::Tcp(address))
}

fn root(text: &str) -> Result<Root, String> {
    let unknown =
        || format!("`{text}` is nothing that / answers; choose empty, hello or xml-error");
    Root::named(text).ok_or_else(unknown)
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
    let oracle = Oracle::start(config).map_err(|error| refused(&error, flags))?;
    flags.protocols.write_authority(&oracle)?;
    print(&format!("listening on {}\n", shown(oracle.address(), flags.protocols.is_secured())))?;
    warn_if_reachable(oracle.address());
    let _ = ended.recv();
    flags.protocols.write_streams(&oracle)?;
    let truth = oracle.stop();
    print(&if flags.json { truth::json(&truth) } else { truth::text(&truth) })
}

fn config(flags: &ServeFlags) -> Result<Config, Refusal> {
    let cpus = cpus_of("--cpus", flags.cpus.as_ref(), &Machine::read())?;
    let threads = flags.threads.unwrap_or(0);
    if 1_024 < threads {
        return Err(Refusal::new("--threads: at most 1,024; one per CPU is usually enough"));
    }
    let mut config = Config {
        listen: flags.listen.clone(),
        threads: threads as usize,
        cpus,
        delay: flags.delay,
        queue: flags.queue.queue(flags.seed),
        rate_limit: flags.queue.rate_limit,
        late: flags.late,
        stall: flags.stall,
        fault: flags.fault,
        fault_rate: flags.fault_rate,
        burns: flags.burn.clone().unwrap_or_default(),
        calls: flags.calls,
        tell_delay: flags.tell_delay,
        root: flags.root,
        reply: flags.reply.as_deref().map(reply).transpose()?,
        dataset: flags.dataset.as_deref().map(dataset).transpose()?,
        files: flags.files.as_deref().map(files).transpose()?,
        seed: flags.seed.unwrap_or(1),
        backlog: flags.backlog,
        ..Config::default()
    };
    flags.protocols.apply(&mut config)?;
    Ok(config)
}

fn refused(error: &StartError, flags: &ServeFlags) -> Refusal {
    match error {
        StartError::Queue(error) => queue::refused(error),
        StartError::Tls(error) => flags.protocols.refused(error),
        StartError::Unspoken(fault) => {
            let way_out = match fault.protocol() {
                oracle::Protocol::Tls => "add --tls",
                oracle::Protocol::Http2 => "leave --http 1.1 out",
                oracle::Protocol::Http1 | oracle::Protocol::WebSocket => "leave --http 2 out",
            };
            Refusal::new(format!("--fault {fault}: no client would meet it; {way_out}"))
        }
        error => Refusal::new(format!("--listen: {error}")),
    }
}

fn reply(path: &Path) -> Result<Arc<Reply>, Refusal> {
    let bytes = file::bytes("--reply", path)?;
    let reply = Reply::parse(&bytes);
    let refused = |says| Refusal::new(format!("--reply {}: {says}", path.display()));
    reply.map(Arc::new).map_err(refused)
}

fn dataset(path: &Path) -> Result<Arc<Dataset>, Refusal> {
    let dataset = Dataset::parse(&file::bytes("--dataset", path)?);
    let refused = |says| Refusal::new(format!("--dataset {}: {says}", path.display()));
    dataset.map(Arc::new).map_err(refused)
}

/// The plain files in a folder.
fn files(folder: &Path) -> Result<Arc<Files>, Refusal> {
    let refused = |error| Refusal::new(format!("--files {}: {error}", folder.display()));
    read_files(folder).map(|files| Arc::new(Files::of(files))).map_err(refused)
}

fn read_files(folder: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, std::fs::read(entry.path())?));
        }
    }
    Ok(files)
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

fn shown(address: &Listen, is_secured: bool) -> String {
    match address {
        Listen::Tcp(address) if is_secured => format!("https://{address}"),
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
