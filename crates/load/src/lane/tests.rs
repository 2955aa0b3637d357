//! Whole runs in simulated seconds.

mod accounts;
mod counts;
mod database;
mod edges;
mod endings;
mod facts;
mod lateness;
mod lies;
mod one_request;
mod refusals;
mod renegotiation;
mod rig;
mod secured;
mod shares;
mod silence;
mod stalls;
mod stillness;
mod strangers;
mod streams;
mod truth;
mod turns;
mod varied;
mod waits;
mod wild;

use wire::{Mismatch, WireFault};

use crate::distribution::Distribution;
use crate::engine::{Act, Simulated};
use crate::failure::Failure;
use crate::recording::{Cut, Sessions};
use crate::{Nanos, SECOND};
use rig::{Run, after, always, at_once, but_each, classes, closed, freezing, open, sessions};

const MILLI: Nanos = SECOND / 1_000;
const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nRust";
const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\nRust";

fn p99(distribution: &Distribution) -> Nanos {
    distribution.quantile(0.99).unwrap().value
}

fn is_about(value: Nanos, expected: Nanos) -> bool {
    value.abs_diff(expected) <= expected / 500
}

/// Nothing is a failure that only differs from the usual body.
#[test]
fn a_body_unlike_the_usual_one_is_counted_and_is_right() {
    for (usual, unlike) in [("rusT", 8), ("Rust", 0)] {
        let run = Run { total: 8, usual_body: Some(usual), ..closed(1) };
        let seen = run.press(Simulated::new(at_once, after(MILLI)));
        assert_eq!((seen.correct, seen.notes.unlike_bodies), (8, unlike), "{usual}");
    }
}

/// The purpose of the instrument: the same freeze, seen by both kinds of load.
#[test]
fn an_open_loop_sees_the_freeze_that_a_closed_loop_hides() {
    let seen = open(200, 100).press(Simulated::new(at_once, freezing()));
    assert_eq!(seen.attempted, 1_000);
    assert!(800 * MILLI < p99(&seen.response), "{}", p99(&seen.response));

    let hidden = closed(1).press(Simulated::new(at_once, freezing()));
    assert!(is_about(p99(&hidden.response), MILLI), "{}", p99(&hidden.response));
}

/// With one connection the queue forms in the generator, and the response time still counts it.
#[test]
fn waiting_for_a_free_connection_counts_as_latency() {
    let starved = open(1, 100).press(Simulated::new(at_once, freezing()));
    assert!(800 * MILLI < p99(&starved.response), "{}", p99(&starved.response));
    assert!(800 * MILLI < starved.blocked.quantile(1.0).unwrap().value);
    assert!(p99(&starved.service) < 2 * MILLI, "the server was asked one thing at a time");
    assert_eq!(p99(&starved.late), 0, "nothing was the generator's slowness");
}

/// A generator that wakes late shows its own lateness in the numbers, and never moves the clock.
#[test]
fn leaving_late_counts_as_latency() {
    let engine = Simulated::new(at_once, after(MILLI)).oversleeping(5 * MILLI);
    let late = open(10, 10).press(engine);
    assert!(is_about(p99(&late.response), 6 * MILLI), "{}", p99(&late.response));
    assert!(is_about(p99(&late.service), MILLI), "{}", p99(&late.service));
    assert!(is_about(p99(&late.late), 5 * MILLI), "{}", p99(&late.late));
    assert_eq!(late.blocked.count(), 0, "a connection was free");
}

#[test]
fn what_is_due_never_waits_for_an_answer() {
    let slow = open(0, 100);
    let slow = Run { max_connections: 1_000, ..slow };
    let tally = slow.press(Simulated::new(at_once, after(2 * SECOND)));
    assert_eq!(tally.connections.established, 200, "the pool grows to what is under way");
    assert!(is_about(p99(&tally.response), 2 * SECOND), "{}", p99(&tally.response));
}

