//! `--history`: a finished run is appended to a history, with the commit on which it began.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use ::report::history::{Commit, lines};
use archive::history::{append, check, commit};
use archive::kept::{findings, kept};
use campaign::project::Project;
use clap::Args;
use lab::experiment::Experiment;
use store::{RunId, Store};

use crate::shell::Refusal;
use crate::unfinished::is_finished;

const FLAG: &str = "--history";

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args)]
pub(crate) struct HistoryFlags {
    /// Append the finished run to this file, a line for each figure of each row; `dyno trend` shows how they change
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// The commit on which the run began.
    #[arg(skip)]
    began: OnceCell<Option<Commit>>,
}

impl HistoryFlags {
    /// The file that is named, with its flag.
    pub(crate) fn named(&self) -> Vec<(&str, &Path)> {
        self.history.iter().map(|path| (FLAG, path.as_path())).collect()
    }

    /// Refuses a run that has no figures which a history could have.
    pub(crate) fn refuse_search(&self, experiment: &Experiment) -> Result<(), Refusal> {
        match (&self.history, &experiment.sought) {
            (Some(_), Some(_)) => Err(Refusal::new(format!(
                "{FLAG}: {} searches for capacities, each of which is two rates and no figure with rounds; leave {FLAG} \
                 out, or run an experiment with rates of its own",
                experiment.source.name
            ))),
            _ => Ok(()),
        }
    }

    /// Before anything is measured: the file can be appended to, and the commit is noted.
    pub(crate) fn begin(&self, project: &Project) -> Result<(), Refusal> {
        let Some(path) = &self.history else { return Ok(()) };
        check(FLAG, path)?;
        self.began.get_or_init(|| commit(&project.root, path));
        Ok(())
    }

    /// Appends a run, if it is finished.
    pub(crate) fn end(&self, store: &Store, run: RunId) -> Result<(), Refusal> {
        let Some(path) = &self.history else { return Ok(()) };
        if !is_finished(store, run)? {
            return Ok(());
        }
        let loaded = kept(store, run)?;
        let findings = findings(store, run, &loaded, None);
        let began = self.began.get().and_then(Option::as_ref);
        append(FLAG, path, &lines(&findings, began)?)?;
        terminal::notice(&format!("history: {}", archive::page::near(path)));
        Ok(())
    }
}
