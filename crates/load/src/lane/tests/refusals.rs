//! Servers that refuse requests, allow no stream, or end their connections: no connection is left over, and no request is
//! given up that another connection would carry.

use super::MILLI;
use super::endings::one_each;
use super::rig::{Run, classes, closed, open};
use super::streams::{
    Came, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, against, answer, goaway, plain, requested,
    server_but, settings, spoken,
};
use crate::engine::{Act, Log, Peer, Simulated, open_and_most};
use crate::{Nanos, SECOND};

/// Each such request of a connection is its last: GOAWAY and the answer come in one segment, as nginx sends them.
fn ends_with_answer(every: u32) -> Peer {
    server_but(move |now, _, came| match came {
        Came::Request(number, stream) if number == every => {
            Some(vec![(now + MILLI, [goaway(stream), answer(stream)].concat())])
        }
        Came::Request(number, _) if every < number => Some(Vec::new()),
        _ => None,
    })
}

/// Answers as soon as a request's head has come; its body has no window.
fn answers_early() -> Peer {
    server_but(|now, _, came| match came {
        Came::Connection => Some(vec![(now, settings(&[(INITIAL_WINDOW_SIZE, 0)]))]),
        Came::Head(stream) => Some(vec![(now + MILLI, answer(stream))]),
        Came::Request(..) => Some(Vec::new()),
        Came::Reset(_) | Came::Window(_) => None,
    })
}

/// Of each row: no more than one connection is begun for so many answers, one at a time and its successor.
#[test]
fn connections_that_end_are_replaced_one_by_one() {
    let single = Run { keep_alive: false, ..closed(1) };
    let post = Run { method: "POST", body: "eight bytes", ..closed(1) };
    for (name, run, peer, each) in [
        ("GOAWAY and answer in one segment", closed(1), ends_with_answer(10), 10),
        ("one request each", single, ends_with_answer(1), 1),
        ("early answers", post, answers_early(), 10),
    ] {
        let log = Log::default();
        let engine = Simulated::reading(peer).ending_by(20 * SECOND).logged(&log);
        let seen = Run { until: SECOND, protocol: spoken(1), ..run }.press(engine);
        assert_eq!(classes(&seen), [], "{name}");
        let (begun, at_once) = (seen.connections.begun, open_and_most(&log).1);
        let is_one_by_one = begun <= seen.correct / each + 2 && at_once <= 2;
        assert!(is_one_by_one, "{name}: {begun} begun for {}, {at_once} at once", seen.correct);
    }
}

/// Takes so many requests on a connection: GOAWAY comes 1 ms before the first answers, and what follows is not taken.
fn takes(most: u32) -> Peer {
    server_but(move |now, _, came| match came {
        Came::Request(number, stream) if number < most => {
            Some(vec![(now + 2 * MILLI, answer(stream))])
        }
        Came::Request(number, stream) if number == most => {
            Some(vec![(now + MILLI, goaway(stream)), (now + 2 * MILLI, answer(stream))])
        }
        Came::Request(..) => Some(Vec::new()),
        _ => None,
    })
}

/// The tenth request of each of the first four connections ends it, and the last three are not taken.
fn takes_seven_of_ten() -> Peer {
    server_but(|now, connection, came| match came {
        // Streams are numbered 1, 3, 5 …
        Came::Request(10, stream) if connection < 4 => Some(vec![(now, goaway(stream - 6))]),
        Came::Request(8.., _) if connection < 4 => Some(Vec::new()),
        _ => None,
    })
}

