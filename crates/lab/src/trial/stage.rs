//! What stands around a subject while it is tried: its folder, its port, its group, its command.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::{ADDRESS, Candidate, Scratch, Setup};
use crate::build::program;
use crate::command::{Holes, shown};
use crate::conditions::Group;
use crate::monitor::{Watch, WatchPlan};
use crate::namespace;
use crate::process::{Marker, Running, Spec, launch};
use crate::record::{Fact, TrialKey};
use crate::sockets::{PORTS, free_port};

pub(super) struct Stage {
    /// The trial's zero.
    pub(super) began: Instant,
    pub(super) port: u16,
    /// As it is run.
    pub(super) command: Vec<String>,
    marker: Marker,
    group: Option<Group>,
    work: Scratch,
    probe_socket: Option<PathBuf>,
}

/// Each trial of a process has a number of its own.
static TRIALS: AtomicU32 = AtomicU32::new(0);

impl Stage {
    /// Prepares everything but the process. Called on the trial's own thread.
    pub(super) fn set(
        setup: Setup<'_>,
        candidate: Candidate<'_>,
        key: &TrialKey,
        facts: &mut Vec<Fact>,
    ) -> Result<Stage, String> {
        let wanted = &setup.experiment.conditions;
        if wanted.isolate {
            let entered = namespace::enter();
            facts.push(namespace::fact(&entered));
            entered.map_err(|error| format!("no network of its own: {error}"))?;
        }
        setup
            .split
            .load
            .keep_this_thread()
            .map_err(|error| format!("the load's CPUs {}: {error}", setup.split.load))?;
        let number = TRIALS.fetch_add(1, Ordering::Relaxed);
        let marker = Marker::new(number);
        let folder = setup.yard.state.join("work").join(marker.to_string());
        let work =
            Scratch::new(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let home = work.0.join("home");
        std::fs::create_dir(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        let port = free_port(PORTS, turn(key)).map_err(|error| format!("no free port: {error}"))?;
        let (group, about_group) = Group::create(&marker, wanted.memory);
        facts.extend(about_group);
        facts.extend(setup.split.facts());
        let (build, dyno) =
            (candidate.built.folder.display().to_string(), setup.yard.dyno.display().to_string());
        let holes = Holes {
            known: &[
                ("port", &port.to_string()),
                ("address", &ADDRESS.to_string()),
                ("cpus", &setup.split.subject.count().to_string()),
                ("work", &home.display().to_string()),
                ("build", &build),
                ("dyno", &dyno),
            ],
        };
        let mut command =
            candidate.subject.run.fill(holes).map_err(|error| format!("`run`: {error}"))?;
        command[0] = program(&candidate.built.folder, &command[0]).display().to_string();
        let probe_socket = candidate.probe.map(|_| work.0.join("probe"));
        Ok(Stage { began: Instant::now(), port, command, marker, group, work, probe_socket })
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::from((ADDRESS, self.port))
    }

    pub(super) fn shown(&self) -> String {
        shown(&self.command)
    }

    pub(super) fn launch(&self, setup: Setup<'_>, candidate: Candidate<'_>) -> io::Result<Running> {
        let home = self.work.0.join("home");
        let mut env = setup.yard.scrubbed(candidate.subject, candidate.built, &home);
        if let (Some((probe, built)), Some(socket)) = (candidate.probe, &self.probe_socket) {
            for (name, value) in setup.yard.env(&probe.env, &built.folder) {
                add(&mut env, name, value);
            }
            env.push(("DYNO_PROBE_SOCKET".into(), socket.display().to_string()));
            let period = WatchPlan::PERIOD.as_millis();
            env.push(("DYNO_PROBE_PERIOD_MS".into(), period.to_string()));
        }
        let spec = Spec {
            env,
            cpus: Some(setup.split.subject.clone()),
            open_files: Some(setup.files),
            membership: self.group.as_ref().map(Group::membership),
            ..Spec::new(self.marker, self.command.clone(), candidate.built.folder.clone())
        };
        launch(setup.warden, &spec)
    }

    /// Begins before the subject does, so that a probe finds its socket.
    pub(super) fn watch(&self) -> io::Result<Watch> {
        Watch::start(WatchPlan {
            period: WatchPlan::PERIOD,
            began: self.began,
            root: None,
            readings: self.group.as_ref().map(Group::readings),
            port: Some(self.port),
            probe_socket: self.probe_socket.clone(),
        })
    }

    /// Takes everything away again.
    pub(super) fn clear(self, facts: &mut Vec<Fact>) {
        if let Some(Err(error)) = self.group.map(Group::remove) {
            let value = format!("cannot be removed: {error}");
            facts.push(Fact { name: "cgroup".into(), value });
        }
    }
}

/// Where the search for a port begins. Two dynos at once in two projects begin far from each other: between the moment
/// at which a port is found free and the one at which the subject listens on it, nobody holds it.
fn turn(key: &TrialKey) -> u32 {
    /// Prime to the number of ports, so that neighbouring processes get places all over them.
    const STEP: u32 = 7_919;
    std::process::id().wrapping_mul(STEP).wrapping_add(key.number)
}

/// Adds a variable; flags that are there already follow the new ones.
fn add(env: &mut Vec<(String, String)>, name: String, value: String) {
    match env.iter_mut().find(|(other, _)| *other == name) {
        Some((_, there)) => *there = format!("{value} {there}"),
        None => env.push((name, value)),
    }
}
