//! A connection that has become a WebSocket.

use std::mem;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::{Conn, Fate, GONE, Phase, REST, Stepped};
use crate::desk::{BUFFER, Desk, now_ns};
use crate::socket::Socket;

/// How much the peer has sent.
enum Heard {
    Nothing,
    Something,
    /// As much as one turn takes; there may be more.
    Much,
    /// The peer is gone.
    End,
}

impl Conn {
    /// Writes what is due, and answers what was received.
    pub(super) fn converse(&mut self, desk: &mut Desk) -> Stepped {
        let now_ns = now_ns();
        if let Some(thaw_ns) = desk.shared.thaw_ns(now_ns) {
            self.wake_at(thaw_ns, desk);
            return REST;
        }
        let Phase::Conversing(mut socket) = mem::replace(&mut self.phase, Phase::Reading) else {
            return Stepped::Further;
        };
        if socket.is_over() {
            // RFC 6455, 7.1.1: the server is the side that closes.
            return self.half_close(desk, now_ns);
        }
        let due_ns = socket.beat(desk, now_ns);
        let heard = self.hear(&mut socket, desk);
        let is_over = socket.is_over();
        self.phase = Phase::Conversing(socket);
        if let Stepped::Stop(Fate::Gone) = self.send(desk, Fate::Rest) {
            return GONE;
        }
        match heard {
            Heard::End => GONE,
            Heard::Something => Stepped::Further,
            Heard::Much => Stepped::Stop(Fate::Again),
            Heard::Nothing if is_over || !self.unsent.is_empty() => Stepped::Further,
            Heard::Nothing => {
                due_ns.into_iter().for_each(|due_ns| self.wake_at(due_ns, desk));
                REST
            }
        }
    }

    fn hear(&mut self, socket: &mut Socket, desk: &mut Desk) -> Heard {
        if !self.unread.is_empty() {
            socket.take(mem::take(&mut self.unread).rest(), desk);
            return Heard::Something;
        }
        if !self.readable {
            return Heard::Nothing;
        }
        let mut buffer = mem::take(&mut desk.buffer);
        let heard = match recv(&self.socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((0, _)) => Heard::End,
            Ok((count, _)) => {
                desk.books.bytes_in += count as u64;
                self.readable = count == BUFFER || self.peer_done;
                socket.take(&buffer[..count], desk);
                if count == BUFFER { Heard::Much } else { Heard::Something }
            }
            Err(Errno::AGAIN) => {
                self.readable = false;
                Heard::Nothing
            }
            Err(Errno::INTR) => Heard::Something,
            Err(_) => Heard::End,
        };
        desk.buffer = buffer;
        heard
    }

    /// Whether the connection receives the room's messages.
    pub(crate) fn is_in_room(&self) -> bool {
        matches!(&self.phase, Phase::Conversing(socket) if socket.is_in_room())
    }

    /// A whole frame for all in the room. A connection that has not read the previous one does not get it.
    pub(crate) fn overhear(&mut self, frame: &[u8], desk: &mut Desk) -> Fate {
        if !self.is_in_room() {
            return Fate::Rest;
        }
        if !self.unsent.is_empty() {
            desk.books.spread_skipped += 1;
            return Fate::Rest;
        }
        desk.books.spread += 1;
        desk.out.extend_from_slice(frame);
        match self.send(desk, Fate::Rest) {
            Stepped::Stop(fate) => fate,
            // An edge reports when there is room for the rest; but there may be room already.
            Stepped::Further if !self.unsent.is_empty() => Fate::Again,
            Stepped::Further => Fate::Rest,
        }
    }
}
