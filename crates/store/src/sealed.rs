//! Rows under their seals: written together, and refused where they differ.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::error::Fault;
use crate::ledger;
use crate::run::RunId;
use crate::seal::seal;
use crate::store::Extent;
use crate::table::{CONFORMANCE, DETAIL, END, PROFILE, RUN, Rows, SUMMARY, Table};

/// What is under one seal.
pub(crate) struct Sealed {
    /// The tables of its rows; the seal has the same owner.
    tables: &'static [Table],
    /// The seal's table and column.
    seal: (&'static str, &'static str),
}

pub(crate) const RUNS: Sealed = Sealed { tables: RUN, seal: ("run_seal", "sha256") };
const ENDS: Sealed = Sealed { tables: END, seal: ("run_seal", "end_sha256") };
pub(crate) const CHECKS: Sealed =
    Sealed { tables: CONFORMANCE, seal: ("run_conformance_seal", "sha256") };
pub(crate) const PROFILES: Sealed =
    Sealed { tables: PROFILE, seal: ("run_profile_seal", "sha256") };
const SUMMARIES: Sealed = Sealed { tables: SUMMARY, seal: ("trial_seal", "summary_sha256") };
const DETAILS: Sealed = Sealed { tables: DETAIL, seal: ("trial_seal", "detail_sha256") };

impl Sealed {
    /// Inserts the rows of an owner, and seals them.
    pub(crate) fn insert(
        &self,
        connection: &Connection,
        owner: &[i64],
        rows: &Rows,
    ) -> Result<(), Fault> {
        ledger::insert(connection, owner, self.tables, rows)?;
        let (table, column) = self.seal;
        let columns = self.owners(owner).join(", ");
        let placeholders = vec!["?"; owner.len() + 1].join(", ");
        let sql = format!("INSERT INTO {table} ({columns}, {column}) VALUES ({placeholders})");
        let seal = Value::Blob(seal(owner, self.tables, rows).to_vec());
        let values = owner.iter().copied().map(Value::Integer).chain([seal]);
        connection.execute(&sql, params_from_iter(values))?;
        Ok(())
    }

    /// The rows of an owner, if there are any. If they are not those that were sealed, that is this fault.
    pub(crate) fn read(
        &self,
        connection: &Connection,
        owner: &[i64],
        unlike: impl FnOnce() -> Fault,
    ) -> Result<Option<Rows>, Fault> {
        let rows = ledger::read(connection, owner, self.tables)?;
        let (table, column) = self.seal;
        let mine: Vec<String> =
            self.owners(owner).iter().map(|column| format!("{column} = ?")).collect();
        let sql = format!("SELECT {column} FROM {table} WHERE {}", mine.join(" AND "));
        let mut statement = connection.prepare_cached(&sql)?;
        let sealed = statement.query_row(params_from_iter(owner), |row| row.get(0)).optional()?;
        let sealed: Option<Option<Vec<u8>>> = sealed;
        match sealed.flatten() {
            None if rows == Rows::default() => Ok(None),
            Some(sealed) if sealed == seal(owner, self.tables, &rows) => Ok(Some(rows)),
            Some(_) | None => Err(unlike()),
        }
    }

    /// The columns of its tables that say who owns a row.
    fn owners(&self, owner: &[i64]) -> &'static [&'static str] {
        &self.tables[0].owners[..owner.len()]
    }
}

pub(crate) fn unlike() -> Fault {
    Fault::Damaged("its rows are not those that were sealed".to_string())
}

pub(crate) fn insert_end(connection: &Connection, run: RunId, rows: &Rows) -> Result<(), Fault> {
    ledger::insert(connection, &[run.0], END, rows)?;
    let sql = "UPDATE run_seal SET end_sha256 = ?2 WHERE run = ?1";
    connection.execute(sql, (run.0, seal(&[run.0], END, rows)))?;
    Ok(())
}

pub(crate) fn insert_trial(
    connection: &Connection,
    run: RunId,
    number: u32,
    rows: &Rows,
) -> Result<(), Fault> {
    let owner = [run.0, i64::from(number)];
    ledger::insert(connection, &owner, SUMMARY, rows)?;
    ledger::insert(connection, &owner, DETAIL, rows)?;
    let sql = "INSERT INTO trial_seal (run, trial, summary_sha256, detail_sha256)
               VALUES (?1, ?2, ?3, ?4)";
    let seals = (seal(&owner, SUMMARY, rows), seal(&owner, DETAIL, rows));
    connection.execute(sql, (owner[0], owner[1], seals.0, seals.1))?;
    Ok(())
}

pub(crate) fn damaged(id: RunId, says: &str) -> Fault {
    Fault::Damaged(format!("run {id}: {says}"))
}

/// A run's rows; they are those that were sealed.
pub(crate) fn sealed_run(connection: &Connection, id: RunId) -> Result<Rows, Fault> {
    let unlike = || damaged(id, "its rows are not those that were sealed");
    RUNS.read(connection, &[id.0], unlike)?.ok_or(Fault::NoRun(id))
}

pub(crate) fn sealed_end(connection: &Connection, id: RunId) -> Result<Option<Rows>, Fault> {
    ENDS.read(connection, &[id.0], || damaged(id, "its end is not what was sealed"))
}

/// A trial's rows, if there are any; they are those that were sealed.
pub(crate) fn sealed_trial(
    connection: &Connection,
    run: RunId,
    number: u32,
    extent: Extent,
) -> Result<Option<Rows>, Fault> {
    let owner = [run.0, i64::from(number)];
    let parts: &[Sealed] = match extent {
        Extent::Summary => &[SUMMARIES],
        Extent::Whole => &[SUMMARIES, DETAILS],
    };
    let mut all = Rows::default();
    for part in parts {
        match part.read(connection, &owner, unlike)? {
            Some(rows) => all.join(rows),
            None if all == Rows::default() => return Ok(None),
            None => return Err(unlike()),
        }
    }
    Ok(Some(all))
}
