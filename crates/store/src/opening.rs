//! Opening a store: what it must be, how SQLite is to treat it, and its tables' versions.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};

use crate::error::{Fault, StoreError};

/// Says in the file's header that it is dyno's: `dyno` in ASCII.
const APPLICATION_ID: i64 = 0x6479_6e6f;

/// Each step leads to the version that is its place, counted from 1. A step never changes once it has
/// been released; one that changes what a seal covers has to judge and seal anew.
const STEPS: &[&str] = &[include_str!("schema.sql")];

/// So long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a store, or makes one.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    open_with(path, STEPS).map_err(|fault| fault.at(path))
}

fn open_with(path: &Path, steps: &[&str]) -> Result<Connection, Fault> {
    if !folder(path).is_dir() {
        return Err(Fault::NoFolder);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    judge(&connection, steps.len() as i64)?;
    if connection.is_readonly(MAIN_DB)? {
        return Err(Fault::ReadOnly);
    }
    configure(&connection)?;
    migrate(&mut connection, steps)?;
    Ok(connection)
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Refuses what is not ours, before anything is written to it.
fn judge(connection: &Connection, known: i64) -> Result<(), Fault> {
    let application_id =
        number(connection, "PRAGMA application_id").map_err(|fault| match fault {
            Fault::Damaged(_) => Fault::NotAStore,
            fault => fault,
        })?;
    let found = number(connection, "PRAGMA user_version")?;
    let tables = number(connection, "SELECT count(*) FROM sqlite_schema")?;
    let is_new = (application_id, found, tables) == (0, 0, 0);
    if application_id != APPLICATION_ID && !is_new {
        return Err(Fault::NotAStore);
    }
    if known < found {
        return Err(Fault::Newer { found, known });
    }
    Ok(())
}

fn configure(connection: &Connection) -> Result<(), Fault> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::NoSharing);
    }
    // FULL: a commit that has returned survives a power failure. The file may come from anybody, hence
    // the distrust.
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;",
    )?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Takes every step that the store has not taken, all or none.
fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Fault> {
    let known = steps.len() as i64;
    if number(connection, "PRAGMA user_version")? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have come first.
    let found = number(&transaction, "PRAGMA user_version")?;
    let taken = usize::try_from(found).ok().filter(|taken| *taken <= steps.len());
    for step in &steps[taken.ok_or(Fault::Newer { found, known })?..] {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", known)?;
    Ok(transaction.commit()?)
}

fn number(connection: &Connection, sql: &str) -> Result<i64, Fault> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}
