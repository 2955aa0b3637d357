//! The store itself: runs begin and end in it, trials are stored in it and read from it.

mod transfer;

use std::path::{Path, PathBuf};

use lab::conformance::Conformance;
use lab::record::{ProfileRecord, RunRecord, TrialRecord};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::columns::End;
use crate::error::{Fault, StoreError};
use crate::identity::FileIdentity;
use crate::opening::{Opened, Rest};
use crate::run::{RunEnd, RunId, RunSummary};
use crate::sealed::{
    RUNS, damaged, insert_end, insert_trial, sealed_end, sealed_run, sealed_trial,
};
use crate::table::{RUNS_MOST, TRIALS_MOST};
use crate::{conformance, opening, profiles, run_rows, space, trial_rows};

pub use transfer::{Imported, Portion};

/// One file of runs and their trials.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// Only for a store that may be written to.
    identity: Option<FileIdentity>,
    file: Opened,
}

/// How much of a trial is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Neither windows nor series: they are not read, so damage to them does not show.
    Summary,
    Whole,
}

/// A trial as it was read.
#[derive(Clone, Debug)]
pub enum Kept {
    /// Exactly as it was stored, bit by bit.
    Whole(Box<TrialRecord>),
    /// Not as it was stored.
    Damaged(Damage),
}

impl Kept {
    /// Another program may have sealed numbers of which no figure can be computed: such a trial is as good as damaged.
    #[must_use]
    pub fn computable(self) -> Kept {
        let Kept::Whole(trial) = self else { return self };
        let loaded = trial.loaded.as_ref().map_or(Ok(()), |it| it.recording.check());
        let held = || trial.held.as_ref().map_or(Ok(()), |it| it.holding.check_bounds());
        match loaded.and_then(|()| held()) {
            Ok(()) => Kept::Whole(trial),
            Err(says) => Kept::Damaged(Damage { number: trial.key.number, says }),
        }
    }
}

/// What is wrong with a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub number: u32,
    pub says: String,
}

