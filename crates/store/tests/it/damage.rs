//! A file that is not what it was: what is read from it is what was kept, or is said to be damaged.

use std::fs;
use std::path::Path;

use lab::record::TrialRecord;
use rusqlite::Connection;
use store::{Kept, RunEnd, RunId, Store, StoreError, Want};

use crate::made_up::{Dice, Folder, bare_trial, filled, is_same, run, trial, whole};

const TRIALS: u32 = 3;

/// The whole file of a store with an ended run.
fn sound(folder: &Folder) -> Vec<u8> {
    let (mut store, id) = filled(&folder.store(), TRIALS);
    store.end(id, 1, RunEnd::Done).unwrap();
    drop(store);
    fs::read(folder.store()).unwrap()
}

/// How a damaged store answered.
#[derive(Debug, Default)]
struct Answers {
    refused: u32,
    reported: u32,
    equal: u32,
}

impl Answers {
    /// Puts the files there, opens them, and reads everything. Whatever comes back must be true.
    fn ask(&mut self, path: &Path, file: &[u8], wal: Option<&[u8]>, case: &str) {
        let beside = |ending: &str| path.with_extension(format!("dyno-{ending}"));
        let _ = fs::remove_file(beside("shm"));
        let _ = fs::remove_file(beside("wal"));
        fs::write(path, file).unwrap();
        if let Some(wal) = wal {
            fs::write(beside("wal"), wal).unwrap();
        }
        match read_all(path, wal.is_some(), case) {
            Err(_) => self.refused += 1,
            Ok(true) => self.equal += 1,
            Ok(false) => self.reported += 1,
        }
    }
}

/// Whether everything is there and as it was; `may_end_early` if the last transactions may be gone.
fn read_all(path: &Path, may_end_early: bool, case: &str) -> Result<bool, StoreError> {
    let store = Store::open(path)?;
    let id: RunId = "1".parse().unwrap();
    let mut is_sound = true;
    let runs = store.runs()?;
    assert!(may_end_early || !runs.is_empty(), "{case}: the run is gone");
    for summary in &runs {
        if summary.damage.is_some() {
            is_sound = false;
        } else {
            let told = (summary.name.as_str(), summary.began_unix_ms, summary.planned);
            assert_eq!(told, ("json", run(TRIALS).began_unix_ms, TRIALS), "{case}");
            assert!(may_end_early || summary.ended == Some((1, RunEnd::Done)), "{case}");
        }
    }
    if runs.is_empty() {
        return Ok(false);
    }
    match store.run(id) {
        Ok(record) => assert_eq!(record, run(TRIALS), "{case}"),
        Err(_) => is_sound = false,
    }
    for want in [Want::Summary, Want::Whole] {
        for kept in store.trials(id, want)? {
            match kept {
                Kept::Whole(found) => assert!(is_same(&found, &expected(&found, want)), "{case}"),
                Kept::Damaged(_) => is_sound = false,
            }
        }
    }
    let all_there = store.kept(id)?.len() == TRIALS as usize;
    let reported = !store.verify(id)?.is_empty();
    assert!(!is_sound || reported || all_there || may_end_early, "{case}: a trial is gone");
    Ok(is_sound && all_there && !reported)
}

fn expected(found: &TrialRecord, want: Want) -> TrialRecord {
    let mut expected = trial(found.key.number);
    if want == Want::Summary {
        expected.series.clear();
        expected.pressed.as_mut().unwrap().recording.windows.clear();
    }
    expected
}

