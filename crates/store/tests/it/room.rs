//! No room: it is reported before a trial is run; if it happens all the same, what was stored is safe.

use std::fs;
use std::path::Path;
use std::process::Command;

use store::{Extent, Fault, RunId, Store};

use crate::made_up::{Folder, run, series, trial, whole};

/// A file system of so many KiB; none where the test may not mount one.
struct Disk(Folder);

impl Disk {
    fn new(kib: u32) -> Option<Disk> {
        let folder = Folder::new();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "dyno-test"]);
        let mounted = mount.arg(folder.path()).output().is_ok_and(|done| done.status.success());
        mounted.then_some(Disk(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

fn large(number: u32) -> lab::record::TrialRecord {
    let points: Vec<_> = (0..2_000).map(|tick| (tick, tick as f64 / 3.0)).collect();
    lab::record::TrialRecord { series: vec![series("large", &points)], ..trial(number) }
}

/// Stores trials until one of them is refused; returns its number.
fn keep_until_full(store: &mut Store, id: RunId, first: u32) -> u32 {
    for number in first.. {
        match store.keep(id, &large(number)) {
            Ok(()) => {}
            Err(error) => {
                assert!(matches!(error.fault, Fault::Full(_)), "{error}");
                assert!(error.to_string().contains("what was kept is safe"), "{error}");
                return number;
            }
        }
    }
    unreachable!("some disk is full at last")
}

fn check(store: &Store, id: RunId, trials: u32) {
    assert_eq!(store.kept(id).unwrap(), (0..trials).collect::<Vec<_>>());
    for (number, kept) in (0..).zip(store.trials(id, Extent::Whole).unwrap()) {
        assert!(whole(kept) == large(number));
    }
}

#[test]
fn a_full_disk_is_said_and_loses_nothing_and_room_lets_it_go_on() {
    let Some(disk) = Disk::new(3 << 10) else { return };
    let ballast = disk.path().join("ballast");
    fs::write(&ballast, vec![0; 1 << 20]).unwrap();
    let path = disk.path().join("results.dyno");
    let mut store = Store::open(&path).unwrap();
    let id = store.begin(&run(1_000)).unwrap();
    let full_at = keep_until_full(&mut store, id, 0);
    assert!(0 < full_at, "something fitted");
    check(&store, id, full_at);

    fs::remove_file(&ballast).unwrap();
    let full_again_at = keep_until_full(&mut store, id, full_at);
    assert!(full_at < full_again_at, "it goes on where it stood");
    check(&store, id, full_again_at);
    drop(store);
    check(&Store::open(&path).unwrap(), id, full_again_at);
}

#[test]
fn a_trial_that_would_not_fit_is_refused_before_it_is_run() {
    let folder = Folder::new();
    let store = Store::open(&folder.store()).unwrap();
    store.reserve(1 << 20).unwrap();
    let error = store.reserve(1 << 60).unwrap_err();
    assert!(matches!(error.fault, Fault::Full(_)), "{error}");
    assert!(!error.to_string().contains("--resume"), "an import cannot be resumed: {error}");
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let left = names.filter(|name| name.to_string_lossy().ends_with("room")).count();
    assert_eq!(left, 0, "nothing is left beside the store");

    let Some(disk) = Disk::new(1 << 10) else { return };
    let store = Store::open(&disk.path().join("results.dyno")).unwrap();
    store.reserve(100 << 10).unwrap();
    let error = store.reserve(4 << 20).unwrap_err();
    assert!(matches!(error.fault, Fault::Full(_)), "{error}");
    store.reserve(100 << 10).unwrap();
}

#[test]
fn a_store_on_a_full_disk_is_said_to_lack_room_when_it_is_read() {
    let Some(disk) = Disk::new(3 << 10) else { return };
    let path = disk.path().join("results.dyno");
    drop(Store::open(&path).unwrap());
    let _ = fs::write(disk.path().join("ballast"), vec![0; 4 << 20]);
    match Store::open_to_read(&path) {
        Ok(store) => assert_eq!(store.runs().unwrap(), []),
        Err(error) => assert!(matches!(error.fault, Fault::Full(_)), "{error}"),
    }
}

#[test]
fn a_folder_that_is_read_only_is_refused() {
    let Some(disk) = Disk::new(3 << 10) else { return };
    let path = disk.path().join("results.dyno");
    drop(Store::open(&path).unwrap());
    let mut remount = Command::new("mount");
    remount.args(["-o", "remount,ro"]).arg(disk.path());
    assert!(remount.status().unwrap().success());
    // Reading it needs no copy.
    assert_eq!(Store::open_to_read(&path).unwrap().runs().unwrap(), []);
    assert_eq!(Store::open(&path).unwrap_err().fault, Fault::ReadOnly);
    let new = Store::open(&disk.path().join("new.dyno")).unwrap_err();
    assert!(matches!(new.fault, Fault::ReadOnly | Fault::CannotOpen(_)), "{new}");
}
