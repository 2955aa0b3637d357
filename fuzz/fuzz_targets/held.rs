//! Any bytes on a held connection, in any cut: no panic, no hang, bounded memory, and the cut never changes the meaning.
//!
//! The input's first byte chooses the protocol and its limits, the second how the rest is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{
    Ask, Cut, Expect, HeldError, HeldEvent, HeldLimits, HeldSession, Limits, Request, Socket,
    Stream, socket_ask,
};

/// The handshake that `begin(7, …)` asks for is agreed with this.
const AGREED: &[u8] =
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                        Sec-WebSocket-Accept: +4jEaCeob/am/pFD6T+C5po6e10=\r\n\r\n";

type Said = (Vec<String>, Result<(), HeldError>, Vec<u8>);

fuzz_target!(|input: &[u8]| {
    let [how, cut, bytes @ ..] = input else { return };
    let held = HeldLimits {
        message: if how & 1 != 0 { 100 } else { 16 << 20 },
        fragments: if how & 2 != 0 { 5 } else { 1 << 16 },
    };
    let limits = Limits { lenient: how & 4 != 0, ..Limits::default() };
    let ends = how & 8 != 0;
    let is_socket = how & 16 != 0;
    let kind = if how & 32 != 0 { Cut::Event } else { Cut::Chunk };
    let get = Ask::new(&Request::get("h", "/poll/1"), Expect::default()).expect("a sound request");
    let upgrade = socket_ask("h", "/wspoll/1", &[]).expect("a sound request");
    let new = || match is_socket {
        true => HeldSession::Socket(Socket::new(&upgrade, &limits, held)),
        false => HeldSession::Stream(Stream::new(&get, kind, &limits, held)),
    };
    // A handshake cannot be guessed: it is given, and then whatever the fuzzer likes.
    let given = match is_socket && how & 64 != 0 {
        true => AGREED,
        false => &[],
    };
    let bytes = [given, bytes].concat();
    let whole = hear(new(), std::iter::once(&bytes[..]), ends);
    let size = usize::from(*cut).max(1);
    let pieces = hear(new(), bytes.chunks(size), ends);
    assert_eq!(whole, pieces, "cut into pieces of {size}");
});

fn hear<'b>(
    mut held: HeldSession<'_>,
    mut pieces: impl Iterator<Item = &'b [u8]>,
    ends: bool,
) -> Said {
    let (mut output, mut received) = (Vec::new(), Vec::new());
    held.begin(7, &mut output);
    output.clear();
    let mut tell = |news: HeldEvent<'_>| match news {
        // How a message came is the cut's doing.
        HeldEvent::Part { .. } => {}
        other => received.push(format!("{other:?}")),
    };
    let mut result = pieces.try_for_each(|piece| held.receive(piece, &mut output, &mut tell));
    if ends && result.is_ok() {
        result = held.ended(&mut tell);
    }
    assert!(output.len() < 20 << 10, "{} bytes wait for the peer", output.len());
    (received, result, output)
}
