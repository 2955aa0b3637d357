//! A run under way: its store, its locks, the request to stop; shared by the commands that measure subjects.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::report::run::words::place_in;
use archive::page;
use campaign::project::Project;
use campaign::remote_run::RemoteRun;
use campaign::{
    Campaign, Claim, Ended, Entrant, Event, Lock, Run, RunResources, Watch, now_unix_ms,
};
use lab::record::RunRecord;
use load::Halt;
use machine::ports::Ports;
use store::{RunEnd, RunId, Store};
use terminal::progress::Progress;
use units::count;

use crate::interrupt::halt_on_interrupt;
use crate::shell::{ExitStatus, Refusal};
use crate::unfinished::way_on;

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
        let halt = halt_on_interrupt()?;
        Job::opened(project, path, pages, (lock, halt))
    }

    /// The same; a dyno that runs in the project is waited for, as long as `most`. None: interrupted.
    pub(crate) fn open_in_turn(
        project: &Project,
        path: &Path,
        pages: PathBuf,
        most: Duration,
    ) -> Result<Option<Job>, Refusal> {
        let halt = halt_on_interrupt()?;
        let tell = |name: &str| {
            terminal::notice(&format!("dyno: {name} runs an experiment here, and is waited for"));
        };
        let Some(lock) = Lock::wait(project, most, &halt, &tell)? else { return Ok(None) };
        Job::opened(project, path, pages, (lock, halt)).map(Some)
    }

    fn opened(
        project: &Project,
        path: &Path,
        pages: PathBuf,
        (lock, halt): (Lock, Arc<Halt>),
    ) -> Result<Job, Refusal> {
        let store = Store::open(path)?;
        if let Some(says) = campaign::sweep(project) {
            terminal::notice(&format!("dyno: {says}"));
        }
        Ok(Job { store, path: path.to_path_buf(), pages, halt, _lock: lock, claim: None })
    }

    /// Makes sure that no other dyno works on this run, from another project either.
    pub(crate) fn claim(&mut self, run: RunId) -> Result<(), Refusal> {
        self.claim = Some(Claim::stake(&self.path, run)?);
        Ok(())
    }

    /// Runs what is left of a run, and shows its progress. If it cannot go on, and is kept, the refusal says what to do with
    /// it.
    pub(crate) fn go_on(
        &mut self,
        campaign: &Campaign,
        resources: &RunResources,
        entrants: &[Entrant],
        record: &RunRecord,
        run: RunId,
    ) -> Result<Ended, Refusal> {
        let ended = self.show(campaign, run, |store, halt, watch| {
            Run { campaign, resources, entrants, record, store, id: run, halt }.go(watch)
        });
        ended.map_err(|refusal| match self.store.run(run) {
            Ok(_) => {
                let way_on = way_on(record, (run, &self.path));
                Refusal::new(format!("{refusal}; {way_on}"))
            }
            Err(_) => refusal,
        })
    }

    /// Follows a run whose servers are elsewhere to its end, and shows its progress.
    pub(crate) fn follow(
        &mut self,
        remote: &mut RemoteRun<'_>,
        campaign: &Campaign,
        record: &RunRecord,
        run: RunId,
    ) -> Result<Ended, Refusal> {
        self.show(campaign, run, |store, _, watch| remote.go((record, run), store, watch))
    }

    /// Shows the progress of what goes on, and notes in the store how it ended. What is kept stays, whatever happens.
    fn show(
        &mut self,
        campaign: &Campaign,
        run: RunId,
        go: impl FnOnce(&mut Store, &Halt, Watch<'_>) -> Result<Ended, Refusal>,
    ) -> Result<Ended, Refusal> {
        let mut progress = Progress::open(campaign, self.store.kept(run)?.len());
        let (path, pages) = (&self.path, &self.pages);
        let ended = go(&mut self.store, &self.halt, &mut |event| match event {
            Event::FirstRoundKept => page::leave_first(path, run, &campaign.project, pages),
            event => progress.update(event),
        });
        let end = match ended {
            Ok(Ended::Done) => RunEnd::Done,
            Ok(Ended::Interrupted) => RunEnd::Interrupted,
            Err(_) => {
                progress.update(&Event::Abandoned);
                RunEnd::Interrupted
            }
        };
        let noted = self.store.end(run, now_unix_ms(), end);
        // Why the run ended is said first: a store that is full has ended it, and takes no note of it.
        let ended = ended?;
        noted?;
        Ok(ended)
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
