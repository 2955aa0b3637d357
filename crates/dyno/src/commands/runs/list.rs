//! `dyno runs list`: the kept runs, a line each.

use archive::kept::unfinished;
use clap::Args;
use report::listing::{self, RunRow, RunsListing};
use report::time;
use store::{RunSummary, Store};

use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// List the kept runs: number, name, when each began, how many trials it has, and whether it is unfinished
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListFlags {
    #[command(flatten)]
    store: StoreFlag,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
`dyno view` lists them in a browser, with their verdicts and answers.

Examples:
  dyno runs list
  # the runs that a store of another place keeps
  dyno runs list --store FILE

Exit codes:
  0    listed
  2    there are no runs, or the store cannot be read";

pub(super) fn run(flags: &ListFlags) -> Result<ExitStatus, Refusal> {
    let (_, path) = flags.store.find()?;
    let runs = Store::open(&path)?.runs()?.into_iter().map(row).collect();
    let listing = RunsListing { format: "dyno.runs/1", store: path.display().to_string(), runs };
    print(&match flags.json {
        true => listing::json(&listing)?,
        false => {
            listing::runs_text(&listing, terminal::stdout_width(), terminal::stdout_is_coloured())
        }
    })
}

fn row(run: RunSummary) -> RunRow {
    RunRow {
        id: run.id.to_string(),
        began: time::utc(run.began_unix_ms),
        unfinished: if run.damage.is_some() { Some("damaged") } else { unfinished(&run) },
        name: run.name,
        group: run.group,
        is_quick: run.is_quick,
        planned: run.planned.into(),
        kept: run.kept.into(),
        is_finished: run.is_finished,
    }
}
