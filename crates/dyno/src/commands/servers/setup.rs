//! `dyno servers setup NAME…`: shows the commands that prepare a subject, and runs them.

use std::process::{Command, Stdio};

use clap::Args;
use lab::build::{BuildCache, BuildError, Built, Recipe};
use lab::command::shown;
use lab::service::{Manifest, Service};
use load::Halt;
use rustix::process::geteuid;

use crate::interrupt::halt_on_interrupt;
use crate::shell::{ExitStatus, Refusal};
use campaign::project::{Project, unknown};
use campaign::roster::{self, Availability, Member};
use campaign::services;

/// Build servers and services, and install the packages that they need
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SetupFlags {
    /// Servers and services to get ready
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,
    /// All servers and services that can run on this machine
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Install Debian packages where they are missing (as root)
    #[arg(long)]
    yes: bool,
}

const AFTER_HELP: &str = "\
A server's build runs commands of its manifest on this machine, as you, without a sandbox.

Examples:
  dyno servers setup tornado express
  # with the Debian packages that are missing, as root
  sudo dyno servers setup tornado --yes
  # a database that workloads need beside the server
  sudo dyno servers setup postgresql --yes

Exit codes:
  0    all are ready
  1    some are not, each with the reason
  2    there is no server of this name
  130  interrupted";

pub(super) fn run(flags: &SetupFlags) -> Result<ExitStatus, Refusal> {
    let project = Project::find()?;
    let (subjects, services) = (project.subjects(), project.services());
    let known = [subjects.clone(), services].concat();
    let names = if flags.all { &known } else { &flags.names };
    for name in names {
        if !known.contains(name) {
            return Err(unknown("server", name, &known, "`dyno servers list` shows them"));
        }
    }
    let cache = project.cache()?;
    let halt = halt_on_interrupt()?;
    let mut lacking = Vec::new();
    for name in names {
        if halt.is_asked() {
            return Ok(ExitStatus::Interrupted);
        }
        let setup = Setup { project: &project, cache: &cache, may_install: flags.yes, halt: &halt };
        let prepared = match subjects.contains(name) {
            true => setup.server(name),
            false => setup.service(name),
        };
        match prepared {
            Ok(says) => terminal::notice(&format!("{name}: {says}")),
            Err(says) => {
                terminal::notice(&format!("{name}: not ready: {says}"));
                lacking.push(name.as_str());
            }
        }
    }
    match (halt.is_asked(), lacking.is_empty()) {
        (true, _) => Ok(ExitStatus::Interrupted),
        (false, true) => Ok(ExitStatus::Yes),
        (false, false) => Ok(ExitStatus::No),
    }
}

/// With what servers and services are prepared.
struct Setup<'a> {
    project: &'a Project,
    cache: &'a BuildCache,
    may_install: bool,
    halt: &'a Halt,
}

impl Setup<'_> {
    /// Prepares one server; returns the result.
    fn server(&self, name: &str) -> Result<String, String> {
        let mut member = Member::read(self.project, self.cache, name);
        let subject = member.subject.clone()?;
        if matches!(member.state, Availability::Missing(_)) {
            if let Some(command) =
                roster::debian_command(&subject.debian).filter(|_| member.has_apt)
            {
                self.install(name, &command)?;
                member = Member::read(self.project, self.cache, name);
            }
            if let Some(lack) = member.lack() {
                return Err(lack);
            }
        }
        let built = self.build(name, (&subject).into()).map_err(|error| error.to_string())?;
        if let Some(probe) = roster::probe(&self.project.root, &subject)? {
            let name = format!("{name}: {}", probe.title);
            self.build(&name, (&probe).into()).map_err(|error| format!("its probe: {error}"))?;
        }
        let version = self.cache.version(&subject, &built);
        Ok(format!("ready: {}", version.unwrap_or_else(|| "version unknown".into())))
    }

    /// Prepares one service. What its packages would start is said, and prevented, before they are installed.
    fn service(&self, name: &str) -> Result<String, String> {
        let read = || Service::read(&self.project.root, name, &self.cache.variables);
        let mut service = read().map_err(|error| error.to_string())?;
        if services::lack(&service, self.cache).is_some() {
            let command = roster::debian_command(&service.manifest.debian);
            if let Some(command) = command.filter(|_| roster::has_apt(self.cache)) {
                self.prevent(name, &service)?;
                self.install(name, &command)?;
                // Its programs are found now.
                service = read().map_err(|error| error.to_string())?;
            }
            if let Some(lack) = services::lack(&service, self.cache) {
                return Err(lack);
            }
        }
        let is_halted = || self.halt.is_asked();
        let tell = &mut |command: &str| terminal::notice(&format!("{name}: $ {command}"));
        let ready = self.cache.service(&service, &is_halted, tell).map_err(|it| it.to_string())?;
        let version = if ready.version.is_empty() { "version unknown" } else { &ready.version };
        Ok(format!("ready: {version}"))
    }

    /// Says what installing a service's packages would start, and prevents it.
    fn prevent(&self, name: &str, service: &Service) -> Result<(), String> {
        let Manifest { starts: Some(starts), prevent, .. } = &service.manifest else {
            return Ok(());
        };
        let way =
            if self.may_install { "this prevents it:" } else { "with --yes that is prevented" };
        terminal::notice(&format!("{name}: installing its packages would start {starts}; {way}"));
        // Without the rights, nothing is installed either.
        if !self.may_install || !geteuid().is_root() {
            return Ok(());
        }
        prevent.iter().try_for_each(|command| self.run(name, command.words()))
    }

    fn build(&self, name: &str, recipe: Recipe<'_>) -> Result<Built, BuildError> {
        self.cache.build(recipe, &|| self.halt.is_asked(), &mut |command| {
            terminal::notice(&format!("{name}: $ {command}"));
        })
    }

    /// Installs packages, if that was allowed and dyno has the rights.
    fn install(&self, name: &str, command: &[String]) -> Result<(), String> {
        let typed = shown(command);
        if !self.may_install {
            return Err(format!(
                "its packages are missing; `dyno servers setup {name} --yes` runs `{typed}`"
            ));
        }
        if !geteuid().is_root() {
            return Err(format!("packages are installed by root: sudo {typed}"));
        }
        self.run(name, command)
            .map_err(|says| format!("{says}; if its lists are old, `apt-get update` comes first"))
    }

    /// Runs a command of an installation.
    fn run(&self, name: &str, command: &[String]) -> Result<(), String> {
        let typed = shown(command);
        terminal::notice(&format!("{name}: $ {typed}"));
        let status = Command::new(&command[0])
            .args(&command[1..])
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{typed}` ended with {status}")),
            Err(error) => Err(format!("`{typed}`: {error}")),
        }
    }
}
