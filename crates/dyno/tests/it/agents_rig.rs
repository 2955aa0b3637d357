//! A stand-in for ssh: a script of that name, which does on this machine what a test wants of another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use machine::process::family_of;
use rustix::process::{Pid, test_kill_process};

use crate::folder::Folder;
use crate::hosts::Hosts;
use crate::lab_rig::until;
use crate::rig::{Going, Rig};

impl Hosts {
    /// Dyno on a host, in this folder, whose ssh leads to the others.
    pub(crate) fn dyno(&self, name: &str, folder: &Path, arguments: &[&str]) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        self.ssh();
        let mut command = self.on(name, env!("CARGO_BIN_EXE_dyno"), arguments);
        command.env("PATH", format!("{}:{path}", self.folder().display()));
        command.env("HOME", self.folder()).env_remove("COLUMNS").current_dir(folder);
        command
    }

    /// Waits until nothing runs on these any more.
    #[track_caller]
    pub(crate) fn are_empty(&self, names: &[&str]) {
        for name in names {
            until("nothing is left", || self.processes(name).is_empty());
        }
    }
}

/// Runs what it is asked for in a shell, as sshd does.
pub(crate) const OPEN_TO_LOOPBACK: &str = "eval \"$last\"";

/// A folder with the script, and with what the other machines keep: their cache and their locks.
pub(crate) struct Gate(Folder);

impl Gate {
    pub(crate) fn new() -> Gate {
        let folder = Folder::new();
        fs::create_dir(folder.root.join("bin")).expect("the folder is ours");
        Gate(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.root
    }

    /// Where dyno is copied to.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path().join("cache/dyno/agent")
    }

    /// What the script does; `$last` is the command for the other side, and `$DYNO` the dyno that is tested.
    pub(crate) fn opens(&self, what: &str) {
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\necho \"$*\" >>'{asked}'\nexport DYNO='{dyno}' XDG_CACHE_HOME='{folder}/cache' \
             DYNO_LOCKS='{folder}'\n{what}\n",
            asked = self.0.path("asked"),
            dyno = env!("CARGO_BIN_EXE_dyno"),
            folder = self.path().display(),
        );
        // A script that is being run cannot be written to; one that takes its place can.
        let (new, path) = (self.path().join("bin/ssh.new"), self.path().join("bin/ssh"));
        fs::write(&new, script).expect("the folder is ours");
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("so is the file");
        fs::rename(&new, path).expect("they are in one folder");
    }

    /// This dyno finds the script in place of ssh.
    pub(crate) fn stands_before(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.path("bin")));
    }

    /// Dyno with these arguments, whose ssh this is.
    pub(crate) fn start(&self, rig: &Rig, arguments: &[&str]) -> Going {
        let mut command = rig.command(arguments);
        self.stands_before(&mut command);
        Going::start(command)
    }

    /// The command lines of all that were started so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("asked")).unwrap_or_default();
        text.lines().map(String::from).collect()
    }
}

/// Whether this process is one of `dyno agents`.
pub(crate) fn is_agent(pid: Pid) -> bool {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    line.split(|&byte| byte == 0).nth(1) == Some(b"agents")
}

/// The processes that this dyno has started, in order.
pub(crate) fn processes_of(dyno: Pid) -> Vec<Pid> {
    let mut family = family_of(dyno.as_raw_nonzero().get().unsigned_abs());
    family.sort_unstable();
    let pid = |pid: u32| Pid::from_raw(pid.cast_signed()).expect("no process has number 0");
    family.into_iter().map(pid).collect()
}

/// The agents among them.
pub(crate) fn agents_of(dyno: Pid) -> Vec<Pid> {
    processes_of(dyno).into_iter().filter(|pid| is_agent(*pid)).collect()
}

#[track_caller]
pub(crate) fn all_have_gone(pids: &[Pid]) {
    until("all agents have ended", || pids.iter().all(|pid| test_kill_process(*pid).is_err()));
}

/// Whether an agent has a thread that loads.
pub(crate) fn loads(pid: Pid) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let names = tasks.into_iter().flatten().flatten();
    let names = names.map(|task| fs::read_to_string(task.path().join("comm")));
    names.flatten().any(|name| name.trim() == "load")
}
