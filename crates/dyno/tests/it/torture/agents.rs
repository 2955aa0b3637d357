//! Agents that end or stand still at any time, and coordinators that are killed.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::lab::WHOLE;
use super::{Dice, is_orderly};
use crate::agents_rig::{agents_of, all_have_gone};
use crate::lab_rig::Lab;
use crate::rig::{Going, Rig};

/// About the time that such a load takes, with its beginning and its end.
const LOAD: Duration = Duration::from_millis(1_500);

/// All agents that are there now.
fn agents(going: &Going) -> Vec<Pid> {
    agents_of(going.pid())
}

pub(super) fn struck(dice: &mut Dice) -> &'static str {
    let rig = Rig::new();
    let path = "{url}/hello?delay=constant:2ms";
    let load = ["load", path, "-c", "6", "-d", "1s", "--json", "--load-on", "local:3"];
    let mut going = Going::start(rig.command(&load));
    let _ = going.ends_within(dice.part(LOAD));
    let there = agents(&going);
    let signal = *dice.one(&[Signal::KILL, Signal::KILL, Signal::STOP, Signal::TERM]);
    let struck = (!there.is_empty()).then(|| *dice.one(&there));
    let _ = struck.map(|pid| kill_process(pid, signal));
    let ran = going.end();
    is_orderly(&ran);
    all_have_gone(&there);
    assert!([Some(0), Some(1), Some(2)].contains(&ran.code()), "{ran}");
    if ran.stdout.is_empty() {
        assert!(ran.code() == Some(2) && ran.stderr.contains("agent local "), "{ran}");
        return "nothing was measured, and the agent is named";
    }
    let json = ran.json();
    let lost = json["lost_agents"].as_array().map_or(0, Vec::len);
    let attempted = json["books"]["attempted"].as_u64().unwrap();
    assert!(attempted <= rig.requests(), "{ran}");
    match lost {
        0 => {
            assert_eq!(attempted, rig.requests(), "{ran}");
            "none was lost"
        }
        _ => {
            assert_eq!(ran.code(), Some(2), "{ran}");
            "one was lost"
        }
    }
}

pub(super) fn orphaned(dice: &mut Dice) -> &'static str {
    let load = "closed = { connections = 2 }, duration = '300ms'";
    let rest = "[trials]\nrepeat = 3\npause = '0s'";
    let lab = Lab::one(load, rest);
    let mut going = lab.start(&["run", "x", "--load-on", "local:2"]);
    let _ = going.ends_within(dice.part(WHOLE));
    let there = agents(&going);
    let whom = dice.roll(3);
    match there.get(whom) {
        Some(agent) => {
            let _ = kill_process(*agent, Signal::KILL);
        }
        None => going.signal(Signal::KILL),
    }
    let ran = going.end();
    all_have_gone(&there);
    if ran.code().is_some() {
        is_orderly(&ran);
    }
    if !lab.has(".dyno/runs.sqlite") || lab.store().runs().unwrap().is_empty() {
        return "nothing was kept yet";
    }
    let kept = lab.trials("1").len();
    if kept < 3 {
        let ran = lab.dyno(&["run", "--resume", "--load-on", "local:2"]).measured();
        is_orderly(&ran);
    }
    assert_eq!(lab.trials("1").len(), 3, "{ran}");
    assert_eq!(lab.store().verify("1".parse().unwrap()).unwrap(), []);
    if kept < 3 { "gone on with" } else { "complete all the same" }
}
