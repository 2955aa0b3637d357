//! RFC 9113, 4.3, 6.2, 6.10 and 8.4: HEADERS, CONTINUATION, padding, and promises.

use super::act::{Act, HELD, OPEN, Piece, WHOLE, get, post};
use super::frame::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, FRAME_SIZE_ERROR, HEADERS, PADDED, PING,
    PRIORITISED, PRIORITY, PROTOCOL_ERROR, PUSH_PROMISE, SETTINGS, WINDOW_UPDATE,
};
use super::refusal::{CONNECTION, TAKEN, acts};
use super::sign::Sign::{ConnectionError, Echo, Ends, Ok, Refused};
use crate::case::{Area, Case, Level, Need, http2};
use crate::script::Rule::Http2;

const GOOD: Case = Case { area: Area::Http2Headers, pass: &[Http2(Ok(1))], ..TAKEN };
const BAD: Case = Case { area: Area::Http2Headers, ..CONNECTION };

/// A header block that another frame interrupts.
const INTERRUPTED: Case = Case {
    clause: http2("6.2"),
    demand: "after HEADERS without END_HEADERS, anything else than its CONTINUATION is a connection error",
    ..BAD
};

/// More padding than there is payload.
const PADDING: Case = Case {
    demand: "padding that is as long as the payload or longer is a connection error",
    ..BAD
};

