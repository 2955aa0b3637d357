//! RFC 9113, 5.4, 6.3, 6.4, 6.7 and 6.8: PING, GOAWAY, PRIORITY, PROTOCOL_ERROR, RST_STREAM, and how errors end a connection.

use super::act::{Act, HELD, OPEN, Piece, get, post};
use super::frame::{
    ACK, DATA, END_HEADERS, END_STREAM, FRAME_SIZE_ERROR, GOAWAY, HEADERS, NO_ERROR, PING,
    PRIORITY, PROTOCOL_ERROR, RST_STREAM,
};
use super::refusal::{CONNECTION, REFUSED, REFUSED_DOUBT, TAKEN, acts};
use super::sign::Sign::{
    ConnectionError, Echo, Ends, GoAway, Ok, Pong, Refused, Reset, StreamError,
};
use crate::case::{Area, Case, Level, Need, http2};
use crate::script::Rule::{All, Closes, Http2, Not, When};

const GOOD: Case = Case { area: Area::Http2Control, pass: &[Http2(Ok(1))], ..TAKEN };
const BAD: Case = Case { area: Area::Http2Control, ..CONNECTION };
const SIZE: Case = Case { pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))], ..BAD };

/// A PING that is too short: the simplest connection error.
const SHORT_PING: Act = Act::Frame(PING, 0, 0, &[Piece::Octets(b"1234567")]);

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-G01",
        title: "PING",
        clause: http2("6.7"),
        weight: 3,
        steps: acts![
            OPEN,
            Act::Frame(PING, 0, 0, &[Piece::Octets(b"dynoping")]),
            Act::Until(Pong(b"dynoping")),
            get(1),
        ],
        demand: "PING is answered with the same payload and ACK",
        ..GOOD
    },
    Case {
        id: "H2-G02",
        title: "PING with ACK that answers none",
        clause: http2("6.7"),
        steps: acts![OPEN, Act::Frame(PING, ACK, 0, &[Piece::Octets(b"dyno-ack")]), get(1)],
        pass: &[All(&[Http2(Ok(1)), Not(&Http2(Pong(b"dyno-ack")))])],
        warn: &[Http2(Ends)],
        doubt: "no sentence says what a server does with an answer to a PING that it has not sent",
        demand: "PING with ACK is not answered",
        ..GOOD
    },
    Case {
        id: "H2-G03",
        title: "PING during a request",
        clause: http2("6.7"),
        weight: 3,
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(PING, 0, 0, &[Piece::Octets(b"dyno-mid")]),
            Act::Until(Pong(b"dyno-mid")),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        pass: &[Http2(Echo(1, b"hello"))],
        demand: "PING is answered while a request is under way, and does not disturb it",
        ..GOOD
    },
    Case {
        id: "H2-G04",
        title: "PING of seven octets",
        clause: http2("6.7"),
        steps: acts![OPEN, SHORT_PING],
        demand: "PING whose length is not 8 is a connection error",
        ..SIZE
    },
    Case {
        id: "H2-G05",
        title: "PING on a stream",
        clause: http2("6.7"),
        steps: acts![OPEN, Act::Frame(PING, 0, 1, &[Piece::Octets(b"dynoping")])],
        demand: "PING on a stream other than 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-G06",
        title: "GOAWAY on a stream",
        clause: http2("6.8"),
        steps: acts![OPEN, Act::Frame(GOAWAY, 0, 1, &[Piece::Number(0), Piece::Number(NO_ERROR)]),],
        pass: &[Http2(ConnectionError(&[PROTOCOL_ERROR]))],
        demand: "GOAWAY on a stream other than 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-G07",
        title: "GOAWAY of seven octets",
        clause: http2("4.2"),
        steps: acts![OPEN, Act::Frame(GOAWAY, 0, 0, &[Piece::Octets(b"\0\0\0\0\0\0\0")])],
        demand: "a frame that is too small for what it must contain is a connection error",
        ..SIZE
    },
    Case {
        id: "H2-G08",
        title: "a request under way when the client sends GOAWAY",
        clause: http2("6.8"),
        weight: 3,
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(GOAWAY, 0, 0, &[Piece::Number(0), Piece::Number(NO_ERROR)]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        pass: &[Http2(Echo(1, b"hello"))],
        demand: "GOAWAY says that no streams will be opened; those that are open are completed",
        ..GOOD
    },
    Case {
        id: "H2-G09",
        title: "PRIORITY of four octets",
        clause: http2("6.3"),
        steps: acts![
            HELD,
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Request("GET")]),
            Act::Frame(PRIORITY, 0, 1, &[Piece::Number(0)]),
        ],
        pass: &[Http2(StreamError(1, &[FRAME_SIZE_ERROR]))],
        warn: REFUSED,
        doubt: REFUSED_DOUBT,
        demand: "PRIORITY whose length is not 5 is a stream error",
        ..BAD
    },
    Case {
        id: "H2-G10",
        title: "PRIORITY on stream 0",
        clause: http2("6.3"),
        steps: acts![OPEN, Act::Frame(PRIORITY, 0, 0, &[Piece::Number(1), Piece::Octets(b"\x10")]),],
        demand: "PRIORITY on stream 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-G11",
        title: "PRIORITY on a stream that was never opened",
        clause: http2("5.1"),
        steps: acts![
            OPEN,
            Act::Frame(PRIORITY, 0, 3, &[Piece::Number(0), Piece::Octets(b"\x10")]),
            get(1),
        ],
        demand: "PRIORITY may come on a stream in any state, and opens none",
        ..GOOD
    },
    Case {
        id: "H2-G12",
        title: "PRIORITY of a stream that depends on itself",
        clause: http2("5.3.2"),
        steps: acts![
            OPEN,
            Act::Frame(PRIORITY, 0, 3, &[Piece::Number(3), Piece::Octets(b"\x10")]),
            get(1),
        ],
        warn: &[Http2(Reset(3)), Http2(Ends)],
        doubt: "RFC 7540 demanded a stream error here; RFC 9113 has dropped priorities",
        demand: "what PRIORITY says is ignored",
        ..GOOD
    },
    Case {
        id: "H2-G13",
        title: "RST_STREAM on stream 0",
        clause: http2("6.4"),
        steps: acts![OPEN, Act::Frame(RST_STREAM, 0, 0, &[Piece::Number(8)])],
        demand: "RST_STREAM on stream 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-G14",
        title: "RST_STREAM with an unknown code",
        clause: http2("7"),
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(0xdead_beef)]),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        demand: "an unknown error code triggers no special behaviour",
        ..GOOD
    },
    Case {
        id: "H2-G15",
        title: "the end of a connection after an error",
        clause: http2("5.4.1"),
        steps: acts![OPEN, SHORT_PING],
        pass: &[All(&[Http2(ConnectionError(&[FRAME_SIZE_ERROR])), Closes])],
        warn: &[Closes],
        doubt: "the connection is closed, but GOAWAY should say why",
        demand: "after GOAWAY for an error the TCP connection is closed",
        ..BAD
    },
    Case {
        id: "H2-G16",
        title: "the last stream of a GOAWAY",
        clause: http2("6.8"),
        level: Level::Should,
        applies: &[Http2(GoAway)],
        steps: acts![OPEN, get(1), Act::Until(Ok(1)), get(3), Act::Until(Ok(3)), SHORT_PING],
        pass: &[All(&[
            Http2(GoAway),
            When("the last stream not below those that were answered", |seen| {
                seen.heard.as_ref().is_some_and(|heard| heard.last() >= Some(3))
            }),
        ])],
        warn: &[],
        doubt: "",
        demand: "GOAWAY names the last stream that was processed, so that no answered request is sent again",
        ..BAD
    },
    Case {
        id: "H2-G17",
        title: "a request that was refused harms no other",
        clause: http2("5.4.2"),
        weight: 3,
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                super::act::WHOLE,
                1,
                &[Piece::Request("GET"), Piece::Field("X-Upper", "1")]
            ),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        warn: &[Http2(Refused(3))],
        doubt: "5.4.1 lets a server treat a stream error as a connection error",
        demand: "a stream error does not affect other streams",
        ..GOOD
    },
];
