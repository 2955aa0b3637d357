//! `--load-on` of the commands that start servers: the servers run here, and agents carry the loads out.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use agents::servers::{ServersOn, SoleAgent, machine_name};
use agents::{AgentGroup, Loads, Place, Wish};
use campaign::{Campaign, Generators, Meet, RunResources};
use clap::Args;
use lab::subject::Serving;
use load::Halt;
use serde::{Deserialize, Serialize};
use units::counted;

use crate::load_agents::own_program;
use crate::shell::Refusal;

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Serialize, Deserialize)]
pub(crate) struct GeneratorFlags {
    /// Where the load comes from: local:N (processes of this machine), ssh:HOST,HOST (other machines), slurm (the other
    /// nodes of this job), or nats://HOST/LAB?agents=NAME,NAME&keys=FILE
    #[arg(long, value_name = "PLACE", value_parser = named)]
    load_on: Option<Named>,
    /// The address on which the servers listen, if other machines load them: an address of the machine on which they run,
    /// without a port
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen_on: Option<IpAddr>,
}

/// A place, and how it was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct Named {
    name: String,
    place: Place,
}

impl TryFrom<String> for Named {
    type Error = String;

    fn try_from(text: String) -> Result<Named, String> {
        named(&text)
    }
}

impl From<Named> for String {
    fn from(named: Named) -> String {
        named.name
    }
}

fn named(text: &str) -> Result<Named, String> {
    Ok(Named { name: text.into(), place: Place::parse(text)? })
}

fn address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| {
        format!("`{text}` is not an address; give one without a port, such as 10.0.0.5")
    })
}

impl GeneratorFlags {
    pub(crate) fn is_given(&self) -> bool {
        self.load_on.is_some()
    }

    /// The place, as it was written.
    pub(crate) fn load_on(&self) -> Option<&str> {
        self.load_on.as_ref().map(|it| it.name.as_str())
    }

    /// The resources of a run whose loads these agents carry out, if there are any. None: interrupted.
    pub(crate) fn given_to(
        &self,
        campaign: &Campaign,
        resources: RunResources,
        halt: &Halt,
    ) -> Result<Option<RunResources>, Refusal> {
        let Some(Named { name, place }) = &self.load_on else {
            return match self.listen_on {
                None => Ok(Some(resources)),
                Some(_) => Err(Refusal::new(
                    "--listen-on is for servers that are loaded from other machines: give --load-on, too",
                )),
            };
        };
        if campaign.experiment.why.is_some() {
            return Err(Refusal::new(
                "servers are sampled only where this dyno loads them itself: leave --why (or `[why]`) out, or --load-on",
            ));
        }
        if campaign.experiment.conditions.isolate {
            return Err(Refusal::new(
                "no agent can reach a server in a network of its own: leave `isolate` out, or --load-on",
            ));
        }
        let address = match starts_servers(campaign) {
            true => self.address(place)?,
            false => IpAddr::from(Ipv4Addr::LOCALHOST),
        };
        let targets = targets(campaign, address);
        let meet = meets(place.clone(), targets)?;
        let generators = Generators::meet(name.clone(), address, meet, halt)?;
        if let Some(generators) = &generators {
            are_enough(campaign, generators.agents.count())?;
        }
        Ok(generators.map(|generators| resources.with(generators)))
    }

    /// The address of servers on another host, which was reached by this one.
    pub(crate) fn address_on(
        &self,
        on: &ServersOn,
        reached_by: Option<IpAddr>,
    ) -> Result<IpAddr, Refusal> {
        let is_local = on.is_local() && self.load_on.as_ref().is_none_or(|it| it.place.is_local());
        let here = Some(IpAddr::from(Ipv4Addr::LOCALHOST)).filter(|_| on.is_local());
        let is_one = |address: IpAddr| !address.is_loopback() && !address.is_unspecified();
        match self.listen_on.or(reached_by).or(here) {
            Some(address) if is_one(address) || is_local => Ok(address),
            Some(address) => Err(Refusal::new(format!(
                "{}: no other machine can reach servers that listen on {address}: name another address of that \
                 host with --listen-on ADDRESS",
                on.name()
            ))),
            None => Err(Refusal::new(format!(
                "{}: it does not say by which address it was reached: name one on which servers can listen, with \
                 --listen-on ADDRESS",
                on.name()
            ))),
        }
    }

