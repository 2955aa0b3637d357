//! A trial's cgroup: a memory limit, and exact accounts of CPU time, memory and kills.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::hierarchy::{Hierarchy, Version, all, has_limit};
use crate::Fact;
use crate::owned;
use crate::proc::{keyed, number};
use crate::process::{Marker, Membership};

/// Where dyno itself moves if its own group must have children.
const HOME: &str = "dyno-home";

/// How long a group may be busy after its last process has ended.
const BUSY: Duration = Duration::from_secs(5);

const WAY_OUT: &str = "run dyno as root, or by `systemd-run --user --scope -p Delegate=yes dyno …`";

/// The groups of one trial, one for each hierarchy. Call `remove` when its processes have ended; otherwise the next
/// sweep removes it.
#[derive(Debug)]
pub struct Group {
    folders: Vec<Folder>,
}

#[derive(Debug)]
struct Folder {
    version: Version,
    path: PathBuf,
    /// Says to other dynos, in whatever namespaces, that its maker lives.
    _lock: File,
    /// The group in which its maker stays.
    home: PathBuf,
    counts_memory: bool,
    counts_cpu: bool,
}

/// The files in which the kernel keeps a group's accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    cpu: Option<(Version, PathBuf)>,
    memory: Option<(Version, PathBuf)>,
}

impl Group {
    /// Makes it, as far as that is permitted, and returns what was done. `memory` is a limit in bytes, for memory and
    /// swap together.
    #[must_use]
    pub fn create(marker: &Marker, memory: Option<u64>) -> (Option<Group>, Vec<Fact>) {
        Group::create_in(&all(), marker, memory)
    }

    fn create_in(
        hierarchies: &[Hierarchy],
        marker: &Marker,
        memory: Option<u64>,
    ) -> (Option<Group>, Vec<Fact>) {
        let mut folders = Vec::new();
        let limited = limit_memory(hierarchies, marker, memory, &mut folders);
        let counted = count_cpu(hierarchies, marker, &mut folders);
        let fact = |name: &str, value: String| Fact { name: name.to_string(), value };
        let facts = vec![fact("memory", limited), fact("cpu-time", counted)];
        ((!folders.is_empty()).then_some(Group { folders }), facts)
    }

    /// How a process is started in it.
    #[must_use]
    pub fn membership(&self) -> Membership {
        let procs = |path: &Path| path.join("cgroup.procs");
        Membership {
            join: self.folders.iter().map(|folder| procs(&folder.path)).collect(),
            leave: self.folders.iter().map(|folder| procs(&folder.home)).collect(),
            oom: self.readings().memory.map(|(version, path)| path.join(oom_file(version))),
        }
    }

    /// Where its accounts are, for the monitors.
    #[must_use]
    pub fn readings(&self) -> Readings {
        let place = |folder: &Folder| (folder.version, folder.path.clone());
        Readings {
            cpu: self.folders.iter().find(|folder| folder.counts_cpu).map(place),
            memory: self.folders.iter().find(|folder| folder.counts_memory).map(place),
        }
    }

    /// Removes it. Its processes must have ended.
    pub fn remove(mut self) -> io::Result<()> {
        self.take_away()
    }

    fn take_away(&mut self) -> io::Result<()> {
        let until = Instant::now() + BUSY;
        while let Some(folder) = self.folders.last() {
            match remove(&folder.path, until) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    let says = format!("{}: {error}", folder.path.display());
                    return Err(io::Error::new(error.kind(), says));
                }
                Ok(()) | Err(_) => {}
            }
            self.folders.pop();
        }
        Ok(())
    }
}

/// Removes a group whose processes have ended. The kernel may not be done with it yet, and is waited for, but no longer
/// than until this instant.
pub(crate) fn remove(group: &Path, until: Instant) -> io::Result<()> {
    loop {
        match fs::remove_dir(group) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            done => return done,
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.take_away();
    }
}

impl Readings {
    /// CPU time used by all processes that were ever in the group.
    #[must_use]
    pub fn cpu_ns(&self) -> Option<u64> {
        let (version, path) = self.cpu.as_ref()?;
        match version {
            Version::V1 => number(path.join("cpuacct.usage")),
            Version::V2 => {
                let stat = fs::read_to_string(path.join("cpu.stat")).ok()?;
                Some(keyed(&stat, "usage_usec ")? * 1_000)
            }
        }
    }

