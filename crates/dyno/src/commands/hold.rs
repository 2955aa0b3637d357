//! `dyno hold`: opens connections in steps, keeps them open, reads what arrives, and says what broke.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use agents::{Held, LoadEvent, Loads, Place};
use analysis::Verdict;
use campaign::holding::{Available, Required, Resources};
use clap::Args;
use lab::amounts;
use lab::hold::usual_per_second;
use load::{Halt, HoldOrder, HoldWhat, Loss, Plateau, Ramp, Sends, Target};
use machine::sockets::listeners;
use report::hold::{FinishedHold, second, title};
use report::verdict::ExplainedVerdict;
use requests::reach::find;
use requests::url::{Endpoint, Url, parse_with_socket};
use units::{count, duration};
use wire::{Ask, AskError, Cut, Expect, Request, socket_ask};

use crate::interrupt::halt_on_interrupt;
use crate::load_agents;
use crate::order::flags::{FromFlags, OwnerFlag};
use crate::order::http2::WithoutHttp2;
use crate::order::tls::TlsFlags;
use crate::order::{check_sources, cpus_of};
use crate::results::{OF_FIGURES, ResultFlags};
use crate::shell::{ExitStatus, Found, Refusal, print, status};
use ::tls::Client;
use machine::limits::{self, Machine};
use terminal::live::{HoldHeader, HoldView, Style};

/// Hold many connections open: WebSockets, event streams, answers that do not end
///
/// http://… requests an answer that does not end, ws://… opens a WebSocket; https:// and wss:// do so with TLS. With
/// several addresses, connections are spread over them.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct HoldFlags {
    /// What to hold: http[s]://HOST:PORT/PATH or ws[s]://HOST:PORT/PATH
    #[arg(required = true, value_parser = address)]
    urls: Vec<Address>,
    /// Connections to hold after the last step
    #[arg(short, long, value_name = "N", value_parser = amounts::connections, default_value = "1000")]
    connections: usize,
    /// Connections that each step adds [default: all at once]
    #[arg(long, value_name = "N", value_parser = amounts::connections)]
    step: Option<usize>,
    /// Time from one step to the next
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "10s")]
    every: Duration,
    /// New connections each second [default: at least 100, and so many that a step opens within a third of its time]
    #[arg(long, value_name = "N", value_parser = amounts::count)]
    rate: Option<u64>,
    /// Time between a step's last new connection and its measured part
    #[arg(long, value_name = "TIME", value_parser = amounts::time_or_none, default_value = "1s")]
    settle: Duration,
    /// Expected time between two messages on a connection [default: not known; time stamps in messages are read anyway]
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    interval: Option<Duration>,
    /// A connection that receives nothing for this long is silent [default: three intervals, or 5s]
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    silence: Option<Duration>,
    /// The answer is a text/event-stream, and its events are the messages
    #[arg(long)]
    events: bool,
    /// Send a text on this many connections each second, and wait until it comes back
    #[arg(long, value_name = "RATE", value_parser = amounts::count, conflicts_with = "broadcast")]
    echo: Option<u64>,
    /// The text that is sent
    #[arg(long, value_name = "TEXT", default_value = "Hello, world!")]
    text: String,
    /// Send a text on one connection this often; every connection must receive it
    #[arg(long, value_name = "TIME", value_parser = amounts::time)]
    broadcast: Option<Duration>,
    /// A connection that is not open after this time has failed, and so has a text that has not come back
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "5s")]
    timeout: Duration,
    /// Do not begin failed and lost connections again
    #[arg(long)]
    no_reopen: bool,
    /// A further header field; may be given again
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = requests::answer::field)]
    header: Vec<(String, String)>,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Print the files, ports and memory that it takes, and open nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten, next_help_heading = "HTTP/2 and TLS")]
    http2: WithoutHttp2,
    #[command(flatten)]
    tls: TlsFlags,
    #[command(flatten, next_help_heading = "Where they are held")]
    sent_from: FromFlags,
    #[command(flatten)]
    owner: OwnerFlag,
    #[command(flatten)]
    results: ResultFlags<OF_FIGURES>,
}

const AFTER_HELP: &str = "\
Examples:
  # 10,000 WebSockets in steps of 1,000, with a message each second
  dyno hold ws://localhost:8080/feed -c 10000 --step 1000 --interval 1s
  # 500 event streams
  dyno hold http://localhost:8080/events --events -c 500
  # 40,000 WebSockets, held by two other machines
  dyno hold ws://10.0.0.5:8080/feed -c 40000 --load-on ssh:desk2,desk3
  # what 100,000 connections take on this machine; nothing is opened
  dyno hold ws://localhost:8080/feed -c 100000 --dry-run

