//! Load by this process for servers elsewhere: it is the only agent of the load.

use std::net::SocketAddr;

use load::{Halt, HoldOrder, Order, Share, Target};
use machine::limits::Machine;
use post::{CoordinatorEvent, Host, Live, Measured, Task, decode_measured};

use crate::afar::results::{LoadEnd, LoadResults};
use crate::carrier::Named;
use crate::identity::{VERSION, host_name};
use crate::loads::{AgentFacts, Held, HoldEvent, LoadEvent, Loads, LoadsError, Pressed};
use crate::now_ns;
use crate::serve::orders::raise_files;
use crate::serve::work::carry_out;

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
        let host = Host {
            name: host_name(),
            dyno: VERSION.into(),
            cpus: self.cpus.clone(),
            files: Machine::read().files.hard,
            facts: known(),
            ..Host::default()
        };
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
        let share = Some(Share { first: 0, of: lanes });
        let order = Order { share, lanes, cpus, ..order.clone() };
        let mut facts = self.facts(lanes);
        let names = [Named { name: facts.name.clone(), cpus: Vec::new() }];
        let mut results = LoadResults::new(&order, &names, vec![(0, lanes)]);
        let task = Task::Load(Box::new(order));
        let done = carry_out(task, now_ns(), halt, &mut |window| {
            if let Live::Load(window) = window
                && let Some(CoordinatorEvent::Halt) = results.window(0, *window, watch)
            {
                halt.ask();
            }
        });
        results.result(&names, 0, &done.map_err(LoadsError::Refused)?, watch);
        let LoadEnd { recording, saw, lost } = results.end();
        if let Some((saw, beside)) = saw.into_iter().flatten().next() {
            (facts.saw, facts.beside) = (Some(saw), beside);
        }
        Ok(Pressed { recording, agents: vec![facts], lost })
    }

    fn hold(
        &mut self,
        order: &HoldOrder,
        _targets: &[Target],
        halt: &Halt,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) -> Result<Held, LoadsError> {
        address(&order.target)?;
        raise_files(order.ramp.connections as u64).map_err(LoadsError::Refused)?;
        let (lanes, cpus) = self.placed(order.lanes, &order.cpus);
        let share = Share { first: 0, of: lanes };
        let order = HoldOrder { lanes, share, cpus, ..order.clone() };
        let task = Task::Hold(Box::new(order));
        let done = carry_out(task, now_ns(), halt, &mut |window| {
            if let Live::Hold(window) = window {
                watch(HoldEvent::Second(&window));
            }
        });
        let refused = |says: &dyn std::fmt::Display| LoadsError::Refused(says.to_string());
        match decode_measured(&done.map_err(LoadsError::Refused)?) {
            Ok(Measured::Hold(holding)) => {
                let agents = vec![self.facts(lanes)];
                Ok(Held { holding: Some(*holding), agents, lost: Vec::new() })
            }
            Ok(Measured::Load(..)) => Err(refused(&"it held nothing")),
            Err(error) => Err(refused(&error)),
        }
    }
}
