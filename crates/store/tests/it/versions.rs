//! A store that an older dyno has made: it is read as it is, and the first write brings it up to date.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use lab::record::TrialRecord;
use rusqlite::Connection;
use store::{Extent, RunEnd, RunId, Store};

use crate::made_up::{Folder, bare_trial, is_same, run, trial, whole};

/// A run of three trials that was killed after two, and one that was done.
fn older() -> (Folder, [RunId; 2]) {
    let folder = Folder::new();
    let connection = Connection::open(folder.store()).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(include_str!("version_1.sql")).unwrap();
    (folder, ["1", "2"].map(|id| id.parse().unwrap()))
}

/// The trial as it was before there were held connections, spot checks and streams of HTTP/2.
fn unheld(number: u32) -> TrialRecord {
    let mut old = TrialRecord { held: None, spots: Vec::new(), ..trial(number) };
    for kept in old.loaded.iter_mut().flat_map(|loaded| &mut loaded.recording.total.evidence) {
        (kept.stream, kept.reason) = (None, None);
    }
    old
}

fn version(path: &Path) -> i64 {
    let connection = Connection::open(path).unwrap();
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

/// What an older dyno stored is there, unchanged.
fn check(store: &Store, [first, second]: [RunId; 2]) {
    assert_eq!((store.run(first).unwrap(), store.run(second).unwrap()), (without(3), without(1)));
    assert!(is_same(&whole(store.trial(first, 0).unwrap()), &unheld(0)));
    assert!(is_same(&whole(store.trial(first, 1).unwrap()), &bare_trial(1)));
    assert_eq!(store.trials(second, Extent::Summary).unwrap().len(), 1);
    assert_eq!((store.verify(first).unwrap(), store.verify(second).unwrap()), (vec![], vec![]));
    let runs = store.runs().unwrap();
    assert!(runs.iter().all(|run| run.damage.is_none()), "{runs:?}");
    assert_eq!(runs[1].ended, Some((7, RunEnd::Done)));
}

/// An older dyno kept no experiment but the text of its file.
fn without(trials: u32) -> lab::record::RunRecord {
    lab::record::RunRecord { experiment: None, ..run(trials) }
}

#[test]
fn an_older_store_is_read_and_left_as_it_is() {
    let (folder, runs) = older();
    let before = fs::read(folder.store()).unwrap();
    check(&Store::open_to_read(&folder.store()).unwrap(), runs);
    // A process that may write but only reads leaves it as it is, too.
    check(&Store::open(&folder.store()).unwrap(), runs);
    assert!(before == fs::read(folder.store()).unwrap(), "it was written to");
    assert_eq!(version(&folder.store()), 1);
}

#[test]
fn an_older_run_is_taken_up_and_its_store_brought_up_to_date() {
    let (folder, runs) = older();
    let mut store = Store::open(&folder.store()).unwrap();
    store.keep(runs[0], &trial(2)).unwrap();
    store.end(runs[0], 9, RunEnd::Done).unwrap();
    drop(store);
    assert_eq!(version(&folder.store()), 5);
    for store in [Store::open(&folder.store()), Store::open_to_read(&folder.store())] {
        let store = store.unwrap();
        check(&store, runs);
        assert!(is_same(&whole(store.trial(runs[0], 2).unwrap()), &trial(2)));
        assert!(store.runs().unwrap()[0].is_finished);
    }
}

#[test]
fn a_reader_sees_what_is_kept_after_its_store_was_brought_up_to_date() {
    let (folder, runs) = older();
    let reader = Store::open_to_read(&folder.store()).unwrap();
    check(&reader, runs);
    let mut writer = Store::open(&folder.store()).unwrap();
    writer.keep(runs[0], &trial(2)).unwrap();
    assert!(is_same(&whole(reader.trial(runs[0], 2).unwrap()), &trial(2)));
    check(&reader, runs);
}

#[test]
fn dynos_that_bring_a_store_up_to_date_together_do_it_once() {
    let (folder, runs) = older();
    let path = folder.store();
    let together = Barrier::new(4);
    let work = || {
        let mut store = Store::open(&path).unwrap();
        together.wait();
        let id = store.begin(&run(1)).unwrap();
        store.keep(id, &trial(0)).unwrap();
        assert!(is_same(&whole(store.trial(id, 0).unwrap()), &trial(0)));
    };
    thread::scope(|scope| {
        let dynos: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        dynos.into_iter().for_each(|dyno| dyno.join().unwrap());
    });
    let store = Store::open_to_read(&path).unwrap();
    check(&store, runs);
    assert_eq!((version(&path), store.runs().unwrap().len()), (5, 6));
}

#[test]
fn writing_that_fails_does_not_bring_a_store_up_to_date() {
    let (folder, runs) = older();
    let mut store = Store::open(&folder.store()).unwrap();
    assert!(store.keep(runs[1], &trial(0)).is_err(), "it is kept already");
    assert_eq!(version(&folder.store()), 1);
}

#[test]
fn an_older_trial_keeps_its_rows_and_seals_when_its_store_is_brought_up_to_date() {
    let (folder, runs) = older();
    type Row = (Vec<u8>, Vec<u8>, i64, Vec<u8>);
    let kept = |suffix: &str| -> Vec<Row> {
        let connection = Connection::open(folder.store()).unwrap();
        let sql = format!(
            "SELECT summary_sha256, detail_sha256, load.correct, response.histogram FROM trial_seal AS seal
             JOIN trial_load{suffix} AS load ON load.run = seal.run AND load.trial = seal.trial
             JOIN trial_distribution{suffix} AS response ON response.run = seal.run AND response.trial = seal.trial
             WHERE response.name = 'response' AND seal.run = 1 AND seal.trial = 0"
        );
        let mut statement = connection.prepare(&sql).unwrap();
        let row =
            |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    let before = kept("");
    assert_eq!(before.len(), 1);
    Store::open(&folder.store()).unwrap().keep(runs[0], &trial(2)).unwrap();
    assert_eq!(
        (kept("_3"), kept("")),
        (before.clone(), before),
        "the view gives what the table gave"
    );
}

/// Every table that became a view returns the same values for the same trial, whether it is stored in columns or in a
/// body.
#[test]
fn views_answer_as_the_tables_did() {
    let (folder, _) = older();
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&run(1)).unwrap();
    store.keep(id, &unheld(0)).unwrap();
    let connection = Connection::open(folder.store()).unwrap();
    let rows = |table: &str, run: i64| -> Vec<Vec<String>> {
        let sql = format!("SELECT * FROM {table} WHERE run = {run} AND trial = 0 ORDER BY 3, 4");
        let mut statement = connection.prepare(&sql).unwrap();
        let columns = statement.column_count();
        let texts = |row: &rusqlite::Row<'_>| {
            // Histograms are blobs in the one and base64 in the other.
            let text = |column| match row.get_ref(column).unwrap() {
                rusqlite::types::ValueRef::Blob(_) => "histogram".to_string(),
                rusqlite::types::ValueRef::Text(text)
                    if text.starts_with(b"HISTF") || text.starts_with(b"HISTE") =>
                {
                    "histogram".to_string()
                }
                value => format!("{:?}", rusqlite::types::Value::from(value)),
            };
            Ok((2..columns).map(text).collect())
        };
        statement.query_map([], texts).unwrap().map(Result::unwrap).collect()
    };
    for table in [
        "trial_load",
        "trial_failure",
        "trial_distribution",
        "trial_slow",
        "trial_lane",
        "trial_window",
        "trial_window_failure",
    ] {
        let (older, newer) = (rows(table, 1), rows(table, id.to_string().parse().unwrap()));
        assert!(!older.is_empty(), "{table}");
        assert_eq!(older, newer, "{table}");
    }
}

