//! The agents of a run: they carry the loads out, while servers, monitors and the store stay here.

use std::net::IpAddr;

use agents::servers::machine_name;
use agents::{Host, Loads, LoadsError};
use lab::Refusal;
use lab::record::{LOAD_ON, SUBJECT_ADDRESS, SUBJECT_HOST};
use lab::trial::Elsewhere;
use load::Halt;
use machine::Fact;
use machine::facts::fact_of_host;

/// Meets the agents, at first and again after one was lost.
pub type Meet = Box<dyn Fn(&Halt) -> Result<Box<dyn Loads + Send>, LoadsError> + Send + Sync>;

/// Agents in the place of this process.
pub struct Generators {
    /// As they were named: `ssh:desk2,desk3`.
    pub name: String,
    /// The address on which the servers listen for them.
    pub address: IpAddr,
    pub agents: Elsewhere,
    /// What was read of their hosts, and what else is known of them.
    facts: Vec<Fact>,
    meet: Meet,
}

impl Generators {
    /// Meets them. None: interrupted.
    pub fn meet(
        name: String,
        address: IpAddr,
        meet: Meet,
        halt: &Halt,
    ) -> Result<Option<Generators>, Refusal> {
        match meet(halt) {
            Ok(loads) => {
                let hosts = host_facts(&loads.hosts());
                let agents = Elsewhere::new(loads);
                Ok(Some(Generators { name, address, agents, facts: hosts, meet }))
            }
            Err(LoadsError::Interrupted) => Ok(None),
            Err(LoadsError::Refused(says) | LoadsError::Lost(says)) => Err(Refusal::new(says)),
        }
    }

    /// Adds facts that are to be recorded.
    #[must_use]
    pub fn with_facts(mut self, facts: Vec<Fact>) -> Generators {
        self.facts.extend(facts);
        self
    }

    /// Meets them anew.
    pub fn meet_again(&self, halt: &Halt) -> Result<(), LoadsError> {
        self.agents.replace((self.meet)(halt)?);
        Ok(())
    }

    /// For the record: a run goes on only with the same.
    pub fn facts(&self) -> Vec<Fact> {
        let own = [
            (LOAD_ON, self.name.clone()),
            (SUBJECT_HOST, machine_name()),
            (SUBJECT_ADDRESS, self.address.to_string()),
        ];
        let own = own.map(|(name, value)| Fact { name: name.into(), value });
        own.into_iter().chain(self.facts.clone()).collect()
    }
}

/// The facts of each host, with the agent's name before theirs.
fn host_facts(hosts: &[(String, Host)]) -> Vec<Fact> {
    let mut facts = Vec::new();
    for (agent, host) in hosts {
        let cpus: Vec<String> = host.cpus.iter().map(ToString::to_string).collect();
        let own = [
            ("host".to_string(), host.name.clone()),
            ("cpus".to_string(), cpus.join(",")),
            ("files".to_string(), host.files.to_string()),
        ];
        for (name, value) in own.into_iter().chain(host.facts.iter().cloned()) {
            facts.push(Fact { name: fact_of_host(agent, &name), value });
        }
    }
    facts
}
