//! Moves bytes between connections and the kernel, and keeps the time. Decides nothing.

mod epoll;
#[cfg(test)]
mod fixture;
mod pacer;
mod tls;
mod wait;

pub(crate) use self::tls::Tls;
#[cfg(test)]
pub(crate) use self::tls::test_server;
pub(crate) use epoll::{Epoll, Origin};
#[cfg(test)]
pub(crate) use fixture::{Act, Log, Peer, Seen, Simulated, open_and_most, written};

use ::tls::TlsFault;

use crate::Nanos;
use crate::turns::Rest;

/// A place for a connection: the lane numbers them from 0.
pub(crate) type Conn = u32;

/// What happened on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event<'b> {
    /// TCP is connected, and TLS is not: `Connected` or `Broken` follows.
    Reached,
    Connected,
    /// The bytes still belong to the engine.
    Bytes(&'b [u8]),
    /// The kernel takes bytes again, after it took fewer than it was given.
    Writable,
    /// The peer sends no more.
    Ended,
    Broken(Break),
}

/// Why a connection ended, or was never established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    Refused,
    Reset,
    TimedOut,
    Unreachable,
    NoPorts,
    NoFiles,
    Tls(TlsFault),
}

/// The boundary between lanes and the kernel. Its second implementation is a simulated network.
pub(crate) trait Engine {
    fn now(&self) -> Nanos;

    /// Begins a connection in an empty place; `Connected` or `Broken` follows.
    fn open(&mut self, conn: Conn) -> Result<(), Break>;

    /// Empties a place. No event of the old connection follows.
    fn close(&mut self, conn: Conn);

    /// Writes what the kernel will take; if that is not all, `Writable` follows.
    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break>;

    /// Waits until `deadline` or the first event; returns when the wait began and ended. `in_flight` answers are
    /// awaited.
    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept;

    /// Hands over what has come, each event with the instant at which the engine had it; returns whether anything had
    /// come.
    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool;

    /// Time spent waiting, asleep or polling in vain, and the polling part of it.
    fn idle(&self) -> Idle;

    /// CPU time of this thread.
    fn cpu(&self) -> Nanos;

    /// Other sides had their turns since `passed_at`, and the clock of this one stood still. Returns when, on this
    /// clock, the next turn began.
    fn rested(&mut self, passed_at: Nanos, _rest: Rest) -> Nanos {
        // A simulated clock is the side's own anyway.
        passed_at
    }
}

/// A sleep, with its real beginning and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slept {
    pub(crate) from: Nanos,
    pub(crate) until: Nanos,
}

/// Time in which there was nothing to do. `polled <= waited`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Idle {
    pub(crate) waited: Nanos,
    pub(crate) polled: Nanos,
}
