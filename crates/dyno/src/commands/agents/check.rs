//! `dyno agents check`: meets each host for itself, looks at its clock, its limits and its link, and how fast it loads.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::{Duration, Instant};

use agents::{
    AgentGroup, AgentMeeting, Allow, Allowed, LoadEvent, Loads, LoadsError, Place, Pressed, Wish,
};
use clap::Args;
use load::{Halt, Load, Order, Stop, Target};
use machine::limits::Machine;
use report::hosts::{self, HostCeiling, HostKnown, HostRow, Hosts};
use requests::reach;
use requests::url::{self, Endpoint, Url};
use wire::{Ask, Asks, Expect, Request};

use crate::generators::can_listen;
use crate::interrupt::halt_on_interrupt;
use crate::load_agents::own_program;
use crate::order::flags::OwnerFlag;
use crate::own_server::{OwnServer, hello};
use crate::shell::{ExitStatus, Refusal, print};

/// Check for each host whether it can generate load, and how fast
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
#[command(mut_arg("i_may_load_this_target", |flag| flag.requires("target")))]
pub(crate) struct CheckFlags {
    /// Where the hosts are, as --load-on takes it: ssh:HOST,HOST, local:N, slurm, or nats://HOST/LAB?agents=NAME,NAME
    #[arg(value_name = "PLACE", required = true, value_parser = Place::parse)]
    places: Vec<Place>,
    /// Let the hosts load dyno's own server, which listens for a while on this address of this machine
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = listening, conflicts_with = "target")]
    listen_on: Option<SocketAddr>,
    /// Let them load this server instead, each for a second as fast as it goes
    #[arg(long, value_name = "URL", value_parser = plain_url)]
    target: Option<Url>,
    #[command(flatten)]
    owner: OwnerFlag,
    /// Write what was found as JSON to standard output
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Each host is checked separately: one that does not answer, is of another version, or is busy does not stop the check \
of the others. Then each host that can load does so for a second, one after the other: that is its ceiling, of its \
CPUs and of the \
network. An agent that waits at a NATS broker ends with the check, as with any other run: start it again.

Examples:
  dyno agents check ssh:desk2,desk3 --listen-on 10.0.0.5
  dyno agents check local:2
  dyno agents check ssh:desk2 --target http://10.0.0.9:8080/hello --json

Exit codes:
  0    load can come from all of them
  2    it cannot come from one of them, or a flag does not fit
  130  interrupted";

/// How long each host loads.
const LASTS: Duration = Duration::from_secs(1);
const WARMUP: Duration = Duration::from_millis(200);
/// Of each lane: as many as keep it busy.
const CONNECTIONS_EACH: usize = 32;

/// What is loaded.
struct Sight {
    server: Option<OwnServer>,
    threads: usize,
    address: SocketAddr,
    ask: Ask,
    shown: String,
}

fn listening(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse::<SocketAddr>().ok();
    let address = address.or_else(|| Some(SocketAddr::new(text.parse::<IpAddr>().ok()?, 0)));
    match address {
        Some(address) if !address.ip().is_unspecified() => Ok(address),
        Some(_) => Err("name one address of this machine, which the hosts reach".into()),
        None => {
            Err("give an address of this machine, like 10.0.0.5, [fd00::5]:8080 or 10.0.0.5:8080"
                .into())
        }
    }
}

fn plain_url(text: &str) -> Result<Url, String> {
    let url = url::parse(text)?;
    match (&url.endpoint, url.is_secure) {
        (Endpoint::Host(..), false) => Ok(url),
        (Endpoint::Unix(_), _) => Err("no other machine reaches a Unix socket".into()),
        (_, true) => Err("a check loads without TLS; `dyno load` does with it".into()),
    }
}

pub(super) fn run(flags: &CheckFlags) -> Result<ExitStatus, Refusal> {
    let halt = halt_on_interrupt()?;
    let sight = sight(flags)?;
    let targets: Vec<SocketAddr> = sight.iter().map(|sight| sight.address).collect();
    let mut rows = Vec::new();
    let program = own_program()?;
    for place in &flags.places {
        for each in meet(place, &program, &targets, &halt)? {
            if halt.is_asked() {
                break;
            }
            let sight = sight.as_ref().filter(|it| it.is_for(place));
            rows.push(row(each, sight, &targets, &halt));
        }
    }
    if halt.is_asked() {
        terminal::notice("dyno: interrupted; not all hosts were checked");
        return Ok(ExitStatus::Interrupted);
    }
    let found = Hosts::new(sight.map(|sight| sight.shown), rows);
    match flags.json {
        true => print(&found.json()?)?,
        false => print(&hosts::text(&found, terminal::stdout_is_coloured()))?,
    };
    Ok(if found.all_can_load() { ExitStatus::Yes } else { ExitStatus::CouldNotTell })
}

fn meet(
    place: &Place,
    program: &Path,
    targets: &[SocketAddr],
    halt: &Halt,
) -> Result<Vec<AgentMeeting>, Refusal> {
    let wish = Wish { place, program: program.into(), targets, goes_on: true };
    AgentGroup::meet_each(&wish, halt).map_err(Refusal::new)
}

