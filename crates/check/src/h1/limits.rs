//! Limits: long targets, large heads, endless bodies. Whether a server survives them is seen by what it answers next.

use crate::case::{Area, Case, Level, Need, Scheduling, Tag, semantics, syntax};
use crate::script::Rule::{All, Class, GrewLess, MemoryUnknown, Silent, Status, Successes, Waits};
use crate::script::Step::{Fill, Repeat, Send};

const BLANK: Case =
    Case { area: Area::Limits, tags: &[Tag::Size], twin: Some("H1-B01"), ..Case::BLANK };
const REST: &[u8] = b" HTTP/1.1\r\nHost: {H}\r\n\r\n";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-S01",
        title: "a target of 256 KiB",
        clause: syntax("3"),
        steps: &[Send(b"GET /"), Fill(b'a', 256 << 10), Send(REST)],
        pass: &[Status(414)],
        warn: &[Status(400), Status(431), Status(404), Class(5), Silent, Successes(1)],
        demand: "a target that is longer than the server wishes to read is answered with 414",
        doubt: "another refusal is safe, too, even an unhelpful one, and a server may wish to read all this",
        ..BLANK
    },
    Case {
        id: "H1-S02",
        title: "a field of 1 MiB",
        clause: semantics("5.4"),
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nX-Big: "),
            Fill(b'a', 1 << 20),
            Send(b"\r\n\r\n"),
        ],
        pass: &[Status(431), Status(400), Status(413)],
        warn: &[Class(4), Class(5), Silent, Successes(1)],
        demand: "a field that is larger than the server wishes to read is answered with a fitting 4xx",
        doubt: "other codes fit less, and a server may wish to read as much as this",
        ..BLANK
    },
    Case {
        id: "H1-S03",
        title: "ten thousand fields",
        clause: semantics("5.4"),
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\n"),
            Repeat(b"X-{n}: a\r\n", 10_000),
            Send(b"\r\n"),
        ],
        pass: &[Status(431), Status(400), Status(413)],
        warn: &[Class(4), Class(5), Silent, Successes(1)],
        demand: "more fields than the server wishes to read are answered with a fitting 4xx",
        doubt: "other codes fit less, and a server may wish to read as many as these",
        ..BLANK
    },
    Case {
        id: "H1-S04",
        title: "a method of 4 KiB",
        clause: syntax("3"),
        level: Level::Should,
        weight: 1,
        steps: &[Fill(b'A', 4 << 10), Send(b" {get} HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        pass: &[Status(501), Status(405), Status(400)],
        warn: &[Class(4), Class(5), Silent, Successes(1)],
        demand: "a method that is longer than any that the server knows is answered with 501",
        doubt: "any refusal is safe, and a page may take every method",
        ..BLANK
    },
    Case {
        id: "H1-S05",
        title: "a body of 2^63-1 octets, announced",
        clause: semantics("2.3"),
        level: Level::Should,
        weight: 5,
        needs: Need::Echo,
        twin: Some("H1-B03"),
        scheduling: Scheduling::Alone,
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 9223372036854775807\r\n\r\n",
        )],
        pass: &[Status(413), Status(400), GrewLess(16)],
        warn: &[Class(4), Class(5), Silent, All(&[Waits, MemoryUnknown]), GrewLess(64)],
        demand: "no memory is set aside for what was only announced",
        doubt: "of a server that others have started the memory is not known; and memory may grow a \
                little for other reasons",
        ..BLANK
    },
];