    /// How often the kernel killed a process of the group for want of memory.
    #[must_use]
    pub fn kills_for_memory(&self) -> u64 {
        let file = self.memory.as_ref().map(|(version, path)| path.join(oom_file(*version)));
        file.and_then(|file| kills_for_memory(&file)).unwrap_or(0)
    }

    /// The memory that it has now, page cache included; bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        let (version, path) = self.memory.as_ref()?;
        number(path.join(match version {
            Version::V1 => "memory.usage_in_bytes",
            Version::V2 => "memory.current",
        }))
    }
}

/// What the counter in this file says: `oom_kill 2`. Kernels before 4.13 have none.
pub(crate) fn kills_for_memory(file: &Path) -> Option<u64> {
    keyed(&fs::read_to_string(file).ok()?, "oom_kill ")
}

fn oom_file(version: Version) -> &'static str {
    match version {
        Version::V1 => "memory.oom_control",
        Version::V2 => "memory.events",
    }
}

/// Makes the folder with the limit; returns what was done.
fn limit_memory(
    hierarchies: &[Hierarchy],
    marker: &Marker,
    memory: Option<u64>,
    folders: &mut Vec<Folder>,
) -> String {
    let mut reasons = Vec::new();
    let candidates = hierarchies.iter().filter(|hierarchy| match hierarchy.version {
        Version::V1 => hierarchy.controls("memory"),
        Version::V2 => true,
    });
    for hierarchy in candidates {
        let made = make(hierarchy, marker, Some("memory"));
        let limited = made.and_then(|folder| {
            let limited = memory.map_or(Ok(()), |bytes| limit(&folder, bytes));
            limited.inspect_err(|_| drop(fs::remove_dir(&folder.path))).map(|()| folder)
        });
        match limited {
            Ok(folder) => {
                let version = folder.version.name();
                folders.push(folder);
                return match memory {
                    Some(bytes) => format!("{} by {version}", amount(bytes)),
                    None => format!("no limit is set; counted by {version}"),
                };
            }
            Err(reason) => reasons.push(reason),
        }
    }
    let reason = reasons.pop().unwrap_or_else(|| "no cgroup hierarchy is mounted".to_string());
    match memory {
        Some(_) => format!("not limited: {reason}; {WAY_OUT}"),
        None => "no limit is set".to_string(),
    }
}

/// Makes the folder that counts CPU time, if the one for memory does not count it.
fn count_cpu(hierarchies: &[Hierarchy], marker: &Marker, folders: &mut Vec<Folder>) -> String {
    let made_already = folders.iter_mut().find(|folder| folder.counts_cpu);
    if let Some(folder) = made_already {
        return format!("exact, by {}", folder.version.name());
    }
    let counts = |hierarchy: &&Hierarchy| match hierarchy.version {
        Version::V1 => hierarchy.controls("cpuacct"),
        Version::V2 => hierarchies.iter().all(|other| !other.controls("cpuacct")),
    };
    for hierarchy in hierarchies.iter().filter(counts) {
        if let Ok(folder) = make(hierarchy, marker, None) {
            let says = format!("exact, by {}", folder.version.name());
            folders.push(folder);
            return says;
        }
    }
    "in steps of 10 ms, by /proc: no cgroup can be made".to_string()
}

impl Version {
    fn name(self) -> &'static str {
        match self {
            Version::V1 => "cgroup v1",
            Version::V2 => "cgroup v2",
        }
    }
}

