//! From a connection that was begun to one that carries requests: TCP's handshake, and that of TLS if there is one.

use super::pool::Pool;
use super::slot::State;
use crate::Nanos;
use crate::engine::Conn;
use crate::failure::Failure;
use tls::TlsFault;
use wire::Session;

impl<'a, S: Session<'a>> Pool<'a, S> {
    pub(super) fn handle_reached(&mut self, conn: Conn, at: Nanos) {
        self.handshaking += 1;
        self.slots[conn as usize].is_reached = true;
        self.note_connect(conn, at);
    }

    pub(super) fn handle_connected(&mut self, conn: Conn, at: Nanos) {
        if !self.end_handshake(conn) {
            self.note_connect(conn, at);
        }
        self.recorder.window().connections.established += 1;
        self.output.clear();
        let slot = &mut self.slots[conn as usize];
        slot.state = State::Opening;
        // Until it is ready, this is since when it could be.
        slot.room_since = at;
        slot.session.open(&mut self.news, &mut self.output);
        self.owe_output(conn);
        self.handle_news(conn, at, &[]);
    }

    fn note_connect(&mut self, conn: Conn, at: Nanos) {
        let begun = self.slots[conn as usize].begun;
        self.recorder.window().connect.record(at - begun);
    }

    /// The handshake is over, well or badly; returns whether there was one.
    pub(super) fn end_handshake(&mut self, conn: Conn) -> bool {
        let was_reached = std::mem::take(&mut self.slots[conn as usize].is_reached);
        self.handshaking -= usize::from(was_reached);
        was_reached
    }
}

/// What a connection has not done in time.
pub(crate) fn unconnected(is_reached: bool) -> Failure {
    if is_reached { Failure::Tls(TlsFault::Timeout) } else { Failure::ConnectTimeout }
}
