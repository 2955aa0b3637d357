//! Floods, and clients that hold on to what they opened (RFC 9113, 10.5). They are sent only to servers on this machine.

use std::time::Duration;

use super::act::{Act, HELD, OPEN, Piece, begun, get};
use super::frame::{
    CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, INITIAL_WINDOW_SIZE, PING,
    RST_STREAM, SETTINGS, WINDOW_UPDATE,
};
use super::refusal::{TAKEN, acts};
use super::sign::Sign::{Class, Ends, Ok, Refused};
use super::streams::WAITING;
use crate::case::{Area, Case, Level, Need, Scheduling, Tag, http2};
use crate::script::Rule::{ActsWithin, All, Any, GrewLess, Http2, MemoryUnknown, When};

const CASE: Case = Case {
    area: Area::Http2Limits,
    clause: http2("10.5"),
    level: Level::Should,
    weight: 5,
    tags: &[Tag::Size],
    scheduling: Scheduling::Alone,
    ..TAKEN
};

const BORNE: crate::script::Rule = When("all of it processed", |seen| {
    seen.heard.as_ref().is_some_and(super::Heard::has_answered_probe)
});

/// Many frames, none of which asks for much.
const FLOOD: Case = Case {
    pass: &[Http2(Ends), All(&[BORNE, GrewLess(16)])],
    warn: &[All(&[BORNE, Any(&[MemoryUnknown, GrewLess(64)])])],
    doubt: "of a server that others have started the memory is not known; it took all of this, and still answers",
    demand: "what costs the client little and the server much is limited: the connection ends, or nothing piles up",
    ..CASE
};

/// So many of a flood.
const MANY: usize = 10_000;

const SLOW: Case = Case {
    level: Level::Ought,
    weight: 3,
    tags: &[Tag::Slow],
    scheduling: Scheduling::Slow,
    limit: Duration::from_secs(130),
    pass: &[All(&[Any(&[Http2(Ends), Http2(Refused(1))]), ActsWithin(Duration::from_secs(120))])],
    warn: &[When("still open after two minutes", |seen| {
        seen.end == crate::seen::End::Open && seen.slow.acted.is_none()
    })],
    doubt: "no sentence says how long a server may wait",
    ..CASE
};
const PATIENCE: Act = Act::Idle(Duration::from_secs(125));

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-L01",
        title: "requests that are reset at once (CVE-2023-44487)",
        tags: &[Tag::Crash],
        steps: acts![
            OPEN,
            Act::Repeat(2000, 2, &[get(1), Act::Frame(RST_STREAM, 0, 1, &[Piece::Number(CANCEL)])]),
        ],
        ..FLOOD
    },
    Case {
        id: "H2-L02",
        title: "requests that the server must reset (CVE-2025-8671)",
        tags: &[Tag::Crash],
        steps: acts![
            OPEN,
            Act::Repeat(2000, 2, &[get(1), Act::Frame(WINDOW_UPDATE, 0, 1, &[Piece::Number(0)])]),
        ],
        ..FLOOD
    },
    Case {
        id: "H2-L03",
        title: "a header block of 16 MiB",
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, END_STREAM, 1, &[Piece::Request("GET")]),
            Act::Repeat(
                4096,
                0,
                &[Act::Frame(CONTINUATION, 0, 1, &[Piece::Long("x-flood", 4000)])]
            ),
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[Piece::Field("x-flood", "end")]),
        ],
        pass: &[Http2(Refused(1)), Http2(Class(1, 4))],
        warn: &[Http2(Class(1, 5))],
        doubt: "5xx refuses it, but blames the server",
        demand: "a header block is not read without a limit",
        ..CASE
    },
    Case {
        id: "H2-L04",
        title: "10,000 empty CONTINUATION",
        steps: acts![
            OPEN,
            Act::Frame(HEADERS, END_STREAM, 1, &[Piece::Request("GET")]),
            Act::Repeat(MANY, 0, &[Act::Frame(CONTINUATION, 0, 1, &[])]),
            Act::Frame(CONTINUATION, END_HEADERS, 1, &[]),
        ],
        pass: &[Http2(Refused(1)), Http2(Class(1, 4)), All(&[Http2(Ok(1)), GrewLess(16)])],
        warn: &[All(&[Http2(Ok(1)), MemoryUnknown])],
        ..FLOOD
    },
    Case {
        id: "H2-L05",
        title: "10,000 SETTINGS",
        steps: acts![
            OPEN,
            Act::Repeat(
                MANY,
                0,
                &[Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, 1 << 20)])]
            ),
        ],
        ..FLOOD
    },
    Case {
        id: "H2-L06",
        title: "10,000 PING",
        steps: acts![
            OPEN,
            Act::Repeat(MANY, 0, &[Act::Frame(PING, 0, 0, &[Piece::Octets(b"flooding")])]),
        ],
        ..FLOOD
    },
    Case {
        id: "H2-L07",
        title: "10,000 empty DATA",
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![
            OPEN,
            super::act::post(1),
            Act::Repeat(MANY, 0, &[Act::Frame(DATA, 0, 1, &[])]),
        ],
        ..FLOOD
    },
    Case {
        id: "H2-L08",
        title: "fields of 48 MB in 16 KB",
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                END_HEADERS | END_STREAM,
                1,
                &[Piece::Request("GET"), Piece::Bomb("x-bomb", 4000, 12_000)]
            ),
        ],
        pass: &[Http2(Refused(1)), Http2(Class(1, 4))],
        warn: &[All(&[Http2(Ok(1)), Any(&[MemoryUnknown, GrewLess(16)])])],
        doubt: "the request was answered, but its fields were not all kept",
        demand: "fields are limited by their size after decompression",
        ..CASE
    },
    Case {
        id: "H2-SL1",
        title: "an answer whose window stays at 0",
        applies: &[WAITING],
        steps: acts![HELD, get(1), begun(1), PATIENCE],
        demand: "an answer that is never taken does not hold its memory for ever",
        ..SLOW
    },
    Case {
        id: "H2-SL2",
        title: "a header block that never ends",
        steps: acts![OPEN, Act::Frame(HEADERS, END_STREAM, 1, &[Piece::Request("GET")]), PATIENCE],
        demand: "a client that takes minutes for its fields is cut off",
        ..SLOW
    },
    Case {
        id: "H2-SL3",
        title: "a connection without a request",
        tags: &[Tag::Slow],
        steps: acts![OPEN, PATIENCE],
        demand: "a connection without a request does not stay for ever",
        ..SLOW
    },
];
