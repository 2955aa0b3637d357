//! Held connections: one request, and then messages for as long as the connection lasts. An endless HTTP answer and a
//! WebSocket differ in their bytes, and in nothing else that matters to a load.

mod fault;
mod first;
mod stream;

pub use fault::{HeldError, HeldFault};
pub(crate) use first::First;
pub use stream::{Cut, Stream};

use serde::{Deserialize, Serialize};

use crate::socket::Socket;

/// What arrived on a held connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldEvent<'b> {
    /// The head of the answer, or the handshake, was correct: messages may come.
    Opened,
    /// A part of a WebSocket's message, as it came; each message has at least one part before it is whole.
    Part {
        /// The bytes.
        bytes: &'b [u8],
        /// Whether it is text, not binary.
        is_text: bool,
    },
    Message {
        /// Its first bytes, up to [`MESSAGE_SHOWN`].
        shown: &'b [u8],
        /// How many it had.
        bytes: u64,
    },
    /// A ping; if the peer reads what dyno sends, it was answered.
    Ping,
    /// The answer to a ping of dyno's.
    Pong,
    /// The peer sent a Close, perhaps with a code.
    Close(Option<u16>),
}

/// This much of a message is shown.
pub const MESSAGE_SHOWN: usize = 64;

/// What a peer may send on a held connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldLimits {
    /// Bytes of a message, all its fragments together.
    pub message: u64,
    pub fragments: u32,
}

impl Default for HeldLimits {
    fn default() -> Self {
        HeldLimits { message: 16 << 20, fragments: 1 << 16 }
    }
}

/// The client's side of one held connection. It holds no bytes for the peer: it appends them to the `output` that it is
/// lent.
#[derive(Debug)]
pub enum HeldSession<'a> {
    /// An answer over HTTP that does not end.
    Stream(Stream<'a>),
    Socket(Socket<'a>),
}

impl HeldSession<'_> {
    /// Sends the request. All randomness in the connection comes from `chance`.
    pub fn begin(&mut self, chance: u64, output: &mut Vec<u8>) {
        match self {
            HeldSession::Stream(stream) => stream.begin(chance, output),
            HeldSession::Socket(socket) => socket.begin(chance, output),
        }
    }

    /// Takes bytes from the peer, in pieces of any size. After a fault the connection is of no more use; `output` then
    /// holds a last message to the peer.
    pub fn receive(
        &mut self,
        bytes: &[u8],
        output: &mut Vec<u8>,
        on_event: &mut dyn FnMut(HeldEvent<'_>),
    ) -> Result<(), HeldError> {
        match self {
            HeldSession::Stream(stream) => stream.receive(bytes, on_event),
            HeldSession::Socket(socket) => socket.receive(bytes, output, on_event),
        }
    }

    /// The peer sends no more: an end that was announced is not a fault.
    pub fn ended(&mut self, on_event: &mut dyn FnMut(HeldEvent<'_>)) -> Result<(), HeldError> {
        match self {
            HeldSession::Stream(stream) => stream.ended(on_event),
            HeldSession::Socket(socket) => socket.ended(),
        }
    }

    /// Sends a text message, if this is a connection on which the client sends messages.
    pub fn send_text(&mut self, text: &[u8], output: &mut Vec<u8>) -> bool {
        match self {
            HeldSession::Stream(_) => false,
            HeldSession::Socket(socket) => socket.send_text(text, output),
        }
    }

    /// Sends a Close, if the protocol has one.
    pub fn leave(&mut self, output: &mut Vec<u8>) {
        match self {
            HeldSession::Stream(_) => {}
            HeldSession::Socket(socket) => socket.leave(output),
        }
    }

    /// Whether messages may come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            HeldSession::Stream(stream) => stream.is_open(),
            HeldSession::Socket(socket) => socket.is_open(),
        }
    }
}

#[cfg(test)]
mod tests;
