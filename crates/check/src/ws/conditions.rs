//! What only some cases of WebSocket ask of an exchange.

use super::HELLO;
use crate::condition::{Condition, when};
use crate::observation::{End, Observation};

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("cut_short", "4xx or 5xx, cut short", |seen| {
        let first = seen.reading.finals.first();
        first.is_some_and(|answer| !answer.is_whole && matches!(answer.status / 100, 4 | 5))
    }),
    when("version_answered", "a Sec-WebSocket-Version", |seen| {
        !has_none(seen, "sec-websocket-version")
    }),
    when("no_extension", "no Sec-WebSocket-Extensions", |seen| {
        has_none(seen, "sec-websocket-extensions")
    }),
    when("no_subprotocol", "no Sec-WebSocket-Protocol", |seen| {
        has_none(seen, "sec-websocket-protocol")
    }),
    when("subprotocol_offered", "no subprotocol, or one of those offered", has_offered_protocol),
    when("no_data_after_close", "no data after its Close", |seen| {
        let frames = seen.frames();
        frames.iter().skip_while(|frame| frame.opcode != 8).all(|frame| frame.opcode >= 8)
    }),
    when(
        "waits_modestly",
        "it waits for the rest, and its memory does not grow by 16 MiB",
        waits_modestly,
    ),
    when("fragments_given_back", "the fragments given back as they come", |seen| {
        seen.end == End::Flooded && seen.has_pong(HELLO)
    }),
    when("memory_below_16_mib", "memory grown by less than 16 MiB", |seen| grew_less(seen, 16)),
    when("memory_below_64_mib", "memory grown by less than 64 MiB", |seen| grew_less(seen, 64)),
    when("memory_below_256_mib", "memory grown by less than 256 MiB", |seen| grew_less(seen, 256)),
];

fn has_none(seen: &Observation, name: &str) -> bool {
    seen.first().is_some_and(|answer| answer.field(name).is_none())
}

fn has_offered_protocol(seen: &Observation) -> bool {
    let Some(answer) = seen.first() else { return false };
    let protocols: Vec<&[u8]> = answer.all("sec-websocket-protocol").collect();
    matches!(protocols[..], [] | [b"dyno-one" | b"dyno-two"])
}

/// It keeps reading, as after any incomplete frame, and reserves no large memory for it.
fn waits_modestly(seen: &Observation) -> bool {
    seen.end == End::Open
        && seen.has_pong(HELLO)
        && seen.closes().is_empty()
        && !seen.goes_on()
        && grew_less(seen, 16)
}

/// If dyno did not start the server, its memory is not known.
fn grew_less(seen: &Observation, mib: u64) -> bool {
    seen.grew.is_none_or(|grew| grew < mib << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::case;
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
        let seen = Observation {
            received: received.into(),
            reading,
            grew,
            end: End::Open,
            ..unconnected()
        };
        judge(case(id).unwrap(), &seen)
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
