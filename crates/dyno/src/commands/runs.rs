//! `dyno runs`: the kept runs as a whole: which there are, deleting them, and moving them between stores.

mod export;
mod import;
mod list;
mod prune;
mod publishing;
mod repeat;
mod rm;
mod verify;

use clap::{Args, Subcommand};

use crate::shell::{ExitStatus, Refusal};

/// List the kept runs, delete, move, publish, verify and repeat them
///
/// `dyno report` shows the results of one, `dyno compare` those of two, and `dyno view` all of them in a browser.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = AFTER_HELP)]
pub(crate) struct RunsFlags {
    #[command(subcommand)]
    command: RunsCommand,
}

#[derive(Subcommand)]
enum RunsCommand {
    List(list::ListFlags),
    Rm(rm::RmFlags),
    Prune(prune::PruneFlags),
    Export(export::ExportFlags),
    Import(import::ImportFlags),
    Verify(verify::VerifyFlags),
    Repeat(repeat::RepeatFlags),
}

const AFTER_HELP: &str = "\
Examples:
  dyno runs list
  # delete run 3
  dyno runs rm 3
  # keep the newest ten of each group
  dyno runs prune --keep-newest 10
  # run 4 in one file, and from there into the store of another machine
  dyno runs export 4 -o run-4.dyno
  dyno runs import run-4.dyno

Exit codes:
  0    done
  2    there is no such run, another dyno works on it, or a file cannot be read or written";

pub(crate) fn run(flags: &RunsFlags) -> Result<ExitStatus, Refusal> {
    match &flags.command {
        RunsCommand::List(flags) => list::run(flags),
        RunsCommand::Rm(flags) => rm::run(flags),
        RunsCommand::Prune(flags) => prune::run(flags),
        RunsCommand::Export(flags) => export::run(flags),
        RunsCommand::Import(flags) => import::run(flags),
        RunsCommand::Verify(flags) => verify::run(flags),
        RunsCommand::Repeat(flags) => repeat::run(flags),
    }
}
