//! From flags to an order: parsed, checked against the machine, refused before anything starts.

pub(crate) mod changes;
pub(crate) mod conditions;
pub(crate) mod feed;
pub(crate) mod flags;
pub(crate) mod http2;
pub(crate) mod keeping;
pub(crate) mod protocol;
mod requested;
pub(crate) mod requirement;
mod same_body;
pub(crate) mod schedule;
mod spread;
pub(crate) mod tls;
pub(crate) mod workload;

use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use lab::amounts;
use load::{Load, Order, Target};
use requests::secret::{self, Secret};
use requests::url::{Endpoint, Url};
use requests::{Requested, reach, usual_method};
use wire::Limits;

use crate::shell::Refusal;
use flags::{AskingFlags, LoadFlags};
use machine::limits::Machine;
use machine::ports::Ports;
use report::load::RequestSummary;

/// An order, and how to describe it.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) order: Order,
    pub(crate) url: Url,
    pub(crate) asked: RequestSummary,
    /// Warnings to print before the start.
    pub(crate) warnings: Vec<String>,
    /// The soft limit of open files that this needs, if it must be raised.
    pub(crate) files: Option<u64>,
    /// What must not be shown of the request.
    pub(crate) secrets: Vec<Secret>,
}

impl Plan {
    /// The plan of the load with this number, from 0: what is random differs from load to load.
    pub(crate) fn nth(&self, number: u32) -> Plan {
        let mut plan = self.clone();
        plan.order.seed = plan.order.seed.wrapping_add(u64::from(number));
        if plan.order.asks.are_varied() {
            plan.order.asks = plan.order.asks.varied(plan.order.seed);
        }
        plan
    }
}

/// Windows of a tenth of a second.
const WINDOW: Duration = Duration::from_millis(100);

/// Turns flags into an order, or says which flag is wrong and what to do. Once all else is right, `lanes_at` is asked
/// how many lanes there are for this target, where they are not threads of this process.
pub(crate) fn plan(
    flags: &LoadFlags,
    machine: &Machine,
    lanes_at: &mut dyn FnMut(&Target) -> Result<Option<usize>, Refusal>,
) -> Result<Option<Plan>, Refusal> {
    let arriving = &*spread::arriving(flags, requested::stated_rate(flags));
    let files_for = machine.files.connections_max().saturating_mul(spread::agents(flags));
    let (listed, of_times) = schedule::listed(flags)?.unzip();
    let stop = schedule::stop(flags, listed.as_ref())?;
    let load = match listed {
        Some(listed) => schedule::open_load(arriving, listed, files_for)?,
        None => schedule::load(arriving, schedule::span(flags), files_for)?,
    };
    schedule::check_warmup(&load, flags.warmup)?;
    requirement::check(&flags.required.require, &load)?;
    let cpus = cpus_of("--load-cpus", flags.sent_from.load_cpus.as_ref(), machine)?;
    let mut lanes = lanes(flags, machine, &load)?;
    let spec = requested::spec(flags);
    let base = spec.base()?;
    let url = base.given.url.clone();
    let files = match &flags.sent_from.load_on {
        None => machine.files.raised_for(load.connections_max() as u64).map_err(Refusal::new)?,
        // Each agent sees for itself.
        Some(_) => None,
    };
    let target = target(flags, &url)?;
    check_sources(&flags.sent_from.source, &target)?;
    spread::check(flags, &target)?;
    let keep_alive = !flags.asking.no_keepalive;
    let ports =
        campaign::ports_for(&load, stop, keep_alive, &flags.sent_from.source, &target, machine);
    let limits = Limits { lenient: flags.lenient, ..Limits::default() };
    let (protocol, spread) = flags.http2.protocol(limits, &load, keep_alive)?;
    let tls = flags.tls.of_load(&base, &protocol)?;
    if flags.sent_from.load_on.is_some() {
        let Some(there) = lanes_at(&target)? else { return Ok(None) };
        lanes = flags.threads.map_or(there.min(load.connections_max()), |lanes| lanes as usize);
    }
    // Last of all: a command that hands out a token is not run for a load that is refused.
    let fields = secret::values(&flags.header_command)?;
    let Requested { asks, source, notes, is_varied } = base.requested(lanes, &fields)?;
    let asks = match flags.same_body {
        true => same_body::of_first_answers(asks, &target, tls.as_ref(), flags.asking.timeout)?,
        false => asks,
    };
    let is_varied = is_varied || flags.asking.varying.vary;
    let asks = if is_varied { asks.varied(flags.asking.seed) } else { asks };
    let asked = RequestSummary {
        source,
        url: url.shown(),
        address: report::load::order_text::address(&target),
        status: conditions::status(flags.asking.expect_status),
        expects: conditions::expected(&flags.asking, flags.same_body),
    };
    let order = Order {
        server_cpus: target.is_here().then_some(machine.cpus.len() as u64),
        sources: match &ports {
            // They are this machine's.
            Ports::Spread(sources) if !spread::is_elsewhere(flags) => sources.clone(),
            Ports::Spread(_) | Ports::Enough | Ports::Short { .. } => {
                flags.sent_from.source.clone()
            }
        },
        target,
        asks,
        tls,
        load,
        stop,
        warmup: flags.warmup,
        timeout: flags.asking.timeout,
        on_time_within: flags.on_time,
        protocol,
        spread,
        keep_alive,
        lanes,
        share: None,
        origin: None,
        cpus,
        spin: flags.spin,
        limits,
        seed: flags.asking.seed,
        window: WINDOW,
    };
    let secrets = fields.into_iter().map(|(_, value)| value).collect();
    let of_ports = if spread::is_elsewhere(flags) { None } else { conditions::of_ports(&ports) };
    let warnings = notes.into_iter().chain(of_times.flatten()).chain(of_ports);
    let warnings = warnings.chain(spread::notes(flags, &order)).collect();
    Ok(Some(Plan { order, url, asked, warnings, files, secrets }))
}

