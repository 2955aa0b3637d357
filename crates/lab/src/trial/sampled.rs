//! A trial that is sampled: beside its load, a thread takes samples of the server's stacks and then counts its system
//! calls. Nothing else that the trial measures is used.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use load::{CpuReader, Halt, Nanos, Recording};
use machine::conditions::Cpus;
use profile::{
    CallCounter, Calls, Profile, Sampler, SamplerOrder, refusal, waited_ns, waited_since,
};

use super::Trial;
use super::running_server::processes;
use crate::build::step::ends_within;
use crate::command::Placeholders;
use crate::plan::seed_of;
use crate::probe::{Probe, Why};
use crate::record::TrialKey;

/// Samples are taken for so long, and then until there are enough of them, but no longer than `LONGEST`.
const SHORTEST: Duration = Duration::from_secs(2);
const ENOUGH: usize = 3_000;
const LONGEST: Duration = Duration::from_secs(10);
/// Then system calls are counted for so long.
const CALLS: Duration = Duration::from_secs(1);
/// A load counts its answers in windows that are so long.
const WINDOW: Duration = Duration::from_millis(100);
/// A load that is sampled lasts so long at most: it ends when the samples do.
pub const SAMPLED_LOAD: Duration = Duration::from_secs(15);
/// A runtime compiles what it runs often: it has at least so long for it.
pub const LEAST_WARMUP: Duration = Duration::from_secs(1);
/// A command that writes names has so long.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a sampled trial is told, and what it leaves.
#[derive(Debug)]
pub struct Sampling<'a> {
    pub probes: &'a [Probe],
    pub hz: u32,
    /// The profile, or why there is none; nothing until the trial has come so far.
    pub found: Mutex<Option<Result<Profile, String>>>,
}

impl Sampling<'_> {
    /// The variables that give names to a runtime's functions.
    pub(super) fn names_env(&self) -> impl Iterator<Item = (String, String)> {
        self.whys().flat_map(|why| why.env.clone())
    }

    /// How long to wait before the first sample.
    fn phase(&self, key: &TrialKey) -> Duration {
        Duration::from_nanos(seed_of(0x51e5, key) % (1_000_000_000 / u64::from(self.hz)))
    }

    /// What was found, once the load is over, which ended so or with an error of its own.
    pub fn into_found(self, failed: Option<String>) -> Result<Profile, String> {
        let found = self.found.into_inner().ok().flatten();
        let profile = match (failed, found) {
            (_, Some(Err(says))) | (Some(says), _) => return Err(says),
            (None, None) => return Err("the load ended before its samples".into()),
            (None, Some(Ok(profile))) => profile,
        };
        match profile.answers {
            0 => Err("no right answer came while it was sampled".into()),
            _ => Ok(profile),
        }
    }

    /// What probes say of runtimes.
    fn whys(&self) -> impl Iterator<Item = &Why> {
        self.probes.iter().filter_map(|probe| probe.why.as_ref())
    }
}

/// The server that is sampled: all that the sampler's thread needs.
pub(super) struct SampledServer<'a> {
    sampling: &'a Sampling<'a>,
    /// Its processes now.
    pids: Box<dyn Fn() -> Vec<u32> + Sync + 'a>,
    /// The CPU time that it has used.
    cpu: Mutex<Option<CpuReader>>,
    /// The CPUs on which it runs.
    cpus: Vec<usize>,
    /// Its own folder: paths in names are said from here.
    folder: String,
    dwarf_bytes: Option<u32>,
    /// dyno has started it, with the variables that give names.
    is_started: bool,
    warmup: Duration,
    /// Of a server that works at a constant rate, no sample may always meet the same instant of its work.
    phase: Duration,
}

/// A profile without the answers of its time, which the load counts.
struct Taken {
    profile: Profile,
    /// When samples were taken, and when calls were counted.
    sampled: (Instant, Instant),
    counted: (Instant, Instant),
}

impl<'a> Trial<'a, '_> {
    /// What is sampled of these processes, if this trial is to be.
    pub(super) fn sampled_server(
        &self,
        pids: Box<dyn Fn() -> Vec<u32> + Sync + 'a>,
        cpu: Option<CpuReader>,
    ) -> Option<SampledServer<'a>> {
        let sampling = self.setup.beside.sampling?;
        let subject = self.candidate.subject;
        let own: Vec<usize> = self.setup.split.subject.iter().collect();
        Some(SampledServer {
            sampling,
            pids,
            cpu: Mutex::new(cpu),
            // One that runs already may run anywhere.
            cpus: match subject.serving.command() {
                Some(_) => own,
                None => Cpus::available().map_or(own, |cpus| cpus.iter().collect()),
            },
            folder: self.candidate.built.folder.display().to_string(),
            dwarf_bytes: subject.dwarf_bytes,
            is_started: subject.serving.command().is_some(),
            warmup: self.setup.experiment.warmup,
            phase: sampling.phase(self.key),
        })
    }
}