Exit codes:
  0    all connections were held
  1    some failed, were lost or fell silent
  2    could not tell, or it is invalid: an agent that held some of them was lost
  130  interrupted; what was seen until then is reported";
/// The names of the sum's items take so many columns.
const SUM_INDENT: usize = 9;

/// An address at which connections are held.
#[derive(Clone, Debug)]
struct Address {
    url: Url,
    is_socket: bool,
}

fn address(text: &str) -> Result<Address, String> {
    let (url, is_socket) = parse_with_socket(text)?;
    Ok(Address { url, is_socket })
}

pub(crate) fn run(flags: &HoldFlags) -> Result<ExitStatus, Refusal> {
    flags.http2.check()?;
    flags.results.check(&[])?;
    flags.results.to_the_end(|| hold(flags))
}

fn hold(flags: &HoldFlags) -> Result<ExitStatus, Refusal> {
    let machine = Machine::read();
    let cpus = cpus_of("--load-cpus", flags.sent_from.load_cpus.as_ref(), &machine)?;
    let (what, tls, ramp) = (what(flags)?, tls(flags)?, ramp(flags)?);
    let addresses = addresses(flags)?;
    let target = Target::Tcp(*addresses.first().ok_or_else(no_address)?);
    let order = HoldOrder { tls, ..order(flags, HoldOrder::new(target, what, ramp)) };
    let halt = halt_on_interrupt()?;
    if !flags.dry_run {
        super::load::notice_other_dynos();
    }
    machine::resident::release();
    let held = match &flags.sent_from.load_on {
        Some(place) if !place.is_local() => {
            flags.sent_from.refuse_local()?;
            if flags.dry_run {
                return Err(Refusal::new(
                    "--dry-run adds up what this machine needs; with --load-on, other machines need it",
                ));
            }
            if flags.broadcast.is_some() && place.count() != Some(1) {
                return Err(Refusal::new(
                    "--broadcast measures from one connection to all others, and several machines have several clocks: \
                     name one host, or local:N",
                ));
            }
            load_agents::warn_of_loopback(&addresses);
            held(flags, order, &halt, place, (&[], &[]), &addresses)?
        }
        _ => {
            let resources = resources(flags, order.ramp.per_second, &addresses, &machine)?;
            if flags.dry_run {
                return print(&(resources.sum.join("\n") + "\n"));
            }
            terminal::notice_text(&resources.sum.join("\n"), SUM_INDENT);
            let place = Place::Local(resources.parts as usize);
            held(flags, order, &halt, &place, (&resources.sources, &cpus), &addresses)?
        }
    };
    let Some(held) = held else { return Ok(ExitStatus::Interrupted) };
    flags.results.deliver(&held, false)?;
    Ok(answer(&held))
}

/// What it takes, and whether this machine has it.
fn resources(
    flags: &HoldFlags,
    per_second: f64,
    addresses: &[SocketAddr],
    machine: &Machine,
) -> Result<Resources, Refusal> {
    for address in addresses {
        check_sources(&flags.sent_from.source, &Target::Tcp(*address))?;
    }
    let is_loopback = addresses.iter().all(|address| address.ip().is_loopback());
    let required = Required {
        connections: flags.connections as u64,
        targets: addresses.len() as u64,
        is_loopback,
        has_addresses: is_loopback && addresses.iter().all(SocketAddr::is_ipv4),
        sources: flags.sent_from.source.clone(),
        parts: match flags.sent_from.load_on {
            Some(Place::Local(parts)) => Some(parts as u64),
            _ => None,
        },
        per_second,
    };
    let available = Available {
        files: machine.files.hard,
        files_of_all: limits::files_left(),
        ports: machine.ports.per_source,
        memory: limits::memory_available(),
        tracked: limits::tracked_left(),
        backlog: if is_loopback { backlog(addresses) } else { None },
    };
    Resources::weigh(&required, available)
}

