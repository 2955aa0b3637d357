//! Several processes at once on one store.

use std::sync::Barrier;
use std::thread;

use rusqlite::{Connection, TransactionBehavior};
use store::{Extent, Fault, RunEnd, Store};

use crate::made_up::{Folder, filled, run, trial, whole};

#[test]
fn dynos_that_share_a_store_keep_all_their_trials() {
    const EACH: u32 = 12;
    let folder = Folder::new();
    let path = folder.store();
    let together = Barrier::new(4);
    let work = || {
        together.wait();
        // All of them make the store; one of them is first.
        let mut store = Store::open(&path).unwrap();
        let id = store.begin(&run(EACH)).unwrap();
        (0..EACH).for_each(|number| store.keep(id, &trial(number)).unwrap());
        store.end(id, 1, RunEnd::Done).unwrap();
    };
    thread::scope(|scope| {
        let dynos: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        for dyno in dynos {
            dyno.join().unwrap();
        }
    });
    let store = Store::open(&path).unwrap();
    let runs = store.runs().unwrap();
    assert_eq!(runs.len(), 4);
    for summary in runs {
        assert_eq!(store.kept(summary.id).unwrap().len(), EACH as usize);
        for (number, kept) in (0..).zip(store.trials(summary.id, Extent::Whole).unwrap()) {
            assert!(whole(kept) == trial(number));
        }
    }
}

#[test]
fn a_store_that_several_make_at_once_is_made_once_and_opened_by_all() {
    for _ in 0..40 {
        let folder = Folder::new();
        let (path, together) = (folder.store(), Barrier::new(8));
        thread::scope(|scope| {
            let open = || {
                together.wait();
                Store::open(&path).map(|_| ())
            };
            let dynos: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            for dyno in dynos {
                assert_eq!(dyno.join().unwrap(), Ok(()));
            }
        });
    }
}

#[test]
fn a_reader_sees_what_was_kept_while_a_trial_is_being_written() {
    let (folder, mut writer, id) = filled(2);
    let reader = Store::open(&folder.store()).unwrap();
    let mut other = Connection::open(folder.store()).unwrap();
    let half = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    half.execute("DELETE FROM trial_point", []).unwrap();
    assert_eq!(reader.verify(id).unwrap(), [], "what is not committed is not seen");
    drop(half);
    let second = writer.begin(&run(1)).unwrap();
    assert_eq!(reader.runs().unwrap().last().unwrap().id, second);
}

#[test]
#[ignore = "waits for 10 s"]
fn a_store_that_is_held_for_long_is_said_to_be_busy() {
    let (folder, mut store, id) = filled(1);
    let mut other = Connection::open(folder.store()).unwrap();
    let held = other.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let error = store.begin(&run(1)).unwrap_err();
    assert_eq!(error.fault, Fault::Busy);
    drop(held);
    store.begin(&run(1)).unwrap();
    assert_eq!(store.kept(id).unwrap(), [0]);
}
