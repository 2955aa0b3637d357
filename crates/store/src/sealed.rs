//! Rows under their seals: written together, and refused where they differ.

use rusqlite::{Connection, OptionalExtension};

use crate::error::Fault;
use crate::ledger;
use crate::run::RunId;
use crate::seal::seal;
use crate::store::Extent;
use crate::table::{DETAIL, END, RUN, Rows, SUMMARY, Table};

/// Inserts the rows of a run, and seals them.
pub(crate) fn insert_run(connection: &Connection, run: RunId, rows: &Rows) -> Result<(), Fault> {
    ledger::insert(connection, &[run.0], RUN, rows)?;
    let sql = "INSERT INTO run_seal (run, sha256) VALUES (?1, ?2)";
    connection.execute(sql, (run.0, seal(&[run.0], RUN, rows)))?;
    Ok(())
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
    let rows = ledger::read(connection, &[id.0], RUN)?;
    let sealed = run_seal(connection, id, "sha256")?;
    if sealed.is_none() && rows == Rows::default() {
        return Err(Fault::NoRun(id));
    }
    match sealed.as_deref() == Some(&seal(&[id.0], RUN, &rows)[..]) {
        true => Ok(rows),
        false => Err(damaged(id, "its rows are not those that were sealed")),
    }
}

fn run_seal(connection: &Connection, id: RunId, column: &str) -> Result<Option<Vec<u8>>, Fault> {
    let sql = format!("SELECT {column} FROM run_seal WHERE run = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let sealed: Option<Option<_>> = statement.query_row([id.0], |row| row.get(0)).optional()?;
    Ok(sealed.flatten())
}

pub(crate) fn sealed_end(connection: &Connection, id: RunId) -> Result<Option<Rows>, Fault> {
    let rows = ledger::read(connection, &[id.0], END)?;
    let sealed = run_seal(connection, id, "end_sha256")?;
    if sealed.is_none() && rows == Rows::default() {
        return Ok(None);
    }
    match sealed.as_deref() == Some(&seal(&[id.0], END, &rows)[..]) {
        true => Ok(Some(rows)),
        false => Err(damaged(id, "its end is not what was sealed")),
    }
}

/// A trial's rows, if there are any; they are those that were sealed.
pub(crate) fn sealed_trial(
    connection: &Connection,
    run: RunId,
    number: u32,
    extent: Extent,
) -> Result<Option<Rows>, Fault> {
    let owner = [run.0, i64::from(number)];
    let parts: &[(&[Table], &str)] = match extent {
        Extent::Summary => &[(SUMMARY, "summary_sha256")],
        Extent::Whole => &[(SUMMARY, "summary_sha256"), (DETAIL, "detail_sha256")],
    };
    let mut all = Rows::default();
    for &(tables, column) in parts {
        let rows = ledger::read(connection, &owner, tables)?;
        let sealed = trial_seal(connection, owner, column)?;
        if sealed.is_none() && all == Rows::default() && rows == Rows::default() {
            return Ok(None);
        }
        if sealed.as_deref() != Some(&seal(&owner, tables, &rows)[..]) {
            return Err(Fault::Damaged("its rows are not those that were sealed".to_string()));
        }
        all.join(rows);
    }
    Ok(Some(all))
}

fn trial_seal(
    connection: &Connection,
    owner: [i64; 2],
    column: &str,
) -> Result<Option<Vec<u8>>, Fault> {
    let sql = format!("SELECT {column} FROM trial_seal WHERE run = ?1 AND trial = ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row(owner, |row| row.get(0)).optional()?)
}
