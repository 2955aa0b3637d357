//! Signals to an agent that waits for its coordinator.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use crate::lab_rig::until;
use crate::rig::pid;

/// What is promised.
const SOON: Duration = Duration::from_millis(200);
/// A busy machine delays some of so many ends; a look that is too rare, or a second signal that is needed, delays them all.
const TRIES: usize = 10;

/// How long an agent that waits goes on after this signal.
fn goes_on_after(signal: Signal, flags: &[&str], carriers: &Path) -> Duration {
    let mut command = Command::new(carriers.join("dyno"));
    command.args(["agents", "run"]).args(flags);
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It listens for signals once it has a thread for them.
    let task = format!("/proc/{}/task", agent.id());
    until("it reads", || {
        let ended = agent.try_wait().unwrap();
        assert!(ended.is_none(), "{flags:?}: it ended before it waited: {ended:?}");
        let tasks = fs::read_dir(&task).into_iter().flatten().flatten();
        let names = tasks.flat_map(|task| fs::read_to_string(task.path().join("comm")));
        names.into_iter().any(|name| name.trim() == "reads")
    });
    kill_process(pid(&agent), signal).unwrap();
    let began = Instant::now();
    until("it ends at the first signal", || agent.try_wait().unwrap().is_some());
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
        for flags in [&["--stdio"][..], &via] {
            let ends = (0..TRIES).any(|_| goes_on_after(signal, flags, &folder) <= SOON);
            assert!(ends, "{flags:?}, {signal:?}: not once within {SOON:?}");
        }
    }
    let _ = fs::remove_dir_all(&folder);
}