/// Loads a server of this machine that runs already, and is in no trial, with samples beside the load.
pub fn beside_load<T>(
    sampling: &Sampling<'_>,
    (port, warmup, key): (u16, Duration, &TrialKey),
    stop: &Halt,
    press: impl FnOnce() -> T,
    recording: impl Fn(&T) -> Option<&Recording>,
) -> T {
    let found = processes(port);
    let cwd = found.first().and_then(|pid| std::fs::read_link(format!("/proc/{pid}/cwd")).ok());
    let server = SampledServer {
        sampling,
        pids: Box::new(move || processes(port)),
        cpu: Mutex::new(None),
        cpus: Cpus::available().map_or(Vec::new(), |cpus| cpus.iter().collect()),
        folder: cwd.map_or("-".into(), |cwd| cwd.display().to_string()),
        dwarf_bytes: None,
        is_started: false,
        warmup,
        phase: sampling.phase(key),
    };
    beside_samples(Some(&server), stop, press, recording)
}

/// Loads, with samples beside the load where the trial is sampled.
pub(super) fn beside_samples<T>(
    server: Option<&SampledServer<'_>>,
    stop: &Halt,
    press: impl FnOnce() -> T,
    recording: impl Fn(&T) -> Option<&Recording>,
) -> T {
    let Some(server) = server else { return press() };
    let began = Instant::now();
    std::thread::scope(|scope| {
        let samples = scope.spawn(|| {
            let taken = server.take(began, stop);
            stop.ask();
            taken
        });
        let pressed = press();
        stop.ask();
        let taken = samples.join().unwrap_or_else(|_| Err("the sampler failed".into()));
        let found = taken.map(|taken| taken.with_answers(began, recording(&pressed)));
        if let Ok(mut slot) = server.sampling.found.lock() {
            *slot = Some(found);
        }
        pressed
    })
}

impl SampledServer<'_> {
    fn take(&self, began: Instant, stop: &Halt) -> Result<Taken, String> {
        wait_until(began + self.warmup, stop)?;
        let pids = (self.pids)();
        let whys: Vec<&Why> = self.sampling.whys().collect();
        let meant = meant(&whys, &pids);
        let dwarf_bytes = meant.iter().filter_map(|why| why.dwarf_bytes).chain(self.dwarf_bytes);
        let order = SamplerOrder {
            pids: &pids,
            cpus: &self.cpus,
            hz: self.sampling.hz,
            dwarf_bytes: dwarf_bytes.max(),
            removes_maps: self.is_started || meant.iter().any(|why| why.before_end.is_some()),
        };
        let mut sampler = Sampler::open(&order).map_err(|error| refusal(&error))?;
        let failed = |error: std::io::Error| format!("samples: {error}");
        let cpu_ns = |pids: &[u32]| match self.cpu.lock().as_deref() {
            Ok(Some(cpu)) => cpu(),
            Ok(None) | Err(_) => machine::monitor::cpu_ns_of(pids),
        };
        std::thread::sleep(self.phase);
        let waited_before = waited_ns(&pids);
        sampler.start().map_err(failed)?;
        let (from, cpu_before) = (Instant::now(), cpu_ns(&pids));
        sampler.add(&(self.pids)());
        while !is_enough(from.elapsed(), sampler.samples()) && !stop.is_asked() {
            std::thread::sleep(sampler.period());
            sampler.drain();
        }
        let known: BTreeSet<u32> = pids.iter().copied().chain((self.pids)()).collect();
        let known: Vec<u32> = known.into_iter().collect();
        let (until, cpu_after) = (Instant::now(), cpu_ns(&known));
        sampler.stop().map_err(failed)?;
        let waited_for_cpu_ns = waited_since(&waited_before, &known);
        let used_ns = cpu_before.zip(cpu_after).map(|(before, after)| after.saturating_sub(before));
        let cpu_ns = sampler.ran_ns().or(used_ns).unwrap_or(0);
        let (calls, counted) = count(&mut sampler, began, stop);
        // What follows slows the load down, which the last window must not show.
        drop(wait_until(next_window(began), stop));
        write_names(&whys, &pids);
        let runtimes: Vec<profile::Runtime> = whys.iter().map(|why| why.runtime.clone()).collect();
        let profile = Profile {
            sampled_ns: until.duration_since(from).as_nanos() as u64,
            cpu_ns,
            waited_for_cpu_ns,
            calls,
            with_flags: self.is_started && meant.iter().any(|why| !why.env.is_empty()),
            ..sampler.folded(&runtimes, &self.folder)
        };
        Ok(Taken { profile, sampled: (from, until), counted })
    }
}

