//! HTTP/1.1, HTTP/2 and WebSocket as pure state machines. No socket, no clock, no thread, no file.
//!
//! An [`Ask`] is one kind of request and the expected answer. A [`Session`] is one side of a connection's
//! conversation: bytes in, [`News`] out. [`HeldSession`] is one that sends a single request and then only receives.

mod ask;
mod asks;
mod chance;
mod expect;
mod fault;
mod h1;
pub mod h2;
mod held;
mod socket;
mod template;

pub use ask::{Ask, AskError, Request};
pub use asks::Asks;
pub use chance::{Chance, mix};
pub use expect::{BodyRule, Expect, Mismatch, StatusRule, sha256, sha256_of_hex};
pub use fault::WireFault;
pub use h1::{H1, Limits};
pub use held::{Cut, HeldEvent, HeldFault, HeldLimits, HeldSession, MESSAGE_SHOWN, Stream};
pub use socket::{Socket, socket_ask};
pub use template::{Template, TemplateError, Values};

/// The number of an exchange, by which a session names it to its lane.
pub type ExchangeId = u32;

/// The client's side of one connection's conversation.
///
/// The session never holds bytes for the peer: it appends them to the `output` that it is lent,
/// and the caller writes them. An idle connection therefore owns no buffer at all.
pub trait Session<'a> {
    /// How many more exchanges may start now: 1 or 0 for HTTP/1.1.
    fn room(&self) -> usize;

    /// Starts one exchange. Its bytes are returned if they need no encoding, and appended to
    /// `output` otherwise.
    fn submit(
        &mut self,
        exchange: ExchangeId,
        ask: &'a Ask,
        values: Values,
        output: &mut Vec<u8>,
    ) -> Option<&'a [u8]>;

    /// Takes bytes from the peer, in pieces of any size, and reports what they meant.
    /// After an error the connection is of no more use.
    fn receive(&mut self, bytes: &[u8], news: &mut Vec<News>) -> Result<(), WireFault>;

    /// The peer will send no more. Reports what that means for the exchange under way.
    fn ended(&mut self, news: &mut Vec<News>) -> Result<(), WireFault>;

    /// How far the answer under way has come.
    fn progress(&self) -> Progress;

    /// Forgets the conversation: the next bytes are those of a new connection.
    fn reset(&mut self);
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No answer is awaited.
    Idle,
    /// The request was sent, and not one byte of the answer has come.
    Requested,
    Head,
    Body,
}

/// What bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The first byte of the exchange's answer came.
    FirstByte(ExchangeId),
    /// The answer is whole.
    Answered {
        /// The exchange that it answers.
        exchange: ExchangeId,
        status: u16,
        /// What is wrong with it, if it is not what was expected.
        mismatch: Option<Mismatch>,
        /// Whether another request may follow on this connection.
        reusable: bool,
    },
}
