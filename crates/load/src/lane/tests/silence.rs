//! Times without a right answer: what counts as a silence of the server, and what does not.

use std::ops::Range;
use std::rc::Rc;

use super::rig::{Passed, Run, after, at_once, closed, open, together};
use super::shares::parts;
use super::waits::planted;
use super::{GOOD, LAST, MILLI};
use crate::arrivals::{Arrivals, Listed};
use crate::engine::{Act, Simulated};
use crate::silence::Silence;
use crate::{Nanos, SECOND};

/// Answers take so long.
const SERVICE: Nanos = 2 * MILLI;
/// The longest pause before a lost connection is begun again, and what follows it.
const RECOVERY: Nanos = 110 * MILLI;

/// A server that is killed and started again: its connections end, and others are refused until it is back.
fn killed(dead: Range<Nanos>) -> Simulated<'static> {
    killed_beside(dead, 0..0)
}

/// A server that is killed and started again, while dyno does not run for this time.
fn killed_beside(dead: Range<Nanos>, pause: Range<Nanos>) -> Simulated<'static> {
    let refusing = dead.clone();
    let accept = move |now| (now, if refusing.contains(&now) { Act::Refuse } else { Act::Accept });
    let answer = move |now: Nanos| {
        let at = now + SERVICE;
        match now < dead.end && dead.start <= at {
            true => vec![(now.max(dead.start), Act::Reset)],
            false => vec![(at, Act::Send(GOOD.to_vec()))],
        }
    };
    Simulated::new(accept, answer).stopped(pause)
}

/// A server that is stopped (SIGSTOP): the kernel accepts, and what was to be answered meanwhile is answered at the end.
fn stopped(frozen: Range<Nanos>, service: Nanos) -> Simulated<'static> {
    Simulated::new(at_once, move |now: Nanos| {
        let at = if frozen.contains(&(now + service)) { frozen.end } else { now + service };
        vec![(at, Act::Send(GOOD.to_vec()))]
    })
}

fn silence<'s>(run: &Run, engines: impl IntoIterator<Item = Simulated<'s>>) -> Silence {
    run.record(engines).silence
}

/// There was one, as long as this or a little longer.
fn assert_one(found: Silence, length: Nanos, more: Nanos, what: &str) {
    assert_eq!((found.times, found.sum), (1, found.longest), "{what}: {found:?}");
    assert!((length..=length + more).contains(&found.longest), "{what}: {found:?}");
}

#[test]
fn a_server_that_is_killed_and_started_again_was_silent_meanwhile() {
    for share in [14, 20, 40] {
        let length = 5 * SECOND * share / 100;
        let dead = 2 * SECOND..2 * SECOND + length;
        let closed = Run { until: 5 * SECOND, ..closed(10) };
        let one_each = Run { keep_alive: false, ..closed.clone() };
        let open = Run { until: 5 * SECOND, max_connections: 10, ..open(10, 1_000) };
        for run in [closed, one_each, open] {
            let what = format!("{share} %, {:?}", run.kind);
            let found = silence(&run, [killed(dead.clone())]);
            assert_one(found, length - SERVICE, RECOVERY + 2 * SERVICE, &what);
            assert!(found.from.abs_diff(dead.start) <= 2 * SERVICE, "{what}: {found:?}");
            let two = Run { lanes: 2, ..run };
            let found = silence(&two, [killed(dead.clone()), killed(dead.clone())]);
            assert_one(found, length - SERVICE, RECOVERY + 2 * SERVICE, &what);
        }
    }
}

#[test]
fn a_server_that_hangs_with_all_connections_waiting_was_silent() {
    let frozen = 2 * SECOND..3 * SECOND;
    for run in [closed(1), closed(50), Run { max_connections: 2_000, ..open(50, 1_000) }] {
        let found = silence(&run, [stopped(frozen.clone(), SERVICE)]);
        assert_one(found, SECOND - 2 * SERVICE, 3 * SERVICE, &format!("{:?}", run.kind));
    }
    // Answers of 250 ms, which come all at once: four times a second there are none for that long. That is service.
    let found = silence(&closed(50), [stopped(2 * SECOND..4 * SECOND, 250 * MILLI)]);
    assert_one(found, 2 * SECOND, 250 * MILLI, "in step");
}

