//! Connections that end while requests are under way, against a simulated server: nothing is lost, stuck, or blamed on the
//! wrong side.

use std::cell::Cell;
use std::rc::Rc;

use super::MILLI;
use super::rig::{Passed, Run, classes, closed, open, sessions};
use super::streams::{
    Came, DATA, MAX_CONCURRENT_STREAMS, REFUSED, RST_STREAM, against, answer, first_of_all, frame,
    goaway, plain, server_but, settings, spoken,
};
use crate::engine::{Log, Peer, Simulated, open_and_most};
use crate::recording::{Cut, Sessions};
use crate::tally::Tally;
use crate::{Nanos, SECOND};

/// The last stream of a GOAWAY that only announces the end: RFC 9113, 6.8.
const NOTHING_REFUSED: u32 = 0x7fff_ffff;

/// RFC 9113, 6.8: first nothing is refused, then what was not taken.
fn ends_in_two_steps() -> Peer {
    first_of_all(|now| vec![(now + MILLI, goaway(NOTHING_REFUSED)), (now + 2 * MILLI, goaway(0))])
}

/// The first connection answers nothing, announces its end, and breaks.
fn drains_and_breaks() -> Peer {
    server_but(|now, connection, came| match came {
        Came::Request(1, _) if connection == 0 => Some(vec![
            (now + 10 * MILLI, goaway(NOTHING_REFUSED)),
            (now + 20 * MILLI, frame(DATA, 0, 0, b"broken")),
        ]),
        Came::Request(..) if connection == 0 => Some(Vec::new()),
        _ => None,
    })
}

/// Takes nothing on its first connection, and says so after this time.
fn takes_nothing_first(after: Nanos) -> Peer {
    first_of_all(move |now| vec![(now + after, goaway(0))])
}

/// Each connection takes one request: GOAWAY with this last stream comes 1 ms after it, the answer after 10 ms.
pub(super) fn one_each(last: Option<u32>) -> Peer {
    server_but(move |now, _, came| match came {
        Came::Request(1, stream) => {
            let last = last.unwrap_or(stream);
            Some(vec![(now + MILLI, goaway(last)), (now + 10 * MILLI, answer(stream))])
        }
        Came::Request(..) if last.is_none() => Some(Vec::new()),
        _ => None,
    })
}

/// Each request left within 10 ms of the instant at which nothing but dyno kept it.
fn assert_punctual(name: &str, seen: &Tally) {
    let late = seen.late.quantile(1.0).map_or(0, |late| late.value);
    let (count, failed) = (seen.late.count(), classes(seen));
    assert!(late < 10 * MILLI, "{name}: late {late} ns, of {count}; {failed:?}");
}

/// What is given back goes out again, and a place that was lost is filled: of each row, how many are answered at least,
/// and how many fail because their connection broke.
#[test]
fn requests_go_on_where_connections_end() {
    let second = |run: Run| Run { until: SECOND, ..run };
    let single = |run: Run| Run { keep_alive: false, ..second(run) };
    for (name, run, streams, peer, least, broken) in [
        (
            "no more are to begin",
            Run { total: 3, ..closed(2) },
            1,
            takes_nothing_first(10 * MILLI),
            3,
            0,
        ),
        (
            "it comes back when the time is over",
            second(closed(2)),
            1,
            first_of_all(|_| vec![(SECOND + 10 * MILLI, goaway(0))]),
            900,
            0,
        ),
        // The connection that took its place has rested meanwhile, and takes over.
        ("a draining connection breaks", second(closed(1)), 10, drains_and_breaks(), 9_000, 10),
        ("one of two breaks", second(closed(2)), 10, drains_and_breaks(), 18_000, 10),
        // Servers that take one request on a connection say so at once.
        ("GOAWAY before the answer", single(closed(2)), 1, one_each(Some(NOTHING_REFUSED)), 181, 0),
        ("many, which are not slowed down", single(closed(50)), 1, one_each(None), 4_851, 0),
        ("many that are kept", second(closed(50)), 1, one_each(None), 4_851, 0),
        ("a session goes on elsewhere", sessions(2, 10, 1), 1, ends_in_two_steps(), 2, 0),
    ] {
        let seen = against(&run, streams, peer);
        let (failed, begun) = (classes(&seen), seen.connections.begun);
        assert!(least <= seen.correct, "{name}: {} correct, {failed:?}, {begun}", seen.correct);
        let expected = if broken == 0 { vec![] } else { vec![("h2.frame", broken)] };
        assert_eq!((failed, seen.under_way), (expected, 0), "{name}");
    }
}

