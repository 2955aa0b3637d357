//! The subject's processes: what they use, summed.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::log::Tick;
use super::throttle::Throttle;
use crate::conditions::Readings;
use crate::proc::{Reread, Units, keyed};
use crate::process::family_of;
use crate::process::stat::Stat;

/// The processes below a root, which is the subject's warden; or those that were found where there is no root.
#[derive(Debug)]
pub(super) struct Subject {
    root: Arc<AtomicU32>,
    found: Vec<u32>,
    readings: Option<Readings>,
    units: (u64, u64),
    /// Parents before children.
    family: Vec<(u32, Reread)>,
    root_stat: Option<(u32, Reread)>,
    search: Throttle,
    depth: Throttle,
    highest: Highest,
    buffer: Vec<u8>,
}

/// Counters that only grow, although the processes that they counted may have ended.
#[derive(Clone, Copy, Debug, Default)]
struct Highest {
    user: u64,
    system: u64,
    switches: [u64; 2],
    io: [u64; 4],
}

impl Subject {
    pub(super) fn new(
        root: Arc<AtomicU32>,
        found: Vec<u32>,
        readings: Option<Readings>,
    ) -> Subject {
        let units = Units::of_this_machine();
        Subject {
            root,
            found,
            readings,
            units: (units.tick_ns, units.page_bytes),
            family: Vec::new(),
            root_stat: None,
            search: Throttle::new(),
            depth: Throttle::new(),
            highest: Highest::default(),
            buffer: Vec::new(),
        }
    }

    /// At last it reads also what is otherwise read seldom.
    pub(super) fn read(&mut self, tick: &mut Tick, is_last: bool) {
        let root = self.root.load(Ordering::Relaxed);
        if root == 0 && self.found.is_empty() {
            return;
        }
        let is_new = match root {
            0 => self.family.is_empty(),
            _ => self.root_stat.as_ref().is_none_or(|(known, _)| *known != root),
        };
        if is_new && root != 0 {
            let stat = Reread::open(&format!("/proc/{root}/stat"));
            self.root_stat = stat.map(|stat| (root, stat));
        }
        let Subject { search, family, found, .. } = self;
        search.run(is_new || is_last, || {
            *family = match root {
                0 => open_all(found),
                _ => open_all(&family_of(root)),
            }
        });
        self.read_stats(tick);
        if let Some(readings) = &self.readings {
            let bytes = readings.memory_bytes();
            tick.put_some("subject.memory.cgroup", bytes.map(|bytes| bytes as f64));
        }
        let Subject { depth, family, readings, highest, .. } = self;
        depth.run(is_new || is_last, || read_deep(root, family, readings.as_ref(), highest, tick));
    }

    /// Ten times a second: one file for each process.
    fn read_stats(&mut self, tick: &mut Tick) {
        let (tick_ns, page_bytes) = self.units;
        let (mut user, mut system, mut pages, mut threads, mut processes) = (0, 0, 0, 0, 0_u32);
        // The kernel adds the times of a reaped child to its parent's: so the times of children that the warden reaped
        // are with the warden, whose own times are not the subject's.
        let buffer = &mut self.buffer;
        let root = self.root_stat.as_ref().and_then(|(_, file)| Stat::parse(file.text(buffer)?));
        if let Some(stat) = root {
            user += stat.children_user;
            system += stat.children_system;
        }
        // Parents first: a child that ends in between is then missed once, and not counted twice.
        self.family.retain(|(_, file)| {
            let Some(stat) = file.text(buffer).and_then(Stat::parse) else { return false };
            user += stat.user + stat.children_user;
            system += stat.system + stat.children_system;
            if !stat.is_dead() {
                pages += stat.resident;
                threads += stat.threads;
                processes += 1;
            }
            true
        });
        self.highest.user = self.highest.user.max(user);
        self.highest.system = self.highest.system.max(system);
        let (user, system) = (self.highest.user * tick_ns, self.highest.system * tick_ns);
        // The cgroup is exact, and steps only lose time; but a process may leave the group.
        let counted = self.readings.as_ref().and_then(Readings::cpu_ns);
        tick.put("subject.cpu.total", counted.unwrap_or(0).max(user + system) as f64);
        tick.put_some("subject.cpu.cgroup", counted.map(|ns| ns as f64));
        tick.put("subject.cpu.user", user as f64);
        tick.put("subject.cpu.system", system as f64);
        tick.put("subject.memory.rss", (pages * page_bytes) as f64);
        tick.put("subject.threads", threads as f64);
        tick.put("subject.processes", f64::from(processes));
    }
}

