//! How a server may refuse, and the requests that many cases are made of.

use crate::script::Rule::{self, All, Class, Closes, Silent, Status, When};
use crate::seen::Seen;

/// 400, and the end of the connection.
pub(super) const FINAL_400: Rule = All(&[Status(400), Closes]);
/// 413, and the end of the connection.
pub(super) const FINAL_413: Rule = All(&[Status(413), Closes]);
/// 5xx, and the end of the connection.
pub(super) const FINAL_5XX: Rule = All(&[Class(5), Closes]);

/// What refuses a request whose end is known.
pub(super) const OTHERWISE: &[Rule] = &[Class(4), Silent];
/// Why it only warns.
pub(super) const OTHERWISE_DOUBT: &str = "another 4xx, or an end without an answer, refuses it as safely, \
    but does not tell the client what is wrong";

/// What refuses a request whose end is not known.
pub(super) const UNCLEARLY: &[Rule] = &[Class(4), Silent, FINAL_5XX];
/// Why it only warns.
pub(super) const UNCLEARLY_DOUBT: &str = "another 4xx, a 5xx with the connection's end, or an end without an \
    answer refuse it, too, but do not tell the client what is wrong; after a 400 on a connection that stays open, \
    what follows may be misread";

/// Why a well-formed request may be refused.
pub(super) const STRICT_DOUBT: &str =
    "the request was well-formed, but a server that refuses anything so odd does no harm";

/// An answer that began before the request was whole, and ended with it.
pub(super) const BROKEN_OFF: Rule = When("an answer that is broken off", is_broken_off);

fn is_broken_off(seen: &Seen) -> bool {
    let last = seen.reading.finals.last();
    seen.is_closed() && last.is_some_and(|answer| answer.status != 0 && !answer.is_whole)
}

/// A GET of the page with these field lines, each with its CRLF.
macro_rules! get {
    ($fields:literal) => {
        &[Send(concat!("GET {get} HTTP/1.1\r\n", $fields, "\r\n").as_bytes())]
    };
}

/// A request with this request line.
macro_rules! line {
    ($line:literal) => {
        &[Send(concat!($line, "\r\nHost: {H}\r\n\r\n").as_bytes())]
    };
}

/// A POST with these field lines after Host, each with its CRLF, and what follows the head.
macro_rules! post {
    ($fields:literal, $rest:literal) => {
        &[Send(concat!("POST {post} HTTP/1.1\r\nHost: {H}\r\n", $fields, "\r\n", $rest).as_bytes())]
    };
}

/// A POST in chunks, and what follows the head.
macro_rules! chunks {
    ($rest:literal) => {
        post!("Transfer-Encoding: chunked\r\n", $rest)
    };
}

pub(super) use {chunks, get, line, post};
