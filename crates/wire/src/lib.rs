//! HTTP/1.1, HTTP/2 and WebSocket as pure state machines. No socket, no clock, no thread, no file.
//!
//! An [`Ask`] is one kind of request and the expected answer. A [`Session`] is one side of a connection's
//! conversation: bytes in, [`News`] out. [`HeldSession`] is one that sends a single request and then only receives.

mod answer_parts;
mod ask;
mod asks;
mod chance;
mod coding;
#[cfg(test)]
#[path = "../../units/tests/fixture/cuts.rs"]
mod cuts;
mod dataset;
mod expect;
mod fault;
mod file_body;
mod file_rule;
mod files;
#[cfg(test)]
mod fixture;
mod forms;
mod fortunes_page;
mod h1;
pub mod h2;
mod held;
mod json;
#[cfg(test)]
mod json_tests;
mod meaning;
#[cfg(test)]
#[path = "../../units/tests/fixture/rfc7541.rs"]
mod rfc7541;
mod rows;
mod socket;
mod tables;
mod template;
mod vary;
#[cfg(test)]
#[path = "../../units/tests/fixture/websocket.rs"]
mod websocket;

pub use answer_parts::{AnswerParts, Difference, field_of, first_difference};
pub use ask::{Ask, AskError, Request};
pub use asks::Asks;
pub use chance::{Chance, mix};
pub use dataset::Dataset;
pub use expect::{BodyRule, EARLY_ALLOWED_NS, Expect, Mismatch, StatusRule, sha256, sha256_of_hex};
pub use fault::WireFault;
pub use file_body::Delivered;
pub use file_rule::{FileRule, Validators};
pub use files::Files;
pub use forms::{Compared, Forms};
pub use fortunes_page::fortunes_page;
pub use h1::{H1, HeadMemo, Limits};
pub use h2::Account;
pub use held::{
    Cut, HeldError, HeldEvent, HeldFault, HeldLimits, HeldSession, MESSAGE_SHOWN, Stream,
};
pub use meaning::{Insertion, Meaning, Statement};
pub use rows::Rows;
pub use socket::{Socket, socket_ask};
pub use tables::{FORTUNES, Tables, WORLDS};
pub use template::{Number, Template, Values, placeholder_len, quoted};
pub use vary::RequestForm;

/// The name of an exchange, by which a session reports it to its lane: the lane's place for it, and which use of that
/// place it is. No two exchanges of a lane have the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeId {
    pub place: u32,
    pub generation: u32,
}

/// The client's side of one connection's conversation.
///
/// The session never holds bytes for the peer: it appends them to the `output` that it is lent,
/// and the caller writes them. An idle connection therefore owns no buffer at all.
pub trait Session<'a> {
    /// What can be wrong with the peer's bytes.
    type Fault: Copy + Into<WireFault>;

    /// Whether a connection carries several exchanges at once, so that one that is given up costs the others nothing.
    /// Where it does not, a connection ends with an exchange that is given up.
    const SHARED: bool;

    /// The connection is established. Appends what must be written first. [`News::Ready`] follows when requests may be
    /// sent: at once, or when the peer has introduced itself.
    fn open(&mut self, news: &mut Vec<News<Self::Fault>>, output: &mut Vec<u8>);

    /// How many more exchanges may start now: 1 or 0 for HTTP/1.1.
    fn room(&self) -> usize;

    /// Starts one exchange. Its bytes are returned if they need no encoding, and appended to
    /// `output` otherwise.
    fn submit(
        &mut self,
        exchange: ExchangeId,
        ask: &'a Ask,
        values: Values,
        news: &mut Vec<News<Self::Fault>>,
        output: &mut Vec<u8>,
    ) -> Option<&'a [u8]>;

    /// Takes bytes from the peer, in pieces of any size, reports what they meant, and appends what the peer must be
    /// told at once. After an error the connection is of no more use.
    fn receive(
        &mut self,
        bytes: &[u8],
        news: &mut Vec<News<Self::Fault>>,
        output: &mut Vec<u8>,
    ) -> Result<(), Self::Fault>;

    /// Whether more of what was submitted could be appended when that which was appended has been written.
    fn has_more(&self) -> bool {
        false
    }

    /// Appends more of what was submitted, as far as the peer takes it now.
    fn send_more(&mut self, _news: &mut Vec<News<Self::Fault>>, _output: &mut Vec<u8>) {}

    /// The peer will send no more. Reports the answers that are whole by this. All others under way have failed: by the
    /// fault that is returned, or else cut where they are.
    fn ended(&mut self, news: &mut Vec<News<Self::Fault>>) -> Result<(), Self::Fault>;

    /// The exchanges that have been submitted and have not ended, and how far the answer to each has come.
    fn under_way(&self, found: &mut Vec<(ExchangeId, Progress)>);

    /// Whether there are none.
    fn is_at_rest(&self) -> bool;

    /// What can be said of an exchange that has just failed, where that takes more than its bytes.
    fn account(&self, _exchange: ExchangeId) -> Option<Account> {
        None
    }

    /// Gives up one exchange. Only for sessions that are shared.
    fn abandon(
        &mut self,
        exchange: ExchangeId,
        news: &mut Vec<News<Self::Fault>>,
        output: &mut Vec<u8>,
    );

    /// The connection is about to be closed by the client. Appends the last bytes to be written.
    fn close(&mut self, output: &mut Vec<u8>);

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

impl Progress {
    /// What is wrong with an answer if no more of it will come.
    #[must_use]
    pub const fn cut(self) -> WireFault {
        match self {
            Progress::Idle | Progress::Requested => WireFault::Empty,
            Progress::Head => WireFault::CutHead,
            Progress::Body => WireFault::CutBody,
        }
    }
}

/// What bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News<Fault> {
    /// The peer has introduced itself; only where it must.
    Introduced,
    /// Requests may be sent.
    Ready,
    /// More exchanges may start than before, though none has ended.
    Room,
    /// The first byte of the exchange's answer came; or that of an interim one, and then this comes again.
    FirstByte(ExchangeId),
    /// It was the first byte of an interim answer, which is over.
    Interim(ExchangeId),
    /// Of the bytes that came, these are part of the body of the exchange's answer. Only the beginning of a body is
    /// reported, and not if the answer became whole and right with it.
    Part { exchange: ExchangeId, at: u32, len: u32 },
    /// The answer is whole.
    Answered {
        /// The exchange that it answers.
        exchange: ExchangeId,
        status: u16,
        /// The answer's bytes as they came.
        octets: u64,
        /// What is wrong with it, if it is not what was expected.
        mismatch: Option<Mismatch>,
        /// Whether another request may follow on this connection.
        reusable: bool,
    },
    /// The peer has not touched this request: it may be sent again.
    Refused(ExchangeId),
    /// This exchange has failed, and the connection goes on.
    Failed(ExchangeId, Fault),
    /// The request's body waits until the peer takes more of it.
    Stalled(ExchangeId),
    /// The request's body goes on.
    Flowing(ExchangeId),
    /// The peer has sent all that we allow for now, and waits for us.
    Starved,
    /// More came of what it waited with.
    Fed,
    /// The peer takes no more exchanges on this connection; those under way end in peace.
    Draining,
}
