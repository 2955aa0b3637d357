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
fn a_newer_store_is_refused_by_its_version() {
    let folder = Folder::new();
    drop(filled(&folder.store(), 1));
    let connection = Connection::open(folder.store()).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    assert_eq!(fault(&folder.store()), Fault::Newer { found: 99, known: 5 });
}

#[test]
fn an_empty_file_becomes_a_store() {
    let folder = Folder::new();
    fs::write(folder.store(), "").unwrap();
    Store::open(&folder.store()).unwrap().begin(&run(1)).unwrap();
    assert_eq!(Store::open(&folder.store()).unwrap().runs().unwrap().len(), 1);
}

#[test]
fn a_store_is_one_file_after_each_transaction_and_when_it_is_closed() {
    let folder = Folder::new();
    let (store, _) = filled(&folder.store(), 1);
    assert_eq!(fs::metadata(folder.path().join("results.dyno-wal")).unwrap().len(), 0);
    drop(store);
    assert!(!folder.path().join("results.dyno-wal").exists(), "one file is left");
}
