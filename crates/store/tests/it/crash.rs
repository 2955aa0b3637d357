//! A process is killed at any moment: the store still opens, and what was stored is complete and unchanged.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use load::Chance;
use store::{Extent, RunEnd, RunId, Store};

use crate::made_up::{Folder, run, trial, whole};

const PLANNED: u32 = 1_000;
const STORE: &str = "DYNO_TEST_STORE";

/// The other process: resumes the last run, or begins one, and stores trials until it is killed. It prints each number
/// after its trial has been stored.
#[test]
#[ignore = "this is the process that the next test kills"]
fn keep_until_killed() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let mut store = Store::open(Path::new(&path)).unwrap();
    let id = match store.runs().unwrap().last() {
        Some(run) => run.id,
        None => store.begin(&run(PLANNED)).unwrap(),
    };
    let kept = store.kept(id).unwrap();
    for number in (0..PLANNED).filter(|number| !kept.contains(number)) {
        store.keep(id, &trial(number)).unwrap();
        println!("\nkept {number}");
    }
}

fn keeper(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "crash::keep_until_killed"]);
    command.env(STORE, path).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// The trials that the process said it had stored before it was killed.
fn kill_after(mut keeper: Child, moment: Duration) -> Vec<u32> {
    // This moment is what the test is about.
    std::thread::sleep(moment);
    keeper.kill().unwrap();
    keeper.wait().unwrap();
    let lines = BufReader::new(keeper.stdout.take().unwrap()).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| line.strip_prefix("kept ")?.parse().ok());
    said.collect()
}

#[test]
fn a_kill_loses_at_most_the_trial_in_flight() {
    // DYNO_KILLS=1000 for a nightly run.
    let kills = std::env::var("DYNO_KILLS").map_or(30, |text| text.parse().unwrap());
    let mut dice = Chance::new(0x51671);
    let mut folder = Folder::new();
    let mut said = Vec::new();
    let mut kept_in_all = 0;
    // From before the first byte until some dozens of trials later; on a busy machine that is later.
    let mut latest_us = 60_000;
    for kill in 0..kills + 60 {
        if kills <= kill && 0 < kept_in_all {
            break;
        }
        if kill % 10 == 0 {
            folder = Folder::new();
            said.clear();
            latest_us *= if 0 < kill && kept_in_all == 0 { 2 } else { 1 };
        }
        let moment = Duration::from_micros(dice.below(latest_us) as u64);
        said.extend(kill_after(keeper(&folder.store()), moment));
        let kept = check(&folder.store(), kill);
        assert!(said.iter().all(|number| kept.contains(number)), "kill {kill}: {said:?}, {kept:?}");
        assert!(kept.len() <= said.len() + 1 + kill % 10, "at most one a kill was not told of");
        kept_in_all += kept.len();
    }
    assert!(0 < kept_in_all, "the kills came too early to mean anything");
}

/// Opens what is left, reads all of it, and returns which trials are there.
fn check(path: &Path, kill: usize) -> Vec<u32> {
    let store = Store::open(path).unwrap_or_else(|error| panic!("kill {kill}: {error}"));
    let Some(summary) = store.runs().unwrap().pop() else { return Vec::new() };
    assert_eq!((summary.damage, summary.ended), (None, None), "kill {kill}");
    assert_eq!(store.run(summary.id).unwrap(), run(PLANNED));
    let kept = store.kept(summary.id).unwrap();
    let trials = store.trials(summary.id, Extent::Whole).unwrap();
    assert_eq!(kept, (0..kept.len() as u32).collect::<Vec<_>>(), "kill {kill}: in their order");
    assert_eq!(kept.len(), trials.len());
    for (&number, found) in kept.iter().zip(trials) {
        assert!(whole(found) == trial(number), "kill {kill}, trial {number}");
    }
    kept
}

#[test]
fn a_run_that_was_killed_is_taken_up_and_ended() {
    let folder = Folder::new();
    let id: RunId = {
        let mut store = Store::open(&folder.store()).unwrap();
        let id = store.begin(&run(3)).unwrap();
        store.keep(id, &trial(1)).unwrap();
        // As a kill leaves it: nothing is closed, the log stays.
        std::mem::forget(store);
        id
    };
    let copy = Folder::new();
    for ending in ["", "-wal"] {
        let name = format!("results.dyno{ending}");
        fs::copy(folder.path().join(&name), copy.path().join(&name)).unwrap();
    }
    let mut store = Store::open(&copy.store()).unwrap();
    assert_eq!(store.runs().unwrap()[0].ended, None);
    let kept = store.kept(id).unwrap();
    for number in (0..3).filter(|number| !kept.contains(number)) {
        store.keep(id, &trial(number)).unwrap();
    }
    store.end(id, 9, RunEnd::Done).unwrap();
    assert_eq!(store.kept(id).unwrap(), [0, 1, 2]);
    assert_eq!(store.verify(id).unwrap(), []);
}
