//! The commands of a service in a trial: what they see, and how they are run to their ends.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::{PrivateFolder, ServiceStart};
use crate::build::step::{Failed, run_to_end};
use crate::build::{last_bytes, program};
use crate::command::{Command, Placeholders, shown};
use machine::conditions::Cpus;
use machine::process::{Marker, Membership, Spec, launch};
use machine::unprivileged::User;

/// How long a command has to end after it was asked.
const GRACE_MS: u64 = 1_000;
/// How much of what a command prints is read.
const OUTPUT_MAX: u64 = 16 << 20;

#[derive(Clone, Debug)]
pub(super) struct Commands {
    warden: [OsString; 2],
    work: PathBuf,
    user: Option<User>,
    cpus: Option<Cpus>,
    files: Option<u64>,
    env: Vec<(String, String)>,
    pub(super) port: u16,
    password: String,
    dyno: String,
}

impl Commands {
    pub(super) fn new(
        setup: ServiceStart<'_>,
        folder: &PrivateFolder,
        port: u16,
        password: String,
    ) -> Commands {
        let cache = setup.launcher.cache;
        let service = &setup.ready.service;
        let work = folder.path().display().to_string();
        let fixed = [("TMPDIR", work.as_str()), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
        let fixed = fixed.map(|(name, value)| (name.to_string(), value.to_string()));
        let mut commands = Commands {
            warden: setup.launcher.cache.warden(),
            work: folder.path().into(),
            user: folder.user(),
            cpus: setup.cpus.cloned(),
            files: setup.files,
            env: cache.env(&service.plan.env, folder.path()),
            port,
            password,
            dyno: cache.dyno.display().to_string(),
        };
        commands.env.extend(fixed);
        commands.env.extend(commands.fill_all(&service.manifest.env));
        commands
    }

    /// These commands, to be run on other CPUs.
    pub(super) fn on(&self, cpus: &Cpus) -> Commands {
        Commands { cpus: Some(cpus.clone()), ..self.clone() }
    }

    /// Variables with their placeholders filled.
    pub(super) fn fill_all(&self, env: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let (port, work) = (self.port.to_string(), self.work.display().to_string());
        let known = [
            ("port", port.as_str()),
            ("work", &work),
            ("dyno", &self.dyno),
            ("password", &self.password),
        ];
        let placeholders = Placeholders { known: &known };
        let fill = |value: &str| placeholders.fill(value).expect("it was checked when it was read");
        env.iter().map(|(name, value)| (name.clone(), fill(value))).collect()
    }

    fn words(&self, command: &Command, more: &[(&str, &str)]) -> Vec<String> {
        let (port, work) = (self.port.to_string(), self.work.display().to_string());
        let mut known = vec![("port", port.as_str()), ("work", &work), ("dyno", &self.dyno)];
        known.extend(more);
        command.fill(Placeholders { known: &known }).expect("it was checked when it was read")
    }

    /// The process of the service itself.
    pub(super) fn spec(
        &self,
        marker: Marker,
        command: &Command,
        membership: Option<Membership>,
        stop_signal: i32,
    ) -> Spec {
        let words = self.words(command, &[]);
        Spec { membership, stop_signal, ..self.process(marker, words) }
    }

    fn process(&self, marker: Marker, mut words: Vec<String>) -> Spec {
        words[0] = program(&self.work, &words[0]).display().to_string();
        Spec {
            env: self.env.clone(),
            user: self.user,
            cpus: self.cpus.clone(),
            open_files: self.files,
            ..Spec::new(marker, words, self.work.clone())
        }
    }

    /// Runs a command to its end; returns what it printed.
    pub(super) fn run(
        &self,
        command: &Command,
        more: &[(&str, &str)],
        limit: Duration,
        is_halted: &dyn Fn() -> bool,
    ) -> Result<String, Failed> {
        let words = self.words(command, more);
        let typed = shown(&words);
        let log = self.work.join("output");
        // Each command has a file of its own.
        let _ = std::fs::remove_file(&log);
        let spec = Spec {
            log: Some(log.clone()),
            log_bytes_max: OUTPUT_MAX,
            grace_ms: GRACE_MS,
            ..self.process(Marker::unique(), words)
        };
        let tail = run_to_end(launch(&self.warden, &spec), &typed, &log, limit, is_halted)?;
        let output = last_bytes(&log, OUTPUT_MAX).unwrap_or_default();
        // Half a table would accuse the server.
        if !output.ends_with(&tail) {
            let says = format!("the output of `{typed}` could not be kept; is the disk full?");
            return Err(Failed::Ended(says));
        }
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}
