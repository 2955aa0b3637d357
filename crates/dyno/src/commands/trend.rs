//! `dyno trend`: at which runs of a history, or of those that a store keeps, the levels of their figures changed.

use std::path::PathBuf;

use archive::history;
use archive::kept::{alike, findings, newest_or, open, still_kept};
use clap::Args;
use report::history::{Broken, History, Trend, kept_lines, machine_key, read};
use units::counted;

use super::report::tell_damage;
use crate::results::{OF_FIGURES, ResultFlags};
use crate::shell::{ExitStatus, Refusal};
use crate::stores::StoreFlag;

/// Show at which runs the figures of a history, or of the kept runs, changed
///
/// Reads what `--history FILE` of `dyno run`, `dyno load` and `dyno race` appended: a series for each figure of each
/// row, machine by machine. For each change it shows the first commit of the new level, the ratio with its 95 %
/// interval, how many runs such a change needs to be seen, and the command that verifies it. Without a file it reads
/// the kept runs of one experiment, race or load, of which the store does not know the commits. Nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
#[command(mut_arg("store", |store| store.conflicts_with("files")))]
pub(crate) struct TrendFlags {
    /// Histories; several are read as one, and a line that is in two of them counts once [default: the kept runs of the
    /// newest run's experiment]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The kept runs of this run's experiment, race or load
    #[arg(long, value_name = "RUN", conflicts_with = "files")]
    run: Option<String>,
    #[command(flatten)]
    store: StoreFlag,
    #[command(flatten)]
    results: ResultFlags<OF_FIGURES>,
}

const AFTER_HELP: &str = "\
Of histories in which nothing changes, at most 2 in 100 ever announce a change, if they are looked at after each of 100 \
runs; docs/trend.md has the method and its figures. A history, even a long one, is not a proof: that takes a \
measurement of \
both commits side by side.

Examples:
  # each run of an experiment, appended
  dyno run demo --history perf/history.jsonl
  # each load of a server that runs already, five times, appended to the same file
  dyno load localhost:8080/hello --rounds 5 --history perf/history.jsonl
  # what changed, and when
  dyno trend perf/history.jsonl
  # the kept runs of run 3's experiment
  dyno trend --run 3
  # a page with a chart of each series
  dyno trend perf/history.jsonl -o trend.html

Exit codes:
  0    shown, whether anything changed or not
  2    a file cannot be read or written, or has no line of a history, or nothing is kept";

/// So many kept runs are read: some seconds. A series has the newest 300 of those that were measured in the same way.
const READ: usize = 1_000;
/// So many broken lines are named where there is nothing else.
const NAMED: usize = 5;

pub(crate) fn run(flags: &TrendFlags) -> Result<ExitStatus, Refusal> {
    let read: Vec<_> = flags.files.iter().map(|path| ("FILE", path.as_path())).collect();
    flags.results.check(&read)?;
    flags.results.to_the_end(|| {
        let (here, _) = machine_key(&machine::facts::read());
        let trend = match flags.files.is_empty() {
            true => of_kept(flags, &here)?,
            false => of_files(&flags.files, &here)?,
        };
        flags.results.deliver(&trend, false)?;
        Ok(ExitStatus::Yes)
    })
}

fn of_files(files: &[PathBuf], here: &str) -> Result<Trend, Refusal> {
    let files = history::read(files)?;
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let history = read(&files);
    let gates = history.gates.len();
    let trend = Trend::of(names, history, here);
    match trend.is_empty() {
        true => Err(empty(&files, trend.broken(), gates)),
        false => Ok(trend),
    }
}

/// The kept runs of which one is asked for; one at a time is in memory.
fn of_kept(flags: &TrendFlags, here: &str) -> Result<Trend, Refusal> {
    let (_, path) = flags.store.find()?;
    let store = open(&path)?;
    let id = newest_or(&store, flags.run.as_deref())?;
    let mut lines = Vec::new();
    let (runs, has_older) = alike(&store, id, READ)?;
    if has_older {
        terminal::notice(&format!(
            "dyno: run {id} has been repeated more often: the newest {} runs are read; a file of `--history` has all",
            units::count(READ as u64)
        ));
    }
    for run in runs {
        let Some(loaded) = still_kept(&store, run.id)? else {
            let says = format!("dyno: run {} was deleted meanwhile; it is left out", run.id);
            terminal::notice(&says);
            continue;
        };
        let found = findings(&store, run.id, &loaded);
        tell_damage(&found);
        lines.extend(kept_lines(&found));
    }
    let trend = Trend::of(vec![path.display().to_string()], History::of(lines), here);
    match trend.is_empty() {
        true => Err(Refusal::new(format!(
            "the runs of run {id}'s experiment have no figures that are compared from run to run; \
             `dyno report {id}` shows what is kept of it"
        ))),
        false => Ok(trend),
    }
}

/// Lines of gates are of differences between commits, and make no series.
fn empty(files: &[(String, Vec<u8>)], broken: &[Broken], gates: usize) -> Refusal {
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let lines = broken
        .iter()
        .take(NAMED)
        .map(|it| format!("\n  {} line {}: {}", it.file, it.number, it.why));
    let of_gates = match gates {
        0 => String::new(),
        gates => format!(
            " but {} of gates, which have no levels",
            counted(gates as u64, "line", "lines")
        ),
    };
    Refusal::new(format!(
        "{}: no line of a history is in it{of_gates}; `--history FILE` of `dyno run`, `load` or `race` appends some{}",
        names.join(", "),
        lines.collect::<String>()
    ))
}
