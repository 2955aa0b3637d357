//! Runs that leave a store or come from another one: removed, copied into a file of their own, or taken over. Whatever
//! is copied is verified by its seals first, and sealed anew under the run's number in the other store.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::{Located, Store, lost, next, numbers, refuse_unknown, run_record};
use crate::error::{Fault, StoreError};
use crate::run::RunId;
use crate::seal::{Seal, seal};
use crate::sealed::{insert_end, insert_run, insert_trial, sealed_end, sealed_run, sealed_trial};
use crate::store::Extent;
use crate::table::{CONFORMANCE, DETAIL, END, RUN, SUMMARY};
use crate::{conformance, conformance_rows, ledger, opening, run_rows, space, trial_rows};

/// What became of a run that was to be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imported {
    /// It has this number here.
    New(RunId),
    /// The same run is here already, under this number.
    Known(RunId),
}

/// The seals' own tables, which no seal covers.
const SEALS: [&str; 3] = ["trial_seal", "run_conformance_seal", "run_seal"];

impl Store {
    /// Removes all that is kept of these runs, of all of them or of none. Their bytes are overwritten, too.
    pub fn remove(&mut self, runs: &[RunId]) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction.execute_batch("PRAGMA secure_delete = ON")?;
            let version = opening::version(transaction)?;
            let tables = [RUN, END, CONFORMANCE, SUMMARY, DETAIL].into_iter().flatten();
            let tables: Vec<String> = tables.map(|table| table.stored(version)).collect();
            for run in runs {
                refuse_unknown(transaction, *run)?;
                // Rows before those that they refer to.
                for table in SEALS.into_iter().chain(tables.iter().rev().map(String::as_str)) {
                    let sql = format!("DELETE FROM {table} WHERE run = ?1");
                    transaction.prepare_cached(&sql)?.execute([run.0])?;
                }
            }
            Ok(())
        })
    }

    /// Gives the room of what was removed back to the file system. It needs as much room as the store takes, and
    /// writers wait meanwhile.
    pub fn shrink(&mut self) -> Result<(), StoreError> {
        let all = || {
            self.check_place()?;
            self.connection.execute_batch("VACUUM")?;
            opening::empty_the_log(&self.connection)
        };
        all().map_err(|fault: Fault| fault.at(&self.path))
    }

    /// Copies a run into a new store, one file that has nothing else, under the same number.
    pub fn export(&self, run: RunId, to: &Path) -> Result<(), StoreError> {
        let mut copy = Store::open(to)?;
        copy.take_over(self, run, |_, _| Ok(Place::At(run)))?;
        let alone = "PRAGMA journal_mode = DELETE";
        let mode: Result<String, _> = copy.connection.query_row(alone, [], |row| row.get(0));
        mode.map(drop).map_err(|error| Fault::from(error).at(to))
    }

    /// Takes over a run of another store, unless it is here already. It gets a number of its own here.
    pub fn import(&mut self, from: &Store, run: RunId) -> Result<Imported, StoreError> {
        let room = fs::metadata(&from.path).map_or(0, |file| file.len());
        space::reserve(&self.path, room).map_err(|fault| fault.at(&self.path))?;
        self.take_over(from, run, |target, identity| match known(target, identity)? {
            Some(run) => Ok(Place::Taken(run)),
            None => next(target).map(Place::At),
        })
    }

    /// Copies a run of another store to the place that it is given, all of it or nothing.
    fn take_over(
        &mut self,
        from: &Store,
        run: RunId,
        place: impl FnOnce(&Connection, &Identity) -> Result<Place, Fault>,
    ) -> Result<Imported, StoreError> {
        let there = |fault: Fault| Located::There(fault.at(&from.path));
        self.write_from(|target| {
            // In one transaction, so that everything is read as of one moment.
            let source = from.connection.unchecked_transaction();
            let source = source.map_err(|error| there(error.into()))?;
            let identity = Identity::of(&source, run).map_err(there)?;
            match place(target, &identity)? {
                Place::Taken(known) => Ok(Imported::Known(known)),
                Place::At(number) => {
                    let copy = Copy { from: run, to: number, source: &source, target };
                    copy.run(&there)?;
                    Ok(Imported::New(number))
                }
            }
        })
    }
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
    fn run(&self, there: &dyn Fn(Fault) -> Located) -> Result<(), Located> {
        let damaged = |says: String| there(Fault::Damaged(format!("run {}: {says}", self.from)));
        let rows = sealed_run(self.source, self.from).map_err(there)?;
        insert_run(self.target, self.to, &rows)?;
        let record = run_rows::run(rows).map_err(damaged)?;
        if let Some(lost) = lost(self.source, self.from).map_err(there)?.first() {
            return Err(damaged(format!("trial {}: {}", lost.number, lost.says)));
        }
        for (place, entry) in record.entries.iter().enumerate() {
            let owner = [self.from.0, place as i64];
            let says = |says: String| damaged(format!("the check of `{}`: {says}", entry.name));
            let sealed = conformance::sealed(self.source, owner);
            let Some(mut rows) = sealed.map_err(|fault| located(fault, &says, there))? else {
                continue;
            };
            if self.from != self.to {
                // The run from which a check was taken over has another number here, or is not here at all.
                rows.blank("run_conformance", 0);
            }
            conformance::insert_rows(self.target, [self.to.0, place as i64], &rows)?;
            conformance_rows::conformance(&entry.name, rows).map_err(says)?;
        }
        let planned: HashSet<u32> = record.plan.iter().map(|key| key.number).collect();
        for number in numbers(self.source, self.from).map_err(there)? {
            let says = |says: String| damaged(format!("trial {number}: {says}"));
            if !planned.contains(&number) {
                return Err(says("it is not in the run's plan".into()));
            }
            let sealed = sealed_trial(self.source, self.from, number, Extent::Whole);
            let sealed = sealed.map_err(|fault| located(fault, &says, there))?;
            let rows = sealed.ok_or_else(|| says("it has no rows".into()))?;
            insert_trial(self.target, self.to, number, &rows)?;
            trial_rows::trial(number, rows).map_err(says)?;
        }
        if let Some(rows) = sealed_end(self.source, self.from).map_err(there)? {
            insert_end(self.target, self.to, &rows)?;
            run_rows::end(rows).map_err(damaged)?;
        }
        Ok(())
    }
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
