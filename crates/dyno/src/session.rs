//! One session for all that measures: a command prepares a campaign, has it admitted, looks at what the servers answer
//! where that matters, begins a run, measures what is left of it, and concludes. The store, the locks and the request to
//! stop are the session's.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::report::run::experiment_text::place_in;
use archive::page;
use campaign::project::Project;
use campaign::remote_run::RemoteRun;
use campaign::{
    Admitted, Campaign, Claim, Ended, Event, Lock, Run, RunResources, Watch, admitted_again,
    now_unix_ms,
};
use lab::experiment::Profiling;
use lab::record::{Fact, RunRecord};
use load::Halt;
use machine::ports::Ports;
use store::{RunEnd, RunId, Store};
use terminal::progress::{self, Progress};
use units::count;

use crate::generators::GeneratorFlags;
use crate::interrupt::halt_on_interrupt;
use crate::shell::{ExitStatus, Refusal};
use crate::unfinished::way_on;

/// A store, and the claim on the run that is measured into it.
pub(crate) struct Keeping {
    pub(crate) store: Store,
    claim: Option<Claim>,
}

impl Keeping {
    pub(crate) fn open(path: &Path) -> Result<Keeping, Refusal> {
        Ok(Keeping { store: Store::open(path)?, claim: None })
    }

    /// Begins a run, which no other dyno deletes while this one measures.
    pub(crate) fn begin(&mut self, record: &RunRecord) -> Result<RunId, Refusal> {
        let run = self.store.begin(record)?;
        self.claim(run)?;
        Ok(run)
    }

    /// Makes sure that no other dyno works on this run, from another project either.
    pub(crate) fn claim(&mut self, run: RunId) -> Result<(), Refusal> {
        self.claim = Some(Claim::stake(self.store.path(), run)?);
        Ok(())
    }

    /// An error, with the command that goes on with this run or begins it anew, if the run can still be read.
    pub(crate) fn with_way_on(
        &self,
        error: impl Into<Refusal>,
        (record, run): (&RunRecord, RunId),
    ) -> Refusal {
        let refusal = error.into();
        match self.store.run(run) {
            Ok(_) => {
                let way_on = way_on(record, (run, self.store.path()));
                Refusal::new(format!("{refusal}; {way_on}"))
            }
            Err(_) => refusal,
        }
    }
}

/// A store's file, and the folder for the pages of its runs.
pub(crate) struct StorePlace {
    pub(crate) path: PathBuf,
    pages: PathBuf,
    is_named: bool,
}

impl StorePlace {
    /// The store that is named, or the project's own.
    pub(crate) fn of(project: &Project, named: Option<&Path>) -> StorePlace {
        let path = named.map_or_else(|| project.store_path(), Path::to_path_buf);
        StorePlace { pages: project.reports(&path), path, is_named: named.is_some() }
    }

    /// Makes the folder of a store that was not named; that of a misspelt one is not made.
    pub(crate) fn made(self) -> Result<StorePlace, Refusal> {
        if let Some(folder) = self.path.parent().filter(|_| !self.is_named) {
            lab::build::make_folder(folder).map_err(|error| Refusal::at(folder, error))?;
        }
        Ok(self)
    }
}

pub(crate) struct Session {
    pub(crate) keeping: Keeping,
    /// The folder for the pages of the runs.
    pub(crate) pages: PathBuf,
    pub(crate) halt: Arc<Halt>,
    _lock: Lock,
}

impl Session {
    /// Takes the project's lock, and opens the store.
    pub(crate) fn open(project: &Project, place: StorePlace) -> Result<Session, Refusal> {
        let lock = Lock::take(project)?;
        let halt = halt_on_interrupt()?;
        Session::opened(project, place, (lock, halt))
    }

    /// Waits for a dyno that runs in the project as long as `most`, and then takes its lock and opens the store. None:
    /// interrupted.
    pub(crate) fn open_in_turn(
        project: &Project,
        place: StorePlace,
        most: Duration,
    ) -> Result<Option<Session>, Refusal> {
        let halt = halt_on_interrupt()?;
        let tell = |name: &str| {
            terminal::notice(&format!(
                "dyno: {name} runs an experiment here; waiting for it to end"
            ));
        };
        let Some(lock) = Lock::wait(project, most, &halt, &tell)? else { return Ok(None) };
        Session::opened(project, place, (lock, halt)).map(Some)
    }

