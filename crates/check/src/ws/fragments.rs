//! RFC 6455, 5.4: fragmented messages.

use crate::case::{Area, Case, Need, socket};
use crate::script::Rule::{All, Fails, FailsWith, Not, Pong, Said};
use crate::script::Step::Raw;
use crate::ws::conversation;

/// The defaults of cases whose message is accepted and sent back.
const RECEIVED: Case = Case {
    area: Area::Fragments,
    clause: socket("5.4"),
    twin: Some("WS-B02"),
    needs: Need::SocketEcho,
    pass: &[Said(b"hello")],
    ..Case::BLANK
};

/// The defaults of cases that end the connection.
const REFUSED: Case = Case { twin: Some("WS-B03"), needs: Need::Socket, ..RECEIVED };

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-F02",
        title: "a ping between two fragments",
        steps: conversation![Raw(b"\x01\x83\0\0\0\0hel\x89\x81\0\0\0\0p\x80\x82\0\0\0\0lo")],
        pass: &[All(&[Pong(b"p"), Said(b"hello")])],
        demand: "control frames may stand between the fragments of a message, and are served there",
        ..RECEIVED
    },
    Case {
        id: "WS-F09",
        title: "a new text inside a fragmented one",
        steps: conversation![Raw(b"\x01\x81\0\0\0\0a\x81\x81\0\0\0\0b")],
        pass: &[All(&[Fails, Not(&Said(b"b")), Not(&Said(b"ab"))])],
        demand: "the fragments of one message are not mixed with another message",
        ..REFUSED
    },
    Case {
        id: "WS-F10",
        title: "a continuation of nothing",
        steps: conversation![Raw(b"\x80\x81\0\0\0\0x")],
        pass: &[All(&[Fails, Not(&Said(b"x"))])],
        demand: "a continuation follows a fragment that is not the last one",
        ..REFUSED
    },
    Case {
        id: "WS-G01",
        title: "fragments, some of them empty",
        steps: conversation![Raw(
            b"\x01\x80\0\0\0\0\0\x83\0\0\0\0hel\0\x80\0\0\0\0\0\x82\0\0\0\0lo\x80\x80\0\0\0\0"
        )],
        warn: &[FailsWith(1008)],
        doubt: "a server may have a policy against fragments that say nothing",
        demand: "a message is what all of its fragments say together, and a fragment may say nothing",
        ..RECEIVED
    },
    Case {
        id: "WS-G02",
        title: "a text in fragments of one octet",
        steps: conversation![Raw(
            b"\x01\x81\0\0\0\0h\0\x81\0\0\0\0e\0\x81\0\0\0\0l\0\x81\0\0\0\0l\x80\x81\0\0\0\0o"
        )],
        demand: "a message may come in any number of fragments",
        ..RECEIVED
    },
    Case {
        id: "WS-G03",
        title: "a continuation after the last fragment",
        steps: conversation![Raw(b"\x01\x81\0\0\0\0a\x80\x81\0\0\0\0b\x80\x81\0\0\0\0c")],
        pass: &[All(&[Fails, Not(&Said(b"c")), Not(&Said(b"abc"))])],
        demand: "after the last fragment a message is over",
        ..REFUSED
    },
    Case {
        id: "WS-G04",
        title: "a binary message inside a fragmented text",
        steps: conversation![Raw(b"\x01\x81\0\0\0\0a\x02\x81\0\0\0\0b\x80\x81\0\0\0\0c")],
        pass: &[All(&[Fails, Not(&Said(b"abc")), Not(&Said(b"bc"))])],
        demand: "the fragments of one message are not mixed with another message",
        ..REFUSED
    },
];
