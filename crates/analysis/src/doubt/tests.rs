use lab::record::TrialRecord;

use super::*;
use crate::fixture::{
    MS, ONE, counted, end, equal, fact, fail, growing, healthy, part, recording, series, told,
    window,
};
use crate::verdict::Gravity;
use expect_test::expect;
use lab::experiment::Point;
use lab::record::{Launch, OutcomeKind};
use load::{Compared, Distribution, End, Failure, Recording, SECOND, Tally, Waited, Window};

mod agents;
mod load_itself;
mod spots;
mod turns;

/// The doubts about a healthy trial after a change to it.
fn of_trial(change: impl FnOnce(&mut TrialRecord)) -> Vec<Doubt> {
    let mut trial = healthy();
    change(&mut trial);
    doubts(&trial, ONE)
}

fn check(change: impl FnOnce(&mut Recording)) -> Vec<Doubt> {
    of_trial(|trial| change(recording(trial)))
}

/// Replaces all response and service times; the area under them follows.
fn times(recording: &mut Recording, times: &[(u64, u64)]) {
    let total = &mut recording.total;
    let mut all = Distribution::new(5 * SECOND);
    times.iter().for_each(|(count, ns)| all.merge(&equal(*ns, *count)));
    (total.response, total.service) = (all.clone(), all);
    total.in_flight_area = times.iter().map(|(count, ns)| u128::from(count * ns)).sum();
}

#[test]
fn a_healthy_trial_is_not_doubted_and_neither_is_one_that_was_never_pressed() {
    assert_eq!(check(|_| {}), []);
    assert_eq!(of_trial(|trial| trial.loaded = None), []);
}

