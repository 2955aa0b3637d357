//! Expectations: 100-continue, and expectations that no server can meet.

use std::time::Duration;

use crate::case::{Area, Case, Level, Need, semantics};
use crate::script::Rule::{All, Class, Echo, Ok, Status, When};
use crate::script::Step::{Receive, Send};
use crate::seen::Seen;

const BLANK: Case = Case { area: Area::Expectations, clause: semantics("10.1.1"), ..Case::BLANK };
/// As long as an answer may take.
const SOON: Duration = Duration::ZERO;

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-A13",
        title: "100-continue, and the body held back",
        needs: Need::Echo,
        twin: Some("H1-B03"),
        steps: &[
            Send(
                b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\
                  Expect: 100-continue\r\n\r\n",
            ),
            Receive(SOON),
            Send(b"hello"),
        ],
        pass: &[
            All(&[When("100 before the body", is_asked_on), Echo(b"hello")]),
            When("a final answer before the body", is_decided_early),
        ],
        demand: "a client that expects 100-continue is sent 100 or a final answer before the body comes",
        ..BLANK
    },
    Case {
        id: "H1-P01",
        title: "100-continue in other letters",
        needs: Need::Echo,
        twin: Some("H1-B03"),
        steps: &[
            Send(
                b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\
                  expect: 100-Continue\r\n\r\n",
            ),
            Receive(SOON),
            Send(b"hello"),
        ],
        pass: &[
            All(&[When("100 before the body", is_asked_on), Echo(b"hello")]),
            All(&[Ok, When("a final answer before the body", is_decided_early)]),
        ],
        warn: &[When("a final answer before the body", is_decided_early)],
        demand: "an expectation is the same in upper and lower case",
        doubt: "the client is not left waiting, though its expectation was not understood",
        ..BLANK
    },
    Case {
        id: "H1-P02",
        title: "100-continue, and the body sent along",
        needs: Need::Echo,
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 5\r\n\
              Expect: 100-continue\r\n\r\nhello",
        )],
        pass: &[Echo(b"hello")],
        warn: &[Status(417)],
        demand: "whether or not 100 was sent, a final answer follows once the body was read",
        doubt: "417 refuses an expectation that could have been met, but it is an answer",
        ..BLANK
    },
    Case {
        id: "H1-P03",
        title: "an unknown expectation",
        level: Level::Ought,
        weight: 1,
        twin: Some("H1-B01"),
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nExpect: dyno-nonesuch\r\n\r\n")],
        pass: &[Status(417), Ok],
        warn: &[Class(4)],
        demand: "an expectation that cannot be met may be refused with 417, or ignored",
        doubt: "another refusal is a refusal, too",
        ..BLANK
    },
];

/// 100 came before the body was sent.
fn is_asked_on(seen: &Seen) -> bool {
    is_received_early(seen) && seen.reading.interim.first().is_some_and(|it| it.status == 100)
}

/// No 100 came, but a final answer before the body was sent.
fn is_decided_early(seen: &Seen) -> bool {
    is_received_early(seen) && seen.reading.interim.is_empty() && seen.first().is_some()
}

fn is_received_early(seen: &Seen) -> bool {
    seen.marks.first().is_some_and(|received| *received > 0)
}
