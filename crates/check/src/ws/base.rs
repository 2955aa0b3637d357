//! What every WebSocket must do: the exchanges that other cases have as twins, and the form of all frames.

use std::time::Duration;

use crate::case::{Area, Case, Need, socket};
use crate::script::Rule::{All, FailsWith, Pong, Said};
use crate::script::Step::{Raw, Receive, ReceivePong};
use crate::ws::conversation;

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-B01",
        title: "two pings, one after the other",
        area: Area::Control,
        clause: socket("5.5.2"),
        needs: Need::Socket,
        steps: conversation![Raw(b"\x89\x85\0\0\0\0again"), ReceivePong(b"again")],
        pass: &[All(&[Pong(b"dyno"), Pong(b"again")])],
        demand: "a server that gets a ping sends a pong back, unless a Close came before",
        ..Case::BLANK
    },
    Case {
        id: "WS-B02",
        title: "two texts, one after the other",
        area: Area::Frames,
        clause: socket("6.2"),
        needs: Need::SocketEcho,
        steps: conversation![
            Raw(b"\x81\x85\0\0\0\0first"),
            Receive(Duration::ZERO),
            Raw(b"\x81\x86\0\0\0\0second"),
        ],
        pass: &[All(&[Said(b"first"), Said(b"second")])],
        demand: "what comes in is read as frames, and a frame of text is a message",
        ..Case::BLANK
    },
    Case {
        id: "WS-B03",
        title: "a text, whole and in fragments, then a ping",
        area: Area::Fragments,
        clause: socket("6.2"),
        needs: Need::Socket,
        steps: conversation![
            Raw(b"\x81\x85\0\0\0\0whole"),
            Raw(b"\x01\x82\0\0\0\0in\x80\x83\0\0\0\0two"),
            Raw(b"\x89\x85\0\0\0\0after"),
        ],
        pass: &[Pong(b"after")],
        warn: &[FailsWith(1003), FailsWith(1008)],
        demand: "what comes in is read as frames, and right ones do no harm",
        doubt: "an application may refuse what it has no use for",
        ..Case::BLANK
    },
    Case {
        id: "WS-V01",
        title: "every frame that the server sent",
        area: Area::Frames,
        clause: socket("5"),
        twin: Some("WS-B01"),
        needs: Need::Socket,
        demand: "a server's frames are unmasked, without reserved bits or unknown opcodes, their lengths as short as can be; \
                 control frames are whole and small, Closes have a code that may be sent, texts are UTF-8, and no data \
                 follows its own Close",
        ..Case::BLANK
    },
];