impl Store {
    /// Opens the store in this file, and makes it if there is none.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let opened = opening::open(path).and_then(|file| Ok((file, FileIdentity::of(path)?)));
        let (file, identity) = opened.map_err(|fault| fault.at(path))?;
        Ok(Store { path: path.to_path_buf(), identity: Some(identity), file })
    }

    /// Opens the store in this file to read it. Makes none if there is none.
    pub fn open_to_read(path: &Path) -> Result<Store, StoreError> {
        let file = opening::open_to_read(path).map_err(|fault| fault.at(path))?;
        Ok(Store { path: path.to_path_buf(), identity: None, file })
    }

    /// Its file, as it was named.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a run.
    pub fn begin(&mut self, run: &RunRecord) -> Result<RunId, StoreError> {
        if TRIALS_MOST < run.plan.len() {
            return Err(Fault::LongPlan(run.plan.len()).at(&self.path));
        }
        let rows = run_rows::rows(run);
        self.write(|transaction| {
            let id = next(transaction)?;
            RUNS.insert(transaction, &[id.0], &rows)?;
            let mut checked = run.conformance.iter();
            checked.try_for_each(|found| conformance::insert(transaction, id.0, run, found))?;
            run.profiles.iter().try_for_each(|it| profiles::insert(transaction, id.0, it))?;
            Ok(id)
        })
    }

    /// Stores the result of a subject's check, in one transaction.
    pub fn keep_conformance(&mut self, run: RunId, found: &Conformance) -> Result<(), StoreError> {
        self.write(|transaction| {
            let record = run_record(transaction, run)?;
            conformance::insert(transaction, run.0, &record, found)
        })
    }

    /// Stores a sampled trial.
    pub fn keep_profile(&mut self, run: RunId, profile: &ProfileRecord) -> Result<(), StoreError> {
        self.write(|transaction| {
            refuse_unknown(transaction, run)?;
            profiles::insert(transaction, run.0, profile)
        })
    }

    /// Stores a trial: once this has returned, neither a kill nor a power failure loses it.
    pub fn keep(&mut self, run: RunId, trial: &TrialRecord) -> Result<(), StoreError> {
        self.keep_together(run, std::slice::from_ref(trial))
    }

    /// Stores trials that are only worth something together: all or none.
    pub fn keep_together(&mut self, run: RunId, trials: &[TrialRecord]) -> Result<(), StoreError> {
        self.write(|transaction| {
            for trial in trials {
                refuse_what_has_no_place(transaction, run, trial.key.number)?;
                insert_trial(transaction, run, trial.key.number, &trial_rows::rows(trial))?;
            }
            Ok(())
        })
    }

    /// Ends a run, for the first time or, if it was resumed, once more.
    pub fn end(&mut self, run: RunId, ended_unix_ms: i64, end: RunEnd) -> Result<(), StoreError> {
        self.write(|transaction| {
            refuse_unknown(transaction, run)?;
            let kept = numbers(transaction, run)?.len();
            transaction.execute("DELETE FROM run_end WHERE run = ?1", [run.0])?;
            insert_end(transaction, run, &End { ended_unix_ms, how: end, kept }.rows())
        })
    }

    /// All runs, in the order in which they began. Each is verified: thousands take a second.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.read(|connection| {
            ids(connection)?.into_iter().map(|run| summary(connection, run)).collect()
        })
    }

    /// The numbers of all runs, in the order in which they began.
    pub fn ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.read(ids)
    }

    /// This run, if it is here.
    pub fn summary(&self, id: RunId) -> Result<Option<RunSummary>, StoreError> {
        self.read(|connection| match refuse_unknown(connection, id) {
            Err(Fault::NoRun(_)) => Ok(None),
            found => found.and_then(|()| summary(connection, id)).map(Some),
        })
    }

    /// A run as it was begun, with the checks of its subjects and the profiles that were stored since.
    pub fn run(&self, id: RunId) -> Result<RunRecord, StoreError> {
        self.read(|connection| {
            let mut run = run_record(connection, id)?;
            run.conformance = conformance::read(connection, id.0, &run)?;
            run.profiles = profiles::read(connection, id.0)?;
            Ok(run)
        })
    }

    /// The newest check in this store that a subject of this build, version and manifest can take over; one of HTTP/2,
    /// if that is to be in it.
    pub fn lasting_conformance(
        &self,
        subject: &str,
        build: &str,
        version: &str,
        manifest: &str,
        with_http2: bool,
    ) -> Result<Option<Conformance>, StoreError> {
        self.read(|connection| {
            conformance::lasting(connection, subject, build, version, manifest, with_http2)
        })
    }

    /// The numbers of the trials that have been stored, damaged ones among them.
    pub fn kept(&self, id: RunId) -> Result<Vec<u32>, StoreError> {
        self.read(|connection| {
            refuse_unknown(connection, id)?;
            numbers(connection, id)
        })
    }

    pub fn trial(&self, id: RunId, number: u32) -> Result<Kept, StoreError> {
        self.read(|connection| {
            trial(connection, id, number, Extent::Whole)?.ok_or(Fault::NoTrial(id, number))
        })
    }

    /// All stored trials of a run, by their numbers. A damaged one is reported in its place, and does not prevent the
    /// others from being read.
    pub fn trials(&self, id: RunId, extent: Extent) -> Result<Vec<Kept>, StoreError> {
        self.read(|connection| {
            refuse_unknown(connection, id)?;
            let numbers = numbers(connection, id)?.into_iter();
            let trials = numbers.map(|number| trial(connection, id, number, extent));
            trials.filter_map(Result::transpose).collect()
        })
    }

    /// Makes sure that the file is still there, with room for so many bytes more. Called before each trial.
    pub fn reserve(&self, bytes: u64) -> Result<(), StoreError> {
        let both = || {
            self.check_place()?;
            space::reserve(&self.path, bytes)
        };
        both().map_err(|fault| fault.at(&self.path))
    }

    fn check_place(&self) -> Result<(), Fault> {
        self.identity.map_or(Ok(()), |identity| identity.check(&self.path))
    }

    /// What is wrong with a run's trials: the damaged ones and the missing ones. The run's own rows are checked by
    /// `run`.
    pub fn verify(&self, id: RunId) -> Result<Vec<Damage>, StoreError> {
        self.read(|connection| {
            refuse_unknown(connection, id)?;
            let mut damages = lost(connection, id)?;
            for number in numbers(connection, id)? {
                if let Some(Kept::Damaged(damage)) = trial(connection, id, number, Extent::Whole)? {
                    damages.push(damage);
                }
            }
            Ok(damages)
        })
    }

    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.write_from(None, |transaction| work(transaction).map_err(Located::Here))
    }

    /// Writes what another store is read for, too.
    fn write_from<T>(
        &mut self,
        from: Option<&Store>,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Located>,
    ) -> Result<T, StoreError> {
        self.file.steps.renew(from.into_iter().chain([&*self]).map(Store::path));
        self.transact(from, work).map_err(|located| match located {
            Located::Here(fault) => fault.at(&self.path),
            Located::There(error) => error,
        })
    }

    fn transact<T>(
        &mut self,
        from: Option<&Store>,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Located>,
    ) -> Result<T, Located> {
        self.check_place()?;
        // Immediate: two writers wait for each other here, and never in the middle of a transaction.
        let immediate = TransactionBehavior::Immediate;
        let transaction = self.file.connection.transaction_with_behavior(immediate)?;
        let done = work(&transaction);
        if let Some(from) = from.filter(|from| from.is_disturbed()) {
            return Err(Located::There(Fault::Busy.at(&from.path)));
        }
        let done = done?;
        transaction.commit()?;
        opening::empty_the_log(&self.file.connection)?;
        Ok(done)
    }

    /// In one transaction, so that everything is read as of one moment.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let all = || {
            let transaction = self.file.connection.unchecked_transaction()?;
            work(&transaction)
        };
        let read = all();
        let read = if self.is_disturbed() { Err(Fault::Busy) } else { read };
        read.map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Whether another process has written to a store that was opened as one that does not change: then what was read is
    /// worth nothing, whether it looks damaged or not.
    fn is_disturbed(&self) -> bool {
        self.file.rest.is_some() && self.file.rest != Rest::of(&self.path)
    }
}

