//! One place for a connection, and the exchange that it carries.

use wire::Values;

use crate::Nanos;
use crate::supply::Kind;

/// One request and its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) intended: Nanos,
    /// When its session was due; for all other loads, `intended`.
    pub(crate) due: Nanos,
    /// `UNSENT` before it left.
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) values: Values,
    pub(super) is_retry: bool,
}

pub(super) const UNSENT: Nanos = Nanos::MAX;

impl Exchange {
    pub(crate) fn is_sent(&self) -> bool {
        self.sent != UNSENT
    }

    pub(crate) fn has_begun_to_be_answered(&self) -> bool {
        self.first_byte != UNSENT
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Vacant,
    Connecting,
    /// Established; it may have an exchange to send, or wait for one.
    Free,
    /// Its exchange has left.
    Busy,
    /// To be closed in this turn.
    Leaving,
}

/// One place for a connection.
pub(super) struct Slot<'a, S> {
    pub(super) session: S,
    pub(super) state: State,
    pub(super) exchange: Option<Exchange>,
    pub(super) unsent: Unsent<'a>,
    pub(super) begun: Nanos,
    /// TCP is connected, and TLS is not.
    pub(super) is_reached: bool,
    pub(super) free_since: Nanos,
    pub(super) deadline: Nanos,
    /// When the wheel has this connection looked at; never, if it is not on the wheel.
    pub(super) looked_at: Nanos,
    pub(super) is_on_agenda: bool,
    /// Octets that have come of the answer under way.
    pub(super) received: u64,
    /// Answers that this connection has carried.
    pub(super) carried: u32,
    /// Calls that its session has yet to make, the current one included.
    pub(super) calls: u32,
    /// When its session was due.
    pub(super) arrived: Nanos,
}

impl<S> Slot<'_, S> {
    /// The connection was opened for the exchange that it carries now: waiting for it is connecting.
    pub(super) fn has_own_connection(&self, kind: Kind) -> bool {
        self.carried == 0 && kind != Kind::Open
    }
}

/// What the kernel has not taken yet of a request.
pub(super) enum Unsent<'a> {
    Nothing,
    Own(Vec<u8>),
    /// The rest of a request that is always the same is not copied.
    Constant(&'a [u8]),
}

impl Unsent<'_> {
    pub(super) fn advance(&mut self, len: usize) {
        match self {
            Unsent::Nothing => {}
            Unsent::Own(bytes) => drop(bytes.drain(..len)),
            Unsent::Constant(bytes) => *bytes = &bytes[len..],
        }
        if self.is_empty() {
            *self = Unsent::Nothing;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Unsent::Nothing => true,
            Unsent::Own(bytes) => bytes.is_empty(),
            Unsent::Constant(bytes) => bytes.is_empty(),
        }
    }
}
