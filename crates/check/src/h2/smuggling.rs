//! RFC 9113, 8.1.1, 8.2.1, 10.3: requests that become others when they are passed on over HTTP/1.1.

use super::act::{Act, OPEN, Piece, WHOLE};
use super::frame::{DATA, END_HEADERS, END_STREAM, HEADERS};
use super::refusal::{MALFORMED, acts};
use crate::case::{Area, Case, Level, Need, Tag, http2};
use crate::script::Rule::{self, When};

const CASE: Case = Case {
    area: Area::Http2Smuggling,
    clause: http2("8.2.1"),
    weight: 5,
    tags: &[Tag::Smuggling],
    ..MALFORMED
};

/// A field with a line end.
const SPLIT: Case = Case {
    tags: &[Tag::Smuggling, Tag::Injection],
    demand: "a value with NUL, LF or CR is malformed, and so is a name with any control",
    ..CASE
};

/// A server that answers before the content has come, and drops it, does not learn how long it is.
const READ: Rule = When("an answer that does not come before the content", |seen| {
    let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
    reply.is_none_or(|it| it.status / 100 != 2 || it.reset.is_none() || it.refusal().is_some())
});

/// A length that is not that of the content.
const LENGTH: Case = Case {
    clause: http2("8.1.1"),
    needs: Need::Post,
    twin: Some("H2-B03"),
    demand: "a request whose content-length differs from its DATA is malformed",
    ..CASE
};

const METHOD: Piece = Piece::Field(":method", "GET");
const SCHEME: Piece = Piece::Field(":scheme", "{scheme}");
const AUTHORITY: Piece = Piece::Field(":authority", "{H}");
const PATH: Piece = Piece::Field(":path", "{get}");

/// A request with these pieces and no others.
macro_rules! only {
    ($($piece:expr),* $(,)?) => {
        acts![OPEN, Act::Frame(HEADERS, WHOLE, 1, &[$($piece),*])]
    };
}
/// A POST with these fields, and `hello` as its content.
macro_rules! post_with {
    ($($piece:expr),* $(,)?) => {
        acts![
            OPEN,
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Request("POST"), $($piece),*]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")])
        ]
    };
}

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-X01",
        title: "CR LF and a field within a value",
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Raw(b"x-dyno", b"1\r\nx-hidden: 1")],
        ..SPLIT
    },
    Case {
        id: "H2-X02",
        title: "LF within a value",
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Raw(b"x-dyno", b"1\nx-hidden: 1")],
        ..SPLIT
    },
    Case {
        id: "H2-X03",
        title: "CR within a value",
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Raw(b"x-dyno", b"1\rx-hidden: 1")],
        ..SPLIT
    },
    Case {
        id: "H2-X04",
        title: "NUL within a value",
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Raw(b"x-dyno", b"1\x002")],
        ..SPLIT
    },
    Case {
        id: "H2-X05",
        title: "CR LF within a name",
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Raw(b"x-a: 1\r\nx-b", b"1")],
        ..SPLIT
    },
    Case {
        id: "H2-X06",
        title: "CR LF within :path",
        steps: only![
            METHOD,
            SCHEME,
            AUTHORITY,
            Piece::Raw(b":path", b"/ HTTP/1.1\r\nx-hidden: 1\r\nx-rest: ")
        ],
        ..SPLIT
    },
    Case {
        id: "H2-X07",
        title: "a blank within :path",
        level: Level::Should,
        steps: only![METHOD, SCHEME, AUTHORITY, Piece::Field(":path", "/dyno HTTP/1.1")],
        demand: "values are validated by their definitions: a path has no blanks",
        ..CASE
    },
    Case {
        id: "H2-X08",
        title: "CR LF within :method",
        steps: only![
            Piece::Raw(b":method", b"GET / HTTP/1.1\r\nx-hidden: 1\r\n\r\nGET"),
            SCHEME,
            AUTHORITY,
            PATH
        ],
        ..SPLIT
    },
    Case {
        id: "H2-X09",
        title: "CR LF within :authority",
        steps: only![METHOD, SCHEME, Piece::Raw(b":authority", b"localhost\r\nx-hidden: 1"), PATH],
        ..SPLIT
    },
    Case {
        id: "H2-X10",
        title: "transfer-encoding: chunked",
        clause: http2("8.2.2"),
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: post_with![Piece::Field("transfer-encoding", "chunked")],
        demand: "a message with a field about the connection is malformed",
        ..CASE
    },
    Case {
        id: "H2-X11",
        title: "more content than content-length",
        applies: &[READ],
        steps: post_with![Piece::Field("content-length", "3")],
        ..LENGTH
    },
    Case {
        id: "H2-X12",
        title: "less content than content-length",
        applies: &[READ],
        steps: post_with![Piece::Field("content-length", "9")],
        ..LENGTH
    },
    Case {
        id: "H2-X13",
        title: "content-length without content",
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[Piece::Request("POST"), Piece::Field("content-length", "5")]
            ),
        ],
        ..LENGTH
    },
    Case {
        id: "H2-X14",
        title: "two different content-length",
        steps: post_with![Piece::Field("content-length", "5"), Piece::Field("content-length", "3")],
        ..LENGTH
    },
    Case {
        id: "H2-X15",
        title: "a content-length that is no number",
        steps: post_with![Piece::Field("content-length", "+5")],
        ..LENGTH
    },
    Case {
        id: "H2-X16",
        title: "Host that differs from :authority",
        clause: http2("8.3.1"),
        level: Level::Should,
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Field("host", "other.example")],
        demand: "a request whose Host names another server than its :authority is treated as malformed",
        ..CASE
    },
    Case {
        id: "H2-X17",
        title: "more content than content-length, and the end later",
        applies: &[READ],
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                END_HEADERS,
                1,
                &[Piece::Request("POST"), Piece::Field("content-length", "3")]
            ),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"hel")]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"lo")]),
        ],
        ..LENGTH
    },
];