fn flips() -> usize {
    // The nightly run sets more.
    std::env::var("DYNO_FLIPS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000)
}

#[test]
fn a_flipped_bit_is_reported_and_never_averaged() {
    let folder = Folder::in_memory();
    let mut file = sound(&folder);
    let mut dice = Dice(0x2011);
    let mut answers = Answers::default();
    for _ in 0..flips() {
        let (at, bit) = (dice.roll(file.len()), dice.roll(8));
        file[at] ^= 1 << bit;
        answers.ask(&folder.store(), &file, None, &format!("byte {at}, bit {bit}"));
        file[at] ^= 1 << bit;
    }
    // Most of a small store is unused space; enough of it is not.
    assert!(0 < answers.refused && 100 < answers.reported && 0 < answers.equal, "{answers:?}");
}

#[test]
fn a_file_that_was_cut_is_reported() {
    let folder = Folder::in_memory();
    let file = sound(&folder);
    let mut dice = Dice(0x2012);
    let mut answers = Answers::default();
    let tail = (0..300).map(|cut| file.len() - cut);
    let pages = (0..file.len() / 4_096).map(|page| page * 4_096);
    let anywhere = (0..300).map(|_| dice.roll(file.len()));
    let lengths: Vec<usize> = tail.chain(pages).chain(anywhere).filter(|len| 0 < *len).collect();
    for len in lengths {
        answers.ask(&folder.store(), &file[..len], None, &format!("cut to {len}"));
    }
    assert!(answers.equal <= 1, "only the one that was not cut: {answers:?}");
}

#[test]
fn a_damaged_wal_loses_its_end_and_changes_nothing() {
    let folder = Folder::in_memory();
    let (store, _) = filled(&folder.store(), TRIALS);
    let file = fs::read(folder.store()).unwrap();
    let mut wal = fs::read(folder.path().join("results.dyno-wal")).unwrap();
    drop(store);
    let mut dice = Dice(0x2013);
    let mut answers = Answers::default();
    answers.ask(&folder.store(), &file, Some(&wal), "whole");
    assert_eq!(answers.equal, 1, "the log holds the store");
    for _ in 0..1_000 {
        let (at, bit) = (dice.roll(wal.len()), dice.roll(8));
        wal[at] ^= 1 << bit;
        answers.ask(&folder.store(), &file, Some(&wal), &format!("byte {at}, bit {bit}"));
        wal[at] ^= 1 << bit;
        let cut = dice.roll(wal.len());
        answers.ask(&folder.store(), &file, Some(&wal[..cut]), &format!("cut to {cut}"));
    }
    assert!(100 < answers.reported, "{answers:?}");
}

/// Changes a sound store by SQL, and says what is wrong with its trials then.
fn damages(sql: &str) -> Vec<(u32, String)> {
    let folder = Folder::new();
    drop(sound(&folder));
    let connection = Connection::open(folder.store()).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(sql).unwrap();
    drop(connection);
    let store = Store::open(&folder.store()).unwrap();
    let damages = store.verify("1".parse().unwrap()).unwrap();
    damages.into_iter().map(|damage| (damage.number, damage.says)).collect()
}

#[test]
fn every_change_to_a_trial_is_noticed_and_the_others_are_read() {
    const SEALED: &str = "its rows are not those that were sealed";
    for sql in [
        "UPDATE trial_load SET correct = correct + 1 WHERE trial = 1",
        "UPDATE trial_point SET value = value + 1 WHERE trial = 1 AND series = 0 AND place = 0",
        "UPDATE trial_window SET in_flight = NULL WHERE trial = 1 AND place = 2",
        "UPDATE trial SET output_tail = x'' WHERE trial = 1",
        "DELETE FROM trial_failure WHERE trial = 1 AND class = 'own.blocked'",
        "DELETE FROM trial_point WHERE trial = 1 AND series = 1",
        "DELETE FROM trial_launch WHERE trial = 1",
        "DELETE FROM trial WHERE trial = 1",
        "DELETE FROM trial_seal WHERE trial = 1",
        "INSERT INTO trial_condition VALUES (1, 1, 1, 'cpu', '0')",
        "INSERT INTO trial_failure VALUES (1, 1, 'recv.reset', 0)",
        "UPDATE trial_seal SET detail_sha256 = x'00' WHERE trial = 1",
        "UPDATE trial_seal SET summary_sha256 = zeroblob(32) WHERE trial = 1",
    ] {
        assert_eq!(damages(sql), [(1, SEALED.to_string())], "{sql}");
    }
}

#[test]
fn trials_that_are_gone_without_a_trace_are_missed() {
    let gone = damages("DELETE FROM trial WHERE trial = 2; DELETE FROM trial_seal WHERE trial = 2");
    let says = "it may have been lost: 3 trials were kept, 2 are left";
    assert_eq!(gone, [(2, says.to_string())]);
}

#[test]
fn a_change_to_a_run_is_noticed_and_its_trials_are_read() {
    for sql in [
        "UPDATE run SET seed = 1",
        "UPDATE run_file SET text = 'another' WHERE place = 1",
        "DELETE FROM run_setting",
        "UPDATE run_seal SET sha256 = x''",
        "DELETE FROM run_seal",
        "UPDATE run_end SET how = 'interrupted'",
    ] {
        let folder = Folder::new();
        drop(sound(&folder));
        Connection::open(folder.store()).unwrap().execute_batch(sql).unwrap();
        let store = Store::open(&folder.store()).unwrap();
        let [summary] = store.runs().unwrap().try_into().unwrap();
        assert!(summary.damage.is_some() && summary.kept == TRIALS, "{sql}: {summary:?}");
        assert_eq!(store.run(summary.id).is_ok(), sql.contains("run_end"), "{sql}");
        for kept in store.trials(summary.id, Want::Whole).unwrap() {
            whole(kept);
        }
    }
}

#[test]
fn a_page_of_zeros_takes_only_those_trials_with_it_that_lay_there() {
    let folder = Folder::new();
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&run(200)).unwrap();
    for number in 0..200 {
        let large = TrialRecord { output_tail: vec![b'x'; 500], ..bare_trial(number) };
        store.keep(id, &large).unwrap();
    }
    drop(store);
    let connection = Connection::open(folder.store()).unwrap();
    let mut file = fs::read(folder.store()).unwrap();
    drop(connection);
    let mark = [b'x'; 500];
    let at = file.windows(mark.len()).rposition(|bytes| bytes == mark).unwrap();
    let page = at / 4_096 * 4_096;
    file[page..page + 4_096].fill(0);
    fs::write(folder.store(), &file).unwrap();
    let store = Store::open(&folder.store()).unwrap();
    let trials = store.trials(id, Want::Whole).unwrap();
    let damaged = trials.iter().filter(|kept| matches!(kept, Kept::Damaged(_))).count();
    assert_eq!(trials.len(), 200, "all are told of");
    assert!((1..20).contains(&damaged), "{damaged} are damaged");
}
