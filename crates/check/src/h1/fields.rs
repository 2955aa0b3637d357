//! RFC 9112, 5, and RFC 9110, 5: field lines.

use super::refusal::{FINAL_5XX, OTHERWISE, OTHERWISE_DOUBT, get, line, post};
use crate::case::{Area, Case, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{All, Class, Closes, Echo, Ok, Silent, Status, Successes, When};
use crate::script::Step::Send;
use crate::seen::Seen;

const GOOD: Case = Case { area: Area::Fields, ..Case::BLANK };

const BAD: Case = Case {
    area: Area::Fields,
    clause: syntax("2.2"),
    twin: Some("H1-B01"),
    pass: &[Status(400)],
    warn: OTHERWISE,
    doubt: OTHERWISE_DOUBT,
    ..Case::BLANK
};

/// RFC 9112, 5.1: no blank before the colon.
const BLANK_BEFORE_COLON: Case = Case {
    clause: syntax("5.1"),
    weight: 5,
    tags: &[Tag::Smuggling],
    twin: Some("H1-B05"),
    needs: Need::Post,
    demand: "a request with a blank between a field's name and its colon is refused with 400",
    ..BAD
};

/// RFC 9112, 2.2: a line that is not a field line.
const NO_FIELD: Case = Case {
    level: Level::Should,
    tags: &[Tag::Smuggling],
    demand: "a line of the head that is no field line makes the request invalid, and it is refused with 400",
    ..BAD
};

/// RFC 9110, 5.5: what must not be in a value.
const DANGEROUS: Case = Case {
    weight: 5,
    warn: &[Ok, Class(4), Silent],
    doubt: "a server may put a blank in its place, which cannot be seen from outside; another 4xx, or an end without \
        an answer, refuses it as safely",
    ..BAD
};

/// RFC 9112, 5.2: a field that continues on the next line.
const FOLDED: Case = Case {
    clause: syntax("5.2"),
    weight: 5,
    tags: &[Tag::Smuggling],
    twin: Some("H1-B03"),
    needs: Need::Echo,
    warn: &[Class(4), Silent, FINAL_5XX],
    demand: "a folded line is refused with 400, or read as if it were one line",
    doubt: "another 4xx, a 5xx with the connection's end, or an end without an answer refuse it, too, but do not tell \
        the client what is wrong",
    ..BAD
};

fn has_no_injected_line(seen: &Seen) -> bool {
    let mut answers = seen.reading.finals.iter().chain(&seen.reading.interim);
    seen.first().is_some() && answers.all(|answer| answer.field("x-dyno-injected").is_none())
}

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-A05",
        title: "blanks and tabs around Content-Length",
        clause: semantics("5.5"),
        tags: &[Tag::Smuggling],
        needs: Need::Echo,
        steps: post!("Content-Length: \t 5 \t\r\n", "hello"),
        pass: &[Echo(b"hello")],
        demand: "blanks and tabs around a value do not belong to it",
        ..GOOD
    },
    Case {
        id: "H1-F11",
        title: "field names in odd case, and no blank after the colon",
        clause: semantics("5.1"),
        needs: Need::Echo,
        steps: &[Send(b"POST {post} HTTP/1.1\r\nhOST:{H}\r\ncONTENT-lENGTH:5\r\n\r\nhello")],
        pass: &[Echo(b"hello")],
        demand: "a field's name is case-insensitive, and a blank after its colon is optional",
        ..GOOD
    },
    Case {
        id: "H1-F12",
        title: "octets beyond ASCII in a value",
        clause: semantics("5.5"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nX-A: caf\xe9 \xff\r\n\r\n")],
        pass: &[Ok],
        warn: &[Status(400)],
        demand: "octets beyond ASCII in a value are opaque data",
        doubt: "a refusal is an answer, and does no harm",
        ..GOOD
    },
    Case {
        id: "H1-F13",
        title: "empty members in a list",
        clause: semantics("5.6.1.2"),
        weight: 1,
        steps: get!("Host: {H}\r\nConnection: , close ,,\r\n"),
        pass: &[All(&[Ok, Closes])],
        warn: &[Status(400)],
        demand: "a reasonable number of empty members of a list is ignored",
        doubt: "a refusal is an answer, and does no harm",
        ..GOOD
    },
    Case {
        id: "H1-F01",
        title: "a blank before the colon of Content-Length",
        steps: post!("Content-Length : 5\r\n", "hello"),
        ..BLANK_BEFORE_COLON
    },
    Case {
        id: "H1-F02",
        title: "a blank before the colon of Transfer-Encoding",
        steps: post!("Transfer-Encoding : chunked\r\nContent-Length: 5\r\n", "hello"),
        ..BLANK_BEFORE_COLON
    },
    Case {
        id: "H1-F14",
        title: "a tab before the colon of any field",
        weight: 3,
        twin: Some("H1-B01"),
        needs: Need::Get,
        steps: get!("Host: {H}\r\nX-A\t: b\r\n"),
        ..BLANK_BEFORE_COLON
    },
    Case {
        id: "H1-F03",
        title: "a fold that hides chunked beside Content-Length",
        steps: post!("Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n"),
        pass: &[Status(400), All(&[Echo(b""), Closes])],
        demand: "a folded line is refused with 400, or read as if it were one line: then the body is in chunks, \
            Content-Length does not count, and the connection ends",
        ..FOLDED
    },
    Case {
        id: "H1-F15",
        title: "a fold that hides Content-Length's value",
        steps: post!("Content-Length:\r\n 5\r\n", "hello"),
        pass: &[Status(400), Echo(b"hello")],
        ..FOLDED
    },
    Case {
        id: "H1-F04",
        title: "a line that begins with a blank, before any field",
        weight: 5,
        tags: &[Tag::Smuggling],
        twin: Some("H1-B03"),
        needs: Need::Echo,
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\n Content-Length: 5\r\nHost: {H}\r\n\r\nGET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n",
        )],
        answers: 2,
        pass: &[
            Status(400),
            All(&[Echo(b""), Successes(2)]),
            All(&[Echo(b""), Successes(1), Closes]),
        ],
        demand: "a line that begins with a blank, before any field, makes the request invalid or is left out whole",
        ..BAD
    },
    Case {
        id: "H1-F05",
        title: "NUL in a value",
        clause: semantics("5.5"),
        tags: &[Tag::Injection],
        steps: get!("Host: {H}\r\nX-A: a\0b\r\n"),
        demand: "NUL in a value makes the request invalid, or is replaced by a blank",
        ..DANGEROUS
    },
    Case {
        id: "H1-F06",
        title: "CR without LF in a value",
        tags: &[Tag::Smuggling],
        twin: Some("H1-B05"),
        needs: Need::Post,
        steps: post!("X-A: a\rContent-Length: 5\r\n", ""),
        demand: "CR without LF makes the request invalid, or is replaced by a blank; it does not end a line",
        ..DANGEROUS
    },
    Case {
        id: "H1-F07",
        title: "a field name with brackets",
        level: Level::Should,
        weight: 1,
        steps: get!("Host: {H}\r\nX[a]: b\r\n"),
        warn: &[Class(4), Ok, Silent],
        demand: "a field name that is no token makes the request invalid, and it is refused with 400",
        doubt: "such a field can be ignored without harm; another 4xx, or an end without an answer, refuses it as well",
        ..BAD
    },
    Case {
        id: "H1-F08",
        title: "an empty field name",
        steps: get!("Host: {H}\r\n: b\r\n"),
        ..NO_FIELD
    },
    Case {
        id: "H1-F09",
        title: "a line without a colon",
        steps: get!("Host: {H}\r\nno-colon-here\r\n"),
        ..NO_FIELD
    },
    Case {
        id: "H1-F16",
        title: "a blank inside a field name",
        steps: get!("Host: {H}\r\nX A: b\r\n"),
        ..NO_FIELD
    },
    Case {
        id: "H1-F10",
        title: "CR and LF in the target, encoded by percent",
        clause: semantics("5.5"),
        weight: 5,
        tags: &[Tag::Injection],
        twin: Some("H1-B01"),
        steps: line!("GET /%0d%0aX-Dyno-Injected:%20yes HTTP/1.1"),
        pass: &[When("an answer without the injected line", has_no_injected_line)],
        warn: &[Silent],
        demand: "what a client sends encoded never comes back as a field line of its own",
        doubt: "an end without an answer injects nothing, but tells the client nothing",
        ..GOOD
    },
];
