//! Several exchanges at once on a connection, against a simulated server that speaks HTTP/2.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

pub(super) use units::rfc9113::{
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS,
    RST_STREAM, WINDOW_UPDATE,
};
use units::rfc9113::{FRAME_HEAD, PREFACE, SETTINGS};
use wire::Limits;
use wire::h2::{H2Order, Windows};

use super::MILLI;
use super::rig::{Run, at_once, classes, closed, open};
use crate::engine::{Act, Peer, Simulated};
use crate::order::Protocol;
use crate::tally::Tally;
use crate::{Nanos, SECOND};

pub(super) const REFUSED: [u8; 4] = [0, 0, 0, 7];

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
    [&head, payload].concat()
}

pub(super) fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let pair =
        |(name, value): &(u16, u32)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &pairs.iter().flat_map(pair).collect::<Vec<u8>>())
}

pub(super) fn goaway(last: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), [0; 4]].concat())
}

/// Status 200 and the body that is expected.
pub(super) fn answer(stream: u32) -> Vec<u8> {
    let head = frame(HEADERS, END_HEADERS, stream, &[0x88]);
    [head, frame(DATA, END_STREAM, stream, b"Rust")].concat()
}

/// What has come to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    Connection,
    /// A whole request: which one of its connection, from 1, and its stream.
    Request(u32, u32),
    Reset(u32),
    /// More window for a stream.
    Window(u32),
}

/// Whether the preface has come, which is passed over.
pub(super) fn begins(unread: &mut Vec<u8>) -> bool {
    let begins = unread.starts_with(PREFACE);
    unread.drain(..if begins { PREFACE.len() } else { 0 });
    begins
}

/// Passes over the next whole frame: its kind, its flags and its stream.
pub(super) fn next_frame(unread: &mut Vec<u8>) -> Option<(u8, u8, u32)> {
    let head = unread.first_chunk::<FRAME_HEAD>()?;
    let [long, length @ .., kind, flags, _, _, _, _] = *head;
    let length = u32::from_be_bytes([0, long, length[0], length[1]]) as usize;
    let stream = u32::from_be_bytes(*head.last_chunk()?);
    let is_whole = FRAME_HEAD + length <= unread.len();
    is_whole.then(|| {
        unread.drain(..FRAME_HEAD + length);
        (kind, flags, stream)
    })
}

/// A server that reads frames, and says what follows from each event: at the time, on this connection of all, from 0.
pub(super) fn server(
    mut does: impl FnMut(Nanos, u32, Came) -> Vec<(Nanos, Vec<u8>)> + 'static,
) -> Peer {
    /// Bytes that are not a whole frame yet, the number of the connection, and how many requests it has had.
    type Connection = (Vec<u8>, u32, u32);
    let mut connections: BTreeMap<(u32, u32), Connection> = BTreeMap::new();
    Box::new(move |now, conn, era, bytes| {
        let number = connections.len() as u32;
        let (unread, number, requests) =
            connections.entry((conn, era)).or_insert_with(|| (Vec::new(), number, 0));
        unread.extend_from_slice(bytes);
        let mut sent = Vec::new();
        if begins(unread) {
            sent.extend(does(now, *number, Came::Connection));
        }
        while let Some((kind, flags, stream)) = next_frame(unread) {
            match kind {
                HEADERS | DATA if flags & END_STREAM != 0 => {
                    *requests += 1;
                    sent.extend(does(now, *number, Came::Request(*requests, stream)));
                }
                RST_STREAM => sent.extend(does(now, *number, Came::Reset(stream))),
                WINDOW_UPDATE if stream != 0 => {
                    sent.extend(does(now, *number, Came::Window(stream)));
                }
                _ => {}
            }
        }
        sent.into_iter().map(|(at, bytes)| (at, Act::Send(bytes))).collect()
    })
}

/// Introduces itself at once, with these SETTINGS, and answers each request after this delay.
pub(super) fn plain(announced: &'static [(u16, u32)], delay: Nanos) -> Peer {
    server(move |now, _, came| obey(now, came, announced, delay))
}

fn obey(now: Nanos, came: Came, announced: &[(u16, u32)], delay: Nanos) -> Vec<(Nanos, Vec<u8>)> {
    match came {
        Came::Connection => vec![(now, settings(announced))],
        Came::Request(_, stream) => vec![(now + delay, answer(stream))],
        Came::Reset(_) | Came::Window(_) => Vec::new(),
    }
}

/// A server that introduces itself at once and answers each request after a millisecond, except where `does` says
/// otherwise.
pub(super) fn server_but(
    mut does: impl FnMut(Nanos, u32, Came) -> Option<Vec<(Nanos, Vec<u8>)>> + 'static,
) -> Peer {
    server(move |now, connection, came| {
        does(now, connection, came).unwrap_or_else(|| obey(now, came, &[], MILLI))
    })
}

