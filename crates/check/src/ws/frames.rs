//! RFC 6455, 5.2: the form of frames.

use std::time::Duration;

use crate::case::{Area, Case, Need, Tag, socket};
use crate::script::Rule::{All, Fails, FailsWith, Not, Pong, Said};
use crate::script::Step::{Drip, Frames, Raw};
use crate::ws::conversation;

/// The defaults of cases that end the connection.
const REFUSED: Case = Case {
    area: Area::Frames,
    clause: socket("5.2"),
    twin: Some("WS-B03"),
    needs: Need::Socket,
    pass: &[All(&[Fails, Not(&Said(b"hello"))])],
    ..Case::BLANK
};

/// The defaults of cases whose message is accepted and sent back.
const RECEIVED: Case = Case {
    area: Area::Frames,
    clause: socket("5.2"),
    twin: Some("WS-B02"),
    needs: Need::SocketEcho,
    demand: "a frame's length is read in each of its three forms",
    ..Case::BLANK
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-F03",
        title: "five octets in the 64-bit form of the length",
        needs: Need::SocketEcho,
        twin: Some("WS-B02"),
        steps: conversation![Raw(b"\x81\xff\0\0\0\0\0\0\0\x05\0\0\0\0hello")],
        warn: &[Said(b"hello")],
        demand: "a length stands in as few octets as it can",
        doubt: "the sender must not do it, but no sentence has the receiver refuse it; nearly all servers accept it",
        ..REFUSED
    },
    Case {
        id: "WS-F04",
        title: "a frame that is not masked",
        clause: socket("5.1"),
        weight: 5,
        tags: &[Tag::Smuggling],
        steps: conversation![Raw(b"\x81\x05hello")],
        demand: "a client's frame without a mask ends the connection",
        ..REFUSED
    },
    Case {
        id: "WS-F05",
        title: "RSV1 without an extension",
        steps: conversation![Raw(b"\xc1\x85\0\0\0\0hello")],
        demand: "a reserved bit that no extension was agreed for fails the connection",
        ..REFUSED
    },
    Case {
        id: "WS-F19",
        title: "RSV2 and RSV3 without an extension",
        weight: 1,
        steps: conversation![Raw(b"\xb1\x85\0\0\0\0hello")],
        demand: "a reserved bit that no extension was agreed for fails the connection",
        ..REFUSED
    },
    Case {
        id: "WS-F06",
        title: "opcode 3, a data frame that is not defined",
        steps: conversation![Raw(b"\x83\x85\0\0\0\0hello")],
        demand: "an opcode that is not known fails the connection",
        ..REFUSED
    },
    Case {
        id: "WS-F20",
        title: "opcode 11, a control frame that is not defined",
        steps: conversation![Raw(b"\x8b\x85\0\0\0\0hello")],
        demand: "an opcode that is not known fails the connection",
        ..REFUSED
    },
    Case {
        id: "WS-F21",
        title: "a text masked with random octets",
        clause: socket("5.3"),
        steps: conversation![Raw(b"\x81\x85\xa1\x5c\x03\xf7\xc9\x39\x6f\x9b\xce")],
        pass: &[Said(b"hello")],
        demand: "a payload is unmasked octet by octet with the four of the mask in turn",
        ..RECEIVED
    },
    Case {
        id: "WS-F22",
        title: "an empty text",
        clause: socket("5.6"),
        steps: conversation![Raw(b"\x81\x80\0\0\0\0")],
        pass: &[Said(b"")],
        demand: "a text may be empty",
        ..RECEIVED
    },
    Case {
        id: "WS-F23",
        title: "a text of 125 octets",
        steps: conversation![Frames(0x81, 125, 1)],
        pass: &[Said(&[b'x'; 125])],
        ..RECEIVED
    },
    Case {
        id: "WS-F24",
        title: "texts of 126 and 127 octets",
        steps: conversation![Frames(0x81, 126, 1), Frames(0x81, 127, 1)],
        pass: &[All(&[Said(&[b'x'; 126]), Said(&[b'x'; 127])])],
        ..RECEIVED
    },
    Case {
        id: "WS-F25",
        title: "a text of 65535 octets",
        steps: conversation![Frames(0x81, 65_535, 1)],
        pass: &[Said(&[b'x'; 65_535])],
        warn: &[FailsWith(1009)],
        doubt: "a server may have a lower limit, and says so with 1009",
        ..RECEIVED
    },
    Case {
        id: "WS-F26",
        title: "a text of 65536 octets",
        steps: conversation![Frames(0x81, 65_536, 1)],
        pass: &[Said(&[b'x'; 65_536])],
        warn: &[FailsWith(1009)],
        doubt: "a server may have a lower limit, and says so with 1009",
        ..RECEIVED
    },
    Case {
        id: "WS-F27",
        title: "a binary message that is no text",
        clause: socket("5.6"),
        steps: conversation![Raw(b"\x82\x88\0\0\0\0\x00\xff\xc3\x28\x80\r\n\x81")],
        pass: &[Said(b"\x00\xff\xc3\x28\x80\r\n\x81")],
        demand: "a binary message is any octets",
        ..RECEIVED
    },
    Case {
        id: "WS-F28",
        title: "a frame one octet at a time",
        clause: socket("6.2"),
        twin: Some("WS-B01"),
        needs: Need::Socket,
        steps: conversation![Drip(b"\x89\x84\x01\x02\x03\x04rnls", Duration::from_millis(2))],
        pass: &[Pong(b"slow")],
        demand: "a frame is read however TCP has cut it",
        ..RECEIVED
    },
    Case {
        id: "WS-F29",
        title: "two texts and a ping at once",
        clause: socket("6.2"),
        steps: conversation![Raw(b"\x81\x83\0\0\0\0one\x81\x83\0\0\0\0two\x89\x85\0\0\0\0three")],
        pass: &[All(&[Said(b"one"), Said(b"two"), Pong(b"three")])],
        demand: "several frames that come together are each read",
        ..RECEIVED
    },
];