    /// What loads servers at an address elsewhere, with its name: the agents, or this machine with these CPUs.
    pub(crate) fn for_servers_at(
        &self,
        address: IpAddr,
        cpus: Vec<usize>,
    ) -> Result<(String, Meet), Refusal> {
        let Some(Named { name, place }) = &self.load_on else {
            let agent = SoleAgent::new(cpus).map_err(Refusal::new)?;
            let meet: Meet = Box::new(move |_| Ok(Box::new(agent.clone())));
            return Ok((machine_name(), meet));
        };
        if !cpus.is_empty() {
            return Err(Refusal::new(
                "--load-cpus names CPUs of this machine, but with --load-on the load comes from other machines; \
                 leave one out (CPUs \
                 are named with the host: ssh:desk2:cpus=0-3)",
            ));
        }
        Ok((name.clone(), meets(place.clone(), vec![SocketAddr::new(address, 0)])?))
    }

    /// Agents on other machines do not reach this machine's loopback.
    fn address(&self, place: &Place) -> Result<IpAddr, Refusal> {
        let here = IpAddr::from(Ipv4Addr::LOCALHOST);
        match self.listen_on {
            None if place.is_local() => Ok(here),
            None => Err(Refusal::new(
                "servers are started here (a ceiling is one, too), and agents on other machines must reach them: say \
                 on which address of this machine, with --listen-on ADDRESS (`ip address` lists them)",
            )),
            Some(address) if address.is_loopback() && !place.is_local() => Err(Refusal::new(
                format!("--listen-on {address}: no other machine reaches this machine's loopback"),
            )),
            Some(address) => Ok(can_listen(SocketAddr::new(address, 0))?.ip()),
        }
    }
}

/// The address of --listen-on, if servers of this machine can listen there.
pub(crate) fn can_listen(address: SocketAddr) -> Result<SocketAddr, Refusal> {
    let host = address.ip();
    TcpListener::bind(address).map(|_| address).map_err(|error| {
        Refusal::new(format!("--listen-on {host}: no server can listen there: {error}"))
    })
}

/// Meets the agents of a place, which are to load these targets; a trial is over when one is lost.
fn meets(place: Place, targets: Vec<SocketAddr>) -> Result<Meet, Refusal> {
    let program = own_program()?;
    Ok(Box::new(move |halt| {
        let wish =
            Wish { place: &place, program: program.clone(), targets: &targets, goes_on: false };
        Ok(Box::new(AgentGroup::meet(&wish, halt)?) as Box<dyn Loads + Send>)
    }))
}

/// Each agent has a connection of its own at least.
fn are_enough(campaign: &Campaign, agents: usize) -> Result<(), Refusal> {
    let experiment = &campaign.experiment;
    let connections = |&point| experiment.load(point).connections_max();
    match experiment.points.iter().map(connections).min() {
        Some(fewest) if fewest < agents => Err(Refusal::new(format!(
            "{} cannot be shared by {agents} agents, because each needs one of its own: give more connections, or \
             fewer agents",
            counted(fewest as u64, "connection", "connections")
        ))),
        Some(_) | None => Ok(()),
    }
}

/// Whether there are servers that do not run already.
fn starts_servers(campaign: &Campaign) -> bool {
    let mut served = campaign.members.iter().filter_map(|member| member.subject.as_ref().ok());
    served.any(|subject| !matches!(subject.serving, Serving::Found(_)))
}

/// What the agents are to load: servers that run already where they are, and all others on any port of that address.
fn targets(campaign: &Campaign, address: IpAddr) -> Vec<SocketAddr> {
    let served = campaign.members.iter().filter_map(|member| member.subject.as_ref().ok());
    let mut targets: Vec<SocketAddr> = served
        .filter_map(|subject| match &subject.serving {
            Serving::Found(site) => Some(site.address),
            Serving::ByUrl(_) | Serving::Built(_) | Serving::Own(..) => None,
        })
        .collect();
    if starts_servers(campaign) {
        targets.push(SocketAddr::new(address, 0));
    }
    targets.sort_unstable();
    targets.dedup();
    targets
}
