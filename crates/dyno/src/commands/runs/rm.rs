//! `dyno runs rm`: deletes runs by their numbers, with their pages.

use archive::removal::Removal;
use clap::Args;
use store::{Fault, RunId, RunSummary, StoreError};

use crate::shell::{ExitStatus, Refusal};
use crate::stores::StoreFlag;

/// Delete runs and their pages
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RmFlags {
    /// The runs' numbers; `dyno runs list` shows them
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<RunId>,
    /// Print what would be deleted, and delete nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
Nothing is asked, and nothing can be taken back: `dyno runs export RUN -o FILE` keeps a run elsewhere first. A run that \
another dyno is working on is refused, and then none is deleted.

Examples:
  dyno runs rm 3
  dyno runs rm 3 4 5 --dry-run

Exit codes:
  0    deleted
  2    there is no such run, another dyno works on it, or the store cannot be written to";

pub(super) fn run(flags: &RmFlags) -> Result<ExitStatus, Refusal> {
    let (project, path) = flags.store.find()?;
    let mut removal = Removal::open(project, path.clone())?;
    let mut chosen: Vec<RunSummary> = Vec::new();
    for number in &flags.runs {
        let found = removal.store.summary(*number)?;
        let found = found.ok_or(StoreError { path: path.clone(), fault: Fault::NoRun(*number) })?;
        if !chosen.contains(&found) {
            chosen.push(found);
        }
    }
    let claims = chosen.iter().map(|run| removal.claim(run.id)).collect::<Result<Vec<_>, _>>()?;
    match flags.dry_run {
        true => removal.show(&chosen)?,
        false => {
            removal.delete(&chosen, claims)?;
            removal.shrink();
        }
    }
    Ok(ExitStatus::Yes)
}
