//! Gates of one repository: killed in their check-out with all that they started, and several at once.

use std::time::Duration;

use rustix::process::{Signal, kill_process_group};

use super::Dice;
use crate::gate_trees::{APART, IN_ONE, has_run, shown, three, with_projects};
use crate::lab_rig::Lab;
use crate::rig::Going;

/// The tree has so many files that it takes a moment to be written.
fn large() -> Lab {
    let lab = with_projects();
    for number in 0..600 {
        lab.write(&format!("more/{number}"), "x".repeat(2_000));
    }
    crate::gate::commit(&lab, "first");
    lab
}

pub(super) fn killed(dice: &mut Dice) -> &'static str {
    let lab = large();
    for _ in 0..5 {
        let mut going = Going::start(shown(&lab));
        let _ = going.ends_within(dice.part(Duration::from_millis(250)));
        match dice.roll(3) {
            0 => going.signal(Signal::KILL),
            _ => drop(kill_process_group(going.pid(), Signal::KILL)),
        }
        let _ = going.end();
        has_run(&lab, Going::start(shown(&lab)).end());
        let _ = std::fs::remove_dir_all(lab.root.join("cache"));
    }
    "the next gates ran"
}

pub(super) fn together(dice: &mut Dice) -> &'static str {
    let lab = large();
    three(&lab, *dice.one(&[APART, IN_ONE])).into_iter().for_each(|gate| has_run(&lab, gate.end()));
    "all ran"
}