/// Has agents hold until the end of the ramp, or until Ctrl-C. None: interrupted before that began.
fn held(
    flags: &HoldFlags,
    mut order: HoldOrder,
    halt: &Halt,
    place: &Place,
    (sources, cpus): (&[IpAddr], &[usize]),
    addresses: &[SocketAddr],
) -> Result<Option<FinishedHold>, Refusal> {
    let style = if flags.sent_from.no_live { Style::Nothing } else { Style::usual() };
    let targets: Vec<Target> = addresses.iter().copied().map(Target::Tcp).collect();
    order.sources = sources.to_vec();
    // A server on another machine than its agent has another clock; dyno's own texts come back to where they were sent.
    let is_beside = place.is_local() || addresses.iter().all(|address| address.ip().is_loopback());
    order.reads_stamps = is_beside || flags.broadcast.is_some();
    let Some(mut group) = load_agents::meet(place, addresses, halt)? else { return Ok(None) };
    order.lanes = Loads::lanes(&group).unwrap_or(1).min(order.ramp.connections);
    order.cpus = cpus.to_vec();
    let held = {
        let mut view = HoldView::open(style, live_header(&order));
        let watch = &mut |event: LoadEvent<'_>| match event {
            LoadEvent::Glance(_) => {}
            LoadEvent::Second(window) => view.watch(window, || second(window)),
            LoadEvent::Agents(agents) => view.watch_agents(agents),
            LoadEvent::Lost(lost) => view.notice(&lost.to_string()),
        };
        // The view gives the terminal back before anything is reported.
        load_agents::uninterrupted(group.hold(&order, &targets, halt, watch))?
    };
    let Some(Held { holding, agents, lost }) = held else { return Ok(None) };
    let Some(holding) = holding else {
        let all: Vec<String> = lost.iter().map(ToString::to_string).collect();
        return Err(Refusal::new(format!("nothing was measured: {}", all.join("\n"))));
    };
    Ok(Some(FinishedHold {
        verdict: ExplainedVerdict::of_held(&holding, order.lanes as u64, &lost),
        addresses: addresses.iter().map(ToString::to_string).collect(),
        agents,
        headers: flags.header.clone(),
        order,
        holding,
        lost,
    }))
}

fn live_header(order: &HoldOrder) -> HoldHeader {
    let ramp = order.ramp;
    let every = duration(ramp.every);
    let steps = match ramp.step < ramp.connections {
        true => format!("{} more every {every}", count(ramp.step as u64)),
        false => format!("in one step of {every}"),
    };
    let per_second = count(ramp.per_second.ceil() as u64);
    HoldHeader {
        title: title(order),
        steps: format!("{steps}, begun at {per_second} a second"),
        length: ramp.end(),
        connections: ramp.connections as u64,
    }
}

fn answer(held: &FinishedHold) -> ExitStatus {
    let plateaus = &held.holding.plateaus;
    let gone = |plateau: &Plateau| plateau.failed_in_all() + plateau.lost_in_all();
    let own = |plateau: &Plateau| {
        let own = Loss::ALL.into_iter().enumerate().filter(|(_, loss)| loss.is_own());
        own.map(|(place, _)| plateau.failed[place] + plateau.lost[place]).sum::<u64>()
    };
    let is_kept =
        |plateau: &Plateau| gone(plateau) == own(plateau) && plateau.silent + plateau.opening == 0;
    // Where not one was ever opened, it is not known what the server would have held.
    let is_opened = plateaus.iter().any(|plateau| 0 < plateau.opened);
    status(Found {
        is_interrupted: held.holding.was_halted,
        has_failed: is_opened && !plateaus.iter().all(is_kept),
        is_unknown: !is_opened
            || held.verdict.word == Some(Verdict::Invalid)
            || plateaus.iter().any(|plateau| 0 < own(plateau)),
    })
}

/// The order with what the flags say of its messages.
fn order(flags: &HoldFlags, order: HoldOrder) -> HoldOrder {
    HoldOrder {
        beat: flags.interval,
        silence: silence(flags),
        sends: match (flags.echo, flags.broadcast) {
            (Some(rate), _) => {
                let text = flags.text.clone().into_bytes();
                Some(Sends::Echo { text, per_second: rate as f64 })
            }
            (None, Some(every)) => Some(Sends::Broadcast { every }),
            (None, None) => None,
        },
        timeout: flags.timeout,
        reopen: !flags.no_reopen,
        seed: flags.seed,
        ..order
    }
}

/// How long a connection may receive nothing. No text that is broadcast comes between two that are far apart.
fn silence(flags: &HoldFlags) -> Duration {
    const USUAL: Duration = Duration::from_secs(5);
    let by_interval = flags.interval.map(|beat| beat * 3);
    let usual = by_interval.or(flags.broadcast.map(|every| USUAL.max(every * 3)));
    flags.silence.or(usual).unwrap_or(USUAL)
}

