//! `dyno runs export`: one run, in one file.

use std::fs;
use std::path::PathBuf;

use archive::keep;
use archive::page::near;
use archive::removal::in_words;
use clap::Args;
use store::{RunId, Store};
use units::visible;

use super::publishing::public_run;
use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// Write a run into one file, to be kept or shared; `dyno runs import` reads it
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExportFlags {
    /// The run's number; `dyno runs list` shows it
    run: RunId,
    /// The file, which must not be there yet
    #[arg(short, long, value_name = "FILE", required_unless_present = "show")]
    output: Option<PathBuf>,
    /// Write a file for the public: without what is private, with the sources of the servers, and with an id
    #[arg(long)]
    public: bool,
    /// With --public: print what would be replaced and left out, and write nothing
    #[arg(long, requires = "public")]
    show: bool,
    /// With --public: the sampled trials, too
    #[arg(long, requires = "public")]
    why: bool,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
The file has all that the store keeps of the run, with its seals: the texts of its files, command lines, header fields, \
what the machine is, every trial. Look before you share a run that needed a password. It is a store of its own: \
`dyno report --store FILE` and `dyno view --store FILE` read it, too.

With --public the file is another one: names of people and machines, addresses, credentials, folders, the output of \
servers and facts that are not on a list are replaced or left out, and what is computed of the run is claimed in it, so \
that `dyno runs verify` can compute it anew. docs/board.md has what is in it.

Examples:
  dyno runs export 3 -o run-3.dyno
  dyno runs export 3 --public -o hello.dyno
  # signed: the signature is hello.dyno.sig
  ssh-keygen -Y sign -n dyno -f ~/.ssh/id_ed25519 hello.dyno
  dyno report --store run-3.dyno

Exit codes:
  0    written
  2    there is no such run, it is damaged, or the file cannot be written";

pub(super) fn run(flags: &ExportFlags) -> Result<ExitStatus, Refusal> {
    let Some(output) = &flags.output else {
        return print(&public(flags)?.1);
    };
    keep::check("--output", output)?;
    if fs::symlink_metadata(output).is_ok() {
        return Err(Refusal::new(format!(
            "--output {}: it is there already, and nothing is overwritten; name a new file",
            output.display()
        )));
    }
    if flags.public {
        let (bytes, says) = public(flags)?;
        if !flags.show {
            keep::write_for("--output", output, &bytes)?;
        }
        return print(&says);
    }
    let (_, path) = flags.store.find()?;
    let store = Store::open_to_read(&path)?;
    let beside = keep::beside(output);
    let written = store.export(flags.run, &beside, None).map_err(Refusal::from).and_then(|()| {
        fs::rename(&beside, output)
            .map_err(|error| Refusal::new(format!("--output {}: {error}", output.display())))
    });
    if written.is_err() {
        let _ = Store::remove_file(&beside);
    }
    written?;
    let runs = Store::open_to_read(output)?.runs()?;
    let run = runs.first().map_or(String::new(), in_words);
    print(&format!("{}: {run}\n", near(output)))
}

/// The public file, and what is said of it.
fn public(flags: &ExportFlags) -> Result<(Vec<u8>, String), Refusal> {
    let (project, path) = flags.store.find()?;
    let store = Store::open_to_read(&path)?;
    let (run, notes) = public_run(&store, flags.run, project.as_ref())?;
    let bytes =
        run.write(flags.why).map_err(|says| Refusal::new(format!("run {}: {says}", flags.run)))?;
    let mut says = format!(
        "run {}: {} of {}, {}\n  id {}\n",
        flags.run,
        units::bytes(bytes.len() as u64),
        visible(&run.record.name),
        units::counted(run.trials.len() as u64, "trial", "trials"),
        run.id
    );
    for (what, often) in notes {
        let often = units::counted(often as u64, "time", "times");
        says.push_str(&format!("  replaced or left out: {} ({often})\n", visible(&what)));
    }
    Ok((bytes, says))
}
