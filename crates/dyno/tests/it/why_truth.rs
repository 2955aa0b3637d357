//! Profiles of `dyno serve --burn`, whose functions take a time that is known: by the thread's CPU clock around one call in
//! 64 of the same process.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use analysis::why::{Explanation, FunctionCost, Sampled, explain};
use analysis::{Estimate, Number};
use lab::figure::Fold;
use load::Chance;
use profile::{Profile, Sampler, SamplerOrder};
use rustix::process::{Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde_json::Value;

use crate::rig::{in_one_of_five, pid};
use crate::serve::Serving;

const DYNO: &str = env!("CARGO_BIN_EXE_dyno");
/// Functions, the dearest first.
const BURNT: [&str; 4] = ["parse", "render", "collect", "route"];
const BASE: &str = "parse:8us,render:4us,collect:2us,route:1us";
const DEARER: &str = "parse:8us,render:5us,collect:2us,route:1us";
const HZ: u32 = 997;

/// A server, the load on it, and how it is sampled.
struct Plan<'a> {
    serve: &'a [&'a str],
    load: &'a [&'a str],
    hz: u32,
    time: Duration,
    pace: Pace,
}

/// Whether the sampler changes its period, as it does in the product.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Changes,
    /// The period changes when samples are taken from the ring: here they stay in it until the end.
    IsConstant,
}

/// One trial of these burns under a closed loop.
fn closed(burns: &str, time: Duration) -> Option<Trial> {
    let plan =
        Plan { serve: &["--burn", burns], load: &["-c", "20"], hz: HZ, time, pace: Pace::Changes };
    plan.run()
}

impl Plan<'_> {
    /// A fresh process, sampled once; none where the kernel refuses that, which is said.
    fn run(&self) -> Option<Trial> {
        let server = serving(self.serve);
        let pids = [server.child.id()];
        let (of_server, of_load) = two_cpus();
        let order = SamplerOrder {
            pids: &pids,
            cpus: &[of_server],
            hz: self.hz,
            dwarf_bytes: None,
            removes_maps: false,
        };
        let mut sampler = match Sampler::open(&order) {
            Ok(sampler) => sampler,
            Err(error) => {
                skipped(&profile::refusal(&error));
                return None;
            }
        };
        let before = cpu_ns(pids[0]);
        let load = Busy::start(of_load, &server.url, self.load);
        while cpu_ns(pids[0]) < before + 50_000_000 {
            thread::sleep(Duration::from_millis(5));
        }
        let profile = self.sampled(&mut sampler, pids[0]);
        drop(load);
        let whole = cpu_ns(pids[0]) - before;
        let truth: Value = serde_json::from_str(&server.end()).expect("its truth as JSON");
        let answers = truth["answers"].as_u64().expect("a count") as f64;
        let cpu_us = whole as f64 / 1_000.0 / answers;
        let means = truth["burns"].as_array().expect("burns").iter();
        let answers_sampled = profile.cpu_ns as f64 / 1_000.0 / cpu_us;
        let profile = Profile { answers: answers_sampled as u64, ..profile };
        let truth = means.map(|burn| us_of_answer(burn, answers)).collect();
        Some(Trial { profile, cpu_us, truth })
    }

    /// Samples of a server under load; without its answers, which are not known yet.
    fn sampled(&self, sampler: &mut Sampler, pid: u32) -> Profile {
        let (from, begun) = (Instant::now(), cpu_ns(pid));
        sampler.start().expect("samples");
        // On a busy machine a short trial goes on until it has as many samples as on an idle one.
        let is_thin = |sampler: &Sampler| sampler.samples() < SAMPLES && from.elapsed() < THIN_MOST;
        while from.elapsed() < self.time || is_thin(sampler) {
            thread::sleep(sampler.period());
            match self.pace {
                Pace::Changes => sampler.drain(),
                Pace::IsConstant => {}
            }
        }
        let used_ns = cpu_ns(pid) - begun;
        sampler.stop().expect("their end");
        Profile { cpu_ns: used_ns, ..sampler.folded(&[], "/") }
    }
}

/// What a function truly takes of an answer's time, on average.
fn us_of_answer(burn: &Value, answers: f64) -> f64 {
    let (mean_ns, calls) = (burn["mean_ns"].as_f64(), burn["calls"].as_f64());
    mean_ns.expect("a mean") / 1_000.0 * calls.expect("a count") / answers
}

const SAMPLES: usize = 200;
const THIN_MOST: Duration = Duration::from_secs(3);

/// What one process showed, and what is true of it.
struct Trial {
    profile: Profile,
    /// CPU time of an answer.
    cpu_us: f64,
    /// What each function takes of an answer, in µs.
    truth: Vec<f64>,
}

