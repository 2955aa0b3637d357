//! Servers that refuse requests, allow no stream, or end their connections: no connection is left over, and no request is
//! given up that another connection would carry.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::MILLI;
use super::rig::{Run, at_once, classes, closed, open};
use super::streams::{
    Came, HEADERS, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, against, answer, begins, goaway,
    next_frame, plain, server, server_but, settings, spoken,
};
use crate::engine::{Act, Around, Break, Conn, Engine, Peer, Simulated, Slept, around_engine};
use crate::tally::Tally;
use crate::{Nanos, SECOND};

/// Counts connections that are open, and finds lanes that spin and runs that do not end.
pub(super) struct Guard<E> {
    engine: E,
    open: Rc<Cell<i64>>,
    most: Rc<Cell<i64>>,
    /// Sleeps in a row that took no time, and when the last one ended.
    still: u32,
    last: Nanos,
    limit: Nanos,
}

impl<E: Engine> Around for Guard<E> {
    around_engine!();

    fn now(&self) -> Nanos {
        let now = self.engine.now();
        assert!(now <= self.limit, "the run does not end");
        now
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        self.open.set(self.open.get() + 1);
        self.most.set(self.most.get().max(self.open.get()));
        self.engine.open(conn)
    }

    fn close(&mut self, conn: Conn) {
        self.open.set(self.open.get() - 1);
        self.engine.close(conn);
    }

    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept {
        let slept = self.engine.sleep(deadline, in_flight);
        self.still = if slept.until == self.last { self.still + 1 } else { 0 };
        self.last = slept.until;
        assert!(self.still < 2_000, "the lane spins at {}", slept.until);
        slept
    }
}

/// The engine, guarded; the connections that are open, and the most that there were at once.
pub(super) fn guard<E>(engine: E, limit: Nanos) -> (Guard<E>, Rc<Cell<i64>>, Rc<Cell<i64>>) {
    let (open, most): (Rc<Cell<i64>>, Rc<Cell<i64>>) = Default::default();
    let (opened, at_most) = (Rc::clone(&open), Rc::clone(&most));
    let guard = Guard { engine, open: opened, most: at_most, still: 0, last: 0, limit };
    (guard, open, most)
}

/// No more connections were begun than this, one at a time and its successor, and no request failed.
fn assert_replaced(seen: &Tally, begun: u64, most: &Cell<i64>) {
    assert_eq!(classes(seen), []);
    let (really, at_once) = (seen.connections.begun, most.get());
    assert!(really <= begun && at_once <= 2, "{really} begun of {begun}, {at_once} at once");
}

/// Every tenth request of a connection is its last: GOAWAY and the answer come in one segment, as nginx sends them.
fn ends_with_answer(every: u32) -> Peer {
    server_but(move |now, _, came| match came {
        Came::Request(number, stream) if number == every => {
            Some(vec![(now + MILLI, [goaway(stream), answer(stream)].concat())])
        }
        _ => None,
    })
}

#[test]
fn goaway_and_answer_in_one_segment_leak_no_connection() {
    let engine = Simulated::new(at_once, |_| Vec::new()).with_peer(ends_with_answer(10));
    let (engine, _, most) = guard(engine, 20 * SECOND);
    let seen = Run { until: SECOND, protocol: spoken(1), ..closed(1) }.press(engine);
    assert_replaced(&seen, seen.correct / 10 + 2, &most);
}

#[test]
fn goaway_with_the_answer_of_a_one_request_connection_leaks_none() {
    let engine = Simulated::new(at_once, |_| Vec::new()).with_peer(ends_with_answer(1));
    let (engine, _, most) = guard(engine, 20 * SECOND);
    let run = Run { until: SECOND, keep_alive: false, protocol: spoken(1), ..closed(1) };
    let seen = run.press(engine);
    assert_replaced(&seen, seen.correct + 2, &most);
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

/// Takes one request on a connection: GOAWAY and the answer come in one segment.
fn takes_one_in_one_segment() -> Peer {
    server_but(|now, _, came| match came {
        Came::Request(1, stream) => {
            Some(vec![(now + MILLI, [goaway(stream), answer(stream)].concat())])
        }
        Came::Request(..) => Some(Vec::new()),
        _ => None,
    })
}

#[test]
fn goaway_before_the_first_answers_refuses_nothing_for_good() {
    let closed = Run { total: 1_000, ..closed(1) };
    let open = Run { total: 1_000, until: 20 * SECOND, max_connections: 4, ..open(1, 2_000) };
    let table = [(&closed, takes_one_in_one_segment()), (&closed, takes(2)), (&open, takes(2))];
    for (run, peer) in table {
        let seen = against(run, 10, peer);
        assert_eq!((seen.correct, classes(&seen)), (1_000, vec![]));
    }
}

/// One request on a connection: GOAWAY comes 1 ms after it, the answer after 10 ms.
fn one_each() -> Peer {
    server_but(|now, _, came| match came {
        Came::Request(1, stream) => {
            Some(vec![(now + MILLI, goaway(stream)), (now + 10 * MILLI, answer(stream))])
        }
        Came::Request(..) => Some(Vec::new()),
        _ => None,
    })
}

#[test]
fn many_connections_that_take_one_request_are_not_slowed_down() {
    for keep_alive in [false, true] {
        let run = Run { until: SECOND, keep_alive, ..closed(50) };
        let seen = against(&run, 1, one_each());
        assert_eq!(classes(&seen), []);
        let (correct, begun) = (seen.correct, seen.connections.begun);
        assert!(4_850 < correct, "{keep_alive}: {correct} of 5,000, begun {begun}");
    }
}

/// No stream is ever allowed: an ordered number ends all the same.
#[test]
fn a_number_of_requests_ends_where_no_stream_is_allowed() {
    let peer = plain(&[(MAX_CONCURRENT_STREAMS, 0)], MILLI);
    let run =
        Run { total: 20, until: u64::MAX, timeout: SECOND, halt_at: 100 * SECOND, ..closed(2) };
    let seen = against(&run, 5, peer);
    assert_eq!(seen.attempted, 20, "{:?}", classes(&seen));
}

/// The number of streams that is allowed is lowered to none under way: an ordered number ends all the same.
#[test]
fn a_number_of_requests_ends_where_no_stream_is_allowed_any_more() {
    let peer = server_but(move |now, _, came| match came {
        Came::Connection => Some(vec![
            (now, settings(&[])),
            (now + 100 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 0)])),
        ]),
        _ => None,
    });
    let run =
        Run { total: 1_010, until: u64::MAX, timeout: SECOND, halt_at: 100 * SECOND, ..closed(2) };
    let seen = against(&run, 5, peer);
    assert_eq!(seen.attempted, 1_010, "correct {} {:?}", seen.correct, classes(&seen));
}