/// A server that introduces itself at once, and does this with each request: of which connection, the how-manieth there,
/// on which stream.
pub(super) fn requested(
    mut does: impl FnMut(Nanos, u32, u32, u32) -> Vec<(Nanos, Vec<u8>)> + 'static,
) -> Peer {
    server_but(move |now, connection, came| match came {
        Came::Request(nth, stream) => Some(does(now, connection, nth, stream)),
        _ => None,
    })
}

/// A server that does something else after the first request of the first connection, and then answers each.
pub(super) fn first_of_all(does: impl Fn(Nanos) -> Vec<(Nanos, Vec<u8>)> + 'static) -> Peer {
    server_but(move |now, connection, came| {
        ((connection, came) == (0, Came::Request(1, 1))).then(|| does(now))
    })
}

pub(super) fn spoken(streams: u16) -> Protocol {
    Protocol::Http2(H2Order {
        streams: NonZeroU16::new(streams).unwrap(),
        windows: Windows::default(),
        indexed: true,
        limits: Limits::default(),
    })
}

pub(super) fn against(run: &Run, streams: u16, peer: Peer) -> Tally {
    let engine = Simulated::new(at_once, |_| Vec::new()).with_peer(peer);
    Run { protocol: spoken(streams), ..run.clone() }.press(engine)
}

#[test]
fn a_closed_loop_is_connections_times_streams() {
    for (connections, streams) in [(1, 1), (1, 100), (16, 10)] {
        let run = Run { until: SECOND, ..closed(connections) };
        let seen = against(&run, streams, plain(&[], MILLI));
        let at_once = u64::try_from(connections).unwrap() * u64::from(streams);
        assert_eq!(classes(&seen), []);
        assert!(seen.correct.abs_diff(at_once * 1_000) <= 2 * at_once, "{}", seen.correct);
        assert_eq!(seen.connections.begun, connections as u64);
        let slowest = seen.response.quantile(1.0).unwrap().value;
        assert!(slowest.abs_diff(MILLI) <= MILLI / 50, "{slowest}");
        assert_eq!(seen.blocked.count(), 0, "no request waited for a stream");
    }
}

/// The server freezes for a second; whatever was due in it waits for its end, and the waiting is seen.
#[test]
fn a_freeze_is_seen_by_all_that_was_due_in_it() {
    let freezes = || {
        requested(|now, _, _, stream| {
            let frozen = 2 * SECOND..3 * SECOND;
            let at = if frozen.contains(&now) { frozen.end } else { now };
            vec![(at + MILLI, answer(stream))]
        })
    };
    // With room for all: they leave when they are due, and wait for their answers.
    let run = Run { until: 5 * SECOND, ..open(4, 1_000) };
    let seen = against(&run, 300, freezes());
    let quantile = |tally: &Tally, q| tally.response.quantile(q).unwrap().value;
    assert_eq!((seen.correct, classes(&seen)), (5_000, vec![]));
    // A fifth of all requests wait, evenly up to a second.
    assert!(quantile(&seen, 0.9).abs_diff(501 * MILLI) <= 10 * MILLI, "{}", quantile(&seen, 0.9));
    assert_eq!(seen.blocked.count(), 0);
    // With too few streams they wait for one, and have waited as long.
    let seen = against(&run, 5, freezes());
    assert_eq!((seen.correct, classes(&seen)), (5_000, vec![]));
    // A thousand wait at its end, and twenty at a time leave each millisecond.
    assert!(quantile(&seen, 0.9).abs_diff(526 * MILLI) <= 26 * MILLI, "{}", quantile(&seen, 0.9));
    assert!(900 < seen.blocked.count(), "no stream was free: {}", seen.blocked.count());
}

/// Connections end after ten requests. If the last few are not taken, only the first four connections do: a request that
/// is refused three times has failed.
#[test]
fn goaway_loses_no_request_and_never_shrinks_the_pool() {
    let ends = |beyond: u32| {
        server(move |now, connection, came| match came {
            Came::Connection => vec![(now, settings(&[]))],
            Came::Request(_, stream) if 0 < beyond && 4 <= connection => {
                vec![(now + MILLI, answer(stream))]
            }
            // Streams are numbered 1, 3, 5 …: the tenth is 19.
            Came::Request(10, stream) => {
                let last = stream - 2 * beyond;
                let said = vec![(now, goaway(last))];
                if beyond == 0 {
                    [said, vec![(now + MILLI, answer(stream))]].concat()
                } else {
                    said
                }
            }
            Came::Request(..=9, stream) if stream <= 19 - 2 * beyond => {
                vec![(now + MILLI, answer(stream))]
            }
            _ => Vec::new(),
        })
    };
    for beyond in [0, 3] {
        for run in [
            Run { total: 1_000, ..closed(4) },
            Run { total: 1_000, until: 20 * SECOND, ..open(4, 1_000) },
        ] {
            let seen = against(&run, 5, ends(beyond));
            assert_eq!((seen.correct, classes(&seen)), (1_000, vec![]), "{beyond} beyond");
            assert_eq!(0 < seen.notes.refused, 0 < beyond, "{}", seen.notes.refused);
            let slowest = seen.response.quantile(1.0).unwrap().value;
            assert!(slowest < 20 * MILLI, "none waits for the next look: {slowest}");
        }
    }
}

