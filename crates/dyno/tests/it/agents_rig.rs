//! A stand-in for ssh: a script of that name, which does on this machine what a test wants of another.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use machine::process::family_of;
use rustix::process::{Pid, test_kill_process};

use crate::lab_rig::until;

/// Runs what it is asked for in a shell, as sshd does.
pub(crate) const OPEN_TO_LOOPBACK: &str = "eval \"$last\"";

/// A folder with the script, and with what the other machines keep: their cache and their locks.
pub(crate) struct Gate(PathBuf);

impl Gate {
    pub(crate) fn new(name: &str) -> Gate {
        let folder = std::env::temp_dir().join(format!("dyno-gate-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("bin")).expect("temporary folders can be made");
        Gate(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Where dyno is copied to.
    pub(crate) fn cache(&self) -> PathBuf {
        self.0.join("cache/dyno/agent")
    }

    /// What the script does; `$last` is the command for the other side, and `$DYNO` the dyno that is tested.
    pub(crate) fn opens(&self, what: &str) {
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\necho \"$*\" >>'{asked}'\nexport DYNO='{dyno}' XDG_CACHE_HOME='{folder}/cache' \
             DYNO_LOCKS='{folder}'\n{what}\n",
            asked = self.0.join("asked").display(),
            dyno = env!("CARGO_BIN_EXE_dyno"),
            folder = self.0.display(),
        );
        // A script that is being run cannot be written to; one that takes its place can.
        let (new, path) = (self.0.join("bin/ssh.new"), self.0.join("bin/ssh"));
        fs::write(&new, script).expect("the folder is ours");
        fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).expect("so is the file");
        fs::rename(&new, path).expect("they are in one folder");
    }

    /// This dyno finds the script in place of ssh.
    pub(crate) fn stands_before(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.0.join("bin").display()));
    }

    /// The command lines of all that were started so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        let text = fs::read_to_string(self.0.join("asked")).unwrap_or_default();
        text.lines().map(String::from).collect()
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The agents among the processes that this dyno has started.
pub(crate) fn agents_of(dyno: Pid) -> Vec<Pid> {
    let is_agent = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).nth(1) == Some(b"agents")
    };
    let mut family = family_of(dyno.as_raw_nonzero().get().unsigned_abs());
    family.sort_unstable();
    let pid = |pid: u32| Pid::from_raw(pid.cast_signed()).expect("no process has number 0");
    family.into_iter().filter(is_agent).map(pid).collect()
}

pub(crate) fn is_gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err()
}

#[track_caller]
pub(crate) fn all_have_gone(pids: &[Pid]) {
    until("all agents have ended", || pids.iter().all(|pid| is_gone(*pid)));
}

/// Whether an agent has a thread that loads.
pub(crate) fn loads(pid: Pid) -> bool {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    let names = tasks.into_iter().flatten().flatten();
    let names = names.map(|task| fs::read_to_string(task.path().join("comm")));
    names.flatten().any(|name| name.trim() == "load")
}