#[test]
fn a_limited_pool_blocks_and_says_so() {
    let tally = open(10, 100).press(Simulated::new(at_once, after(SECOND)));
    assert_eq!(classes(&tally), [("own.blocked", tally.failed_in_all())]);
    assert!(100 < tally.failed_in_all());
    assert!(Failure::Blocked.is_own());
}

#[test]
fn a_closed_loop_keeps_so_many_under_way_and_stops_at_the_total() {
    let run = Run { total: 1_000, ..closed(8) };
    let tally = run.press(Simulated::new(at_once, after(MILLI)));
    assert_eq!((tally.attempted, tally.correct), (1_000, 1_000));
    assert!(is_about(tally.last_done, 125 * MILLI), "{}", tally.last_done);
    // Little's law: 8 under way for 125 ms.
    assert_eq!(tally.in_flight_area, u128::from(8 * 125 * MILLI));
}

#[test]
fn a_time_out_is_a_failure_and_a_censored_value() {
    let run = Run { total: 1_000, until: 20 * SECOND, ..open(100, 100) };
    let tally = run.press(Simulated::new(at_once, but_each(10, &[])));
    assert_eq!(tally.correct, 900);
    assert_eq!(classes(&tally), [("recv.first_byte_timeout", 100)]);
    for times in [&tally.response, &tally.first_byte] {
        assert_eq!((times.count(), times.censored()), (1_000, 100));
        assert!(times.quantile(0.95).unwrap().is_bound);
    }
    let p95 = tally.response.quantile(0.95).unwrap();
    assert!(is_about(p95.value, 5 * SECOND), "{p95:?}");
    assert!(!tally.response.quantile(0.9).unwrap().is_bound);
}

/// A user's wait begins when the request was due: the wait for a connection is part of it.
#[test]
fn a_time_out_counts_from_when_it_was_due() {
    let run = Run { total: 2, until: 20 * SECOND, ..open(1, 100) };
    let tally = run.press(Simulated::new(at_once, after(3 * SECOND)));
    assert_eq!(tally.correct, 1);
    assert_eq!(classes(&tally), [("own.blocked", 1)], "sent after 3 s, it had only 2 s left");
    // Where more connections may be opened, the server is what takes too long.
    let run = Run { max_connections: 2, total: 1, ..run };
    let slow_to_accept = |now: Nanos| (now + if now == 0 { 0 } else { 3 * SECOND }, Act::Accept);
    let tally = Run { connections: 0, ..run }.press(Simulated::new(slow_to_accept, |_| Vec::new()));
    assert_eq!(classes(&tally), [("recv.first_byte_timeout", 1)]);
}

#[test]
fn a_connection_that_times_out_takes_no_younger_request_with_it() {
    let run = Run { total: 2, timeout: SECOND / 2, max_connections: 10, ..open(0, 10) };
    let never = |now: Nanos| (now + 3_600 * SECOND, Act::Accept);
    let tally = run.press(Simulated::new(never, after(MILLI)));
    assert_eq!(classes(&tally), [("connect.timeout", 2)]);
    assert!(600 * MILLI <= tally.last_done, "the second one, due at 100 ms: {}", tally.last_done);
}

#[test]
fn a_trickle_is_given_up_at_the_deadline() {
    let drip = |now: Nanos| {
        let bytes = GOOD.iter().enumerate();
        bytes.map(|(n, &byte)| (now + n as Nanos * SECOND, Act::Send(vec![byte]))).collect()
    };
    let tally = Run { total: 10, ..closed(10) }.press(Simulated::new(at_once, drip));
    assert_eq!(classes(&tally), [("recv.deadline", 10)]);
}

