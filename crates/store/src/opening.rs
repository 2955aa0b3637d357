//! Opens a store: what the file must be, how SQLite is to treat it, and the versions of its tables.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::geteuid;

use crate::error::{Fault, StoreError};
use crate::foreign::{Steps, refuse_other_tables};

/// Marks the file as dyno's in its header: `dyno` in ASCII.
const APPLICATION_ID: i64 = 0x6479_6e6f;

/// Each step leads to the version that is its position, counted from 1. A step never changes once it has been released;
/// a step that changes what a seal covers has to verify and seal again. A new table changes no seal as long as it has
/// no rows.
const STEPS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("held.sql"),
    include_str!("conformance.sql"),
    include_str!("bodies.sql"),
    include_str!("views.sql"),
];

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a store, or makes one.
pub(crate) fn open(path: &Path) -> Result<(Connection, Steps), StoreError> {
    open_with(path, STEPS).map_err(|fault| fault.at(path))
}

/// Opens an existing store, and never writes to it.
pub(crate) fn open_to_read(path: &Path) -> Result<Reading, StoreError> {
    read_with(path).map_err(|fault| fault.at(path))
}

/// A store that is only read.
pub(crate) struct Reading {
    pub(crate) connection: Connection,
    pub(crate) steps: Steps,
    /// The state of a file to which no process wrote when it was opened: SQLite takes it for one that does not change.
    pub(crate) rest: Option<Rest>,
}

/// What changes in a file's metadata when somebody writes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rest((u64, i64, i64));

fn read_with(path: &Path) -> Result<Reading, Fault> {
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

fn judged(path: &Path, connection: Connection, rest: Option<Rest>) -> Result<Reading, Fault> {
    let steps = Steps::of(&connection, path)?;
    connection.busy_timeout(PATIENCE)?;
    judge(&connection, STEPS)?;
    // An empty file may become a store, but is not one yet.
    if version(&connection)? == 0 {
        return Err(Fault::NotAStore);
    }
    distrust(&connection)?;
    Ok(Reading { connection, steps, rest })
}

fn open_with(path: &Path, steps: &[&str]) -> Result<(Connection, Steps), Fault> {
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
    let work = Steps::of(&connection, path)?;
    connection.busy_timeout(PATIENCE)?;
    // SQLite falls back to reading without an error.
    if connection.is_readonly(MAIN_DB)? {
        return Err(Fault::ReadOnly);
    }
    judge(&connection, steps)?;
    configure(&connection)?;
    if version(&connection)? == 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        take_steps(&transaction, steps)?;
        transaction.commit()?;
    }
    Ok((connection, work))
}

