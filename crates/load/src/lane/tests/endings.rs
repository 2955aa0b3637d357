//! Connections that end while requests are under way, against a simulated server: nothing is lost, stuck, or blamed on the
//! wrong side.

use std::cell::Cell;
use std::rc::Rc;

use super::MILLI;
use super::rig::{Passed, Run, at_once, classes, closed, open, sessions};
use super::streams::{
    Came, DATA, REFUSED, RST_STREAM, against, answer, first_of_all, frame, goaway, plain,
    server_but, spoken,
};
use crate::engine::{Around, Break, Conn, Engine, Event, Peer, Simulated, Slept, around_engine};
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

/// Each request left within 10 ms of the instant at which nothing but dyno kept it.
fn assert_punctual(seen: &Tally) {
    let late = seen.late.quantile(1.0).unwrap().value;
    let (count, failed) = (seen.late.count(), classes(seen));
    assert!(late < 10 * MILLI, "late {late} ns, of {count}; {} correct, {failed:?}", seen.correct);
}

/// It has answered more than so many.
fn assert_more(seen: &Tally, than: u64) {
    let (correct, begun) = (seen.correct, seen.connections.begun);
    assert!(than < correct, "{correct} correct, {:?}, begun {begun}", classes(seen));
}

/// A request that the server refuses has waited for the server.
#[test]
fn the_wait_for_a_refusal_is_not_dynos_lateness() {
    let refuses = first_of_all(|now| vec![(now + 100 * MILLI, frame(RST_STREAM, 0, 1, &REFUSED))]);
    let seen = against(&Run { total: 1, ..open(1, 10) }, 4, refuses);
    assert_punctual(&seen);
}

