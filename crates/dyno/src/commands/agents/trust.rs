//! `dyno agents trust`: the servers that dynos on other machines may have run here.

use std::path::PathBuf;

use agents::servers::TrustedFolder;
use campaign::remote_run;
use clap::Args;

use crate::shell::{ExitStatus, Refusal, print};

/// Let dynos on other machines run these servers here: the files of a server or a probe, or of a whole project, as they
/// are now
///
/// `dyno run --server-on` sends the files of servers to the machine on which they are to run. An agent that ssh starts
/// with a forced command runs only those whose files are trusted; one changed byte, and they are not.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TrustFlags {
    /// A project's folder, or that of one server or probe
    folder: PathBuf,
}

const AFTER_HELP: &str = "\
What is trusted runs commands on this machine, as you, without a sandbox: read it first. The list is in \
~/.local/state/dyno/trusted; remove a line, and what it names is not trusted any more.

Examples:
  # all servers of a project
  dyno agents trust ~/bench
  # one of them
  dyno agents trust ~/bench/subjects/my-server

Exit codes:
  0    trusted
  2    it is no such folder, or the list cannot be written";

pub(super) fn run(flags: &TrustFlags) -> Result<ExitStatus, Refusal> {
    let folders = remote_run::trust(&flags.folder)?;
    terminal::notice(&format!(
        "from now on others may have {} run here, as this user; to take that back, remove the line from {}",
        units::counted(folders.len() as u64, "folder", "folders"),
        remote_run::trusted_list()?.display()
    ));
    let line = |folder: &TrustedFolder| format!("{}  {}\n", folder.digest, folder.name);
    print(&folders.iter().map(line).collect::<String>())
}
