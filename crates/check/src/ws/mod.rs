//! WebSocket: how conversations begin, and what only some cases ask. The cases are in `catalogue/websocket`.
//!
//! Every case that sends frames first has a ping of its own answered on the same connection, so that a server cannot
//! pass by dropping WebSockets right after the handshake.

mod conditions;

pub(crate) use conditions::CONDITIONS;

use crate::script::Step;

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
pub(crate) const GREET: Step = Step::Raw(b"\x89\x84\0\0\0\0dyno");
