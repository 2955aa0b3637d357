//! One trial: launch → wait for a right answer → check → load → check again → stop. Whatever the subject does is a
//! recorded outcome, never an error of dyno.

mod alone;
mod elsewhere;
pub(crate) mod environment;
mod evidence;
mod held;
mod in_turns;
mod inserting;
mod learn;
mod lookout;
mod press;
mod running_server;
mod sampled;
mod spot;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use agents::AgentNow;
use load::{Glance, Halt, HoldWindow, Nanos};
use tls::Client;
use wire::{Dataset, Files, Tables, Values};

use crate::arrival::{
    PATIENCE, Setback, error_words, first_answer, foreign_listener, on_another_port,
    refuse_strangers,
};
use crate::ask::{Asked, ask};
use crate::build::{BuildCache, Built};
use crate::experiment::Experiment;
use crate::identity::Identity;
use crate::manner::{Manner, Task};
use crate::plan::seed_of;
use crate::probe::Probe;
use crate::record::{
    Check, Ending, Fact, Launch, Outcome, OutcomeKind, Phase, TrialKey, TrialRecord,
};
use crate::service::{ReadyService, RunningService};
use crate::subject::{Serving, Subject};
use crate::workload::{HOST, Workload};
pub use alone::service_alone;
pub use elsewhere::{AGENT_LOST, Elsewhere};
use environment::Environment;
use evidence::Evidence;
use in_turns::Attendance;
pub use in_turns::{Part, Round};
pub use learn::NO_VALIDATORS;
use machine::conditions::Split;
use machine::monitor::Watch;
use machine::process::{Exit, Running, family_of};
use machine::sockets::listeners;
pub use press::{LEFT_OUT, SPIN};
pub use profile::is_permitted;
pub use running_server::{is_here, processes};
use sampled::SampledServer;
pub use sampled::{LEAST_WARMUP, SAMPLED_LOAD, Sampling, beside_load};

/// What starts a subject's process.
#[derive(Clone, Copy, Debug)]
pub struct Launcher<'a> {
    /// Builds, and the user's environment.
    pub cache: &'a BuildCache,
    /// What the subject presents within TLS; none where nothing is secured.
    pub identity: Option<&'a Identity>,
}

impl Launcher<'_> {
    /// The TLS of connections to the subject, if there is any in this manner.
    pub(crate) fn tls(self, manner: Manner) -> Result<Option<Client>, String> {
        let order = self.identity.and_then(|identity| manner.tls(HOST, &identity.authority));
        order.map(|order| Client::new(&order)).transpose()
    }
}

/// What all trials of a run have in common.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    pub experiment: &'a Experiment,
    pub launcher: Launcher<'a>,
    /// Which CPUs run what.
    pub split: &'a Split,
    /// The address on which subjects listen: this machine's own, or one that other machines reach.
    pub address: IpAddr,
    /// Addresses to connect from, in turn; none: the kernel's choice.
    pub sources: &'a [IpAddr],
    /// How many files a subject's process may open.
    pub files: u64,
    /// Every workload of the project: those that a subject speaks say which paths it has.
    pub workloads: &'a [Workload],
    /// The agents that carry the loads out; none: this process does.
    pub elsewhere: Option<&'a Elsewhere>,
    pub beside: Beside<'a>,
}

/// What one trial may have beside its load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Its part in a round in which all subjects live at once; none for a trial that is alone.
    pub part: Option<Part<'a>>,
    /// Ends the load early, once what it shows is enough.
    pub enough: Option<Enough<'a>>,
    /// Takes samples of the server while it is loaded; none in a trial that is measured.
    pub sampling: Option<&'a Sampling<'a>>,
}

/// Whether a load has shown enough: asked ten times a second.
#[derive(Clone, Copy)]
pub struct Enough<'a>(pub &'a (dyn Fn(&Glance<'_>) -> bool + Sync));

impl std::fmt::Debug for Enough<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Enough")
    }
}

/// What takes part in a trial.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub subject: &'a Subject,
    pub built: &'a Built,
    /// The probe that reports from inside it.
    pub probe: Option<(&'a Probe, &'a Built)>,
    /// What it needs beside it.
    pub service: Option<&'a ReadyService>,
}

