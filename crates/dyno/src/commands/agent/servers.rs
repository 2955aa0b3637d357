//! `dyno agent --servers`: a run whose coordinator is on another machine has its servers here; and `dyno agent trust`.

use std::io;
use std::path::PathBuf;

use agents::servers::{HostSession, TrustedFolder, machine_name};
use campaign::remote_run::{HostTerms, serve};
use clap::Args;

use crate::commands::run::dry;
use crate::interrupt::halt_on_interrupt;
use crate::kernel;
use crate::shell::{ExitStatus, Refusal, print};
use report::dry_run;

/// Let dynos on other machines run these servers here: the files of a subject or a probe, or of a whole project, as they
/// are now
///
/// `dyno run --subject-on` sends the files of servers to the machine on which they are to run. An agent that ssh starts
/// with a forced command runs only those whose files are trusted; one changed byte, and they are not.
#[derive(Args)]
#[command(after_help = TRUST_HELP)]
pub(crate) struct TrustFlags {
    /// A project's folder, or that of one subject or probe
    folder: PathBuf,
}

const TRUST_HELP: &str = "\
What is trusted runs commands on this machine, as you, without a sandbox: read it first. The list is in \
~/.local/state/dyno/trusted; remove a line, and what it names is not trusted any more.

Examples:
  # all servers of a project
  dyno agent trust ~/bench
  # one of them
  dyno agent trust ~/bench/subjects/my-server

Exit codes:
  0    trusted
  2    it is no such folder, or the list cannot be written";

pub(crate) fn trust(flags: &TrustFlags) -> Result<ExitStatus, Refusal> {
    let folders = campaign::remote_run::trust(&flags.folder)?;
    terminal::notice(&format!(
        "from now on others may have {} run here, as this user; to take that back, remove the line from {}",
        units::counted(folders.len() as u64, "folder", "folders"),
        campaign::remote_run::trusted_list()?.display()
    ));
    let line = |folder: &TrustedFolder| format!("{}  {}\n", folder.digest, folder.name);
    print(&folders.iter().map(line).collect::<String>())
}

/// Has the servers of one run, for the coordinator at the other end of standard input and output.
pub(crate) fn run(trusts_all: bool, is_local: bool) -> Result<ExitStatus, Refusal> {
    kernel::check()?;
    let halt = halt_on_interrupt()?;
    let session = HostSession::open(io::stdin(), io::stdout(), halt).map_err(Refusal::new)?;
    let terms = HostTerms {
        trusts_all,
        is_local,
        host: machine_name(),
        show: &|campaign, resources| dry_run::text(&dry(campaign, resources)),
    };
    serve(&session, &terms)?;
    Ok(ExitStatus::Yes)
}
