//! RFC 7541: header blocks as HPACK has them, and as it forbids them.

use super::act::{Act, HELD, OPEN, Piece, WHOLE};
use super::frame::{COMPRESSION_ERROR, HEADER_TABLE_SIZE, HEADERS};
use super::refusal::{CONNECTION, TAKEN, acts};
use super::sign::Sign::{ConnectionError, Ends, GoAway, Ok};
use crate::case::{Area, Case, Level, hpack, http2};
use crate::script::Rule::{All, Http2, Not, When};

const GOOD: Case = Case { area: Area::Http2Hpack, pass: &[Http2(Ok(1))], ..TAKEN };

const BAD: Case = Case {
    area: Area::Http2Hpack,
    pass: &[Http2(ConnectionError(&[COMPRESSION_ERROR]))],
    ..CONNECTION
};

/// A GET with these pieces after it.
macro_rules! get_and {
    ($($piece:expr),+ $(,)?) => {
        acts![OPEN, Act::Frame(HEADERS, WHOLE, 1, &[Piece::Request("GET"), $($piece),+])]
    };
}

/// The four pseudo-fields of a GET, all kept in the table: `:path` at 62, `:authority` at 63, `:scheme` at 64 and
/// `:method` at 65.
const KEPT: [Piece; 4] = [
    Piece::Kept(":method", "GET"),
    Piece::Kept(":scheme", "{scheme}"),
    Piece::Kept(":authority", "{H}"),
    Piece::Kept(":path", "{get}"),
];
/// The same by their places.
const PLACES: [Piece; 4] =
    [Piece::Indexed(65), Piece::Indexed(64), Piece::Indexed(63), Piece::Indexed(62)];

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-P01",
        title: "fields of the static table",
        clause: hpack("6.1"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[
                    Piece::Indexed(2),
                    Piece::Field(":scheme", "{scheme}"),
                    Piece::Field(":authority", "{H}"),
                    Piece::Field(":path", "{get}"),
                    Piece::Indexed(16)
                ]
            ),
        ],
        demand: "a field is found by its place in the static table",
        ..GOOD
    },
    Case {
        id: "H2-P02",
        title: "strings by Huffman's code",
        clause: hpack("5.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[
                    Piece::Coded(":method", "GET"),
                    Piece::Coded(":scheme", "{scheme}"),
                    Piece::Coded(":authority", "{H}"),
                    Piece::Coded(":path", "{get}"),
                    Piece::Coded("x-dyno", "!\"#$%&'()*+,-./09:;<=>?@AZ[\\]^_`az{|}~")
                ]
            ),
        ],
        demand: "strings may be coded by Huffman's code",
        ..GOOD
    },
    Case {
        id: "H2-P03",
        title: "fields that are never indexed",
        clause: hpack("6.2.3"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[
                    Piece::Never(":method", "GET"),
                    Piece::Never(":scheme", "{scheme}"),
                    Piece::Never(":authority", "{H}"),
                    Piece::Never(":path", "{get}")
                ]
            ),
        ],
        demand: "a literal that is never indexed is a field like any other",
        ..GOOD
    },
    Case {
        id: "H2-P04",
        title: "fields of an earlier request, by their places",
        clause: hpack("2.3.2"),
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, WHOLE, 1, &KEPT),
            Act::Until(Ok(1)),
            Act::Frame(HEADERS, WHOLE, 3, &PLACES),
        ],
        pass: &[Http2(Ok(3))],
        demand: "the dynamic table lasts as long as the connection",
        ..GOOD
    },
    Case {
        id: "H2-P05",
        title: "fields of a malformed request, by their places",
        clause: http2("4.3"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[KEPT[0], KEPT[1], KEPT[2], KEPT[3], Piece::Field("connection", "close")]
            ),
            Act::Frame(HEADERS, WHOLE, 3, &PLACES),
        ],
        pass: &[Http2(Ok(3)), All(&[Http2(GoAway), Not(&COMPRESSION)])],
        demand: "a header block is decoded even if its request is refused, so that the table stays the same",
        ..GOOD
    },
    Case {
        id: "H2-P06",
        title: "two sizes of the table at the beginning of a block",
        clause: hpack("4.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[Piece::Resize(0), Piece::Resize(4096), Piece::Request("GET")]
            ),
        ],
        demand: "a block may begin with the smallest size of the table and its last one",
        ..GOOD
    },
    Case {
        id: "H2-P07",
        title: "the same field twice in the table",
        clause: hpack("2.3.2"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[
                    Piece::Request("GET"),
                    Piece::Kept("x-dyno", "1"),
                    Piece::Kept("x-dyno", "1"),
                    Piece::Indexed(63)
                ]
            ),
        ],
        demand: "equal entries in the table are no error",
        ..GOOD
    },
    Case {
        id: "H2-P08",
        title: "a field that is larger than the table",
        clause: hpack("4.4"),
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, WHOLE, 1, &KEPT),
            Act::Until(Ok(1)),
            Act::Frame(
                HEADERS,
                WHOLE,
                3,
                &[
                    Piece::Resize(64),
                    Piece::Request("GET"),
                    Piece::Kept("x-dyno", "a value that is too long for a table of this size")
                ]
            ),
            Act::Until(Ok(3)),
            Act::Frame(HEADERS, WHOLE, 5, &PLACES),
        ],
        pass: &[Http2(ConnectionError(&[COMPRESSION_ERROR]))],
        demand: "a field that is larger than the table is no error; it leaves the table empty",
        ..BAD
    },
    Case {
        id: "H2-P09",
        title: "place 0 of the table",
        clause: hpack("6.1"),
        steps: get_and![Piece::Indexed(0)],
        demand: "an index of 0 is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P10",
        title: "a place beyond the table",
        clause: hpack("2.3.3"),
        steps: get_and![Piece::Indexed(62)],
        demand: "an index beyond both tables is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P11",
        title: "a name at a place beyond the table",
        clause: hpack("2.3.3"),
        steps: get_and![Piece::Octets(b"\x7e\x05value")],
        demand: "an index beyond both tables is a decoding error, also for a name",
        ..BAD
    },
    Case {
        id: "H2-P12",
        title: "a place that the table had before it was resized",
        clause: hpack("4.3"),
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, WHOLE, 1, &KEPT),
            Act::Until(Ok(1)),
            Act::Frame(
                HEADERS,
                WHOLE,
                3,
                &[Piece::Resize(0), PLACES[0], PLACES[1], PLACES[2], PLACES[3]]
            ),
        ],
        demand: "entries are evicted when the table's size is lowered",
        ..BAD
    },
    Case {
        id: "H2-P13",
        title: "a table larger than the server allows",
        clause: hpack("6.3"),
        applies: &[When("a table of less than 16 MiB", |seen| {
            let heard = seen.heard.as_ref();
            heard.is_some_and(|it| it.setting(HEADER_TABLE_SIZE).is_none_or(|size| size < 1 << 24))
        })],
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, WHOLE, 1, &[Piece::Resize(1 << 24), Piece::Request("GET")]),
        ],
        demand: "a size of the table beyond SETTINGS_HEADER_TABLE_SIZE is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P14",
        title: "a size of the table at the end of a block",
        clause: hpack("4.2"),
        level: Level::Ought,
        weight: 1,
        steps: get_and![Piece::Resize(0)],
        warn: &[Http2(Ends), Http2(Ok(1))],
        doubt: "the RFC says how a block is written, and not what a decoder does with one that is written otherwise",
        demand: "the size of the table changes at the beginning of a block",
        ..BAD
    },
    Case {
        id: "H2-P15",
        title: "Huffman's code with more than seven bits of padding",
        clause: hpack("5.2"),
        steps: get_and![Piece::Octets(b"\0\x06x-dyno\x82\x1f\xff")],
        demand: "padding of more than 7 bits is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P16",
        title: "Huffman's code padded with zeros",
        clause: hpack("5.2"),
        steps: get_and![Piece::Octets(b"\0\x06x-dyno\x81\x18")],
        demand: "padding that is not the beginning of the code for the end of a string is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P17",
        title: "Huffman's code for the end of a string",
        clause: hpack("5.2"),
        steps: get_and![Piece::Octets(b"\0\x06x-dyno\x85\x1f\xff\xff\xff\xff")],
        demand: "a string that contains the code for its end is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P18",
        title: "a number of 70 bits",
        clause: hpack("5.1"),
        steps: get_and![Piece::Octets(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")],
        demand: "a number beyond what the server can represent is a decoding error",
        ..BAD
    },
    Case {
        id: "H2-P19",
        title: "a string that is longer than its block",
        clause: http2("4.3"),
        steps: get_and![Piece::Octets(b"\0\x06x-dyno\x7fcut")],
        demand: "a header block that cannot be decoded is a connection error",
        ..BAD
    },
    Case {
        id: "H2-P20",
        title: "a block that ends within a number",
        clause: http2("4.3"),
        steps: get_and![Piece::Octets(b"\xff\x80")],
        demand: "a header block that cannot be decoded is a connection error",
        ..BAD
    },
    Case {
        id: "H2-P21",
        title: "a block that ends after a name",
        clause: http2("4.3"),
        steps: get_and![Piece::Octets(b"\0\x06x-dyno")],
        demand: "a header block that cannot be decoded is a connection error",
        ..BAD
    },
    Case {
        id: "H2-P22",
        title: "an undecodable block in trailers",
        clause: http2("4.3"),
        steps: acts![
            HELD,
            Act::Frame(HEADERS, super::frame::END_HEADERS, 1, &[Piece::Request("GET")]),
            Act::Frame(HEADERS, WHOLE, 1, &[Piece::Indexed(0)]),
        ],
        demand: "a header block that cannot be decoded is a connection error, in whichever place it comes",
        ..BAD
    },
];

/// The server has lost the table.
const COMPRESSION: crate::script::Rule = When("COMPRESSION_ERROR", |seen| {
    seen.heard.as_ref().is_some_and(|heard| heard.gone().any(|code| code == COMPRESSION_ERROR))
});
