//! Agents that end or stand still, and coordinators that are killed, in each phase of a load: the right words, and
//! nothing is left running.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::agents_rig::{Gate, OPEN_TO_LOOPBACK, all_have_gone};
use crate::lab_rig::until;
use crate::rig::{Going, Ran, Rig};

const RELAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/relay.py");

/// Two hosts; one of them does this when its agent says that word for the nth time.
fn gate(word: &str, nth: u32, does: &str) -> Gate {
    let gate = Gate::new();
    gate.opens(&format!(
        "case \"$*\" in\n*' desk3 '*) exec python3 '{RELAY}' \"$DYNO\" '{folder}' {word} {nth} {does};;\n\
         *) exec python3 '{RELAY}' \"$DYNO\" '{folder}' never 1 nothing;;\nesac",
        folder = gate.path().display()
    ));
    gate
}

/// The agents behind a gate.
fn agents(gate: &Gate) -> Vec<Pid> {
    let names = fs::read_dir(gate.path()).unwrap().flatten().map(|it| it.file_name());
    let number = |name: &std::ffi::OsString| name.to_str()?.strip_suffix(".agent")?.parse().ok();
    names.filter_map(|name| Pid::from_raw(number(&name)?)).collect()
}

const BY_BOTH: [&str; 2] = ["--load-on", "ssh:desk2,desk3"];

fn start(rig: &Rig, gate: &Gate) -> Going {
    let load = ["load", "{url}/hello?delay=constant:2ms", "-c", "4", "-d", "2s", "--json"];
    gate.start(rig, &[&load[..], &BY_BOTH].concat())
}

/// Nothing is left of the agents of this gate, and nothing is sent any more. What stands still is let go first: then it
/// finds that its lease is over.
#[track_caller]
fn nothing_is_left(rig: &Rig, gate: &Gate) {
    for pid in agents(gate) {
        let _ = kill_process(pid, Signal::CONT);
    }
    all_have_gone(&agents(gate));
    let requests = rig.requests();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(rig.requests(), requests, "nothing is sent any more");
}

/// How dyno ended when desk3's agent did this at this word.
fn ran(rig: &Rig, word: &str, nth: u32, does: &str) -> Ran {
    let gate = gate(word, nth, does);
    let ran = start(rig, &gate).end();
    assert_eq!(agents(&gate).len(), 2);
    nothing_is_left(rig, &gate);
    ran
}

const DOES: [(&str, &str); 2] =
    [("kill", "it ended: exit status 255"), ("stop", "it sent nothing for ")];

#[test]
fn an_agent_that_is_lost_before_the_load_keeps_it_from_beginning() {
    let with_its_order = "agent desk3 was lost before the load began";
    for (word, says) in
        [("hello", "agent desk3"), ("armed", with_its_order), ("gone", with_its_order)]
    {
        // Who stands still is waited for in each phase for as long.
        for (does, how) in DOES.into_iter().filter(|(does, _)| *does == "kill" || word == "armed") {
            let rig = Rig::new();
            let ran = ran(&rig, word, 1, does).status(2);
            let _ = ran.stderr_has(says).stderr_has(how);
            // An agent that said that it would begin, and was not heard, begins unless it is told in time.
            assert!(word == "gone" || rig.requests() == 0, "nothing was sent");
        }
    }
}

/// What is reported of desk3, of which this is all that is left: it is lost, by this, and its share is in no figure.
#[track_caller]
fn lost<'j>(json: &'j Value, how: &str) -> &'j Value {
    let lost = &json["lost_agents"][0];
    let says = lost["says"].as_str().unwrap_or_default();
    assert!(lost["name"] == "desk3" && says.contains(how), "{lost}");
    assert_eq!(json["verdict"]["word"], "invalid");
    let agents = json["agents"].as_array().unwrap();
    let saw = agents.iter().filter_map(|agent| agent["saw"]["attempted"].as_u64());
    let attempted = json["books"]["attempted"].as_u64().unwrap();
    assert_eq!((0 < attempted, attempted), (true, saw.sum()));
    lost
}

#[test]
fn an_agent_that_is_lost_in_the_load_is_named_and_the_others_are_reported() {
    for (does, how) in DOES {
        let rig = Rig::new();
        let json = ran(&rig, "window", 1, does).status(2).json();
        let lost = lost(&json, how);
        assert_eq!(lost["phase"], "load", "{lost}");
    }
}

#[test]
fn an_agent_that_is_lost_when_it_reports_is_named_and_its_share_is_in_no_figure() {
    for (does, how) in DOES {
        let rig = Rig::new();
        let json = ran(&rig, "parcel", 1, does).status(2).json();
        let lost = lost(&json, how);
        assert!(2.0 <= lost["at_s"].as_f64().unwrap(), "{lost}");
        assert!(json["books"]["attempted"].as_u64().unwrap() < rig.requests());
    }
}

#[test]
fn an_agent_that_is_lost_while_it_holds_is_named_with_its_connections() {
    for (does, how) in DOES {
        let (rig, gate) = (Rig::new(), gate("window", 2, does));
        let ramp = ["-c", "8", "--step", "4", "--every", "3s", "--settle", "200ms"];
        let hold = [&["hold", "{url}/poll/0.1"], &BY_BOTH[..], &ramp].concat();
        let ran = gate.start(&rig, &hold).end().status(2);
        let ran = ran.stderr_has("agent desk3 (2 of 2) was lost").stderr_has(how);
        let _ = ran.stderr_has("open connections").stderr_has("no step counts its connections");
        nothing_is_left(&rig, &gate);
    }
}

#[test]
fn agents_end_with_a_coordinator_that_is_killed_in_whatever_phase_and_their_host_is_free_again() {
    for word in ["hello", "armed", "gone", "window", "parcel"] {
        let rig = Rig::new();
        let gate = gate(word, 1, "end");
        let ran = start(&rig, &gate).end();
        assert_eq!(ran.code(), None, "{word}: {ran}");
        until("both agents were started", || agents(&gate).len() == 2);
        nothing_is_left(&rig, &gate);
        // The process that held the host's lock has ended.
        gate.opens(OPEN_TO_LOOPBACK);
        let load = ["load", "{url}/hello", "-c", "2", "-n", "50", "--load-on", "ssh:desk2"];
        let _ = gate.start(&rig, &load).end().stdout_has("attempted 50 = correct 50");
    }
}
