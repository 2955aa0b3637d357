//! TLS between a lane and any engine: connected means that the handshake is done, and bytes are plaintext.
//!
//! `connections.rs` has all connections and takes in what comes; here is what needs the engine below.

mod connections;
mod line;
#[cfg(test)]
pub(crate) mod test_server;

use tls::Client;

use self::connections::TlsConnections;
use super::{Break, Conn, Engine, Event, Idle, Slept};
use crate::Nanos;
use crate::security::SecurityLog;
use crate::turns::Rest;

/// At most so much is encrypted before the kernel is asked to take it. A request that is larger becomes several writes.
const SEALED_AT_ONCE: usize = 64 << 10;

pub(crate) struct Tls<E> {
    engine: E,
    connections: TlsConnections,
    /// Ciphertext on its way out.
    sealed: Vec<u8>,
}

impl<E: Engine> Tls<E> {
    pub(crate) fn new(engine: E, client: &Client, log: SecurityLog) -> Tls<E> {
        Tls { engine, connections: TlsConnections::new(client, log), sealed: Vec::new() }
    }

    /// Writes what waits on a connection; returns whether all of it left. An error is handed over by the next `deliver`.
    fn flush(&mut self, conn: Conn) -> bool {
        let line = &mut self.connections.lines[conn as usize];
        if line.unsent.is_empty() {
            return true;
        }
        match self.engine.write(conn, &line.unsent) {
            Ok(len) if len == line.unsent.len() => {
                line.unsent = Vec::new();
                true
            }
            Ok(len) => {
                line.unsent.drain(..len);
                line.is_full = true;
                false
            }
            Err(cause) => {
                self.connections.break_later(conn, cause);
                false
            }
        }
    }

    /// Writes what the handshakes have to say. A client's last message waits for this, so that it leaves together with
    /// the first request.
    fn flush_handshakes(&mut self) {
        for conn in std::mem::take(&mut self.connections.to_flush) {
            self.connections.lines[conn as usize].is_to_be_flushed = false;
            let _ = self.flush(conn);
        }
    }
}

impl<E: Engine> Engine for Tls<E> {
    fn now(&self) -> Nanos {
        self.engine.now()
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        self.connections.open(conn);
        self.engine.open(conn)
    }

    fn close(&mut self, conn: Conn) {
        self.sealed.clear();
        self.connections.close(conn, &mut self.sealed);
        if !self.sealed.is_empty() {
            // The connection is closed whether the server takes the farewell or not.
            let _ = self.engine.write(conn, &self.sealed);
        }
        self.engine.close(conn);
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        let mut taken = 0;
        while taken < bytes.len() {
            let line = &mut self.connections.lines[conn as usize];
            if line.is_full {
                break;
            }
            let next = (taken + SEALED_AT_ONCE).min(bytes.len());
            self.sealed.clear();
            self.sealed.append(&mut line.unsent);
            line.seal(&bytes[taken..next], &mut self.sealed)?;
            taken = next;
            let written = self.engine.write(conn, &self.sealed)?;
            if written < self.sealed.len() {
                line.unsent.extend_from_slice(&self.sealed[written..]);
                line.is_full = true;
            }
        }
        let line = &mut self.connections.lines[conn as usize];
        line.owes_writable = taken < bytes.len();
        line.has_received = false;
        Ok(taken)
    }

    fn sleep(&mut self, deadline: Nanos, in_flight: usize) -> Slept {
        self.flush_handshakes();
        let deadline =
            if self.connections.broken.is_empty() { deadline } else { self.engine.now() };
        self.engine.sleep(deadline, in_flight)
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        let broken = std::mem::take(&mut self.connections.broken);
        let now = self.engine.now();
        for (conn, cause) in &broken {
            deliver(*conn, Event::Broken(*cause), now);
        }
        let connections = &mut self.connections;
        let any = self
            .engine
            .deliver(&mut |conn, event, at| connections.handle(conn, event, at, deliver));
        for conn in std::mem::take(&mut self.connections.writable) {
            self.connections.lines[conn as usize].is_full = false;
            let is_through = self.flush(conn);
            if is_through
                && std::mem::take(&mut self.connections.lines[conn as usize].owes_writable)
            {
                deliver(conn, Event::Writable, self.engine.now());
            }
        }
        any || !broken.is_empty()
    }

    fn idle(&self) -> Idle {
        self.engine.idle()
    }

    fn cpu(&self) -> Nanos {
        self.engine.cpu()
    }

    fn rested(&mut self, passed_at: Nanos, rest: Rest) -> Nanos {
        self.engine.rested(passed_at, rest)
    }
}
