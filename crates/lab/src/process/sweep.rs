//! Ends what a dead dyno, or a killed warden, left behind: only what carries our marks.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid};

use super::family::{carriers, everybody, send};
use super::marker::Marker;
use super::stat::Stat;
use crate::conditions;

/// How long killed processes have to vanish.
const VANISH: Duration = Duration::from_secs(5);

/// What was found and ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many processes were killed.
    pub processes: u32,
    /// The cgroups that were removed.
    pub cgroups: Vec<PathBuf>,
}

/// Ends what dynos that no longer live left behind: processes that carry their marker, and their
/// cgroups. What belongs to a living dyno, or to nobody's, is not touched.
#[must_use]
pub fn sweep() -> Swept {
    let is_orphan = |marker: &Marker| !marker.owner_lives();
    let groups = conditions::left_over(is_orphan);
    let processes = kill_all(|| {
        let mut processes = carriers(is_orphan);
        processes.extend(groups.iter().flat_map(|group| conditions::members(group)));
        processes
    });
    // Deepest first. What cannot be removed is not ours, or will be the next dyno's to remove.
    let cgroups = groups.into_iter().filter(|group| fs::remove_dir(group).is_ok()).collect();
    Swept { processes, cgroups }
}

/// By what a subject's processes are known.
#[derive(Debug)]
pub(super) struct Traces {
    /// In their environment.
    pub(super) marker: Option<Marker>,
    /// Their warden's. As long as nobody has waited for the warden, the number is not used again.
    pub(super) session: u32,
    /// The files that list the members of their cgroups.
    pub(super) cgroups: Vec<PathBuf>,
}

impl Traces {
    /// Whoever bears one of them now.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mut found = carriers(|marker| Some(*marker) == self.marker);
        let is_kin = |stat: &Stat| stat.session == self.session && !stat.is_dead();
        found.extend(everybody().iter().filter(|(_, stat)| is_kin(stat)).map(|(pid, _)| *pid));
        found.extend(self.cgroups.iter().flat_map(|procs| conditions::listed(procs)));
        found.retain(|pid| *pid != self.session);
        found
    }
}

/// Kills what is found until nothing is found any more; how many processes that were.
pub(super) fn kill_all(find: impl Fn() -> Vec<u32>) -> u32 {
    let own_line = own_line();
    let deadline = Instant::now() + VANISH;
    let mut killed = BTreeSet::new();
    loop {
        let found: BTreeSet<u32> =
            find().into_iter().filter(|pid| !own_line.contains(pid)).collect();
        if found.is_empty() || deadline <= Instant::now() {
            return u32::try_from(killed.len()).unwrap_or(u32::MAX);
        }
        for pid in found {
            let started = Stat::of(pid).map(|stat| stat.started);
            if send(pid, Signal::KILL, || Stat::of(pid).map(|stat| stat.started) == started) {
                killed.insert((pid, started));
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// This process and those that it descends from. A dyno that was itself started by a subject of a
/// dead dyno carries that one's marker; it shall not end itself.
fn own_line() -> BTreeSet<u32> {
    let mut line = BTreeSet::new();
    let mut next = getpid().as_raw_nonzero().get().unsigned_abs();
    while next != 0 && line.insert(next) {
        next = Stat::of(next).map_or(0, |stat| stat.parent);
    }
    line
}
