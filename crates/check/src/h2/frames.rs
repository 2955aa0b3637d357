//! RFC 9113, 3.4, 4.1, 4.2 and 5.5: the preface, and how frames are made.

use super::act::{Act, HELD, OPEN, Piece, WHOLE, get, post};
use super::frame::{
    DATA, END_HEADERS, END_STREAM, FRAME_SIZE_ERROR, HEADERS, PING, PROTOCOL_ERROR, RST_STREAM,
    WINDOW_UPDATE,
};
use super::refusal::{CONNECTION, REFUSED, REFUSED_DOUBT, TAKEN, acts};
use super::sign::Sign::{ConnectionError, Echo, Ok, Pong, StreamError};
use crate::case::{Area, Case, Need, http2};
use crate::script::Rule::{self, All, Closes, Http2, When};

/// The length of a frame cannot be said if it is above the largest SETTINGS_MAX_FRAME_SIZE.
const LIMITED: &[Rule] = &[When("a MAX_FRAME_SIZE below 2^24-1", |seen| {
    seen.heard.as_ref().is_some_and(|heard| heard.limits().frame_max < (1 << 24) - 1)
})];

/// What must be taken.
const GOOD: Case = Case { area: Area::Http2Frames, ..TAKEN };

/// RFC 9113, 3.4: what is no preface need not be told so in HTTP/2.
const PREFACE: Case = Case {
    area: Area::Http2Frames,
    clause: http2("3.4"),
    pass: &[
        Http2(ConnectionError(&[PROTOCOL_ERROR])),
        Closes,
        When("a refusal in HTTP/1.1", |seen| seen.received.starts_with(b"HTTP/1.")),
    ],
    warn: &[],
    doubt: "",
    demand: "what does not begin with the preface and SETTINGS is a connection error; GOAWAY may be left out",
    ..CONNECTION
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-F01",
        title: "a preface with another octet in it",
        steps: acts![Act::Octets(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\rX\0\0\0\x04\0\0\0\0\0")],
        ..PREFACE
    },
    Case {
        id: "H2-F02",
        title: "a preface that is followed by PING",
        steps: acts![Act::Octets(
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x08\x06\0\0\0\0\0preface!"
        )],
        ..PREFACE
    },
    Case {
        id: "H2-F03",
        title: "a preface with empty SETTINGS",
        clause: http2("3.4"),
        steps: acts![Act::Open(&[]), get(1)],
        pass: &[Http2(Ok(1))],
        demand: "the SETTINGS of the preface may be empty",
        ..GOOD
    },
    Case {
        id: "H2-F04",
        title: "DATA of 16,384 octets",
        clause: http2("4.2"),
        weight: 3,
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![OPEN, post(1), Act::Frame(DATA, END_STREAM, 1, &[Piece::Fill(b'x', 16_384)])],
        pass: &[Http2(Echo(1, &[b'x'; 16_384]))],
        demand: "frames of up to 16,384 octets are received and processed",
        ..GOOD
    },
    Case {
        id: "H2-F05",
        title: "HEADERS longer than SETTINGS_MAX_FRAME_SIZE",
        clause: http2("4.2"),
        applies: LIMITED,
        steps: acts![OPEN, Act::TooLong(HEADERS, WHOLE, 1, &[Piece::Request("GET")])],
        pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))],
        demand: "a frame with fields that is longer than SETTINGS_MAX_FRAME_SIZE is a connection error",
        ..CONNECTION
    },
    Case {
        id: "H2-F06",
        title: "DATA longer than SETTINGS_MAX_FRAME_SIZE",
        clause: http2("4.2"),
        applies: LIMITED,
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![OPEN, post(1), Act::TooLong(DATA, END_STREAM, 1, &[])],
        pass: &[Http2(StreamError(1, &[FRAME_SIZE_ERROR]))],
        warn: REFUSED,
        doubt: REFUSED_DOUBT,
        demand: "a frame that is longer than SETTINGS_MAX_FRAME_SIZE is answered with FRAME_SIZE_ERROR",
        ..CONNECTION
    },
    Case {
        id: "H2-F07",
        title: "the reserved bit before the stream's number",
        clause: http2("4.1"),
        steps: acts![OPEN, Act::Frame(HEADERS, WHOLE, 0x8000_0001, &[Piece::Request("GET")])],
        pass: &[Http2(Ok(1))],
        demand: "the reserved bit of a frame's head is ignored",
        ..GOOD
    },
    Case {
        id: "H2-F08",
        title: "HEADERS with flags that have no meaning",
        clause: http2("4.1"),
        steps: acts![OPEN, Act::Frame(HEADERS, WHOLE | 0xd2, 1, &[Piece::Request("GET")])],
        pass: &[Http2(Ok(1))],
        demand: "flags without a meaning for a kind of frame are ignored",
        ..GOOD
    },
    Case {
        id: "H2-F09",
        title: "PING with flags that have no meaning",
        clause: http2("4.1"),
        steps: acts![OPEN, Act::Frame(PING, 0xfe, 0, &[Piece::Octets(b"flags---")]), get(1)],
        pass: &[All(&[Http2(Pong(b"flags---")), Http2(Ok(1))])],
        demand: "flags without a meaning for a kind of frame are ignored",
        ..GOOD
    },
    Case {
        id: "H2-F10",
        title: "a frame of an unknown kind on the connection",
        clause: http2("5.5"),
        steps: acts![OPEN, Act::Frame(0xfa, 0xff, 0, &[Piece::Octets(b"unknown")]), get(1)],
        pass: &[Http2(Ok(1))],
        demand: "a frame of an unknown kind is ignored",
        ..GOOD
    },
    Case {
        id: "H2-F11",
        title: "a frame of an unknown kind within a request",
        clause: http2("5.5"),
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(0xfb, 0xff, 1, &[Piece::Octets(b"unknown")]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        pass: &[Http2(Echo(1, b"hello"))],
        demand: "a frame of an unknown kind is ignored",
        ..GOOD
    },
    Case {
        id: "H2-F12",
        title: "RST_STREAM of three octets",
        clause: http2("6.4"),
        steps: acts![
            HELD,
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Request("GET")]),
            Act::Frame(RST_STREAM, 0, 1, &[Piece::Octets(b"\0\0\0")]),
        ],
        pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))],
        demand: "RST_STREAM whose length is not 4 is a connection error",
        ..CONNECTION
    },
    Case {
        id: "H2-F13",
        title: "WINDOW_UPDATE of three octets",
        clause: http2("6.9"),
        steps: acts![OPEN, Act::Frame(WINDOW_UPDATE, 0, 0, &[Piece::Octets(b"\0\0\x01")])],
        pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))],
        demand: "WINDOW_UPDATE whose length is not 4 is a connection error",
        ..CONNECTION
    },
];
