//! The surroundings of a subject during a trial: its folder, its port, its group, its command.

use std::fs::File;
use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use super::{Candidate, Elsewhere, Launcher, Sampling, Setup};
use crate::arrival::Setback;
use crate::build::program;
use crate::command::{Placeholders, shown};
use crate::experiment::Wanted;
use crate::identity::Identity;
use crate::manner::Protocol;
use crate::record::Fact;
use crate::service::{RunningService, ServiceStart};
use crate::subject::Serving;
use load::{CpuReader, Halt};
use machine::conditions::{Cpus, Group, Split};
use machine::monitor::{Watch, WatchPlan, cpu_ns_below};
use machine::namespace;
use machine::owned::WorkFolder;
use machine::process::{Exit, Marker, Running, Spec, launch};
use machine::sockets::{PORTS, free_port, ports_of};
use rustix::fs::{Timespec, Timestamps, futimens};
use wire::{Dataset, Files, Tables};

/// The file with the subject's data set, below the environment's folder.
const DATASET: &str = "dataset.json";
/// The folder with the files that the subject serves, below the environment's folder.
const FILES: &str = "files";

/// What an environment is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnvironmentSetup<'a> {
    pub(crate) launcher: Launcher<'a>,
    /// The address on which it is to listen.
    pub(crate) address: IpAddr,
    /// None for a subject of which nothing is measured.
    pub(crate) limits: Option<Limits<'a>>,
    /// The seed of the data set and of the tables of the workload's service.
    pub(crate) dataset: u64,
    /// Whether it is given files to serve; otherwise their folder is empty.
    pub(crate) has_files: bool,
    /// What gives names to a runtime's functions, if those are sampled.
    pub(crate) sampling: Option<&'a Sampling<'a>>,
}

/// The limits that make figures comparable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits<'a> {
    pub(crate) wanted: &'a Wanted,
    pub(crate) split: &'a Split,
    pub(crate) files: u64,
}

impl<'a> Setup<'a> {
    pub(super) fn environment_setup(&self, dataset: u64, has_files: bool) -> EnvironmentSetup<'a> {
        let (wanted, split, files) = (&self.experiment.conditions, self.split, self.files);
        let limits = Some(Limits { wanted, split, files });
        let (launcher, address) = (self.launcher, self.address);
        let sampling = self.beside.sampling;
        EnvironmentSetup { launcher, address, limits, dataset, has_files, sampling }
    }
}

#[derive(Debug)]
pub(crate) struct Environment<'a> {
    setup: EnvironmentSetup<'a>,
    candidate: Candidate<'a>,
    /// The trial's zero.
    pub(crate) began: Instant,
    address: IpAddr,
    /// The port that it was given, or the one that it took.
    port: AtomicU16,
    given: u16,
    /// The command as it is run.
    pub(crate) command: Vec<String>,
    marker: Marker,
    group: Option<Group>,
    work: WorkFolder,
    probe_socket: Option<PathBuf>,
    /// What the workload needs beside the subject.
    service: Option<RunningService>,
}

/// The command that starts the subject on this port, with its placeholders filled.
fn command(
    environment_setup: EnvironmentSetup<'_>,
    candidate: Candidate<'_>,
    protocol: Protocol,
    port: u16,
    work: &WorkFolder,
) -> Result<Vec<String>, String> {
    let cpus = match environment_setup.limits {
        Some(limits) => limits.split.subject.count(),
        None => Cpus::available().map_or(1, |cpus| cpus.count()),
    };
    let port = port.to_string();
    let (build, dyno) = (
        candidate.built.folder.display().to_string(),
        environment_setup.launcher.cache.dyno.display().to_string(),
    );
    let of_tls = |path: fn(&Identity) -> PathBuf| {
        let path = environment_setup.launcher.identity.map(path);
        path.map_or(String::new(), |path| path.display().to_string())
    };
    let [home, dataset, files] =
        ["home", DATASET, FILES].map(|name| work.path().join(name).display().to_string());
    let (certificate, key) = (of_tls(Identity::certificate), of_tls(Identity::key));
    let placeholders = Placeholders {
        known: &[
            ("protocol", protocol.name()),
            ("cert", &certificate),
            ("key", &key),
            ("port", &port),
            ("address", &environment_setup.address.to_string()),
            ("cpus", &cpus.to_string()),
            ("work", &home),
            ("build", &build),
            ("dyno", &dyno),
            ("dataset", &dataset),
            ("files", &files),
        ],
    };
    let mut command = match &candidate.subject.serving {
        Serving::Built(starts) => {
            let run = starts.over(protocol);
            run.fill(placeholders).map_err(|error| format!("`{run}`: {error}"))?
        }
        Serving::Own(run, _) => {
            let all = [("port", port.as_str()), ("cert", &certificate), ("key", &key)];
            // Without TLS there are no such files, and a command may mean something else by the names.
            let known = if protocol.is_secured() { &all[..] } else { &all[..1] };
            run.fill_known(Placeholders { known })
        }
        Serving::ByUrl(_) | Serving::Found(_) => {
            return Err("it runs already, and is not started: check it by its URL".into());
        }
    };
    command[0] = program(&candidate.built.folder, &command[0]).display().to_string();
    Ok(command)
}

