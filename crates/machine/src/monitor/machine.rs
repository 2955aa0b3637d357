//! The machine: how busy it is, and how much of that is neither the subject nor the load.

use std::fs;
use std::path::PathBuf;

use rustix::time::{ClockId, clock_gettime};

use super::log::Tick;
use super::throttle::Throttle;
use crate::conditions::limits_of_cpu;
use crate::proc::{Reread, Units, keyed, number, numbers};

#[derive(Debug)]
pub(super) struct Machine {
    tick_ns: u64,
    stat: Option<Reread>,
    /// The CPU time of all tasks to the nanosecond, where a v1 hierarchy has it: clock ticks miss what runs between
    /// them.
    tasks: Option<Reread>,
    limits: Vec<Reread>,
    pressures: Vec<(&'static str, Reread)>,
    frequencies: Vec<PathBuf>,
    throttle: Throttle,
    /// What was used by programs, by the subject, and by dyno with what it started besides, when it began.
    zero: Option<[f64; 3]>,
    other: f64,
    /// How far the wall clock was ahead of the monotonic clock when it began.
    ahead: i64,
    buffer: Vec<u8>,
}

impl Machine {
    pub(super) fn new() -> Machine {
        let pressures = [
            ("machine.pressure.cpu", "/proc/pressure/cpu"),
            ("machine.pressure.memory", "/proc/pressure/memory"),
            ("machine.pressure.io", "/proc/pressure/io"),
        ];
        let cpus = fs::read_dir("/sys/devices/system/cpu").into_iter().flatten().flatten();
        let frequency = cpus.map(|cpu| cpu.path().join("cpufreq/scaling_cur_freq"));
        Machine {
            tick_ns: Units::of_this_machine().tick_ns,
            stat: Reread::open("/proc/stat"),
            tasks: TASKS.iter().find_map(|path| Reread::open(path)),
            limits: limits_of_cpu()
                .iter()
                .filter_map(|path| Reread::open(path.to_str()?))
                .collect(),
            pressures: pressures
                .into_iter()
                .filter_map(|(name, path)| Some((name, Reread::open(path)?)))
                .collect(),
            frequencies: frequency.filter(|path| path.exists()).collect(),
            throttle: Throttle::new(),
            zero: None,
            other: 0.0,
            ahead: ahead_ns(),
            buffer: Vec::new(),
        }
    }

    /// Call it after the subject, the service and dyno have been read: the time that they used is subtracted.
    pub(super) fn read(&mut self, tick: &mut Tick) {
        let text = self.stat.as_ref().and_then(|file| file.text(&mut self.buffer));
        if let Some(times) = text.and_then(Times::read) {
            let ns = |ticks: u64| (ticks * self.tick_ns) as f64;
            tick.put("machine.cpu.busy", ns(times.programs + times.interrupts));
            tick.put("machine.cpu.softirq", ns(times.softirq));
            tick.put("machine.cpu.steal", ns(times.steal));
            let value = |name| tick.value(name).unwrap_or(0.0);
            let subject = value("subject.cpu.total");
            let own = value("load.cpu") + value("load.helpers.cpu") + value("service.cpu.total");
            let tasks = self.tasks.as_ref().and_then(|file| file.text(&mut self.buffer));
            let programs = tasks.and_then(whole).unwrap_or_else(|| ns(times.programs));
            let now = [programs, subject, own];
            let zero = *self.zero.get_or_insert(now);
            let [programs, subject, own] = [0, 1, 2].map(|at| now[at] - zero[at]);
            // The three clocks are not read at one instant, so the difference could fall; it must not.
            self.other = self.other.max(programs - subject - own);
            tick.put("machine.cpu.other", self.other);
        }
        let Machine { limits, buffer, .. } = self;
        let throttled = limits.iter().filter_map(|file| throttled_ns(file.text(buffer)?));
        tick.put_some("machine.cpu.throttled", throttled.reduce(|sum, ns| sum + ns));
        tick.put("machine.clock.offset", ahead_ns().saturating_sub(self.ahead) as f64);
        let Machine { pressures, frequencies, throttle, buffer, .. } = self;
        throttle.run(false, || {
            for (name, file) in pressures {
                let text = file.text(buffer).and_then(|text| std::str::from_utf8(text).ok());
                tick.put_some(name, text.and_then(stalled_us).map(|us| us as f64 * 1e3));
            }
            let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
            tick.put_some(
                "machine.load",
                load.split(' ').next().and_then(|load| load.parse().ok()),
            );
            let khz: Vec<f64> = frequencies.iter().filter_map(number).collect();
            if !khz.is_empty() {
                let mean = khz.iter().sum::<f64>() / khz.len() as f64;
                tick.put("machine.frequency.mean", mean * 1e3);
                tick.put("machine.frequency.min", khz.into_iter().fold(f64::MAX, f64::min) * 1e3);
            }
        });
    }
}

/// Where the root of the v1 hierarchy for CPU time usually is.
const TASKS: [&str; 2] =
    ["/sys/fs/cgroup/cpuacct/cpuacct.usage", "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage"];

/// How long a limit has kept tasks from their CPUs, from `cpu.stat`: `throttled_usec`, and in version 1 `throttled_time`.
fn throttled_ns(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let us = keyed(text, "throttled_usec ").map(|us| us as f64 * 1e3);
    us.or_else(|| Some(keyed(text, "throttled_time ")? as f64))
}

/// The number in a file that holds nothing else.
fn whole(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.trim().parse::<u64>().ok().map(|ns| ns as f64)
}

/// How far the wall clock is ahead of the monotonic clock. An interruption between the two reads makes the result wrong
/// by its length, so the quickest of three attempts counts.
fn ahead_ns() -> i64 {
    let now = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
    };
    let looks = (0..3).map(|_| {
        let before = now(ClockId::Monotonic);
        let wall = now(ClockId::Realtime);
        let took = now(ClockId::Monotonic).saturating_sub(before);
        (took, wall.saturating_sub(before).saturating_sub(took / 2))
    });
    looks.min().map_or(0, |(_, ahead)| ahead)
}