#[test]
fn an_interim_answer_is_not_the_beginning_of_the_answer() {
    let hints = b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec();
    let run = Run { total: 3, ..closed(3) };
    let tally = run.press(Simulated::new(at_once, always(MILLI, &[Act::Send(hints.clone())])));
    assert_eq!(classes(&tally), [("recv.first_byte_timeout", 3)]);
    assert_eq!((tally.first_byte.count(), tally.first_byte.censored()), (3, 3));
    assert_eq!(tally.evidence[0].received, hints);
    let cut = [hints, GOOD[..20].to_vec()].concat();
    let tally = run.press(Simulated::new(at_once, always(MILLI, &[Act::Send(cut)])));
    assert_eq!(classes(&tally), [("recv.deadline", 3)]);
}

/// And no failure enters a rate or the latencies of successes.
#[test]
fn each_way_to_fail_has_its_class() {
    let all_of = |failure: Failure, accept: fn(Nanos) -> (Nanos, Act), acts: &[Act]| {
        let engine = Simulated::new(accept, always(MILLI, acts));
        let tally = Run { total: 30, timeout: SECOND / 10, ..closed(3) }.press(engine);
        assert_eq!((tally.correct_inside, classes(&tally)), (0, vec![(failure.name(), 30)]));
        for times in [&tally.response, &tally.service] {
            assert_eq!(times.count(), times.censored(), "{failure:?}");
        }
    };
    let send = |bytes: &[u8]| Act::Send(bytes.to_vec());
    let cut = &GOOD[..GOOD.len() - 1];
    all_of(Failure::ConnectRefused, |now| (now + MILLI, Act::Refuse), &[]);
    all_of(Failure::ConnectReset, |now| (now + MILLI, Act::Reset), &[]);
    all_of(Failure::ConnectTimeout, |now| (now + 3_600 * SECOND, Act::Accept), &[]);
    all_of(Failure::ConnectReset, at_once, &[Act::Reset]);
    all_of(Failure::RecvReset, at_once, &[send(b"HTTP/1.1"), Act::Reset]);
    all_of(Failure::FirstByteTimeout, at_once, &[]);
    all_of(Failure::Deadline, at_once, &[send(cut)]);
    all_of(Failure::Wire(WireFault::Empty), at_once, &[Act::Fin]);
    all_of(Failure::Wire(WireFault::CutHead), at_once, &[send(b"HTTP/1.1"), Act::Fin]);
    all_of(Failure::Wire(WireFault::CutBody), at_once, &[send(cut), Act::Fin]);
    all_of(Failure::Wire(WireFault::CutBody), at_once, &[send(cut), Act::Reset]);
    all_of(Failure::Wire(WireFault::StatusLine), at_once, &[send(b"SSH-2.0\r\n")]);
    let other = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nRuss";
    all_of(Failure::Content(Mismatch::Body), at_once, &[send(other)]);
    let wrong = b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n";
    all_of(Failure::Content(Mismatch::Status), at_once, &[send(wrong)]);
}

#[test]
fn an_answer_that_was_not_requested_is_never_counted() {
    let twice = [GOOD, GOOD].concat();
    let tally = Run { total: 100, ..closed(1) }
        .press(Simulated::new(at_once, always(MILLI, &[Act::Send(twice)])));
    assert_eq!((tally.correct, tally.notes.unsolicited), (100, 100));
    assert_eq!(tally.connections.established, 100, "such a connection is dropped");

    let before = |now: Nanos| (now, Act::Accept);
    let mut engine = Simulated::new(before, after(MILLI));
    engine.greets(GOOD);
    let tally = Run { total: 10, ..closed(1) }.press(engine);
    assert_eq!(classes(&tally), [("proto.unsolicited", 10)]);
}

#[test]
fn a_stale_connection_is_no_failure_of_the_server() {
    let closes_every_tenth_unanswered = || but_each(10, &[Act::Fin]);
    let get = Run { total: 90, ..closed(1) };
    let tally = get.press(Simulated::new(at_once, closes_every_tenth_unanswered()));
    assert_eq!((tally.correct, tally.failed_in_all()), (90, 0));
    assert_eq!(tally.notes.stale_retries, 9);

    let post = Run { total: 90, method: "POST", ..closed(1) };
    let tally = post.press(Simulated::new(at_once, closes_every_tenth_unanswered()));
    assert_eq!(classes(&tally), [("recv.empty", 9)], "a POST is never sent twice");
}