fn no_address() -> Refusal {
    Refusal::new("name an address")
}

/// How connections are added: a step must leave time to measure.
fn ramp(flags: &HoldFlags) -> Result<Ramp, Refusal> {
    let HoldFlags { connections, every, settle, .. } = *flags;
    let step = flags.step.unwrap_or(connections).min(connections);
    let usual = || usual_per_second(step, every).into();
    let per_second = flags.rate.map_or_else(usual, |rate| rate as f64);
    let ramp = Ramp { connections, step, every, per_second, settle };
    match ramp.leaves_time() {
        true => Ok(ramp),
        false => Err(Refusal::new(format!(
            "a step of {step} at {per_second:.0} connections a second leaves no time to measure: make --every longer, \
             --step or --settle smaller, or --rate larger"
        ))),
    }
}

/// A server's certificate must be for the name in the URL, so there is one name.
fn tls(flags: &HoldFlags) -> Result<Option<Client>, Refusal> {
    let first = flags.urls.first().ok_or_else(no_address)?;
    flags.tls.refuse_without(&flags.urls.iter().map(|held| &held.url).collect::<Vec<_>>())?;
    let client = flags.tls.client(&first.url)?;
    let host = |held: &Address| match &held.url.endpoint {
        Endpoint::Host(host, _) => Some(host.clone()),
        Endpoint::Unix(_) => None,
    };
    if client.is_some() && flags.urls.iter().any(|held| host(held) != host(first)) {
        return Err(Refusal::new(
            "with TLS the addresses must have the same host name, that of the certificate, and may differ only in \
             their ports",
        ));
    }
    Ok(client)
}

/// What a connection holds: all addresses are of one kind, and have one path.
fn what(flags: &HoldFlags) -> Result<HoldWhat, Refusal> {
    let first = flags.urls.first().ok_or_else(no_address)?;
    let scheme = |held: &Address| (held.is_socket, held.url.is_secure);
    let alike =
        |held: &Address| scheme(held) == scheme(first) && held.url.target == first.url.target;
    if !flags.urls.iter().all(alike) {
        return Err(Refusal::new(
            "the addresses may differ only in host and port: one path, and all http://, https://, ws:// or wss://",
        ));
    }
    let refused = |error: AskError| Refusal::new(error.to_string());
    let Url { host_field: host, target, .. } = &first.url;
    let sends = flags.echo.is_some() || flags.broadcast.is_some();
    let cut = match (first.is_socket, flags.events) {
        (true, true) => return Err(Refusal::new("--events is for http://, not for ws://")),
        (true, false) => {
            let ask = socket_ask(host, target, &flags.header).map_err(refused)?;
            return Ok(HoldWhat::Socket { ask });
        }
        (false, _) if sends => {
            return Err(Refusal::new("--echo and --broadcast take a WebSocket: ws://…"));
        }
        (false, true) => Cut::Event,
        (false, false) => Cut::Chunk,
    };
    let request = Request { headers: flags.header.clone(), ..Request::get(host, target) };
    Ok(HoldWhat::Stream { ask: Ask::new(&request, Expect::default()).map_err(refused)?, cut })
}

fn addresses(flags: &HoldFlags) -> Result<Vec<SocketAddr>, Refusal> {
    let no_tcp = || Refusal::new("connections are held over TCP, not over a Unix socket");
    let address = |held: &Address| match &held.url.endpoint {
        Endpoint::Host(host, port) => find(host, *port, flags.owner.i_may_load_this_target),
        Endpoint::Unix(_) => Err(no_tcp()),
    };
    flags.urls.iter().map(address).collect()
}

/// The shortest queue among the servers at these addresses.
fn backlog(addresses: &[SocketAddr]) -> Option<u32> {
    let found = addresses.iter().filter_map(|address| listeners(address.port()).ok()).flatten();
    found.filter_map(|listener| listener.backlog).min()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        flags: HoldFlags,
    }

    #[test]
    fn a_connection_is_not_silent_between_two_broadcasts() {
        let after = |flags: &str| {
            let line = format!("hold ws://localhost:1/ {flags}");
            silence(&Line::parse_from(line.split_whitespace()).flags).as_millis()
        };
        assert_eq!(after(""), 5_000);
        assert_eq!(after("--broadcast 10s"), 30_000);
        assert_eq!(after("--broadcast 50ms"), 5_000);
        assert_eq!(after("--interval 1s"), 3_000);
        assert_eq!(after("--broadcast 10s --silence 2s"), 2_000);
    }
}
