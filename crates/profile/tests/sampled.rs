//! A child of known work is sampled: this program again, in a test that is otherwise ignored.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use profile::{Folded, Sampler, SamplerOrder, Side};

/// Three parts of the time in one function, one in another.
#[test]
#[ignore = "it is the child of other tests"]
fn child() {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        work_long(300_000);
        work_short(100_000);
    }
}

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

struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start() -> Guard {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--ignored", "--exact", "child", "--test-threads=1"]);
    Guard(command.stdout(Stdio::null()).spawn().expect("a child"))
}

/// Samples of the child until there are so many.
fn sampled(dwarf_bytes: Option<u32>, least: usize) -> Option<Folded> {
    let child = start();
    let pids = [child.0.id()];
    let cpus: Vec<usize> =
        (0..std::thread::available_parallelism().map_or(1, usize::from)).collect();
    let order = SamplerOrder { pids: &pids, cpus: &cpus, hz: 997, dwarf_bytes };
    let mut sampler = match Sampler::open(&order) {
        Ok(sampler) => sampler,
        Err(error) => {
            println!("skipped: {}", profile::refusal(&error));
            return None;
        }
    };
    sampler.start().expect("samples");
    while sampler.samples() < least {
        std::thread::sleep(sampler.period());
        sampler.drain();
    }
    sampler.stop().expect("an end");
    Some(sampler.folded(&[], "/nowhere"))
}

fn by_function(folded: &Folded) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    for stack in &folded.stacks {
        for function in &stack.functions {
            *all.entry(folded.functions[*function as usize].as_str()).or_default() +=
                stack.samples();
        }
    }
    all
}

fn check_shares(folded: &Folded) {
    let all = by_function(folded);
    let samples = |name: &str| {
        let found = all.iter().find(|(function, _)| function.ends_with(name));
        found.map_or(0, |(_, samples)| *samples) as f64
    };
    let (long, short) = (samples("::work_long"), samples("::work_short"));
    let total: u64 = folded.stacks.iter().map(profile::Stack::samples).sum();
    assert!(0.9 * total as f64 <= long + short, "{long} and {short} of {total}: {all:?}");
    // 600 samples: the standard error of the share is 0.018.
    let share = long / (long + short);
    assert!((0.65..0.85).contains(&share), "{share}");
    let program =
        folded.lines.iter().any(|line| line.side == Side::Program && line.name == "crate sampled");
    assert!(program, "{:?}", folded.lines);
}

#[test]
fn a_function_has_its_share_by_frame_pointers() {
    if let Some(folded) = sampled(None, 600) {
        check_shares(&folded);
    }
}

#[test]
fn a_stack_by_dwarf_reaches_the_program_s_main() {
    let Some(folded) = sampled(Some(8192), 600) else { return };
    check_shares(&folded);
    let total: u64 = folded.stacks.iter().map(profile::Stack::samples).sum();
    let below = by_function(&folded)
        .iter()
        .filter(|(name, _)| {
            name.contains("clone") || name.contains("thread_start") || name.ends_with("main")
        })
        .map(|(_, samples)| *samples)
        .max();
    assert!(
        0.9 * total as f64 <= below.unwrap_or(0) as f64,
        "{below:?} of {total}: {:?}",
        by_function(&folded)
    );
}
