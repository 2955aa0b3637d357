//! RFC 9113, 5.1: the states, numbers and limits of streams. Where a second frame must find a stream open, the stream is
//! kept open by a window of 0 or by a request without its end, so that no answer comes first.

use super::act::{Act, HELD, OPEN, Piece, WHOLE, begun, get, post};
use super::frame::{
    CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PRIORITY, PROTOCOL_ERROR,
    REFUSED_STREAM, RST_STREAM, STREAM_CLOSED, WINDOW_UPDATE,
};
use super::refusal::{CONNECTION, DROPPED, REFUSED_DOUBT, TAKEN, acts};
use super::sign::Sign::{AnyRefused, ConnectionError, Echo, Ends, Ok, Refused, Reset, StreamError};
use crate::case::{Area, Case, Level, Need, http2};
use crate::script::Rule::{self, All, Http2, Not, When};

const GOOD: Case = Case { area: Area::Http2Streams, clause: http2("5.1"), ..TAKEN };
const BAD: Case = Case { area: Area::Http2Streams, clause: http2("5.1"), ..CONNECTION };

/// A frame on a stream that the client has ended, and whose answer waits for a window.
const HALF_CLOSED: Case = Case {
    applies: &[WAITING],
    pass: &[Http2(StreamError(1, &[STREAM_CLOSED]))],
    warn: &[Http2(Refused(1))],
    doubt: REFUSED_DOUBT,
    demand: "a frame other than WINDOW_UPDATE, PRIORITY or RST_STREAM, on a stream that the client has ended, is a \
        stream error",
    ..BAD
};

/// A frame on a stream that both sides have ended, or the client has reset.
const CLOSED: Case = Case {
    pass: &[Http2(StreamError(1, &[STREAM_CLOSED]))],
    warn: &[Http2(Refused(1)), DROPPED],
    doubt: "another error code does not say what is wrong; and 5.1 also lets an endpoint discard what it receives on a \
        closed stream",
    ..BAD
};