/// A server with these flags.
fn serving(flags: &[&str]) -> Serving {
    let mut serve = Command::new(DYNO);
    serve.args(["serve", "--threads", "1", "--listen", "127.0.0.1:0", "--json"]).args(flags);
    Serving::of(on_cpu(two_cpus().0, serve.stdout(Stdio::piped())))
}

/// A load; it has ended when this is dropped.
struct Busy(Child);

impl Busy {
    fn start(cpu: usize, url: &str, flags: &[&str]) -> Busy {
        let mut load = Command::new(DYNO);
        load.args(["load", &format!("{url}/hello"), "-d", "120s", "--no-live", "--json"]);
        load.args(flags).stdout(Stdio::null()).stderr(Stdio::null());
        Busy(on_cpu(cpu, &mut load))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = kill_process(pid(&self.0), Signal::INT);
        let _ = self.0.wait();
    }
}

/// Said where the output of a test is not kept back.
pub(crate) fn skipped(says: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {says}");
}

/// The first two CPUs of this process; twice the same if there is only one.
fn two_cpus() -> (usize, usize) {
    let mine = sched_getaffinity(None).expect("the CPUs of this thread");
    let mut all = (0..CpuSet::MAX_CPU).filter(|cpu| mine.is_set(*cpu));
    let first = all.next().expect("a CPU");
    (first, all.next().unwrap_or(first))
}

/// Starts it there.
fn on_cpu(cpu: usize, command: &mut Command) -> Child {
    let mine = sched_getaffinity(None).expect("the CPUs of this thread");
    let mut there = CpuSet::new();
    there.set(cpu);
    sched_setaffinity(None, &there).expect("one of its own");
    let child = command.stdin(Stdio::null()).spawn();
    sched_setaffinity(None, &mine).expect("what it had");
    child.expect("dyno has been built")
}

/// The CPU time that the threads of a process have used.
fn cpu_ns(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it lives").flatten();
    let texts =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    texts.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum()
}

/// The CPU time of the same trials: each is a round.
fn rounds(trials: &[&Trial]) -> Estimate {
    let number =
        |trial: &&Trial| Number { value: trial.cpu_us, is_bound: false, is_supported: true };
    let numbers: Vec<Number> = trials.iter().map(number).collect();
    Estimate::of(&numbers, Fold::Factors).expect("trials")
}

/// What the product says of one server, or of two.
fn explained(servers: &[&[&Trial]]) -> Explanation {
    let profiles: Vec<Vec<Profile>> = servers
        .iter()
        .map(|trials| trials.iter().map(|trial| trial.profile.clone()).collect())
        .collect();
    let sampled: Vec<Sampled<'_>> = servers
        .iter()
        .zip(&profiles)
        .map(|(trials, profiles)| Sampled {
            server: "a",
            trials: profiles,
            measured: rounds(trials),
        })
        .collect();
    explain(&sampled)
}

/// Explains trials with the CPU time of an answer that these trials themselves had, which is exact.
fn explained_exactly(trials: &[&Trial]) -> Explanation {
    let profiles: Vec<Profile> = trials.iter().map(|trial| trial.profile.clone()).collect();
    let value = mean(trials.iter().map(|trial| trial.cpu_us));
    let exact = Estimate { value, low: Some(value), high: Some(value), ..rounds(trials) };
    explain(&[Sampled { server: "a", trials: &profiles, measured: exact }])
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    all.iter().sum::<f64>() / all.len() as f64
}

fn cost<'e>(found: &'e Explanation, function: &str) -> Option<&'e FunctionCost> {
    let ending = format!("::{function}");
    found.servers[0].functions.iter().find(|cost| cost.name.ends_with(&ending))
}

/// What of two servers is claimed to differ.
fn claims(found: &Explanation) -> Vec<String> {
    let difference = found.difference.as_ref().expect("two servers with samples");
    let lines = difference.lines.iter().filter(|line| line.is_shown).map(|line| &line.line.name);
    lines.chain(difference.functions.iter().map(|function| &function.name)).cloned().collect()
}

fn names(found: &Explanation, function: &str) -> bool {
    let difference = found.difference.as_ref().expect("two servers with samples");
    let ending = format!("::{function}");
    difference.functions.iter().any(|it| it.is_leading && it.name.ends_with(&ending))
}

