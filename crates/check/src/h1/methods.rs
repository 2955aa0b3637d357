//! Methods: what every server must do for HEAD, OPTIONS, TRACE, CONNECT, and for a method that it does not know.

use std::time::Duration;

use crate::answer::ReceivedAnswer;
use crate::case::{Area, Case, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{All, Any, Class, Not, Ok, Silent, Status, Successes, When};
use crate::script::Step::{Receive, Send};
use crate::seen::Seen;

const BLANK: Case = Case { area: Area::Methods, twin: Some("H1-B01"), ..Case::BLANK };
/// As long as an answer may take.
const SOON: Duration = Duration::ZERO;
const GET: &[u8] = b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n";
const HEAD: &[u8] = b"HEAD {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-B02",
        title: "HEAD, and a GET after it",
        clause: semantics("9.3.2"),
        weight: 5,
        tags: &[Tag::Smuggling],
        steps: &[Send(HEAD), Receive(SOON), Send(GET)],
        answers: 2,
        pass: &[When("a head without content, then the answer to GET", is_head_then_get)],
        warn: &[When("a head without content, then the end", is_head_then_end)],
        demand: "an answer to HEAD has no content, so that the next answer begins right after its head",
        doubt: "a connection may end at any time, but then the next answer is not seen in its place",
        ..BLANK
    },
    Case {
        id: "H1-M01",
        title: "HEAD of a page",
        clause: semantics("9.1"),
        steps: &[Send(HEAD)],
        pass: &[Successes(1)],
        warn: &[Status(404), Status(405), Status(501)],
        demand: "a general-purpose server supports HEAD wherever it supports GET",
        doubt: "a server with a purpose of its own need not be general",
        ..BLANK
    },
    Case {
        id: "H1-M02",
        title: "Content-Length in the answer to HEAD",
        clause: semantics("8.6"),
        steps: &[Send(HEAD), Receive(SOON), Send(GET), Receive(SOON), Send(GET)],
        answers: 3,
        applies: &[When(
            "a length told to HEAD, of a page with content that keeps its length",
            is_steady,
        )],
        pass: &[When("the length of GET's content", is_length_true)],
        demand: "if the answer to HEAD has a Content-Length, it is that of GET's content",
        ..BLANK
    },
    Case {
        id: "H1-M03",
        title: "the fields of HEAD and of GET",
        clause: semantics("9.3.2"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(HEAD), Receive(SOON), Send(GET)],
        answers: 2,
        applies: &[When("HEAD and GET both answered", have_both_succeeded)],
        pass: &[When("all the fields of GET's answer", has_all_fields)],
        warn: &[When("fewer fields than GET's answer", have_both_succeeded)],
        demand: "HEAD is answered with the fields that GET would have been answered with",
        doubt: "a field may be left out if its value is known only once there is content",
        ..BLANK
    },
    Case {
        id: "H1-M04",
        title: "HEAD of a page that is not there, and a GET after it",
        clause: semantics("9.3.2"),
        weight: 5,
        tags: &[Tag::Smuggling],
        steps: &[
            Send(b"HEAD /dyno-no-such-page HTTP/1.1\r\nHost: {H}\r\n\r\n"),
            Receive(SOON),
            Send(GET),
        ],
        answers: 2,
        applies: &[Status(404), Status(410)],
        pass: &[When("a head without content, then the answer to GET", is_head_then_get)],
        warn: &[When("a head without content, then the end", is_head_then_end)],
        demand: "an answer to HEAD has no content, not even one that tells of an error",
        doubt: "a connection may end at any time, but then the next answer is not seen in its place",
        ..BLANK
    },
    Case {
        id: "H1-M05",
        title: "HEAD of a page that takes a POST, and a GET after it",
        clause: semantics("9.3.2"),
        weight: 3,
        tags: &[Tag::Smuggling],
        needs: Need::Post,
        steps: &[
            Send(b"HEAD {post} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n"),
            Receive(SOON),
            Send(GET),
        ],
        answers: 2,
        applies: &[Class(4), Status(501)],
        pass: &[When("a head without content, then the answer to GET", is_head_then_get)],
        warn: &[When("a head without content, then the end", is_head_then_end)],
        demand: "an answer to HEAD has no content, not even if the page has no such method",
        doubt: "a connection may end at any time, but then the next answer is not seen in its place",
        ..BLANK
    },
    Case {
        id: "H1-M06",
        title: "TRACE with credentials",
        clause: semantics("9.3.8"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(
            b"TRACE {get} HTTP/1.1\r\nHost: {H}\r\nAuthorization: Basic ZHlubzpkeW5v\r\n\
              Cookie: dyno=secret\r\n\r\n",
        )],
        pass: &[
            Class(4),
            Status(501),
            All(&[Ok, When("message/http", is_trace), Not(&When("the secret", has_secret))]),
        ],
        warn: &[All(&[Ok, Not(&When("the secret", has_secret))]), Class(3), Class(5), Silent],
        demand: "a TRACE that is reflected is reflected without fields that hold secrets",
        doubt: "what is answered is no reflection, but nothing is given away either",
        ..BLANK
    },
    Case {
        id: "H1-M07",
        title: "OPTIONS of a page",
        clause: semantics("9.3.7"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(b"OPTIONS {get} HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        applies: &[Ok],
        pass: &[All(&[Ok, When("Allow", has_allow)])],
        warn: &[Ok],
        demand: "a successful answer to OPTIONS tells what is allowed",
        doubt: "Allow is the example that the clause gives, and not the only way to tell",
        ..BLANK
    },
    Case {
        id: "H1-A09",
        title: "OPTIONS of the whole server",
        clause: syntax("3.2.4"),
        level: Level::Ought,
        weight: 1,
        steps: &[Send(b"OPTIONS * HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        pass: &[Ok],
        warn: &[Status(405), Status(501), Status(404)],
        demand: "OPTIONS * asks for what the server as a whole can do",
        doubt: "no sentence obliges a server to have an OPTIONS of its own",
        ..BLANK
    },
    Case {
        id: "H1-R09",
        title: "an unknown method",
        clause: semantics("9.1"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(b"DYNO {get} HTTP/1.1\r\nHost: {H}\r\n\r\n")],
        pass: &[Status(501), Status(405)],
        warn: &[Class(4), Ok],
        demand: "an unknown method is answered with 501, one that is not allowed with 405",
        doubt: "another refusal is clear enough, and a page may take every method",
        ..BLANK
    },
    Case {
        id: "H1-R10",
        title: "CONNECT to a port that cannot be",
        clause: semantics("9.3.6"),
        tags: &[Tag::Proxy],
        steps: &[Send(b"CONNECT 127.0.0.1:99999 HTTP/1.1\r\nHost: 127.0.0.1:99999\r\n\r\n")],
        pass: &[Any(&[Class(4), Class(5)])],
        warn: &[Silent],
        demand: "a CONNECT to a port that is none is refused; 2xx would open a tunnel",
        doubt: "closing refuses it, too, but does not say so",
        ..BLANK
    },
];

fn is_bodiless(head: &ReceivedAnswer) -> bool {
    head.flaws.is_empty() && (200..600).contains(&head.status)
}

/// The bytes after the head were an answer of their own, so the answer to HEAD had no content.
fn is_head_then_get(seen: &Seen) -> bool {
    match seen.reading.finals.as_slice() {
        [head, get] => {
            is_bodiless(head) && get.is_whole && get.is_success() && get.flaws.is_empty()
        }
        [head] => is_bodiless(head) && head.says_close() && seen.is_closed(),
        _ => false,
    }
}

fn is_head_then_end(seen: &Seen) -> bool {
    matches!(seen.reading.finals.as_slice(), [head] if is_bodiless(head) && seen.is_closed())
}

fn is_steady(seen: &Seen) -> bool {
    let (Some(head), Some(once), Some(again)) = (seen.nth(0), seen.nth(1), seen.nth(2)) else {
        return false;
    };
    let lengths = (once.content.len(), again.content.len());
    head.field("content-length").is_some()
        && lengths.0 == lengths.1
        && lengths.0 > 0
        && [head, again].iter().all(|it| it.status == once.status)
}

fn is_length_true(seen: &Seen) -> bool {
    let stated = seen.nth(0).and_then(|head| head.field("content-length"));
    let true_length = seen.nth(1).map(|get| get.content.len().to_string());
    stated.is_some() && stated == true_length.as_deref().map(str::as_bytes)
}

fn have_both_succeeded(seen: &Seen) -> bool {
    [0, 1].iter().all(|number| seen.nth(*number).is_some_and(ReceivedAnswer::is_success))
}

fn has_all_fields(seen: &Seen) -> bool {
    /// Fields about how an answer is sent, not about its content; and fields that may change each time.
    const FREE: [&str; 7] = [
        "content-length",
        "transfer-encoding",
        "trailer",
        "connection",
        "keep-alive",
        "date",
        "set-cookie",
    ];
    let (Some(head), Some(get)) = (seen.nth(0), seen.nth(1)) else { return false };
    let mut owed = get.fields.iter().filter(|(name, _)| !FREE.contains(&name.as_str()));
    owed.all(|(name, _)| head.field(name).is_some())
}

fn is_trace(seen: &Seen) -> bool {
    let kind = seen.first().and_then(|answer| answer.field("content-type"));
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"message/http"))
}

fn has_secret(seen: &Seen) -> bool {
    let holds = |secret: &[u8]| seen.received.windows(secret.len()).any(|window| window == secret);
    holds(b"ZHlubzpkeW5v") || holds(b"dyno=secret")
}

fn has_allow(seen: &Seen) -> bool {
    seen.first().is_some_and(|answer| answer.field("allow").is_some())
}
