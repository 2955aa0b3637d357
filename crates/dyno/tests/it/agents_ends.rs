//! Signals to an agent that waits for its coordinator.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use crate::rig::pid;

/// What is promised.
const SOON: Duration = Duration::from_millis(200);
/// What a busy machine may add to it.
const MORE: Duration = Duration::from_secs(2);
/// A busy machine delays some of so many ends; a look that is too rare, or a second signal that is needed, delays them all.
const TRIES: usize = 10;

/// An agent that waits ends at the first of these, and one of some agents does so as soon as is promised.
fn end_at_the_first(signal: Signal, flags: &[&str], carriers: &Path) {
    let mut took = (0..TRIES).map(|_| ends_at_the_first(signal, flags, carriers));
    assert!(took.any(|took| took <= SOON), "{flags:?}, {signal:?}: not once within {SOON:?}");
}

/// How long it took.
fn ends_at_the_first(signal: Signal, flags: &[&str], carriers: &Path) -> Duration {
    let mut command = Command::new(carriers.join("dyno"));
    command.args(["agents", "run"]).args(flags);
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It listens for signals once it has a thread for them.
    let task = format!("/proc/{}/task", agent.id());
    let names = || -> Vec<String> {
        let comm = |it: fs::DirEntry| fs::read_to_string(it.path().join("comm")).ok();
        fs::read_dir(&task).into_iter().flatten().flatten().filter_map(comm).collect()
    };
    crate::lab_rig::until("it reads", || {
        let ended = agent.try_wait().unwrap();
        assert!(ended.is_none(), "{flags:?}: it ended before it waited: {ended:?}");
        names().iter().any(|name| name.trim() == "reads")
    });
    kill_process(pid(&agent), signal).unwrap();
    let began = Instant::now();
    while agent.try_wait().unwrap().is_none() {
        if SOON + MORE < began.elapsed() {
            agent.kill().unwrap();
            panic!("{flags:?} goes on after {signal:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    began.elapsed()
}

#[test]
fn a_waiting_agent_ends_at_the_first_signal() {
    // A carrier is looked for beside dyno first, and beside this one there may be the real one.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("waiting-agent");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_dyno"), folder.join("dyno")).unwrap();
    let carrier = folder.join("dyno-nats");
    // Written by another process: a program that begins in another test may inherit the open file, which then cannot run.
    let write = "printf '#!/bin/sh\\nexec sleep 60\\n' >\"$0\" && chmod 755 \"$0\"";
    assert!(Command::new("sh").args(["-c", write]).arg(&carrier).status().unwrap().success());
    let via = ["--via", "nats://127.0.0.1:1", "--lab", "l", "--name", "n", "--trust", "k"];
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        end_at_the_first(signal, &["--stdio"], &folder);
        end_at_the_first(signal, &via, &folder);
    }
    let _ = fs::remove_dir_all(&folder);
}
