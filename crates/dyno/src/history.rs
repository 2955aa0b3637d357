//! `--history`: what is finished is appended to a history, with the commit on which it began.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use ::report::history::{Commit, Origin, lines};
use ::report::run::Findings;
use archive::history::{append, check, commit};
use archive::kept::{findings, kept};
use clap::Args;
use lab::experiment::Experiment;
use store::{RunId, Store};

use crate::shell::Refusal;
use crate::unfinished::is_finished;

const FLAG: &str = "--history";

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args)]
pub(crate) struct HistoryFlags {
    /// At the end, append the results to this file, a line for each figure; `dyno trend` shows how they change from run
    /// to run
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// The commit on which it began.
    #[arg(skip)]
    began: OnceCell<Option<Commit>>,
}

impl HistoryFlags {
    pub(crate) fn is_given(&self) -> bool {
        self.history.is_some()
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.history.as_deref()
    }

    /// The file that is named, with its flag.
    pub(crate) fn named(&self) -> Option<(&'static str, &Path)> {
        self.path().map(|path| (FLAG, path))
    }

    /// Refuses a file that could not be appended to in the end.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.path().map_or(Ok(()), |path| check(FLAG, path))
    }

    /// Refuses a run that has no figures which a history could have.
    pub(crate) fn refuse_search(&self, experiment: &Experiment) -> Result<(), Refusal> {
        match (&self.history, &experiment.sought) {
            (Some(_), Some(_)) => Err(Refusal::new(format!(
                "{FLAG}: {} searches for capacities, which are pairs of rates and not figures with rounds; leave \
                 {FLAG} \
                 out, or run an experiment with rates of its own",
                experiment.source.name
            ))),
            _ => Ok(()),
        }
    }

    /// Before anything is measured: the file can be appended to, and the commit of this folder is noted.
    pub(crate) fn begin(&self, folder: &Path) -> Result<(), Refusal> {
        let Some(path) = &self.history else { return Ok(()) };
        self.check()?;
        self.began.get_or_init(|| commit(folder, path));
        Ok(())
    }

    /// Appends a run that is kept, if it is finished.
    pub(crate) fn end(&self, store: &Store, run: RunId, origin: &Origin) -> Result<(), Refusal> {
        if !self.is_given() {
            return Ok(());
        }
        if !is_finished(store, run)? {
            return Ok(());
        }
        let loaded = kept(store, run)?;
        self.append(&findings(store, run, &loaded), origin)
    }

    /// Appends what was found.
    pub(crate) fn append(&self, findings: &Findings<'_>, origin: &Origin) -> Result<(), Refusal> {
        if !self.is_given() {
            return Ok(());
        }
        let began = self.began.get().and_then(Option::as_ref);
        self.append_lines(&lines(findings, origin, began)?)
    }

    /// Appends whole lines.
    pub(crate) fn append_lines(&self, lines: &str) -> Result<(), Refusal> {
        let Some(path) = &self.history else { return Ok(()) };
        append(FLAG, path, lines)?;
        terminal::notice(&format!("history: {}", archive::page::near(path)));
        Ok(())
    }

    /// Says that an interrupted measurement is not in the history.
    pub(crate) fn leave_out(&self) {
        if let Some(path) = &self.history {
            let near = archive::page::near(path);
            terminal::notice(&format!(
                "history: not all was measured, so nothing was appended to {near}"
            ));
        }
    }
}
