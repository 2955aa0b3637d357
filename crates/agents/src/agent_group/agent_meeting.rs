//! The agents of a place, each met for itself: one that cannot be met keeps no other from being known.

use std::thread;

use load::Halt;

use super::{AgentGroup, Wish, run_name};
use crate::carrier::child::plain;
use crate::carrier::nodes_of_job;
use crate::loads::{AgentFacts, LoadsError};
use crate::place::Place;

/// An agent that was to be met.
pub struct AgentMeeting {
    pub name: String,
    pub met: Result<AgentGroup, LoadsError>,
}

impl AgentGroup {
    /// Meets each agent of a place for itself, all of them at once. They belong to one run, so those that share a host do
    /// not find it busy.
    pub fn meet_each(wish: &Wish<'_>, halt: &Halt) -> Result<Vec<AgentMeeting>, String> {
        let (run, places) = (run_name(), singly(wish.place)?);
        let meet = |place: &Place| {
            let wish = Wish { place, program: wish.program.clone(), ..*wish };
            AgentGroup::meet_as(&run, &wish, halt)
        };
        Ok(thread::scope(|scope| {
            let begin = |(name, place): &(String, Place)| {
                let (name, place) = (name.clone(), place.clone());
                (name, scope.spawn(move || meet(&place)))
            };
            let threads: Vec<_> = places.iter().map(begin).collect();
            let join = |(name, thread): (String, thread::ScopedJoinHandle<'_, _>)| {
                let met = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                AgentMeeting { name, met }
            };
            threads.into_iter().map(join).collect()
        }))
    }

    /// What is known of the agents that were met, in plain words: nothing of it moves a terminal's cursor.
    #[must_use]
    pub fn known(&self) -> Vec<AgentFacts> {
        let mut known = self.agents(&vec![(0, 0); self.names.len()]);
        for AgentFacts { host, .. } in &mut known {
            host.name = plain(&host.name);
            host.program.dyno = plain(&host.program.dyno);
            host.program.sha256 = host.program.sha256.as_deref().map(plain);
            host.allow =
                host.allow.as_ref().map(|rules| rules.iter().map(|it| plain(it)).collect());
        }
        known
    }
}

/// The place's agents with their names, each as a place of its own.
fn singly(place: &Place) -> Result<Vec<(String, Place)>, String> {
    Ok(match place {
        Place::Local(count) => {
            (1..=*count).map(|number| (format!("local {number}"), Place::Local(1))).collect()
        }
        Place::Ssh(hosts) => {
            let alone = |host: &crate::SshHost| (host.name.clone(), Place::Ssh(vec![host.clone()]));
            hosts.iter().map(alone).collect()
        }
        Place::Slurm(nodes) => {
            let nodes = if nodes.is_empty() { nodes_of_job()? } else { nodes.clone() };
            nodes.into_iter().map(|node| (node.clone(), Place::Slurm(vec![node]))).collect()
        }
        Place::Nats(nats) => {
            let alone = |name: &String| {
                let nats = crate::place::Nats { agents: vec![name.clone()], ..nats.clone() };
                (name.clone(), Place::Nats(nats))
            };
            nats.agents.iter().map(alone).collect()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_of_a_place_is_a_place() {
        for (text, each) in [
            ("local:2", vec![("local 1", "local:1"), ("local 2", "local:1")]),
            ("ssh:a,me@b:cpus=1", vec![("a", "ssh:a"), ("me@b", "ssh:me@b:cpus=1")]),
            ("slurm:n1,n2", vec![("n1", "slurm:n1"), ("n2", "slurm:n2")]),
            (
                "nats://h/lab?agents=a,b&ca=c",
                vec![("a", "nats://h/lab?agents=a&ca=c"), ("b", "nats://h/lab?agents=b&ca=c")],
            ),
        ] {
            let expected: Vec<_> = each
                .into_iter()
                .map(|(name, place)| (name.to_string(), Place::parse(place).unwrap()))
                .collect();
            assert_eq!(singly(&Place::parse(text).unwrap()), Ok(expected), "{text}");
        }
    }
}
