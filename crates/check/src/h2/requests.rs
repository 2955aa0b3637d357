//! RFC 9113, 8.1: requests and answers: content, trailers, interim answers, methods.

use super::act::{Act, OPEN, Piece, WHOLE, post};
use super::frame::{DATA, END_HEADERS, END_STREAM, HEADERS};
use super::refusal::{MALFORMED, TAKEN, acts};
use super::sign::Sign::{Class, Echo, Ok, Refused, Status};
use crate::case::{Area, Case, Level, Need, http2, semantics};
use crate::script::Rule::{All, Http2, When};

const GOOD: Case = Case {
    clause: http2("8.1"),
    weight: 3,
    needs: Need::Echo,
    twin: Some("H2-B02"),
    pass: &[Http2(Echo(1, b"hello"))],
    ..TAKEN
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-R01",
        title: "content in several DATA frames",
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"he")]),
            Act::Frame(DATA, 0, 1, &[]),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"l")]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"lo")]),
        ],
        demand: "content is what all DATA frames have together",
        ..GOOD
    },
    Case {
        id: "H2-R02",
        title: "content with its length",
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                END_HEADERS,
                1,
                &[Piece::Request("POST"), Piece::Field("content-length", "5")]
            ),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        demand: "a right content-length changes nothing",
        ..GOOD
    },
    Case {
        id: "H2-R03",
        title: "trailers",
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"hello")]),
            Act::Frame(HEADERS, WHOLE, 1, &[Piece::Field("x-trailer", "1")]),
        ],
        demand: "a request may end with trailers",
        ..GOOD
    },
    Case {
        id: "H2-R04",
        title: "trailers without END_STREAM",
        needs: Need::Post,
        twin: Some("H2-B03"),
        area: Area::Http2Requests,
        clause: http2("8.1"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"hello")]),
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Field("x-trailer", "1")]),
        ],
        demand: "HEADERS after the first ones of a request end it, or the request is malformed",
        ..MALFORMED
    },
    Case {
        id: "H2-R05",
        title: "a request that expects 100-continue",
        clause: semantics("10.1.1"),
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                END_HEADERS,
                1,
                &[Piece::Request("POST"), Piece::Field("expect", "100-continue")]
            ),
            Act::Listen(std::time::Duration::from_millis(300)),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        warn: &[Http2(Status(1, 417))],
        doubt: "a server may refuse an expectation",
        demand: "a request that expects 100-continue is answered when its content has come",
        ..GOOD
    },
    Case {
        id: "H2-R06",
        title: "an unknown method",
        clause: semantics("9.1"),
        level: Level::Should,
        area: Area::Http2Requests,
        weight: 1,
        twin: Some(super::PLAIN),
        steps: acts![OPEN, Act::Frame(HEADERS, WHOLE, 1, &[Piece::Request("DYNO")]),],
        pass: &[Http2(Status(1, 501)), Http2(Status(1, 405))],
        warn: &[Http2(Class(1, 4)), Http2(Class(1, 5)), Http2(Ok(1)), Http2(Refused(1))],
        doubt: "another refusal is safe, and a page may take every method",
        demand: "a method that the server does not know is answered with 501, or 405",
        ..Case::BLANK
    },
    Case {
        id: "H2-R07",
        title: "the date of an answer",
        clause: semantics("6.6.1"),
        weight: 1,
        area: Area::Http2Requests,
        steps: acts![OPEN, super::act::get(1)],
        pass: &[All(&[
            Http2(Ok(1)),
            When("a date", |seen| {
                let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
                reply.is_some_and(|reply| reply.field("date").is_some())
            }),
        ])],
        demand: "a server with a clock says when it has answered",
        ..TAKEN
    },
    Case {
        id: "H2-R08",
        title: "a GET with content",
        clause: semantics("9.3.1"),
        weight: 1,
        area: Area::Http2Requests,
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, END_HEADERS, 1, &[Piece::Request("GET")]),
            Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")]),
        ],
        pass: &[Http2(Ok(1)), Http2(Class(1, 4))],
        warn: &[Http2(Refused(1))],
        doubt: "a server may refuse such a request, but an answer tells the client more",
        demand: "content of a GET means nothing; the request is answered or refused",
        ..TAKEN
    },
    Case {
        id: "H2-R09",
        title: "fields of 12 KiB",
        clause: http2("10.5.1"),
        weight: 1,
        area: Area::Http2Requests,
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[
                    Piece::Request("GET"),
                    Piece::Long("x-first", 4000),
                    Piece::Long("x-second", 4000),
                    Piece::Long("x-third", 4000)
                ]
            ),
        ],
        pass: &[Http2(Ok(1)), Http2(Status(1, 431))],
        warn: &[Http2(Class(1, 4)), Http2(Refused(1))],
        doubt: "a server may refuse so much in another way, but 431 tells the client why",
        demand: "fields that are more than a server wishes to process are answered with 431",
        ..TAKEN
    },
    Case {
        id: "H2-R10",
        title: "an answer that does not wait for the end of another",
        clause: http2("5"),
        needs: Need::Post,
        area: Area::Http2Requests,
        twin: Some("H2-B03"),
        steps: acts![OPEN, post(1), super::act::get(3)],
        pass: &[Http2(Ok(3))],
        demand: "a request whose content has not come holds back no other",
        ..TAKEN
    },
];
