//! Samples of a server's processes, as they come.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use crate::events::{Ring, disable, enable, end_samples, ran_ns, set_period};
use crate::maps::Maps;
use crate::pace::Pace;
use crate::processes::{Processes, comm, threads};
use crate::profile::{Method, Target};
use crate::records::{Record, Sample, read};

/// What is to be sampled, and how.
#[derive(Clone, Debug)]
pub struct SamplerOrder<'a> {
    /// The processes of the server now, parents before children.
    pub pids: &'a [u32],
    /// The CPUs on which it runs, and nothing else of importance.
    pub cpus: &'a [usize],
    /// Samples a second, on average.
    pub hz: u32,
    /// Bytes of the stack to copy with each sample, where frame pointers lead nowhere.
    pub dwarf_bytes: Option<u32>,
    /// The maps in which runtimes name what they compiled are removed; not where they are of a server of the user's own,
    /// who may need them.
    pub removes_maps: bool,
}

/// Events that are open, and what they have shown so far.
#[derive(Debug)]
pub struct Sampler {
    events: Vec<OwnedFd>,
    rings: Vec<Ring>,
    pub(crate) method: Method,
    pub(crate) removes_maps: bool,
    pub(crate) processes: Processes,
    pub(crate) samples: Vec<Sample>,
    pub(crate) maps: Maps,
    /// The names of threads.
    pub(crate) comms: HashMap<u32, String>,
    /// Records that found no room in a ring, before the samples ended and after that.
    pub(crate) lost: [u64; 2],
    has_stopped: bool,
    started: Instant,
    pace: Pace,
    ran_ns: Option<u64>,
    record: Vec<u8>,
}

impl Sampler {
    /// Opens what this process may open: the CPUs with the kernel, or else threads, or else what threads do outside the
    /// kernel. Nothing is sampled before `start`.
    pub fn open(order: &SamplerOrder<'_>) -> io::Result<Sampler> {
        let mut refused = None;
        for (target, user_only) in
            [(Target::Cpus, false), (Target::Threads, false), (Target::Threads, true)]
        {
            match Sampler::open_as(order, target, user_only) {
                Ok(sampler) => return Ok(sampler),
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.expect("each way has been tried"))
    }

    fn open_as(order: &SamplerOrder<'_>, target: Target, user_only: bool) -> io::Result<Sampler> {
        let method = Method { hz: order.hz, target, user_only, dwarf_bytes: order.dwarf_bytes };
        let targets: Vec<Option<u32>> = match target {
            Target::Cpus => vec![None],
            Target::Threads => order.pids.iter().flat_map(|pid| threads(*pid)).map(Some).collect(),
        };
        let mut sampler = Sampler {
            events: Vec::new(),
            rings: Vec::new(),
            method,
            removes_maps: order.removes_maps,
            processes: Processes::of(order.pids),
            samples: Vec::new(),
            maps: Maps::default(),
            comms: HashMap::new(),
            lost: [0; 2],
            has_stopped: false,
            started: Instant::now(),
            pace: Pace::new(order.hz),
            ran_ns: None,
            record: Vec::new(),
        };
        for cpu in order.cpus {
            let first = sampler.events.len();
            for thread in &targets {
                let event = match method.open(*thread, *cpu) {
                    // The thread has ended.
                    Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                    event => event?,
                };
                match sampler.events.get(first) {
                    None => sampler.rings.push(Ring::of(&event)?),
                    Some(owner) => Ring::share(owner, &event)?,
                }
                sampler.events.push(event);
            }
        }
        match sampler.events.is_empty() {
            true => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            false => Ok(sampler),
        }
    }

    /// How often `drain` must be called, so that no ring is full in between.
    #[must_use]
    pub fn period(&self) -> Duration {
        Duration::from_millis(if self.method.dwarf_bytes.is_some() { 10 } else { 50 })
    }

    pub fn start(&mut self) -> io::Result<()> {
        for pid in self.processes.all() {
            self.maps.read(pid);
        }
        self.started = Instant::now();
        self.events.iter().try_for_each(enable)
    }

    /// Adds processes that may have begun before `start`, which reports those that begin after it.
    pub fn add(&mut self, pids: &[u32]) {
        self.processes.add(pids);
    }

    /// Takes the samples that have come, and changes the period of the next ones on CPUs. Not of threads: one that runs
    /// seldom, and less than a period between two changes, would have no sample.
    pub fn drain(&mut self) {
        let is_paced = self.method.target == Target::Cpus && !self.has_stopped;
        if is_paced && let Some(period) = self.pace.next(self.started.elapsed()) {
            self.events.iter().for_each(|event| drop(set_period(event, period)));
        }
        self.collect();
    }

    fn collect(&mut self) {
        let has_raw = self.method.dwarf_bytes.is_some();
        let mut records = Vec::new();
        for ring in &mut self.rings {
            ring.drain(&mut self.record, |kind, bytes| records.extend(read(kind, bytes, has_raw)));
        }
        // The fork of a process may be in a later ring than what it has done since.
        let fork = |record: &Record| match *record {
            // Threads are forks of their own process.
            Record::Fork { pid, parent } => (pid != parent).then_some((pid, parent)),
            Record::Sample(_) | Record::Comm { .. } | Record::Map { .. } | Record::Lost(_) => None,
        };
        let forks: Vec<(u32, u32)> = records.iter().filter_map(fork).collect();
        self.processes.add_forks(&forks);
        for (pid, parent) in forks {
            if self.processes.has(pid) {
                self.maps.inherit(pid, parent);
            }
        }
        records.into_iter().for_each(|record| self.take(record));
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Sample(sample) if self.processes.has(sample.pid) => self.samples.push(sample),
            Record::Comm { pid, tid, name } if self.processes.has(pid) => {
                self.comms.insert(tid, name);
            }
            Record::Map { pid, mapping } if self.processes.has(pid) => self.maps.add(pid, mapping),
            Record::Lost(records) => self.lost[usize::from(self.has_stopped)] += records,
            Record::Sample(_) | Record::Comm { .. } | Record::Map { .. } | Record::Fork { .. } => {}
        }
    }