impl<'a> Environment<'a> {
    /// Prepares everything but the process. Called on the trial's own thread.
    pub(crate) fn set(
        setup: EnvironmentSetup<'a>,
        candidate: Candidate<'a>,
        protocol: Protocol,
        facts: &mut Vec<Fact>,
    ) -> Result<Environment<'a>, String> {
        let marker = Marker::unique();
        let group = match setup.limits {
            Some(limits) => limits.impose(&marker, facts)?,
            None => None,
        };
        let folder = setup.launcher.cache.state.join("work");
        let work = WorkFolder::create(&folder, &marker)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let home = work.path().join("home");
        std::fs::create_dir(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        let port = free_port(PORTS).map_err(|error| format!("no free port: {error}"))?;
        let dataset = work.path().join(DATASET).display().to_string();
        std::fs::write(&dataset, Dataset::of(setup.dataset).to_json())
            .map_err(|error| format!("{dataset}: {error}"))?;
        let files = setup.has_files.then(|| Files::of(setup.dataset));
        let folder = work.path().join(FILES);
        write_files(files.as_ref(), &folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let command = command(setup, candidate, protocol, port, &work)?;
        let probe_socket = candidate.probe.map(|_| work.path().join("probe"));
        let given = port;
        let port = AtomicU16::new(given);
        let (began, address) = (Instant::now(), setup.address);
        let service = None;
        Ok(Environment {
            setup,
            candidate,
            began,
            address,
            port,
            given,
            command,
            marker,
            group,
            work,
            probe_socket,
            service,
        })
    }

    /// Starts what the workload needs beside the subject, with its tables. The trial begins after that.
    pub(crate) fn start_service(
        &mut self,
        halt: &Halt,
        facts: &mut Vec<Fact>,
    ) -> Result<(), Setback> {
        let Some(ready) = self.candidate.service else { return Ok(()) };
        let EnvironmentSetup { launcher, limits, dataset, .. } = self.setup;
        let service = RunningService::start(ServiceStart {
            launcher,
            ready,
            cpus: limits
                .map(|Limits { split, .. }| split.service.as_ref().unwrap_or(&split.subject)),
            files: limits.map(|limits| limits.files),
            tables: &Tables::of(dataset),
            server_port: self.given,
            is_halted: &|| halt.is_asked(),
        })?;
        facts.push(service.fact());
        self.service = Some(service);
        self.began = Instant::now();
        Ok(())
    }

    /// How the subject ended, or what it needs beside it, if one of them has.
    pub(crate) fn ended(&self, running: &mut Running) -> Option<Exit> {
        running.ended().or_else(|| self.service.as_ref()?.ended())
    }

    /// Whether what the subject needs beside it has ended.
    pub(crate) fn service_has_ended(&self) -> bool {
        self.service.as_ref().is_some_and(|service| service.ended().is_some())
    }

    /// That it has ended, and how. What it broke may be seen first: so long is waited for its end.
    pub(crate) fn service_death(&self, patience: Duration) -> Option<String> {
        let service = self.service.as_ref()?;
        let until = Instant::now() + patience;
        while service.ended().is_none() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        service.death()
    }

    /// What the workload needs beside the subject.
    pub(crate) fn service(&self) -> Option<&RunningService> {
        self.service.as_ref()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((self.address, self.port()))
    }

    /// Where the subject is expected to listen.
    pub(crate) fn port(&self) -> u16 {
        self.port.load(Ordering::Relaxed)
    }

    /// Looks for the subject where its own processes listen, if that is on other ports than the one that it was given;
    /// called again, on the next of them.
    pub(crate) fn seek(&self, running: &Running) {
        if !matches!(self.candidate.subject.serving, Serving::Own(..)) {
            return;
        }
        let ports = ports_of(&running.tree()).unwrap_or_default();
        let here = self.port();
        let next = match ports.get(&self.given) {
            None => ports.iter().find(|port| here < **port).or(ports.first()),
            given => given,
        };
        next.iter().for_each(|port| self.port.store(**port, Ordering::Relaxed));
    }

    /// That the subject took another port than the one that it was given, if it did.
    pub(crate) fn moved(&self) -> Option<Fact> {
        let (given, port) = (self.given, self.port());
        let value = format!("it was given port {given}, and listens on {port}");
        (given != port).then(|| Fact { name: "port.own".into(), value })
    }

    pub(crate) fn shown(&self) -> String {
        shown(&self.command)
    }

    pub(crate) fn launch(&self) -> io::Result<Running> {
        let EnvironmentSetup { launcher: Launcher { cache, .. }, limits, sampling, .. } =
            self.setup;
        let candidate = self.candidate;
        let home = self.work.path().join("home");
        let mut env = cache.scrubbed(candidate.subject, candidate.built, &home);
        if matches!(candidate.subject.serving, Serving::Own(..)) {
            env = cache.variables.clone();
            env.retain(|(name, _)| !["PORT", "PWD", "OLDPWD"].contains(&name.as_str()));
            env.push(("PORT".into(), self.port().to_string()));
            env.push(("PWD".into(), candidate.built.folder.display().to_string()));
        }
        env.push(("DATASET".into(), self.work.path().join(DATASET).display().to_string()));
        env.push(("FILES".into(), self.work.path().join(FILES).display().to_string()));
        env.extend(self.service.iter().flat_map(RunningService::gives));
        if let (Some((probe, built)), Some(socket)) = (candidate.probe, &self.probe_socket) {
            for (name, value) in cache.env(&probe.env, &built.folder) {
                add(&mut env, name, value);
            }
            env.push(("DYNO_PROBE_SOCKET".into(), socket.display().to_string()));
            let period = WatchPlan::PERIOD.as_millis();
            env.push(("DYNO_PROBE_PERIOD_MS".into(), period.to_string()));
        }
        for (name, value) in sampling.iter().flat_map(|it| it.names_env()) {
            add(&mut env, name, value);
        }
        let spec = Spec {
            env,
            cpus: limits.map(|limits| limits.split.subject.clone()),
            open_files: limits.map(|limits| limits.files),
            membership: self.group.as_ref().map(Group::membership),
            ..Spec::new(self.marker, self.command.clone(), candidate.built.folder.clone())
        };
        launch(&cache.warden(), &spec)
    }

    /// Begins to watch before the subject starts, so that a probe finds its socket.
    pub(super) fn watch(&self, elsewhere: Option<&Elsewhere>) -> io::Result<Watch> {
        Watch::start(WatchPlan {
            period: WatchPlan::PERIOD,
            began: self.began,
            root: None,
            helpers: elsewhere.map(Elsewhere::processes).unwrap_or_default(),
            readings: self.group.as_ref().map(Group::readings),
            found: Vec::new(),
            port: Some(self.port()),
            probe_socket: self.probe_socket.clone(),
            service: self.service.as_ref().map(RunningService::watch),
        })
    }

    /// Reads the CPU time that the subject below this warden has used so far, where its group counts it.
    pub(super) fn cpu_reader(&self, warden: u32) -> Option<CpuReader> {
        let readings = self.group.as_ref()?.readings();
        readings.cpu_ns()?;
        Some(Box::new(move || cpu_ns_below(warden, &readings)))
    }

    /// Removes everything again.
    pub(super) fn clear(self, facts: &mut Vec<Fact>) {
        if let Some(Err(error)) = self.group.map(Group::remove) {
            let value = format!("cannot be removed: {error}");
            facts.push(Fact { name: "cgroup".into(), value });
        }
    }
}

impl Limits<'_> {
    /// Makes this thread, and everything that it starts, keep these limits.
    fn impose(self, marker: &Marker, facts: &mut Vec<Fact>) -> Result<Option<Group>, String> {
        if self.wanted.isolate {
            let entered = namespace::enter();
            facts.push(namespace::fact(&entered));
            entered.map_err(|error| format!("no network of its own: {error}"))?;
        }
        let load = &self.split.load;
        load.keep_this_thread().map_err(|error| format!("the load's CPUs {load}: {error}"))?;
        let (group, about_group) = Group::create(marker, self.wanted.memory);
        facts.extend(about_group);
        facts.extend(self.split.facts());
        Ok(group)
    }
}

/// Makes a folder, with these files if there are any. They were last changed at the same time in every trial, so that a
/// server names their versions alike in all.
fn write_files(files: Option<&Files>, folder: &Path) -> io::Result<()> {
    /// 1 January 2026, in seconds since 1970.
    const CHANGED: Timespec = Timespec { tv_sec: 1_767_225_600, tv_nsec: 0 };
    std::fs::create_dir(folder)?;
    let Some(files) = files else { return Ok(()) };
    for number in 0..Files::COUNT {
        let mut file = File::create_new(folder.join(Files::name(number)))?;
        file.write_all(files.content(number))?;
        futimens(&file, &Timestamps { last_access: CHANGED, last_modification: CHANGED })?;
    }
    Ok(())
}

/// Adds a variable; flags that it has already follow the new ones.
fn add(env: &mut Vec<(String, String)>, name: String, value: String) {
    match env.iter_mut().find(|(other, _)| *other == name) {
        Some((_, there)) => *there = format!("{value} {there}"),
        None => env.push((name, value)),
    }
}
