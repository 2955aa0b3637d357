//! Where loads are put as they end: in memory, as a run whose figures are estimated; and with --keep in the store.

use campaign::now_unix_ms;
use campaign::project::Project;
use lab::record::{ProfileRecord, RunRecord, TrialKey, TrialRecord};
use machine::Series;
use report::load::FinishedLoad;
use report::run::Findings;
use store::{RunEnd, RunId};

use super::record;
use crate::order::Plan;
use crate::order::flags::LoadFlags;
use crate::session::Keeping;
use crate::shell::Refusal;

pub(crate) struct Shelf {
    run: RunRecord,
    trials: Vec<TrialRecord>,
    /// With --keep: the store, and the run's number in it.
    kept: Option<(Keeping, RunId)>,
}

impl Shelf {
    /// Refuses what cannot be kept, before anything is loaded.
    pub(crate) fn open(flags: &LoadFlags, plan: &Plan) -> Result<Shelf, Refusal> {
        let keeping = &flags.keeping;
        let needs_experiment =
            keeping.keep || keeping.rounds.is_some() || keeping.history.is_given();
        let run = record::of_run(flags, plan, needs_experiment, now_unix_ms())?;
        let mut kept = None;
        if keeping.keep {
            let mut store = Keeping::open(&keeping.store.to_write()?)?;
            let id = store.begin(&run)?;
            kept = Some((store, id));
        }
        Ok(Shelf { run, trials: Vec::new(), kept })
    }

    /// A load that has just ended.
    pub(crate) fn put(
        &mut self,
        load: &FinishedLoad,
        readings: Vec<Series>,
    ) -> Result<(), Refusal> {
        let Some(key) = self.run.plan.get(self.trials.len()) else { return Ok(()) };
        let trial = TrialRecord { series: readings, ..record::of_trial(key, load) };
        let kept = match &mut self.kept {
            None => Ok(()),
            Some((keeping, id)) => keeping
                .store
                .keep(*id, &trial)
                .map_err(|error| keeping.with_way_on(error, (&self.run, *id))),
        };
        self.trials.push(trial);
        kept
    }

    /// What is sampled of the server after the last load; none: interrupted.
    pub(crate) fn put_profile(
        &mut self,
        take: impl FnOnce(&TrialKey) -> Result<Option<ProfileRecord>, Refusal>,
    ) -> Result<(), Refusal> {
        let Some(record) = self.run.plan.first().map(take).transpose()?.flatten() else {
            return Ok(());
        };
        if let Some((keeping, id)) = &mut self.kept {
            keeping.store.keep_profile(*id, &record)?;
        }
        self.run.profiles.push(record);
        Ok(())
    }

    /// After the last load. Returns a sentence that says where they are kept, if they are.
    pub(crate) fn close(
        &mut self,
        is_whole: bool,
        is_interrupted: bool,
    ) -> Result<Option<String>, Refusal> {
        let Some((Keeping { store, .. }, id)) = &mut self.kept else { return Ok(None) };
        let end = if is_whole { RunEnd::Done } else { RunEnd::Interrupted };
        store.end(*id, now_unix_ms(), end)?;
        let option = Project::store_option(store.path());
        let how = if is_interrupted { "interrupted; what was measured is " } else { "" };
        Ok(Some(format!("dyno: {how}kept as run {id}: `dyno report {id}{option}` shows it again")))
    }

    /// The loads so far, analysed as a run.
    pub(crate) fn findings<'t>(&'t self, ended: &'t [FinishedLoad]) -> Findings<'t> {
        let id = self.kept.as_ref().map_or("–".to_string(), |(_, id)| id.to_string());
        let found = Findings::of(&id, &self.run, &self.trials, Vec::new());
        let kept = self.kept.as_ref();
        let option = kept.map(|(keeping, _)| Project::store_option(keeping.store.path()));
        found.kept_where(option.unwrap_or_default()).of_ended(ended)
    }
}
