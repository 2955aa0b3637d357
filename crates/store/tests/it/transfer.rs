//! Runs that are removed, exported and imported: whole, verified, and never over another one.

use std::fs;
use std::path::{Path, PathBuf};

use lab::record::{Ending, TrialRecord};
use rusqlite::Connection;
use store::{Extent, Fault, Imported, Portion, RunEnd, RunId, Store};

use crate::findings::{checked_run, is_as_checked};
use crate::made_up::{Folder, bare_trial, change, run, trial, whole};
use crate::too_much::add;

fn id(number: u32) -> RunId {
    number.to_string().parse().unwrap()
}

/// A store with a small run, and after it one of two trials with everything in it.
fn two_runs(folder: &Folder) -> Store {
    let mut store = Store::open(&folder.store()).unwrap();
    store.begin(&run(1)).unwrap();
    let second = store.begin(&checked_run(2)).unwrap();
    store.keep(second, &trial(0)).unwrap();
    store.keep(second, &bare_trial(1)).unwrap();
    store.end(second, 7, RunEnd::Done).unwrap();
    store
}

/// The second of these runs, in a file of its own.
fn exported(folder: &Folder) -> PathBuf {
    let path = folder.store().with_file_name("exported");
    two_runs(folder).export(id(2), &path, None).unwrap();
    path
}

/// Everything of the run of two trials is there, and sound.
#[track_caller]
fn is_whole(store: &Store, run: RunId) {
    assert_eq!(store.verify(run).unwrap(), []);
    let trials: Vec<_> = store.trials(run, Extent::Whole).unwrap().into_iter().map(whole).collect();
    assert!(trials[0] == trial(0) && trials[1] == bare_trial(1));
    let (mut record, mut expected) = (store.run(run).unwrap(), checked_run(2));
    for found in record.conformance.iter_mut().chain(&mut expected.conformance) {
        found.from_run = None;
    }
    assert!(is_as_checked(&record.conformance, &expected.conformance, "copied"));
    assert_eq!(record.plan, expected.plan);
    let summary = store.runs().unwrap().into_iter().find(|summary| summary.id == run).unwrap();
    assert_eq!(summary.ended, Some((7, RunEnd::Done)));
}

fn rows_left(path: &Path, run: i64) -> i64 {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table'";
    let mut tables = connection.prepare(sql).unwrap();
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let rows = |table: String| -> i64 {
        let sql = format!("SELECT count(*) FROM {table} WHERE run = ?1");
        connection.query_row(&sql, [run], |row| row.get(0)).unwrap()
    };
    tables.map(|table| rows(table.unwrap())).sum()
}

#[test]
fn a_removed_run_leaves_no_row_and_the_others_as_they_were() {
    let folder = Folder::new();
    let mut store = two_runs(&folder);
    let begun = store.begin(&run(2)).unwrap();
    store.remove(&[id(1), begun]).unwrap();
    assert_eq!((rows_left(&folder.store(), 1), rows_left(&folder.store(), 3)), (0, 0));
    assert_eq!(store.runs().unwrap().len(), 1);
    is_whole(&store, id(2));
    store.remove(&[id(2)]).unwrap();
    store.shrink().unwrap();
    assert_eq!(rows_left(&folder.store(), 2), 0);
    drop(store);
    let bytes = fs::read(folder.store()).unwrap();
    assert!(!bytes.windows(9).any(|found| found == b"server.js"), "what it said is gone");
}

#[test]
fn a_store_is_not_written_anew_for_the_room_of_a_small_run() {
    let folder = Folder::new();
    let mut store = two_runs(&folder);
    let (small, large) = (store.begin(&run(0)).unwrap(), store.begin(&run(1)).unwrap());
    let ending = Ending { output_tail: vec![0; 1 << 20], ..Ending::default() };
    store.keep(large, &TrialRecord { ending, ..bare_trial(0) }).unwrap();
    let length = || fs::metadata(folder.store()).unwrap().len();
    let mut after_removing = |run| {
        store.remove(&[run]).unwrap();
        store.shrink().unwrap();
        length()
    };
    let before = length();
    assert_eq!(after_removing(small), before);
    assert!(after_removing(large) < before - (1 << 20));
}