/// A request that was given back, because its connection ends, has waited for the server.
#[test]
fn nor_is_the_wait_for_a_goaway() {
    let refuses = first_of_all(|now| vec![(now + 100 * MILLI, goaway(0))]);
    let seen = against(&Run { total: 20, ..open(2, 100) }, 4, refuses);
    assert_punctual(&seen);
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

/// A request comes back when no more are to begin.
#[test]
fn the_last_requests_go_out_again_too() {
    let ends = first_of_all(|now| vec![(now + 10 * MILLI, goaway(0))]);
    let seen = against(&Run { total: 3, ..closed(2) }, 1, ends);
    assert_eq!((seen.correct, classes(&seen)), (3, vec![]));
}

/// A request comes back when the time is over.
#[test]
fn a_request_that_comes_back_after_the_end_goes_out_again() {
    let ends = first_of_all(|_| vec![(SECOND + 10 * MILLI, goaway(0))]);
    let seen = against(&Run { until: SECOND, ..closed(2) }, 1, ends);
    assert_eq!((classes(&seen), seen.under_way), (vec![], 0));
}

/// The connection that took its place has rested meanwhile, and takes over.
#[test]
fn a_closed_loop_does_not_run_dry_when_a_draining_connection_breaks() {
    let ends = drains_and_breaks();
    let seen = against(&Run { until: SECOND, ..closed(1) }, 10, ends);
    assert_more(&seen, 9_000);
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

/// Servers that take one request on a connection say so at once.
#[test]
fn goaway_before_the_answer_of_a_one_request_connection_costs_nothing() {
    let ends = server_but(|now, _, came| match came {
        Came::Request(1, stream) => {
            Some(vec![(now + MILLI, goaway(NOTHING_REFUSED)), (now + 10 * MILLI, answer(stream))])
        }
        _ => None,
    });
    let seen = against(&Run { until: SECOND, keep_alive: false, ..closed(2) }, 1, ends);
    assert_more(&seen, 180);
}

#[test]
fn a_session_goes_on_elsewhere_when_its_connection_ends_in_two_steps() {
    let ends = ends_in_two_steps();
    let seen = against(&sessions(2, 10, 1), 1, ends);
    assert_eq!(
        (seen.correct, classes(&seen)),
        (2, vec![]),
        "slowest {:?}",
        seen.response.quantile(1.0)
    );
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
    let engines = [4, 6].map(|last| Simulated::new(at_once, |_| Vec::new()).with_peer(ends(last)));
    let run = Run { lanes: 2, protocol: spoken(1), ..sessions(10, 10, 20) };
    let seen = run.record(engines).total;
    let cut = Cut { sessions: 20, unreached: 100, calls_min: 4, calls_max: 6 };
    assert_eq!((seen.attempted, classes(&seen)), (100, vec![]));
    assert_eq!(seen.sessions, Sessions { attempted: 20, complete: 0, failed: 20, cut });
}

/// A kernel that takes nothing for a while, once it has taken so much.
struct Clogged<E> {
    engine: E,
    left: usize,
    until: Nanos,
    waits: Vec<u32>,
}

impl<E: Engine> Around for Clogged<E> {
    around_engine!();

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        if self.until <= self.engine.now() {
            return self.engine.write(conn, bytes);
        }
        let len = bytes.len().min(self.left);
        self.left -= len;
        if len < bytes.len() {
            self.waits.push(conn);
        }
        if 0 < len {
            self.engine.write(conn, &bytes[..len])?;
        }
        Ok(len)
    }

    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept {
        let deadline = if self.waits.is_empty() || self.until < self.engine.now() {
            deadline
        } else {
            deadline.min(self.until)
        };
        self.engine.sleep(deadline, in_flight)
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        let any = self.engine.deliver(deliver);
        let now = self.engine.now();
        if self.until <= now {
            for conn in self.waits.drain(..) {
                deliver(conn, Event::Writable, now);
            }
        }
        any
    }
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

/// The server reads nothing for half a second, and the kernel takes no more.
#[test]
fn a_full_socket_is_not_lateness() {
    for connections in [1, 2] {
        let inner = Simulated::new(at_once, |_| Vec::new()).with_peer(plain(&[], MILLI));
        let engine = Clogged { engine: inner, left: 300, until: 500 * MILLI, waits: Vec::new() };
        let run = Run {
            until: SECOND,
            timeout: 800 * MILLI,
            protocol: spoken(100),
            ..open(connections, 100)
        };
        let seen = run.press(engine);
        assert_punctual(&seen);
    }
}

/// The server reads nothing for half a second, and requests time out meanwhile.
#[test]
fn what_a_full_socket_keeps_back_is_not_late() {
    let inner = Simulated::new(at_once, |_| Vec::new()).with_peer(plain(&[], MILLI));
    let engine = Clogged { engine: inner, left: 300, until: 500 * MILLI, waits: Vec::new() };
    let run = Run { until: SECOND, timeout: 200 * MILLI, protocol: spoken(100), ..open(1, 100) };
    let seen = run.press(engine);
    let seen = classes(&seen);
    assert!(
        seen.iter().all(|(class, _)| ["send.timeout", "own.blocked"].contains(class)),
        "{seen:?}"
    );
}

/// Counts the connections that are closed.
struct Counted<E> {
    engine: E,
    closed: Rc<Cell<u32>>,
}

impl<E: Engine> Around for Counted<E> {
    around_engine!();

    fn close(&mut self, conn: Conn) {
        self.closed.set(self.closed.get() + 1);
        self.engine.close(conn);
    }
}

/// It has nothing more to wait for.
#[test]
fn a_connection_whose_last_request_comes_back_is_closed() {
    let ends = ends_in_two_steps();
    let closed_ones = Rc::new(Cell::new(0));
    let inner = Simulated::new(at_once, |_| Vec::new()).with_peer(ends);
    let engine = Counted { engine: inner, closed: Rc::clone(&closed_ones) };
    let seen = Run { until: SECOND, protocol: spoken(1), ..closed(1) }.press(engine);
    assert_eq!((closed_ones.get(), seen.connections.begun), (1, 2));
}

/// Two connections of ten streams; one drains and then breaks.
#[test]
fn no_share_of_a_closed_loop_is_lost() {
    let ends = drains_and_breaks();
    let seen = against(&Run { until: SECOND, ..closed(2) }, 10, ends);
    assert_more(&seen, 18_000);
}
