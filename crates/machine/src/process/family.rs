//! The descendants of a process, and how to end all of them.

use std::collections::HashMap;
use std::fs;

use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::marker::{Marker, pid};
use super::stat::Stat;
use crate::proc::processes;

/// All living descendants of a process, parents before children, itself excluded.
#[must_use]
pub fn family_of(root: u32) -> Vec<u32> {
    let mut family = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        let Some(children) = children_of(parent) else { continue };
        family.extend(&children);
        next.extend(children);
    }
    family.retain(|pid| Stat::of(*pid).is_some_and(|stat| !stat.is_dead()));
    family
}

/// Whether a process is now a descendant of another one.
pub(super) fn descends(pid: u32, root: u32) -> bool {
    let mut next = pid;
    // A line of parents is short; a number that was used again during the climb could close a circle.
    for _ in 0..4096 {
        match Stat::of(next).map_or(0, |stat| stat.parent) {
            0 => return false,
            parent if parent == root => return true,
            parent => next = parent,
        }
    }
    false
}

/// Its children, including dead ones that were not waited for; nothing if it does not exist.
fn children_of(parent: u32) -> Option<Vec<u32>> {
    let mut children = Vec::new();
    for task in fs::read_dir(format!("/proc/{parent}/task")).ok()? {
        let Ok(task) = task else { continue };
        match fs::read_to_string(task.path().join("children")) {
            Ok(text) => children.extend(numbers(&text)),
            // A thread ended meanwhile, or the kernel was built without these files.
            Err(_) if task.path().exists() => return Some(children_by_search(parent)),
            Err(_) => {}
        }
    }
    Some(children)
}

fn numbers(text: &str) -> impl Iterator<Item = u32> {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

fn children_by_search(parent: u32) -> Vec<u32> {
    all_processes()
        .into_iter()
        .filter(|(_, stat)| stat.parent == parent)
        .map(|(pid, _)| pid)
        .collect()
}

/// Every visible process.
pub(super) fn all_processes() -> HashMap<u32, Stat> {
    processes().filter_map(|pid| Some((pid, Stat::of(pid)?))).collect()
}

/// The processes that carry a marker for which this holds, and all their descendants. Visible processes of other PID
/// namespaces do not count.
pub(super) fn carriers(is_meant: impl Fn(&Marker) -> bool) -> Vec<u32> {
    let all_processes = all_processes();
    let space = |pid: &dyn std::fmt::Display| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    let own_space = space(&"self");
    let mut found: Vec<u32> = all_processes
        .iter()
        .filter(|(_, stat)| !stat.is_dead())
        .filter(|(pid, _)| Marker::of(**pid).is_some_and(|marker| is_meant(&marker)))
        .filter(|(pid, _)| space(pid) == own_space)
        .map(|(pid, _)| *pid)
        .collect();
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = all_processes.iter().filter(|(_, stat)| stat.parent == parent);
        let news: Vec<u32> = children.map(|(pid, _)| *pid).filter(|p| !found.contains(p)).collect();
        found.extend(news);
        at += 1;
    }
    found
}

/// Whether the kernel names a process so that a signal cannot reach another one: `pidfd_open` came with Linux 5.3.
pub fn kernel_can_end() -> Result<(), Errno> {
    pidfd_open(getpid(), PidfdFlags::empty()).map(|_| ())
}

/// Sends a signal, if the process still is the one that the caller means.
pub(super) fn send(number: u32, signal: Signal, is_still_meant: impl FnOnce() -> bool) -> bool {
    let Some(process) = pid(number) else { return false };
    // The descriptor is taken first, then the check made: so the number cannot have gone to another process between the
    // check and the signal.
    let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty()) else { return false };
    is_still_meant() && pidfd_send_signal(descriptor, signal).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_family_until_it_is_dead() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("cat is everywhere");
        assert!(family_of(std::process::id()).contains(&child.id()));
        assert!(children_by_search(std::process::id()).contains(&child.id()));
        assert!(send(child.id(), Signal::KILL, || true));
        child.wait().expect("it is ours");
        assert!(!family_of(std::process::id()).contains(&child.id()));
    }

    #[test]
    fn a_process_that_is_not_meant_gets_no_signal() {
        assert!(!send(std::process::id(), Signal::KILL, || false));
    }
}