/// The number of the next run.
fn next(connection: &Connection) -> Result<RunId, Fault> {
    let sql = "SELECT ifnull(max(run), 0) + 1 FROM run";
    Ok(RunId(connection.query_row(sql, [], |row| row.get(0))?))
}

/// A fault of the store that is written, or an error of the one that is read.
enum Located {
    Here(Fault),
    There(StoreError),
}

impl From<Fault> for Located {
    fn from(fault: Fault) -> Located {
        Located::Here(fault)
    }
}

impl From<rusqlite::Error> for Located {
    fn from(error: rusqlite::Error) -> Located {
        Located::Here(error.into())
    }
}

fn refuse_what_has_no_place(
    transaction: &Transaction<'_>,
    run: RunId,
    number: u32,
) -> Result<(), Fault> {
    refuse_unknown(transaction, run)?;
    let sql = "SELECT count(*) FROM run_plan WHERE run = ?1 AND trial = ?2";
    let planned: i64 = transaction.query_row(sql, (run.0, number), |row| row.get(0))?;
    if planned == 0 {
        return Err(Fault::NotPlanned(run, number));
    }
    if trial(transaction, run, number, Extent::Summary)?.is_some() {
        return Err(Fault::AlreadyKept(run, number));
    }
    Ok(())
}

fn refuse_unknown(connection: &Connection, run: RunId) -> Result<(), Fault> {
    let sql = "SELECT (SELECT count(*) FROM run WHERE run = ?1)
                    + (SELECT count(*) FROM run_seal WHERE run = ?1)";
    let found: i64 = connection.query_row(sql, [run.0], |row| row.get(0))?;
    if found == 0 { Err(Fault::NoRun(run)) } else { Ok(()) }
}

fn ids(connection: &Connection) -> Result<Vec<RunId>, Fault> {
    let sql = "SELECT run FROM run UNION SELECT run FROM run_seal ORDER BY run";
    let mut statement = connection.prepare_cached(sql)?;
    let runs = statement.query_map([], |row| row.get(0).map(RunId))?;
    let runs: Vec<RunId> = runs.take(RUNS_MOST + 1).collect::<Result<_, _>>()?;
    match runs.len() {
        0..=RUNS_MOST => Ok(runs),
        _ => Err(Fault::TooMuch(format!("more than {RUNS_MOST} runs"))),
    }
}

fn run_record(connection: &Connection, id: RunId) -> Result<RunRecord, Fault> {
    run_rows::run(sealed_run(connection, id)?).map_err(|says| damaged(id, &says))
}

