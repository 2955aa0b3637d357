//! Load by this process for servers elsewhere: it is the only agent of the load.

use std::net::SocketAddr;

use load::{Halt, HoldOrder, Order, Parts, Recording, Share, Target};
use machine::limits::Machine;
use post::Host;

use crate::identity::{host_name, own_host};
use crate::loads::{AgentFacts, Held, LoadEvent, Loads, LoadsError, Pressed};
use crate::own_threads::OwnThreads;
use crate::serve::orders::raise_files;
use crate::serve::work::press;

/// What is known of this machine that shapes a load, and stays as it is.
const KNOWN: [&str; 3] = ["cpu.model", "cpu.online", "kernel"];

/// This machine, with CPUs for its lanes.
#[derive(Clone, Debug)]
pub struct SoleAgent {
    cpus: Vec<usize>,
    /// Whether they were named: then an order has no others.
    are_named: bool,
}

fn known() -> Vec<(String, String)> {
    let facts = machine::facts::read().into_iter();
    let known = facts.filter(|fact| KNOWN.contains(&fact.name.as_str()));
    known.map(|fact| (fact.name, fact.value)).collect()
}

/// Facts of this machine, from which a load comes, for the record of a run that is elsewhere.
#[must_use]
pub fn load_host_facts() -> Vec<(String, String)> {
    let known = known().into_iter().map(|(name, value)| (format!("load.host.{name}"), value));
    [("load.host".into(), host_name())].into_iter().chain(known).collect()
}

impl SoleAgent {
    /// On these CPUs; none: on all that this process may use.
    pub fn new(cpus: Vec<usize>) -> Result<SoleAgent, String> {
        let there = Machine::read().cpus;
        match cpus.iter().find(|cpu| !there.contains(cpu)) {
            Some(cpu) => Err(format!("this process may use no CPU {cpu}, only {there:?}")),
            None if cpus.is_empty() => Ok(SoleAgent { cpus: there, are_named: false }),
            None => Ok(SoleAgent { cpus, are_named: true }),
        }
    }

    /// How many lanes an order has here, and their CPUs: those that the order names, if none were named before.
    fn placed(&self, lanes: usize, ordered: &[usize]) -> (usize, Vec<usize>) {
        let cpus = match ordered {
            [_, ..] if !self.are_named => ordered,
            _ => &self.cpus,
        };
        let lanes = lanes.min(cpus.len()).max(1);
        (lanes, cpus.iter().copied().take(lanes).collect())
    }

    fn facts(&self, lanes: usize) -> AgentFacts {
        let host = Host { cpus: self.cpus.clone(), facts: known(), ..own_host(None) };
        let files = host.files;
        let (name, has_our_clock) = (host.name.clone(), true);
        AgentFacts { name, host, has_our_clock, lanes, of: lanes, files, ..AgentFacts::default() }
    }
}

fn address(target: &Target) -> Result<SocketAddr, LoadsError> {
    match target {
        Target::Tcp(address) => Ok(*address),
        Target::Unix(_) => Err(LoadsError::Refused("servers elsewhere have addresses".into())),
    }
}

impl Loads for SoleAgent {
    fn lanes(&self) -> Option<usize> {
        Some(self.cpus.len())
    }

    fn press(
        &mut self,
        order: &Order,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Pressed, LoadsError> {
        address(&order.target)?;
        raise_files(order.load.connections_max() as u64).map_err(LoadsError::Refused)?;
        let (lanes, cpus) = self.placed(order.lanes, &order.cpus);
        let order =
            Order { share: Some(Share { first: 0, of: lanes }), lanes, cpus, ..order.clone() };
        let (part, beside) = press(&order, halt, &mut |glance| watch(LoadEvent::Glance(glance)))?;
        let saw = part.summary();
        let mut parts = Parts::new(&order);
        parts.add(part).map_err(LoadsError::Refused)?;
        let recording = parts.into_recording();
        let measured = recording.as_ref().map_or(0, Recording::measured);
        let saw = Some(saw.of_measured(measured));
        let agent = AgentFacts { saw, beside, ..self.facts(lanes) };
        Ok(Pressed { recording, agents: vec![agent], lost: Vec::new() })
    }

    fn hold(
        &mut self,
        order: &HoldOrder,
        _targets: &[Target],
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
    ) -> Result<Held, LoadsError> {
        address(&order.target)?;
        raise_files(order.ramp.connections as u64).map_err(LoadsError::Refused)?;
        let (lanes, cpus) = self.placed(order.lanes, &order.cpus);
        let share = Share { first: 0, of: lanes };
        let order = HoldOrder { share, lanes, cpus, ..order.clone() };
        let held = OwnThreads.hold(&order, &[], halt, watch)?;
        Ok(Held { agents: vec![self.facts(lanes)], ..held })
    }
}