/// An event that a trial reports while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The process runs.
    Launched {
        pid: u32,
        /// The port on which it is to listen.
        port: u16,
    },
    /// It gave its first correct answer, so long after its start.
    Ready(Nanos),
    /// A question was answered.
    Checked(&'a Check),
    /// The load goes on; ten times a second.
    Glance(&'a Glance<'a>, Vitals),
    /// Connections are held; once a second.
    Held(&'a HoldWindow, Vitals),
    /// What the agents that carry the load out do now.
    Agents(&'a [AgentNow]),
}

/// The subject's processes, as they were read last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vitals {
    /// Nanoseconds of CPU time each second.
    pub cpu: Option<f64>,
    /// Octets.
    pub memory: Option<f64>,
}

impl Vitals {
    fn of(watch: &Watch) -> Vitals {
        Vitals {
            cpu: watch.per_second("subject.cpu.total"),
            memory: watch.latest("subject.memory.rss"),
        }
    }
}

/// Runs one trial to its end. `halt` ends it early; then it is `Interrupted`.
pub fn run(
    setup: Setup<'_>,
    candidate: Candidate<'_>,
    workload: &Workload,
    key: &TrialKey,
    began_unix_ms: i64,
    halt: &Halt,
    report: &mut (dyn FnMut(Event<'_>) + Send),
) -> TrialRecord {
    // A thread for this trial alone: what it starts inherits its network and its CPUs, and they end with it.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("trial".into());
        let thread = thread.spawn_scoped(scope, || {
            let mut record = TrialRecord::new(key.clone(), began_unix_ms);
            let tried = try_out(setup, candidate, workload, key, halt, &mut record, report);
            if let Err(outcome) = tried {
                record.outcome = outcome;
            }
            record
        });
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(record)) => record,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("a thread for a trial: {error}"),
        }
    })
}

