//! `dyno runs import`: takes over runs that another store exported.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use archive::keep;
use archive::page::near;
use archive::removal::in_words;
use campaign::project::Project;
use clap::Args;
use public::PublicRun;
use store::{Imported, RunSummary, Store};

use super::publishing::into_store;
use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// Take over the runs of a file that `dyno runs export` wrote, or of another store
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ImportFlags {
    /// The file
    file: PathBuf,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
Every seal is verified first; a run that is not as it was sealed is refused. A file of `dyno runs export --public` is \
read, too: exported again, it has the same id. A run gets the next free number here, and \
none is overwritten. One that is here already is noticed and left as it is.

Examples:
  dyno runs import run-3.dyno
  # all runs of another machine's store
  dyno runs import other/runs.sqlite

Exit codes:
  0    imported, or it was here already
  2    the file is damaged or no store of dyno's, or this store cannot be written to";

pub(super) fn run(flags: &ImportFlags) -> Result<ExitStatus, Refusal> {
    let file = &flags.file;
    if !file.is_file() {
        let what = match (file.is_dir(), file.exists()) {
            (true, _) => "this is a folder",
            (false, true) => "this is not an ordinary file",
            (false, false) => "there is no such file",
        };
        return Err(Refusal::new(format!(
            "{}: {what}; name a file that `dyno runs export` wrote, or a store (runs.sqlite)",
            file.display()
        )));
    }
    let path = flags.store.to_write()?;
    let mut start = [0; 2];
    let is_public = fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    if !is_public || !PublicRun::is_one(&start) {
        return imported(flags, file, &path);
    }
    let run = super::verify::read(file)?;
    let beside = keep::beside(&path);
    let done = into_store(&run, &beside).and_then(|()| imported(flags, &beside, &path));
    let _ = Store::remove_file(&beside);
    done
}

/// Takes over all runs of a store into that at the path.
fn imported(flags: &ImportFlags, file: &Path, path: &Path) -> Result<ExitStatus, Refusal> {
    let from = Store::open_to_read(file)?;
    let runs = from.runs()?;
    if runs.is_empty() {
        return Err(Refusal::new(format!("{}: there is no run in it", file.display())));
    }
    let is_new = !path.exists();
    let mut store = Store::open(path)?;
    let taken = take_all(flags, &from, &runs, &mut store);
    let is_empty = store.ids().is_ok_and(|runs| runs.is_empty());
    drop(store);
    if is_new && is_empty {
        let _ = Store::remove_file(path);
    }
    taken
}

fn take_all(
    flags: &ImportFlags,
    from: &Store,
    runs: &[RunSummary],
    store: &mut Store,
) -> Result<ExitStatus, Refusal> {
    // In one piece: the file may have thousands of runs.
    store.reserve(fs::metadata(from.path()).map_or(0, |file| file.len()))?;
    for run in runs {
        let imported = store.import(from, run.id)?;
        print(&says(&flags.file, store, run, imported)?)?;
    }
    Ok(ExitStatus::Yes)
}

fn says(file: &Path, store: &Store, run: &RunSummary, is: Imported) -> Result<String, Refusal> {
    let (theirs, file) = (run.id, near(file));
    let store_option = Project::store_option(store.path());
    Ok(match is {
        Imported::New(id) => {
            let words = store.summary(id)?.as_ref().map_or(String::new(), in_words);
            format!("{words} (run {theirs} of {file}); `dyno report {id}{store_option}` shows it\n")
        }
        Imported::Known(id) => match store.summary(id)?.map_or(0, |run| run.kept) {
            kept if kept < run.kept => format!(
                "run {theirs} of {file} is here already, as run {id}, with {kept} of its {} trials: nothing was changed; \
                 to have all of them, `dyno runs rm {id}{store_option}`, and import it again\n",
                run.kept
            ),
            _ => format!(
                "run {theirs} of {file} is here already, as run {id}: nothing was changed\n"
            ),
        },
    })
}