/// HEADERS without END_HEADERS: the fields go on.
const BEGUN: Act = Act::Frame(HEADERS, END_STREAM, 1, &[Piece::Request("GET")]);

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-C01",
        title: "fields in HEADERS and CONTINUATION",
        clause: http2("6.10"),
        steps: acts![
            OPEN,
            BEGUN,
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Field("x-dyno", "1")]),
        ],
        demand: "a header block may go on in CONTINUATION",
        ..GOOD
    },
    Case {
        id: "H2-C02",
        title: "a field that is cut within, and an empty CONTINUATION",
        clause: http2("4.3"),
        steps: acts![
            OPEN,
            BEGUN,
            Act::Frame(CONTINUATION, 0, 1, &[Piece::Octets(b"\0\x06x-d")]),
            Act::Frame(CONTINUATION, 0, 1, &[]),
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Octets(b"yno\x011")]),
        ],
        demand: "a header block is decoded as one piece, wherever its frames cut it",
        ..GOOD
    },
    Case {
        id: "H2-C03",
        title: "HEADERS without a payload, and all fields in CONTINUATION",
        clause: http2("4.3"),
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, END_STREAM, 1, &[]),
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Request("GET")]),
        ],
        level: Level::Ought,
        warn: &[Http2(Ends)],
        doubt: "no sentence says that a fragment may be empty",
        demand: "a fragment of a header block may be empty",
        ..GOOD
    },
    Case {
        id: "H2-C04",
        title: "DATA within a header block",
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, 0, 1, &[Piece::Request("POST")]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C05",
        title: "HEADERS of another stream within a header block",
        steps: acts![OPEN, BEGUN, get(3)],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C06",
        title: "CONTINUATION of another stream within a header block",
        steps: acts![
            OPEN,
            BEGUN,
            Act::Frame(CONTINUATION, END_HEADERS, 3, &[Piece::Field("x-dyno", "1")]),
        ],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C07",
        title: "PING within a header block",
        steps: acts![OPEN, BEGUN, Act::Frame(PING, 0, 0, &[Piece::Octets(b"headers?")])],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C08",
        title: "SETTINGS within a header block",
        steps: acts![OPEN, BEGUN, Act::Frame(SETTINGS, 0, 0, &[])],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C09",
        title: "WINDOW_UPDATE within a header block",
        steps: acts![OPEN, BEGUN, Act::Frame(WINDOW_UPDATE, 0, 0, &[Piece::Number(1)])],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C10",
        title: "a frame of an unknown kind within a header block",
        clause: http2("5.5"),
        steps: acts![OPEN, BEGUN, Act::Frame(0xfa, 0, 1, &[Piece::Octets(b"unknown")])],
        demand: "an unknown frame in the middle of a header block is a connection error",
        ..INTERRUPTED
    },
    Case {
        id: "H2-C11",
        title: "PRIORITY within a header block",
        steps: acts![
            OPEN,
            BEGUN,
            Act::Frame(PRIORITY, 0, 1, &[Piece::Number(0), Piece::Octets(b"\x10")]),
        ],
        ..INTERRUPTED
    },
    Case {
        id: "H2-C12",
        title: "CONTINUATION after the end of a header block",
        clause: http2("6.10"),
        steps: acts![
            HELD,
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Request("GET")]),
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Field("x-dyno", "1")]),
        ],
        demand: "CONTINUATION without an open header block before it is a connection error",
        ..BAD
    },
    Case {
        id: "H2-C13",
        title: "CONTINUATION on a stream that was never opened",
        clause: http2("6.10"),
        steps: acts![OPEN, Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Request("GET")]),],
        demand: "CONTINUATION without an open header block before it is a connection error",
        ..BAD
    },
    Case {
        id: "H2-C14",
        title: "CONTINUATION on stream 0",
        clause: http2("6.10"),
        steps: acts![
            OPEN,
            BEGUN,
            Act::Frame(CONTINUATION, END_HEADERS, 0, &[Piece::Field("x-dyno", "1")]),
        ],
        demand: "CONTINUATION on stream 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-C15",
        title: "HEADERS on stream 0",
        clause: http2("6.2"),
        steps: acts![OPEN, get(0)],
        demand: "HEADERS on stream 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-C16",
        title: "padded HEADERS",
        clause: http2("6.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE | PADDED,
                1,
                &[Piece::Octets(b"\x08"), Piece::Request("GET"), Piece::Fill(0, 8)]
            ),
        ],
        demand: "HEADERS may have padding, which means nothing",
        ..GOOD
    },
    Case {
        id: "H2-C17",
        title: "HEADERS with more padding than payload",
        clause: http2("6.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE | PADDED,
                1,
                &[Piece::Octets(b"\xff"), Piece::Request("GET")]
            ),
        ],
        pass: &[Http2(ConnectionError(&[PROTOCOL_ERROR, FRAME_SIZE_ERROR]))],
        ..PADDING
    },
    Case {
        id: "H2-C18",
        title: "padded HEADERS without a payload",
        clause: http2("4.2"),
        steps: acts![OPEN, Act::Frame(HEADERS, WHOLE | PADDED, 1, &[])],
        pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))],
        demand: "a frame that is too small for what its flags say is a connection error, if it carries fields",
        ..BAD
    },
    Case {
        id: "H2-C19",
        title: "HEADERS with a priority",
        clause: http2("6.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE | PRIORITISED,
                1,
                &[Piece::Number(0), Piece::Octets(b"\x10"), Piece::Request("GET")]
            ),
        ],
        demand: "HEADERS may begin with a priority, which may be ignored",
        ..GOOD
    },
    Case {
        id: "H2-C20",
        title: "HEADERS with padding and a priority",
        clause: http2("6.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE | PADDED | PRIORITISED,
                1,
                &[
                    Piece::Octets(b"\x03"),
                    Piece::Number(0x8000_0000),
                    Piece::Octets(b"\xff"),
                    Piece::Request("GET"),
                    Piece::Fill(0, 3)
                ]
            ),
        ],
        demand: "HEADERS may have both padding and a priority",
        ..GOOD
    },
    Case {
        id: "H2-C21",
        title: "HEADERS with a priority that is cut short",
        clause: http2("4.2"),
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, WHOLE | PRIORITISED, 1, &[Piece::Octets(b"\0\0\0\0")]),
        ],
        pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))],
        demand: "a frame that is too small for what its flags say is a connection error, if it carries fields",
        ..BAD
    },
    Case {
        id: "H2-C22",
        title: "HEADERS whose stream depends on itself",
        clause: http2("5.3.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE | PRIORITISED,
                1,
                &[Piece::Number(1), Piece::Octets(b"\x10"), Piece::Request("GET")]
            ),
        ],
        warn: &[Http2(Refused(1)), Http2(Ends)],
        doubt: "RFC 7540 demanded a stream error here; RFC 9113 has dropped priorities",
        demand: "the priority of HEADERS is ignored",
        ..GOOD
    },
    Case {
        id: "H2-C23",
        title: "padded DATA",
        clause: http2("6.1"),
        weight: 3,
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(
                DATA,
                END_STREAM | PADDED,
                1,
                &[Piece::Octets(b"\x04hello"), Piece::Fill(0, 4)]
            ),
        ],
        pass: &[Http2(Echo(1, b"hello"))],
        demand: "DATA may have padding, which is no content",
        ..GOOD
    },
    Case {
        id: "H2-C24",
        title: "DATA with more padding than payload",
        clause: http2("6.1"),
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(DATA, END_STREAM | PADDED, 1, &[Piece::Octets(b"\x06hello")]),
        ],
        pass: &[Http2(ConnectionError(&[PROTOCOL_ERROR, FRAME_SIZE_ERROR]))],
        ..PADDING
    },
    Case {
        id: "H2-C25",
        title: "DATA on stream 0",
        clause: http2("6.1"),
        steps: acts![OPEN, Act::Frame(DATA, END_STREAM, 0, &[Piece::Octets(b"hello")])],
        demand: "DATA on stream 0 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-C26",
        title: "PUSH_PROMISE",
        clause: http2("8.4"),
        steps: acts![
            HELD,
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Request("GET")]),
            Act::Frame(PUSH_PROMISE, END_HEADERS, 1, &[Piece::Number(2), Piece::Request("GET")]),
        ],
        demand: "a client does not push; PUSH_PROMISE is a connection error",
        ..BAD
    },
];
