//! `dyno runs export`: one run, in one file.

use std::fs;
use std::path::PathBuf;

use archive::keep;
use archive::page::near;
use archive::removal::in_words;
use clap::Args;
use store::{RunId, Store};

use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// Write a run into one file, to be kept or shared; `dyno runs import` reads it
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExportFlags {
    /// The run's number; `dyno runs list` shows it
    run: RunId,
    /// The file, which must not be there yet
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
The file has all that the store keeps of the run, with its seals: the texts of its files, command lines, header fields, \
what the machine is, every trial. Look before you share a run that needed a password. It is a store of its own: \
`dyno report --store FILE` and `dyno view --store FILE` read it, too.

Examples:
  dyno runs export 3 -o run-3.dyno
  dyno report --store run-3.dyno

Exit codes:
  0    written
  2    there is no such run, it is damaged, or the file cannot be written";

pub(super) fn run(flags: &ExportFlags) -> Result<ExitStatus, Refusal> {
    let output = &flags.output;
    keep::check("--output", output)?;
    if fs::symlink_metadata(output).is_ok() {
        return Err(Refusal::new(format!(
            "--output {}: it is there already, and nothing is overwritten; name a new file",
            output.display()
        )));
    }
    let (_, path) = flags.store.find()?;
    let store = Store::open_to_read(&path)?;
    let beside = keep::beside(output);
    let written = store.export(flags.run, &beside).map_err(Refusal::from).and_then(|()| {
        fs::rename(&beside, output)
            .map_err(|error| Refusal::new(format!("--output {}: {error}", output.display())))
    });
    if written.is_err() {
        keep::remove_store(&beside);
    }
    written?;
    let runs = Store::open_to_read(output)?.runs()?;
    let run = runs.first().map_or(String::new(), in_words);
    print(&format!("{}: {run}\n", near(output)))
}
