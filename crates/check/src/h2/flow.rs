//! RFC 9113, 5.2, 6.9: windows. The page must have content for most of it.

use std::time::Duration;

use super::act::{Act, HELD, OPEN, Piece, WIDE, begun, get, post};
use super::frame::{
    DATA, ENABLE_PUSH, END_STREAM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, INITIAL_WINDOW_SIZE,
    PROTOCOL_ERROR, SETTINGS, WINDOW_UPDATE,
};
use super::refusal::{CONNECTION, REFUSED, REFUSED_DOUBT, TAKEN, acts};
use super::sign::Sign::{Acknowledged, ConnectionError, Content, Ok, StreamError};
use super::streams::WAITING;
use crate::case::{Area, Case, Need, http2};
use crate::script::Rule::{self, All, Http2, Not, When};

const BAD: Case = Case { area: Area::Http2Flow, ..CONNECTION };
/// Windows that the server must respect: worth as much as any other obligation.
const KEPT: Case = Case { area: Area::Http2Flow, weight: 3, applies: &[WAITING], ..TAKEN };

/// So long it is watched whether the server keeps silent.
const A_WHILE: Act = Act::Listen(Duration::from_millis(100));

/// A raise of the first stream's window.
const fn raise(stream: u32, by: &'static [Piece]) -> Act {
    Act::Frame(WINDOW_UPDATE, 0, stream, by)
}

/// A server may wait for a larger window than one of three octets.
const FILLED: Rule =
    When("a page of more than 4 octets, of which 3 come when the window has 3", |seen| {
        let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
        reply.is_some_and(|reply| reply.length >= 3 && (!reply.is_whole || reply.length > 4))
    });
/// The window of three octets that was filled is -2 now.
const LOWERED: Act = Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, 1)]);

const BEYOND: Rule = When("more content than the window allowed", |seen| {
    let heard = seen.heard.as_ref();
    heard.is_some_and(|heard| heard.breaches.contains(&super::Breach::Window))
});

