//! What every server of HTTP/2 must do: the well-formed requests that other cases have as twins, and the cases that
//! judge all others.

use super::act::{Act, OPEN, Piece, WHOLE, get, post};
use super::frame::{DATA, END_STREAM, HEADERS};
use super::refusal::acts;
use super::sign::Sign::{Echo, Ok, Status};
use crate::case::{Area, Case, Level, Need, Tag, http2, semantics};
use crate::script::Rule::{self, All, Any, Http2, When};

const CASE: Case = Case { area: Area::Http2Requests, clause: http2("8.1"), ..Case::BLANK };

/// How an answer to HEAD must be.
const BARE: Rule = When("no content", |seen| {
    let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
    reply.is_some_and(|reply| reply.length == 0)
});

pub(super) const CASES: &[Case] = &[
    Case {
        id: super::PLAIN,
        title: "a plain GET",
        steps: acts![OPEN, get(1)],
        pass: &[Http2(Ok(1))],
        demand: "a request is answered on its stream, with HEADERS, DATA if there is content, and END_STREAM",
        ..CASE
    },
    Case {
        id: "H2-B02",
        title: "a POST with content",
        needs: Need::Echo,
        steps: acts![OPEN, post(1), Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")])],
        pass: &[Http2(Echo(1, b"hello"))],
        demand: "the content of a request is that of its DATA frames",
        ..CASE
    },
    Case {
        id: "H2-B03",
        title: "a POST with content, whatever comes back",
        weight: 1,
        needs: Need::Post,
        steps: acts![OPEN, post(1), Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"hello")])],
        pass: &[Http2(Ok(1))],
        demand: "a request with content is taken",
        ..CASE
    },
    Case {
        id: "H2-B04",
        title: "a HEAD",
        clause: semantics("9.3.2"),
        steps: acts![OPEN, Act::Frame(HEADERS, WHOLE, 1, &[Piece::Request("HEAD")])],
        pass: &[All(&[Http2(Ok(1)), BARE])],
        warn: &[All(&[
            Any(&[Http2(Status(1, 404)), Http2(Status(1, 405)), Http2(Status(1, 501))]),
            BARE,
        ])],
        doubt: "a server with a purpose of its own need not be general, but a general one supports HEAD wherever it \
            supports GET",
        demand: "a HEAD is answered as a GET would be, without content",
        ..CASE
    },
    Case {
        id: "H2-B05",
        title: "a request after another on the same connection",
        weight: 1,
        steps: acts![OPEN, get(1), Act::Until(Ok(1)), get(3)],
        pass: &[Http2(Ok(3))],
        demand: "a connection carries more than one request",
        ..CASE
    },
    Case {
        id: "H2-B06",
        title: "three requests at once",
        clause: http2("5"),
        weight: 1,
        steps: acts![OPEN, get(1), get(3), get(5)],
        pass: &[All(&[Http2(Ok(1)), Http2(Ok(3)), Http2(Ok(5))])],
        demand: "requests whose streams are open together are answered, each on its own stream",
        ..CASE
    },
    Case {
        id: super::PASSIVE,
        title: "every frame of the server",
        clause: http2("4"),
        twin: Some(super::PLAIN),
        pass: &[When("no frame that breaks a rule", |_| false)],
        demand: "what the server sends has the form, the order and the size that it must have, in whichever case it came",
        ..CASE
    },
    Case {
        id: super::STAYING,
        title: "a server that stays",
        area: Area::Http2Limits,
        clause: semantics("2.3"),
        level: Level::Should,
        weight: 5,
        tags: &[Tag::Crash],
        twin: Some(super::PLAIN),
        pass: &[When("a plain request answered after every case", |_| false)],
        demand: "what comes in is read warily, so that one client's odd requests do not end the service for others",
        ..CASE
    },
];
