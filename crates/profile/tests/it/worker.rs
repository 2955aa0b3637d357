//! A process that works in functions of known shares, and how tests start it and sample it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use profile::{Profile, Sampler, SamplerOrder, Stack, refusal};

/// The name that a map gives to `work_long`, before and after it is written anew.
pub(crate) const OLD_NAME: &str = "JS:*old";
pub(crate) const NEW_NAME: &str = "JS:*new";
/// Pairs of threads that wake one another.
const PAIRS: usize = 10;
/// Longer than any sampling takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Works in this way until its input ends; what it starts has the same input. The exit code.
pub(crate) fn work(way: &str) -> i32 {
    if way == "mapped" {
        write_map(OLD_NAME);
    }
    if matches!(way, "fork" | "daemon" | "mapped" | "calls") {
        println!("ready");
        let _ = std::io::stdin().read(&mut [0]);
    }
    match way {
        "fork" => start("alone"),
        "daemon" => start("detach"),
        "mapped" => write_map(NEW_NAME),
        "calls" => {
            let program = std::env::current_exe().unwrap();
            let child = Command::new(program).args(["work", "call"]).status();
            call_often();
            return i32::from(!child.is_ok_and(|ended| ended.success()));
        }
        "call" => {
            call_often();
            return 0;
        }
        "detach" => {
            rustix::process::setsid().unwrap();
            start("alone");
            return 0;
        }
        _ => {}
    }
    thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    match way {
        "alone" | "mapped" => loop {
            work_long(300_000);
            work_short(100_000);
        },
        "storm" => storm(),
        _ => loop {
            thread::park();
        },
    }
}

/// So many calls take some milliseconds.
pub(crate) const CALLS: u64 = 100_000;

pub(crate) fn call_often() {
    for _ in 0..CALLS {
        let _ = rustix::process::getppid();
    }
}

/// Starts this program again; it ends at the end of its standard input.
#[expect(clippy::zombie_processes, reason = "a daemon outlives who started it")]
fn start(way: &str) {
    let program = std::env::current_exe().unwrap();
    Command::new(program).args(["work", way]).spawn().unwrap();
}

/// Three parts of the time in one function, one in another.
#[inline(never)]
fn work_long(steps: u64) {
    spin(steps, 1);
}

#[inline(never)]
fn work_short(steps: u64) {
    spin(steps, 2);
}

#[inline(always)]
fn spin(steps: u64, seed: u64) {
    let mut state = seed;
    for _ in 0..steps {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed));
    }
}

/// A map of compiled code that says it has the first bytes of `work_long`.
fn write_map(name: &str) {
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let begin = work_long as *const () as usize;
    let _ = fs::remove_file(&path);
    fs::write(&path, format!("{begin:x} 30 {name}\n")).unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
}

/// Threads that hand a turn to one another, with a little work in each.
fn storm() -> ! {
    thread::scope(|scope| {
        for turn in (0..PAIRS).map(|_| &*Box::leak(Box::new((Mutex::new(false), Condvar::new())))) {
            scope.spawn(|| take_turns(turn, false));
            scope.spawn(|| take_turns(turn, true));
        }
    });
    unreachable!("threads have no end");
}

fn take_turns((turn, changed): &(Mutex<bool>, Condvar), mine: bool) {
    loop {
        let turn = turn.lock().unwrap();
        let mut turn = changed.wait_while(turn, |turn| *turn != mine).unwrap();
        work_long(1_000);
        *turn = !mine;
        changed.notify_one();
    }
}

/// A worker; its input ends with this, and so it does.
pub(crate) struct Worker(pub(crate) Child);

impl Worker {
    /// Has begun to work, or waits for `go`.
    pub(crate) fn start(way: &str) -> Worker {
        let program = std::env::current_exe().unwrap();
        Worker::of(Command::new(program).args(["work", way]))
    }

    pub(crate) fn of(command: &mut Command) -> Worker {
        Worker(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits until it is ready for `go`; whether it lives.
    pub(crate) fn is_ready(&mut self) -> bool {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line == "ready\n"
    }

    pub(crate) fn go(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"x").unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A sampler of this process and all that it starts, on all CPUs; none where the kernel refuses it, which is said.
pub(crate) fn sampler(pid: u32, dwarf_bytes: Option<u32>) -> Option<Sampler> {
    let count = thread::available_parallelism().unwrap().get();
    let cpus: Vec<usize> = (0..count).collect();
    let order =
        SamplerOrder { pids: &[pid], cpus: &cpus, hz: 997, dwarf_bytes, removes_maps: true };
    let sampler = Sampler::open(&order);
    if let Err(error) = &sampler {
        println!("SKIPPED: {}", refusal(error));
    }
    sampler.ok()
}

/// Samples until there are so many.
pub(crate) fn sample(sampler: &mut Sampler, least: usize) {
    let began = Instant::now();
    while sampler.samples() < least {
        assert!(began.elapsed() < PATIENCE, "{} of {least} samples", sampler.samples());
        thread::sleep(sampler.period());
        sampler.drain();
    }
}

/// Samples of a worker, until there are so many.
pub(crate) fn sampled(pid: u32, dwarf_bytes: Option<u32>, least: usize) -> Option<Profile> {
    let mut sampler = sampler(pid, dwarf_bytes)?;
    sampler.start().unwrap();
    sample(&mut sampler, least);
    sampler.stop().unwrap();
    Some(sampler.folded(&[], "/nowhere"))
}

/// The samples that a function has with all that it calls.
pub(crate) fn by_function(folded: &Profile) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    for stack in &folded.stacks {
        for function in &stack.functions {
            *all.entry(folded.functions[*function as usize].as_str()).or_default() +=
                stack.samples();
        }
    }
    all
}

pub(crate) fn total(folded: &Profile) -> u64 {
    folded.stacks.iter().map(Stack::samples).sum()
}

/// Nearly all samples are in the two functions, three parts in one and one in the other.
#[track_caller]
pub(crate) fn has_shares(folded: &Profile) {
    let all = by_function(folded);
    let samples = |name: &str| {
        let found = all.iter().find(|(function, _)| function.ends_with(name));
        found.map_or(0, |(_, samples)| *samples) as f64
    };
    let (long, short) = (samples("::work_long"), samples("::work_short"));
    assert!(0.9 * total(folded) as f64 <= long + short, "{long} and {short}: {all:?}");
    // Of 300 samples, the standard error of the share is 0.025.
    let share = long / (long + short);
    assert!((0.63..0.87).contains(&share), "{share}");
}

/// A copy of this program, which no test but one has. Its name is no UTF-8.
pub(crate) fn copy(name: &str) -> std::path::PathBuf {
    let name = format!("{name}-{}-", std::process::id()).into_bytes();
    let path = std::env::temp_dir().join(OsString::from_vec([&name[..], &[0xff]].concat()));
    fs::copy(std::env::current_exe().unwrap(), &path).unwrap();
    path
}

pub(crate) fn start_as(program: &Path, way: &str) -> Worker {
    Worker::of(Command::new(program).args(["work", way]))
}