/// A window that the client raises beyond the largest size there is, while the request has no end.
const OVERFLOW: Case = Case {
    needs: Need::Post,
    twin: Some("H2-B03"),
    applies: &[When("a request that is not answered before its end", |seen| {
        let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
        reply.is_none_or(|reply| !reply.is_whole)
    })],
    pass: &[Http2(StreamError(1, &[FLOW_CONTROL_ERROR]))],
    ..BAD
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-W01",
        title: "content only after WINDOW_UPDATE",
        clause: http2("6.9.1"),
        steps: acts![HELD, get(1), begun(1), A_WHILE, raise(1, &[Piece::Number(WIDE)])],
        pass: &[All(&[Http2(Ok(1)), Not(&BEYOND)])],
        demand: "with a window of 0, content waits until WINDOW_UPDATE raises it",
        ..KEPT
    },
    Case {
        id: "H2-W02",
        title: "a window of one octet",
        clause: http2("6.9.1"),
        steps: acts![
            Act::Open(&[(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, 1)]),
            get(1),
            Act::Await(Content(1, 1)),
            A_WHILE,
            raise(1, &[Piece::Number(WIDE)]),
        ],
        pass: &[All(&[Http2(Ok(1)), Not(&BEYOND)])],
        demand: "the server sends no more than a small window allows, and the rest when it is raised",
        ..KEPT
    },
    Case {
        id: "H2-W03",
        title: "a window that SETTINGS raise",
        clause: http2("6.9.2"),
        steps: acts![
            HELD,
            get(1),
            begun(1),
            Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, WIDE)]),
        ],
        pass: &[Http2(Ok(1))],
        demand: "INITIAL_WINDOW_SIZE also changes the windows of streams that are open",
        ..KEPT
    },
    Case {
        id: "H2-W04",
        title: "a window that SETTINGS lower below zero",
        clause: http2("6.9.2"),
        applies: &[FILLED],
        steps: acts![
            Act::Open(&[(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, 3)]),
            get(1),
            Act::Await(Content(1, 3)),
            LOWERED,
            Act::Until(Acknowledged(2)),
            raise(1, &[Piece::Number(3)]),
            Act::Await(Content(1, 4)),
            A_WHILE,
        ],
        pass: &[When("no more than 4 octets of content", |seen| {
            let reply = seen.heard.as_ref().and_then(|heard| heard.reply(1));
            reply.is_some_and(|reply| reply.length <= 4)
        })],
        demand: "a window that became negative is counted, and nothing is sent until it is positive",
        ..KEPT
    },
    Case {
        id: "H2-W15",
        title: "an answer that goes on after its window was negative",
        clause: http2("6.9.2"),
        applies: &[FILLED],
        steps: acts![
            Act::Open(&[(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, 3)]),
            get(1),
            Act::Await(Content(1, 3)),
            LOWERED,
            Act::Until(Acknowledged(2)),
            raise(1, &[Piece::Number(WIDE)]),
        ],
        pass: &[Http2(Ok(1))],
        demand: "a window that became negative is raised as any other is, and content follows",
        ..KEPT
    },
    Case {
        id: "H2-W05",
        title: "WINDOW_UPDATE by 0 on the connection",
        clause: http2("6.9"),
        steps: acts![OPEN, raise(0, &[Piece::Number(0)])],
        demand: "WINDOW_UPDATE by 0 on the connection is a connection error",
        ..BAD
    },
    Case {
        id: "H2-W06",
        title: "WINDOW_UPDATE by 0 on a stream",
        clause: http2("6.9"),
        applies: &[WAITING],
        steps: acts![HELD, get(1), begun(1), raise(1, &[Piece::Number(0)])],
        pass: &[Http2(StreamError(1, &[PROTOCOL_ERROR]))],
        warn: REFUSED,
        doubt: REFUSED_DOUBT,
        demand: "WINDOW_UPDATE by 0 on a stream is a stream error",
        ..BAD
    },
    Case {
        id: "H2-W07",
        title: "the connection's window raised above 2^31-1",
        clause: http2("6.9.1"),
        steps: acts![OPEN, raise(0, &[Piece::Number(0x7fff_ffff)])],
        pass: &[Http2(ConnectionError(&[FLOW_CONTROL_ERROR]))],
        demand: "WINDOW_UPDATE that raises the connection's window above 2^31-1 ends the connection",
        ..BAD
    },
    Case {
        id: "H2-W08",
        title: "a stream's window raised above 2^31-1",
        clause: http2("6.9.1"),
        steps: acts![OPEN, post(1), raise(1, &[Piece::Number(0x7fff_ffff)])],
        warn: REFUSED,
        doubt: REFUSED_DOUBT,
        demand: "WINDOW_UPDATE that raises a stream's window above 2^31-1 ends the stream or the connection",
        ..OVERFLOW
    },
    Case {
        id: "H2-W09",
        title: "a stream's window raised above 2^31-1 by SETTINGS",
        clause: http2("6.9.2"),
        steps: acts![
            OPEN,
            post(1),
            raise(1, &[Piece::Number(0x7fff_ffff - WIDE)]),
            Act::Frame(SETTINGS, 0, 0, &[Piece::Setting(INITIAL_WINDOW_SIZE, WIDE + 1)]),
        ],
        pass: &[Http2(ConnectionError(&[FLOW_CONTROL_ERROR]))],
        warn: REFUSED,
        doubt: "the stream ends whose window is too large, as it would after WINDOW_UPDATE; but 6.9.2 wants a connection \
            error",
        demand: "INITIAL_WINDOW_SIZE that raises any window above 2^31-1 is a connection error",
        ..OVERFLOW
    },
    Case {
        id: "H2-W10",
        title: "WINDOW_UPDATE of five octets on a stream",
        clause: http2("6.9"),
        applies: &[WAITING],
        steps: acts![HELD, get(1), begun(1), raise(1, &[Piece::Number(1), Piece::Octets(b"\0")]),],
        pass: &[Http2(ConnectionError(&[FRAME_SIZE_ERROR]))],
        demand: "WINDOW_UPDATE whose length is not 4 is a connection error",
        ..BAD
    },
    Case {
        id: "H2-W11",
        title: "the reserved bit of WINDOW_UPDATE",
        clause: http2("6.9"),
        weight: 1,
        steps: acts![HELD, get(1), begun(1), raise(1, &[Piece::Number(0x8000_0000 | WIDE)]),],
        pass: &[Http2(Ok(1))],
        demand: "the reserved bit before the increment is ignored",
        ..KEPT
    },
    Case {
        id: "H2-W12",
        title: "one window after the other: two streams",
        clause: http2("6.9.1"),
        steps: acts![
            HELD,
            get(1),
            get(3),
            begun(1),
            begun(3),
            raise(3, &[Piece::Number(WIDE)]),
            Act::Until(Ok(3)),
            A_WHILE,
            raise(1, &[Piece::Number(WIDE)]),
        ],
        pass: &[All(&[Http2(Ok(1)), Http2(Ok(3)), Not(&BEYOND)])],
        demand: "a stream's window holds back that stream alone",
        ..KEPT
    },
    Case {
        id: "H2-W13",
        title: "a body of 256 KiB, as the server's windows allow",
        clause: http2("5.2.2"),
        weight: 3,
        needs: Need::Post,
        twin: Some("H2-B03"),
        steps: acts![OPEN, post(1), Act::Upload(1, 256 << 10)],
        pass: &[Http2(Ok(1))],
        warn: &[Http2(super::sign::Sign::Status(1, 413))],
        doubt: "a server may take less than this",
        demand: "windows are raised again as content is consumed",
        area: Area::Http2Flow,
        ..TAKEN
    },
    Case {
        id: "H2-W14",
        title: "an empty DATA frame at the end of content",
        clause: http2("6.9.1"),
        weight: 1,
        needs: Need::Echo,
        twin: Some("H2-B02"),
        steps: acts![
            OPEN,
            post(1),
            Act::Frame(DATA, 0, 1, &[Piece::Octets(b"hello")]),
            Act::Frame(DATA, END_STREAM, 1, &[]),
        ],
        pass: &[Http2(super::sign::Sign::Echo(1, b"hello"))],
        demand: "an empty DATA frame may end a stream",
        area: Area::Http2Flow,
        ..TAKEN
    },
];
