//! Connections: how long they last, which side closes them, in which order they carry answers, and what they may be
//! upgraded to.

use std::time::Duration;

use crate::answer::ReceivedAnswer;
use crate::case::{Area, Case, Level, Need, Tag, semantics, syntax};
use crate::script::Rule::{All, Class, Closes, Ok, Status, Successes, When};
use crate::script::Step::{Receive, ReceiveToEnd, Repeat, Send};
use crate::seen::Seen;

const BLANK: Case = Case { area: Area::Connections, twin: Some("H1-B01"), ..Case::BLANK };
/// As long as an answer may take.
const SOON: Duration = Duration::ZERO;
const GET: &[u8] = b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n";

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-A10",
        title: "two requests, one after the other",
        clause: syntax("9.3"),
        steps: &[Send(GET), Receive(SOON), Send(GET)],
        answers: 2,
        pass: &[Successes(2)],
        warn: &[All(&[Successes(1), When("close said", says_close_first)])],
        demand: "a connection of HTTP/1.1 stays open for the next request, or the answer says close",
        doubt: "a server that says close may close; keeping connections is only advised",
        ..BLANK
    },
    Case {
        id: "H1-A11",
        title: "three pipelined POSTs in one segment",
        clause: syntax("9.3.2"),
        weight: 5,
        tags: &[Tag::Smuggling],
        needs: Need::Echo,
        twin: Some("H1-B03"),
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 1\r\n\r\nA\
              POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 1\r\n\r\nB\
              POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 1\r\n\r\nC",
        )],
        answers: 3,
        pass: &[When("the bodies A, B, C in this order", |seen| {
            contents(seen) == Some(vec![b"A", b"B", b"C"])
        })],
        warn: &[When("A, and then the end", |seen| {
            contents(seen) == Some(vec![b"A"]) && seen.is_closed()
        })],
        demand: "pipelined requests are answered in the order in which they came",
        doubt: "any side may end a connection at any time",
        ..BLANK
    },
    Case {
        id: "H1-C01",
        title: "a request that says close",
        clause: syntax("9.6"),
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: close\r\n\r\n"),
            ReceiveToEnd,
        ],
        pass: &[All(&[Ok, Closes])],
        demand: "after the answer to a request that says close the server ends the connection",
        ..BLANK
    },
    Case {
        id: "H1-C02",
        title: "a request after one that says close",
        clause: syntax("9.6"),
        weight: 5,
        tags: &[Tag::Smuggling],
        steps: &[
            Send(
                b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: close\r\n\r\n\
                  GET {get} HTTP/1.1\r\nHost: {H}\r\n\r\n",
            ),
            ReceiveToEnd,
        ],
        pass: &[All(&[Successes(1), Closes])],
        demand: "what follows a request that says close is not processed",
        ..BLANK
    },
    Case {
        id: "H1-C03",
        title: "HTTP/1.0 without keep-alive",
        clause: syntax("9.3"),
        steps: &[Send(b"GET {get} HTTP/1.0\r\nHost: {H}\r\n\r\n"), ReceiveToEnd],
        pass: &[All(&[Ok, Closes])],
        warn: &[Ok, Class(4), Status(505)],
        demand: "the answer to an HTTP/1.0 request without keep-alive is followed by the connection's end",
        doubt: "a client that counts octets loses nothing if the connection stays open; and a refusal of HTTP/1.0 says \
            what is wrong",
        ..BLANK
    },
    Case {
        id: "H1-C04",
        title: "Transfer-Encoding to HTTP/1.0",
        clause: syntax("6.1"),
        steps: &[Send(b"GET {get} HTTP/1.0\r\nHost: {H}\r\nAccept: */*\r\n\r\n")],
        pass: &[When("an answer without Transfer-Encoding", |seen| {
            seen.first().is_some_and(|answer| answer.field("transfer-encoding").is_none())
        })],
        demand: "an answer to HTTP/1.0 has no Transfer-Encoding",
        ..BLANK
    },
    Case {
        id: "H1-C05",
        title: "100-continue expected by HTTP/1.0",
        clause: semantics("15.2"),
        needs: Need::Post,
        steps: &[
            Send(
                b"POST {post} HTTP/1.0\r\nHost: {H}\r\nContent-Length: 5\r\n\
                  Expect: 100-continue\r\n\r\n",
            ),
            Receive(Duration::from_millis(300)),
            Send(b"hello"),
        ],
        pass: &[All(&[Successes(1), When("no 1xx", has_no_interim)])],
        warn: &[
            All(&[Class(4), When("no 1xx", has_no_interim)]),
            All(&[Status(505), When("no 1xx", has_no_interim)]),
        ],
        demand: "a client of HTTP/1.0 knows no 1xx and is sent none",
        doubt: "the clause is kept, though the expectation should have been ignored",
        ..BLANK
    },
    Case {
        id: "H1-C06",
        title: "Upgrade in HTTP/1.0",
        clause: semantics("7.8"),
        weight: 1,
        steps: &[Send(
            b"GET {get} HTTP/1.0\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        pass: &[Ok],
        warn: &[Class(4), Class(5)],
        demand: "Upgrade in an HTTP/1.0 request is ignored",
        doubt: "a refusal switches to nothing, but is more than ignoring",
        ..BLANK
    },
    Case {
        id: "H1-C07",
        title: "Upgrade to an unknown protocol",
        clause: semantics("7.8"),
        weight: 1,
        steps: &[Send(
            b"GET {get} HTTP/1.1\r\nHost: {H}\r\nUpgrade: dyno-nonesuch/9\r\n\
              Connection: upgrade\r\n\r\n",
        )],
        pass: &[Ok],
        warn: &[Class(4), Class(5)],
        demand: "a server switches only to a protocol that it was offered; it may ignore the offer",
        doubt: "a refusal switches to nothing, but an offer is no demand",
        ..BLANK
    },
    Case {
        id: "H1-C08",
        title: "close said in return",
        clause: syntax("9.6"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(
            b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: close\r\nAccept: */*\r\n\r\n",
        )],
        applies: &[Ok],
        pass: &[All(&[Ok, When("close said", says_close_first)])],
        demand: "the last answer on a connection says close",
        ..BLANK
    },
    Case {
        id: "H1-C09",
        title: "HTTP/1.0 with keep-alive",
        clause: syntax("9.3"),
        level: Level::Ought,
        weight: 1,
        steps: &[
            Send(b"GET {get} HTTP/1.0\r\nHost: {H}\r\nConnection: keep-alive\r\n\r\n"),
            Receive(SOON),
            Send(b"GET {get} HTTP/1.0\r\nHost: {H}\r\nConnection: keep-alive\r\n\r\n"),
        ],
        answers: 2,
        applies: &[When("keep-alive said to HTTP/1.0", says_keep_alive)],
        pass: &[Successes(2)],
        demand: "a server that says keep-alive to HTTP/1.0 keeps the connection for the next request",
        ..BLANK
    },
    Case {
        id: "H1-C10",
        title: "ten pipelined GETs",
        clause: syntax("9.3.2"),
        weight: 1,
        steps: &[Repeat(GET, 10)],
        answers: 10,
        pass: &[Successes(10)],
        warn: &[When("fewer answers, and then the end", is_cut)],
        demand: "every pipelined request is answered, or the last answer says close",
        doubt: "any side may end a connection at any time",
        ..BLANK
    },
    Case {
        id: "H1-C11",
        title: "pipelined GETs and POSTs",
        clause: syntax("9.3.2"),
        needs: Need::Echo,
        twin: Some("H1-B03"),
        steps: &[Send(
            b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n\
              POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 6\r\n\r\ndyno-A\
              GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n\
              POST {post} HTTP/1.1\r\nHost: {H}\r\nContent-Length: 6\r\n\r\ndyno-B",
        )],
        answers: 4,
        pass: &[When("the page, dyno-A, the page, dyno-B", |seen| {
            matches!(contents(seen).as_deref(), Some([_, b"dyno-A", _, b"dyno-B"]))
        })],
        warn: &[When("fewer answers in this order, and then the end", |seen| {
            let first = contents(seen);
            let is_begun =
                matches!(first.as_deref(), Some([_] | [_, b"dyno-A"] | [_, b"dyno-A", _]));
            is_begun && seen.is_closed()
        })],
        demand: "quick answers do not overtake slow ones that were asked for earlier",
        doubt: "any side may end a connection at any time",
        ..BLANK
    },
    Case {
        id: "H1-C12",
        title: "close in a list of options",
        clause: syntax("9.6"),
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: dyno-hop, close\r\n\r\n"),
            ReceiveToEnd,
        ],
        pass: &[All(&[Ok, Closes])],
        demand: "close counts wherever it stands in the list",
        ..BLANK
    },
    Case {
        id: "H1-C13",
        title: "close in capitals",
        clause: semantics("7.6.1"),
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: CLOSE\r\n\r\n"),
            ReceiveToEnd,
        ],
        pass: &[All(&[Ok, Closes])],
        demand: "connection options are the same in upper and lower case",
        ..BLANK
    },
    Case {
        id: "H1-C14",
        title: "close in the second of two Connection lines",
        clause: semantics("5.3"),
        steps: &[
            Send(
                b"GET {get} HTTP/1.1\r\nHost: {H}\r\nConnection: dyno-hop\r\n\
                  Connection: close\r\n\r\n",
            ),
            ReceiveToEnd,
        ],
        pass: &[All(&[Ok, Closes])],
        demand: "several lines of a list field are one list",
        ..BLANK
    },
    Case {
        id: "H1-C15",
        title: "Upgrade to h2c",
        clause: semantics("7.8"),
        weight: 1,
        steps: &[Send(
            b"GET {get} HTTP/1.1\r\nHost: {H}\r\nUpgrade: h2c\r\n\
              Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
        )],
        pass: &[
            Ok,
            All(&[
                Status(101),
                When("Upgrade: h2c", |seen| {
                    seen.first().is_some_and(|answer| answer.has_token("upgrade", "h2c"))
                }),
            ]),
        ],
        warn: &[Class(4)],
        demand: "an offer to upgrade is ignored, or the 101 says to what the server switches",
        doubt: "a refusal switches to nothing, but an offer is no demand",
        ..BLANK
    },
    Case {
        id: "H1-C18",
        title: "close said without being asked for",
        clause: syntax("9.6"),
        steps: &[Send(GET)],
        applies: &[When("close said", says_close_first)],
        pass: &[All(&[Ok, Closes])],
        demand: "a server that says close closes, and does not let the client wait for it",
        ..BLANK
    },
];

fn says_close_first(seen: &Seen) -> bool {
    seen.first().is_some_and(ReceivedAnswer::says_close)
}

fn says_keep_alive(seen: &Seen) -> bool {
    seen.first().is_some_and(|answer| answer.has_token("connection", "keep-alive"))
}

fn has_no_interim(seen: &Seen) -> bool {
    seen.reading.interim.is_empty()
}

/// The contents of all answers, if all of them are complete and successful.
fn contents(seen: &Seen) -> Option<Vec<&[u8]>> {
    let finals = &seen.reading.finals;
    let is_right = |answer: &ReceivedAnswer| answer.is_whole && answer.is_success();
    let contents = || finals.iter().map(|answer| answer.content.as_slice()).collect();
    finals.iter().all(is_right).then(contents)
}

fn is_cut(seen: &Seen) -> bool {
    contents(seen).is_some_and(|contents| !contents.is_empty()) && seen.is_closed()
}
