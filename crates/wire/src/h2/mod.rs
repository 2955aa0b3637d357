//! HTTP/2, the client's side of one connection: many exchanges at once, each on a stream of its own.
//!
//! ```text
//!  submit ──► Requested ──► Head ──► Body ──► Answered        Refused: may be sent again
//!                 └───────────┴────────┴────► Failed          the others go on
//! ```
//!
//! Of each stream there is a slot; the connection has the tables of fields, the windows and the frame that has come in
//! part. Requests' bodies wait for the server's windows where they are: a slot knows how far its body was sent.

mod answer;
mod connection;
mod facts;
mod fault;
mod frames;
mod heads;
mod hpack;
mod receive;
mod request;
mod send;
mod settings;
mod slot;
mod stream;
mod window;

use crate::{ExchangeId, Mismatch, Progress};

pub use facts::{Counts, Facts};
pub use fault::{ErrorCode, FrameFault, H2Fault};
pub use frames::Kind as FrameKind;
pub use heads::HeadCounts;
pub use hpack::HpackFault;
pub use request::Scheme;
pub use settings::{H2Order, Settings, Windows};

pub(crate) use hpack::{Prepared, assign_places};
pub(crate) use request::fields;

use heads::Heads;
use hpack::Encoder;
use receive::Incoming;
use settings::FIRST_WINDOW;
use slot::{Slot, Slots};
use window::Window;

/// What bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum H2News {
    /// The server has introduced itself: requests may be sent.
    Ready,
    /// More exchanges may start than before, though none has ended.
    Room,
    /// The first frame of the exchange's answer has begun to come.
    FirstByte(ExchangeId),
    /// The answer is whole.
    Answered {
        /// The exchange that it answers.
        exchange: ExchangeId,
        status: u16,
        /// The octets of the answer's frames.
        octets: u64,
        /// What is wrong with it, if it is not what was expected.
        mismatch: Option<Mismatch>,
        /// Whether another request may follow on this connection.
        reusable: bool,
    },
    /// The server has not touched this request: it may be sent again.
    Refused(ExchangeId),
    /// This exchange has failed, and the connection goes on.
    Failed(ExchangeId, H2Fault),
    /// The request's body waits for the server's window.
    Stalled(ExchangeId),
    /// The request's body goes on.
    Flowing(ExchangeId),
    /// The connection takes no more exchanges; those under way end in peace.
    Draining,
}

/// After this many streams that we ended, a connection takes no more: servers count them as an attack.
const RESETS_MAX: u32 = 10;

/// The HTTP/2 state of one connection.
#[derive(Debug)]
pub struct H2<'a> {
    order: &'a H2Order,
    /// What the server announced; before that, what holds until it does.
    peer: Settings,
    is_ready: bool,
    is_draining: bool,
    /// No stream beyond this one is answered.
    last_taken: u32,
    /// The code of the server's GOAWAY, if it is an error.
    ended_by: Option<ErrorCode>,
    next_stream: u32,
    under_way: usize,
    slots: Slots<'a>,
    encoder: Encoder<'a>,
    heads: Heads<'a>,
    incoming: Incoming,
    /// What we may still send on all streams together.
    window_out: i64,
    /// What the server may still send on all streams together.
    window_in: Window,
    /// Calls of `receive`.
    reads: u32,
    /// Streams whose body has not been sent whole, and the place where the next turn of sending begins.
    unsent: usize,
    turn: usize,
    /// Frames since the last whole answer that demanded an answer of ours.
    demands: u32,
    counts: facts::Counts,
}

impl<'a> H2<'a> {
    /// A connection on which nothing has been sent.
    #[must_use]
    pub fn new(order: &'a H2Order) -> H2<'a> {
        H2 {
            order,
            peer: Settings::default(),
            is_ready: false,
            is_draining: false,
            last_taken: frames::LARGEST,
            ended_by: None,
            next_stream: 1,
            under_way: 0,
            slots: Slots::default(),
            encoder: Encoder::new(order.indexed),
            heads: Heads::new(),
            incoming: Incoming::default(),
            window_out: FIRST_WINDOW.into(),
            window_in: Window::new(order.windows.connection()),
            reads: 0,
            unsent: 0,
            turn: 0,
            demands: 0,
            counts: Counts::default(),
        }
    }

    /// The connection is established. Appends what must be written first. [`H2News::Ready`] follows when the server has
    /// sent its SETTINGS.
    pub fn open(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(frames::PREFACE);
        frames::push_settings(&self.order.settings(), output);
        let more = self.order.windows.connection() - FIRST_WINDOW;
        if 0 < more {
            frames::push_window_update(0, more, output);
        }
    }

    /// How many more exchanges may start now.
    #[must_use]
    pub fn room(&self) -> usize {
        if !self.is_ready || self.is_draining {
            return 0;
        }
        self.peer.allows(self.order.streams).saturating_sub(self.under_way)
    }

    /// The peer will send no more: what its last word says about the answers that are under way, or about a connection
    /// that never was one. Answers without a fault of their own are cut where they are ([`H2::progress`]).
    pub fn ended(&self) -> Result<(), H2Fault> {
        match self.ended_by {
            Some(code) => Err(H2Fault::Goaway(code)),
            None if !self.is_ready => Err(FrameFault::Preface.into()),
            None => Ok(()),
        }
    }

    /// The exchanges that have been submitted and have not ended.
    pub fn under_way(&self, found: &mut Vec<ExchangeId>) {
        found.extend(self.slots.iter().map(|slot| slot.exchange));
    }

    /// How far the answer to an exchange has come.
    #[must_use]
    pub fn progress(&self, exchange: ExchangeId) -> Progress {
        self.find(exchange).map_or(Progress::Idle, Slot::progress)
    }

    /// Gives up one exchange; the others go on.
    pub fn abandon(&mut self, exchange: ExchangeId, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        if let Some(stream) = self.find(exchange).map(|slot| slot.stream) {
            self.reset_stream(stream, ErrorCode::Cancel, news, output);
            self.vacate(stream);
        }
    }

    /// The connection is about to be closed by the client. Appends the last bytes to be written.
    pub fn close(&mut self, output: &mut Vec<u8>) {
        self.is_draining = true;
        frames::push_goaway(ErrorCode::NoError, output);
    }

    /// What the server announced, and what was counted.
    #[must_use]
    pub fn facts(&self) -> Facts {
        Facts {
            settings: self.is_ready.then_some(self.peer),
            counts: self.counts,
            heads: self.heads.read,
        }
    }

    /// Forgets the conversation: the next bytes are those of a new connection.
    pub fn reset(&mut self) {
        *self = H2::new(self.order);
    }

    fn find(&self, exchange: ExchangeId) -> Option<&Slot<'a>> {
        self.slots.iter().find(|slot| slot.exchange == exchange)
    }

    /// Ends a stream from our side.
    fn reset_stream(
        &mut self,
        stream: u32,
        code: ErrorCode,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) {
        frames::push_reset(stream, code, output);
        self.counts.resets_sent += 1;
        if RESETS_MAX < self.counts.resets_sent {
            self.drain(news);
        }
    }

    /// Takes a stream out of its slot.
    fn vacate(&mut self, stream: u32) {
        let Some(slot) = self.slots.open(stream) else { return };
        slot.stream = 0;
        self.unsent -= usize::from(0 < slot.unsent);
        self.under_way -= 1;
    }

    fn drain(&mut self, news: &mut Vec<H2News>) {
        if !std::mem::replace(&mut self.is_draining, true) {
            news.push(H2News::Draining);
        }
    }
}

#[cfg(test)]
mod tests;
