//! Parts of a run as they travel: each is a store of its own, whose seals are verified where it arrives.

use std::fs;
use std::path::PathBuf;

use lab::Refusal;
use lab::conformance::Conformance;
use lab::record::TrialRecord;
use machine::owned::WorkFolder;
use machine::process::Marker;
use store::{Imported, Kept, Portion, RunId, Store};

use crate::project::Project;

/// A folder for such stores.
pub(super) struct TransferFolder(WorkFolder);

impl TransferFolder {
    pub(super) fn new(project: &Project) -> Result<TransferFolder, Refusal> {
        let folder = project.work().join("work");
        let created = WorkFolder::create(&folder, &Marker::unique());
        created.map(TransferFolder).map_err(|error| Refusal::at(&folder, error))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What these bytes were, as a store.
    pub(super) fn open(&self, bytes: &[u8]) -> Result<(Store, RunId), Refusal> {
        let path = self.path("came.sqlite");
        Store::remove_file(&path).map_err(|error| Refusal::at(&path, error))?;
        fs::write(&path, bytes).map_err(|error| Refusal::at(&path, error))?;
        let store = Store::open_to_read(&path)?;
        match store.runs()?.as_slice() {
            [run] => {
                let id = run.id;
                Ok((store, id))
            }
            _ => Err(Refusal::new("what was received is not a store of one run")),
        }
    }

    /// A run, or this part of it, as the bytes of a store.
    pub(super) fn bytes(
        &self,
        store: &Store,
        run: RunId,
        portion: Option<&Portion<'_>>,
    ) -> Result<Vec<u8>, Refusal> {
        let path = self.path("goes.sqlite");
        Store::remove_file(&path).map_err(|error| Refusal::at(&path, error))?;
        store.export(run, &path, portion)?;
        fs::read(&path).map_err(|error| Refusal::at(&path, error))
    }
}

/// Begins a run that has begun elsewhere.
pub(super) fn begin(store: &mut Store, (from, theirs): (&Store, RunId)) -> Result<RunId, Refusal> {
    match store.import(from, theirs)? {
        Imported::New(run) => Ok(run),
        Imported::Known(run) => {
            Err(Refusal::new(format!("what began there is kept here already, as run {run}")))
        }
    }
}

/// Keeps what came; returns it.
pub(super) fn join(
    store: &mut Store,
    run: RunId,
    (from, theirs): (&Store, RunId),
) -> Result<(Vec<Conformance>, Vec<TrialRecord>), Refusal> {
    store.join(from, theirs, run)?;
    let mut trials = Vec::new();
    for number in from.kept(theirs)? {
        match store.trial(run, number)? {
            Kept::Whole(trial) => trials.push(*trial),
            Kept::Damaged(damage) => {
                return Err(Refusal::new(format!("trial {number}: {}", damage.says)));
            }
        }
    }
    Ok((from.run(theirs)?.conformance, trials))
}