/// A request that is refused unread goes out again, and its delay begins where it was due.
#[test]
fn a_refused_request_keeps_its_intended_start() {
    let refuses = |times: u32| {
        server_but(move |now, _, came| match came {
            Came::Request(number, stream) if number <= times => {
                Some(vec![(now + 10 * MILLI, frame(RST_STREAM, 0, stream, &REFUSED))])
            }
            _ => None,
        })
    };
    let run = Run { total: 1, ..open(1, 10) };
    let seen = against(&run, 4, refuses(2));
    assert_eq!((seen.correct, seen.notes.refused), (1, 2), "{:?}", classes(&seen));
    let (response, service) = (seen.response.quantile(1.0), seen.service.quantile(1.0));
    assert!(response.unwrap().value.abs_diff(21 * MILLI) <= MILLI, "{response:?}");
    assert!(service.unwrap().value.abs_diff(MILLI) <= MILLI / 10, "{service:?}");
    // In the end it has failed.
    let seen = against(&run, 4, refuses(3));
    assert_eq!(classes(&seen), [("h2.refused", 1)]);
    // A POST is sent again as well: the server says that it has not looked at it.
    let post = Run { method: "POST", ..run };
    assert_eq!(against(&post, 4, refuses(2)).correct, 1);
}

/// One of ten streams is never answered; the others go on, and its connection, too.
#[test]
fn a_stream_that_is_out_of_time_costs_the_others_nothing() {
    let silent = server_but(|_, _, came| matches!(came, Came::Request(10, _)).then(Vec::new));
    let run = Run { until: 2 * SECOND, timeout: 500 * MILLI, ..closed(1) };
    let seen = against(&run, 10, silent);
    assert_eq!(classes(&seen), [("recv.first_byte_timeout", 1)]);
    assert_eq!((seen.connections.begun, seen.notes.idle_closed), (1, 0));
    let expected = 2_000 * 10 - 500;
    assert!(seen.correct.abs_diff(expected) <= 40, "{}", seen.correct);
}

/// After more than ten streams that were given up, a connection is replaced: a server takes more for an attack.
#[test]
fn a_connection_with_many_streams_given_up_is_replaced() {
    let silent = server_but(|_, connection, came| match came {
        Came::Request(..) if connection != 1 => Some(Vec::new()),
        _ => None,
    });
    let run = Run { until: SECOND, timeout: 100 * MILLI, ..closed(1) };
    let seen = against(&run, 20, silent);
    assert_eq!(seen.connections.begun, 2);
    assert_eq!(classes(&seen), [("recv.first_byte_timeout", 20)]);
    assert!(17_000 < seen.correct, "{}", seen.correct);
}

/// The server allows fewer streams while many are under way: no more than that leave from then on.
#[test]
fn settings_that_lower_the_limit_are_obeyed() {
    let mut most = 0;
    let mut under_way = 0_i32;
    let lowers = server(move |now, _, came| match came {
        Came::Connection => vec![
            (now, settings(&[(MAX_CONCURRENT_STREAMS, 50)])),
            (now + 500 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 5)])),
        ],
        Came::Request(_, stream) => {
            under_way += 1;
            if 600 * MILLI < now {
                most = most.max(under_way);
                assert!(under_way <= 5, "{under_way} at once");
            }
            under_way -= 1;
            vec![(now + 10 * MILLI, answer(stream))]
        }
        Came::Reset(_) | Came::Window(_) => Vec::new(),
    });
    let run = Run { until: SECOND, ..closed(1) };
    let seen = against(&run, 100, lowers);
    // 50 at once for half a second, then five, each 10 ms.
    assert!(seen.correct.abs_diff(50 * 50 + 5 * 50) <= 60, "{}", seen.correct);
    assert_eq!(classes(&seen), []);
}