fn open_all(pids: &[u32]) -> Vec<(u32, Reread)> {
    let open = |pid: &u32| Some((*pid, Reread::open(&format!("/proc/{pid}/stat"))?));
    pids.iter().filter_map(open).collect()
}

/// Once a second, or more seldom: readings for which the kernel must walk its tables.
fn read_deep(
    root: u32,
    family: &[(u32, Reread)],
    readings: Option<&Readings>,
    highest: &mut Highest,
    tick: &mut Tick,
) {
    let pids = || family.iter().map(|(pid, _)| *pid);
    tick.put_some("subject.memory.pss", sum(pids().map(pss_bytes)));
    tick.put_some("subject.files", sum(pids().map(open_files)));
    let mut switches = [0, 0];
    pids().for_each(|pid| add_switches(pid, &mut switches));
    let mut io = [0; 4];
    // The I/O of processes that the warden reaped is counted with the warden.
    std::iter::once(root).chain(pids()).for_each(|pid| add_io(pid, &mut io));
    for (highest, now) in highest.switches.iter_mut().zip(switches) {
        *highest = now.max(*highest);
    }
    for (highest, now) in highest.io.iter_mut().zip(io) {
        *highest = now.max(*highest);
    }
    tick.put("subject.switches.voluntary", highest.switches[0] as f64);
    tick.put("subject.switches.involuntary", highest.switches[1] as f64);
    let names =
        ["subject.io.read", "subject.io.written", "subject.disk.read", "subject.disk.written"];
    for (name, value) in names.into_iter().zip(highest.io) {
        tick.put(name, value as f64);
    }
    if let Some(readings) = readings {
        tick.put("subject.memory.kills", readings.kills_for_memory() as f64);
    }
}

/// The sum over those that could be read; nothing if none could.
fn sum(values: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    values.flatten().map(|value| value as f64).reduce(|left, right| left + right)
}

/// The CPU time that these processes and their children that have ended have used; none if one of them is gone.
#[must_use]
pub fn cpu_ns_of(pids: &[u32]) -> Option<u64> {
    let ticks: Option<u64> = pids.iter().map(|pid| Some(Stat::of(*pid)?.ticks())).sum();
    Some(ticks? * Units::of_this_machine().tick_ns)
}

/// The CPU time that the subject below this warden has used: its cgroup's, or that of its processes if that is more.
#[must_use]
pub fn cpu_ns_below(warden: u32, readings: &Readings) -> Option<u64> {
    let counted = readings.cpu_ns()?;
    let family = family_of(warden).into_iter().filter_map(Stat::of).map(|stat| stat.ticks());
    // Those that the warden has waited for.
    let ended = Stat::of(warden).map_or(0, |stat| stat.children_user + stat.children_system);
    let ticks = ended + family.sum::<u64>();
    Some(counted.max(ticks * Units::of_this_machine().tick_ns))
}

/// The memory that these processes have now.
pub fn resident_bytes(pids: &[u32]) -> u64 {
    let pages: u64 = pids.iter().filter_map(|pid| Stat::of(*pid)).map(|stat| stat.resident).sum();
    pages * Units::of_this_machine().page_bytes
}

fn pss_bytes(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(keyed(&rollup, "Pss:")? * 1024)
}

fn open_files(pid: u32) -> Option<u64> {
    let folder = format!("/proc/{pid}/fd");
    // Since Linux 6.2 the folder's size is the answer.
    match fs::metadata(&folder).ok()?.len() {
        0 => Some(fs::read_dir(&folder).ok()?.count() as u64),
        files => Some(files),
    }
}

/// A process's `status` counts only its first thread.
fn add_switches(pid: u32, sums: &mut [u64; 2]) {
    for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let keys = ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"];
        for (sum, key) in sums.iter_mut().zip(keys) {
            *sum += keyed(&status, key).unwrap_or(0);
        }
    }
}

fn add_io(pid: u32, sums: &mut [u64; 4]) {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    for (sum, key) in sums.iter_mut().zip(["rchar:", "wchar:", "read_bytes:", "write_bytes:"]) {
        *sum += keyed(&text, key).unwrap_or(0);
    }
}
