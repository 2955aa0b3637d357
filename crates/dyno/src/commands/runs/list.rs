//! `dyno runs list`: the kept runs, a line each.

use archive::kept::{has_words, newest, open, unfinished};
use clap::Args;
use report::listing::{self, RunRow, RunsListing};
use report::time;
use store::RunSummary;

use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// List the kept runs: number, name, when each began, how many trials it has, and whether it is unfinished
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListFlags {
    /// List the runs that have these words in their number, name, request, servers or date [default: all runs]
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// List older runs than the newest 300, too; --json always does
    #[arg(long)]
    all: bool,
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
  # the kept loads of an address
  dyno runs list load localhost:8080/hello
  # the runs that a store of another place keeps
  dyno runs list --store FILE

Exit codes:
  0    listed
  2    there are no runs, or the store cannot be read";

/// More runs than these are not read for a screen.
const LISTED: usize = 300;

pub(super) fn run(flags: &ListFlags) -> Result<ExitStatus, Refusal> {
    let (_, path) = flags.store.find()?;
    let search = flags.words.join(" ");
    let most = if flags.all || flags.json { usize::MAX } else { LISTED };
    let (runs, has_older) = newest(&open(&path)?, most, |run| has_words(run, &search))?;
    if has_older {
        terminal::notice(&format!(
            "dyno: the newest {LISTED} runs are listed; `dyno runs list WORD` finds others, and --all lists them"
        ));
    }
    if runs.is_empty() && !search.is_empty() {
        terminal::notice("dyno: no run has all of these words; `dyno runs list` lists all runs");
    }
    let runs = runs.into_iter().rev().map(row).collect();
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
