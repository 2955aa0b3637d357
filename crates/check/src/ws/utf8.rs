//! RFC 6455, 8.1: text is UTF-8.

use crate::case::{Area, Case, Need, Tag, socket};
use crate::script::Rule::{All, Fails, FailsWith, Not, Said};
use crate::script::Step::Raw;
use crate::ws::conversation;

/// The defaults of cases whose message is accepted and sent back.
const RECEIVED: Case = Case {
    area: Area::Utf8,
    clause: socket("8.1"),
    twin: Some("WS-B02"),
    needs: Need::SocketEcho,
    ..Case::BLANK
};

/// The defaults of cases with text that is not valid UTF-8.
const BAD: Case = Case {
    pass: &[FailsWith(1007)],
    warn: &[Fails],
    doubt: "the connection fails, but the client does not learn that its text is to blame",
    ..RECEIVED
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-F12",
        title: "a code point in two fragments",
        steps: conversation![Raw(b"\x01\x81\0\0\0\0\xce\x80\x81\0\0\0\0\xba")],
        pass: &[Said("κ".as_bytes())],
        demand: "a text is UTF-8 as a whole; where its fragments are cut does not matter",
        ..RECEIVED
    },
    Case {
        id: "WS-U01",
        title: "code points of every length, and odd ones",
        steps: conversation![Raw(
            b"\x81\x94\0\0\0\0\0a\xc3\xa9\xe2\x82\xac\xed\x9f\xbf\xef\xbb\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf"
        )],
        pass: &[Said("\0aé€\u{d7ff}\u{feff}\u{ffff}\u{10ffff}".as_bytes())],
        demand: "a text may have any code point of Unicode",
        ..RECEIVED
    },
    Case {
        id: "WS-F11",
        title: "a sequence that is cut by an ASCII character",
        tags: &[Tag::Injection],
        steps: conversation![Raw(b"\x81\x82\0\0\0\0\xc3\x28")],
        warn: &[All(&[Fails, Not(&Said(b"\xc3\x28"))])],
        demand: "a text that is not UTF-8 fails the connection",
        ..BAD
    },
    Case {
        id: "WS-U02",
        title: "a slash in two octets",
        tags: &[Tag::Injection],
        steps: conversation![Raw(b"\x81\x82\0\0\0\0\xc0\xaf")],
        warn: &[All(&[Fails, Not(&Said(b"\xc0\xaf"))])],
        demand: "a code point in more octets than it needs is not UTF-8",
        ..BAD
    },
    Case {
        id: "WS-U03",
        title: "half of a surrogate pair",
        steps: conversation![Raw(b"\x81\x83\0\0\0\0\xed\xa0\x80")],
        warn: &[All(&[Fails, Not(&Said(b"\xed\xa0\x80"))])],
        demand: "a surrogate is no code point of UTF-8",
        ..BAD
    },
    Case {
        id: "WS-U04",
        title: "a number above the last code point",
        steps: conversation![Raw(b"\x81\x84\0\0\0\0\xf4\x90\x80\x80")],
        warn: &[All(&[Fails, Not(&Said(b"\xf4\x90\x80\x80"))])],
        demand: "UTF-8 ends at U+10FFFF",
        ..BAD
    },
    Case {
        id: "WS-U05",
        title: "a text that ends within a code point",
        steps: conversation![Raw(b"\x81\x84\0\0\0\0caf\xc3")],
        warn: &[All(&[Fails, Not(&Said(b"caf\xc3"))])],
        demand: "the last code point of a text is whole",
        ..BAD
    },
    Case {
        id: "WS-U06",
        title: "fragments that do not fit together",
        steps: conversation![Raw(b"\x01\x82\0\0\0\0a\xe2\x80\x82\0\0\0\0\x82b")],
        warn: &[All(&[Fails, Not(&Said(b"a\xe2\x82b"))])],
        demand: "a code point that begins in one fragment goes on in the next one",
        ..BAD
    },
];