#[test]
fn a_server_that_accepts_nothing_for_a_while_was_silent_where_each_request_has_a_connection() {
    let accept =
        |now| (if (SECOND..2 * SECOND).contains(&now) { 2 * SECOND } else { now }, Act::Accept);
    let run = Run { keep_alive: false, ..closed(10) };
    let answers = || Simulated::new(accept, after(SERVICE));
    assert_one(silence(&run, [answers()]), SECOND - 2 * SERVICE, 4 * SERVICE, "accepts");
    // On connections that are kept, nobody notices.
    assert_eq!(silence(&closed(10), [answers()]), Silence::default());
    // Nothing is accepted at first: the silence lasts from the beginning.
    let late = Simulated::new(|_| (SECOND, Act::Accept), after(SERVICE));
    let found = silence(&Run { until: 5 * SECOND, ..closed(10) }, [late]);
    assert_one(found, SECOND, 2 * SERVICE, "first");
    assert_eq!(found.from, 0);
}

#[test]
fn a_slow_server_is_not_silent() {
    let none = Silence::default();
    let slow = || after(3 * SECOND);
    let run = Run { until: 60 * SECOND, ..closed(1) };
    assert_eq!(silence(&run, [Simulated::new(at_once, slow())]), none, "one connection");
    let run = Run { until: 60 * SECOND, ..closed(100) };
    assert_eq!(silence(&run, [Simulated::new(at_once, slow())]), none, "all in step");
    // In step, and some of them later than most.
    let mut asked = 0;
    let uneven = move |now: Nanos| {
        let late = if asked / 20 % 15 == 5 { 3 * MILLI } else { 0 };
        asked += 1;
        vec![(now + 120 * MILLI + late, Act::Send(GOOD.to_vec()))]
    };
    assert_eq!(silence(&closed(20), [Simulated::new(at_once, uneven)]), none, "nearly in step");
    let rarely = Some(Arrivals::Constant("0.2".parse().unwrap()));
    let fifth = Run { until: 60 * SECOND, arrivals: rarely, ..open(1, 1) };
    assert_eq!(silence(&fifth, [Simulated::new(at_once, after(SERVICE))]), none, "0.2/s");
    // Bursts of requests, with nothing due between them.
    let bursts: Vec<Nanos> = (0..1_000).map(|n| n / 100 * SECOND + n % 100 * MILLI).collect();
    let listed = Listed::new(&bursts).map(Arrivals::Listed);
    let run = Run { arrivals: listed, ..open(10, 1) };
    assert_eq!(silence(&run, [Simulated::new(at_once, after(SERVICE))]), none, "bursts");
}

/// Two lanes, and two processes with a lane each: one server of each is stopped while that of the other answers.
#[test]
fn lanes_that_have_no_answers_in_turn_saw_no_silence() {
    let in_turn = |lane: usize| {
        let from = 2 * SECOND + lane as Nanos * SECOND;
        stopped(from..from + SECOND - 10 * MILLI, SERVICE)
    };
    let at_once = |_| stopped(2 * SECOND..3 * SECOND, SERVICE);
    let run = Run { lanes: 2, until: 8 * SECOND, ..closed(2) };
    assert_eq!(silence(&run, (0..2).map(in_turn)), Silence::default());
    let both = silence(&run, (0..2).map(at_once));
    assert_one(both, SECOND - 2 * SERVICE, 3 * SERVICE, "both");
    let apart = parts(&run, &[1, 1], in_turn);
    assert_eq!(together(&run.order(), apart).silence, Silence::default());
    let apart = parts(&run, &[1, 1], at_once);
    assert_eq!(together(&run.order(), apart).silence, both);
}

/// A lane without requests says nothing about the server, and one that has done its share does not wait.
#[test]
fn lanes_that_want_nothing_neither_make_nor_hide_a_silence() {
    let run = Run { lanes: 2, total: 4_000, until: u64::MAX, ..closed(2) };
    let servers = [(0..0, MILLI), (3 * SECOND..4 * SECOND, SERVICE)];
    let found = silence(&run, servers.map(|(frozen, service)| stopped(frozen, service)));
    assert_one(found, SECOND - 2 * SERVICE, 3 * SERVICE, "the other lane has done its share");
}