/// How the machine's time was spent; clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    /// User, nice, system.
    programs: u64,
    /// Hard and soft.
    interrupts: u64,
    softirq: u64,
    steal: u64,
}

impl Times {
    /// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`
    fn read(text: &[u8]) -> Option<Times> {
        // Only the first line: the others are long, and need not be valid text.
        let line = text.split(|byte| *byte == b'\n').next()?;
        match numbers(std::str::from_utf8(line).ok()?, "cpu")?[..] {
            [user, nice, system, _idle, _iowait, irq, softirq, steal, ..] => Some(Times {
                programs: user + nice + system,
                interrupts: irq + softirq,
                softirq,
                steal,
            }),
            _ => None,
        }
    }
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`
fn stalled_us(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split(' ').find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_machine_are_read() {
        let text = b"cpu  10 1 5 100 7 2 3 4 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 1 \xff\n";
        let times = Times { programs: 16, interrupts: 5, softirq: 3, steal: 4 };
        assert_eq!(Times::read(text), Some(times));
        assert_eq!(Times::read(b"cpu  10 1 5 100\n"), None);
        assert_eq!(Times::read(b"cpu0 10 1 5 100 7 2 3 4 0 0\n"), None);
    }

    #[test]
    fn the_time_that_a_limit_took_is_read_in_both_versions() {
        let second = b"usage_usec 9\nnr_periods 3\nnr_throttled 2\nthrottled_usec 1500\n";
        assert_eq!(throttled_ns(second), Some(1.5e6));
        assert_eq!(
            throttled_ns(b"nr_periods 3\nnr_throttled 2\nthrottled_time 1500\n"),
            Some(1.5e3)
        );
        assert_eq!(throttled_ns(b"usage_usec 9\n"), None);
    }

    #[test]
    fn the_time_of_all_tasks_is_a_number() {
        assert_eq!(whole(b"30910540218915\n"), Some(30_910_540_218_915.0));
        assert_eq!((whole(b""), whole(b"-1"), whole(b"\xff")), (None, None, None));
    }

    #[test]
    fn two_clocks_run_side_by_side_unless_one_is_set() {
        let since_1970 = ahead_ns() + clock_gettime(ClockId::Monotonic).tv_sec * 1_000_000_000;
        let year_2020 = 1_577_836_800_000_000_000;
        assert!(year_2020 < since_1970, "it is the wall clock's: {since_1970}");
    }

    #[test]
    fn pressure_is_the_time_that_some_stood_still() {
        let text = "some avg10=0.12 avg60=0.00 avg300=0.00 total=987\nfull avg10=0.00 total=12\n";
        assert_eq!(stalled_us(text), Some(987));
        assert_eq!(stalled_us("full avg10=0.00 total=12\n"), None);
    }
}
