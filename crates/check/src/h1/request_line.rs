//! RFC 9112, 2 and 3: the request line and the forms of its target.

use std::time::Duration;

use super::refusal::{FINAL_400, OTHERWISE, OTHERWISE_DOUBT, line};
use crate::case::{Area, Case, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{All, Class, Closes, Echo, Ok, Silent, Status, Successes, Waits};
use crate::script::Step::{Drip, Fill, Send};

/// An accepted request line.
const GOOD: Case = Case { area: Area::RequestLine, ..Case::BLANK };

/// RFC 9112, 3.2: a line that is not a request line.
const BAD: Case = Case {
    area: Area::RequestLine,
    clause: syntax("3.2"),
    level: Level::Should,
    weight: 1,
    twin: Some("H1-B01"),
    pass: &[Status(400), Status(301)],
    warn: OTHERWISE,
    demand: "an invalid request line is answered with 400, or with a redirect to what was meant, and not mended",
    doubt: OTHERWISE_DOUBT,
    ..Case::BLANK
};

/// RFC 9112, 2.2: no HTTP at all.
const GARBAGE: Case = Case {
    area: Area::RequestLine,
    clause: syntax("2.2"),
    level: Level::Should,
    tags: &[Tag::Crash],
    twin: Some("H1-B01"),
    pass: &[FINAL_400],
    warn: OTHERWISE,
    demand: "what is no HTTP is answered with 400, and the connection ends",
    doubt: OTHERWISE_DOUBT,
    ..Case::BLANK
};

/// 128 octets that begin no request, repeated four times.
const BINARY: &[u8] = &{
    let mut octets = [0; 512];
    let mut at = 0;
    while at < octets.len() {
        octets[at] = 0x80 | (at & 0x7f) as u8;
        at += 1;
    }
    octets
};

/// The beginning of a TLS handshake: a record of 196 octets with a hello that is all zeros.
const TLS: &[u8] = &{
    let mut octets = [0; 201];
    let start = [0x16, 3, 1, 0, 0xc4, 1, 0, 0, 0xc0, 3, 3];
    let mut at = 0;
    while at < start.len() {
        octets[at] = start[at];
        at += 1;
    }
    octets
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-A06",
        title: "an empty line before the request line",
        clause: syntax("2.2"),
        level: Level::Should,
        weight: 1,
        steps: line!("\r\nGET {get} HTTP/1.1"),
        pass: &[Ok],
        warn: &[Status(400)],
        demand: "at least one empty line before a request line is ignored",
        doubt: "a refusal is an answer, and does no harm",
        ..GOOD
    },
    Case {
        id: "H1-A07",
        title: "a target in absolute form",
        clause: syntax("3.2.2"),
        steps: line!("GET http://{H}{get} HTTP/1.1"),
        pass: &[Ok],
        demand: "a server takes the absolute form of a target",
        ..GOOD
    },
    Case {
        id: "H1-Q01",
        title: "a target in absolute form beside another Host",
        clause: syntax("3.2.2"),
        twin: Some("H1-A07"),
        steps: &[Send(b"GET http://{H}{get} HTTP/1.1\r\nHost: other.example\r\n\r\n")],
        pass: &[Ok],
        warn: &[Status(400)],
        demand: "the host in an absolute target is what counts, and Host is ignored",
        doubt: "a server may take the contradiction for an attack",
        ..GOOD
    },
    Case {
        id: "H1-A08",
        title: "a request line of nearly 8,000 octets",
        clause: syntax("3"),
        level: Level::Should,
        weight: 1,
        twin: Some("H1-B01"),
        steps: &[Send(b"GET {get?}q="), Fill(b'a', 7_950), Send(b" HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        pass: &[Ok, Status(404)],
        warn: &[Status(414)],
        demand: "request lines of 8,000 octets are supported",
        doubt: "414 says plainly what is wrong",
        ..GOOD
    },
    Case {
        id: "H1-A12",
        title: "a request that comes octet by octet",
        clause: syntax("2.2"),
        needs: Need::Echo,
        steps: &[Drip(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\r\nhello",
            Duration::from_millis(4),
        )],
        pass: &[Echo(b"hello")],
        demand: "a message is a sequence of octets, however they are cut into packets",
        ..GOOD
    },
    Case {
        id: "H1-Q02",
        title: "HTTP/1.9",
        clause: semantics("2.5"),
        level: Level::Should,
        weight: 1,
        steps: line!("GET {get} HTTP/1.9"),
        pass: &[Ok],
        warn: &[Status(505), Status(400)],
        demand: "a higher minor version is served as the highest that the server has",
        doubt: "a refusal is an answer, and does no harm",
        ..GOOD
    },
    Case {
        id: "H1-Q03",
        title: "lines that end in LF alone",
        clause: syntax("2.2"),
        level: Level::Should,
        weight: 1,
        twin: Some("H1-B01"),
        steps: &[Send(b"GET {get} HTTP/1.1\nHost: {H}\n\nGET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        answers: 2,
        pass: &[Status(400), Successes(2), All(&[Successes(1), Closes])],
        warn: OTHERWISE,
        demand: "LF alone ends a line, or the request is refused with 400",
        doubt: OTHERWISE_DOUBT,
        ..GOOD
    },
    Case {
        id: "H1-Q04",
        title: "tabs between the parts of the request line",
        steps: line!("GET\t{get}\tHTTP/1.1"),
        pass: &[Status(400), Ok],
        warn: OTHERWISE,
        demand: "tabs in a request line are read as blanks, or the request is refused with 400",
        ..BAD
    },
    Case {
        id: "H1-Q05",
        title: "a fragment in the target",
        steps: line!("GET {get}#part HTTP/1.1"),
        ..BAD
    },
    Case {
        id: "H1-Q06",
        title: "a target that has none of the four forms",
        steps: line!("GET dyno HTTP/1.1"),
        ..BAD
    },
    Case {
        id: "H1-Q07",
        title: "a method in lower case",
        clause: semantics("9.1"),
        steps: line!("get {get} HTTP/1.1"),
        pass: &[Status(501), Status(405), Status(400)],
        warn: &[Class(4), Ok],
        demand: "a method is case-sensitive, and an unknown one is answered with 501",
        doubt: "another 4xx refuses it as well, and a page may answer whatever it is asked",
        ..BAD
    },
    Case {
        id: "H1-Q08",
        title: "a version of three digits",
        steps: line!("GET {get} HTTP/1.10"),
        pass: &[Status(400), Status(505)],
        demand: "a version has one digit on each side of its point, and another request line is refused",
        ..BAD
    },
    Case {
        id: "H1-R01",
        title: "a version that is no number",
        steps: line!("GET {get} HTTP/1.A"),
        pass: &[Status(400), Status(505)],
        demand: "a version has one digit on each side of its point, and another request line is refused",
        ..BAD
    },
    Case {
        id: "H1-R02",
        title: "a version in lower case",
        clause: syntax("2.3"),
        steps: line!("GET {get} http/1.1"),
        pass: &[Status(400), Status(505)],
        demand: "the name in a version is case-sensitive, and another request line is refused",
        ..BAD
    },
    Case {
        id: "H1-R03",
        title: "a major version that does not exist",
        clause: semantics("15.6.6"),
        level: Level::Ought,
        steps: line!("GET {get} HTTP/7.0"),
        pass: &[Status(505)],
        warn: &[Class(4), Silent, Ok],
        demand: "a major version that the server does not have can be refused with 505",
        doubt: "no sentence obliges a server to refuse it; another refusal does not say what is wrong",
        ..BAD
    },
    Case {
        id: "H1-R04",
        title: "a blank inside the target",
        weight: 3,
        tags: &[Tag::Smuggling],
        steps: line!("GET /a b HTTP/1.1"),
        ..BAD
    },
    Case {
        id: "H1-R05",
        title: "NUL in the target",
        weight: 3,
        tags: &[Tag::Injection],
        steps: line!("GET /\0 HTTP/1.1"),
        ..BAD
    },
    Case {
        id: "H1-R06",
        title: "a request line without a version",
        clause: syntax("2.2"),
        weight: 3,
        tags: &[Tag::Smuggling],
        steps: line!("GET {get}"),
        pass: &[Status(400), Status(505)],
        demand: "a request line without a version is refused, and not answered as if it were HTTP/0.9",
        ..BAD
    },
    Case {
        id: "H1-R07",
        title: "binary garbage",
        steps: &[Send(BINARY), Send(b"\r\n\r\n")],
        ..GARBAGE
    },
    Case {
        id: "H1-R08",
        title: "the beginning of a TLS handshake",
        steps: &[Send(TLS)],
        warn: &[Class(4), Silent, Waits],
        doubt: "another 4xx or an end without an answer refuses it as safely, and a server may wait for the end \
            of a line that never comes",
        ..GARBAGE
    },
];
