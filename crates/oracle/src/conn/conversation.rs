//! A connection that has become a WebSocket.

use std::mem;

use super::traffic::Read;
use super::{Conn, GONE, Phase, REST, Stepped, TurnEnd};
use crate::socket::Socket;
use crate::state::{ThreadState, now_ns};

impl Conn {
    /// Writes what is due, and answers what was received.
    pub(super) fn converse(&mut self, state: &mut ThreadState) -> Stepped {
        let now_ns = now_ns();
        if let Some(thaw_ns) = state.shared.thaw_ns(now_ns) {
            self.wake_at(thaw_ns, state);
            return REST;
        }
        let Phase::Conversing(mut socket) = mem::replace(&mut self.phase, Phase::Reading) else {
            return Stepped::Further;
        };
        if socket.is_over() {
            // RFC 6455, 7.1.1: the server is the side that closes.
            return self.half_close(state, now_ns);
        }
        let due_ns = socket.beat(state, now_ns);
        let outcome = self.read_from(&mut socket, state);
        let is_over = socket.is_over();
        self.phase = Phase::Conversing(socket);
        if let Stepped::Stop(TurnEnd::Gone) = self.send(state, TurnEnd::Rest) {
            return GONE;
        }
        match outcome {
            Read::End => GONE,
            Read::Something => Stepped::Further,
            Read::Much => Stepped::Stop(TurnEnd::Again),
            Read::Nothing if is_over || !self.unsent.is_empty() => Stepped::Further,
            Read::Nothing => {
                due_ns.into_iter().for_each(|due_ns| self.wake_at(due_ns, state));
                REST
            }
        }
    }

    fn read_from(&mut self, socket: &mut Socket, state: &mut ThreadState) -> Read {
        if !self.unread.is_empty() {
            socket.take(mem::take(&mut self.unread).rest(), state);
            return Read::Something;
        }
        if !self.readable {
            return Read::Nothing;
        }
        self.read_some(state, |_, bytes, state| socket.take(bytes, state))
    }

    /// Whether the connection receives the room's messages.
    pub(crate) fn is_in_room(&self) -> bool {
        matches!(&self.phase, Phase::Conversing(socket) if socket.is_in_room())
    }

    /// A whole frame for all in the room. A connection that has not read the previous one does not get it.
    pub(crate) fn push_broadcast(&mut self, frame: &[u8], state: &mut ThreadState) -> TurnEnd {
        if !self.is_in_room() {
            return TurnEnd::Rest;
        }
        if !self.unsent.is_empty() {
            state.books.spread_skipped += 1;
            return TurnEnd::Rest;
        }
        state.books.spread += 1;
        state.out.extend_from_slice(frame);
        match self.send(state, TurnEnd::Rest) {
            Stepped::Stop(end) => end,
            // An edge reports when there is room for the rest; but there may be room already.
            Stepped::Further if !self.unsent.is_empty() => TurnEnd::Again,
            Stepped::Further => TurnEnd::Rest,
        }
    }
}
