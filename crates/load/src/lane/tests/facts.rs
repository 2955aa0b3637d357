//! What is counted of HTTP/2, against a simulated server whose every step is known.

use wire::h2::{H2Order, Windows};

use super::MILLI;
use super::rig::{Run, after, at_once, classes, closed};
use super::streams::{
    Came, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, WINDOW_UPDATE, against, answer, frame, goaway, plain, requested,
    server, server_but, settings, spoken,
};
use crate::SECOND;
use crate::engine::Simulated;
use crate::http2::{Http2, Waits};
use crate::order::Protocol;
use crate::tally::Tally;

fn http2(tally: &Tally) -> &Http2 {
    tally.http2.as_deref().expect("HTTP/2 was spoken")
}

/// A server that is never in the way: nothing is counted but frames and answers.
#[test]
fn a_server_without_limits_is_waited_for_by_no_window() {
    let seen = against(&Run { total: 40, ..closed(2) }, 10, plain(&[], MILLI));
    let found = http2(&seen);
    let streams = found.effective_streams();
    assert_eq!((seen.correct, found.traffic.answers, streams), (40, 40, Some((10, 10))));
    let traffic = &found.traffic;
    assert_eq!((traffic.own_window, traffic.peer_window), (Waits::default(), Waits::default()));
    assert_eq!((traffic.goaways.sum(), traffic.refused, traffic.resets_sent), (0, 0, 0));
    assert_eq!(traffic.frames.sorted(), [("DATA", 40), ("HEADERS", 40), ("SETTINGS", 2)]);
    assert_eq!(found.settings.iter().map(|(_, connections)| connections).sum::<u64>(), 2);
    let plain = Run { total: 1, ..closed(1) };
    assert!(plain.press(Simulated::new(at_once, after(MILLI))).http2.is_none());
}

#[test]
fn the_time_until_settings_is_a_time_of_its_own_in_which_no_request_leaves() {
    let slow = server_but(|now, _, came| match came {
        Came::Request(..) => {
            assert!(300 * MILLI <= now, "{now}");
            None
        }
        Came::Connection => {
            Some(vec![(now + 300 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 3)]))])
        }
        _ => None,
    });
    let seen = against(&Run { total: 8, ..closed(1) }, 4, slow);
    let ready = http2(&seen).ready.as_ref().unwrap();
    assert_eq!(ready.count(), 1);
    let took = ready.quantile(1.0).unwrap().value;
    assert!(took.abs_diff(300 * MILLI) <= MILLI, "{took}");
    assert!(seen.connect.quantile(1.0).unwrap().value < MILLI, "TCP took no time");
    assert_eq!(http2(&seen).effective_streams(), Some((3, 3)));
}

/// A window of 1,000 octets more for a stream.
fn opened(stream: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &1_000_u32.to_be_bytes())
}

/// Three bodies wait for 50 ms; or until they are given up, which is a failure with a name of its own.
#[test]
fn the_wait_for_the_servers_window_is_counted() {
    let opens = |ever: bool| {
        server(move |now, _, came| match came {
            Came::Connection if ever => vec![
                (now, settings(&[(INITIAL_WINDOW_SIZE, 0)])),
                // Nothing but more window: there is nothing to answer.
                (now + 50 * MILLI, [1, 3, 5].map(opened).concat()),
            ],
            Came::Connection => vec![(now, settings(&[(INITIAL_WINDOW_SIZE, 0)]))],
            Came::Request(_, stream) => vec![(now + MILLI, answer(stream))],
            Came::Head(_) | Came::Reset(_) | Came::Window(_) => Vec::new(),
        })
    };
    let run = Run { total: 3, timeout: SECOND, method: "POST", body: "eight bytes", ..closed(1) };
    // What is given up is looked for every so often.
    let near = |waits: Waits, each: u64| {
        assert_eq!(waits.times, 3);
        assert!(waits.longest.abs_diff(each) <= each / 100, "{waits:?}");
        assert!(waits.sum.abs_diff(3 * each) <= 3 * each / 100, "{waits:?}");
    };
    let seen = against(&run, 3, opens(true));
    assert_eq!(seen.correct, 3);
    near(http2(&seen).traffic.peer_window, 50 * MILLI);
    let seen = against(&run, 3, opens(false));
    assert_eq!(classes(&seen), [("send.window", 3)]);
    assert_eq!(seen.response.censored(), 3);
    near(http2(&seen).traffic.peer_window, SECOND);
}

