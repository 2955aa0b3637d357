//! The store: damaged, deleted, replaced, on a disk that becomes full.

use std::fs;
use std::sync::OnceLock;
use std::time::Duration;

use super::lab::{WHOLE, three};
use super::{Dice, is_orderly};
use crate::lab_rig::Lab;
use crate::rig::Going;
use crate::run_room::Small;

const STORE: &str = ".dyno/runs.sqlite";
const WAL: &str = ".dyno/runs.sqlite-wal";
const SHM: &str = ".dyno/runs.sqlite-shm";

/// An undamaged store, and the report of it.
pub(super) struct Sound {
    lab: Lab,
    pub(super) bytes: Vec<u8>,
    report: String,
}

/// Made once: the cases only read it, each its own copy.
pub(super) fn sound() -> &'static Sound {
    static SOUND: OnceLock<Sound> = OnceLock::new();
    SOUND.get_or_init(|| {
        let lab = three();
        let _ = lab.dyno(&["run", "x"]).measured();
        let bytes = fs::read(lab.root.join(STORE)).unwrap();
        let report = lab.dyno(&["report", "1", "--format", "json"]).status(0).stdout;
        Sound { lab, bytes, report }
    })
}

pub(super) fn flipped(dice: &mut Dice) -> &'static str {
    let sound = sound();
    let mut bytes = sound.bytes.clone();
    // Mostly one bit.
    for _ in 0..=dice.roll(10) / 9 * 8 {
        let (at, bit) = (dice.roll(bytes.len()), dice.roll(8));
        bytes[at] ^= 1 << bit;
    }
    // A project of its own, at another place: the report does not name its path.
    let lab = Lab::new();
    fs::create_dir_all(lab.root.join(".dyno")).unwrap();
    fs::write(lab.root.join(STORE), bytes).unwrap();
    assert!(sound.lab.root != lab.root);
    let ran = lab.dyno(&["report", "1", "--format", "json"]);
    is_orderly(&ran);
    match ran.code() {
        Some(0) if ran.stdout == sound.report => "same",
        Some(0) => {
            let says_so = ran.stdout.contains("damaged") || ran.stderr.contains("damaged");
            assert!(says_so, "another report, and not a word of damage");
            "damaged, and said so"
        }
        _ => "refused",
    }
}

/// A run at some moment, mostly in the middle of its second trial, which does not go on before the gate is opened.
struct UnderWay {
    going: Going,
    is_halfway: bool,
}

fn under_way(lab: Lab, dice: &mut Dice) -> (Lab, UnderWay) {
    let is_halfway = dice.roll(3) != 0;
    let lab = if is_halfway { lab.gated("a", 1) } else { lab };
    let mut going = lab.start(&["run", "x"]);
    match is_halfway {
        false => _ = going.ends_within(dice.part(WHOLE)),
        true => {
            going.says("1/3 ");
            let _ = going.ends_within(dice.part(Duration::from_millis(150)));
        }
    }
    (lab, UnderWay { going, is_halfway })
}

/// How a run must end whose store has just disappeared.
#[track_caller]
fn came_of(lab: &Lab, run: UnderWay) -> &'static str {
    lab.open_gate();
    let ran = run.going.end();
    is_orderly(&ran);
    if ran.stderr.contains("runs.sqlite: ") {
        let _ = ran.status(2);
        return "refused";
    }
    assert!(!run.is_halfway, "it did not notice: {ran}");
    let _ = ran.measured();
    "before its first look, or after its last"
}

pub(super) fn deleted(dice: &mut Dice) -> &'static str {
    let (lab, run) = under_way(three(), dice);
    for file in [STORE, WAL, SHM] {
        let _ = fs::remove_file(lab.root.join(file));
    }
    came_of(&lab, run)
}

pub(super) fn replaced(dice: &mut Dice) -> &'static str {
    let lab = three();
    let other = lab.root.join("other");
    fs::write(&other, &sound().bytes).unwrap();
    let (lab, mut run) = under_way(lab, dice);
    run.going.says("order ");
    fs::rename(other, lab.root.join(STORE)).unwrap();
    let came = came_of(&lab, run);
    assert!(fs::read(lab.root.join(STORE)).unwrap() == sound().bytes, "it was touched");
    assert_eq!(
        (lab.store().runs().unwrap().len(), lab.trials("1").len()),
        (1, 3),
        "it is what it was"
    );
    came
}

pub(super) fn filled(dice: &mut Dice) -> &'static str {
    let lab = three();
    let folder = lab.root.join("small");
    let Some(_small) = Small::mount(&folder, "size=40m") else {
        return "not tried, for want of root or mounts";
    };
    let at = ["--store", "small/runs.sqlite"];
    let mut going = lab.start(&[&["run", "x"], &at[..]].concat());
    let _ = going.ends_within(dice.part(WHOLE));
    let _ = fs::write(folder.join("filler"), vec![1; 64 << 20]);
    let ran = going.end();
    is_orderly(&ran);
    let came = match ran.stderr.contains("the disk is full") {
        true => {
            let _ = ran.status(2);
            "refused"
        }
        false => {
            let _ = ran.measured();
            "had ended before"
        }
    };
    fs::remove_file(folder.join("filler")).unwrap();
    let ran = lab.dyno(&[&["run", "--resume"], &at[..]].concat());
    let is_nothing_left = ran.stderr.contains("no run of an experiment is unfinished")
        || ran.stderr.contains("is complete");
    if !is_nothing_left {
        let _ = ran.measured();
    }
    if folder.join("runs.sqlite").exists() {
        let store = store::Store::open(&folder.join("runs.sqlite")).unwrap();
        for run in store.runs().unwrap() {
            assert_eq!(store.verify(run.id).unwrap(), []);
            assert_eq!((run.kept, run.is_finished), (3, true));
        }
    }
    came
}
