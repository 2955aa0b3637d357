//! A run under way: its store, its locks, the request to stop; shared by the commands that measure subjects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::report::run::words::place_in;
use archive::page;
use campaign::abroad::Abroad;
use campaign::project::Project;
use campaign::{Campaign, Claim, Ended, Entrant, Event, Lock, Run, RunResources, now_unix_ms};
use lab::record::RunRecord;
use load::Halt;
use machine::ports::Ports;
use store::{RunEnd, RunId, Store};
use terminal::progress::Progress;
use units::count;

use crate::interrupt::halt_on_interrupt;
use crate::shell::{ExitStatus, Refusal};

/// What a run needs.
pub(crate) struct Job {
    pub(crate) store: Store,
    pub(crate) path: PathBuf,
    /// Where the run's page is left.
    pub(crate) pages: PathBuf,
    pub(crate) halt: Arc<Halt>,
    _lock: Lock,
    claim: Option<Claim>,
}

impl Job {
    /// Takes the project's lock, and opens the store at this path.
    pub(crate) fn open(project: &Project, path: &Path, pages: PathBuf) -> Result<Job, Refusal> {
        let lock = Lock::take(project)?;
        let store = Store::open(path)?;
        if let Some(says) = campaign::sweep(project) {
            terminal::notice(&format!("dyno: {says}"));
        }
        let halt = halt_on_interrupt()?;
        Ok(Job { store, path: path.to_path_buf(), pages, halt, _lock: lock, claim: None })
    }

    /// Makes sure that no other dyno works on this run, from another project either.
    pub(crate) fn claim(&mut self, run: RunId) -> Result<(), Refusal> {
        self.claim = Some(Claim::stake(&self.path, run)?);
        Ok(())
    }

    /// Runs what is left of a run, and shows its progress.
    pub(crate) fn go_on(
        &mut self,
        campaign: &Campaign,
        resources: &RunResources,
        entrants: &[Entrant],
        record: &RunRecord,
        run: RunId,
    ) -> Result<Ended, Refusal> {
        let mut progress = Progress::open(campaign, self.store.kept(run)?.len());
        let (path, pages) = (&self.path, &self.pages);
        let (store, halt) = (&mut self.store, &self.halt);
        let ended = Run { campaign, resources, entrants, record, store, id: run, halt }.go(
            &mut |event| match event {
                Event::FirstRoundKept => {
                    page::leave_first(path, run, pages);
                }
                event => progress.update(event),
            },
        )?;
        self.end(run, ended)?;
        Ok(ended)
    }

    /// The same of a run whose servers are elsewhere. If their host is lost, what is kept stays.
    pub(crate) fn follow(
        &mut self,
        abroad: &mut Abroad<'_>,
        campaign: &Campaign,
        record: &RunRecord,
        run: RunId,
    ) -> Result<Ended, Refusal> {
        let mut progress = Progress::open(campaign, self.store.kept(run)?.len());
        let (path, pages) = (&self.path, &self.pages);
        let ended = abroad.go((record, run), &mut self.store, &mut |event| match event {
            Event::FirstRoundKept => page::leave_first(path, run, pages),
            event => progress.update(event),
        });
        if ended.is_err() {
            progress.update(&Event::Abandoned);
        }
        self.end(run, *ended.as_ref().unwrap_or(&Ended::Interrupted))?;
        ended
    }

    fn end(&mut self, run: RunId, ended: Ended) -> Result<(), Refusal> {
        let end = match ended {
            Ended::Done => RunEnd::Done,
            Ended::Interrupted => RunEnd::Interrupted,
        };
        Ok(self.store.end(run, now_unix_ms(), end)?)
    }
}

/// The end of a command that was interrupted while it looked at its servers.
pub(crate) fn interrupted_early() -> ExitStatus {
    terminal::notice("dyno: interrupted before a trial began; nothing was kept");
    ExitStatus::Interrupted
}

/// What the run may use, with a warning about each load level that may need more ports than there are.
pub(crate) fn weighed(campaign: &Campaign) -> Result<RunResources, Refusal> {
    let resources = RunResources::weigh(&campaign.experiment)?;
    for (point, ports) in &resources.short {
        let Ports::Short { needed, there, held_s } = ports else { continue };
        terminal::notice(&format!(
            "dyno: {}: {} may need {} local ports at once (a closed connection holds its port for {held_s} s), \
             and there are {}; what fails because of that is counted as dyno's own failure; lower the load",
            campaign.experiment.source.name,
            place_in(Some(&campaign.experiment), *point),
            count(*needed),
            count(*there)
        ));
    }
    Ok(resources)
}
