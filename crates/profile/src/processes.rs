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

    /// Adds what these forks made, as (process, parent): in any order, because each CPU has its own list of them.
    pub(crate) fn add_forks(&mut self, forks: &[(u32, u32)]) {
        let mut before = 0;
        while before < self.all.len() {
            before = self.all.len();
            let own = forks.iter().filter(|(_, parent)| self.all.contains(parent));
            let own: Vec<u32> = own.map(|(pid, _)| *pid).collect();
            self.all.extend(own);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_count_in_any_order_and_those_of_others_do_not() {
        let mut processes = Processes::of(&[1]);
        processes.add_forks(&[(4, 3), (3, 2), (2, 1), (9, 8), (2, 2)]);
        assert_eq!(processes.all().collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
