//! `dyno trend`: at which runs of a history the levels of its figures changed.

use std::path::PathBuf;

use archive::{history, keep};
use clap::Args;
use report::history::{Broken, Trend, document, json, machine_key, page, read};
use report::render;
use units::counted;

use crate::shell::{ExitStatus, Refusal, print};

/// Show at which runs the figures of a history changed
///
/// Reads what `--history FILE` of `dyno run`, `dyno load` and `dyno race` appended: a series for each figure of each row,
/// machine by machine. Of each change it shows the first commit of the new level, the ratio with its 95 % interval, how many
/// runs such a change needs to be seen, and the command that proves it. Nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TrendFlags {
    /// Histories; several are read as one, and a line that is in two of them counts once
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write JSON, as docs/json.md says
    #[arg(long)]
    json: bool,
    /// Also write a page with a chart of each series to this file, whole or not at all
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Of histories in which nothing changes, at most 2 in 100 ever announce a change, if they are looked at after each of 100 \
runs; docs/trend.md has the method and its figures. A history, even a long one, is no proof: that takes a measurement of \
both commits side by side.

Examples:
  # each run of an experiment, appended
  dyno run demo --history perf/history.jsonl
  # each load of a server that runs already, five times, appended likewise
  dyno load localhost:8080/hello --repeat 5 --history perf/history.jsonl
  # what changed, and when
  dyno trend perf/history.jsonl
  # a page with a chart of each series
  dyno trend perf/history.jsonl --html trend.html

Exit codes:
  0    shown, whether anything changed or not
  2    a file cannot be read or written, or has no line of a history";

/// So many broken lines are named where there is nothing else.
const NAMED: usize = 5;

pub(crate) fn run(flags: &TrendFlags) -> Result<ExitStatus, Refusal> {
    if let Some(path) = &flags.html {
        let read: Vec<_> = flags.files.iter().map(|path| ("FILE", path.as_path())).collect();
        keep::check_all(&[("--html", path)], &read)?;
    }
    let files = history::read(&flags.files)?;
    let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let (here, _) = machine_key(&machine::facts::read());
    let history = read(&files);
    let gates = history.gates.len();
    let trend = Trend::of(names, history, &here);
    if trend.is_empty() {
        return Err(empty(&files, trend.broken(), gates));
    }
    if let Some(path) = &flags.html {
        keep::write_for("--html", path, &page(&trend))?;
    }
    match flags.json {
        true => print(&json(&trend)?),
        false => print(&render::text(&document(&trend), terminal::screen())),
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
