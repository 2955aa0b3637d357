//! RFC 9113, 8.2 and 8.3: names, values, fields about connections, and pseudo-fields.

use super::act::{Act, OPEN, Piece, WHOLE, post};
use super::frame::{DATA, HEADERS};
use super::refusal::{MALFORMED, TAKEN, acts};
use super::sign::Sign::{Malformed, Ok};
use crate::case::{Area, Case, Level, Need, Tag, http2};
use crate::script::Rule::Http2;

const GOOD: Case = Case { area: Area::Http2Fields, pass: &[Http2(Ok(1))], ..TAKEN };

/// A name with octets that may not be in it.
const NAME: Case = Case {
    clause: http2("8.2.1"),
    demand: "a name with an upper-case letter, a control, a blank, a colon or an octet above 0x7e is malformed",
    ..MALFORMED
};
/// A value with octets that may not be in it.
const VALUE: Case = Case {
    clause: http2("8.2.1"),
    demand: "a value that begins or ends with a blank or a tab is malformed",
    ..MALFORMED
};
/// A field about the connection.
const HOP: Case = Case {
    clause: http2("8.2.2"),
    demand: "a message with a field about the connection is malformed",
    ..MALFORMED
};
const PSEUDO: Case = Case {
    clause: http2("8.3"),
    demand: "a request with an undefined, repeated or misplaced pseudo-field is malformed",
    ..MALFORMED
};
const MISSING: Case = Case {
    clause: http2("8.3.1"),
    demand: "a request has exactly one valid :method, :scheme and :path, unless it is CONNECT",
    ..MALFORMED
};

/// A GET with these pieces after it.
macro_rules! get_and {
    ($($piece:expr),+ $(,)?) => {
        acts![OPEN, Act::Frame(HEADERS, WHOLE, 1, &[Piece::Request("GET"), $($piece),+])]
    };
}
/// A request with these pieces and no others.
macro_rules! only {
    ($($piece:expr),* $(,)?) => {
        acts![OPEN, Act::Frame(HEADERS, WHOLE, 1, &[$($piece),*])]
    };
}