    /// How many samples of the server there are.
    #[must_use]
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// The CPU time of all processes from `start` to `stop`, those that ended included; none if only CPUs were sampled.
    #[must_use]
    pub fn ran_ns(&self) -> Option<u64> {
        self.ran_ns
    }

    /// Whether every process that began since `stop` is known.
    pub(crate) fn knows_all(&self) -> bool {
        self.method.target == Target::Cpus && self.lost[1] == 0
    }

    /// Ends the samples, and notes what the living processes still say of themselves. On CPUs, `drain` still takes note
    /// of processes that begin.
    pub fn stop(&mut self) -> io::Result<()> {
        match self.method.target {
            Target::Cpus => self.events.iter().try_for_each(end_samples)?,
            Target::Threads => {
                self.events.iter().try_for_each(disable)?;
                self.ran_ns = Some(self.events.iter().map(ran_ns).sum::<io::Result<u64>>()?);
            }
        }
        self.collect();
        self.has_stopped = true;
        for pid in self.processes.all() {
            self.maps.read(pid);
            for tid in threads(pid) {
                self.comms.extend(comm(pid, tid).map(|name| (tid, name)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_setaffinity};

    use super::*;

    /// `/proc` no longer says anything of it.
    #[test]
    fn where_threads_are_sampled_the_time_of_a_process_that_ended_is_known() {
        let work = "read go; ( i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done ); exit 0";
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", work]).stdin(Stdio::piped()).spawn().expect("a shell");
        let cpus: Vec<usize> = (0..machine_cpus()).collect();
        let order = SamplerOrder {
            pids: &[shell.id()],
            cpus: &cpus,
            hz: 997,
            dwarf_bytes: None,
            removes_maps: false,
        };
        let mut sampler = Sampler::open_as(&order, Target::Threads, true);
        let started = sampler.as_mut().map(Sampler::start);
        drop(shell.stdin.take());
        shell.wait().expect("our child");
        if let Err(error) = started {
            return println!("skipped: {}", crate::refusal(error));
        }
        let mut sampler = sampler.expect("it was started");
        sampler.stop().expect("their end");
        let user_ns = sampler.samples() as f64 * 1e9 / 997.0;
        let ran_ns = sampler.ran_ns().expect("threads") as f64;
        assert!(0.0 < user_ns && 0.8 * user_ns < ran_ns && ran_ns < 5e9, "{user_ns} {ran_ns}");
    }

    #[test]
    fn on_cpus_the_period_changes_until_the_end_after_which_no_sample_comes() {
        let mut shell =
            Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        let mut here = CpuSet::new();
        let cpu = rustix::thread::sched_getcpu();
        here.set(cpu);
        sched_setaffinity(Pid::from_raw(shell.id() as i32), &here).expect("our child");
        let order = SamplerOrder {
            pids: &[shell.id()],
            cpus: &[cpu],
            hz: 997,
            dwarf_bytes: None,
            removes_maps: false,
        };
        let sampled = Sampler::open_as(&order, Target::Cpus, false).and_then(|mut sampler| {
            sampler.start()?;
            drain_until(&mut sampler, |sampler| 400 <= sampler.samples());
            sampler.stop()?;
            let (ended, count) = (Instant::now(), sampler.samples());
            drain_until(&mut sampler, |_| Duration::from_millis(100) < ended.elapsed());
            Ok((sampler, count))
        });
        drop((shell.kill(), shell.wait()));
        let (sampler, count) = match sampled {
            Ok(sampled) => sampled,
            Err(error) => return println!("skipped: {}", crate::refusal(&error)),
        };
        assert_eq!(sampler.samples(), count, "none comes after the end");
        let gaps = sampler.samples.windows(2).map(|two| two[1].time_ns - two[0].time_ns);
        let short = gaps.filter(|gap| (700_000..970_000).contains(gap)).count();
        assert!(count < 5 * short, "{short} of {count} gaps are shorter than a period of 997 Hz");
    }

    /// For ten seconds at most.
    fn drain_until(sampler: &mut Sampler, is_over: impl Fn(&Sampler) -> bool) {
        let from = Instant::now();
        while !is_over(sampler) && from.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(sampler.period());
            sampler.drain();
        }
    }

    fn machine_cpus() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
