//! The files of a project, changed at random.

use std::fs;

use super::{Dice, is_orderly};
use crate::lab_rig::{Lab, SHORT};

const FILES: [&str; 3] = ["experiments/x.toml", "workloads/hello.toml", "subjects/a/subject.toml"];
/// Texts that may mean something at another place.
const PIECES: [&str; 12] =
    ["'", "\"\"\"", "[[", "]", "{", "= ", "-1", "1e999", "\0", "../", "\u{1b}[2J", "{port}"];

pub(super) fn changed(dice: &mut Dice) -> &'static str {
    let lab = Lab::one(SHORT, "");
    let file = lab.root.join(dice.one(&FILES));
    let mut bytes = fs::read(&file).unwrap();
    for _ in 0..=dice.roll(10) / 7 {
        change(&mut bytes, dice);
    }
    fs::write(&file, &bytes).unwrap();
    let mut refused = false;
    for command in [&["run", "x", "--dry-run"][..], &["servers", "list"]] {
        let ran = lab.dyno(command);
        is_orderly(&ran);
        assert!([Some(0), Some(2)].contains(&ran.code()), "{}: {ran}", bytes.escape_ascii());
        assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran}");
        refused |= ran.code() == Some(2);
    }
    assert!(!lab.has(".dyno/runs.sqlite"), "nothing ran");
    if refused { "refused" } else { "understood" }
}

fn change(bytes: &mut Vec<u8>, dice: &mut Dice) {
    let at = dice.roll(bytes.len());
    let to = (at + dice.roll(24)).min(bytes.len());
    match dice.roll(5) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << dice.roll(8),
        1 => drop(bytes.drain(at..to)),
        2 => bytes.truncate(to),
        3 => {
            let copy = bytes[at..to].to_vec();
            drop(bytes.splice(at..at, copy));
        }
        _ => drop(bytes.splice(at..at, dice.one(&PIECES).bytes())),
    }
}
