//! Which processes are the server's, by what `/proc` and the kernel's records of forks say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::mem::take;

/// The processes of a server, those that have ended included.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    all: BTreeSet<u32>,
    /// (process, parent) of others: each CPU has its own list of forks, so that a parent's own may come later.
    others: Vec<(u32, u32)>,
}

impl Processes {
    pub(crate) fn of(pids: &[u32]) -> Processes {
        Processes { all: pids.iter().copied().collect(), others: Vec::new() }
    }

    pub(crate) fn add(&mut self, pids: &[u32]) {
        self.all.extend(pids);
        let mut before = 0;
        while before < self.all.len() {
            before = self.all.len();
            let is_own = |(_, parent): &(u32, u32)| self.all.contains(parent);
            let (own, others): (Vec<_>, Vec<_>) =
                take(&mut self.others).into_iter().partition(is_own);
            self.all.extend(own.into_iter().map(|(pid, _)| pid));
            self.others = others;
        }
    }

    /// Adds what these forks made, as (process, parent), in any order.
    pub(crate) fn add_forks(&mut self, forks: &[(u32, u32)]) {
        self.others.extend(forks);
        self.add(&[]);
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

/// How long each living thread of these processes has been ready to run without a CPU, in nanoseconds.
#[must_use]
pub fn waited_ns(pids: &[u32]) -> BTreeMap<u32, u64> {
    let waited = |(pid, tid): (u32, u32)| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
        Some((tid, text.split_ascii_whitespace().nth(1)?.parse().ok()?))
    };
    let of_process =
        |pid: &u32| threads(*pid).into_iter().map(|tid| (*pid, tid)).collect::<Vec<_>>();
    pids.iter().flat_map(of_process).filter_map(waited).collect()
}

/// How long the living threads of these processes have waited since then. What a thread that has ended waited is not known.
#[must_use]
pub fn waited_since(before: &BTreeMap<u32, u64>, pids: &[u32]) -> u64 {
    grown(before, &waited_ns(pids))
}

fn grown(before: &BTreeMap<u32, u64>, now: &BTreeMap<u32, u64>) -> u64 {
    let since = |(tid, ns): (&u32, &u64)| ns.saturating_sub(before.get(tid).copied().unwrap_or(0));
    now.iter().map(since).sum()
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
        processes.add_forks(&[(4, 3), (3, 2), (9, 8)]);
        processes.add_forks(&[(2, 1)]);
        assert_eq!(processes.all().collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    /// Its sum is less than before, and says nothing of the others.
    #[test]
    fn a_thread_that_has_ended_takes_nothing_from_what_others_waited() {
        let before = BTreeMap::from([(1, 5), (2, 1 << 60)]);
        assert_eq!(grown(&before, &BTreeMap::from([(1, 8), (3, 4)])), 7);
    }
}