#[test]
fn of_runs_one_of_which_is_unknown_none_is_removed() {
    let folder = Folder::new();
    let mut store = two_runs(&folder);
    assert_eq!(store.remove(&[id(2), id(9)]).unwrap_err().fault, Fault::NoRun(id(9)));
    is_whole(&store, id(2));
}

#[test]
fn an_exported_run_is_one_file_with_the_same_number_and_the_same_seals() {
    let folder = Folder::new();
    let path = exported(&folder);
    let beside = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
    let beside: Vec<_> =
        beside.filter(|it| it.file_name().to_string_lossy().starts_with("exp")).collect();
    assert_eq!(beside.len(), 1);
    let copy = Store::open_to_read(&path).unwrap();
    assert_eq!(copy.runs().unwrap().len(), 1);
    is_whole(&copy, id(2));
    let seals = |path: &Path| -> Vec<Vec<u8>> {
        let sql = "SELECT sha256 FROM run_seal WHERE run = 2 UNION ALL
                   SELECT end_sha256 FROM run_seal WHERE run = 2 UNION ALL
                   SELECT sha256 FROM run_conformance_seal WHERE run = 2 UNION ALL
                   SELECT detail_sha256 FROM trial_seal WHERE run = 2 UNION ALL
                   SELECT summary_sha256 FROM trial_seal WHERE run = 2";
        let connection = Connection::open(path).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(seals(&path), seals(&folder.store()));
}

#[test]
fn an_imported_run_gets_a_number_of_its_own_and_a_second_time_is_noticed() {
    let (folder, other) = (Folder::new(), Folder::new());
    let file = Store::open_to_read(&exported(&folder)).unwrap();
    let mut store = Store::open(&other.store()).unwrap();
    // Not the same run, though it began at the same time and has the same name.
    for _ in 0..4 {
        store.begin(&run(3)).unwrap();
    }
    assert_eq!(store.import(&file, id(2)).unwrap(), Imported::New(id(5)));
    is_whole(&store, id(5));
    assert_eq!(store.import(&file, id(2)).unwrap(), Imported::Known(id(5)));
    assert_eq!(store.runs().unwrap().len(), 5);
    // Into the store that it came from, too.
    let mut first = Store::open(&folder.store()).unwrap();
    assert_eq!(first.import(&file, id(2)).unwrap(), Imported::Known(id(2)));
}

#[test]
fn a_check_that_was_taken_over_does_not_name_a_run_of_another_store() {
    let (folder, other) = (Folder::new(), Folder::new());
    let mut store = Store::open(&folder.store()).unwrap();
    let mut record = checked_run(1);
    record.conformance[0].from_run = Some(77);
    let begun = store.begin(&record).unwrap();
    let mut target = Store::open(&other.store()).unwrap();
    target.begin(&run(1)).unwrap();
    let Imported::New(taken) = target.import(&store, begun).unwrap() else { panic!() };
    assert_eq!(target.run(taken).unwrap().conformance[0].from_run, None);
    assert_eq!(store.run(begun).unwrap().conformance[0].from_run, Some(77));
}

#[test]
fn a_run_whose_rows_were_changed_is_refused_and_nothing_of_it_stays() {
    for (sql, says) in [
        ("UPDATE run SET name = 'other'", "run 2: its rows are not those"),
        ("UPDATE run_entry SET title = 'faster'", "run 2: its rows are not those"),
        ("DELETE FROM run_seal", "run 2: its rows are not those"),
        ("UPDATE trial SET exit = 'well'", "run 2: trial 0: its rows are not those"),
        (
            "UPDATE trial_point SET value = 1 WHERE place = 1",
            "run 2: trial 0: its rows are not those",
        ),
        ("DELETE FROM trial_seal WHERE trial = 1", "run 2: trial 1: its rows are not those"),
        ("UPDATE run_finding SET why = 'no reason'", "the check of `node-http`: its rows are not"),
        ("UPDATE run_end SET how = 'interrupted'", "run 2: its end is not what was sealed"),
        (
            "DELETE FROM trial_seal WHERE trial = 1; DELETE FROM trial WHERE trial = 1",
            "run 2: trial 1: it may have been lost: 2 trials were kept, 1 are left",
        ),
    ] {
        let (folder, other) = (Folder::new(), Folder::new());
        let path = exported(&folder);
        change(&path, sql);
        let file = Store::open_to_read(&path).unwrap();
        let mut store = Store::open(&other.store()).unwrap();
        let error = store.import(&file, id(2)).unwrap_err();
        assert_eq!(error.path, path, "{sql}");
        assert!(error.to_string().contains(says), "{sql}: {error}");
        assert_eq!(store.runs().unwrap(), [], "{sql}");
        assert_eq!(rows_left(&other.store(), 1), 0, "{sql}");
        // A damaged run is not exported, either; but it can be removed.
        let mut damaged = Store::open(&path).unwrap();
        assert!(damaged.export(id(2), &path.with_file_name("again"), None).is_err(), "{sql}");
        damaged.remove(&[id(2)]).unwrap();
        assert_eq!(rows_left(&path, 2), 0, "{sql}");
    }
}

#[test]
fn more_rows_than_a_dyno_keeps_are_not_taken_over() {
    let (folder, other) = (Folder::new(), Folder::new());
    let path = exported(&folder);
    let mut store = Store::open(&other.store()).unwrap();
    add(&path, 100_000, "trial_point SELECT 2, 0, 0, 9 + i, 0, 0");
    let file = Store::open_to_read(&path).unwrap();
    let refused = store.import(&file, id(2)).unwrap_err();
    assert!(matches!(refused.fault, Fault::TooMuch(_)), "{refused}");
    drop(file);
    add(&path, 100_000, "run SELECT 9 + i, 'x', 0, 0, 0, ''");
    let refused = Store::open_to_read(&path).unwrap().runs().unwrap_err();
    assert_eq!(refused.fault, Fault::TooMuch("more than 100000 runs".into()));
    assert_eq!(store.runs().unwrap(), []);
}

#[test]
fn a_run_that_comes_in_parts_is_the_same_in_the_end() {
    let folder = Folder::new();
    let from = two_runs(&folder);
    let mut to = Store::open(&folder.store().with_file_name("to")).unwrap();
    // A number of its own, other than there.
    to.begin(&run(7)).unwrap();
    to.begin(&run(8)).unwrap();
    let part = |name: &str, portion: &Portion<'_>| {
        let path = folder.store().with_file_name(name);
        from.export(id(2), &path, Some(portion)).unwrap();
        Store::open_to_read(&path).unwrap()
    };
    let began = part("began", &Portion::default());
    assert_eq!(began.kept(id(2)).unwrap(), Vec::<u32>::new());
    let Imported::New(here) = to.import(&began, id(2)).unwrap() else { panic!("it is new") };
    assert_eq!(here, id(3));
    let names: Vec<String> =
        from.run(id(2)).unwrap().conformance.into_iter().map(|found| found.subject).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let checks = part("checks", &Portion { trials: &[], checks: &names });
    let first = part("first", &Portion { trials: &[0], checks: &[] });
    let second = part("second", &Portion { trials: &[1], checks: &[] });
    for part in [&second, &checks, &first] {
        to.join(part, id(2), here).unwrap();
    }
    to.end(here, 7, RunEnd::Done).unwrap();
    is_whole(&to, here);
    // What is here already, and what is of another run, changes nothing.
    let again = to.join(&first, id(2), here).unwrap_err();
    assert!(matches!(again.fault, Fault::AlreadyKept(..)), "{again}");
    assert!(to.join(&checks, id(2), here).is_err());
    let other = to.join(&first, id(2), id(1)).unwrap_err();
    assert!(other.to_string().contains("it has another run than run 1"), "{other}");
    is_whole(&to, here);
}

#[test]
fn a_part_that_was_changed_on_its_way_is_refused() {
    let folder = Folder::new();
    let from = two_runs(&folder);
    let (began, path) =
        (folder.store().with_file_name("began"), folder.store().with_file_name("part"));
    from.export(id(2), &began, Some(&Portion::default())).unwrap();
    from.export(id(2), &path, Some(&Portion { trials: &[0], checks: &[] })).unwrap();
    change(&path, "UPDATE trial SET exit = 'exit status 9'");
    let mut to = Store::open(&folder.store().with_file_name("to")).unwrap();
    to.import(&Store::open_to_read(&began).unwrap(), id(2)).unwrap();
    let refused = to.join(&Store::open_to_read(&path).unwrap(), id(2), id(1)).unwrap_err();
    assert!(refused.to_string().contains("not those that were sealed"), "{refused}");
    assert_eq!(to.kept(id(1)).unwrap(), Vec::<u32>::new());
}