/// Bodies wait for the server's window; the requests are whole only when it has opened.
#[test]
fn a_body_that_waits_for_a_window_leaves_when_it_opens() {
    let opens = |ever: bool| {
        server_but(move |now, _, came| match came {
            Came::Connection if ever => Some(vec![
                (now, settings(&[(INITIAL_WINDOW_SIZE, 0)])),
                (now + 50 * MILLI, settings(&[(INITIAL_WINDOW_SIZE, 1_000)])),
                (now + 60 * MILLI, frame(WINDOW_UPDATE, 0, 0, &1_000_u32.to_be_bytes())),
            ]),
            Came::Connection => Some(vec![(now, settings(&[(INITIAL_WINDOW_SIZE, 0)]))]),
            _ => None,
        })
    };
    let run = Run { total: 3, timeout: SECOND, method: "POST", body: "eight bytes", ..closed(1) };
    let seen = against(&run, 3, opens(true));
    assert_eq!((seen.correct, classes(&seen)), (3, vec![]));
    let service = seen.service.quantile(1.0).unwrap().value;
    assert!(service.abs_diff(51 * MILLI) <= MILLI, "{service}");
    let seen = against(&run, 3, opens(false));
    assert_eq!((seen.correct, seen.failed_in_all()), (0, 3), "{:?}", classes(&seen));
}

/// A connection that is lost takes all its exchanges with it, each as far as it had come.
#[test]
fn a_lost_connection_fails_each_exchange_by_its_own_progress() {
    let cut = server(|now, connection, came| match came {
        Came::Connection => vec![(now, settings(&[]))],
        Came::Request(4, stream) if connection == 0 => {
            let head = frame(HEADERS, END_HEADERS, stream - 2, &[0x88]);
            let broken = frame(DATA, 0, 0, b"on the connection");
            vec![(now, answer(stream - 6)), (now, head), (now + MILLI, broken)]
        }
        Came::Request(_, stream) if connection == 1 => vec![(now + MILLI, answer(stream))],
        _ => Vec::new(),
    });
    let run = Run { total: 4, method: "POST", ..closed(1) };
    let seen = against(&run, 4, cut);
    assert_eq!((seen.correct, classes(&seen)), (1, vec![("h2.frame", 3)]));
}

/// The kernel takes a few bytes at a time: every frame arrives whole all the same, and none twice.
#[test]
fn a_kernel_that_takes_little_at_once_loses_nothing() {
    let engine = Simulated::new(at_once, |_| Vec::new()).with_peer(plain(&[], MILLI)).taking(50);
    let run = Run { total: 200, method: "POST", body: "a body of {seq}", ..closed(2) };
    let seen = Run { protocol: spoken(7), ..run }.press(engine);
    assert_eq!((seen.correct, classes(&seen)), (200, vec![]));
}

/// A connection is ready when the server has introduced itself, not before.
#[test]
fn no_request_leaves_before_the_server_has_introduced_itself() {
    let slow = server(|now, _, came| match came {
        Came::Connection => vec![(now + 300 * MILLI, settings(&[]))],
        Came::Request(_, stream) => {
            assert!(300 * MILLI <= now);
            vec![(now + MILLI, answer(stream))]
        }
        Came::Reset(_) | Came::Window(_) => Vec::new(),
    });
    let run = Run { total: 8, ..closed(1) };
    let seen = against(&run, 4, slow);
    assert_eq!((seen.correct, classes(&seen)), (8, vec![]));
    let mute = server(|_, _, _| Vec::new());
    let run = Run { total: 1, timeout: 200 * MILLI, ..closed(1) };
    assert_eq!(classes(&against(&run, 4, mute)), [("h2.timeout", 1)]);
}

/// The server refuses whatever it is sent, and ends the connection: that no connection is left is not dyno's fault.
#[test]
fn waiting_while_the_server_ends_every_connection_is_not_dynos_own() {
    let ends = requested(|now, _, nth, _| match nth {
        1 => vec![(now + MILLI, goaway(0))],
        _ => Vec::new(),
    });
    let run = Run { timeout: 80 * MILLI, until: SECOND, ..closed(2) };
    let seen = against(&run, 3, ends);
    let mut seen_classes = classes(&seen);
    seen_classes
        .retain(|(class, _)| !["h2.refused", "h2.timeout", "connect.timeout"].contains(class));
    assert_eq!(seen_classes, []);
    assert!(10 < seen.failed_in_all(), "{}", seen.failed_in_all());
}

/// A server that ends each connection before it carried anything: its requests fail in the end.
#[test]
fn requests_that_never_get_a_stream_fail_in_time() {
    let ends = server(|now, _, came| match came {
        Came::Connection => vec![(now, [settings(&[]), goaway(0)].concat())],
        Came::Request(..) | Came::Reset(_) | Came::Window(_) => Vec::new(),
    });
    let seen = against(&Run { until: SECOND, ..closed(2) }, 3, ends);
    assert_eq!(classes(&seen), [("h2.refused", seen.attempted)]);
    assert!((6..100).contains(&seen.connections.begun), "not hammered: {}", seen.connections.begun);
}