/// Short trials of three servers, of which two are equal: the campaign (`make why-truth`) has long ones, and more.
#[test]
fn what_functions_cost_is_found_and_what_differs_is_named() {
    in_one_of_five(|| {
        let time = Duration::from_millis(250);
        let mut servers = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..3 {
            let burns = [BASE, BASE, "parse:8us,render:12us,collect:2us,route:1us"];
            for (trials, burns) in servers.iter_mut().zip(burns) {
                let Some(trial) = closed(burns, time) else { return };
                trials.push(trial);
            }
        }
        let [base, equal, dearer] =
            servers.each_ref().map(|trials| trials.iter().collect::<Vec<_>>());
        let found = explained_exactly(&base);
        let costs = BURNT.map(|function| cost(&found, function).expect(function).cpu);
        assert!(costs.is_sorted_by(|a, b| a.us > b.us), "{costs:?}");
        for (place, cost) in costs.iter().enumerate() {
            let truth = mean(base.iter().map(|trial| trial.truth[place]));
            let half = (cost.high_us.unwrap() - cost.low_us.unwrap()) / 2.0;
            assert!((cost.us - truth).abs() < 3.0 * half, "{truth} is not in {cost:?}");
        }
        assert_eq!(claims(&explained(&[&base, &equal])), [""; 0]);
        let found = explained(&[&base, &dearer]);
        assert!(names(&found, "render"), "{:?}", claims(&found));
    });
}

/// So many trials of the server are taken, and so many of one with a dearer function.
const TRIALS: usize = 120;
const DEARER_TRIALS: usize = 30;
const RUNS: usize = 40;
/// As many as a race has.
const SAMPLED_TRIALS: usize = analysis::why::SAMPLED_TRIALS;

#[test]
#[ignore = "a campaign of eight minutes: make why-truth"]
fn campaign() {
    let time = Duration::from_secs(2);
    let (mut base, mut dearer) = (Vec::new(), Vec::new());
    let began = Instant::now();
    while base.len() < TRIALS {
        // Those of the other server are among them, so that a machine that changes changes both.
        let is_dearer = dearer.len() * TRIALS < base.len() * DEARER_TRIALS;
        let (trials, burns) = if is_dearer { (&mut dearer, DEARER) } else { (&mut base, BASE) };
        match closed(burns, time) {
            Some(trial) => trials.push(trial),
            None => return,
        }
    }
    let took = began.elapsed().as_secs();
    let samples: u64 = base.iter().map(|trial| trial.profile.samples()).sum();
    println!(
        "{} processes of {BASE}, {} with {DEARER}, 2 s each, in {took} s; {} samples each, {:.1} µs an answer",
        base.len(),
        dearer.len(),
        samples / base.len() as u64,
        mean(base.iter().map(|trial| trial.cpu_us))
    );
    print!("{}", coverage(&base));
    print!("{}", differences(&base, &dearer));
}

#[test]
#[ignore = "a campaign of two minutes: make why-truth"]
fn campaign_of_rhythms() {
    print!("{}", bursts());
    print!("{}", aliasing());
}

/// The error of the truth of one trial, by function: how far its mean lies from what the function's share of all work says.
/// How fast the CPU was in this trial is the same for all functions, and no error.
fn truth_errors(trials: &[Trial]) -> [f64; 4] {
    let usual: [f64; 4] = std::array::from_fn(|at| mean(trials.iter().map(|it| it.truth[at])));
    let whole: f64 = usual.iter().sum();
    std::array::from_fn(|at| {
        let off = |trial: &Trial| {
            let speed = trial.truth.iter().sum::<f64>() / whole;
            (trial.truth[at] - usual[at] * speed).powi(2)
        };
        mean(trials.iter().map(off)).sqrt()
    })
}

/// Runs of three trials each: whether their intervals hold the truth of these trials.
fn coverage(trials: &[Trial]) -> String {
    let errors = truth_errors(trials);
    let (mut held, mut held_strictly, mut ordered) = ([0; 4], [0; 4], 0);
    let (mut widths, mut off) = (vec![Vec::new(); 4], [0.0; 4]);
    for run in trials.chunks(TRIALS / RUNS) {
        let run: Vec<&Trial> = run.iter().collect();
        let found = explained_exactly(&run);
        let costs = BURNT.map(|function| cost(&found, function).expect(function).cpu);
        ordered += usize::from(costs.is_sorted_by(|a, b| a.us > b.us));
        for (at, cost) in costs.iter().enumerate() {
            let truth = mean(run.iter().map(|trial| trial.truth[at]));
            let half = (cost.high_us.unwrap() - cost.low_us.unwrap()) / 2.0;
            let error = 1.96 * errors[at] / (run.len() as f64).sqrt();
            held_strictly[at] += usize::from((cost.us - truth).abs() <= half);
            held[at] += usize::from((cost.us - truth).abs() <= half.hypot(error));
            widths[at].push(100.0 * half / truth);
            off[at] += (cost.us - truth) / RUNS as f64;
        }
    }
    let mut table = String::from(
        "function  truth µs  error of it  mean deviation  held of 40  without the truth's error  median ± %\n",
    );
    for (at, function) in BURNT.iter().enumerate() {
        let truth = mean(trials.iter().map(|trial| trial.truth[at]));
        widths[at].sort_by(f64::total_cmp);
        let _ = writeln!(
            table,
            "{function:<8}{truth:>10.3}{:>13.3}{:>+16.3}{:>12}{:>27}{:>12.1}",
            errors[at],
            off[at],
            held[at],
            held_strictly[at],
            widths[at][RUNS / 2]
        );
    }
    let _ = writeln!(table, "the order of the four is right in {ordered} of {RUNS}");
    assert!(36 * 4 <= held.iter().sum::<usize>(), "nine in ten:\n{table}");
    assert!(widths[0][RUNS / 2] <= 8.0, "{table}");
    assert_eq!(ordered, RUNS, "{table}");
    table
}