/// The server may send two octets at once, and sends the next two 5 ms after it was allowed to.
#[test]
fn the_wait_for_our_window_is_counted() {
    let halves = server(|now, _, came| match came {
        Came::Connection => vec![(now, settings(&[]))],
        Came::Request(_, stream) => vec![
            (now, frame(HEADERS, END_HEADERS, stream, &[0x88])),
            (now, frame(DATA, 0, stream, b"Ru")),
        ],
        Came::Window(stream) => {
            vec![(now + 5 * MILLI, frame(DATA, END_STREAM, stream, b"st"))]
        }
        Came::Head(_) | Came::Reset(_) => Vec::new(),
    });
    let Protocol::Http2(order) = spoken(1) else { unreachable!() };
    let narrow = H2Order { windows: Windows::new(2, 65_535).unwrap(), ..order };
    let engine = Simulated::reading(halves);
    let run = Run { total: 10, protocol: Protocol::Http2(narrow), ..closed(1) };
    let seen = run.press(engine);
    assert_eq!((seen.correct, classes(&seen)), (10, vec![]));
    let waits = http2(&seen).traffic.own_window;
    assert_eq!(waits.times, 10, "the end of an answer leaves nothing to wait with");
    assert!(waits.sum.abs_diff(50 * MILLI) <= MILLI, "{waits:?}");
    assert!(waits.longest.abs_diff(5 * MILLI) <= MILLI / 10, "{waits:?}");
}

/// Every connection ends after ten requests, the last three of which are not taken.
#[test]
fn connections_that_end_are_counted_once_and_requests_that_come_back_each_time() {
    let ends = server_but(|now, connection, came| match came {
        Came::Request(10, stream) if connection == 0 => {
            Some(vec![(now, goaway(stream - 6)), (now, goaway(stream - 6))])
        }
        Came::Request(8..=10, _) if connection == 0 => Some(Vec::new()),
        _ => None,
    });
    let seen = against(&Run { total: 100, ..closed(1) }, 10, ends);
    let found = http2(&seen);
    assert_eq!((seen.correct, found.traffic.goaways.sorted()), (100, vec![("NO_ERROR", 1)]));
    assert_eq!((found.traffic.refused, seen.notes.refused), (3, 3));
    assert_eq!((found.traffic.frames.of("GOAWAY"), found.traffic.resets_received.sum()), (2, 0));
    assert_eq!(seen.notes.announced_closes, 0, "GOAWAY is counted as such");
}

/// The server answers nothing, and asks for calm when the client gives up; a twin asks for calm at once.
#[test]
fn calm_that_follows_our_own_resets_is_told_apart() {
    let calm = |now| vec![(now, frame(GOAWAY, 0, 0, &[0, 0, 0, 0, 0, 0, 0, 11]))];
    let asks = |at_once: bool| {
        server(move |now, connection, came| match came {
            Came::Connection => vec![(now, settings(&[]))],
            Came::Request(..) if connection == 0 && at_once => calm(now),
            Came::Request(..) if connection == 0 => Vec::new(),
            Came::Request(_, stream) => vec![(now + MILLI, answer(stream))],
            Came::Reset(_) => calm(now),
            Came::Head(_) | Came::Window(_) => Vec::new(),
        })
    };
    let run = Run { total: 10, timeout: 100 * MILLI, ..closed(1) };
    let seen = against(&run, 2, asks(false));
    let found = http2(&seen);
    assert_eq!((found.traffic.calm_after_resets, 0 < found.traffic.resets_sent), (1, true));
    assert_eq!(found.traffic.goaways.sorted(), [("ENHANCE_YOUR_CALM", 1)]);
    let seen = against(&run, 2, asks(true));
    assert_eq!((http2(&seen).traffic.calm_after_resets, http2(&seen).traffic.resets_sent), (0, 0));
}

/// Whatever the server gives us in one go is one read.
#[test]
fn answers_that_come_at_once_are_counted_by_the_read() {
    let together = |size: u32| {
        let mut held: Vec<u32> = Vec::new();
        requested(move |now, _, _, stream| {
            held.push(stream);
            if held.len() < size as usize {
                return Vec::new();
            }
            vec![(now + MILLI, held.drain(..).flat_map(answer).collect())]
        })
    };
    for size in [1, 5] {
        let seen = against(&Run { total: 50, ..closed(1) }, 5, together(size));
        let found = http2(&seen);
        assert_eq!(
            (found.traffic.answers, found.traffic.reads_with_answers),
            (50, 50 / u64::from(size)),
            "{size}"
        );
    }
}
