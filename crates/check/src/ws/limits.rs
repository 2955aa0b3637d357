//! RFC 6455, 5.2 and 10.4: large frames and messages.

use std::time::Duration;

use crate::case::{Area, Case, Level, Need, Scheduling, Tag, socket};
use crate::script::Rule::{self, All, Any, Fails, Pong, SaysClose, When};
use crate::script::Step::{Frames, Raw, ReceivePong};
use crate::seen::{End, Seen};
use crate::ws::{HELLO, conversation};

const LARGE: Case = Case {
    area: Area::SocketLimits,
    clause: socket("10.4"),
    weight: 5,
    tags: &[Tag::Size],
    twin: Some("WS-B01"),
    needs: Need::Socket,
    scheduling: Scheduling::Alone,
    pass: &[Fails],
    ..Case::BLANK
};

/// It keeps reading, as after any incomplete frame, and reserves no large memory for it.
const WAITS_MODESTLY: Rule =
    When("it waits for the rest, and its memory does not grow by 16 MiB", |seen| {
        seen.end == End::Open
            && seen.has_pong(HELLO)
            && seen.closes().is_empty()
            && !seen.goes_on()
            && grew_less(seen, 16)
    });

/// It handles each fragment by itself, and keeps none.
const GIVES_BACK: Rule = When("the fragments given back as they come", |seen| {
    seen.end == End::Flooded && seen.has_pong(HELLO)
});

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-F16",
        title: "a frame that announces 2^62 octets",
        steps: conversation![Raw(b"\x82\xff\x40\0\0\0\0\0\0\0\0\0\0\0some")],
        warn: &[WAITS_MODESTLY, SaysClose],
        demand: "a server protects itself from frames that are larger than it can take",
        doubt: "it may wait for what was announced, as long as it takes no memory for it, or end the connection as if all were well",
        ..LARGE
    },
    Case {
        id: "WS-F17",
        title: "a length of 64 bits whose highest bit is set",
        clause: socket("5.2"),
        scheduling: Scheduling::Together,
        steps: conversation![Raw(b"\x82\xff\x80\0\0\0\0\0\0\x04\0\0\0\0some")],
        demand: "the highest bit of a length of 64 bits is 0",
        ..LARGE
    },
    Case {
        id: "WS-F18",
        title: "8 MiB in 2,000 fragments without an end, then a ping",
        limit: Duration::from_secs(8),
        weight: 3,
        steps: conversation![
            Frames(0x02, 4 << 10, 1),
            Frames(0x00, 4 << 10, 1_999),
            Raw(b"\x89\x85\0\0\0\0still"),
            ReceivePong(b"still"),
        ],
        pass: &[
            Fails,
            All(&[
                Any(&[Pong(b"still"), GIVES_BACK]),
                When("memory grown by less than 64 MiB", |seen| grew_less(seen, 64)),
            ]),
        ],
        warn: &[
            WAITS_MODESTLY,
            SaysClose,
            All(&[
                Any(&[Pong(b"still"), GIVES_BACK]),
                When("memory grown by less than 256 MiB", |seen| grew_less(seen, 256)),
            ]),
        ],
        demand: "a server protects itself from messages that are larger than it can take, in fragments, too",
        doubt: "it may stop to read, as long as it takes no memory for it, or end the connection as if all were well; \
                and how much memory a message may take is the server's own choice, within reason",
        ..LARGE
    },
    Case {
        id: "WS-S01",
        title: "20,000 empty fragments, then a ping",
        level: Level::Should,
        weight: 3,
        steps: conversation![
            Frames(0x02, 0, 1),
            Frames(0x00, 0, 19_999),
            Raw(b"\x89\x85\0\0\0\0still"),
            ReceivePong(b"still"),
        ],
        pass: &[
            Fails,
            All(&[
                Pong(b"still"),
                When("memory grown by less than 16 MiB", |seen| grew_less(seen, 16)),
            ]),
        ],
        demand: "fragments that say nothing cost a server next to nothing",
        ..LARGE
    },
];

/// If dyno did not start the server, its memory is not known.
fn grew_less(seen: &Seen, mib: u64) -> bool {
    seen.grew.is_none_or(|grew| grew < mib << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::unconnected;
    use crate::finding::CaseVerdict;
    use crate::judge::judge;

    /// What a case says about a server that has opened a WebSocket, answered the first ping, sent these frames and
    /// grown by this much memory.
    fn verdict(id: &str, frames: &[u8], grew_mib: u64) -> CaseVerdict {
        let head = b"HTTP/1.1 101 So\r\n\r\n\x8a\x04dyno".as_slice();
        let received = [head, frames].concat();
        let reading = crate::answer::read(&received, false, &|_| false);
        let grew = Some(grew_mib << 20);
        let seen =
            Seen { received: received.into(), reading, grew, end: End::Open, ..unconnected() };
        judge(CASES.iter().find(|case| case.id == id).unwrap(), &seen)
    }

    #[test]
    fn a_server_that_takes_much_memory_fails() {
        assert_eq!(verdict("WS-F16", b"", 1), CaseVerdict::Warn);
        assert_eq!(verdict("WS-F16", b"", 20), CaseVerdict::Fail);
        assert_eq!(verdict("WS-F18", b"\x8a\x05still", 20), CaseVerdict::Pass);
        assert_eq!(verdict("WS-F18", b"\x8a\x05still", 70), CaseVerdict::Warn);
        assert_eq!(verdict("WS-F18", b"\x8a\x05still", 300), CaseVerdict::Fail);
        assert_eq!(verdict("WS-F18", b"", 20), CaseVerdict::Fail);
        assert_eq!(verdict("WS-S01", b"\x8a\x05still", 1), CaseVerdict::Pass);
        assert_eq!(verdict("WS-S01", b"\x8a\x05still", 20), CaseVerdict::Fail);
    }
}
