//! Carriers: child processes whose standard input and output have the lines of agents. One child has one agent, or
//! those of a whole broker.

pub(crate) mod child;
pub(crate) mod framing;
pub(crate) mod start;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use post::{CoordinatorEvent, CoordinatorFrame, LineError, Nanos};

use crate::place::Place;
use child::Child;
use framing::Framing;
use start::Start;
pub(crate) use start::nodes_of_job;

/// Lines that wait to be taken; a carrier that brings more waits.
const WAITING: usize = 64;
/// Carriers whose lines have ended have this long.
const ENDING: Duration = Duration::from_millis(700);

/// What comes over them.
#[derive(Debug)]
pub(crate) enum CarrierEvent {
    /// What happens to the agents; or what this side wants of them.
    Agents(CoordinatorEvent),
    /// Nothing was carried for so long; lines may be lost.
    Blinked { agent: usize, nanos: Nanos },
    /// A line of a host of servers.
    Raw(Result<Vec<u8>, LineError>),
    /// Nothing more is wanted.
    Enough,
}

/// The carriers of all agents of a run. Whatever they started ends when this is dropped.
pub(crate) struct Carriers {
    pub(crate) children: Vec<Arc<Child>>,
    /// For each agent: its child, and what stands before each of its lines.
    ways: Vec<(usize, String)>,
    pub(crate) events: Receiver<CarrierEvent>,
    /// What this side wants goes the same way.
    pub(crate) sender: SyncSender<CarrierEvent>,
}

/// What is needed to reach agents.
pub(crate) struct Reach<'a> {
    pub(crate) program: &'a Path,
    /// The SHA-256 of this program.
    pub(crate) digest: &'a str,
    /// What is to be loaded: where this side's user may start whatever he likes, the agent allows this.
    pub(crate) targets: &'a [SocketAddr],
}

/// An agent that is to be reached.
pub(crate) struct Named {
    pub(crate) name: String,
    /// The CPUs of its lanes; none: all that it may use.
    pub(crate) cpus: Vec<usize>,
}

impl Carriers {
    /// Starts a carrier for each agent of a place; what goes wrong then is an event.
    pub(crate) fn start(
        place: &Place,
        reach: &Reach<'_>,
    ) -> Result<(Carriers, Vec<Named>), String> {
        let (sender, events) = sync_channel(WAITING);
        let mut carriers =
            Carriers { children: Vec::new(), ways: Vec::new(), events, sender: sender.clone() };
        let mut names = Vec::new();
        match place {
            Place::Local(count) => {
                for number in 1..=*count {
                    let start = Start::Local { program: reach.program.into(), flags: &[] };
                    names.push(carriers.add(&format!("local {number}"), &[], start)?);
                }
            }
            Place::Ssh(hosts) => {
                for host in hosts {
                    let start = Start::ssh(&host.name, reach.digest, reach.targets);
                    names.push(carriers.add(&host.name, &host.cpus, start)?);
                }
            }
            Place::Slurm(nodes) => {
                let nodes = if nodes.is_empty() { nodes_of_job()? } else { nodes.clone() };
                for node in &nodes {
                    let start = Start::Slurm {
                        program: reach.program.into(),
                        node: node.clone(),
                        targets: reach.targets.to_vec(),
                    };
                    names.push(carriers.add(node, &[], start)?);
                }
            }
            Place::Nats(nats) => {
                let by_name: BTreeMap<String, usize> =
                    nats.agents.iter().cloned().zip(0..).collect();
                let start = Start::Nats { program: beside(reach.program), nats: nats.clone() };
                let child = Child::start(start, Framing::Named(by_name), sender.clone())?;
                carriers.children.push(child);
                for name in &nats.agents {
                    carriers.ways.push((0, format!("{name} ")));
                    names.push(Named { name: name.clone(), cpus: Vec::new() });
                }
            }
        }
        Ok((carriers, names))
    }

    /// Starts a carrier that carries the lines of one agent.
    fn add(&mut self, name: &str, cpus: &[usize], start: Start) -> Result<Named, String> {
        let framing = Framing::One(self.ways.len());
        let child = Child::start(start, framing, self.sender.clone())?;
        self.ways.push((self.children.len(), String::new()));
        self.children.push(child);
        Ok(Named { name: name.into(), cpus: cpus.to_vec() })
    }

    /// Hands a line over. If the carrier stands still, the line is lost, as any other may be.
    pub(crate) fn say(&self, agent: usize, frame: &CoordinatorFrame) {
        let Some((child, prefix)) = self.ways.get(agent) else { return };
        if let Ok(line) = post::encode(frame) {
            self.children[*child].say(format!("{prefix}{line}").into_bytes());
        }
    }

    /// Ends an agent's carrier, if no other agent has it.
    pub(crate) fn hang_up(&self, agent: usize) {
        let Some((child, prefix)) = self.ways.get(agent) else { return };
        if prefix.is_empty() {
            self.children[*child].kill();
        }
    }
}

impl Drop for Carriers {
    fn drop(&mut self) {
        self.children.iter().for_each(|child| child.close());
        let until = Instant::now() + ENDING;
        for child in &self.children {
            while !child.has_ended() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
            child.kill();
        }
    }
}

/// The program that carries lines over NATS: beside dyno, or wherever programs are.
pub(crate) fn beside(program: &Path) -> PathBuf {
    let found = program.with_file_name("dyno-nats");
    if found.exists() { found } else { "dyno-nats".into() }
}
