//! Signals to an agent that waits for its coordinator.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};

use crate::rig::pid;

/// As much as is promised, and what a busy machine adds.
const SOON: Duration = Duration::from_millis(200 + 2_000);

/// An agent that waits ends at the first of these.
fn ends_at_the_first(signal: Signal, flags: &[&str], carriers: &std::path::Path) {
    let path = format!("{}:{}", carriers.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.arg("agent").args(flags).env("PATH", path);
    let mut agent = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It listens for signals once it has a thread for them.
    let task = format!("/proc/{}/task", agent.id());
    let names = || -> Vec<String> {
        let comm = |it: fs::DirEntry| fs::read_to_string(it.path().join("comm")).ok();
        fs::read_dir(&task).into_iter().flatten().flatten().filter_map(comm).collect()
    };
    crate::lab_rig::until("it reads", || names().iter().any(|name| name.trim() == "reads"));
    kill_process(pid(&agent), signal).unwrap();
    let began = Instant::now();
    while agent.try_wait().unwrap().is_none() {
        if SOON < began.elapsed() {
            agent.kill().unwrap();
            panic!("{flags:?} goes on after {signal:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_waiting_agent_ends_at_the_first_signal() {
    let folder = std::env::temp_dir().join(format!("dyno-carrier-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let carrier = folder.join("dyno-nats");
    fs::write(&carrier, "#!/bin/sh\nexec sleep 60\n").unwrap();
    fs::set_permissions(&carrier, fs::Permissions::from_mode(0o755)).unwrap();
    let via = ["--via", "nats://127.0.0.1:1", "--lab", "l", "--name", "n", "--trust", "k"];
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        ends_at_the_first(signal, &["--stdio"], &folder);
        ends_at_the_first(signal, &via, &folder);
    }
    let _ = fs::remove_dir_all(&folder);
}