#[test]
fn an_older_store_and_a_new_one_end_with_the_same_tables() {
    let (folder, _) = older();
    let new = Folder::new();
    for path in [folder.store(), new.store()] {
        Store::open(&path).unwrap().begin(&run(1)).unwrap();
    }
    let columns = |path: &Path| -> Vec<(String, String, String)> {
        let connection = Connection::open(path).unwrap();
        let sql = "SELECT object.name, info.name, info.type FROM sqlite_schema AS object
                   JOIN pragma_table_xinfo(object.name) AS info ORDER BY object.name, info.cid";
        let mut statement = connection.prepare(sql).unwrap();
        let found =
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        found.map(Result::unwrap).collect()
    };
    assert!(100 < columns(&new.store()).len());
    assert_eq!(columns(&new.store()), columns(&folder.store()));
}

#[test]
fn damage_to_an_older_store_is_found_before_and_after() {
    for sql in [
        "UPDATE trial_load SET correct = correct + 1 WHERE run = 1",
        "DELETE FROM trial_point WHERE run = 1 AND trial = 0",
        "DELETE FROM trial_seal WHERE run = 1 AND trial = 0",
    ] {
        let (folder, [id, other]) = older();
        let connection = Connection::open(folder.store()).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let reader = Store::open_to_read(&folder.store()).unwrap();
        let found = reader.verify(id).unwrap();
        assert_eq!(found.iter().map(|damage| damage.number).collect::<Vec<_>>(), [0], "{sql}");
        Store::open(&folder.store()).unwrap().begin(&run(1)).unwrap();
        assert_eq!((version(&folder.store()), reader.verify(id).unwrap()), (5, found), "{sql}");
        assert_eq!(reader.verify(other).unwrap(), []);
    }
}