#[test]
fn a_server_that_closes_politely_is_obeyed() {
    let last = Act::Send(LAST.to_vec());
    // The second one leaves the connection open all the same.
    for acts in [&[last.clone(), Act::Fin][..], &[last]] {
        let server = Simulated::new(at_once, always(MILLI, acts));
        let tally = Run { total: 50, ..closed(2) }.press(server);
        assert_eq!((tally.correct, tally.connections.established), (50, 50));
    }
}

#[test]
fn one_request_a_connection_counts_the_connecting_as_response() {
    let slow_to_accept = |now: Nanos| (now + 3 * MILLI, Act::Accept);
    let run = Run { total: 50, keep_alive: false, ..closed(1) };
    let tally = run.press(Simulated::new(slow_to_accept, after(MILLI)));
    assert_eq!(tally.connections.established, 50);
    assert!(is_about(p99(&tally.response), 4 * MILLI), "{}", p99(&tally.response));
    assert!(is_about(p99(&tally.service), MILLI));
    assert!(is_about(p99(&tally.connect), 3 * MILLI));
    assert_eq!((p99(&tally.late), tally.blocked.count()), (0, 0));
}

#[test]
fn sessions_make_their_calls_one_after_the_other_and_close() {
    let tally = sessions(10, 100, 500).press(Simulated::new(at_once, after(20 * MILLI)));
    assert_eq!((tally.attempted, tally.correct), (5_000, 5_000));
    assert_eq!((tally.sessions.attempted, tally.sessions.complete), (500, 500));
    assert_eq!(tally.connections.established, 500);
    assert!(is_about(tally.last_done, 5_090 * MILLI + 200 * MILLI), "{}", tally.last_done);
}

/// nginx ends a connection after `keepalive_requests`: all calls are answered, and no session is completed.
#[test]
fn a_session_ends_with_its_first_failure_or_where_the_server_ends_it() {
    let cut = Cut { sessions: 20, unreached: 120, calls_min: 4, calls_max: 4 };
    let none = Sessions { attempted: 20, ..Sessions::default() };
    for (calls, each, act, attempted, failed, expected) in [
        (10, 3, Act::Reset, 60, 20, Sessions { failed: 20, ..none }),
        (10, 4, Act::Send(LAST.to_vec()), 80, 0, Sessions { failed: 20, cut, ..none }),
        // Its last call was answered.
        (4, 4, Act::Send(LAST.to_vec()), 80, 0, Sessions { complete: 20, ..none }),
    ] {
        let server = Simulated::new(at_once, but_each(each, std::slice::from_ref(&act)));
        let seen = sessions(calls, 10, 20).press(server);
        assert_eq!((seen.attempted, seen.failed_in_all()), (attempted, failed), "{act:?}");
        assert_eq!(seen.sessions, expected, "{calls} {act:?}");
    }
}

#[test]
fn sessions_wait_for_a_place_and_say_so() {
    let run = Run { max_connections: 1, ..sessions(1, 100, 20) };
    let tally = run.press(Simulated::new(at_once, after(20 * MILLI)));
    assert_eq!(tally.correct, 20);
    assert!(is_about(p99(&tally.response), 210 * MILLI), "{}", p99(&tally.response));
}

#[test]
fn refusals_slow_the_generator_down() {
    let run = Run { until: 2 * SECOND, ..closed(1) };
    let tally = run.press(Simulated::new(|now| (now, Act::Refuse), after(0)));
    let refused = tally.failures(Failure::ConnectRefused);
    assert!((20..60).contains(&refused), "{refused}");
}
