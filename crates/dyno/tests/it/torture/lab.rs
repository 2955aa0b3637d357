//! Processes: killed, interrupted, stopped, defective.

use std::time::Duration;

use rustix::process::{Pid, Signal};

use super::{Dice, is_orderly};
use crate::lab_rig::{Lab, ORACLE, SHORT, until};
use crate::rig::Rig;

const TRIALS: usize = 3;
/// About the time that such a run takes.
pub(super) const WHOLE: Duration = Duration::from_millis(1_500);

/// Three trials of 150 ms.
pub(super) fn three() -> Lab {
    let rest = "[trials]\nrepeat = 3\npause = '0s'";
    let load = "closed = { connections = 2 }, duration = '150ms'";
    Lab::one(load, rest)
}

/// Whether a run was begun, and is not complete.
fn is_unfinished(lab: &Lab) -> bool {
    lab.has(".dyno/runs.sqlite") && lab.store().runs().unwrap().iter().any(|run| !run.is_finished)
}

/// Every bit that is kept of the first run's trials.
fn bits(lab: &Lab) -> Vec<String> {
    if !lab.has(".dyno/runs.sqlite") || lab.store().runs().unwrap().is_empty() {
        return Vec::new();
    }
    lab.trials("1").iter().map(|trial| format!("{trial:?}")).collect()
}

/// Resumes until the run is complete, and checks that everything is right then.
fn finish(lab: &Lab, dynos: &[Pid], kept: &[String]) {
    if is_unfinished(lab) {
        let _ = lab.dyno(&["run", "--resume"]).measured();
    } else if bits(lab).is_empty() {
        let _ = lab.dyno(&["run", "x"]).measured();
    }
    let all = bits(lab);
    assert_eq!(all.len(), TRIALS, "each trial is there once");
    assert_eq!(all[..kept.len()], *kept, "what was kept is as it was");
    assert_eq!(lab.store().verify("1".parse().unwrap()).unwrap(), []);
    for dyno in dynos {
        until("nothing is left", || lab.left_of(*dyno).is_empty());
    }
}

pub(super) fn killed(dice: &mut Dice) -> &'static str {
    let lab = three();
    let (mut dynos, mut kept) = (Vec::new(), Vec::new());
    let mut command = vec!["run", "x"];
    for _ in 0..=dice.roll(3) {
        let mut going = lab.start(&command);
        dynos.push(going.pid());
        let _ = going.ends_within(dice.part(WHOLE));
        going.signal(Signal::KILL);
        let _ = going.end();
        let now = bits(&lab);
        assert_eq!(now[..kept.len()], kept[..], "what was kept is as it was");
        kept = now;
        match (is_unfinished(&lab), kept.is_empty()) {
            (true, _) => command = vec!["run", "--resume"],
            (false, true) => {}
            (false, false) => break,
        }
    }
    finish(&lab, &dynos, &kept);
    "complete, none twice"
}

pub(super) fn interrupted(dice: &mut Dice) -> &'static str {
    let lab = three();
    let signal = *dice.one(&[Signal::INT, Signal::TERM, Signal::HUP]);
    let mut going = lab.start(&["run", "x"]);
    let pid = going.pid();
    let ended = going.ends_within(dice.part(WHOLE));
    if !ended {
        going.signal(signal);
    }
    let ran = going.end();
    // Before dyno listens for signals, a signal does what it does to every program.
    match ran.code() {
        None | Some(130) => {}
        _ => drop(ran.measured()),
    }
    let kept = bits(&lab);
    finish(&lab, &[pid], &kept);
    "complete, none twice"
}

pub(super) fn stopped(dice: &mut Dice) -> &'static str {
    let rig = Rig::new();
    let pace = *dice.one(&[["-r", "2000"], ["-c", "8"]]);
    let all = ["load", "{url}/hello", "-d", "50s", "--json", "--no-live"];
    let pause = Duration::from_millis(400) + dice.part(Duration::from_millis(400));
    let ran = rig.dyno_stopped(&[&all[..], &pace].concat(), pause);
    is_orderly(&ran);
    let json = ran.json();
    assert_ne!(json["verdict"]["word"], "valid", "{pace:?}: {json:#}");
    "not valid"
}

pub(super) fn ill(dice: &mut Dice) -> &'static str {
    let lab = Lab::new();
    let scripts = ["dies", "lies", "stubborn", "loses", "crowded", "eats", "shares"];
    let commands = [
        "run = 'true'".to_string(),
        "run = '''sh -c 'printf \"\\033[2J\"; exit 3' '''".to_string(),
        "run = '''sh -c 'kill -ABRT $$' '''".to_string(),
        "run = 'sleep 600'\nready = '500ms'".to_string(),
        "run = '''sh -c 'yes | head -c 300000000; exec sleep 600' '''\nready = '500ms'".to_string(),
        "run = '''sh -c '(setsid env -i sleep 600 &) ; exit 1' '''".to_string(),
        format!("run = '{ORACLE} --fault mute'\nready = '500ms'"),
    ];
    let which = dice.roll(scripts.len() + commands.len());
    let lab = match scripts.get(which) {
        // A run that waits for another server which never comes gives up soon.
        Some(&"crowded") => {
            let run = "run = 'python3 server.py {port} crowded'\nready = '500ms'";
            lab.subject("s", run).file("subjects/s/server.py", include_str!("../server.py"))
        }
        Some(script) => lab.python("s", script),
        None => lab.subject("s", &commands[which - scripts.len()]),
    };
    let lab = lab.experiment("x", &["s"], SHORT, "");
    // This also asserts that nothing is left.
    let ran = lab.dyno(&["run", "x"]);
    is_orderly(&ran);
    assert!([Some(0), Some(2)].contains(&ran.code()), "{ran}");
    assert_eq!(lab.trials("1").len(), 1, "it is a result");
    "a result, nothing left"
}
