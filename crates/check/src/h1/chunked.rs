//! RFC 9112, 7: the chunked coding.

use super::refusal::{
    BROKEN_OFF, FINAL_5XX, FINAL_400, FINAL_413, STRICT_DOUBT, UNCLEARLY, UNCLEARLY_DOUBT, chunks,
    post,
};
use crate::case::{Area, Case, Clause, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{All, Class, Closes, Echo, Ok, Silent, Status, Successes, Waits};
use crate::script::Step::{Fill, HalfClose, Send};

const GOOD: Case = Case {
    area: Area::Chunked,
    clause: syntax("7.1"),
    needs: Need::Echo,
    pass: &[Echo(b"hello")],
    ..Case::BLANK
};

/// Chunks that are well-formed but rare.
const ODD: Case = Case { twin: Some("H1-B04"), warn: UNCLEARLY, doubt: STRICT_DOUBT, ..GOOD };

/// RFC 9112, 7.1 and 2.2: chunks that are framed differently are not HTTP.
const BAD: Case = Case {
    level: Level::Should,
    weight: 5,
    tags: &[Tag::Smuggling],
    twin: Some("H1-B04"),
    pass: &[FINAL_400],
    warn: UNCLEARLY,
    demand: "chunks that are not framed as chunks are make the request invalid: 400, and the connection ends",
    doubt: UNCLEARLY_DOUBT,
    ..GOOD
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-A01",
        title: "three chunks with sizes in either case and leading zeros",
        steps: chunks!("5\r\nhello\r\nA\r\n0123456789\r\n00b\r\n hello worl\r\n0\r\n\r\n"),
        pass: &[Echo(b"hello0123456789 hello worl")],
        warn: &[Status(411)],
        demand: "a chunk's size is a hexadecimal number in either case",
        doubt: "a server may ask for a length (411)",
        ..GOOD
    },
    Case {
        id: "H1-A02",
        title: "chunk extensions",
        clause: syntax("7.1.1"),
        steps: chunks!("5;foo=bar;q=\"x;y\"\r\nhello\r\n0;z\r\n\r\n"),
        demand: "chunk extensions that the server does not know are ignored",
        ..GOOD
    },
    Case {
        id: "H1-A03",
        title: "Content-Length in the trailer section",
        clause: syntax("7.1.2"),
        weight: 5,
        tags: &[Tag::Smuggling],
        twin: Some("H1-B04"),
        steps: chunks!(
            "5\r\nhello\r\n0\r\nX-T: 1\r\nContent-Length: 99\r\n\r\nGET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"
        ),
        answers: 2,
        pass: &[Successes(2), All(&[Successes(1), Echo(b"hello"), Closes]), FINAL_400],
        warn: UNCLEARLY,
        demand: "a trailer's fields are not those of the head: the next request is answered, or the connection ends",
        doubt: UNCLEARLY_DOUBT,
        ..GOOD
    },
    Case {
        id: "H1-A04",
        title: "chunked in odd case",
        clause: syntax("7"),
        steps: post!("transfer-encoding: Chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"),
        demand: "a transfer coding's name is case-insensitive",
        ..GOOD
    },
    Case {
        id: "H1-K12",
        title: "blanks around a chunk extension",
        clause: semantics("5.6.3"),
        steps: chunks!("5 ;\ta = b\r\nhello\r\n0\r\n\r\n"),
        demand: "blanks where the grammar has them for old times' sake are read over",
        ..ODD
    },
    Case {
        id: "H1-K13",
        title: "a chunk's size with 20 leading zeros",
        tags: &[Tag::Smuggling],
        steps: chunks!("000000000000000000005\r\nhello\r\n0\r\n\r\n"),
        demand: "a chunk's size is a hexadecimal number of any number of digits",
        ..ODD
    },
    Case {
        id: "H1-K01",
        title: "a chunk's size that is no number",
        steps: chunks!("zz\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K02",
        title: "a negative size",
        steps: chunks!("-5\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K03",
        title: "a size with 0x",
        steps: chunks!("0x5\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K04",
        title: "a size with an underscore",
        steps: chunks!("5_0\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K05",
        title: "an empty size",
        steps: chunks!("\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K06",
        title: "a chunk that is longer than its size",
        steps: chunks!("5\r\nhelloXX0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K07",
        title: "LF alone after a chunk's size",
        clause: Clause { erratum: Some(7633), ..syntax("7.1") },
        steps: chunks!("5\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K08",
        title: "LF inside a chunk extension",
        clause: syntax("7.1.1"),
        steps: chunks!("5;\n\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K14",
        title: "LF alone after a chunk's data",
        clause: Clause { erratum: Some(7633), ..syntax("7.1") },
        steps: chunks!("5\r\nhello\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K15",
        title: "CR alone after a chunk's size",
        steps: chunks!("5\rhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K16",
        title: "no line end after a chunk's data",
        steps: chunks!("5\r\nhello0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K17",
        title: "a blank before a chunk's size",
        weight: 3,
        steps: chunks!(" 5\r\nhello\r\n0\r\n\r\n"),
        ..BAD
    },
    Case {
        id: "H1-K18",
        title: "a blank after a chunk's size",
        weight: 1,
        steps: chunks!("5 \r\nhello\r\n0\r\n\r\n"),
        warn: &[Class(4), Silent, FINAL_5XX, Echo(b"hello")],
        doubt: "some clients pad sizes with blanks, and no server takes such a size for another; another refusal \
            does not say what is wrong",
        ..BAD
    },
    Case {
        id: "H1-K19",
        title: "a trailer line without a colon",
        clause: syntax("7.1.2"),
        weight: 1,
        steps: chunks!("5\r\nhello\r\n0\r\nno-colon-here\r\n\r\n"),
        warn: &[Class(4), Silent, FINAL_5XX, Echo(b"hello")],
        demand: "a trailer line that is no field line makes the request invalid: 400, and the connection ends",
        doubt: "a server may discard a trailer section unread; another refusal does not say what is wrong",
        ..BAD
    },
    Case {
        id: "H1-K09",
        title: "a size that overflows 64 bits to 5",
        level: Level::Must,
        tags: &[Tag::Smuggling, Tag::Size],
        steps: chunks!("10000000000000005\r\nhello\r\n0\r\n\r\n"),
        pass: &[FINAL_400, FINAL_413],
        warn: &[Class(4), Class(5), Silent, Waits],
        demand: "a size that is too large for the server's numbers is not taken for a smaller one",
        doubt: "any refusal is safe, and so is waiting for the rest of such a chunk",
        ..BAD
    },
    Case {
        id: "H1-K10",
        title: "a chunk extension of 256 KiB",
        clause: syntax("7.1.1"),
        level: Level::Ought,
        weight: 3,
        tags: &[Tag::Size],
        steps: &[
            Send(
                b"POST {post} HTTP/1.1\r\nHost: {H}\r\nTransfer-Encoding: chunked\r\n\r\n5;",
            ),
            Fill(b'a', 256 << 10),
            Send(b"\r\nhello\r\n0\r\n\r\n"),
        ],
        pass: &[Class(4)],
        warn: &[Silent, Ok, FINAL_5XX],
        demand: "the length of chunk extensions is limited, and too much of them is answered with a 4xx",
        doubt: "the limit is the server's own, and it may be larger; any refusal is safe",
        ..BAD
    },
    Case {
        id: "H1-K11",
        title: "no last chunk, and then the client's end",
        clause: syntax("8"),
        level: Level::Must,
        weight: 3,
        tags: &[],
        steps: &[
            Send(
                b"POST {post} HTTP/1.1\r\nHost: {H}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            ),
            HalfClose,
        ],
        pass: &[Silent, FINAL_400, BROKEN_OFF],
        warn: &[Class(4), FINAL_5XX],
        demand: "a body in chunks is incomplete without its last chunk, and the connection ends",
        doubt: "any refusal shows that the body was not taken for a whole one",
        ..BAD
    },
];
