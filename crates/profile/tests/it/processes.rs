//! Processes that fork, go into the background, switch without end, or end while they are sampled.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use profile::CallCounter;

use crate::again::in_one_of_five;
use crate::worker::{CALLS, Worker, call_often, has_shares, sample, sampler};

crate::tests![
    a_process_that_is_started_while_its_parent_is_sampled_is_sampled,
    a_daemon_that_has_left_its_parent_is_sampled,
    a_storm_of_switches_is_sampled_evenly_and_nothing_is_lost,
    a_process_that_ends_while_it_is_sampled_leaves_what_was_sampled,
    calls_of_a_process_that_begins_while_they_are_counted_are_counted,
];

fn a_process_that_is_started_while_its_parent_is_sampled_is_sampled() {
    check_descendant("fork");
}

fn a_daemon_that_has_left_its_parent_is_sampled() {
    check_descendant("daemon");
}

/// The parent only waits: what is sampled is what it started.
#[track_caller]
fn check_descendant(way: &str) {
    let mut worker = Worker::start(way);
    assert!(worker.is_ready());
    let Some(mut sampler) = sampler(worker.pid(), None) else { return };
    sampler.start().unwrap();
    worker.go();
    sample(&mut sampler, 400);
    sampler.stop().unwrap();
    has_shares(&sampler.folded(&[], "/nowhere"));
}

/// The CPU time of a process' threads.
fn cpu_ns(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let texts =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    texts.map(|text| text.split(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

fn a_storm_of_switches_is_sampled_evenly_and_nothing_is_lost() {
    in_one_of_five(check_storm);
}

/// As the doubt `missed` judges it: within 5 %, or three standard errors.
fn check_storm() {
    let worker = Worker::start("storm");
    let Some(mut sampler) = sampler(worker.pid(), None) else { return };
    while cpu_ns(worker.pid()) < 100_000_000 {
        thread::sleep(Duration::from_millis(5));
    }
    let before = cpu_ns(worker.pid());
    sampler.start().unwrap();
    sample(&mut sampler, 1_500);
    let used = cpu_ns(worker.pid()) - before;
    sampler.stop().unwrap();
    let (found, expected) = (sampler.samples() as f64, used as f64 / 1e9 * 997.0);
    let error = (0.05 * expected).max(3.0 * expected.sqrt());
    assert!((found - expected).abs() <= error, "{found} samples, and not {expected}");
    assert_eq!(sampler.folded(&[], "/nowhere").lost, 0);
}

fn a_process_that_ends_while_it_is_sampled_leaves_what_was_sampled() {
    let mut worker = Worker::start("alone");
    let Some(mut sampler) = sampler(worker.pid(), None) else { return };
    sampler.start().unwrap();
    sample(&mut sampler, 100);
    worker.0.kill().unwrap();
    worker.0.wait().unwrap();
    let began = Instant::now();
    sampler.drain();
    sampler.stop().unwrap();
    let folded = sampler.folded(&[], "/nowhere");
    assert!(100 <= crate::worker::total(&folded));
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// It begins and ends, and its parent makes as many; what this process calls before and after does not count.
fn calls_of_a_process_that_begins_while_they_are_counted_are_counted() {
    let mut worker = Worker::start("calls");
    assert!(worker.is_ready());
    let Some(mut sampler) = sampler(std::process::id(), None) else { return };
    let counter = match CallCounter::open() {
        Ok(counter) => counter,
        Err(says) => return println!("SKIPPED: {says}"),
    };
    sampler.start().unwrap();
    sampler.add(&[worker.pid()]);
    sampler.stop().unwrap();
    let samples = sampler.samples();
    call_often();
    counter.start();
    worker.go();
    assert!(worker.0.wait().unwrap().success());
    counter.pause();
    call_often();
    let calls = counter.stop(&mut sampler).unwrap();
    let found = calls.iter().find(|(name, _)| name == "getppid").map(|(_, calls)| *calls);
    assert_eq!(found, Some(2 * CALLS), "{calls:?}");
    assert_eq!(sampler.samples(), samples, "none is taken any more");
}
