//! RFC 9112, 3.2: the Host field.

use super::refusal::{OTHERWISE, OTHERWISE_DOUBT, get};
use crate::case::{Area, Case, Tag, syntax};
use crate::script::Rule::{Class, Silent, Status};
use crate::script::Step::Send;

const BAD: Case = Case {
    area: Area::Host,
    clause: syntax("3.2"),
    twin: Some("H1-B01"),
    pass: &[Status(400)],
    warn: OTHERWISE,
    doubt: OTHERWISE_DOUBT,
    ..Case::BLANK
};

const TWICE: Case =
    Case { demand: "a request with more than one Host line is refused with 400", ..BAD };

const INVALID: Case = Case {
    tags: &[Tag::Injection],
    demand: "a Host that is no host with perhaps a port is refused with 400",
    ..BAD
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-H01",
        title: "no Host",
        steps: get!(""),
        demand: "an HTTP/1.1 request without Host is refused with 400",
        ..BAD
    },
    Case {
        id: "H1-H02",
        title: "two different Host lines",
        weight: 5,
        tags: &[Tag::Smuggling],
        steps: get!("Host: {H}\r\nHost: other.example\r\n"),
        ..TWICE
    },
    Case {
        id: "H1-H03",
        title: "two equal Host lines",
        tags: &[Tag::Smuggling],
        steps: get!("Host: {H}\r\nHost: {H}\r\n"),
        ..TWICE
    },
    Case { id: "H1-H04", title: "a slash in Host", steps: get!("Host: a/b\r\n"), ..INVALID },
    Case {
        id: "H1-H05",
        title: "a target in absolute form, and no Host",
        twin: Some("H1-A07"),
        steps: &[Send(b"GET http://{H}{get} HTTP/1.1\r\n\r\n")],
        demand: "an HTTP/1.1 request without Host is refused with 400, whatever its target says",
        ..BAD
    },
    Case {
        id: "H1-H06",
        title: "two Host lines in HTTP/1.0",
        tags: &[Tag::Smuggling],
        steps: &[Send(b"GET {get} HTTP/1.0\r\nHost: {H}\r\nHost: other.example\r\n\r\n")],
        warn: &[Class(4), Status(505), Silent],
        demand: "a request of any version with more than one Host line is refused with 400",
        doubt: "another 4xx, 505, or an end without an answer refuses it as safely, but does not tell the client what \
            is wrong",
        ..TWICE
    },
    Case { id: "H1-H07", title: "a user in Host", steps: get!("Host: user@{H}\r\n"), ..INVALID },
    Case {
        id: "H1-H08",
        title: "a port in Host that is no number",
        steps: get!("Host: localhost:http\r\n"),
        ..INVALID
    },
    Case {
        id: "H1-H09",
        title: "two hosts in one Host line",
        tags: &[Tag::Smuggling],
        steps: get!("Host: {H}, other.example\r\n"),
        ..INVALID
    },
];
