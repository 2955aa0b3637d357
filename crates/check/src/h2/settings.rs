//! RFC 9113, 6.5: SETTINGS.

use super::act::{Act, OPEN, Piece, get};
use super::frame::{
    ACK, ENABLE_PUSH, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE,
    MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE, SETTINGS,
};
use super::refusal::{CONNECTION, TAKEN, acts};
use super::sign::Sign::{Acknowledged, ConnectionError, Ends, Ok};
use crate::case::{Area, Case, http2};
use crate::script::Rule::Http2;

const GOOD: Case = Case { area: Area::Http2Settings, pass: &[Http2(Ok(1))], ..TAKEN };
const BAD: Case = Case { area: Area::Http2Settings, ..CONNECTION };
const SIZE: Case = Case { pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))], ..BAD };
/// A value that a setting cannot have.
const VALUE: Case = Case { clause: http2("6.5.2"), ..BAD };

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-S01",
        title: "SETTINGS in the middle of a connection",
        clause: http2("6.5.3"),
        weight: 3,
        steps: acts![
            OPEN,
            Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, 1 << 20)]),
            Act::Until(Acknowledged(2)),
            get(1),
        ],
        demand: "SETTINGS are acknowledged at once",
        ..GOOD
    },
    Case {
        id: "H2-S02",
        title: "empty SETTINGS",
        clause: http2("6.5.3"),
        steps: acts![OPEN, Act::Frame(SETTINGS, 0, 0, &[]), Act::Until(Acknowledged(2)), get(1),],
        demand: "SETTINGS without a parameter are acknowledged, too",
        ..GOOD
    },
    Case {
        id: "H2-S03",
        title: "an acknowledgement with a payload",
        clause: http2("6.5"),
        steps: acts![
            OPEN,
            Act::Frame(SETTINGS, ACK, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, 65_535)]),
        ],
        demand: "SETTINGS with ACK and a payload are a connection error",
        ..SIZE
    },
    Case {
        id: "H2-S04",
        title: "SETTINGS on a stream",
        clause: http2("6.5"),
        steps: acts![
            OPEN,
            Act::Frame(SETTINGS, 0, 1, &[Piece::Setting(INITIAL_WINDOW_SIZE, 65_535)]),
        ],
        demand: "SETTINGS on a stream other than 0 are a connection error",
        ..BAD
    },
    Case {
        id: "H2-S05",
        title: "SETTINGS of seven octets",
        clause: http2("6.5"),
        steps: acts![
            OPEN,
            Act::Frame(
                SETTINGS,
                0,
                0,
                &[Piece::Setting(INITIAL_WINDOW_SIZE, 65_535), Piece::Octets(b"\0")]
            ),
        ],
        demand: "SETTINGS whose length is not a multiple of 6 are a connection error",
        ..SIZE
    },
    Case {
        id: "H2-S06",
        title: "ENABLE_PUSH of 2",
        steps: acts![OPEN, Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(ENABLE_PUSH, 2)])],
        demand: "ENABLE_PUSH that is neither 0 nor 1 is a connection error",
        ..VALUE
    },
    Case {
        id: "H2-S07",
        title: "INITIAL_WINDOW_SIZE of 2^31",
        steps: acts![
            OPEN,
            Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, 1 << 31)]),
        ],
        pass: &[Http2(ConnectionError(&[FLOW_CONTROL_ERROR]))],
        demand: "INITIAL_WINDOW_SIZE above 2^31-1 is a connection error",
        ..VALUE
    },
    Case {
        id: "H2-S08",
        title: "MAX_FRAME_SIZE of 16,383",
        steps: acts![OPEN, Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(MAX_FRAME_SIZE, 16_383)])],
        demand: "MAX_FRAME_SIZE below 16,384 is a connection error",
        ..VALUE
    },
    Case {
        id: "H2-S09",
        title: "MAX_FRAME_SIZE of 2^24",
        steps: acts![OPEN, Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(MAX_FRAME_SIZE, 1 << 24)])],
        demand: "MAX_FRAME_SIZE above 2^24-1 is a connection error",
        ..VALUE
    },
    Case {
        id: "H2-S10",
        title: "unknown settings",
        clause: http2("6.5.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                SETTINGS,
                0,
                0,
                &[
                    Piece::Setting(0, 7),
                    Piece::Setting(0xfafa, 7),
                    Piece::Setting(0xffff, u32::MAX)
                ]
            ),
            Act::Until(Acknowledged(2)),
            get(1),
        ],
        demand: "a setting with an unknown identifier is ignored",
        ..GOOD
    },
    Case {
        id: "H2-S11",
        title: "the same setting twice in a frame",
        clause: http2("6.5.3"),
        weight: 3,
        steps: acts![
            OPEN,
            Act::Frame(
                SETTINGS,
                0,
                0,
                &[
                    Piece::Setting(INITIAL_WINDOW_SIZE, 0),
                    Piece::Setting(INITIAL_WINDOW_SIZE, 1 << 20)
                ]
            ),
            Act::Until(Acknowledged(2)),
            get(1),
        ],
        warn: &[Http2(Ends)],
        doubt: "10.5 lets a server treat what is suspicious as an error",
        demand: "values are processed in the order in which they appear, so that the last one counts",
        ..GOOD
    },
    Case {
        id: "H2-S12",
        title: "HEADER_TABLE_SIZE of 0 from the start",
        clause: http2("6.5.2"),
        weight: 3,
        steps: acts![
            Act::Open(&[(HEADER_TABLE_SIZE, 0), (ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, 1 << 20)]),
            get(1),
            Act::Until(Ok(1)),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        demand: "the server's answers are compressed with a table that is no larger than the client allows",
        ..GOOD
    },
    Case {
        id: "H2-S13",
        title: "HEADER_TABLE_SIZE lowered to 0 after an answer",
        clause: http2("4.3.1"),
        weight: 3,
        steps: acts![
            OPEN,
            get(1),
            Act::Until(Ok(1)),
            Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(HEADER_TABLE_SIZE, 0)]),
            Act::Until(Acknowledged(2)),
            get(3),
        ],
        pass: &[Http2(Ok(3))],
        demand: "after the table's size was lowered below what is in use, the next header block begins with the new size",
        ..GOOD
    },
    Case {
        id: "H2-S14",
        title: "MAX_CONCURRENT_STREAMS of 0",
        clause: http2("6.5.2"),
        steps: acts![
            OPEN,
            Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(MAX_CONCURRENT_STREAMS, 0)]),
            Act::Until(Acknowledged(2)),
            get(1),
        ],
        demand: "the limit is about streams that the server opens; requests are answered",
        ..GOOD
    },
];