/// The system calls of the server whose samples have ended, in whole windows of the load: there the answers are known
/// exactly. And when they were counted.
fn count(
    sampler: &mut Sampler,
    began: Instant,
    stop: &Halt,
) -> (Result<Calls, String>, (Instant, Instant)) {
    let counter = match CallCounter::open() {
        Ok(counter) => counter,
        Err(says) => return (Err(says), (began, began)),
    };
    // Not before: to open it may take longer than what is left of a window.
    let from = next_window(began);
    drop(wait_until(from, stop));
    let begun = counter.start();
    loop {
        let left = (from + CALLS).saturating_duration_since(Instant::now());
        if left.is_zero() || stop.is_asked() {
            break;
        }
        sampler.drain();
        std::thread::sleep(left.min(sampler.period()));
    }
    let counted = (begun, counter.pause());
    (counter.stop(sampler).map(|counts| Calls { answers: 0, counts }), counted)
}

impl Taken {
    /// With the answers that came meanwhile; none if the load recorded nothing.
    fn with_answers(self, began: Instant, recording: Option<&Recording>) -> Profile {
        let mut profile = self.profile;
        let answers = |(from, until): (Instant, Instant)| {
            let [from, until] =
                [from, until].map(|instant| instant.duration_since(began).as_nanos() as Nanos);
            recording.map_or(0.0, |recording| answered(recording, from, until))
        };
        profile.answers = answers(self.sampled).round() as u64;
        if let Ok(calls) = &mut profile.calls {
            calls.answers = answers(self.counted).round() as u64;
        }
        profile
    }
}

/// Correct answers between two instants of a load's clock; of a window that is cut, its share of the time.
fn answered(recording: &Recording, from: Nanos, until: Nanos) -> f64 {
    let share = |window: &load::Window| {
        let inside = window.until.min(until).saturating_sub(window.from.max(from));
        let length = window.until.saturating_sub(window.from).max(1);
        window.correct as f64 * inside as f64 / length as f64
    };
    recording.windows.iter().map(share).sum()
}

fn is_enough(elapsed: Duration, samples: usize) -> bool {
    LONGEST <= elapsed || SHORTEST <= elapsed && ENOUGH <= samples
}

fn wait_until(instant: Instant, stop: &Halt) -> Result<(), String> {
    while !stop.is_asked() {
        match instant.checked_duration_since(Instant::now()) {
            None => return Ok(()),
            Some(left) => std::thread::sleep(left.min(Duration::from_millis(20))),
        }
    }
    Err("the load ended before its samples".into())
}

/// The next instant at which a load that began then begins a window: what is counted in whole windows is counted exactly.
fn next_window(began: Instant) -> Instant {
    let past = began.elapsed().as_nanos() / WINDOW.as_nanos();
    began + WINDOW * (past as u32 + 1)
}

/// What is said of the runtimes of these processes.
fn meant<'w>(whys: &[&'w Why], pids: &[u32]) -> Vec<&'w Why> {
    let names: Vec<String> = pids.iter().filter_map(|pid| profile::executable(*pid)).collect();
    let is_meant = |why: &&&Why| names.iter().any(|name| why.runtime.is_named(name));
    whys.iter().filter(is_meant).copied().collect()
}

/// Lets runtimes write the names of what they compiled; one that cannot has fewer names.
fn write_names(whys: &[&Why], pids: &[u32]) {
    for pid in pids {
        let Some(name) = profile::executable(*pid) else { continue };
        for why in whys.iter().filter(|why| why.runtime.is_named(&name)) {
            let Some(command) = &why.before_end else { continue };
            let number = pid.to_string();
            let words = command.fill_known(Placeholders { known: &[("pid", &number)] });
            let mut command = Command::new(&words[0]);
            command
                .args(&words[1..])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .process_group(0);
            // As the server's user: what it writes is that user's file.
            if let (Ok(facts), true) =
                (std::fs::metadata(format!("/proc/{pid}")), rustix::process::geteuid().is_root())
            {
                command.uid(facts.uid()).gid(facts.gid());
            }
            let Ok(mut child) = command.spawn() else { continue };
            let _ = ends_within(&mut child, PATIENCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_end_when_there_are_enough_and_never_before_two_seconds() {
        assert!(!is_enough(Duration::from_millis(1_999), 100_000));
        assert!(is_enough(Duration::from_secs(2), ENOUGH));
        assert!(!is_enough(Duration::from_secs(9), ENOUGH - 1));
        assert!(is_enough(LONGEST, 0));
    }
}