/// What is loaded: the server that was named; dyno's own where it is reached; or nothing.
fn sight(flags: &CheckFlags) -> Result<Option<Sight>, Refusal> {
    if let Some(url) = &flags.target {
        let Endpoint::Host(host, port) = &url.endpoint else { return Ok(None) };
        let address = reach::find(host, *port, flags.owner.i_may_load_this_target)?;
        let ask = Ask::new(&Request::get(&url.host_field, &url.target), Expect::default())?;
        return Ok(Some(Sight { server: None, threads: 0, address, ask, shown: url.shown() }));
    }
    let has_local = flags.places.iter().any(Place::is_local);
    let listens = match flags.listen_on {
        Some(address) => can_listen(address)?,
        None if has_local => (Ipv4Addr::LOCALHOST, 0).into(),
        None => return Ok(None),
    };
    let threads = (Machine::read().cpus.len() / 2).max(1);
    let server = OwnServer::start(listens, threads, None)?;
    let address = server.address;
    let shown = format!("http://{address}/hello");
    let ask = hello(&address.to_string())?;
    Ok(Some(Sight { server: Some(server), threads, address, ask, shown }))
}

impl Sight {
    /// No other machine reaches this machine's loopback.
    fn is_for(&self, place: &Place) -> bool {
        self.server.is_none() || place.is_local() || !self.address.ip().is_loopback()
    }

    /// As fast as all lanes of an agent go.
    fn order(&self, lanes: usize) -> Order {
        let load = Load::Closed { connections: CONNECTIONS_EACH * lanes };
        Order {
            stop: Stop { total: None, duration: Some(LASTS) },
            warmup: WARMUP,
            lanes,
            ..Order::new(Target::Tcp(self.address), Asks::one(self.ask.clone()), load)
        }
    }

    fn server_cpu(&self) -> Option<u64> {
        self.server.as_ref().and_then(OwnServer::cpu_ns)
    }
}

/// What is found out about a host.
fn row(each: AgentMeeting, sight: Option<&Sight>, targets: &[SocketAddr], halt: &Halt) -> HostRow {
    let AgentMeeting { name, met } = each;
    let mut row =
        HostRow { name, can_load: false, says: None, known: None, ceiling: None, no_ceiling: None };
    let mut group = match met {
        Ok(group) => group,
        Err(error) => {
            row.says = Some(without_name(&error, &row.name));
            return row;
        }
    };
    row.can_load = true;
    row.known = group.known().first().map(|facts| HostKnown::of(&given(targets), facts));
    if let Some(sight) = sight {
        measure(&mut row, &mut group, sight, halt);
    }
    row
}

/// The rules that an agent has if its owner has set none: what it is to load, or else its own machine.
fn given(targets: &[SocketAddr]) -> Vec<String> {
    let given = targets.iter().map(|&target| Allowed::only(target));
    let given = if targets.is_empty() { Allow::loopback() } else { Allow::These(given.collect()) };
    given.rules(usize::MAX).unwrap_or_default()
}

/// Has the host load for a while.
fn measure(row: &mut HostRow, group: &mut AgentGroup, sight: &Sight, halt: &Halt) {
    terminal::notice(&format!("dyno: {} loads {}", row.name, sight.shown));
    let order = sight.order(group.lanes().unwrap_or(1));
    let (before, began) = (sight.server_cpu(), Instant::now());
    let pressed = group.press(&order, halt, &mut |_: LoadEvent<'_>| {});
    let busy = sight.server_cpu().zip(before).map(|(after, before)| {
        // The load is under way for most of this time.
        let time = (LASTS + WARMUP).min(began.elapsed()).as_nanos() as f64 * sight.threads as f64;
        (after.saturating_sub(before) as f64 / time).min(1.0)
    });
    match pressed {
        Err(LoadsError::Refused(says)) => {
            row.no_ceiling = Some(without_name(&LoadsError::Refused(says), &row.name));
        }
        Err(error) => {
            (row.can_load, row.says) = (false, Some(without_name(&error, &row.name)));
        }
        Ok(Pressed { recording, agents, lost }) => {
            let link = agents.first().and_then(|agent| agent.beside.link.as_ref());
            match (lost.first(), recording) {
                (Some(lost), _) => (row.can_load, row.says) = (false, Some(lost.how.clone())),
                (None, Some(recording)) if 0 < recording.total.correct => {
                    let connections = order.load.connections_max();
                    row.ceiling = Some(HostCeiling::of(connections, &recording, link, busy));
                }
                (None, _) => {
                    row.can_load = false;
                    row.says = Some(format!(
                        "none of its requests to {} was answered correctly: is there a firewall between them?",
                        sight.shown
                    ));
                }
            }
        }
    }
}

/// The name stands before it already.
fn without_name(error: &LoadsError, name: &str) -> String {
    let says = error.to_string();
    let rest = says.strip_prefix("agent ").and_then(|it| it.split_once(": "));
    match rest {
        Some((named, rest)) if named == name || named.starts_with("local ") => rest.to_string(),
        _ => says,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_to_listen_on_is_one_that_others_reach() {
        assert_eq!(listening("10.0.0.5"), Ok("10.0.0.5:0".parse().unwrap()));
        assert_eq!(listening("[::1]:8080"), Ok("[::1]:8080".parse().unwrap()));
        assert_eq!(listening("fd00::5"), Ok("[fd00::5]:0".parse().unwrap()));
        assert!(listening("0.0.0.0").unwrap_err().contains("one address"));
        assert!(listening("desk").unwrap_err().contains("like 10.0.0.5"));
    }

    #[test]
    fn a_name_is_not_said_twice() {
        let says = |text: &str| without_name(&LoadsError::Refused(text.into()), "desk2");
        assert_eq!(says("agent desk2: it is busy: x"), "it is busy: x");
        assert_eq!(says("agent local 1: it ended"), "it ended");
        assert_eq!(says("no such thing"), "no such thing");
    }
}
