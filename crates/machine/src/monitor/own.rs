//! dyno itself: how much CPU time the load uses, and whether its lanes had to wait for a CPU.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::time::{ClockId, clock_gettime};

use super::cpu_ns_of;
use super::log::Tick;
use crate::proc::{Reread, Units};

/// This process and its threads.
#[derive(Debug)]
pub(super) struct Own {
    page_bytes: u64,
    statm: Option<Reread>,
    threads: u64,
    /// The CPU time of other processes that work for the load, as it was read last; by their numbers.
    helpers: BTreeMap<u32, u64>,
    /// By their numbers: `lane 3`.
    lanes: BTreeMap<u32, (Reread, [String; 2])>,
    buffer: Vec<u8>,
}

impl Own {
    pub(super) fn new(helpers: &[u32]) -> Own {
        Own {
            page_bytes: Units::of_this_machine().page_bytes,
            statm: Reread::open("/proc/self/statm"),
            threads: 0,
            helpers: helpers.iter().map(|pid| (*pid, 0)).collect(),
            lanes: BTreeMap::new(),
            buffer: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, tick: &mut Tick) {
        tick.put("load.cpu", clock_ns(ClockId::ProcessCPUTime));
        for (pid, used) in &mut self.helpers {
            // That of one that has ended stays.
            *used = cpu_ns_of(&[*pid]).unwrap_or(*used);
        }
        if !self.helpers.is_empty() {
            tick.put("load.helpers.cpu", self.helpers.values().sum::<u64>() as f64);
        }
        tick.put("watch.cpu", clock_ns(ClockId::ThreadCPUTime));
        let text = self.statm.as_ref().and_then(|file| file.text(&mut self.buffer));
        let pages = text.and_then(|text| std::str::from_utf8(text).ok()?.split(' ').nth(1));
        let pages = pages.and_then(|pages| pages.parse::<u64>().ok());
        tick.put_some("load.memory.rss", pages.map(|pages| (pages * self.page_bytes) as f64));
        self.find_lanes();
        let Own { lanes, buffer, .. } = self;
        lanes.retain(|_, (file, [cpu, delay])| {
            let Some((used, waited)) = file.text(buffer).and_then(schedule) else { return false };
            tick.put(cpu.clone(), used as f64);
            tick.put(delay.clone(), waited as f64);
            true
        });
    }

    /// Lanes start and end with the load. The folder's link count says how many threads there are.
    fn find_lanes(&mut self) {
        let threads = fs::metadata("/proc/self/task").map_or(0, |folder| folder.nlink());
        if threads == self.threads {
            return;
        }
        self.threads = threads;
        for task in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
            let Some(path) = task.path().to_str().map(String::from) else { continue };
            let name = fs::read_to_string(format!("{path}/comm")).unwrap_or_default();
            let lane = lane_of(&name);
            let file = Reread::open(&format!("{path}/schedstat"));
            if let (Some(number), Some(file)) = (lane, file) {
                let names = ["cpu", "delay"].map(|what| format!("load.lane.{number}.{what}"));
                self.lanes.insert(number, (file, names));
            }
        }
    }
}

/// The lane number in a thread's name: `loader 3` of a load, `holder 3` of held connections.
fn lane_of(name: &str) -> Option<u32> {
    let name = name.trim();
    let number = name.strip_prefix("loader ").or_else(|| name.strip_prefix("holder "))?;
    number.parse().ok()
}

/// `/proc/PID/task/TID/schedstat`: time on a CPU, time waiting for one, and how many times; ns.
fn schedule(text: &[u8]) -> Option<(u64, u64)> {
    let mut words = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

fn clock_ns(clock: ClockId) -> f64 {
    let time = clock_gettime(clock);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_press_and_threads_that_hold_are_found() {
        let found =
            ["loader 3\n", "holder 12\n", "signals\n", "loader\n", "holder x\n"].map(lane_of);
        assert_eq!(found, [Some(3), Some(12), None, None, None]);
    }

    #[test]
    fn times_of_a_thread_are_read() {
        assert_eq!(schedule(b"19698129 3262058 63\n"), Some((19_698_129, 3_262_058)));
        assert_eq!(schedule(b"19698129"), None);
        assert_eq!(schedule(b"0 x 1"), None);
    }
}
