//! `dyno servers`: the servers of a project, or those that dyno carries, with their workloads and experiments.

mod init;
mod list;
mod new;
mod setup;

use clap::{Args, Subcommand};

use crate::shell::{ExitStatus, Refusal};

/// List the servers that dyno can start, set them up, and add your own
///
/// Within a project, a folder with `subjects/` and `workloads/`, they are the project's; elsewhere those bundled with
/// dyno.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct ServersFlags {
    #[command(subcommand)]
    command: ServersCommand,
}

#[derive(Subcommand)]
enum ServersCommand {
    List(list::ListFlags),
    Setup(setup::SetupFlags),
    New(Box<new::NewFlags>),
    Init(init::InitFlags),
}

const AFTER_HELP: &str = "\
Examples:
  # which servers run here, what the others lack, and how to get it
  dyno servers list
  # build two of them
  dyno servers setup tornado express
  # write a server of yours into the project
  dyno servers new mine --cmd 'node server.js --port {port}'
  # write out all that is bundled with dyno, to be changed
  dyno servers init my-servers

Exit codes:
  0    done
  1    of `setup`: some are not ready
  2    a file, a folder or a name is missing, or cannot be read or written";

pub(crate) fn run(flags: &ServersFlags) -> Result<ExitStatus, Refusal> {
    match &flags.command {
        ServersCommand::List(flags) => list::run(flags),
        ServersCommand::Setup(flags) => setup::run(flags),
        ServersCommand::New(flags) => new::run(flags),
        ServersCommand::Init(flags) => init::run(flags),
    }
}