fn summary(connection: &Connection, id: RunId) -> Result<RunSummary, Fault> {
    let (kept, numbers) = match numbers(connection, id) {
        Ok(numbers) => (numbers.len() as u32, Ok(())),
        Err(fault) => (0, Err(fault)),
    };
    let summary = numbers.and_then(|()| run_record(connection, id));
    let summary = summary.and_then(|run| Ok((run, run_end(connection, id)?)));
    match summary {
        Ok((run, end)) => Ok(RunSummary {
            id,
            // How many trials a search takes is not known before.
            planned: if run.is_search() { kept } else { run.plan.len() as u32 },
            group: run.group(),
            servers: run.entries.into_iter().flat_map(|entry| [entry.name, entry.title]).collect(),
            name: run.name,
            began_unix_ms: run.began_unix_ms,
            ended: end.as_ref().map(|end| (end.ended_unix_ms, end.how)),
            is_quick: run.is_quick,
            kept,
            is_finished: run.plan.len() <= kept as usize
                || end.is_some_and(|end| end.is_whole(kept)),
            damage: None,
        }),
        Err(Fault::Damaged(says) | Fault::Disk(says) | Fault::TooMuch(says)) => {
            Ok(RunSummary { id, kept, damage: Some(says), ..RunSummary::default() })
        }
        Err(fault) => Err(fault),
    }
}

fn run_end(connection: &Connection, id: RunId) -> Result<Option<End>, Fault> {
    match sealed_end(connection, id)? {
        None => Ok(None),
        Some(rows) => End::read(rows).map(Some).map_err(|says| damaged(id, &says)),
    }
}

/// A trial has been stored if there is a seal or a row of it. Where the lists cannot be read, each number of the plan
/// is looked up by itself.
fn numbers(connection: &Connection, run: RunId) -> Result<Vec<u32>, Fault> {
    let sql = "SELECT trial FROM trial_seal WHERE run = ?1
               UNION SELECT trial FROM trial WHERE run = ?1 ORDER BY trial";
    match listed(connection, sql, run) {
        Err(Fault::Damaged(_) | Fault::Disk(_)) => {}
        listed => return listed,
    }
    let mut kept = Vec::new();
    let planned = "SELECT trial FROM run_plan WHERE run = ?1 ORDER BY trial";
    for number in listed(connection, planned, run)? {
        if trial(connection, run, number, Extent::Summary)?.is_some() {
            kept.push(number);
        }
    }
    Ok(kept)
}

fn listed(connection: &Connection, sql: &str, run: RunId) -> Result<Vec<u32>, Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let numbers = statement.query_map([run.0], |row| row.get(0))?;
    let numbers: Vec<u32> = numbers.take(TRIALS_MOST + 1).collect::<Result<_, _>>()?;
    match numbers.len() {
        0..=TRIALS_MOST => Ok(numbers),
        _ => Err(Fault::TooMuch(format!("run {run}: more than {TRIALS_MOST} trials"))),
    }
}

/// Trials that were stored when the run ended, and are missing now.
fn lost(connection: &Connection, id: RunId) -> Result<Vec<Damage>, Fault> {
    let Some(end) = run_end(connection, id)? else {
        return Ok(Vec::new());
    };
    let kept = numbers(connection, id)?;
    if end.kept <= kept.len() {
        return Ok(Vec::new());
    }
    let says =
        format!("it may have been lost: {} trials were kept, {} are left", end.kept, kept.len());
    let planned = run_record(connection, id)?.plan.into_iter().map(|key| key.number);
    let gone = planned.filter(|number| !kept.contains(number));
    Ok(gone.map(|number| Damage { number, says: says.clone() }).collect())
}

/// A trial, if it has been stored. A fault of the file where this trial is counts as damage to the trial.
fn trial(
    connection: &Connection,
    run: RunId,
    number: u32,
    extent: Extent,
) -> Result<Option<Kept>, Fault> {
    let rows = sealed_trial(connection, run, number, extent);
    let trial = rows.and_then(|rows| {
        rows.map(|rows| trial_rows::trial(number, rows).map_err(Fault::Damaged)).transpose()
    });
    match trial {
        Ok(trial) => Ok(trial.map(|trial| Kept::Whole(Box::new(trial)))),
        Err(Fault::Damaged(says) | Fault::Disk(says) | Fault::Refused(says)) => {
            Ok(Some(Kept::Damaged(Damage { number, says })))
        }
        Err(fault) => Err(fault),
    }
}