fn try_out(
    setup: Setup<'_>,
    candidate: Candidate<'_>,
    workload: &Workload,
    key: &TrialKey,
    halt: &Halt,
    record: &mut TrialRecord,
    report: &mut (dyn FnMut(Event<'_>) + Send),
) -> Result<(), Outcome> {
    let attendance = setup.beside.part.map(Part::attend);
    let attendance = attendance.as_ref();
    let manner = Task::named(&key.workload).manner;
    let tls = setup.launcher.tls(manner).map_err(unable)?;
    let tls = tls.as_ref();
    // All subjects of a place have the same data. One that dyno does not start has those of no seed.
    let dataset = match candidate.subject.serving.command() {
        Some(_) => seed_of(setup.experiment.seed, key),
        None => 0,
    };
    let workload = workload.over(manner.protocol.http2_scheme()).map_err(unable)?;
    let workload = workload.with(&Dataset::of(dataset), &Tables::of(dataset));
    let workload = workload.with_files(&Files::of(dataset));
    let asked = workload.questions.len();
    let workload = match candidate.subject.takes_chunks {
        true => Some(workload),
        false => workload.unchunked(),
    };
    let workload = &workload.ok_or_else(|| {
        unable(
            "its manifest says that it takes no bodies in chunks, and the workload has no others"
                .into(),
        )
    })?;
    let left_out = asked - workload.questions.len();
    let service = None;
    let trial = Trial {
        setup,
        candidate,
        workload,
        dataset,
        left_out,
        manner,
        tls,
        key,
        halt,
        attendance,
        service,
        sampled: None,
    };
    trial.perform(record, report)
}

/// An outcome that ends a trial early.
pub(crate) fn outcome(kind: OutcomeKind, says: impl Into<String>) -> Outcome {
    Outcome { kind, says: says.into() }
}

/// dyno cannot do its part.
pub(crate) fn unable(says: String) -> Outcome {
    outcome(OutcomeKind::Unable, says)
}

pub(crate) fn interrupted() -> Outcome {
    outcome(OutcomeKind::Interrupted, "interrupted")
}

/// How the subject ended, if it has: this cannot be known of a server that dyno did not start.
type Ended<'e> = &'e mut (dyn FnMut() -> Option<Exit> + Send);

#[derive(Clone, Copy)]
struct Trial<'a, 'r> {
    setup: Setup<'a>,
    candidate: Candidate<'a>,
    workload: &'a Workload,
    /// The seed of the data set that the subject is given.
    dataset: u64,
    /// How many kinds of requests it is not sent.
    left_out: usize,
    manner: Manner,
    /// How connections to it are secured; none: not at all.
    tls: Option<&'a Client>,
    key: &'a TrialKey,
    halt: &'a Halt,
    attendance: Option<&'a Attendance<'r>>,
    /// What works beside the subject, while it is under load.
    service: Option<&'a RunningService>,
    /// What is sampled of the subject.
    sampled: Option<&'a SampledServer<'a>>,
}

impl Trial<'_, '_> {
    /// Tries until the subject has a port of its own.
    fn perform(
        &self,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Outcome> {
        let mut taken: Vec<Fact> = Vec::new();
        on_another_port(|| {
            *record = TrialRecord::new(self.key.clone(), record.began_unix_ms);
            record.conditions.clone_from(&taken);
            let ended = match &self.candidate.subject.serving {
                Serving::Found(site) => self.visit(site, record, report).map_err(Setback::from),
                Serving::ByUrl(_) => Err(unable("its URL was not looked up".into()).into()),
                Serving::Built(_) | Serving::Own(..) => self.attempt(record, report),
            };
            if let Err(Setback::PortTaken(says)) = &ended {
                let value = format!("{says}; it was started again on another port");
                taken.push(Fact { name: "port".into(), value });
            }
            ended
        })
    }

    /// Runs the trial from its start to its end, on one port.
    fn attempt(
        &self,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Setback> {
        let environment_setup =
            self.setup.environment_setup(self.dataset, self.workload.has_files());
        let protocol = self.manner.protocol;
        let facts = &mut record.conditions;
        let mut environment =
            Environment::set(environment_setup, self.candidate, protocol, facts).map_err(unable)?;
        environment.start_service(self.halt, facts)?;
        let watch = environment
            .watch(self.setup.elsewhere)
            .map_err(|error| unable(format!("no monitor: {error}")))?;
        let mut running = environment.launch().map_err(|error| {
            let says = format!("`{}` cannot be started: {error}", environment.shown());
            outcome(OutcomeKind::NotReady, says)
        })?;
        watch.follow(running.warden_pid());
        if let (Some(attendance), Some(cpu)) =
            (self.attendance, environment.cpu_reader(running.warden_pid()))
        {
            attendance.read_cpu(cpu);
        }
        report(Event::Launched { pid: running.pid(), port: environment.port() });
        record.launch = Some(Launch {
            command: environment.command.clone(),
            pid: running.pid(),
            port: environment.port(),
            ready_after: None,
            backlog: None,
            processes: 0,
        });
        let ended = self.with(&environment, &mut running, &watch, record, report);
        let ended = self.unless_service_died(&environment, ended);
        record.series = watch.stop();
        if let Some(own_time) = self.attendance.and_then(Attendance::own_time) {
            own_time.settle(record);
        }
        let stopped = running.stop();
        record.ending = Ending {
            exit: stopped.exit.to_string(),
            killed: stopped.killed,
            output_tail: stopped.tail,
        };
        environment.clear(&mut record.conditions);
        ended
    }

    /// How it ended; if what the subject needs beside it has ended, then that is why, whatever the subject did then.
    fn unless_service_died(
        &self,
        environment: &Environment<'_>,
        ended: Result<(), Setback>,
    ) -> Result<(), Setback> {
        let patience = if ended.is_err() { SERVICE_END_SEEN } else { Duration::ZERO };
        match environment.service_death(patience).filter(|_| !self.halt.is_asked()) {
            Some(says) => Err(outcome(OutcomeKind::ServiceDied, says).into()),
            None => ended,
        }
    }

    /// Everything that is done while the subject runs.
    fn with(
        &self,
        environment: &Environment<'_>,
        running: &mut Running,
        watch: &Watch,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Setback> {
        let ready_after = self.wait(environment, running, record)?;
        let (address, port) = (environment.address(), environment.port());
        record.conditions.extend(environment.moved());
        // Nothing was measured yet: the port was taken after dyno had chosen it and before the subject listened on it.
        refuse_strangers(port, running)?;
        report(Event::Ready(ready_after));
        if let Some(launch) = &mut record.launch {
            launch.port = port;
            launch.ready_after = Some(ready_after);
            launch.processes = running.tree().len() as u32;
            let listeners = listeners(port).unwrap_or_default();
            launch.backlog = listeners.iter().filter_map(|listener| listener.backlog).min();
        }
        let workload = self.learnt(address, record)?;
        Trial { workload: &workload, ..*self }.load(
            environment,
            address,
            running,
            watch,
            record,
            report,
        )
    }

    /// The checks before and after the load, and the load.
    fn load(
        &self,
        environment: &Environment<'_>,
        address: SocketAddr,
        running: &mut Running,
        watch: &Watch,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Setback> {
        self.check(Phase::Before, address, &mut || environment.ended(running), record, report)?;
        self.spot(Phase::Before, address, record);
        let evidence = Evidence::before(self.workload, environment.service(), self.halt);
        match self.setup.experiment.ramp(self.key.point) {
            None => {
                let warden = running.warden_pid();
                let sampled = self.sampled_server(
                    Box::new(move || family_of(warden)),
                    environment.cpu_reader(warden),
                );
                let ended = &mut || environment.ended(running);
                let trial =
                    Trial { service: environment.service(), sampled: sampled.as_ref(), ..*self };
                trial.press(address, environment.began, ended, watch, record, report)?;
            }
            Some(ramp) => {
                self.hold(ramp, address, environment.began, running, watch, record, report)?;
            }
        }
        if let Some(evidence) = evidence {
            evidence.after(environment.service(), self.halt, record);
        }
        // This is first: another process on the port explains a wrong answer better than the subject does.
        if let Some(says) = foreign_listener(environment.port(), running) {
            return Err(outcome(OutcomeKind::WrongServer, says).into());
        }
        self.check(Phase::After, address, &mut || environment.ended(running), record, report)?;
        self.spot(Phase::After, address, record);
        Ok(())
    }

    /// Waits for the first correct answer to the workload's first question.
    fn wait(
        &self,
        environment: &Environment<'_>,
        running: &mut Running,
        record: &mut TrialRecord,
    ) -> Result<Nanos, Setback> {
        let deadline = environment.began + self.candidate.subject.ready;
        let ask = |limit| self.question(0, Phase::Before, environment.address(), limit);
        let seek = |running: &Running| environment.seek(running);
        let is_over = || self.halt.is_asked() || environment.service_has_ended();
        let answered = first_answer(running, deadline, &is_over, &seek, &ask);
        answered.map(|_| environment.began.elapsed().as_nanos() as Nanos).map_err(|absence| {
            // What else it wrote stands in the report.
            let (port, ready) = (environment.port(), self.candidate.subject.ready);
            let (setback, last) = absence.setback(running, port, ready, error_words);
            record.checks.extend(last);
            setback
        })
    }

    fn question(&self, number: usize, phase: Phase, address: SocketAddr, limit: Duration) -> Check {
        // The same values for all subjects: equal answers have equal digests.
        let values = Values { seq: number as u64, random: seed_of(0xc4ec, self.key) };
        let server = Asked { address, tls: self.tls };
        ask(server, &self.workload.questions[number], values, phase, limit)
    }

    /// Asks every question once.
    fn check(
        &self,
        phase: Phase,
        address: SocketAddr,
        ended: Ended<'_>,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Outcome> {
        for number in 0..self.workload.questions.len() {
            self.heed_halt()?;
            let mut check = self.question(number, phase, address, PATIENCE);
            // A load of held connections has just been closed: a beat may be late once, through the server or through
            // dyno.
            let is_beat = self.workload.questions[number].stream().is_some();
            if check.wrong.is_some() && is_beat && phase == Phase::After {
                check = self.question(number, phase, address, PATIENCE);
            }
            report(Event::Checked(&check));
            record.checks.push(check);
        }
        if let Some(exit) = ended() {
            let says = format!("it ended {} the load: {exit}", phase.name());
            return Err(outcome(OutcomeKind::Died, says));
        }
        let mut checks = record.checks.iter().filter(|check| check.phase == phase);
        match checks.find_map(|check| Some((check, check.wrong.as_ref()?))) {
            None => Ok(()),
            Some((check, wrong)) => {
                let says = format!("`{}`, asked {} the load: {wrong}", check.ask, phase.name());
                Err(outcome(OutcomeKind::Wrong, says))
            }
        }
    }

    fn heed_halt(&self) -> Result<(), Outcome> {
        match self.halt.is_asked() {
            true => Err(interrupted()),
            false => Ok(()),
        }
    }
}

/// How much later the end of a service may be seen than what it broke.
const SERVICE_END_SEEN: Duration = Duration::from_millis(200);

/// The address on which subjects listen that only this machine loads.
pub const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
