//! Opens a store: what the file must be, how SQLite is to treat it, and the tables of a new one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::geteuid;

use crate::error::Fault;
use crate::foreign::{Steps, refuse_other_tables};

/// Marks the file as dyno's in its header: `DYNO` in ASCII.
const APPLICATION_ID: i64 = 0x4459_4e4f;
/// What marked it before the first release: `dyno`.
const UNRELEASED_ID: i64 = 0x6479_6e6f;

/// The tables, and their version, which is in the file's header, too.
pub(crate) const SCHEMA: &str = include_str!("schema.sql");
const VERSION: i64 = 1;

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// The file of a store.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) steps: Steps,
    /// The state of a file to which no process wrote when it was opened to be read: SQLite takes it for one that does not
    /// change.
    pub(crate) rest: Option<Rest>,
}

/// What changes in a file's metadata when somebody writes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rest((u64, i64, i64));

/// Opens an existing store, and never writes to it.
pub(crate) fn open_to_read(path: &Path) -> Result<Opened, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let as_immutable = || {
        let rest = Rest::of(path);
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        judged(path, Connection::open_with_flags(immutable(path), flags)?, rest)
    };
    // The files that SQLite makes beside a store to read it would be ours, and keep the store's owner from writing.
    if is_of_another(path) && !(beside(path, "-wal").exists() && beside(path, "-shm").exists()) {
        return if is_without_log(path) { as_immutable() } else { Err(Fault::ReadOnly) };
    }
    match judged(path, Connection::open_with_flags(path, flags)?, None) {
        Err(Fault::CannotOpen(_) | Fault::ReadOnly | Fault::Disk(_)) if is_at_rest(path) => {
            as_immutable()
        }
        judged => judged,
    }
}

impl Rest {
    /// The state of a file, if there is no log beside it, which would have to be read, too.
    pub(crate) fn of(path: &Path) -> Option<Rest> {
        let file = fs::metadata(path).ok().filter(|_| is_without_log(path))?;
        Some(Rest((file.len(), file.mtime(), file.mtime_nsec())))
    }
}

/// Whether a store belongs to another user. What root makes, SQLite gives to the store's owner.
fn is_of_another(path: &Path) -> bool {
    let is_mine = |owner: u32| geteuid().is_root() || geteuid().as_raw() == owner;
    fs::metadata(path).is_ok_and(|file| !is_mine(file.uid()))
}

/// Whether no process can write to a store: it is on a read-only file system, and has no log that would have to be
/// read. SQLite makes a file beside it even to read, unless it is opened as immutable.
fn is_at_rest(path: &Path) -> bool {
    let is_read_only =
        statvfs(path).is_ok_and(|there| there.f_flag.contains(StatVfsMountFlags::RDONLY));
    is_read_only && is_without_log(path)
}

fn is_without_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).map_or(true, |log| log.len() == 0)
}

/// The name of a file that SQLite has beside a store.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(ending);
    name.into()
}

/// The path as an SQLite URI, with every byte escaped.
fn immutable(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped: String = bytes.map(|byte| format!("%{byte:02x}")).collect();
    format!("file:{escaped}?immutable=1")
}

fn judged(path: &Path, connection: Connection, rest: Option<Rest>) -> Result<Opened, Fault> {
    let steps = Steps::of(&connection, path)?;
    connection.busy_timeout(PATIENCE)?;
    judge(&connection)?;
    // An empty file may become a store, but is not one yet.
    if version(&connection)? == 0 {
        return Err(Fault::NotAStore);
    }
    distrust(&connection)?;
    Ok(Opened { connection, steps, rest })
}

/// Opens a store, or makes one.
pub(crate) fn open(path: &Path) -> Result<Opened, Fault> {
    if path.as_os_str() == "-" {
        return Err(Fault::Dash);
    }
    if !folder(path).is_dir() {
        return Err(Fault::NoFolder);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    let steps = Steps::of(&connection, path)?;
    connection.busy_timeout(PATIENCE)?;
    // SQLite falls back to reading without an error.
    if connection.is_readonly(MAIN_DB)? {
        return Err(Fault::ReadOnly);
    }
    if let Err(fault) = judge(&connection) {
        // What is refused stays as it is: SQLite would move the content of its log into it.
        let has_log = !is_without_log(path);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
        return Err(fault);
    }
    configure(&connection)?;
    if version(&connection)? == 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        make_tables(&transaction)?;
        transaction.commit()?;
    }
    Ok(Opened { connection, steps, rest: None })
}