pub(crate) fn method(flags: &AskingFlags) -> String {
    let has_body = flags.body.is_some() || flags.body_file.is_some();
    flags.method.clone().unwrap_or_else(|| usual_method(has_body).into())
}

/// The CPUs that a flag names; refused if one does not exist.
pub(crate) fn cpus_of(
    flag: &str,
    given: Option<&amounts::Cpus>,
    machine: &Machine,
) -> Result<Vec<usize>, Refusal> {
    let amounts::Cpus(cpus) = given.cloned().unwrap_or_default();
    match cpus.iter().find(|cpu| !machine.cpus.contains(cpu)) {
        None => Ok(cpus),
        Some(cpu) => Err(Refusal::new(format!(
            "{flag}: there is no CPU {cpu} for this process; it may use {}",
            report::load::order_text::list(&machine.cpus)
        ))),
    }
}

/// Half of the CPUs: the other half is for the server, if it runs here.
fn lanes(flags: &LoadFlags, machine: &Machine, load: &Load) -> Result<usize, Refusal> {
    let usual = match &flags.sent_from.load_cpus {
        Some(amounts::Cpus(cpus)) => cpus.len(),
        None => (machine.cpus.len() / 2).max(1),
    };
    let most = load.connections_max();
    match flags.threads {
        None => Ok(usual.min(most)),
        Some(lanes) if 1_024 < lanes => {
            Err(Refusal::new("--threads: at most 1,024; one per CPU is usually enough"))
        }
        Some(lanes) if most < lanes as usize => Err(Refusal::new(format!(
            "--threads {lanes} is more than the {most} connections, and threads without a connection would be idle; \
             lower --threads or raise --connections"
        ))),
        Some(lanes) => Ok(lanes as usize),
    }
}

fn target(flags: &LoadFlags, url: &Url) -> Result<Target, Refusal> {
    let may_be_public = flags.asking.owner.i_may_load_this_target;
    if let Some((host, port)) = &flags.connect_to {
        return match url.endpoint {
            Endpoint::Host(..) => reach::find(host, *port, may_be_public).map(Target::Tcp),
            Endpoint::Unix(_) => Err(Refusal::new(
                "--connect-to: the URL names a Unix socket; write http://host/path for what the request says",
            )),
        };
    }
    match (&flags.unix, &url.endpoint) {
        (Some(path), _) | (None, Endpoint::Unix(path)) => match path.as_os_str().len() {
            // sockaddr_un has 108 bytes, the last one a NUL.
            1..=107 => Ok(Target::Unix(path.clone())),
            _ => Err(Refusal::new("--unix: a socket's path has 1 to 107 bytes; use a shorter one")),
        },
        (None, Endpoint::Host(host, port)) => {
            reach::find(host, *port, may_be_public).map(Target::Tcp)
        }
    }
}

/// Each can reach the target, and is of this machine.
pub(crate) fn check_sources(sources: &[IpAddr], target: &Target) -> Result<(), Refusal> {
    let Target::Tcp(target) = target else {
        return match sources {
            [] => Ok(()),
            _ => Err(Refusal::new("--source: a Unix socket has no source address; leave it out")),
        };
    };
    for source in sources {
        if source.is_ipv4() != target.is_ipv4() {
            return Err(Refusal::new(format!(
                "--source {source} and the target {target} are not of one family; give both as \
                 IPv4 or both as IPv6"
            )));
        }
        // A datagram socket: the TCP ports may all be in TIME_WAIT.
        if let Err(error) = UdpSocket::bind((*source, 0)) {
            return Err(Refusal::new(format!(
                "--source {source} is not an address of this machine ({error}); `ip address` lists them"
            )));
        }
    }
    Ok(())
}