/// Makes the trial's folder in a hierarchy: below this process's own group, or below the nearest ancestor where that is
/// permitted, if no group in between limits its processes.
fn make(hierarchy: &Hierarchy, marker: &Marker, needs: Option<&str>) -> Result<Folder, String> {
    let mut reason = "cgroup: nothing is mounted".to_string();
    let mut home = hierarchy.own.clone();
    for parent in hierarchy.line() {
        if hierarchy.version == Version::V2 {
            let is_own = parent == hierarchy.own;
            if let Err(error) = delegate(parent, needs, is_own.then_some(&mut home)) {
                reason = error;
                // Above a group with limits, the server would not be under them.
                if has_limit(parent, &["cpu.max", "cpuset.cpus", "memory.high", "memory.max"]) {
                    break;
                }
                continue;
            }
        }
        let path = parent.join(marker.to_string());
        match owned::create(&path) {
            Ok(lock) => {
                let (counts_memory, counts_cpu) = match hierarchy.version {
                    Version::V1 => (hierarchy.controls("memory"), hierarchy.controls("cpuacct")),
                    Version::V2 => (needs.is_some(), true),
                };
                let version = hierarchy.version;
                return Ok(Folder { version, path, _lock: lock, home, counts_memory, counts_cpu });
            }
            Err(error) => reason = format!("{}: {error}", path.display()),
        }
    }
    Err(reason)
}

/// Makes sure that groups below `parent` have the controller, and that dyno may move a process there. `home` is given
/// for this process's own group: if that group must have no processes, and dyno is the only one in it, dyno moves.
fn delegate(parent: &Path, needs: Option<&str>, home: Option<&mut PathBuf>) -> Result<(), String> {
    let procs = parent.join("cgroup.procs");
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    OpenOptions::new().write(true).open(&procs).map_err(|error| failed(&procs, error))?;
    let Some(controller) = needs else { return Ok(()) };
    let switch = parent.join("cgroup.subtree_control");
    let has = |file: &Path| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.split_whitespace().any(|name| name == controller)
    };
    if has(&switch) {
        return Ok(());
    }
    if !has(&parent.join("cgroup.controllers")) {
        return Err(format!("{}: has no {controller} controller", parent.display()));
    }
    let on = format!("+{controller}");
    match (fs::write(&switch, &on), home) {
        (Ok(()), _) => Ok(()),
        (Err(error), Some(home)) if error.kind() == io::ErrorKind::ResourceBusy => {
            // A group has either processes or controlled groups.
            if listed(&procs) != [std::process::id()] {
                return Err(format!("{}: other processes are in it", parent.display()));
            }
            *home = parent.join(HOME);
            let _ = fs::create_dir(&home);
            let moved = fs::write(home.join("cgroup.procs"), "0");
            moved.and_then(|()| fs::write(&switch, &on)).map_err(|error| failed(&switch, error))
        }
        (Err(error), _) => Err(failed(&switch, error)),
    }
}

fn limit(folder: &Folder, bytes: u64) -> Result<(), String> {
    let (memory, swap, swap_limit) = match folder.version {
        // The second one limits memory and swap together, and must not be below the first.
        Version::V1 => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
        Version::V2 => ("memory.max", "memory.swap.max", 0),
    };
    let file = folder.path.join(memory);
    fs::write(&file, bytes.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
    // A kernel without accounts of swap lacks this file.
    let _ = fs::write(folder.path.join(swap), swap_limit.to_string());
    Ok(())
}

/// As people write it.
fn amount(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let fits = |(_, size): &(&str, u64)| *size <= bytes && bytes.is_multiple_of(size / 4);
    match units.into_iter().find(fits) {
        Some((unit, size)) => format!("{} {unit}", bytes as f64 / size as f64),
        None => format!("{bytes} bytes"),
    }
}

/// The groups of dead dynos, with the locks that keep other dynos from removing them, too.
pub(crate) fn abandoned() -> Vec<(PathBuf, File)> {
    let hierarchies = all();
    let parents = hierarchies.iter().flat_map(Hierarchy::line);
    let entries = parents.filter_map(|parent| fs::read_dir(parent).ok()).flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter_map(|path| owned::abandoned(&path).map(|lock| (path, lock))).collect()
}

/// The processes in a group; those of other PID namespaces, which the kernel lists as 0, cannot be named.
pub(crate) fn members(group: &Path) -> Vec<u32> {
    let mut members = listed(&group.join("cgroup.procs"));
    members.retain(|pid| *pid != 0);
    members
}

/// The processes that a `cgroup.procs` lists.
pub(crate) fn listed(procs: &Path) -> Vec<u32> {
    let text = fs::read_to_string(procs).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
