//! Where loads are put as they end: in memory, as a run whose figures are estimated; and with --keep in the store.

use std::fs;
use std::path::Path;

use campaign::project::Project;
use campaign::{Claim, now_unix_ms};
use lab::record::{RunRecord, TrialRecord};
use report::load::FinishedLoad;
use report::run::Findings;
use store::{RunEnd, RunId, Store};

use super::record;
use crate::order::Plan;
use crate::order::flags::LoadFlags;
use crate::shell::Refusal;

pub(crate) struct Shelf {
    run: RunRecord,
    trials: Vec<TrialRecord>,
    kept: Option<InStore>,
}

struct InStore {
    store: Store,
    id: RunId,
    /// No other dyno deletes the run meanwhile.
    _claim: Claim,
}

impl Shelf {
    /// Refuses what cannot be kept, before anything is loaded. None where no flag needs it.
    pub(crate) fn open(flags: &LoadFlags, plan: &Plan) -> Result<Option<Shelf>, Refusal> {
        let keeping = &flags.keeping;
        let needs_experiment =
            keeping.keep || keeping.repeat.is_some() || keeping.history.is_given();
        if !needs_experiment && keeping.html.is_none() {
            return Ok(None);
        }
        let run = record::of_run(flags, plan, needs_experiment, now_unix_ms())?;
        let kept = match keeping.keep {
            true => Some(InStore::open(keeping.store.as_deref(), &run)?),
            false => None,
        };
        Ok(Some(Shelf { run, trials: Vec::new(), kept }))
    }

    /// A load that has just ended.
    pub(crate) fn put(&mut self, load: &FinishedLoad) -> Result<(), Refusal> {
        let Some(key) = self.run.plan.get(self.trials.len()) else { return Ok(()) };
        let trial = record::of_trial(key, load);
        let kept = self.kept.as_mut().map_or(Ok(()), |kept| kept.store.keep(kept.id, &trial));
        self.trials.push(trial);
        Ok(kept?)
    }

    /// After the last load. Returns a sentence that says where they are kept, if they are.
    pub(crate) fn close(
        &mut self,
        is_whole: bool,
        is_interrupted: bool,
    ) -> Result<Option<String>, Refusal> {
        let Some(InStore { store, id, .. }) = &mut self.kept else { return Ok(None) };
        let end = if is_whole { RunEnd::Done } else { RunEnd::Interrupted };
        store.end(*id, now_unix_ms(), end)?;
        let option = Project::store_option(store.path());
        let how = if is_interrupted { "interrupted; what was measured is " } else { "" };
        Ok(Some(format!("dyno: {how}kept as run {id}: `dyno report {id}{option}` shows it again")))
    }

    /// The loads so far, analysed as a run.
    pub(crate) fn findings(&self) -> Findings<'_> {
        let id = self.kept.as_ref().map_or("–".to_string(), |kept| kept.id.to_string());
        let found = Findings::of(&id, &self.run, &self.trials, Vec::new(), None);
        let kept = self.kept.as_ref();
        let option = kept.map(|kept| Project::store_option(kept.store.path()));
        found.kept_where(option.unwrap_or_default())
    }
}

impl InStore {
    fn open(named: Option<&Path>, run: &RunRecord) -> Result<InStore, Refusal> {
        let path = match named {
            Some(path) => path.to_path_buf(),
            None => {
                let path = Project::find()?.store_path();
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)
                        .map_err(|error| Refusal::new(format!("{}: {error}", folder.display())))?;
                }
                path
            }
        };
        let mut store = Store::open(&path)?;
        let id = store.begin(run)?;
        let claim = Claim::stake(&path, id)?;
        Ok(InStore { store, id, _claim: claim })
    }
}
