//! HTTP/2, the client's side of one connection: many exchanges at once, each on a stream of its own.
//!
//! ```text
//!  submit ──► Requested ──► Head ──► Body ──► Answered        Refused: may be sent again
//!                 └───────────┴────────┴────► Failed          the others go on
//! ```
//!
//! Of each stream there is a slot; the connection has the tables of fields, the windows and the frame that has come in
//! part. Requests' bodies wait for the server's windows where they are: a slot knows how far its body was sent.

mod account;
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
mod session;
mod settings;
mod slot;
mod stream;
mod window;

use crate::forms::Forms;
use crate::{ExchangeId, News};

pub use account::Account;
pub use facts::{Counts, Facts, Ledger, SETTINGS_MAX};
pub use fault::{ErrorCode, FrameFault, H2Fault};
pub use frames::Kind as FrameKind;
pub use heads::HeadCounts;
pub use hpack::HpackFault;
pub use request::Scheme;
pub use settings::{H2Order, Settings, Windows};

pub(crate) use hpack::{Prepared, assign_places};
pub(crate) use request::fields;

use account::End;
use heads::Heads;
use hpack::Encoder;
use receive::Incoming;
use slot::{Slot, Slots};
use window::Window;

pub(crate) type H2News = News<H2Fault>;

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
    /// The server has broken the rules, and has been told so.
    is_broken: bool,
    /// The server has announced the end of the connection.
    is_leaving: bool,
    /// No stream beyond this one is answered.
    last_taken: u32,
    /// Requests are sent before the server has introduced itself.
    is_eager: bool,
    /// All of each body is reported, also of right answers.
    is_watched: bool,
    /// The code of the server's GOAWAY, if it is an error.
    ended_by: Option<ErrorCode>,
    /// What broke the connection, or why the server ends it.
    end: Option<Box<End>>,
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
    /// Streams that we ended, because they were given up or broken.
    resets_sent: u32,
    /// The server used up a window of ours, and has sent no DATA since.
    is_starved: bool,
    ledger: Ledger,
    forms: Option<Forms>,
}

impl<'a> H2<'a> {
    /// A connection on which nothing has been sent. It writes what it sees of the server into the ledger.
    #[must_use]
    pub fn new(order: &'a H2Order, ledger: Ledger) -> H2<'a> {
        H2 {
            order,
            peer: Settings::default(),
            is_ready: false,
            is_draining: false,
            is_broken: false,
            is_leaving: false,
            is_eager: false,
            is_watched: false,
            last_taken: frames::LARGEST,
            ended_by: None,
            end: None,
            next_stream: 1,
            under_way: 0,
            slots: Slots::default(),
            encoder: Encoder::new(order.indexed),
            heads: Heads::new(ledger.clone()),
            incoming: Incoming::default(),
            window_out: frames::FIRST_WINDOW.into(),
            window_in: Window::new(order.windows.connection()),
            reads: 0,
            unsent: 0,
            turn: 0,
            demands: 0,
            resets_sent: 0,
            is_starved: false,
            ledger,
            forms: None,
        }
    }

    /// A connection that sends its requests at once, with the preface, as clients do for which one request is all.
    #[must_use]
    pub fn eager(order: &'a H2Order, ledger: Ledger) -> H2<'a> {
        H2 { is_eager: true, ..H2::new(order, ledger) }
    }

    /// One of many connections that learn together which forms right bodies have, if any are learnt.
    #[must_use]
    pub fn learning(self, forms: Option<Forms>) -> H2<'a> {
        H2 { forms, ..self }
    }

    /// An eager connection for those that show answers: all of each body is reported as a part, also of right answers.
    #[must_use]
    pub fn watched(order: &'a H2Order, ledger: Ledger) -> H2<'a> {
        H2 { is_watched: true, ..H2::eager(order, ledger) }
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
        self.resets_sent += 1;
        self.ledger.count().resets_sent += 1;
        if RESETS_MAX < self.resets_sent {
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
