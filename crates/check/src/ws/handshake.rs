//! RFC 6455, 4: the opening handshake.

use crate::case::{Area, Case, Need, socket};
use crate::script::Rule::Opened;
use crate::script::Step::Send;

pub(super) const CASES: &[Case] = &[Case {
    id: "WS-H01",
    title: "a valid handshake",
    area: Area::Handshake,
    clause: socket("4.2.2"),
    needs: Need::Socket,
    steps: &[Send(
        b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    )],
    pass: &[Opened],
    demand: "the server switches with 101, Upgrade, Connection and the digest of the client's key",
    ..Case::BLANK
}];