/// Brings an older store to the current version. A program that only reads leaves it as it is.
pub(crate) fn bring_up_to_date(transaction: &Transaction<'_>) -> Result<(), Fault> {
    take_steps(transaction, STEPS)
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
pub(crate) fn version(connection: &Connection) -> Result<i64, Fault> {
    let mut statement = connection.prepare_cached("PRAGMA user_version")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// The folder that a file is in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Refuses a file that is not a dyno store, before anything is written to it.
fn judge(connection: &Connection, steps: &[&str]) -> Result<(), Fault> {
    let known = steps.len() as i64;
    // All is read at one time: another process may be making the store.
    let seen = connection.unchecked_transaction()?;
    let application_id = number(&seen, "PRAGMA application_id").map_err(|fault| match fault {
        Fault::Damaged(_) => Fault::NotAStore,
        fault => fault,
    })?;
    let found = version(&seen)?;
    let is_empty = || number(&seen, "SELECT count(*) FROM sqlite_schema");
    let is_new = (application_id, found) == (0, 0) && is_empty()? == 0;
    if application_id != APPLICATION_ID && !is_new {
        return Err(Fault::NotAStore);
    }
    if found < 1 && !is_new {
        return Err(Fault::Damaged(format!("its version is {found}")));
    }
    if known < found {
        return Err(Fault::Newer { found, known });
    }
    match usize::try_from(found) {
        Ok(taken @ 1..) => refuse_other_tables(&seen, &steps[..taken]),
        _ => Ok(()),
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

/// Takes every step that the store has not taken.
fn take_steps(transaction: &Transaction<'_>, steps: &[&str]) -> Result<(), Fault> {
    let taken = usize::try_from(version(transaction)?).unwrap_or(0);
    // Another process may have been first, even a newer dyno: the known state of the tables is then out of date.
    let lacking = steps.get(taken..).unwrap_or_default();
    if lacking.is_empty() {
        return Ok(());
    }
    lacking.iter().try_for_each(|step| transaction.execute_batch(step))?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", steps.len() as i64)?;
    Ok(())
}

fn number(connection: &Connection, sql: &str) -> Result<i64, Fault> {
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::table::{CONFORMANCE, DETAIL, END, RUN, SUMMARY};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("dyno-opening-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Folder(path)
        }

        fn store(&self) -> PathBuf {
            self.0.join("results.dyno")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn write_with(connection: &mut Connection, steps: &[&str]) -> Result<(), Fault> {
        let transaction = connection.transaction()?;
        take_steps(&transaction, steps)?;
        Ok(transaction.commit()?)
    }

    const NEXT: &str = "ALTER TABLE run ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';";

    #[test]
    fn an_older_store_takes_the_steps_that_it_lacks() {
        let folder = Folder::new("older");
        let steps = [STEPS[0], NEXT];
        let (old, _) = open_with(&folder.store(), &steps[..1]).unwrap();
        assert_eq!(version(&old), Ok(1));
        old.execute("INSERT INTO run VALUES (1, 'json', 0, 7, 0, '0.1.0')", []).unwrap();
        drop(old);
        for _ in 0..2 {
            let (mut new, _) = open_with(&folder.store(), &steps).unwrap();
            write_with(&mut new, &steps).unwrap();
            assert_eq!(version(&new), Ok(2));
            let mood: String = new.query_row("SELECT mood FROM run", [], |row| row.get(0)).unwrap();
            assert_eq!(mood, "calm");
        }
        let refused = open_with(&folder.store(), &steps[..1]).unwrap_err();
        assert_eq!(refused, Fault::Newer { found: 2, known: 1 });
    }

    #[test]
    fn a_step_that_fails_leaves_the_store_as_it_was() {
        let folder = Folder::new("fails");
        drop(open_with(&folder.store(), STEPS).unwrap());
        let steps = [STEPS, &[NEXT, "CREATE TABLE run (a);"]].concat();
        let (mut store, _) = open_with(&folder.store(), &steps).unwrap();
        assert!(write_with(&mut store, &steps).is_err());
        assert_eq!(version(&store), Ok(STEPS.len() as i64));
        assert!(store.prepare("SELECT mood FROM run").is_err());
    }

    #[test]
    fn a_store_that_is_only_read_is_neither_changed_nor_migrated() {
        let folder = Folder::new("reads");
        assert!(open_to_read(&folder.store()).is_err() && !folder.store().exists());
        drop(open_with(&folder.store(), STEPS).unwrap());
        let reader = open_to_read(&folder.store()).unwrap().connection;
        assert!(reader.execute("DELETE FROM run", []).is_err());
        // Another connection writes meanwhile, and the reader sees it.
        let (writer, _) = open_with(&folder.store(), STEPS).unwrap();
        writer.execute("INSERT INTO run VALUES (1, 'json', 0, 7, 0, '0.1.0')", []).unwrap();
        assert_eq!(number(&reader, "SELECT count(*) FROM run"), Ok(1));
        drop((reader, writer));
        fs::write(folder.store(), "").unwrap();
        assert_eq!(open_to_read(&folder.store()).err().unwrap().fault, Fault::NotAStore);
        fs::write(folder.store(), "no store at all, but long enough to be looked at").unwrap();
        assert_eq!(open_to_read(&folder.store()).err().unwrap().fault, Fault::NotAStore);
    }

    #[test]
    fn a_commit_waits_for_the_disk() {
        let folder = Folder::new("full");
        let (store, _) = open_with(&folder.store(), STEPS).unwrap();
        assert_eq!(number(&store, "PRAGMA synchronous"), Ok(2), "FULL");
        assert_eq!(number(&store, "PRAGMA foreign_keys"), Ok(1));
    }

    #[test]
    fn tables_in_code_are_the_tables_of_the_schema() {
        let folder = Folder::new("tables");
        let (store, _) = open_with(&folder.store(), STEPS).unwrap();
        let seals = ["run_seal", "run_conformance_seal", "trial_seal"];
        let mut expected: Vec<String> = seals.map(String::from).to_vec();
        for (tables, owner) in [
            (RUN, &["run"][..]),
            (END, &["run"]),
            (CONFORMANCE, &["run", "entry"]),
            (SUMMARY, &["run", "trial"]),
            (DETAIL, &["run", "trial"]),
        ] {
            for table in tables {
                let columns = [owner, table.columns].concat();
                let sql = "SELECT name FROM pragma_table_info(?1) ORDER BY cid";
                let mut statement = store.prepare(sql).unwrap();
                let name = table.stored(STEPS.len() as i64);
                let found = statement.query_map([&name], |row| row.get(0)).unwrap();
                let found: Vec<String> = found.map(Result::unwrap).collect();
                assert_eq!(found, columns, "{name}: a column that is in no seal");
                expected.push(name);
            }
        }
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
        let mut statement = store.prepare(sql).unwrap();
        let found = statement.query_map([], |row| row.get(0)).unwrap();
        let found: Vec<String> = found.map(Result::unwrap).collect();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}
