//! RFC 6455, 5.5.1 and 7: the Close and its codes.

use crate::case::{Area, Case, Level, Need, socket};
use crate::script::Rule::{All, Closes, ClosesWith, Fails, FailsWith, Not, SaysClose, When};
use crate::script::Step::Raw;
use crate::seen::Seen;
use crate::ws::conversation;

/// The defaults of cases that are answered by a Close.
const CLOSED: Case = Case {
    area: Area::Closing,
    clause: socket("5.5.1"),
    twin: Some("WS-B01"),
    needs: Need::Socket,
    pass: &[SaysClose],
    ..Case::BLANK
};

/// The defaults of cases with a code that no endpoint may send.
const BAD_CODE: Case = Case {
    clause: socket("7.4.1"),
    pass: &[FailsWith(1002)],
    warn: &[Fails, ClosesWith(1000)],
    doubt: "the code is forbidden to its sender; no sentence says what its receiver does, but it must not send the code back",
    ..CLOSED
};

/// The defaults of cases with a code that is not defined yet.
const UNDEFINED: Case = Case {
    clause: socket("7.4.2"),
    level: Level::Ought,
    weight: 1,
    warn: &[Fails, SaysClose],
    demand: "codes below 3000 that are not defined are not used",
    doubt: "no sentence says what to do about such a code",
    ..BAD_CODE
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-F13",
        title: "Close 1000 with a reason",
        steps: conversation![Raw(b"\x88\x85\0\0\0\0\x03\xe8bye")],
        pass: &[ClosesWith(1000)],
        warn: &[SaysClose],
        demand: "a Close is answered with a Close",
        doubt: "the code usually comes back, but need not",
        ..CLOSED
    },
    Case {
        id: "WS-C01",
        title: "Close, then the end of the connection",
        clause: socket("7.1.1"),
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xe8")],
        pass: &[All(&[SaysClose, Closes])],
        demand: "after both Closes the server ends the connection at once",
        ..CLOSED
    },
    Case {
        id: "WS-C02",
        title: "Close without a code",
        steps: conversation![Raw(b"\x88\x80\0\0\0\0")],
        demand: "a Close may be empty, and is answered with a Close",
        ..CLOSED
    },
    Case {
        id: "WS-C03",
        title: "a text after Close",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xe8\x81\x84\0\0\0\0late")],
        pass: &[All(&[SaysClose, When("no data after its Close", is_over_after_close)])],
        demand: "a server that has sent a Close sends no more data, whatever it receives",
        ..CLOSED
    },
    Case {
        id: "WS-F14",
        title: "Close with a body of one octet",
        steps: conversation![Raw(b"\x88\x81\0\0\0\0\x03")],
        pass: &[Fails],
        warn: &[ClosesWith(1000)],
        demand: "the body of a Close begins with a code of two octets",
        doubt: "the connection ends, as was asked, though not as one that broke the protocol",
        ..CLOSED
    },
    Case {
        id: "WS-C04",
        title: "Close with a reason that is not UTF-8",
        steps: conversation![Raw(b"\x88\x84\0\0\0\0\x03\xe8\xc3\x28")],
        clause: socket("8.1"),
        pass: &[FailsWith(1007)],
        warn: &[Fails, ClosesWith(1000)],
        demand: "what is to be read as UTF-8 and is not fails the connection",
        doubt: "a server that does not read the reason need not notice, and another code than 1007 may report it",
        ..CLOSED
    },
    Case {
        id: "WS-F15",
        title: "Close 1005",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xed")],
        demand: "1005 stands for a Close without a code and is never sent",
        ..BAD_CODE
    },
    Case {
        id: "WS-C05",
        title: "Close 1006",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xee")],
        demand: "1006 stands for an end without a Close and is never sent",
        ..BAD_CODE
    },
    Case {
        id: "WS-C06",
        title: "Close 1015",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xf7")],
        demand: "1015 stands for a failure of TLS and is never sent",
        ..BAD_CODE
    },
    Case {
        id: "WS-C07",
        title: "Close 999",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xe7")],
        ..UNDEFINED
    },
    Case {
        id: "WS-C08",
        title: "Close 1004",
        clause: socket("7.4.1"),
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x03\xec")],
        demand: "1004 is reserved, and means nothing yet",
        ..UNDEFINED
    },
    Case {
        id: "WS-C09",
        title: "Close 2999",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x0b\xb7")],
        ..UNDEFINED
    },
    Case {
        id: "WS-C10",
        title: "Close 3000",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x0b\xb8")],
        pass: &[ClosesWith(3000)],
        ..REGISTERED
    },
    Case {
        id: "WS-C11",
        title: "Close 4999",
        steps: conversation![Raw(b"\x88\x82\0\0\0\0\x13\x87")],
        pass: &[ClosesWith(4999)],
        demand: "codes from 4000 to 4999 are for private use",
        ..REGISTERED
    },
];

/// The defaults of cases with a code that an application may send.
const REGISTERED: Case = Case {
    clause: socket("7.4.2"),
    level: Level::Ought,
    weight: 1,
    warn: &[All(&[SaysClose, Not(&FailsWith(1002))])],
    demand: "codes from 3000 to 3999 are for libraries, frameworks and applications",
    doubt: "the code usually comes back, but need not",
    ..CLOSED
};

fn is_over_after_close(seen: &Seen) -> bool {
    let frames = seen.frames();
    let mut after = frames.iter().skip_while(|frame| frame.opcode != 8);
    after.all(|frame| frame.opcode >= 8)
}
