//! What a store must be, and what is refused, with a way out.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::{Fault, Store};

use crate::made_up::{Folder, filled, run};

fn fault(path: &Path) -> Fault {
    let error = Store::open(path).unwrap_err();
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    error.fault
}

#[test]
fn another_kind_of_file_is_refused_and_left_as_it_was() {
    let folder = Folder::new();
    let text = folder.path().join("notes.txt");
    for content in ["short".to_string(), "long ".repeat(10_000)] {
        fs::write(&text, &content).unwrap();
        assert_eq!(fault(&text), Fault::NotAStore);
        assert_eq!(fs::read_to_string(&text).unwrap(), content);
    }
    let database = folder.path().join("other.sqlite");
    Connection::open(&database).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
    let before = fs::read(&database).unwrap();
    assert_eq!(fault(&database), Fault::NotAStore);
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn a_place_where_nothing_can_be_written_is_refused() {
    let folder = Folder::new();
    assert_eq!(fault(&folder.path().join("none/results.dyno")), Fault::NoFolder);
    assert!(matches!(fault(folder.path()), Fault::CannotOpen(_)));
    assert!(matches!(fault(Path::new("/proc/results.dyno")), Fault::CannotOpen(_)));
}

#[test]
fn a_newer_store_is_refused_by_its_version_and_so_is_one_that_lost_it() {
    let (folder, ..) = filled(1);
    let connection = Connection::open(folder.store()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    assert_eq!(fault(&folder.store()), Fault::Newer { found: 99, known: 1 });
    for lost in [0, -2] {
        connection.pragma_update(None, "user_version", lost).unwrap();
        assert!(Store::open_to_read(&folder.store()).is_err(), "{lost}");
        assert!(Store::open(&folder.store()).is_err(), "{lost}");
    }
}

/// The files in a folder, with their bytes. What SQLite has in memory of a file is no part of it.
fn files(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| !name.ends_with("-shm"));
    names.sort_unstable();
    let with_bytes = |name: String| (name.clone(), fs::read(folder.path().join(name)).unwrap());
    names.into_iter().map(with_bytes).collect()
}

/// A store as a dyno made it before the first release, when its tables had this version: at rest, or with a log of what
/// came last, as a dyno that was killed leaves it.
fn unreleased(version: i64, has_log: bool) -> Folder {
    let (made, folder) = (Folder::new(), Folder::new());
    let connection = Connection::open(made.store()).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE run (run INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
             INSERT INTO run VALUES (1, 'json');
             PRAGMA application_id = 0x64796e6f;
             PRAGMA user_version = {version};"
        ))
        .unwrap();
    if has_log {
        std::mem::forget(connection);
    } else {
        drop(connection);
    }
    for (name, bytes) in files(&made) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn a_store_of_before_the_first_release_is_refused_and_left_as_it_was() {
    for version in 1..=5 {
        for has_log in [false, true] {
            let folder = unreleased(version, has_log);
            let before = files(&folder);
            assert_eq!(before.len(), 1 + usize::from(has_log));
            let expected = format!(
                "{}: was made by a dyno before its first release, and is not read by this one; move it away, or name \
                 another file",
                folder.store().display()
            );
            assert_eq!(Store::open(&folder.store()).unwrap_err().to_string(), expected);
            assert!(files(&folder) == before, "version {version} was written to");
            assert_eq!(Store::open_to_read(&folder.store()).unwrap_err().to_string(), expected);
            let after = files(&folder);
            assert!(
                before.iter().all(|file| after.contains(file)),
                "version {version} was written to"
            );
        }
    }
}

#[test]
fn a_store_that_is_only_read_is_not_changed_and_an_empty_file_becomes_one_when_it_is_written_to() {
    let folder = Folder::new();
    let path = folder.store();
    assert!(Store::open_to_read(&path).is_err() && !path.exists());
    for none in ["", "no store at all, but long enough to be looked at"] {
        fs::write(&path, none).unwrap();
        assert_eq!(Store::open_to_read(&path).unwrap_err().fault, Fault::NotAStore);
    }
    fs::write(&path, "").unwrap();
    let mut writer = Store::open(&path).unwrap();
    let mut reader = Store::open_to_read(&path).unwrap();
    assert!(reader.begin(&run(1)).is_err());
    writer.begin(&run(1)).unwrap();
    assert_eq!(reader.runs().unwrap().len(), 1, "a reader sees what is written meanwhile");
}

#[test]
fn a_store_is_one_file_after_each_transaction_and_when_it_is_closed() {
    let (folder, store, _) = filled(1);
    assert_eq!(fs::metadata(folder.path().join("results.dyno-wal")).unwrap().len(), 0);
    drop(store);
    assert!(!folder.path().join("results.dyno-wal").exists(), "one file is left");
}