const METHOD: Piece = Piece::Field(":method", "GET");
const SCHEME: Piece = Piece::Field(":scheme", "{scheme}");
const AUTHORITY: Piece = Piece::Field(":authority", "{H}");
const PATH: Piece = Piece::Field(":path", "{get}");

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-N01",
        title: "a name with an upper-case letter",
        steps: get_and![Piece::Field("X-dyno", "1")],
        ..NAME
    },
    Case {
        id: "H2-N02",
        title: "a name with a blank",
        steps: get_and![Piece::Field("x dyno", "1")],
        ..NAME
    },
    Case {
        id: "H2-N03",
        title: "a name with a colon in it",
        tags: &[Tag::Smuggling],
        steps: get_and![Piece::Field("x:dyno", "1")],
        ..NAME
    },
    Case {
        id: "H2-N04",
        title: "a name with a control character",
        steps: get_and![Piece::Raw(b"x\x01dyno", b"1")],
        ..NAME
    },
    Case {
        id: "H2-N05",
        title: "a name with an octet above 0x7f",
        steps: get_and![Piece::Raw(b"x-\xe9", b"1")],
        ..NAME
    },
    Case {
        id: "H2-N06",
        title: "an empty name",
        level: Level::Should,
        steps: get_and![Piece::Field("", "1")],
        demand: "a name is a token, so it is not empty (RFC 9110, 5.1)",
        ..NAME
    },
    Case {
        id: "H2-N07",
        title: "a value that begins with a blank",
        steps: get_and![Piece::Field("x-dyno", " 1")],
        ..VALUE
    },
    Case {
        id: "H2-N08",
        title: "a value that ends with a tab",
        steps: get_and![Piece::Field("x-dyno", "1\t")],
        ..VALUE
    },
    Case {
        id: "H2-N09",
        title: "connection",
        steps: get_and![Piece::Field("connection", "close")],
        ..HOP
    },
    Case {
        id: "H2-N10",
        title: "keep-alive",
        steps: get_and![Piece::Field("keep-alive", "timeout=5")],
        ..HOP
    },
    Case {
        id: "H2-N11",
        title: "proxy-connection",
        steps: get_and![Piece::Field("proxy-connection", "keep-alive")],
        ..HOP
    },
    Case {
        id: "H2-N12",
        title: "upgrade",
        steps: get_and![Piece::Field("upgrade", "websocket")],
        ..HOP
    },
    Case {
        id: "H2-N13",
        title: "te with another value than trailers",
        steps: get_and![Piece::Field("te", "gzip")],
        demand: "te has no other value than trailers",
        ..HOP
    },
    Case {
        id: "H2-N14",
        title: "te: trailers",
        clause: http2("8.2.2"),
        steps: get_and![Piece::Field("te", "trailers")],
        demand: "te may be present with the value trailers",
        ..GOOD
    },
    Case {
        id: "H2-N15",
        title: "an unknown pseudo-field",
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[METHOD, SCHEME, AUTHORITY, PATH, Piece::Field(":dyno", "1")]
            ),
        ],
        ..PSEUDO
    },
    Case {
        id: "H2-N16",
        title: "a pseudo-field of answers",
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Field(":status", "200")],
        ..PSEUDO
    },
    Case {
        id: "H2-N17",
        title: "a pseudo-field after another field",
        steps: only![METHOD, SCHEME, AUTHORITY, Piece::Field("x-dyno", "1"), PATH],
        ..PSEUDO
    },
    Case {
        id: "H2-N18",
        title: "two :path",
        tags: &[Tag::Smuggling],
        steps: only![METHOD, SCHEME, AUTHORITY, PATH, Piece::Field(":path", "/dyno-other")],
        ..PSEUDO
    },
    Case {
        id: "H2-N19",
        title: "two :method",
        steps: only![METHOD, METHOD, SCHEME, AUTHORITY, PATH],
        ..PSEUDO
    },
    Case {
        id: "H2-N20",
        title: "two :authority",
        tags: &[Tag::Smuggling],
        steps: only![METHOD, SCHEME, AUTHORITY, Piece::Field(":authority", "other.example"), PATH],
        ..PSEUDO
    },
    Case {
        id: "H2-N21",
        title: "a pseudo-field in trailers",
        clause: http2("8.1"),
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"hello")]),
            Act::Frame(HEADERS, WHOLE, 1, &[Piece::Field(":method", "GET")]),
        ],
        demand: "trailers with a pseudo-field make a request malformed",
        ..PSEUDO
    },
    Case { id: "H2-N22", title: "no :method", steps: only![SCHEME, AUTHORITY, PATH], ..MISSING },
    Case { id: "H2-N23", title: "no :scheme", steps: only![METHOD, AUTHORITY, PATH], ..MISSING },
    Case { id: "H2-N24", title: "no :path", steps: only![METHOD, SCHEME, AUTHORITY], ..MISSING },
    Case {
        id: "H2-N25",
        title: "an empty :path",
        steps: only![METHOD, SCHEME, AUTHORITY, Piece::Field(":path", "")],
        demand: "the :path of an http or https URI is not empty",
        ..MISSING
    },
    Case {
        id: "H2-N26",
        title: "a :path that does not begin with /",
        steps: only![METHOD, SCHEME, AUTHORITY, Piece::Field(":path", "dyno")],
        demand: "the :path of an http or https URI begins with /, or is * for OPTIONS",
        ..MISSING
    },
    Case {
        id: "H2-N27",
        title: "an empty :method",
        steps: only![Piece::Field(":method", ""), SCHEME, AUTHORITY, PATH],
        ..MISSING
    },
    Case { id: "H2-N28", title: "no field at all", steps: only![], ..MISSING },
    Case {
        id: "H2-N29",
        title: "Host in place of :authority",
        clause: http2("8.3.1"),
        steps: only![METHOD, SCHEME, PATH, Piece::Field("host", "{H}")],
        demand: "a request that was translated from HTTP/1.1 may have Host, and no :authority",
        ..GOOD
    },
    Case {
        id: "H2-N30",
        title: "Host that is equal to :authority",
        clause: http2("8.3.1"),
        level: Level::Should,
        steps: get_and![Piece::Field("host", "{H}")],
        warn: &[Http2(Malformed(1))],
        doubt: "a server that refuses the request does no harm, but intermediaries may leave Host in it",
        demand: "Host may be there beside an equal :authority",
        ..GOOD
    },
    Case {
        id: "H2-N31",
        title: "CONNECT with :scheme and :path",
        clause: http2("8.5"),
        tags: &[Tag::Proxy],
        steps: only![Piece::Field(":method", "CONNECT"), SCHEME, AUTHORITY, PATH],
        demand: "CONNECT has neither :scheme nor :path, or it is malformed",
        ..MALFORMED
    },
    Case {
        id: "H2-N32",
        title: "CONNECT without :authority",
        clause: http2("8.5"),
        tags: &[Tag::Proxy],
        steps: only![Piece::Field(":method", "CONNECT")],
        demand: "CONNECT names in :authority where to connect to, or it is malformed",
        ..MALFORMED
    },
    Case {
        id: "H2-N33",
        title: "a :method that is no token",
        level: Level::Should,
        clause: http2("8.2.1"),
        steps: only![Piece::Field(":method", "GE T"), SCHEME, AUTHORITY, PATH],
        demand: "values are validated by their definitions: a method is a token",
        ..MALFORMED
    },
    Case {
        id: "H2-N34",
        title: "a user in :authority",
        level: Level::Should,
        clause: http2("8.3.1"),
        steps: only![METHOD, SCHEME, Piece::Field(":authority", "user@{H}"), PATH],
        demand: "a user does not belong in :authority; such a request is refused",
        ..MALFORMED
    },
    Case {
        id: "H2-N35",
        title: "a cookie in two fields",
        clause: http2("8.2.3"),
        steps: get_and![Piece::Field("cookie", "a=1"), Piece::Field("cookie", "b=2")],
        demand: "a cookie may come in several fields",
        ..GOOD
    },
];
