//! Runs that leave a store or come from another one: removed, copied into a file of their own, or taken over. Whatever
//! is copied is verified by its seals first, and sealed anew under the run's number in the other store.

use std::collections::HashSet;
use std::path::Path;
use std::{fs, io};

use lab::record::RunRecord;
use rusqlite::Connection;

use super::{Located, Store, lost, next, numbers, refuse_unknown, run_record};
use crate::columns::End;
use crate::error::{Fault, StoreError};
use crate::run::RunId;
use crate::seal::{Seal, seal};
use crate::sealed::{
    CHECKS, PROFILES, RUNS, insert_end, insert_trial, sealed_end, sealed_run, sealed_trial, unlike,
};
use crate::store::Extent;
use crate::table::{CONFORMANCE, DETAIL, END, PROFILE, RUN, SUMMARY};
use crate::{conformance_rows, ledger, opening, profiles, run_rows, trial_rows};

/// What became of a run that was to be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It has this number here.
    New(RunId),
    /// This run is here already, under this number.
    Known(RunId),
}

/// The seals' own tables, which no seal covers.
const SEALS: [&str; 4] = ["trial_seal", "run_profile_seal", "run_conformance_seal", "run_seal"];

impl Store {
    /// Removes a store that is not wanted, with what SQLite keeps beside it.
    pub fn remove_file(path: &Path) -> io::Result<()> {
        ["", "-wal", "-shm", "-journal"].into_iter().try_for_each(|ending| {
            match fs::remove_file(opening::beside(path, ending)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            }
        })
    }

    /// Removes all that is kept of these runs, of all of them or of none. Their bytes are overwritten, too.
    pub fn remove(&mut self, runs: &[RunId]) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute_batch("PRAGMA secure_delete = ON")?;
            let tables = [RUN, END, CONFORMANCE, PROFILE, SUMMARY, DETAIL].into_iter().flatten();
            let tables: Vec<&str> = tables.map(|table| table.name).collect();
            for run in runs {
                refuse_unknown(transaction, *run)?;
                // Rows before those that they refer to.
                for table in SEALS.into_iter().chain(tables.iter().rev().copied()) {
                    let sql = format!("DELETE FROM {table} WHERE run = ?1");
                    transaction.prepare_cached(&sql)?.execute([run.0])?;
                }
            }
            Ok(())
        })
    }

    /// Gives the room of what was removed back to the file system, if that is a tenth of the store's: the rest is written
    /// anew, which needs as much room as it takes, and writers wait meanwhile. Less is left to later runs.
    pub fn shrink(&mut self) -> Result<(), StoreError> {
        self.vacuum().map_err(|fault| fault.at(&self.path))
    }

    fn vacuum(&mut self) -> Result<(), Fault> {
        self.check_place()?;
        self.file.steps.renew([self.path.as_path()]);
        let sql =
            "SELECT freelist_count * 10 < page_count FROM pragma_freelist_count, pragma_page_count";
        if self.file.connection.query_row(sql, [], |row| row.get(0))? {
            return Ok(());
        }
        self.file.connection.execute_batch("VACUUM")?;
        opening::empty_the_log(&self.file.connection)
    }

    /// Copies a run into a new store, one file that has nothing else, under the same number: all of it, or how it began
    /// and of the rest only this.
    pub fn export(
        &self,
        run: RunId,
        to: &Path,
        portion: Option<&Portion<'_>>,
    ) -> Result<(), StoreError> {
        let mut copy = Store::open(to)?;
        copy.take_over(self, run, portion, |_, _| Ok(Place::At(run)))?;
        let alone = "PRAGMA journal_mode = DELETE";
        let mode: Result<String, _> = copy.file.connection.query_row(alone, [], |row| row.get(0));
        mode.map(drop).map_err(|error| Fault::from(error).at(to))
    }

    /// Takes over a run of another store, unless it is here already. It gets a number of its own here. The caller has
    /// reserved room.
    pub fn import(&mut self, from: &Store, run: RunId) -> Result<Imported, StoreError> {
        self.take_over(from, run, None, |target, identity| match known(target, identity)? {
            Some(run) => Ok(Place::Taken(run)),
            None => next(target).map(Place::At),
        })
    }

    /// Adds the checks and trials that another store has of a run that is here, all of them or none; what is here already
    /// is refused.
    pub fn join(&mut self, from: &Store, theirs: RunId, ours: RunId) -> Result<(), StoreError> {
        let there = |fault: Fault| Located::There(fault.at(&from.path));
        self.write_from(Some(from), |target| {
            let source = from.file.connection.unchecked_transaction();
            let source = source.map_err(|error| there(error.into()))?;
            let identity = Identity::of(&source, theirs).map_err(there)?;
            if Identity::of(target, ours)?.seal != identity.seal {
                return Err(there(Fault::Refused(format!("it has another run than run {ours}"))));
            }
            let record = run_record(target, ours)?;
            let kept = numbers(target, ours)?;
            if let Some(twice) =
                numbers(&source, theirs).map_err(there)?.iter().find(|it| kept.contains(it))
            {
                return Err(Fault::AlreadyKept(ours, *twice).into());
            }
            let copy = Copy { from: theirs, to: ours, source: &source, target };
            copy.parts(&record, None, &there)
        })
    }

    /// Copies a run of another store to the place that it is given, all of it or nothing.
    fn take_over(
        &mut self,
        from: &Store,
        run: RunId,
        portion: Option<&Portion<'_>>,
        place: impl FnOnce(&Connection, &Identity) -> Result<Place, Fault>,
    ) -> Result<Imported, StoreError> {
        let there = |fault: Fault| Located::There(fault.at(&from.path));
        self.write_from(Some(from), |target| {
            // In one transaction, so that everything is read as of one moment.
            let source = from.file.connection.unchecked_transaction();
            let source = source.map_err(|error| there(error.into()))?;
            let identity = Identity::of(&source, run).map_err(there)?;
            match place(target, &identity)? {
                Place::Taken(known) => Ok(Imported::Known(known)),
                Place::At(number) => {
                    let copy = Copy { from: run, to: number, source: &source, target };
                    copy.run(portion, &there)?;
                    Ok(Imported::New(number))
                }
            }
        })
    }
}