#[test]
fn a_time_in_which_dyno_was_not_running_is_no_silence() {
    for run in [closed(8), open(8, 2_000)] {
        let paused = Simulated::new(at_once, after(SERVICE)).stopped(3 * SECOND..5 * SECOND);
        assert_eq!(silence(&run, [paused]), Silence::default(), "{:?}", run.kind);
        let paused =
            Simulated::new(at_once, after(SERVICE)).stopped_delivering(3 * SECOND..5 * SECOND);
        assert_eq!(silence(&run, [paused]), Silence::default(), "{:?}", run.kind);
    }
    // The server was dead for two seconds, and dyno saw a second and a half of that.
    let both = killed_beside(2 * SECOND..4 * SECOND, 3 * SECOND..3 * SECOND + SECOND / 2);
    let found = silence(&closed(8), [both]);
    assert_one(found, 1_490 * MILLI, RECOVERY + 10 * MILLI, "both");
}

#[test]
fn only_the_measured_time_counts() {
    let run = Run { warmup: SECOND, until: 4 * SECOND, ..closed(10) };
    let found = silence(&run, [killed(SECOND / 2..2 * SECOND)]);
    assert_eq!(found.from, SECOND);
    assert_one(found, SECOND, RECOVERY + SERVICE, "over the beginning");
    // From 4 s on it hangs: the last second is silent, and the wait for the last answers is not measured.
    let found = silence(&run, [stopped(4 * SECOND..8 * SECOND, SERVICE)]);
    assert_one(found, SECOND, 2 * SERVICE, "over the end");
    let halted = Run { halt_at: 4 * SECOND, until: 60 * SECOND, ..closed(10) };
    let found = silence(&halted, [stopped(3 * SECOND..8 * SECOND, SERVICE)]);
    // It ends with the next whole window but one.
    assert_one(found, 1_200 * MILLI, 2 * SERVICE, "stopped");
}

#[test]
fn the_time_of_another_side_is_no_silence() {
    let turns = Passed { length: 100 * MILLI, times: Rc::default() };
    let run = Run { turns: Some(turns), until: 5 * SECOND, ..closed(10) };
    assert_eq!(silence(&run, [killed(9 * SECOND..9 * SECOND)]), Silence::default());
    let found = silence(&run, [killed(2 * SECOND..3 * SECOND)]);
    assert_one(found, SECOND - SERVICE, RECOVERY + 2 * SERVICE, "dead");
}

#[test]
fn right_answers_end_a_silence_and_wrong_ones_do_not() {
    let wrong = |now: Nanos| {
        let body = if (2 * SECOND..3 * SECOND).contains(&now) { b"Russ" } else { b"Rust" };
        let answer = [&GOOD[..GOOD.len() - 4], body].concat();
        vec![(now + SERVICE, Act::Send(answer))]
    };
    let found = silence(&closed(10), [Simulated::new(at_once, wrong)]);
    assert_one(found, SECOND - SERVICE, 3 * SERVICE, "wrong");
    let polite =
        |now: Nanos| vec![(now + SERVICE, Act::Send(LAST.to_vec())), (now + SERVICE, Act::Fin)];
    assert_eq!(silence(&closed(10), [Simulated::new(at_once, polite)]), Silence::default());
}

/// Two connections, on each of which every tenth answer takes 300 ms: now and then both wait at once. Half of the answers
/// take 2 ms, but the slow ones are ordinary ones, too.
#[test]
fn slow_answers_that_fall_together_are_no_silence_where_such_answers_are_usual() {
    let mut count = 0;
    let engine = Simulated::new(at_once, move |now: Nanos| {
        count += 1;
        let service = if count % 10 == 0 || count % 97 == 1 { 300 * MILLI } else { SERVICE };
        vec![(now + service, Act::Send(GOOD.to_vec()))]
    });
    let run = Run { until: 20 * SECOND, ..closed(2) };
    assert_eq!(silence(&run, [engine]), Silence::default());
}

/// Two requests a second, of which one in a hundred takes 400 ms, more than the p99: that is less than ten times what lies
/// between two answers anyway.
#[test]
fn an_answer_that_takes_longer_is_no_silence_where_answers_are_rare() {
    let engine = Simulated::new(at_once, planted(SERVICE, 100, 400 * MILLI));
    let run = Run { until: 120 * SECOND, ..open(2, 2) };
    assert_eq!(silence(&run, [engine]), Silence::default());
}
