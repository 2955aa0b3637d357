//! One place for a connection, and what waits for it.

use wire::{ExchangeId, RequestForm, Values};

use super::slab::Queue;
use crate::Nanos;
use crate::supply::Kind;

/// One request and its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) intended: Nanos,
    /// When its session was due; for all other loads, `intended`.
    pub(crate) due: Nanos,
    /// Since when only the generator kept it from leaving; before it has left, that is at least this.
    pub(crate) ready: Nanos,
    /// How long the generator stalled after it was due, though a place was free.
    pub(super) stalled: Nanos,
    /// `UNSENT` before it left.
    pub(crate) sent: Nanos,
    /// That of an interim answer, until the answer itself begins.
    pub(crate) first_byte: Nanos,
    /// Only interim answers have come.
    pub(super) is_interim: bool,
    pub(crate) values: Values,
    /// How it was written, if requests are varied and it has left.
    pub(crate) form: Option<RequestForm>,
    /// How often it was sent in vain, if that is counted.
    pub(super) tries: u8,
    /// It has been sent, or bound to a connection that was of no use, before.
    is_again: bool,
}

pub(super) const UNSENT: Nanos = Nanos::MAX;

impl Exchange {
    pub(super) fn new(intended: Nanos, due: Nanos, values: Values) -> Exchange {
        Exchange {
            intended,
            due,
            ready: intended,
            stalled: 0,
            sent: UNSENT,
            first_byte: UNSENT,
            is_interim: false,
            values,
            form: None,
            tries: 0,
            is_again: false,
        }
    }

    /// It was sent in vain, or its connection was of no use, and goes out again from now on.
    pub(super) fn go_again(&mut self, at: Nanos) {
        (self.sent, self.first_byte, self.ready) = (UNSENT, UNSENT, at);
        (self.is_interim, self.is_again) = (false, true);
    }

    /// Its head is whole only now: its time counts from here.
    pub(super) fn is_whole(&mut self, at: Nanos) {
        (self.intended, self.ready, self.sent) = (at, at, at);
        self.is_again = true;
    }

    /// Whether its head leaves in two segments: no distribution has its times.
    pub(crate) fn is_in_segments(&self) -> bool {
        self.form == Some(RequestForm::Segments)
    }

    pub(crate) fn is_first_sending(&self) -> bool {
        !self.is_again
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.sent != UNSENT
    }

    /// Interim answers count.
    pub(super) fn has_received(&self) -> bool {
        self.first_byte != UNSENT
    }

    pub(crate) fn has_begun_to_be_answered(&self) -> bool {
        self.has_received() && !self.is_interim
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Vacant,
    Connecting,
    /// Established; the peer has not introduced itself, so no request may be sent yet.
    Opening,
    /// It may carry requests.
    Ready,
    /// It carries what is under way to its end, and nothing more. Another connection has taken its place.
    Draining,
    /// To be closed in this turn.
    Leaving,
}

/// One place for a connection.
pub(super) struct Slot<'a, S> {
    pub(super) session: S,
    pub(super) state: State,
    /// Exchanges that wait for this connection.
    pub(super) bound: Queue,
    pub(super) unsent: Option<Box<Unsent<'a>>>,
    pub(super) begun: Nanos,
    /// TCP is connected, and TLS is not.
    pub(super) is_reached: bool,
    /// Since when more exchanges could have been started on it.
    pub(super) room_since: Nanos,
    /// When the wheel has this connection looked at; never, if it is not on the wheel.
    pub(super) looked_at: Nanos,
    pub(super) is_on_agenda: bool,
    /// It is among the resting connections.
    pub(super) is_resting: bool,
    /// It had no room for another exchange when it was last filled.
    pub(super) is_full: bool,
    /// The kernel took fewer bytes than it was given, and has not asked for more.
    pub(super) is_choked: bool,
    /// Another connection has taken its place.
    pub(super) is_replaced: bool,
    /// The exchange of which only a first segment has left.
    pub(super) held_back: Option<ExchangeId>,
    /// Answers that this connection has carried.
    pub(super) carried: u32,
    /// Calls that its session has yet to make, the current one included.
    pub(super) calls: u32,
    /// When its session was due.
    pub(super) arrived: Nanos,
}

impl<S> Slot<'_, S> {
    pub(super) fn new(session: S) -> Self {
        Slot {
            session,
            state: State::Vacant,
            bound: Queue::default(),
            unsent: None,
            begun: 0,
            is_reached: false,
            room_since: 0,
            looked_at: Nanos::MAX,
            is_on_agenda: false,
            is_resting: false,
            is_full: false,
            is_choked: false,
            is_replaced: false,
            held_back: None,
            carried: 0,
            calls: 0,
            arrived: 0,
        }
    }

    /// The connection was opened for the exchange that it carries now: waiting for it is connecting.
    pub(super) fn has_own_connection(&self, kind: Kind) -> bool {
        self.carried == 0 && kind != Kind::Open
    }

    /// Whether the connection is not established, or not ready for requests.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.state, State::Connecting | State::Opening)
    }
}

/// What the kernel has not taken yet. Boxed where it is kept: few connections have any.
pub(super) enum Unsent<'a> {
    Own(Vec<u8>),
    /// The rest of a request that is always the same is not copied.
    Constant(&'a [u8]),
}

impl Unsent<'_> {
    /// These bytes are to be sent after the others.
    pub(super) fn push(unsent: &mut Option<Box<Self>>, bytes: &[u8]) {
        match unsent.as_deref_mut() {
            None => *unsent = Some(Box::new(Unsent::Own(bytes.to_vec()))),
            Some(Unsent::Own(before)) => before.extend_from_slice(bytes),
            Some(Unsent::Constant(before)) => {
                *unsent = Some(Box::new(Unsent::Own([before, bytes].concat())));
            }
        }
    }
}
