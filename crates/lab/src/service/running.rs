//! A service that runs beside the server of one trial: a copy of its template, in a folder and under a user of its own.

mod commands;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::private_folder::private_root;
use super::{Manifest, PrivateFolder, ReadyService, ServiceCeiling};
use crate::arrival::{Setback, found_its_port_taken, last_words};
use crate::build::step::Failed;
use crate::command::Command;
use crate::record::{Fact, Outcome, OutcomeKind};
use crate::trial::{Launcher, interrupted, outcome, unable};
use commands::Commands;
use machine::conditions::{Cpus, Group};
use machine::monitor::ServiceWatch;
use machine::process::{Exit, Marker, Running, launch};
use machine::sockets::{PORTS, free_port};
use machine::unprivileged::stranger;
use wire::Tables;

/// What a service has counted since it was seeded, by names of its own.
pub type Counters = BTreeMap<String, u64>;

/// The time between two attempts to use it.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);
/// How long one attempt may take, however little time is left.
const ATTEMPT: Duration = Duration::from_secs(5);
/// No command that seeds or reads it takes longer.
const LONGEST: Duration = Duration::from_secs(60);
/// Nor this, once the trial is interrupted.
const HALTED: Duration = Duration::from_secs(2);

/// What a service is started with.
#[derive(Clone, Copy)]
pub(crate) struct ServiceStart<'a> {
    pub(crate) launcher: Launcher<'a>,
    pub(crate) ready: &'a ReadyService,
    /// The CPUs that it may use; all if there are none.
    pub(crate) cpus: Option<&'a Cpus>,
    /// How many files it may open; as many as dyno if that is not said.
    pub(crate) files: Option<u64>,
    /// Its rows.
    pub(crate) tables: &'a Tables,
    /// The port that is the server's.
    pub(crate) server_port: u16,
    pub(crate) is_halted: &'a dyn Fn() -> bool,
}

/// A running service. Dropping it ends it, and removes all that is left of it.
#[derive(Debug)]
pub(crate) struct RunningService {
    running: Mutex<Running>,
    group: Option<Group>,
    ready: ReadyService,
    commands: Commands,
    /// How it was started, in a sentence.
    fact: Fact,
    began: Instant,
    // Last: it is removed when nothing runs in it any more.
    folder: PrivateFolder,
}

impl RunningService {
    /// Copies, starts and seeds it.
    pub(crate) fn start(setup: ServiceStart<'_>) -> Result<RunningService, Setback> {
        let ReadyService { service, built, .. } = setup.ready;
        let marker = Marker::unique();
        let before = Instant::now();
        let root = private_root(&setup.launcher.cache.variables);
        let copied = PrivateFolder::copy_of(&built.folder, &root, &marker, stranger());
        let folder = copied.map_err(|error| {
            let says =
                format!("the template of service `{}` cannot be copied: {error}", service.name);
            unable(says)
        })?;
        let copied_after = before.elapsed();
        write_tables(&folder, setup.tables).map_err(|error| {
            unable(format!("the tables of service `{}`: {error}", service.name))
        })?;
        let (group, _) = Group::create(&marker, None);
        let commands = Commands::new(setup, &folder, port_beside(setup.server_port)?, password()?);
        let began = Instant::now();
        let run = commands.spec(
            marker,
            &service.manifest.run,
            group.as_ref().map(Group::membership),
            service.manifest.stop.number(),
        );
        let running = launch(&setup.launcher.cache.warden(), &run).map_err(|error| {
            unable(format!(
                "service `{}`: `{}` cannot be run: {error}",
                service.name, service.manifest.run
            ))
        })?;
        let ready = setup.ready.clone();
        let running = Mutex::new(running);
        let fact = Fact { name: "service".into(), value: String::new() };
        let mut started = RunningService { running, group, ready, commands, fact, began, folder };
        started.wait_until_ready(setup.is_halted)?;
        let ready_after = began.elapsed();
        started.seed(setup.is_halted)?;
        started.compare(setup.tables, setup.is_halted)?;
        let seeded_after = began.elapsed() - ready_after;
        let ms = |time: Duration| time.as_millis();
        let user =
            started.folder.user().map_or("the caller".into(), |(user, _)| format!("user {user}"));
        started.fact.value = format!(
            "{}: copied in {} ms, ready {} ms after its start, seeded in {} ms; as {user}, in {}",
            service.name,
            ms(copied_after),
            ms(ready_after),
            ms(seeded_after),
            root.display()
        );
        Ok(started)
    }

