//! The resources of a run: which CPUs, how many files, which addresses; refused before anything starts if they are too
//! few.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use lab::Refusal;
use lab::amounts;
use lab::experiment::{Experiment, Point};
use lab::trial::HERE;
use load::{Stop, Target};
use machine::Fact;
use machine::conditions::{Cpus, Split, split};
use machine::limits::{Machine, raise_files};
use machine::ports::Ports;

use crate::Campaign;
use crate::elsewhere::Generators;
use crate::ports::ports_for;

/// The resources that a run may use.
pub struct RunResources {
    pub split: Split,
    /// The address on which subjects listen.
    pub address: IpAddr,
    pub sources: Vec<IpAddr>,
    /// The load levels that may need more local ports than there are.
    pub short: Vec<(Point, Ports)>,
    /// Open files of a subject's process.
    pub files: u64,
    /// The soft limit of open files that the load needs, if it must be raised.
    raised: Option<u64>,
    facts: Vec<Fact>,
    /// The agents that carry the loads out; none: this process does.
    pub elsewhere: Option<Generators>,
}

impl RunResources {
    /// Compares what a campaign's experiment needs with what this machine has.
    pub fn weigh(campaign: &Campaign) -> Result<RunResources, Refusal> {
        let experiment = &campaign.experiment;
        let machine = Machine::read();
        let split = cpus(experiment, !campaign.services.is_empty())?;
        let most = experiment.points.iter().map(|&point| experiment.load(point).connections_max());
        // The limit of a pool or of sessions need not be reached: only a closed loop opens as many as it says.
        let needed = match experiment.points.first() {
            Some(Point::Connections(_) | Point::Held(_)) => most.max().unwrap_or(1) as u64,
            Some(Point::Requests(_) | Point::Sessions(_)) | None => {
                (most.max().unwrap_or(1) as u64).min(machine.files.connections_max())
            }
        };
        let raised = machine.files.raised_for(needed + OWN_FILES).map_err(Refusal::new)?;
        let (sources, short) = sources(experiment, &machine);
        Ok(RunResources {
            split,
            address: HERE,
            sources,
            short,
            files: experiment.conditions.files.unwrap_or(machine.files.hard),
            raised,
            facts: machine::facts::read(),
            elsewhere: None,
        })
    }

    /// The resources of a run whose loads agents carry out: servers listen where the agents reach them.
    #[must_use]
    pub fn with(mut self, generators: Generators) -> RunResources {
        self.address = generators.address;
        self.elsewhere = Some(generators);
        self
    }

    /// Raises the limit of open files, if necessary.
    pub fn take(&self) -> Result<(), Refusal> {
        let Some(files) = self.raised else { return Ok(()) };
        raise_files(files).map_err(|error| {
            Refusal::new(format!(
                "the limit of open files cannot be raised to {files} ({error}); try `ulimit -n {files}`"
            ))
        })
    }

    /// For the record.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = self.facts.clone();
        facts.extend(self.split.facts());
        facts.push(Fact { name: "files.subject".into(), value: self.files.to_string() });
        facts.extend(self.elsewhere.iter().flat_map(Generators::facts));
        facts
    }
}

/// The store, monitors, pipes.
const OWN_FILES: u64 = 64;

fn cpus(experiment: &Experiment, has_service: bool) -> Result<Split, Refusal> {
    let there = Cpus::available()
        .map_err(|error| Refusal::new(format!("which CPUs there are cannot be read: {error}")))?;
    let usual = split(&there, has_service);
    let absent = |name: &str| {
        let file = &experiment.source.name;
        Refusal::new(format!("{file}: {name} asks for CPUs that are not here; there are {there}"))
    };
    let conditions = &experiment.conditions;
    let subject = match &conditions.subject_cpus {
        None => usual.subject.clone(),
        Some(wanted) => present(wanted, &there).ok_or_else(|| absent("subject_cpus"))?,
    };
    let load = match &conditions.load_cpus {
        None => usual.load.clone(),
        Some(wanted) => present(wanted, &there).ok_or_else(|| absent("load_cpus"))?,
    };
    if conditions.subject_cpus.is_none() && conditions.load_cpus.is_none() {
        return Ok(usual);
    }
    let shared = subject.overlaps(&load).then(|| {
        format!("the server (CPUs {subject}) and the load (CPUs {load}) disturb each other")
    });
    let is_free = |cpu: &usize| subject.iter().chain(load.iter()).all(|other| other != *cpu);
    let free: Vec<usize> = there.iter().filter(is_free).collect();
    let service = Cpus::of(&free).filter(|_| has_service);
    Ok(Split { subject, load, service, shared })
}

/// The CPUs that are wanted, if all of them are there.
fn present(amounts::Cpus(numbers): &amounts::Cpus, there: &Cpus) -> Option<Cpus> {
    Cpus::of(numbers).filter(|cpus| cpus.iter().all(|cpu| there.iter().any(|other| other == cpu)))
}

/// Enough loopback addresses for the point that opens and closes the most connections, and the points for which no number
/// of addresses is enough.
fn sources(experiment: &Experiment, machine: &Machine) -> (Vec<IpAddr>, Vec<(Point, Ports)>) {
    let target = Target::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)));
    let stop = Stop { total: experiment.total, duration: experiment.duration };
    let (mut most, mut short) = (Vec::new(), Vec::new());
    for &point in &experiment.points {
        let load = experiment.load(point);
        match ports_for(&load, stop, experiment.keep_alive, &[], &target, machine) {
            Ports::Enough => {}
            Ports::Spread(sources) if most.len() < sources.len() => most = sources,
            Ports::Spread(_) => {}
            ports @ Ports::Short { .. } => short.push((point, ports)),
        }
    }
    (most, short)
}