/// Only a page with content waits for a window.
pub(super) const WAITING: Rule = When("an answer that waits for its window", |seen| {
    let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
    reply.is_some_and(|reply| reply.status > 0 && (!reply.is_whole || reply.length > 0))
});

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-T01",
        title: "DATA on a stream that was never opened",
        steps: acts![OPEN, Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")])],
        pass: &[Http2(StreamError(1, &[PROTOCOL_ERROR, STREAM_CLOSED]))],
        demand: "DATA on an idle stream is a connection error (5.1) or a stream error (6.1)",
        ..BAD
    },
    Case {
        id: "H2-T02",
        title: "RST_STREAM on a stream that was never opened",
        clause: http2("6.4"),
        steps: acts![OPEN, Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(CANCEL)])],
        demand: "RST_STREAM on an idle stream is a connection error",
        ..BAD
    },
    Case {
        id: "H2-T03",
        title: "WINDOW_UPDATE on a stream that was never opened",
        steps: acts![OPEN, Act::Frame(WINDOW_UPDATE, 0, 1, &[Piece::Number(100)])],
        demand: "a frame other than HEADERS or PRIORITY on an idle stream is a connection error",
        ..BAD
    },
    Case {
        id: "H2-T04",
        title: "a request on an even stream",
        clause: http2("5.1.1"),
        steps: acts![OPEN, get(2)],
        demand: "a client's streams have odd numbers; another one is a connection error",
        ..BAD
    },
    Case {
        id: "H2-T05",
        title: "a request on a lower stream than the last",
        clause: http2("5.1.1"),
        steps: acts![OPEN, get(5), Act::Until(Ok(5)), get(3)],
        pass: &[Http2(ConnectionError(&[PROTOCOL_ERROR, STREAM_CLOSED]))],
        demand: "a new stream has a higher number than all before; another one is a connection error",
        ..BAD
    },
    Case {
        id: "H2-T06",
        title: "a second request on an answered stream",
        clause: http2("5.1.1"),
        steps: acts![OPEN, get(1), Act::Until(Ok(1)), get(1)],
        pass: &[Http2(StreamError(1, &[PROTOCOL_ERROR, STREAM_CLOSED]))],
        demand: "a stream's number is never used again",
        ..CLOSED
    },
    Case {
        id: "H2-T07",
        title: "DATA after the end of a request",
        steps: acts![HELD, get(1), begun(1), Act::Frame(DATA, 0, 1, &[Piece::Octets(b"more")]),],
        ..HALF_CLOSED
    },
    Case {
        id: "H2-T08",
        title: "HEADERS after the end of a request",
        steps: acts![
            HELD,
            get(1),
            begun(1),
            Act::Frame(HEADERS, WHOLE, 1, &[Piece::Field("x-late", "1")]),
        ],
        ..HALF_CLOSED
    },
    Case {
        id: "H2-T09",
        title: "CONTINUATION after the end of a request",
        steps: acts![
            HELD,
            get(1),
            begun(1),
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Field("x-late", "1")]),
        ],
        pass: &[Http2(StreamError(1, &[STREAM_CLOSED, PROTOCOL_ERROR]))],
        ..HALF_CLOSED
    },
    Case {
        id: "H2-T10",
        title: "DATA on an answered stream",
        clause: http2("6.1"),
        steps: acts![
            OPEN,
            get(1),
            Act::Until(Ok(1)),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"late")]),
        ],
        demand: "DATA on a closed stream is a stream error",
        ..CLOSED
    },
    Case {
        id: "H2-T11",
        title: "DATA on a stream that the client has reset",
        clause: http2("6.1"),
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(CANCEL)]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"late")]),
        ],
        demand: "DATA on a closed stream is a stream error",
        ..CLOSED
    },
    Case {
        id: "H2-T12",
        title: "HEADERS on a stream that the client has reset",
        needs: Need::Post,
        twin: Some("H2-B03"),
        level: Level::Should,
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(CANCEL)]),
            Act::Frame(HEADERS, WHOLE, 1, &[Piece::Request("GET")]),
        ],
        demand: "a stream that was reset does not come to life again",
        ..CLOSED
    },
    Case {
        id: "H2-T13",
        title: "PRIORITY on an answered stream",
        steps: acts![
            OPEN,
            get(1),
            Act::Until(Ok(1)),
            Act::Frame(PRIORITY, 0, 1, &[Piece::Number(0), Piece::Octets(b"\x10")]),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        demand: "PRIORITY may come on a stream in any state",
        ..GOOD
    },
    Case {
        id: "H2-T14",
        title: "WINDOW_UPDATE on an answered stream",
        clause: http2("6.9"),
        steps: acts![
            OPEN,
            get(1),
            Act::Until(Ok(1)),
            Act::Frame(WINDOW_UPDATE, 0, 1, &[Piece::Number(100)]),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        demand: "WINDOW_UPDATE on a closed stream is no error",
        ..GOOD
    },
    Case {
        id: "H2-T15",
        title: "RST_STREAM on an answered stream",
        level: Level::Ought,
        steps: acts![
            OPEN,
            get(1),
            Act::Until(Ok(1)),
            Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(CANCEL)]),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        warn: &[Http2(Ends)],
        doubt: "a server may treat it as a connection error once it knows that the client has seen the end",
        demand: "RST_STREAM that crossed the end of an answer does no harm",
        ..GOOD
    },
    Case {
        id: "H2-T16",
        title: "a request after one that the client has reset",
        clause: http2("6.4"),
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![OPEN, post(1), Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(CANCEL)]), get(3),],
        pass: &[All(&[Http2(Ok(3)), Not(&Http2(Reset(1)))])],
        demand: "RST_STREAM ends its stream alone, and is not answered with another one (5.4.2)",
        ..GOOD
    },
    Case {
        id: "H2-T17",
        title: "one request more than the server allows at once",
        clause: http2("5.1.2"),
        applies: &[All(&[
            WAITING,
            When("a limit of at most 1,000 streams", |seen| {
                seen.heard.as_ref().is_some_and(|heard| heard.streams_max() <= 1000)
            }),
        ])],
        steps: acts![HELD, get(1), begun(1), Act::Beyond(&[get(3)]),],
        pass: &[Http2(AnyRefused(&[PROTOCOL_ERROR, REFUSED_STREAM]))],
        warn: &[Http2(Ends)],
        doubt: "the connection ended, which refuses more than the request that was too much",
        demand: "a request beyond the limit that the server has announced is refused",
        ..BAD
    },
    Case {
        id: "H2-T18",
        title: "streams that are left out",
        clause: http2("5.1.1"),
        steps: acts![OPEN, get(3), get(9), get(21)],
        pass: &[All(&[Http2(Ok(3)), Http2(Ok(9)), Http2(Ok(21))])],
        demand: "streams need not be numbered without gaps",
        ..GOOD
    },
    Case {
        id: "H2-T19",
        title: "the highest stream that there is",
        clause: http2("5.1.1"),
        steps: acts![OPEN, get(0x7fff_ffff)],
        pass: &[Http2(Ok(0x7fff_ffff))],
        demand: "streams are numbered up to 2^31-1",
        ..GOOD
    },
    Case {
        id: "H2-T20",
        title: "two requests whose contents come in turn",
        clause: http2("5"),
        weight: 3,
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![
            OPEN,
            post(1),
            post(3),
            Act::Frame(DATA, 0, 3, &[Piece::Octets(b"sec")]),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"fir")]),
            Act::Frame(DATA, END_STREAM, 3, &[Piece::Octets(b"ond")]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"st")]),
        ],
        pass: &[All(&[Http2(Echo(1, b"first")), Http2(Echo(3, b"second"))])],
        demand: "frames of different streams may come in turn",
        ..GOOD
    },
];