#[test]
fn no_stream_in_an_open_loop_is_the_servers_doing() {
    let peer = plain(&[(MAX_CONCURRENT_STREAMS, 0)], MILLI);
    let run = Run { until: 2 * SECOND, timeout: SECOND, ..open(2, 100) };
    let seen = against(&run, 5, peer);
    let seen = classes(&seen);
    assert!(seen.iter().all(|(class, _)| !class.starts_with("own")), "{seen:?}");
}

#[test]
fn the_wait_for_a_raised_limit_is_not_lateness() {
    let peer = || {
        server_but(move |now, _, came| match came {
            Came::Connection => Some(vec![
                (now, settings(&[(MAX_CONCURRENT_STREAMS, 0)])),
                (now + 500 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 50)])),
            ]),
            _ => None,
        })
    };
    for run in [open(2, 100), closed(2), Run { keep_alive: false, ..closed(2) }] {
        let seen = against(&Run { until: 2 * SECOND, ..run }, 5, peer());
        let late = seen.late.quantile(1.0).map_or(0, |late| late.value);
        assert!(late < 10 * MILLI, "late {late} {:?}", classes(&seen));
    }
}

/// Whatever is due waits for a connection of its own, without keep-alive.
#[test]
fn no_connection_is_opened_ahead_without_keepalive() {
    let accept = |now: Nanos| (now + 20 * MILLI, Act::Accept);
    let engine = Simulated::new(accept, |_| Vec::new()).with_peer(one_each());
    let (engine, open_ones, most) = guard(engine, 20 * SECOND);
    let run = Run {
        until: SECOND,
        keep_alive: false,
        connections: 0,
        max_connections: 100,
        protocol: spoken(1),
        ..open(0, 10)
    };
    let seen = run.press(engine);
    assert_eq!(classes(&seen), []);
    let fastest = seen.response.quantile(0.0).unwrap().value;
    assert!(
        29 * MILLI < fastest && seen.connections.begun == seen.correct,
        "{fastest}; begun {} for {}, open {}, most {}",
        seen.connections.begun,
        seen.correct,
        open_ones.get(),
        most.get()
    );
}

/// Answers as soon as a request's head has come; its body has no window.
#[test]
fn early_answers_leak_no_connection() {
    let mut unread: BTreeMap<(Conn, u32), Vec<u8>> = BTreeMap::new();
    let peer: Peer = Box::new(move |now, conn, era, bytes| {
        let is_new = !unread.contains_key(&(conn, era));
        let unread = unread.entry((conn, era)).or_default();
        unread.extend_from_slice(bytes);
        let mut sent = Vec::new();
        if is_new {
            sent.push((now, settings(&[(INITIAL_WINDOW_SIZE, 0)])));
        }
        begins(unread);
        while let Some((kind, _, stream)) = next_frame(unread) {
            if kind == HEADERS {
                sent.push((now + MILLI, answer(stream)));
            }
        }
        sent.into_iter().map(|(at, bytes)| (at, Act::Send(bytes))).collect()
    });
    let engine = Simulated::new(at_once, |_| Vec::new()).with_peer(peer);
    let (engine, _, most) = guard(engine, 20 * SECOND);
    let run = Run {
        until: SECOND,
        method: "POST",
        body: "eight bytes",
        protocol: spoken(1),
        ..closed(1)
    };
    let seen = run.press(engine);
    assert_replaced(&seen, seen.correct / 10 + 2, &most);
}

/// A request that is bound to a place whose next connection backs off has waited for the server.
#[test]
fn what_waits_while_a_place_backs_off_is_not_late() {
    let ends = server(|now, _, came| match came {
        Came::Connection => vec![(now, [settings(&[]), goaway(0)].concat())],
        Came::Request(..) | Came::Reset(_) | Came::Window(_) => Vec::new(),
    });
    let run = Run { timeout: 80 * MILLI, until: SECOND, ..closed(30) };
    let seen = classes(&against(&run, 3, ends));
    assert!(seen.iter().all(|(class, _)| !class.starts_with("own")), "{seen:?}");
}