    /// How it was started.
    pub(crate) fn fact(&self) -> Fact {
        self.fact.clone()
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<Exit> {
        self.running().ended()
    }

    /// That it ended, with its last words, if it has.
    pub(crate) fn death(&self) -> Option<String> {
        let exit = self.ended()?;
        let words = last_words(&self.running().tail());
        Some(format!("service `{}` ended: {exit}{words}", self.ready.service.name))
    }

    /// The variables that the server is given.
    pub(crate) fn gives(&self) -> Vec<(String, String)> {
        self.commands.fill_all(&self.manifest().gives)
    }

    /// What the monitors follow.
    pub(crate) fn watch(&self) -> ServiceWatch {
        let readings = self.group.as_ref().map(Group::readings);
        ServiceWatch { root: self.running().warden_pid(), readings }
    }

    /// What it has counted since it was seeded; none if it does not count.
    pub(crate) fn counters(
        &self,
        is_halted: &dyn Fn() -> bool,
    ) -> Option<Result<Counters, String>> {
        let command = self.manifest().counters.as_ref()?;
        Some(self.ask(command, &[], is_halted).and_then(|text| counters(&text)))
    }

    /// Inserts the row of `fortune` that the tables have for it; returns when it is there.
    pub(crate) fn insert(&self, is_halted: &dyn Fn() -> bool) -> Result<(), String> {
        let Some(command) = &self.manifest().insert else {
            return Err(format!("service `{}` has no command `insert`", self.ready.service.name));
        };
        self.ask(command, &[], is_halted).map(drop)
    }

    /// The rows of `world` in the order of their ids: id and number.
    pub(crate) fn world(&self, is_halted: &dyn Fn() -> bool) -> Result<Vec<(u32, u32)>, String> {
        let text = self.table("world", is_halted).unwrap_or_else(|| {
            Err(format!("service `{}` has no command `read`", self.ready.service.name))
        })?;
        let rows = text.lines().map(|line| {
            row(line).ok_or_else(|| format!("`{}` is not a row of `world`", line.escape_debug()))
        });
        rows.collect()
    }

    /// The rows of a table in the order of their ids, as CSV; none if it has no command for that.
    fn table(&self, name: &str, is_halted: &dyn Fn() -> bool) -> Option<Result<String, String>> {
        let command = self.manifest().read.as_ref()?;
        Some(self.ask(command, &[("table", name)], is_halted))
    }

    /// What a command printed. What a halted load has done is counted, too, unless that takes long.
    fn ask(
        &self,
        command: &Command,
        more: &[(&str, &str)],
        is_halted: &dyn Fn() -> bool,
    ) -> Result<String, String> {
        let began = Instant::now();
        let is_given_up = || HALTED < began.elapsed() && is_halted();
        self.commands.run(command, more, LONGEST, &is_given_up).map_err(|it| it.to_string())
    }

    /// Loads it from these CPUs with what a server would ask of it for this workload, by so many connections.
    pub(crate) fn ceiling(
        &self,
        command: &Command,
        load: &Cpus,
        (workload, connections, seconds): (&str, usize, u64),
        is_halted: &dyn Fn() -> bool,
    ) -> Result<ServiceCeiling, String> {
        let (connections, time) = (connections.to_string(), seconds.to_string());
        let more =
            [("workload", workload), ("connections", &connections), ("seconds", time.as_str())];
        let limit = Duration::from_secs(seconds) + LONGEST;
        let ran = self.commands.on(load).run(command, &more, limit, is_halted);
        let died = |failed: Failed| self.death().unwrap_or_else(|| failed.to_string());
        ServiceCeiling::printed(&ran.map_err(died)?).map_err(|says| format!("`{command}`: {says}"))
    }

    fn manifest(&self) -> &Manifest {
        &self.ready.service.manifest
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until_ready(&self, is_halted: &dyn Fn() -> bool) -> Result<(), Setback> {
        let Manifest { ready, ready_within, .. } = self.manifest();
        loop {
            let left = ready_within.saturating_sub(self.began.elapsed());
            let failed = match self.commands.run(ready, &[], left.max(ATTEMPT), is_halted) {
                Ok(_) => return self.still_runs(),
                Err(Failed::Halted) => return Err(interrupted().into()),
                Err(failed) => failed,
            };
            self.still_runs()?;
            if *ready_within <= self.began.elapsed() {
                let (name, within) = (&self.ready.service.name, ready_within.as_secs_f64());
                let words = last_words(&self.running().tail());
                let says =
                    format!("service `{name}` was not ready within {within} s: {failed}{words}");
                return Err(unable(says).into());
            }
            std::thread::sleep(BETWEEN_ATTEMPTS);
        }
    }

    /// Another service may have answered on the port that this one did not get.
    fn still_runs(&self) -> Result<(), Setback> {
        let Some(says) = self.death() else { return Ok(()) };
        match found_its_port_taken(&self.running().tail()) {
            true => Err(Setback::PortTaken(format!("{says} (port {})", self.commands.port))),
            false => Err(outcome(OutcomeKind::ServiceDied, says).into()),
        }
    }

    fn seed(&self, is_halted: &dyn Fn() -> bool) -> Result<(), Setback> {
        for command in &self.manifest().seed {
            match self.commands.run(command, &[], LONGEST, is_halted) {
                Ok(_) => {}
                Err(Failed::Halted) => return Err(interrupted().into()),
                Err(failed) => {
                    self.still_runs()?;
                    let name = &self.ready.service.name;
                    let says = format!("service `{name}` cannot be seeded: {failed}");
                    return Err(unable(says).into());
                }
            }
        }
        Ok(())
    }

    /// Answers are judged by the rows that it was given: they must be there.
    fn compare(&self, tables: &Tables, is_halted: &dyn Fn() -> bool) -> Result<(), Setback> {
        let name = &self.ready.service.name;
        let says = match self.table("world", is_halted) {
            None => return Ok(()),
            Some(Ok(rows)) if rows == tables.world_csv() => return Ok(()),
            Some(Err(_)) if is_halted() => return Err(interrupted().into()),
            Some(Ok(_)) => {
                format!(
                    "service `{name}` cannot be seeded: its table `world` is not what it was given"
                )
            }
            Some(Err(says)) => format!("service `{name}`: {says}"),
        };
        Err(unable(says).into())
    }
}

/// A row of `world` in CSV.
fn row(line: &str) -> Option<(u32, u32)> {
    let (id, number) = line.split_once(',')?;
    Some((id.parse().ok()?, number.parse().ok()?))
}

/// The tables, as files that the service's commands may read.
fn write_tables(folder: &PrivateFolder, tables: &Tables) -> std::io::Result<()> {
    let files = folder.path().join("tables");
    fs::create_dir(&files)?;
    fs::write(files.join("world.csv"), tables.world_csv())?;
    fs::write(files.join("fortune.csv"), tables.fortune_csv())?;
    fs::write(files.join("inserted.csv"), tables.inserted_csv())?;
    for entry in fs::read_dir(&files)? {
        folder.give(&entry?.path())?;
    }
    folder.give(&files)
}

/// A free port that is not the server's, which does not listen yet.
fn port_beside(server_port: u16) -> Result<u16, Outcome> {
    loop {
        match free_port(PORTS) {
            Ok(port) if port == server_port => {}
            Ok(port) => return Ok(port),
            Err(error) => return Err(unable(format!("no free port: {error}"))),
        }
    }
}

/// 128 random bits: nobody else on this machine can guess them.
fn password() -> Result<String, Outcome> {
    let mut bytes = [0; 16];
    let source = "/dev/urandom";
    let read = fs::File::open(source).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| unable(format!("{source}: {error}")))?;
    Ok(units::hex(&bytes))
}

/// Pairs `name=number` with blanks or line ends between them.
fn counters(text: &str) -> Result<Counters, String> {
    let pair = |word: &str| {
        let (name, number) = word.split_once('=')?;
        Some((name.to_string(), number.parse().ok()?))
    };
    let words = text.split_ascii_whitespace();
    let read = words.map(|word| {
        pair(word).ok_or_else(|| format!("`{}` is not `name=number`", word.escape_debug()))
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_pairs_and_nothing_else() {
        let all = counters("a.reads=3 a.rows=12\nb=0\n").unwrap();
        assert_eq!((all["a.reads"], all["a.rows"], all["b"], all.len()), (3, 12, 0, 3));
        for text in ["a", "a=-1", "a=x", "ERROR: no such table"] {
            assert!(counters(text).unwrap_err().contains("is not `name=number`"), "{text}");
        }
    }

    #[test]
    fn a_password_is_another_one_each_time() {
        let (one, other) = (password().unwrap(), password().unwrap());
        assert_eq!((one.len(), one == other), (32, false));
    }
}