#[test]
fn what_a_goaway_refuses_is_answered_elsewhere_and_the_pool_does_not_shrink() {
    let closed = |connections| Run { total: 1_000, ..closed(connections) };
    let open =
        |connections, rate| Run { total: 1_000, until: 20 * SECOND, ..open(connections, rate) };
    let wider = Run { max_connections: 4, ..open(1, 2_000) };
    for (name, run, streams, peer, slowest) in [
        ("one each, closed", closed(1), 10, ends_with_answer(1), SECOND),
        ("two each, closed", closed(1), 10, takes(2), SECOND),
        ("two each, open", wider, 10, takes(2), SECOND),
        // None waits for the lane's next look.
        ("ten each, closed", closed(4), 5, takes(10), 20 * MILLI),
        ("ten each, open", open(4, 1_000), 5, takes(10), 20 * MILLI),
        ("seven of ten, closed", closed(4), 5, takes_seven_of_ten(), 20 * MILLI),
        ("seven of ten, open", open(4, 1_000), 5, takes_seven_of_ten(), 20 * MILLI),
    ] {
        let seen = against(&run, streams, peer);
        assert_eq!((seen.correct, classes(&seen)), (1_000, vec![]), "{name}");
        let longest = seen.response.quantile(1.0).unwrap().value;
        assert!(longest < slowest, "{name}: {longest}");
    }
}

/// No stream is ever allowed, or none any more: an ordered number ends all the same.
#[test]
fn a_number_of_requests_ends_where_no_stream_is_allowed() {
    let none_any_more = server_but(move |now, _, came| match came {
        Came::Connection => Some(vec![
            (now, settings(&[])),
            (now + 100 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 0)])),
        ]),
        _ => None,
    });
    for (total, peer) in
        [(20, plain(&[(MAX_CONCURRENT_STREAMS, 0)], MILLI)), (1_010, none_any_more)]
    {
        let run = Run { total, until: u64::MAX, timeout: SECOND, ..closed(2) };
        let seen = against(&Run { halt_at: 100 * SECOND, ..run }, 5, peer);
        assert_eq!(seen.attempted, total, "correct {} {:?}", seen.correct, classes(&seen));
    }
}

/// That no connection or stream is left is not dyno's doing where the server ends every connection or allows none.
#[test]
fn waiting_for_a_server_that_takes_nothing_is_not_dynos_own() {
    let ends_after_one = requested(|now, _, nth, _| match nth {
        1 => vec![(now + MILLI, goaway(0))],
        _ => Vec::new(),
    });
    let ends_at_once = || {
        server_but(|now, _, came| match came {
            Came::Connection => Some(vec![(now, [settings(&[]), goaway(0)].concat())]),
            _ => Some(Vec::new()),
        })
    };
    let no_stream = plain(&[(MAX_CONCURRENT_STREAMS, 0)], MILLI);
    let closed = |connections| Run { until: SECOND, ..closed(connections) };
    let impatient = |run: Run| Run { timeout: 80 * MILLI, ..run };
    let open = Run { until: 2 * SECOND, timeout: SECOND, ..open(2, 100) };
    let of_the_server: &[&str] = &["h2.refused", "h2.timeout", "connect.timeout"];
    for (name, run, streams, peer, expected) in [
        ("ends after a request", impatient(closed(2)), 3, ends_after_one, of_the_server),
        ("a place backs off", impatient(closed(30)), 3, ends_at_once(), of_the_server),
        ("ends at once", closed(2), 3, ends_at_once(), &["h2.refused"]),
        ("no stream", open, 5, no_stream, of_the_server),
    ] {
        let seen = against(&run, streams, peer);
        let failed = classes(&seen);
        let is_expected = |(class, _): &(&str, u64)| expected.contains(class);
        assert!(failed.iter().all(is_expected) && seen.correct == 0, "{name}: {failed:?}");
        let (begun, attempted) = (seen.connections.begun, seen.attempted);
        assert!(5 < attempted && begun < 100 * run.connections as u64, "{name}: {begun}");
    }
}

/// Whatever is due waits for a connection of its own, without keep-alive.
#[test]
fn no_connection_is_opened_ahead_without_keepalive() {
    let accept = |now: Nanos| (now + 20 * MILLI, Act::Accept);
    let engine = Simulated::new(accept, |_| Vec::new()).with_peer(one_each(None));
    let run = Run {
        until: SECOND,
        keep_alive: false,
        connections: 0,
        max_connections: 100,
        protocol: spoken(1),
        ..open(0, 10)
    };
    let seen = run.press(engine);
    assert_eq!((classes(&seen), seen.connections.begun), (vec![], seen.correct));
    let fastest = seen.response.quantile(0.0).unwrap().value;
    assert!(29 * MILLI < fastest, "{fastest}");
}