/// Moves the content of the log into the file. When it is opened next, SQLite would apply the log to whatever file has
/// the store's name; so the log is kept empty between transactions. If a reader prevents that, the next transaction
/// does it.
pub(crate) fn empty_the_log(connection: &Connection) -> Result<(), Fault> {
    connection.busy_timeout(Duration::ZERO)?;
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    Ok(connection.busy_timeout(PATIENCE)?)
}

/// The version of its tables; 0 if there are none yet.
fn version(connection: &Connection) -> Result<i64, Fault> {
    number(connection, "PRAGMA user_version")
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Refuses a file that is not a dyno store, before anything is written to it.
fn judge(connection: &Connection) -> Result<(), Fault> {
    // All is read at one time: another process may be making the store.
    let seen = connection.unchecked_transaction()?;
    let application_id = number(&seen, "PRAGMA application_id").map_err(|fault| match fault {
        Fault::Damaged(_) => Fault::NotAStore,
        fault => fault,
    })?;
    let found = version(&seen)?;
    let is_empty = || number(&seen, "SELECT count(*) FROM sqlite_schema");
    if (application_id, found) == (0, 0) && is_empty()? == 0 {
        return Ok(());
    }
    match application_id {
        APPLICATION_ID if found < VERSION => Err(Fault::Damaged(format!("its version is {found}"))),
        APPLICATION_ID if VERSION < found => Err(Fault::Newer { found, known: VERSION }),
        APPLICATION_ID => refuse_other_tables(&seen),
        UNRELEASED_ID => Err(Fault::Unreleased),
        _ => Err(Fault::NotAStore),
    }
}

fn configure(connection: &Connection) -> Result<(), Fault> {
    let mode = share(connection)?;
    if mode != "wal" {
        return Err(Fault::NoSharing);
    }
    // FULL: a commit that has returned survives a power failure.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")?;
    distrust(connection)
}

/// Requests the write-ahead log, which readers and a writer can share. While another process requests the same, SQLite
/// gives up at once instead of waiting, since two processes that wait for each other would wait for ever.
fn share(connection: &Connection) -> Result<String, Fault> {
    const PAUSE: Duration = Duration::from_millis(5);
    let most = PATIENCE.as_millis() / PAUSE.as_millis();
    let ask = || connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
    for _ in 0..most {
        match ask().map_err(Fault::from) {
            Err(Fault::Busy) => thread::sleep(PAUSE),
            answered => return answered,
        }
    }
    Ok(ask()?)
}

/// The file may come from an untrusted source.
fn distrust(connection: &Connection) -> Result<(), Fault> {
    connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Makes the tables of a new store, unless another process was first.
fn make_tables(transaction: &Transaction<'_>) -> Result<(), Fault> {
    if version(transaction)? != 0 {
        return Ok(());
    }
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}

fn number(connection: &Connection, sql: &str) -> Result<i64, Fault> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{CONFORMANCE, DETAIL, END, PROFILE, RUN, SUMMARY};

    fn texts(store: &Connection, sql: &str, of: &[&str]) -> Vec<String> {
        let mut statement = store.prepare(sql).unwrap();
        let found = statement.query_map(rusqlite::params_from_iter(of), |row| row.get(0)).unwrap();
        found.map(Result::unwrap).collect()
    }

    #[test]
    fn a_commit_waits_for_the_disk_and_every_column_is_in_a_seal() {
        let path = std::env::temp_dir().join(format!("dyno-opening-{}", std::process::id()));
        let store = open(&path).unwrap().connection;
        assert_eq!(number(&store, "PRAGMA synchronous"), Ok(2), "FULL");
        assert_eq!(number(&store, "PRAGMA foreign_keys"), Ok(1));
        let seals = ["run_seal", "run_conformance_seal", "run_profile_seal", "trial_seal"];
        let mut expected: Vec<String> = seals.map(String::from).to_vec();
        for (tables, owner) in [
            (RUN, &["run"][..]),
            (END, &["run"]),
            (CONFORMANCE, &["run", "entry"]),
            (PROFILE, &["run", "profile"]),
            (SUMMARY, &["run", "trial"]),
            (DETAIL, &["run", "trial"]),
        ] {
            for table in tables {
                let sql = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
                let found = texts(&store, sql, &[table.name]);
                assert_eq!(found, [owner, table.columns].concat(), "{}", table.name);
                expected.push(table.name.to_string());
            }
        }
        expected.sort_unstable();
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        assert_eq!(texts(&store, sql, &[]), expected);
        drop(store);
        fs::remove_file(path).unwrap();
    }
}