/// A request that the server refuses, gives back or has no stream for has waited for the server.
#[test]
fn the_wait_for_the_server_is_not_dynos_lateness() {
    let refuses =
        || first_of_all(|now| vec![(now + 100 * MILLI, frame(RST_STREAM, 0, 1, &REFUSED))]);
    let raises = || {
        server_but(move |now, _, came| match came {
            Came::Connection => Some(vec![
                (now, settings(&[(MAX_CONCURRENT_STREAMS, 0)])),
                (now + 500 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 50)])),
            ]),
            _ => None,
        })
    };
    let long = |run: Run| Run { until: 2 * SECOND, ..run };
    for (name, run, streams, peer) in [
        ("a refusal", Run { total: 1, ..open(1, 10) }, 4, refuses()),
        ("GOAWAY", Run { total: 20, ..open(2, 100) }, 4, takes_nothing_first(100 * MILLI)),
        ("a limit that is raised, open", long(open(2, 100)), 5, raises()),
        ("closed", long(closed(2)), 5, raises()),
        ("one request each", Run { keep_alive: false, ..long(closed(2)) }, 5, raises()),
    ] {
        assert_punctual(name, &against(&run, streams, peer));
    }
}

/// Most of its time was over when it went out again, and that was the server's doing.
#[test]
fn a_request_that_went_out_again_fails_for_the_servers_reason() {
    let refuses = server_but(|now, connection, came| match came {
        Came::Request(1, _) if connection == 0 => Some(vec![(now + 600 * MILLI, goaway(0))]),
        Came::Request(..) if connection != 0 => Some(Vec::new()),
        _ => None,
    });
    let run = Run { total: 1, timeout: SECOND, ..open(2, 1) };
    let seen = against(&run, 4, refuses);
    assert_eq!(classes(&seen), [("recv.first_byte_timeout", 1)]);
}

/// A turn is not kept for a whole time-out.
#[test]
fn a_request_that_comes_back_when_the_turn_is_over_ends_in_it() {
    let ends = first_of_all(|_| vec![(110 * MILLI, goaway(0))]);
    let times = Rc::new(Cell::new(0));
    let turns = Passed { length: 100 * MILLI, times: Rc::clone(&times) };
    let run = Run { until: SECOND, timeout: 500 * MILLI, turns: Some(turns), ..closed(1) };
    let seen = against(&run, 1, ends);
    assert_eq!((classes(&seen), times.get()), (vec![], 9), "correct {}", seen.correct);
}

/// Of two lanes, each ends its connections after another number of calls.
#[test]
fn a_session_is_cut_by_a_goaway() {
    let ends = |last: u32| {
        server_but(move |now, _, came| match came {
            Came::Request(n, stream) if n == last => {
                Some(vec![(now + MILLI, goaway(stream)), (now + MILLI, answer(stream))])
            }
            _ => None,
        })
    };
    let engines = [4, 6].map(|last| Simulated::reading(ends(last)));
    let run = Run { lanes: 2, protocol: spoken(1), ..sessions(10, 10, 20) };
    let seen = run.record(engines).total;
    let cut = Cut { sessions: 20, unreached: 100, calls_min: 4, calls_max: 6 };
    assert_eq!((seen.attempted, classes(&seen)), (100, vec![]));
    assert_eq!(seen.sessions, Sessions { attempted: 20, complete: 0, failed: 20, cut });
}

/// A server that ends each connection after five requests of ten: a request may come back many times, and is answered.
#[test]
fn no_request_fails_because_connections_end() {
    let ends = server_but(|now, _, came| match came {
        Came::Request(10, _) => Some(vec![(now + MILLI, answer(1)), (now + MILLI, goaway(1))]),
        Came::Request(..) => Some(Vec::new()),
        _ => None,
    });
    let seen = against(&Run { total: 100, ..closed(2) }, 10, ends);
    let failed = classes(&seen);
    assert!(failed.iter().all(|(class, _)| *class == "recv.first_byte_timeout"), "{failed:?}");
    assert!(80 <= seen.correct, "{}", seen.correct);
}

/// The server reads nothing for half a second, and the kernel takes no more; requests may time out meanwhile.
#[test]
fn what_a_full_socket_keeps_back_is_not_late() {
    for (connections, timeout) in [(1, 800 * MILLI), (2, 800 * MILLI), (1, 200 * MILLI)] {
        let engine = Simulated::reading(plain(&[], MILLI)).clogged(300, 500 * MILLI);
        let run = Run { until: SECOND, protocol: spoken(100), timeout, ..open(connections, 100) };
        let seen = run.press(engine);
        assert_punctual("a full socket", &seen);
        let failed = classes(&seen);
        let is_expected =
            |(class, _): &(&str, u64)| ["send.timeout", "own.blocked"].contains(class);
        assert!(failed.iter().all(is_expected), "{failed:?}");
    }
}

/// It has nothing more to wait for.
#[test]
fn a_connection_whose_last_request_comes_back_is_closed() {
    let log = Log::default();
    let engine = Simulated::reading(ends_in_two_steps()).ending_by(20 * SECOND).logged(&log);
    let seen = Run { until: SECOND, protocol: spoken(1), ..closed(1) }.press(engine);
    assert_eq!((open_and_most(&log).0, seen.connections.begun), (1, 2));
}
