//! A file that was changed: what is read from it is either what was stored, or is reported as damaged.

use std::fs;
use std::path::Path;

use lab::record::{Ending, RunRecord, TrialRecord};
use load::Chance;
use rusqlite::Connection;
use store::{Extent, Kept, RunEnd, RunId, Store, StoreError};

use crate::findings::{checked_run, is_as_checked};
use crate::made_up::{Folder, bare_trial, begun, change, trial, whole};

const TRIALS: u32 = 3;

/// One trial that got far, and two that did not: a small store, read ten thousand times.
fn made(number: u32) -> TrialRecord {
    if number == 1 { trial(number) } else { bare_trial(number) }
}

fn kept_all(path: &Path) -> (Store, RunId) {
    let mut store = Store::open(path).unwrap();
    let id = store.begin(&checked_run(TRIALS)).unwrap();
    (0..TRIALS).for_each(|number| store.keep(id, &made(number)).unwrap());
    (store, id)
}

/// The whole file of a store with an ended run.
fn sound(folder: &Folder) -> Vec<u8> {
    let (mut store, id) = kept_all(&folder.store());
    store.end(id, 1, RunEnd::Done).unwrap();
    drop(store);
    fs::read(folder.store()).unwrap()
}

/// How a damaged store answered.
#[derive(Debug)]
struct Answers {
    run: RunRecord,
    trials: Vec<TrialRecord>,
    refused: u32,
    reported: u32,
    equal: u32,
}

impl Answers {
    fn none() -> Answers {
        let trials = (0..TRIALS).map(made).collect();
        Answers { run: checked_run(TRIALS), trials, refused: 0, reported: 0, equal: 0 }
    }

    /// Writes the files, opens them, and reads everything. Whatever is returned must be true.
    fn ask(&mut self, path: &Path, file: &[u8], wal: Option<&[u8]>, case: &str) {
        let beside = |ending: &str| path.with_extension(format!("dyno-{ending}"));
        let _ = fs::remove_file(beside("shm"));
        let _ = fs::remove_file(beside("wal"));
        fs::write(path, file).unwrap();
        if let Some(wal) = wal {
            fs::write(beside("wal"), wal).unwrap();
        }
        match self.read_all(path, wal.is_some(), case) {
            Err(_) => self.refused += 1,
            Ok(true) => self.equal += 1,
            Ok(false) => self.reported += 1,
        }
    }

    /// Whether everything is there and unchanged; `may_end_early` if the last transactions may be missing.
    fn read_all(&self, path: &Path, may_end_early: bool, case: &str) -> Result<bool, StoreError> {
        let store = Store::open(path)?;
        let id: RunId = "1".parse().unwrap();
        let runs = store.runs()?;
        assert!(may_end_early || !runs.is_empty(), "{case}: the run is gone");
        let mut is_sound = !runs.is_empty();
        for summary in runs.iter().filter(|run| run.damage.is_none()) {
            let listed = (summary.name.as_str(), summary.began_unix_ms, summary.planned);
            assert_eq!(listed, ("json", self.run.began_unix_ms, TRIALS), "{case}");
            assert!(may_end_early || summary.ended == Some((1, RunEnd::Done)), "{case}");
        }
        is_sound &= runs.iter().all(|run| run.damage.is_none());
        match store.run(id) {
            Ok(record) => {
                is_sound &= is_as_checked(&record.conformance, &self.run.conformance, case);
                let rest = RunRecord { conformance: self.run.conformance.clone(), ..record };
                assert_eq!(rest, self.run, "{case}");
            }
            Err(_) => is_sound = false,
        }
        for kept in store.trials(id, Extent::Whole)? {
            match kept {
                Kept::Whole(found) => {
                    let kept = &self.trials[found.key.number as usize];
                    assert!(*found == *kept, "{case}");
                }
                Kept::Damaged(_) => is_sound = false,
            }
        }
        if is_sound && store.kept(id)?.len() != TRIALS as usize {
            assert!(may_end_early || !store.verify(id)?.is_empty(), "{case}: a trial is gone");
            is_sound = false;
        }
        Ok(is_sound)
    }
}

/// Of all bytes, and of those that are not zero: most of these have a meaning, and many of them belong to a table's
/// comments. `DYNO_FLIPS` sets another number of flips.
#[test]
fn a_flipped_bit_is_reported_or_means_nothing_and_is_never_averaged() {
    let flips = std::env::var("DYNO_FLIPS").map_or(3_000, |text| text.parse().unwrap());
    let folder = Folder::new();
    let mut file = sound(&folder);
    let meaningful: Vec<usize> = (0..file.len()).filter(|&at| file[at] != 0).collect();
    let mut dice = Chance::new(0x2010);
    let mut answers = Answers::none();
    for flip in 0..flips {
        let at = match flip % 4 {
            0 => dice.below(file.len()),
            _ => meaningful[dice.below(meaningful.len())],
        };
        let bit = dice.below(8);
        file[at] ^= 1 << bit;
        answers.ask(&folder.store(), &file, None, &format!("byte {at}, bit {bit}"));
        file[at] ^= 1 << bit;
    }
    let Answers { refused, reported, equal, .. } = answers;
    assert!([refused, reported, equal].iter().all(|times| 0 < *times), "{answers:?}");
}

