//! The cases for WebSocket: a file for each part of RFC 6455.
//!
//! Every case that sends frames first has a ping of its own answered on the same connection, so that a server cannot
//! pass by dropping WebSockets right after the handshake.

mod base;
mod closing;
mod control;
mod fragments;
mod frames;
mod handshake;
mod limits;
mod utf8;

use crate::case::Case;
use crate::script::Step;

/// In the order in which they are listed.
pub(crate) const CASES: &[&[Case]] = &[
    base::CASES,
    handshake::CASES,
    frames::CASES,
    fragments::CASES,
    control::CASES,
    closing::CASES,
    utf8::CASES,
    limits::CASES,
];

/// The passive case: it sends nothing and judges every frame that was seen.
pub(crate) const PASSIVE: &str = "WS-V01";
/// The payload of the ping that conversations begin with.
pub(crate) const HELLO: &[u8] = b"dyno";

/// A correct handshake.
pub(crate) const OPEN: Step = Step::Send(
    b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
);
/// The ping that conversations begin with.
const GREET: Step = Step::Raw(b"\x89\x84\0\0\0\0dyno");

/// The steps of a conversation: a handshake, a ping and its pong, and then what the case is about.
macro_rules! conversation {
    ($($step:expr),* $(,)?) => {
        &[
            crate::ws::OPEN,
            crate::script::Step::Receive(std::time::Duration::ZERO),
            crate::ws::GREET,
            crate::script::Step::ReceivePong(crate::ws::HELLO),
            $($step),*
        ]
    };
}
use conversation;
