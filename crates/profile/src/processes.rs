//! Which processes are the server's, by what `/proc` and the kernel's records of forks say.

use std::collections::BTreeSet;
use std::fs;

/// The processes of a server, those that have ended included.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    all: BTreeSet<u32>,
}

impl Processes {
    pub(crate) fn of(pids: &[u32]) -> Processes {
        Processes { all: pids.iter().copied().collect() }
    }

    pub(crate) fn forked(&mut self, pid: u32, parent: u32) {
        if self.all.contains(&parent) {
            self.all.insert(pid);
        }
    }

    pub(crate) fn has(&self, pid: u32) -> bool {
        self.all.contains(&pid)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = u32> {
        self.all.iter().copied()
    }
}

/// The threads of a process.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    let folder = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    folder.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// How long the threads of these processes that live have been ready to run without a CPU, in nanoseconds.
pub fn waited_ns(pids: &[u32]) -> u64 {
    let waited = |path: String| {
        fs::read_to_string(path).ok()?.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let of_threads = pids.iter().flat_map(|pid| {
        threads(*pid).into_iter().map(move |tid| format!("/proc/{pid}/task/{tid}/schedstat"))
    });
    of_threads.filter_map(waited).sum()
}

/// The name of a process' executable, without its folder.
#[must_use]
pub fn executable(pid: u32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned())
}

/// The name of a thread.
pub(crate) fn comm(pid: u32, tid: u32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok()?.trim_end().to_owned())
}