#[test]
fn a_file_that_was_cut_is_reported() {
    let folder = Folder::new();
    let file = sound(&folder);
    let mut dice = Chance::new(0x2012);
    let mut answers = Answers::none();
    let tail = (0..300).map(|cut| file.len() - cut);
    let pages = (0..file.len() / 4_096).map(|page| page * 4_096);
    let anywhere = (0..300).map(|_| dice.below(file.len()));
    let lengths: Vec<usize> = tail.chain(pages).chain(anywhere).filter(|len| 0 < *len).collect();
    // The last page may end in zeros, and SQLite reads zeros for what is missing.
    let is_nothing_lost = |len: &usize| file[*len..].iter().all(|byte| *byte == 0);
    let harmless = lengths.iter().filter(|len| is_nothing_lost(len)).count() as u32;
    assert!(1 <= harmless && (harmless as usize) < lengths.len() / 2, "{harmless}");
    for len in &lengths {
        answers.ask(&folder.store(), &file[..*len], None, &format!("cut to {len}"));
    }
    assert!(answers.equal <= harmless, "{} of {harmless}", answers.equal);
}

#[test]
fn a_damaged_wal_loses_its_end_and_changes_nothing() {
    let folder = Folder::new();
    drop(Store::open(&folder.store()).unwrap());
    // A reader that has an earlier snapshot of the store keeps the log from being emptied.
    let reader = Connection::open(folder.store()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM run").unwrap();
    let (store, _) = kept_all(&folder.store());
    let file = fs::read(folder.store()).unwrap();
    let mut wal = fs::read(folder.path().join("results.dyno-wal")).unwrap();
    drop((reader, store));
    let mut dice = Chance::new(0x2013);
    let mut answers = Answers::none();
    answers.ask(&folder.store(), &file, Some(&wal), "whole");
    assert_eq!(answers.equal, 1, "the log holds the store");
    for _ in 0..1_000 {
        let (at, bit) = (dice.below(wal.len()), dice.below(8));
        wal[at] ^= 1 << bit;
        answers.ask(&folder.store(), &file, Some(&wal), &format!("byte {at}, bit {bit}"));
        wal[at] ^= 1 << bit;
        let cut = dice.below(wal.len());
        answers.ask(&folder.store(), &file, Some(&wal[..cut]), &format!("cut to {cut}"));
    }
    assert!(100 < answers.reported, "{answers:?}");
}

/// Changes a sound store by SQL, and returns what is wrong with its trials then.
fn damages(sql: &str) -> Vec<(u32, String)> {
    let folder = Folder::new();
    drop(sound(&folder));
    change(&folder.store(), sql);
    let store = Store::open(&folder.store()).unwrap();
    let damages = store.verify("1".parse().unwrap()).unwrap();
    damages.into_iter().map(|damage| (damage.number, damage.says)).collect()
}

#[test]
fn every_change_to_a_trial_is_noticed_and_the_others_are_read() {
    const SEALED: &str = "its rows are not those that were sealed";
    for sql in [
        "UPDATE trial_body SET body = replace(body, '\"correct\":990', '\"correct\":991') WHERE trial = 1",
        "UPDATE trial_point SET value = value + 1 WHERE trial = 1 AND series = 0 AND place = 0",
        "UPDATE trial_detail SET body = replace(body, '36893488147', '36893488148') WHERE trial = 1 AND part = 'load'",
        "UPDATE trial SET output_tail = x'' WHERE trial = 1",
        "DELETE FROM trial_body WHERE trial = 1 AND part = 'load'",
        "DELETE FROM trial_point WHERE trial = 1 AND series = 1",
        "DELETE FROM trial_launch WHERE trial = 1",
        "DELETE FROM trial WHERE trial = 1",
        "DELETE FROM trial_seal WHERE trial = 1",
        "UPDATE trial_body SET body = replace(body, '\"was_halted\":true', '\"was_halted\":false') WHERE trial = 1",
        "UPDATE trial_body SET body = body || ' ' WHERE trial = 1 AND part = 'held'",
        "UPDATE trial_body SET part = 'other' WHERE trial = 1 AND part = 'held'",
        "DELETE FROM trial_detail WHERE trial = 1 AND part = 'held'",
        "DELETE FROM trial_detail WHERE trial = 1",
        "INSERT INTO trial_condition VALUES (1, 1, 1, 'cpu', '0')",
        "INSERT INTO trial_spot VALUES (1, 1, 9, 'before', 'H1-A01', 'pass', '')",
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
        "DELETE FROM run_end",
    ] {
        let folder = Folder::new();
        drop(sound(&folder));
        change(&folder.store(), sql);
        let store = Store::open(&folder.store()).unwrap();
        let [summary] = store.runs().unwrap().try_into().unwrap();
        assert!(summary.damage.is_some() && summary.kept == TRIALS, "{sql}: {summary:?}");
        assert_eq!(store.run(summary.id).is_ok(), sql.contains("run_end"), "{sql}");
        for kept in store.trials(summary.id, Extent::Whole).unwrap() {
            whole(kept);
        }
    }
}

#[test]
fn a_page_of_zeros_takes_only_those_trials_with_it_that_lay_there() {
    let (folder, mut store, id) = begun(200);
    for number in 0..200 {
        let ending = Ending { output_tail: vec![b'x'; 500], ..Ending::default() };
        let large = TrialRecord { ending, ..bare_trial(number) };
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
    let trials = store.trials(id, Extent::Whole).unwrap();
    let damaged = trials.iter().filter(|kept| matches!(kept, Kept::Damaged(_))).count();
    assert_eq!(trials.len(), 200, "all are told of");
    assert!((1..20).contains(&damaged), "{damaged} are damaged");
}
