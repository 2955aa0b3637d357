//! Ends what a dead dyno, or a killed warden, left behind: only what carries dyno's markers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid};

use super::family::{all_processes, carriers, send};
use super::marker::Marker;
use super::stat::Stat;
use crate::conditions;

/// How long killed processes have to vanish.
const VANISH: Duration = Duration::from_secs(5);

/// A process that was ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    pub pid: u32,
    /// Its command line, and the folder in which it ran; empty where they could not be read.
    pub command: String,
    pub folder: String,
    /// The process id of the dead dyno whose marker it carried.
    pub owner: Option<u32>,
}

impl Leftover {
    fn of(pid: u32) -> Leftover {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd"));
        Leftover {
            pid,
            command: words.collect::<Vec<_>>().join(" ").trim().into(),
            folder: folder.map_or(String::new(), |folder| folder.display().to_string()),
            owner: Marker::of(pid).and_then(|marker| marker.owner()).map(|(owner, _)| owner),
        }
    }
}

/// What was found and ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The processes that were killed.
    pub processes: Vec<Leftover>,
    /// The cgroups that were removed.
    pub cgroups: Vec<PathBuf>,
}

/// Ends what dynos that are no longer alive left behind: processes that carry their marker, and their cgroups. What
/// belongs to a living dyno, or to one of which that cannot be known, or to no dyno, is not touched.
#[must_use]
pub fn sweep() -> Swept {
    let groups = conditions::abandoned();
    let seen = RefCell::new(BTreeMap::new());
    let killed = kill_all(|| {
        let mut processes = carriers(Marker::owner_is_dead);
        processes.extend(groups.iter().flat_map(|(group, _)| conditions::members(group)));
        for pid in &processes {
            seen.borrow_mut().entry(*pid).or_insert_with(|| Leftover::of(*pid));
        }
        processes
    });
    let seen = seen.into_inner().into_values();
    let processes = seen.filter(|process| killed.contains(&process.pid)).collect();
    // Deepest first. What cannot be removed is not dyno's, or will be removed by the next dyno.
    let until = Instant::now() + VANISH;
    let cgroups = groups.iter().filter(|(group, _)| conditions::remove(group, until).is_ok());
    Swept { processes, cgroups: cgroups.map(|(group, _)| group.clone()).collect() }
}

/// The traces by which a subject's processes are found.
#[derive(Debug)]
pub(super) struct Traces {
    /// The marker in their environment.
    pub(super) marker: Option<Marker>,
    /// Their warden's session. Until the warden is waited for, the number is not used again.
    pub(super) session: u32,
    /// The files that list the members of their cgroups.
    pub(super) cgroups: Vec<PathBuf>,
}

impl Traces {
    /// The processes that have one of these traces now.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mut found = carriers(|marker| Some(*marker) == self.marker);
        let is_kin = |stat: &Stat| stat.session == self.session && !stat.is_dead();
        found.extend(all_processes().iter().filter(|(_, stat)| is_kin(stat)).map(|(pid, _)| *pid));
        found.extend(self.cgroups.iter().flat_map(|procs| conditions::listed(procs)));
        found.retain(|pid| *pid != self.session);
        found
    }
}

/// Kills the processes that are found until none is found any more, and returns them.
pub(super) fn kill_all(find: impl Fn() -> Vec<u32>) -> BTreeSet<u32> {
    let own_line = own_line();
    let deadline = Instant::now() + VANISH;
    let mut killed = BTreeSet::new();
    loop {
        let found: BTreeSet<u32> =
            find().into_iter().filter(|pid| !own_line.contains(pid)).collect();
        if found.is_empty() || deadline <= Instant::now() {
            return killed;
        }
        for pid in found {
            let started = Stat::of(pid).map(|stat| stat.started);
            if send(pid, Signal::KILL, || Stat::of(pid).map(|stat| stat.started) == started) {
                killed.insert(pid);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// This process and its ancestors. A dyno that was itself started by a subject of a dead dyno carries the marker of
/// that dyno; it must not end itself.
fn own_line() -> BTreeSet<u32> {
    let mut line = BTreeSet::new();
    let mut next = getpid().as_raw_nonzero().get().unsigned_abs();
    while next != 0 && line.insert(next) {
        next = Stat::of(next).map_or(0, |stat| stat.parent);
    }
    line
}
