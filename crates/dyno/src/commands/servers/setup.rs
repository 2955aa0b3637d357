//! `dyno servers setup NAME…`: shows the commands that prepare a subject, and runs them.

use std::process::{Command, Stdio};

use clap::Args;
use lab::build::BuildCache;
use lab::command::shown;
use load::Halt;

use crate::interrupt::halt_on_interrupt;
use crate::shell::{ExitStatus, Refusal};
use campaign::project::{Project, unknown};
use campaign::roster::{self, Availability, Member};

/// Build servers, and install the packages that they need
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SetupFlags {
    /// Servers to get ready
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<String>,
    /// All servers that can run on this machine
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

Exit codes:
  0    all are ready
  1    some are not, each with the reason
  2    there is no server of this name
  130  interrupted";

pub(super) fn run(flags: &SetupFlags) -> Result<ExitStatus, Refusal> {
    let project = Project::find()?;
    let known = project.subjects();
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
        match one(&project, &cache, name, flags.yes, &halt) {
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

/// Prepares one subject; returns the result.
fn one(
    project: &Project,
    cache: &BuildCache,
    name: &str,
    may_install: bool,
    halt: &Halt,
) -> Result<String, String> {
    let mut member = Member::read(project, cache, name);
    let subject = member.subject.clone()?;
    if matches!(member.state, Availability::Missing(_)) {
        if let Some(command) = roster::debian_command(&subject).filter(|_| member.has_apt) {
            install(name, &command, may_install)?;
            member = Member::read(project, cache, name);
        }
        if let Some(lack) = member.lack() {
            return Err(lack);
        }
    }
    let built = cache
        .build((&subject).into(), &|| halt.is_asked(), &mut |command| {
            terminal::notice(&format!("{name}: $ {command}"));
        })
        .map_err(|error| error.to_string())?;
    if let Some(probe) = roster::probe(&project.root, &subject)? {
        cache
            .build((&probe).into(), &|| halt.is_asked(), &mut |command| {
                terminal::notice(&format!("{name}: {}: $ {command}", probe.title));
            })
            .map_err(|error| format!("its probe: {error}"))?;
    }
    let version = cache.version(&subject, &built).unwrap_or_else(|| "version unknown".into());
    Ok(format!("ready: {version}"))
}

/// Installs packages, if that was allowed and dyno has the rights.
fn install(name: &str, command: &[String], may_install: bool) -> Result<(), String> {
    let typed = shown(command);
    if !may_install {
        return Err(format!(
            "its packages are missing; `dyno servers setup {name} --yes` runs `{typed}`"
        ));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(format!("packages are installed by root: sudo {typed}"));
    }
    terminal::notice(&format!("{name}: $ {typed}"));
    let status = Command::new(&command[0])
        .args(&command[1..])
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "`{typed}` ended with {status}; if its lists are old, `apt-get update` comes first"
        )),
        Err(error) => Err(format!("`{typed}`: {error}")),
    }
}
