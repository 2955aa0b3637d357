//! RFC 6455, 5.5: ping and pong.

use crate::case::{Area, Case, Level, Need, Tag, socket};
use crate::script::Rule::{Fails, Pong};
use crate::script::Step::{Frames, Raw};
use crate::ws::conversation;

const PING: Case = Case {
    area: Area::Control,
    clause: socket("5.5.2"),
    twin: Some("WS-B01"),
    needs: Need::Socket,
    ..Case::BLANK
};

/// The defaults of cases that end the connection.
const REFUSED: Case = Case { clause: socket("5.5"), pass: &[Fails], ..PING };

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-F01",
        title: "a ping with a payload",
        clause: socket("5.5.3"),
        steps: conversation![Raw(b"\x89\x83\x11\x22\x33\x44\x70\x40\x50")],
        pass: &[Pong(b"abc")],
        demand: "a pong carries the payload of the ping that it answers",
        ..PING
    },
    Case {
        id: "WS-P01",
        title: "an empty ping",
        clause: socket("5.5.3"),
        steps: conversation![Raw(b"\x89\x80\0\0\0\0")],
        pass: &[Pong(b"")],
        demand: "a pong carries the payload of the ping that it answers, even an empty one",
        ..PING
    },
    Case {
        id: "WS-P02",
        title: "a ping of 125 octets",
        clause: socket("5.5.3"),
        steps: conversation![Frames(0x89, 125, 1)],
        pass: &[Pong(&[b'x'; 125])],
        demand: "a pong carries the payload of the ping that it answers, and that may have 125 octets",
        ..PING
    },
    Case {
        id: "WS-P03",
        title: "three pings at once",
        steps: conversation![Raw(b"\x89\x81\0\0\0\0a\x89\x81\0\0\0\0b\x89\x81\0\0\0\0c")],
        pass: &[Pong(b"c")],
        demand: "of several pings at least the last one is answered",
        ..PING
    },
    Case {
        id: "WS-P04",
        title: "an unsolicited pong",
        clause: socket("5.5.3"),
        level: Level::Ought,
        weight: 1,
        steps: conversation![Raw(b"\x8a\x83\0\0\0\0hey\x89\x85\0\0\0\0after")],
        pass: &[Pong(b"after")],
        demand: "a pong may be sent without a ping and needs no answer",
        ..PING
    },
    Case {
        id: "WS-F07",
        title: "a ping of 126 octets",
        weight: 5,
        tags: &[Tag::Size],
        steps: conversation![Frames(0x89, 126, 1)],
        demand: "a control frame has at most 125 octets",
        ..REFUSED
    },
    Case {
        id: "WS-P05",
        title: "a pong of 126 octets",
        steps: conversation![Frames(0x8a, 126, 1)],
        demand: "a control frame has at most 125 octets, an unsolicited pong, too",
        ..REFUSED
    },
    Case {
        id: "WS-F08",
        title: "a ping in two fragments",
        steps: conversation![Raw(b"\x09\x81\0\0\0\0p\x80\x81\0\0\0\0q")],
        demand: "a control frame is never fragmented",
        ..REFUSED
    },
];