/// So many of them, each once, by chance.
fn drawn<'t>(trials: &'t [Trial], count: usize, chance: &mut Chance) -> Vec<&'t Trial> {
    let mut all: Vec<&Trial> = trials.iter().collect();
    for at in 0..count {
        let from = at + chance.below(all.len() - at);
        all.swap(at, from);
    }
    all.truncate(count);
    all
}

/// Pairs as a race has them, drawn from all trials: of equals, and with 1 µs more in `render`.
fn differences(base: &[Trial], dearer: &[Trial]) -> String {
    let mut chance = Chance::new(1);
    let (mut wrong, mut named, mut others) = (Vec::new(), 0, Vec::new());
    for _ in 0..RUNS {
        let both = drawn(base, 2 * SAMPLED_TRIALS, &mut chance);
        let (a, b) = both.split_at(SAMPLED_TRIALS);
        let claimed = claims(&explained(&[a, b]));
        if !claimed.is_empty() {
            wrong.push(claimed);
        }
        let b = drawn(dearer, SAMPLED_TRIALS, &mut chance);
        let found = explained(&[a, &b]);
        match names(&found, "render") {
            true => named += 1,
            false => others.push(claims(&found)),
        }
    }
    assert!(wrong.len() <= 5, "{wrong:?}");
    format!(
        "pairs of equals that claim anything: {} of {RUNS} {wrong:?}\n\
         pairs with 1 µs more in render that name it: {named} of {RUNS}, else {others:?}\n",
        wrong.len()
    )
}

/// A server that works at a constant rate, sampled at this rate and at another, by a constant period and by those of the
/// product.
fn aliasing() -> String {
    let mut table = String::from("1,000 requests/s of 300 µs, five trials of 4 s:\n");
    for (hz, pace) in
        [1_000, HZ].into_iter().flat_map(|hz| [(hz, Pace::IsConstant), (hz, Pace::Changes)])
    {
        let plan = Plan {
            serve: &["--burn", "parse:300us"],
            load: &["-c", "20", "--rate", "1000", "--arrivals", "constant"],
            hz,
            time: Duration::from_secs(4),
            pace,
        };
        let trials: Vec<Trial> = (0..5).filter_map(|_| plan.run()).collect();
        let _ = write!(table, "at {hz} Hz, whose period {pace:?}: samples of those expected");
        for trial in &trials {
            let expected = trial.profile.cpu_ns as f64 / 1e9 * f64::from(hz);
            let _ = write!(table, " {}/{expected:.0}", trial.profile.samples());
        }
        let all: Vec<&Trial> = trials.iter().collect();
        let found = explained(&[&all]);
        let doubts = found.servers[0].doubts.iter().map(analysis::Doubt::id);
        let _ = writeln!(table, "; doubts {:?}", doubts.collect::<Vec<_>>());
    }
    table
}

/// A function that works for 5 ms in one answer of a thousand: what the product says of two trials, and what it would
/// say if samples did not depend on one another.
fn bursts() -> String {
    let (mut held, mut held_as_binomial, mut all) = (0, 0, 0);
    let mut deviation = 0.0;
    while all < 10 {
        let time = Duration::from_secs(2);
        let trials = [(); 2].map(|()| closed("parse:8us,collect:5ms/1000", time));
        let [Some(a), Some(b)] = &trials else { break };
        let found = explained_exactly(&[a, b]);
        let truth = (a.truth[1] + b.truth[1]) / 2.0;
        let samples = (a.profile.samples() + b.profile.samples()) as f64;
        let cost = cost(&found, "collect").expect("it was sampled").cpu;
        let whole = (a.cpu_us + b.cpu_us) / 2.0;
        let share = cost.us / whole;
        let binomial = 1.96 * (share * (1.0 - share) / samples).sqrt() * whole;
        let off = cost.us - truth;
        held += usize::from((cost.low_us.unwrap()..=cost.high_us.unwrap()).contains(&truth));
        held_as_binomial += usize::from(off.abs() <= binomial);
        deviation += off / 10.0;
        all += 1;
    }
    format!(
        "bursts of 5 ms in one answer of a thousand: {held} of {all} intervals hold 5 µs, {held_as_binomial} by the \
         binomial, mean deviation {deviation:+.3} µs\n"
    )
}