    fn opened(
        project: &Project,
        place: StorePlace,
        (lock, halt): (Lock, Arc<Halt>),
    ) -> Result<Session, Refusal> {
        let place = place.made()?;
        let keeping = Keeping::open(&place.path)?;
        if let Some(says) = campaign::sweep(project) {
            terminal::notice(&format!("dyno: {says}"));
        }
        Ok(Session { keeping, pages: place.pages, halt, _lock: lock })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.keeping.store
    }

    /// The option that names this session's store in a command; nothing where commands find it by themselves.
    pub(crate) fn store_option(&self) -> String {
        Project::store_option(self.store().path())
    }

    /// Takes what a campaign needs, as it was weighed, and builds those that take part. None: interrupted.
    pub(crate) fn admit(
        &self,
        campaign: &Campaign,
        (weighed, generators): (RunResources, &GeneratorFlags),
        watch: Watch<'_>,
    ) -> Result<Option<Admitted>, Refusal> {
        let given = generators.given_to(campaign, weighed, &self.halt)?;
        let Some(resources) = given else { return Ok(None) };
        Admitted::of(campaign, resources, &self.halt, watch)
    }

    /// Admits the campaign of a kept run, which goes on; refused unless the instrument and the servers are those with
    /// which it began. None: interrupted.
    pub(crate) fn admit_again(
        &self,
        campaign: &Campaign,
        generators: &GeneratorFlags,
        (record, run): (&RunRecord, RunId),
    ) -> Result<Option<Admitted>, Refusal> {
        let given = generators.given_to(campaign, weighed(campaign)?, &self.halt)?;
        let Some(resources) = given else { return Ok(None) };
        let kept = (record, run, self.store().path());
        admitted_again(campaign, resources, kept, &self.halt, &mut progress::admitting)
    }

    /// Measures what is left of a run, and shows its progress. If it cannot go on, and is kept, the refusal says what to do
    /// with it.
    pub(crate) fn measure(
        &mut self,
        campaign: &Campaign,
        admitted: &Admitted,
        (record, run): (&RunRecord, RunId),
    ) -> Result<Ended, Refusal> {
        let ended = self.show(campaign, run, |store, halt, watch| {
            Run { campaign, admitted, record, store, id: run, halt }.go(watch)
        });
        ended.map_err(|refusal| self.keeping.with_way_on(refusal, (record, run)))
    }

    /// Samples the servers of a run that is over, for so long at most. How the run ended stays as it was noted.
    pub(crate) fn sample(
        &mut self,
        campaign: &Campaign,
        admitted: &Admitted,
        (record, run): (&RunRecord, RunId),
        most: Duration,
    ) -> Result<(), Refusal> {
        // It may be the run of which the claim is held.
        self.keeping.claim = None;
        self.keeping.claim(run)?;
        let (store, halt) = (&mut self.keeping.store, &self.halt);
        let mut progress = Progress::open(campaign, 0);
        Run { campaign, admitted, record, store, id: run, halt }.sample_for(
            most,
            Profiling::default(),
            &mut |event| progress.update(event),
        )
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
        let store = &mut self.keeping.store;
        let path = store.path().to_path_buf();
        let mut progress = Progress::open(campaign, store.kept(run)?.len());
        let pages = &self.pages;
        let ended = go(store, &self.halt, &mut |event| match event {
            Event::FirstRoundKept => page::leave_first(&path, run, pages),
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
        let noted = store.end(run, now_unix_ms(), end);
        // Why the run ended is said first: a store that is full has ended it, and takes no note of it.
        let ended = ended?;
        noted?;
        Ok(ended)
    }

    /// Deletes a run that cannot be resumed and of which no trial is kept, and says so.
    pub(crate) fn delete_if_empty(&mut self, run: RunId) -> Result<bool, Refusal> {
        let is_empty = self.store().kept(run)?.is_empty();
        if is_empty {
            self.keeping.store.remove(&[run])?;
            terminal::notice("dyno: interrupted before a trial ended; nothing was kept");
        }
        Ok(is_empty)
    }
}

/// The end of a command that was interrupted while it looked at its servers.
pub(crate) fn interrupted_early() -> ExitStatus {
    terminal::notice("dyno: interrupted before a trial began; nothing was kept");
    ExitStatus::Interrupted
}

/// A fact for the row of a run.
pub(crate) fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

/// What the run may use, with a warning about each load level that may need more ports than there are.
pub(crate) fn weighed(campaign: &Campaign) -> Result<RunResources, Refusal> {
    let resources = RunResources::weigh(campaign)?;
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
