//! What processes used of the machine: CPU time and memory, as the kernel counts them.

use anyhow::{Context, Result};
use machine::process::family_of;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs;
use std::iter;
use std::time::Duration;

/// User and system time, and the highest resident size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    /// Never below that of the process that started it: Linux passes the mark on through exec.
    pub(crate) peak_rss_bytes: u64,
}

impl Spent {
    /// Of this process so far.
    pub(crate) fn by_self() -> Result<Spent> {
        Ok(spent(&getrusage(UsageWho::RUSAGE_SELF)?))
    }

    /// Of all children of this process that have ended and been waited for.
    pub(crate) fn by_children() -> Result<Spent> {
        Ok(spent(&getrusage(UsageWho::RUSAGE_CHILDREN)?))
    }

    /// User and system time together.
    pub(crate) fn cpu(&self) -> Duration {
        self.user + self.system
    }
}

fn spent(usage: &Usage) -> Spent {
    let micros = |time: i64| Duration::from_micros(time.unsigned_abs());
    Spent {
        user: micros(usage.user_time().num_microseconds()),
        system: micros(usage.system_time().num_microseconds()),
        peak_rss_bytes: usage.max_rss().unsigned_abs() * 1024,
    }
}

/// Binds this process, and what it starts, to one CPU.
pub(crate) fn bind_to(cpu: usize) -> Result<()> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    sched_setaffinity(None, &cpus).with_context(|| format!("cannot bind to CPU {cpu}"))
}

/// CPU time of a running process and its descendants, to the nanosecond.
pub(crate) fn cpu_of_family(pid: u32) -> Result<Duration> {
    iter::once(pid).chain(family_of(pid)).map(|pid| cpu_of_threads(pid, |_| true)).sum()
}

/// CPU time of those of a process' running threads that are selected by their names, to the nanosecond.
pub(crate) fn cpu_of_threads(pid: u32, selects: impl Fn(&str) -> bool) -> Result<Duration> {
    let mut nanos = 0;
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let folder = thread?.path();
        if !selects(fs::read_to_string(folder.join("comm"))?.trim_end()) {
            continue;
        }
        let schedstat = fs::read_to_string(folder.join("schedstat"))?;
        nanos += first_number(&schedstat).context("schedstat does not begin with a number")?;
    }
    Ok(Duration::from_nanos(nanos))
}

/// CPU time of a process with those of its threads that have ended, and without its children, to a hundredth of a second.
pub(crate) fn cpu_of_process(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    ticks(&stat).map(|ticks| Duration::from_millis(ticks * 10)).context("its stat is another")
}

/// User and system time, behind the name, which may contain anything.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn time_on_the_cpu_is_the_first_number_of_schedstat() {
        assert_eq!(first_number("73123 45280 1\n"), Some(73_123));
        assert_eq!(first_number(""), None);
    }

    #[test]
    fn the_time_of_a_process_stands_behind_its_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 90 8 0 0 11 4 700 800 20 0 3";
        assert_eq!(ticks(stat), Some(15));
        assert_eq!(ticks("7 (a"), None);
    }

    #[test]
    fn this_process_has_used_memory() {
        assert!(Spent::by_self().expect("getrusage").peak_rss_bytes > 0);
    }

    #[test]
    fn the_time_of_a_running_process_is_known() {
        let waits_for_input = Command::new("cat").stdin(Stdio::piped()).spawn();
        let mut cat = waits_for_input.expect("every machine has a cat");
        let known = cpu_of_family(cat.id());
        cat.kill().and_then(|()| cat.wait()).expect("it still ran");
        assert!(known.is_ok(), "{known:?}");
    }
}