/// What there is of a run beside how it began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portion<'p> {
    pub trials: &'p [u32],
    /// The subjects whose checks are meant.
    pub checks: &'p [&'p str],
}

/// Where a run goes.
enum Place {
    At(RunId),
    Taken(RunId),
}

/// What makes a run the same in two stores: everything that it began with, whatever its number.
struct Identity {
    name: String,
    began_unix_ms: i64,
    seal: Seal,
}

impl Identity {
    fn of(connection: &Connection, run: RunId) -> Result<Identity, Fault> {
        let record = run_record(connection, run)?;
        let seal = seal(&[], RUN, &sealed_run(connection, run)?);
        Ok(Identity { name: record.name, began_unix_ms: record.began_unix_ms, seal })
    }
}

/// The number of the same run, if it is here.
fn known(connection: &Connection, identity: &Identity) -> Result<Option<RunId>, Fault> {
    let sql = "SELECT run FROM run WHERE name = ?1 AND began_unix_ms = ?2 ORDER BY run";
    let mut statement = connection.prepare_cached(sql)?;
    let alike = statement
        .query_map((&identity.name, identity.began_unix_ms), |row| row.get(0).map(RunId))?;
    for run in alike {
        let run = run?;
        if seal(&[], RUN, &ledger::read(connection, &[run.0], RUN)?) == identity.seal {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// A run on its way from one store to another.
struct Copy<'c> {
    from: RunId,
    to: RunId,
    source: &'c Connection,
    target: &'c Connection,
}

impl Copy<'_> {
    /// Each part is verified, understood and written before the next one is read. `there` locates a fault of the source.
    fn run(
        &self,
        portion: Option<&Portion<'_>>,
        there: &dyn Fn(Fault) -> Located,
    ) -> Result<(), Located> {
        let damaged = |says: String| there(Fault::Damaged(format!("run {}: {says}", self.from)));
        let rows = sealed_run(self.source, self.from).map_err(there)?;
        RUNS.insert(self.target, &[self.to.0], &rows)?;
        let record = run_rows::run(rows).map_err(damaged)?;
        if portion.is_none()
            && let Some(lost) = lost(self.source, self.from).map_err(there)?.first()
        {
            return Err(damaged(format!("trial {}: {}", lost.number, lost.says)));
        }
        self.parts(&record, portion, there)?;
        if portion.is_none()
            && let Some(rows) = sealed_end(self.source, self.from).map_err(there)?
        {
            insert_end(self.target, self.to, &rows)?;
            End::read(rows).map_err(damaged)?;
        }
        Ok(())
    }

    /// The checks and the trials.
    fn parts(
        &self,
        record: &RunRecord,
        portion: Option<&Portion<'_>>,
        there: &dyn Fn(Fault) -> Located,
    ) -> Result<(), Located> {
        let damaged = |says: String| there(Fault::Damaged(format!("run {}: {says}", self.from)));
        for (place, entry) in record.entries.iter().enumerate() {
            if portion.is_some_and(|portion| !portion.checks.contains(&entry.name.as_str())) {
                continue;
            }
            let owner = [self.from.0, place as i64];
            let damaged = |says: String| damaged(format!("the check of `{}`: {says}", entry.name));
            let sealed = CHECKS.read(self.source, &owner, unlike);
            let Some(mut rows) = sealed.map_err(|fault| located(fault, &damaged, there))? else {
                continue;
            };
            if self.from != self.to {
                // The run from which a check was taken over has another number here, or is not here at all.
                rows.blank("run_conformance", 0);
            }
            let owner = [self.to.0, place as i64];
            written(CHECKS.insert(self.target, &owner, &rows), &damaged)?;
            conformance_rows::conformance(&entry.name, rows).map_err(damaged)?;
        }
        for number in profiles::numbers(self.source, self.from.0).map_err(there)? {
            if portion.is_some() {
                break;
            }
            let damaged = |says: String| damaged(format!("profile {number}: {says}"));
            let owner = |run: RunId| [run.0, i64::from(number)];
            let rows = profiles::sealed(self.source, owner(self.from));
            let rows = rows.map_err(|fault| located(fault, &damaged, there))?;
            written(PROFILES.insert(self.target, &owner(self.to), &rows), &damaged)?;
            profiles::profile(number, rows).map_err(damaged)?;
        }
        let planned: HashSet<u32> = record.plan.iter().map(|key| key.number).collect();
        for number in numbers(self.source, self.from).map_err(there)? {
            if portion.is_some_and(|portion| !portion.trials.contains(&number)) {
                continue;
            }
            let damaged = |says: String| damaged(format!("trial {number}: {says}"));
            if !planned.contains(&number) {
                return Err(damaged("it is not in the run's plan".into()));
            }
            let sealed = sealed_trial(self.source, self.from, number, Extent::Whole);
            let sealed = sealed.map_err(|fault| located(fault, &damaged, there))?;
            let rows = sealed.ok_or_else(|| damaged("it has no rows".into()))?;
            written(insert_trial(self.target, self.to, number, &rows), &damaged)?;
            trial_rows::trial(number, rows).map_err(damaged)?;
        }
        Ok(())
    }
}

/// Rows that no table takes, because they refer to a row that is not there, are damage of the store from which they come.
fn written(done: Result<(), Fault>, damaged: &dyn Fn(String) -> Located) -> Result<(), Located> {
    done.map_err(|fault| match fault {
        Fault::Refused(why) => damaged(why),
        fault => Located::Here(fault),
    })
}

/// Damage says what is damaged; any other fault is the file's.
fn located(
    fault: Fault,
    says: &dyn Fn(String) -> Located,
    there: &dyn Fn(Fault) -> Located,
) -> Located {
    match fault {
        Fault::Damaged(why) => says(why),
        fault => there(fault),
    }
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::{TrialKey, TrialRecord};

    use super::*;
    use crate::cell::row;

    #[test]
    fn sealed_rows_that_refer_to_nothing_are_damage_of_the_store_that_has_them() {
        let folder = std::env::temp_dir().join(format!("dyno-transfer-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let mut source = Store::open(&folder.join("source")).unwrap();
        let key = TrialKey::new(0, "a", "b", Point::Connections(1), 0);
        let record = RunRecord { plan: vec![key.clone()], ..RunRecord::default() };
        let run = source.begin(&record).unwrap();
        let mut rows = trial_rows::rows(&TrialRecord::new(key, 0));
        rows.add("trial_point", row![7_usize, 0_usize, 1_u64, 0.5]);
        source.file.connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        insert_trial(&source.file.connection, run, 0, &rows).unwrap();
        let found = Store::open(&folder.join("target")).unwrap().import(&source, run).unwrap_err();
        assert_eq!(found.path, source.path);
        let says = "run 1: trial 0: FOREIGN KEY constraint failed";
        assert_eq!(found.fault, Fault::Damaged(says.into()));
        fs::remove_dir_all(&folder).unwrap();
    }
}
