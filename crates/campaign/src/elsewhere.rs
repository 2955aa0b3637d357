//! The agents of a run: they carry the loads out, while servers, monitors and the store stay here.

use std::net::IpAddr;

use agents::{Loads, LoadsError};
use lab::Refusal;
use lab::trial::Elsewhere;
use load::Halt;
use machine::Fact;

/// Meets the agents, at first and again after one was lost.
pub type Meet = Box<dyn Fn(&Halt) -> Result<Box<dyn Loads + Send>, LoadsError> + Send + Sync>;

/// Agents in the place of this process.
pub struct Generators {
    /// As they were named: `ssh:desk2,desk3`.
    pub name: String,
    /// The address on which the servers listen for them.
    pub address: IpAddr,
    pub agents: Elsewhere,
    /// What else is known of them.
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
                let agents = Elsewhere::new(loads);
                Ok(Some(Generators { name, address, agents, facts: Vec::new(), meet }))
            }
            Err(LoadsError::Interrupted) => Ok(None),
            Err(LoadsError::Refused(says) | LoadsError::Lost(says)) => Err(Refusal::new(says)),
        }
    }

    /// The same with more that is known of them, for the record.
    #[must_use]
    pub fn with_facts(self, facts: Vec<Fact>) -> Generators {
        Generators { facts, ..self }
    }

    /// Meets them anew.
    pub fn meet_again(&self, halt: &Halt) -> Result<(), LoadsError> {
        self.agents.replace((self.meet)(halt)?);
        Ok(())
    }

    /// For the record: a run goes on only with the same.
    pub fn facts(&self) -> Vec<Fact> {
        let own = [
            ("load.on", self.name.clone()),
            ("subject.host", own_host()),
            ("subject.address", self.address.to_string()),
        ];
        let own = own.map(|(name, value)| Fact { name: name.into(), value });
        own.into_iter().chain(self.facts.clone()).collect()
    }
}

/// As this machine calls itself.
fn own_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