#[test]
fn every_doubt_fires_where_it_must() {
    let gave_up = End::GaveUp(Failure::ConnectRefused);
    assert_eq!(check(|recording| recording.total.correct_inside = 5_000), [], "they came later");
    let of_lane = |idle, cpu_time| {
        check(|recording| {
            (recording.lanes[0].idle, recording.lanes[0].cpu_time) = (idle, cpu_time);
        })
    };
    expect![[r#"
        books (invalid): the counts do not add up: attempted, and correct, failed or in flight must be equal, and are 20,001 and 20,000
        halted (note): it was stopped after 10.0 s; the figures cover that time
        stopped (invalid): the load gave up before its end
        instrument_late (suspect): dyno sent 1 % of the requests at least 3.00 ms late (limit: 1.00 ms); the response times contain this delay
        not_on_time (note): the server did not keep up: 19,000 of the 20,000 requests that were due (95 %) were answered correctly within 5.00 s
        instrument_busy (suspect): dyno's own threads were busy 95 % of the time: the rate may be dyno's limit
        instrument_starved (suspect): dyno's own threads had something to do 95 % of the time, and a CPU for 50 % of it: other programs, or a limit on its CPU time, delayed it"#]]
    .assert_eq(&told([
        &check(|recording| recording.total.attempted += 1),
        &check(|recording| recording.end = End::Halted),
        &check(|recording| recording.end = gave_up),
        &check(|recording| recording.total.late.record_many(3 * MS, 1_000)),
        &check(|recording| recording.total.on_time = 19_000),
        &of_lane(SECOND / 2, 9 * SECOND),
        &of_lane(SECOND / 2, 5 * SECOND),
    ]));
}

#[test]
fn connections_come_to_something_or_are_under_way() {
    let doubts = |begun, established, failed| {
        check(|recording| {
            recording.total.connections = load::Connections { begun, established, failed };
        })
    };
    assert_eq!(doubts(1_000, 900, 95), []);
    expect![[r#"
        connections (invalid): the counts of connections do not add up: 1,000 were begun, 1,001 were established or failed
        connections (invalid): the counts of connections do not add up: 1,000 were begun, 950 were established or failed"#]]
    .assert_eq(&told([&doubts(1_000, 900, 101), &doubts(1_000, 900, 50)]));
}

#[test]
fn a_wait_for_the_kernel_s_timer_at_the_end_is_no_fault_of_the_books() {
    let found = of_trial(|trial| {
        growing(trial, "kernel.tcp.listen_overflows", "count", 100.0);
        let connections = load::Connections { begun: 398, established: 298, failed: 0 };
        recording(trial).total.connections = connections;
    });
    expect!["accept_queue_full (suspect): 100 connections found an accept queue of this machine full (others' count, too): the kernel retries only after 1 s, 3 s, 7 s …"]
        .assert_eq(&told([&found]));
}

#[test]
fn few_samples_and_none_are_distinguished() {
    let doubts = |samples: u64| {
        of_trial(|trial| {
            trial.key.point = Point::Connections(1);
            recording(trial).total = Tally::new(SECOND);
            counted(trial, samples, samples);
        })
    };
    expect![[r#"
        nothing_measured (invalid): not one request was due in the measured time
        too_few_samples (note): 999 samples are too few for a p99, which needs 1,000"#]]
    .assert_eq(&told([&doubts(0), &doubts(999)]));
}

#[test]
fn a_closed_loop_has_nothing_to_reach() {
    let found = of_trial(|trial| {
        recording(trial).total.correct_inside = 19_000;
        trial.key.point = Point::Connections(10);
    });
    assert_eq!(found, []);
}

#[test]
fn our_own_failures_are_doubts_and_the_server_s_are_not() {
    let doubts = |failure| of_trial(|trial| fail(trial, failure, 5));
    expect!["own_failures (suspect): 5 of 20,000 requests failed for reasons on dyno's side"]
        .assert_eq(&told([&doubts(Failure::NoPorts)]));
    assert_eq!(doubts(Failure::RecvReset), []);
}

#[test]
fn a_full_accept_queue_is_reported_with_its_size_and_whose_it_is() {
    let doubts = |overflows, network: &str| {
        of_trial(|trial| {
            growing(trial, "kernel.tcp.listen_overflows", "count", overflows);
            trial.conditions = vec![fact("network", network)];
            trial.launch = Some(Launch { backlog: Some(1), processes: 1, ..Launch::default() });
        })
    };
    assert_eq!(doubts(0.0, "of its own"), []);
    expect![[r#"
        accept_queue_full (suspect): 7 connections found the server's accept queue full (it holds 1): the kernel retries only after 1 s, 3 s, 7 s …
        accept_queue_full (suspect): 7 connections found an accept queue of this machine full (the server's holds 1; others' count, too): the kernel retries only after 1 s, 3 s, 7 s …"#]]
    .assert_eq(&told([&doubts(7.0, "of its own"), &doubts(7.0, "shared with the machine: no")]));
}

#[test]
fn steps_of_whole_seconds_are_explained_by_syn_retries_if_the_kernel_counted_some() {
    let doubts = |retries, slow_ns| {
        of_trial(|trial| {
            growing(trial, "kernel.tcp.syn_retransmitted", "count", retries);
            let total = &mut recording(trial).total;
            total.connect.record_many(MS, 990);
            total.connect.record_many(slow_ns, 10);
            total.connections = load::Connections { begun: 1_000, established: 1_000, failed: 0 };
        })
    };
    expect!["syn_retries (suspect): the kernel retransmitted 10 SYNs, and 10 of 1,000 connections took one or several seconds longer: steps at 1 s, 3 s, 7 s in the latencies are the kernel's timer"]
        .assert_eq(&told([&doubts(10.0, 1_030 * MS)]));
    assert_eq!(doubts(10.0, 3_010 * MS), doubts(10.0, 1_030 * MS));
    assert_eq!(doubts(10.0, 600 * MS), [], "others' retries, on the machine's network");
    assert_eq!(doubts(0.0, 1_030 * MS), [], "the kernel sent none again: the server was slow");
}

#[test]
fn forty_milliseconds_with_an_idle_cpu_are_a_delayed_acknowledgement() {
    let doubts = |spread: &[(u64, u64)], cpu_ns| {
        of_trial(|trial| {
            times(recording(trial), spread);
            growing(trial, "subject.cpu.total", "ns", cpu_ns);
        })
    };
    let (narrow, idle) = ([(20_000, 41 * MS)], 1e9);
    let found = doubts(&narrow, idle);
    expect!["delayed_ack (suspect): half the answers took 41.0 ms, and the server used 10 % of a CPU: this looks like Nagle's algorithm waiting for a delayed acknowledgement (40 ms), not like work"]
        .assert_eq(&told([&found]));
    assert_eq!(doubts(&narrow, 9e9), [], "it worked");
    let with_service = of_trial(|trial| {
        times(recording(trial), &narrow);
        growing(trial, "subject.cpu.total", "ns", idle);
        growing(trial, "service.cpu.total", "ns", 8e9);
    });
    assert_eq!(with_service, [], "what it waited for worked");
    assert_eq!(doubts(&[(20_000, 30 * MS)], idle), []);
    let wide = [(6_000, 10 * MS), (8_000, 41 * MS), (6_000, 80 * MS)];
    assert_eq!(doubts(&wide, idle), [], "its middle only happens to lie there");
}

/// Ten measured seconds in windows of a tenth: of each, how many answers, and how long each took.
fn windows(of: impl Fn(u64) -> (u64, u64)) -> Vec<Window> {
    let window = |at: u64| {
        let (correct, ns) = of(at);
        window(SECOND + at * SECOND / 10, correct, ns)
    };
    (0..100).map(window).collect()
}

#[test]
fn a_trial_that_changes_on_its_way_is_not_of_one_piece() {
    let doubts =
        |shape: fn(u64) -> (u64, u64)| check(|recording| recording.windows = windows(shape));
    let slower = doubts(|at| (200 - at / 2, MS));
    let later = doubts(|at| (200, MS + at * MS / 100));
    expect![[r#"
        not_stationary (suspect): the throughput was not steady: 1,920/s in the first third of the measured time, 1,590/s in the last
        not_stationary (suspect): the response time was not steady: p50 was 1.15 ms in the first third of the measured time, 1.82 ms in the last"#]]
    .assert_eq(&told([&slower, &later]));
    assert_eq!(doubts(|at| (200 + at * 7 % 13, MS + at * 7 % 13 * MS / 20)), [], "it only varies");
    assert_eq!(doubts(|at| (if at == 3 { 20 } else { 200 }, MS)), [], "one stall is not a drift");
    assert_eq!(doubts(|at| (200 - at / 25, MS)), [], "it is too little to matter");
}

#[test]
fn a_server_that_does_not_keep_up_is_not_said_to_drift_as_well() {
    // A queue that grows by 10 ms in each 100 ms: the server is given a tenth more than it can do.
    let growing = |recording: &mut Recording| {
        recording.windows = windows(|at| (200, MS + at * 10 * MS));
    };
    let found = check(growing);
    assert!(found[0].is_behind() && found[0].gravity() == Gravity::Note);
    let late = check(|recording| {
        growing(recording);
        recording.total.on_time = 10_000;
    });
    let closed = of_trial(|trial| {
        trial.key.point = Point::Connections(10);
        growing(recording(trial));
    });
    expect![[r#"
        growing (note): the response times grew throughout the load, from a p50 of 151 ms in the first third to 821 ms in the last: requests arrived faster than they were answered
        not_on_time (note): the server did not keep up: 10,000 of the 20,000 requests that were due (50 %) were answered correctly within 5.00 s
        not_stationary (suspect): the response time was not steady: p50 was 151 ms in the first third of the measured time, 821 ms in the last"#]]
    .assert_eq(&told([&found, &late, &closed]));
    let of_steps = check(|recording| {
        growing(recording);
        recording.sections = vec![part(20_000)];
    });
    assert_eq!(of_steps, [], "a load that changes is not asked whether it is steady");
}

#[test]
fn too_few_windows_show_no_drift() {
    let found = check(|recording| {
        recording.windows = windows(|at| (1_000 - at * 9, MS));
        recording.windows.truncate(20);
    });
    assert_eq!(found, []);
}

#[test]
fn another_dyno_is_named_and_its_cpu_time_is_judged_apart() {
    let process = "process 7, `dyno run x` in /tmp";
    let found = of_trial(|trial| {
        trial.conditions = vec![fact(lab::record::OTHER_DYNO, process)];
    });
    expect!["another_dyno (note): another dyno was loading a server on this machine: process 7, `dyno run x` in /tmp"]
        .assert_eq(&told([&found]));
}

#[test]
fn what_is_taken_from_the_machine_or_the_server_is_reported_above_a_bound() {
    let doubts = |(name, by)| of_trial(|trial| growing(trial, name, "ns", by));
    expect![[r#"
        no doubt
        cpu_stolen (suspect): the host took 10 % of a CPU's time from this machine (steal)
        no doubt
        cpu_throttled (suspect): a CPU limit of dyno's control group kept it, or the server, from their CPUs for 10 % of the time, summed over CPUs
        no doubt
        machine_noise (suspect): programs that are neither the server nor dyno used 20 % of a CPU
        no doubt
        memory_kills (suspect): the kernel killed 2 of the server's processes, because they were out of memory"#]]
    .assert_eq(&told(&[
        ("machine.cpu.steal", 0.1e9),
        ("machine.cpu.steal", 1e9),
        ("machine.cpu.throttled", 0.1e9),
        ("machine.cpu.throttled", 1e9),
        ("machine.cpu.other", 0.4e9),
        ("machine.cpu.other", 2e9),
        ("subject.memory.kills", 0.0),
        ("subject.memory.kills", 2.0),
    ].map(doubts)));
}

#[test]
fn a_wall_clock_that_was_set_is_reported_and_one_that_is_slewed_is_not() {
    let doubts = |ns| {
        of_trial(|trial| {
            let points = [(0, 0.0), (6 * SECOND, 0.0), (7 * SECOND, ns), (12 * SECOND, ns)];
            trial.series = vec![series("machine.clock.offset", "ns", &points)];
        })
    };
    expect![[r#"
        clock_step (suspect): the wall clock was set forward by 3,600 s while it ran: dyno's times do not follow it, the server's timers may
        clock_step (suspect): the wall clock was set back by 100 ms while it ran: dyno's times do not follow it, the server's timers may"#]]
    .assert_eq(&told([&doubts(3.6e12), &doubts(-1e8)]));
    assert_eq!(doubts(5e6), [], "0.05 % of ten seconds");
}

#[test]
fn a_trial_that_is_no_measurement_says_so_first() {
    let found = of_trial(|trial| {
        end(trial, OutcomeKind::Died);
        recording(trial).end = End::Halted;
    });
    expect![[r#"
        not_measured (invalid): this trial is not a measurement, and not in any figure: died
        halted (note): it was stopped after 10.0 s; the figures cover that time"#]]
    .assert_eq(&told([&found]));
}

#[test]
fn four_ticks_of_a_coarse_clock_are_no_finding() {
    let found = of_trial(|trial| {
        recording(trial).measured_until = recording(trial).measured_from + SECOND / 5;
        trial.series = vec![series("machine.cpu.other", "ns", &[(0, 0.0), (4 * SECOND, 0.8e9)])];
    });
    assert!(!found.iter().any(|doubt| doubt.is(&machine::MACHINE_NOISE)), "{found:?}");
}

#[test]
fn processes_that_end_under_load_are_reported() {
    let doubts = |fewest| {
        of_trial(|trial| {
            let points =
                [(2 * SECOND, 4.0), (5 * SECOND, fewest), (11 * SECOND, 4.0), (13 * SECOND, 0.0)];
            trial.series = vec![series("subject.processes", "count", &points)];
            trial.launch = Some(Launch { processes: 4, ..Launch::default() });
        })
    };
    expect!["processes_ended (suspect): processes of the server ended under load: it had 4 when it was ready, and later only 3"]
        .assert_eq(&told([&doubts(3.0)]));
    assert_eq!(doubts(9.0), [], "it may have begun more");
    let found_late = of_trial(|trial| {
        let points = [(2 * SECOND, 1.0), (5 * SECOND, 4.0), (11 * SECOND, 4.0)];
        trial.series = vec![series("subject.processes", "count", &points)];
        trial.launch = Some(Launch { processes: 4, ..Launch::default() });
    });
    assert_eq!(found_late, [], "no process has ended");
}

#[test]
fn cpu_time_outside_of_the_cgroup_is_reported() {
    let doubts = |by_cgroup: f64, by_processes: f64| {
        of_trial(|trial| {
            growing(trial, "subject.cpu.cgroup", "ns", by_cgroup);
            growing(trial, "subject.cpu.user", "ns", 0.75 * by_processes);
            growing(trial, "subject.cpu.system", "ns", 0.25 * by_processes);
        })
    };
    expect![[r#"
        left_cgroup (suspect): its processes used 100 % of their CPU time outside of the cgroup in which dyno started them: CPU time is that of its processes, in steps of 10 ms
        left_cgroup (suspect): its processes used 25 % of their CPU time outside of the cgroup in which dyno started them: CPU time is that of its processes, in steps of 10 ms"#]]
    .assert_eq(&told([&doubts(0.0, 4e9), &doubts(3e9, 4e9)]));
    assert_eq!(doubts(3.7e9, 4e9), [], "the two accounts may differ by so much");
    assert_eq!(
        doubts(4e9, 3e9),
        [],
        "a process whose parent did not wait for it is in the cgroup's"
    );
    assert_eq!(doubts(0.0, 40e6), [], "fewer than five steps of 10 ms");
}

#[test]
fn a_mean_above_the_p99_is_made_by_a_few() {
    let doubts =
        |slow_ms| check(|recording| times(recording, &[(19_900, MS), (100, slow_ms * MS)]));
    let found = doubts(1_000);
    expect!["mean_above_p99 (suspect): the mean (6.00 ms) reaches the p99 (1.00 ms): a few requests were so slow that they raised the mean above it, or it is an average"]
        .assert_eq(&told([&found]));
    assert_eq!(doubts(2), []);
}

#[test]
fn a_closed_loop_s_p99_cannot_lie_below_what_its_rate_demands() {
    // 100 connections kept busy and 2,000 answers a second make a mean of 50 ms, whatever the latencies say.
    let doubts = |claimed_ms| {
        of_trial(|trial| {
            trial.key.point = Point::Connections(100);
            times(recording(trial), &[(20_000, claimed_ms * MS)]);
            recording(trial).total.in_flight_area = u128::from(100 * 10 * SECOND);
        })
    };
    expect!["mean_above_p99 (suspect): p99 is 9.00 ms, but at this rate the connections must have waited 50.0 ms on average (Little's law): this p99 is not that of one distribution, or it is an average"]
        .assert_eq(&told([&doubts(9)]));
    assert_eq!(doubts(50), []);
}

#[test]
fn a_warm_up_that_was_too_short_is_reported_and_one_that_was_not_is_not() {
    // A second of warm-up and ten measured: the first so many windows of the whole are slow.
    let doubts = |slow: u64| {
        of_trial(|trial| {
            let mut all = windows(|at| (if at < slow { 100 } else { 200 }, MS));
            for window in &mut all {
                (window.from, window.until) = (window.from - SECOND, window.until - SECOND);
                window.is_warmup = window.from < SECOND;
            }
            recording(trial).windows = all;
        })
    };
    expect!["warmup_too_short (suspect): the warm-up was too short: the load was steady from 3.00 s after its beginning, and only 1.00 s were left out of the figures"]
        .assert_eq(&told([&doubts(30)]));
    assert_eq!(doubts(10), [], "all of it was warm-up");
    assert_eq!(doubts(0), []);
}
