//! `--load-on` of the commands that start servers: the servers run here, and agents carry the loads out.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use agents::{Afar, Loads, Place, Wish};
use campaign::{Campaign, Generators, Meet, RunResources};
use clap::Args;
use lab::subject::Serving;
use load::Halt;

use crate::afar::own_program;
use crate::shell::Refusal;

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args)]
pub(crate) struct GeneratorFlags {
    /// Where the load comes from, while the servers run here: local:N (processes of this machine), ssh:HOST,HOST (other
    /// machines), slurm (the other nodes of this job), or nats://HOST/LAB?agents=NAME,NAME
    #[arg(long, value_name = "PLACE", value_parser = named)]
    load_on: Option<Named>,
    /// With --load-on: the address of this machine on which servers listen, and which the agents reach
    #[arg(long, value_name = "ADDRESS", requires = "load_on")]
    listen_on: Option<IpAddr>,
}

/// A place, and how it was written.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    place: Place,
}

fn named(text: &str) -> Result<Named, String> {
    Ok(Named { name: text.into(), place: Place::parse(text)? })
}

impl GeneratorFlags {
    pub(crate) fn is_given(&self) -> bool {
        self.load_on.is_some()
    }

    /// The resources of a run whose loads these agents carry out, if there are any. None: interrupted.
    pub(crate) fn given_to(
        &self,
        campaign: &Campaign,
        resources: RunResources,
        halt: &Halt,
    ) -> Result<Option<RunResources>, Refusal> {
        let Some(Named { name, place }) = &self.load_on else { return Ok(Some(resources)) };
        if campaign.experiment.conditions.isolate {
            return Err(Refusal::new(
                "a server in a network of its own is reached by no agent: leave `isolate` out, or --load-on",
            ));
        }
        let address = self.address(place)?;
        let targets = targets(campaign, address);
        let (program, place) = (own_program()?, place.clone());
        let meet: Meet = Box::new(move |halt| {
            let wish =
                Wish { place: &place, program: program.clone(), targets: &targets, goes_on: false };
            Ok(Box::new(Afar::meet(&wish, halt)?) as Box<dyn Loads + Send>)
        });
        let generators = Generators::meet(name.clone(), address, meet, halt)?;
        Ok(generators.map(|generators| resources.with(generators)))
    }

    /// Agents on other machines do not reach this machine's loopback.
    fn address(&self, place: &Place) -> Result<IpAddr, Refusal> {
        let here = IpAddr::from(Ipv4Addr::LOCALHOST);
        match self.listen_on {
            None if place.is_local() => Ok(here),
            None => Err(Refusal::new(
                "the servers run here, and agents on other machines must reach them: say on which address of this \
                 machine, with --listen-on ADDRESS (`ip address` lists them)",
            )),
            Some(address) if address.is_loopback() && !place.is_local() => Err(Refusal::new(
                format!("--listen-on {address}: no other machine reaches this machine's loopback"),
            )),
            Some(address) => match std::net::TcpListener::bind((address, 0)) {
                Ok(_) => Ok(address),
                Err(error) => Err(Refusal::new(format!(
                    "--listen-on {address}: no server can listen there: {error}"
                ))),
            },
        }
    }
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
    targets.push(SocketAddr::new(address, 0));
    targets.sort_unstable();
    targets.dedup();
    targets
}
