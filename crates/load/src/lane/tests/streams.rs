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
use super::rig::{Run, classes, closed, open};
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
    /// The head of a request whose body follows, and its stream.
    Head(u32),
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
                HEADERS => sent.extend(does(now, *number, Came::Head(stream))),
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
        Came::Head(_) | Came::Reset(_) | Came::Window(_) => Vec::new(),
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
    let engine = Simulated::reading(peer);
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
    let lowers = server_but(move |now, _, came| match came {
        Came::Connection => Some(vec![
            (now, settings(&[(MAX_CONCURRENT_STREAMS, 50)])),
            (now + 500 * MILLI, settings(&[(MAX_CONCURRENT_STREAMS, 5)])),
        ]),
        Came::Request(_, stream) => Some(vec![(now + 10 * MILLI, answer(stream))]),
        _ => None,
    });
    let run = Run { until: SECOND, ..closed(1) };
    let seen = against(&run, 100, lowers);
    // 50 at once for half a second, then five, each 10 ms.
    assert!(seen.correct.abs_diff(50 * 50 + 5 * 50) <= 60, "{}", seen.correct);
    assert_eq!(classes(&seen), []);
}

/// A connection that is lost takes all its exchanges with it, each as far as it had come.
#[test]
fn a_lost_connection_fails_each_exchange_by_its_own_progress() {
    let cut = requested(|now, connection, nth, stream| match (connection, nth) {
        (0, 4) => {
            let head = frame(HEADERS, END_HEADERS, stream - 2, &[0x88]);
            let broken = frame(DATA, 0, 0, b"on the connection");
            vec![(now, answer(stream - 6)), (now, head), (now + MILLI, broken)]
        }
        (1, _) => vec![(now + MILLI, answer(stream))],
        _ => Vec::new(),
    });
    let run = Run { total: 4, method: "POST", ..closed(1) };
    let seen = against(&run, 4, cut);
    assert_eq!((seen.correct, classes(&seen)), (1, vec![("h2.frame", 3)]));
}

/// The kernel takes a few bytes at a time: every frame arrives whole all the same, and none twice.
#[test]
fn a_kernel_that_takes_little_at_once_loses_nothing() {
    let engine = Simulated::reading(plain(&[], MILLI)).taking(50);
    let run = Run { total: 200, method: "POST", body: "a body of {seq}", ..closed(2) };
    let seen = Run { protocol: spoken(7), ..run }.press(engine);
    assert_eq!((seen.correct, classes(&seen)), (200, vec![]));
}
