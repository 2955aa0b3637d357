//! Loads of trials that agents carry out, in place of this process.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use agents::{AgentFacts, LoadEvent, Loads, LoadsError, LostAgent, Pressed};
use load::{Halt, HoldOrder, Holding, Order, Recording};

use super::{interrupted, unable};
use crate::record::{Fact, Outcome};

/// The name of the fact that an agent was lost, in the words of its loss.
pub const AGENT_LOST: &str = "agent.lost";

/// Agents that have been met; one trial after the other gives them its load.
pub struct Elsewhere(Mutex<Box<dyn Loads + Send>>);

impl fmt::Debug for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elsewhere")
    }
}

impl Elsewhere {
    #[must_use]
    pub fn new(loads: Box<dyn Loads + Send>) -> Elsewhere {
        Elsewhere(Mutex::new(loads))
    }

    /// From now on these carry the loads out.
    pub fn replace(&self, loads: Box<dyn Loads + Send>) {
        *self.loads() = loads;
    }

    /// How many agents there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.loads().count()
    }

    /// Processes of this machine that work for the loads, besides this one.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.loads().processes()
    }

    fn loads(&self) -> MutexGuard<'_, Box<dyn Loads + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As many lanes as the agents have for it, and no more than there are connections.
    fn lanes(loads: &dyn Loads, connections: usize) -> usize {
        loads.lanes().unwrap_or(1).min(connections).max(1)
    }

    /// What all agents measured together. If any was lost, that is no measurement: it is kept, with the words.
    ///
    /// Nothing is asked from afar before the load: each agent compares every answer with the expected one, as this process
    /// does. So one that reaches another server has failures from its first request on, and they are shown byte by byte.
    pub(super) fn press(
        &self,
        order: &Order,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
        facts: &mut Vec<Fact>,
    ) -> Result<(Option<Recording>, Vec<AgentFacts>), Outcome> {
        let mut loads = self.loads();
        let lanes = Elsewhere::lanes(loads.as_ref(), order.load.connections_max());
        let order = Order { lanes, ..order.clone() };
        let pressed = loads.press(&order, halt, watch);
        let Pressed { recording, agents, lost } = pressed.map_err(|error| failed(error, facts))?;
        facts.extend(lost.iter().map(fact));
        Ok((recording, agents.into_iter().map(without_facts_of_the_run).collect()))
    }

    /// Has the agents hold connections.
    pub(super) fn hold(
        &self,
        order: &HoldOrder,
        halt: &Halt,
        watch: &mut dyn FnMut(LoadEvent<'_>),
        facts: &mut Vec<Fact>,
    ) -> Result<(Option<Holding>, Vec<AgentFacts>), Outcome> {
        let mut loads = self.loads();
        let lanes = Elsewhere::lanes(loads.as_ref(), order.ramp.connections);
        let order = HoldOrder { lanes, ..order.clone() };
        let held = loads.hold(&order, &[], halt, watch);
        let held = held.map_err(|error| failed(error, facts))?;
        facts.extend(held.lost.iter().map(fact));
        Ok((held.holding, held.agents.into_iter().map(without_facts_of_the_run).collect()))
    }
}

/// The facts of a host are those of the run; a trial keeps those that a report shows of each agent.
fn without_facts_of_the_run(mut agent: AgentFacts) -> AgentFacts {
    agent.host.facts.retain(|(name, _)| ["cpu.model", "kernel"].contains(&name.as_str()));
    agent
}

/// What an agent refuses it would refuse again; where agents are lost, others may be met in their place.
fn failed(error: LoadsError, facts: &mut Vec<Fact>) -> Outcome {
    match error {
        LoadsError::Interrupted => interrupted(),
        LoadsError::Refused(says) => unable(says),
        LoadsError::Lost(says) => {
            facts.push(Fact { name: AGENT_LOST.into(), value: says.clone() });
            unable(says)
        }
    }
}

fn fact(lost: &LostAgent) -> Fact {
    Fact { name: AGENT_LOST.into(), value: lost.to_string() }
}

/// The outcome of a trial in which agents were lost, in their words.
pub(super) fn lost_agents(facts: &[Fact]) -> Option<Outcome> {
    let says: Vec<&str> =
        facts.iter().filter(|it| it.name == AGENT_LOST).map(|it| it.value.as_str()).collect();
    (!says.is_empty()).then(|| unable(says.join("; ")))
}
