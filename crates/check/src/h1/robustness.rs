//! RFC 9112, 9.3 and 6.3: whether a server still knows, after an unusual or broken request, where the next one begins.

use super::refusal::{FINAL_5XX, chunks, post};
use crate::case::{Area, Case, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{self, All, Answers, Class, Closes, Silent, Status, Successes, When};
use crate::script::Step::Send;
use crate::seen::Seen;

const CASE: Case =
    Case { area: Area::Robustness, weight: 5, tags: &[Tag::Smuggling], ..Case::BLANK };

/// One refusal and nothing more.
const ONE_400: Rule = All(&[Status(400), Answers(1), Closes]);
/// Other answers that are safe.
const ONE_OTHER: &[Rule] = &[All(&[Class(4), Answers(1)]), All(&[FINAL_5XX, Answers(1)]), Silent];
const ONE_DOUBT: &str = "another refusal, or an end without an answer, is as safe, but does not tell the client what \
    is wrong; on a connection that stays open nothing more was answered, though it may be";

/// The request inside a body was not answered; the server may still refuse the body.
const SKIPPED: &[Rule] = &[
    All(&[Answers(2), When("the second with success", is_second_right)]),
    All(&[Answers(1), Closes]),
];

/// Octets that are a body, but would be a request by themselves.
macro_rules! disguised {
    () => {
        "GET /dyno-hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
    };
}

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-E01",
        title: "a GET whose body looks like a request, and the next request",
        clause: syntax("9.3"),
        twin: Some("H1-B01"),
        steps: &[Send(
            concat!(
                "GET {get} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 46\r\n\r\n",
                disguised!(),
                "GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"
            )
            .as_bytes(),
        )],
        answers: 2,
        pass: SKIPPED,
        warn: &[Silent],
        demand: "a body is read to its end whatever the method, or the connection ends: none of it is taken for a request",
        doubt: "an end without an answer is safe, but tells the client nothing",
        ..CASE
    },
    Case {
        id: "H1-E02",
        title: "a body that looks like a request, for a page that does not exist, and the next request",
        clause: syntax("9.3"),
        twin: Some("H1-B01"),
        steps: &[Send(
            concat!(
                "POST /dyno-nowhere HTTP/1.1\r\nHost: {H}\r\nContent-Length: 46\r\n\r\n",
                disguised!(),
                "GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"
            )
            .as_bytes(),
        )],
        answers: 2,
        pass: SKIPPED,
        warn: &[Silent],
        demand: "the body of a request that is refused is read to its end, or the connection ends: none of it is taken \
            for a request",
        doubt: "an end without an answer is safe, but tells the client nothing",
        ..CASE
    },
    Case {
        id: "H1-E03",
        title: "a request behind an invalid Content-Length",
        clause: syntax("6.3"),
        twin: Some("H1-B05"),
        needs: Need::Post,
        steps: post!("Content-Length: abc\r\n", "GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"),
        pass: &[ONE_400],
        warn: ONE_OTHER,
        demand: "after an invalid Content-Length the connection ends with the 400, and nothing more is answered",
        doubt: ONE_DOUBT,
        ..CASE
    },
    Case {
        id: "H1-E04",
        title: "a request behind a broken chunk",
        clause: syntax("2.2"),
        level: Level::Should,
        twin: Some("H1-B06"),
        needs: Need::Post,
        steps: chunks!("zz\r\n\r\nGET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"),
        pass: &[ONE_400],
        warn: ONE_OTHER,
        demand: "after a broken chunk the connection ends with the 400, and nothing more is answered",
        doubt: ONE_DOUBT,
        ..CASE
    },
    Case {
        id: "H1-E05",
        title: "an empty line after a body, and the next request",
        clause: syntax("2.2"),
        level: Level::Should,
        weight: 1,
        tags: &[],
        twin: Some("H1-B05"),
        needs: Need::Post,
        steps: post!("Content-Length: 5\r\n", "hello\r\nGET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"),
        answers: 2,
        pass: &[Successes(2)],
        warn: &[All(&[Answers(1), Closes]), All(&[Answers(2), Closes])],
        demand: "at least one empty line before a request line is ignored",
        doubt: "the first request is answered, and a server may end a connection, or refuse what comes next, at any time",
        ..CASE
    },
    // It sends nothing, and checks whether the server was there throughout the round.
    Case {
        id: crate::h1::STAYING,
        title: "a server that stays",
        clause: semantics("2.3"),
        level: Level::Should,
        tags: &[Tag::Crash],
        twin: Some("H1-B01"),
        pass: &[When("a plain request answered after every case", |_| false)],
        demand: "what comes in is read warily, so that one client's odd requests do not end the service for others",
        ..CASE
    },
];

fn is_second_right(seen: &Seen) -> bool {
    seen.reading.finals.get(1).is_some_and(|answer| answer.is_whole && answer.is_success())
}
