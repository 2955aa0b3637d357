//! Waiting for windows of HTTP/2: bodies of requests for the server's, and the server for ours. Few ever do.

use std::collections::HashMap;

use wire::{ExchangeId, Session};

use super::pool::Pool;
use crate::Nanos;
use crate::engine::Conn;

/// What waits, and since when.
#[derive(Debug, Default)]
pub(super) struct WindowWaits {
    /// Bodies, by the places of their exchanges.
    bodies: HashMap<u32, Nanos>,
    /// Connections on which the server has used up a window of ours.
    servers: HashMap<Conn, Nanos>,
}

impl WindowWaits {
    pub(super) fn stalled(&mut self, id: ExchangeId, at: Nanos) {
        self.bodies.insert(id.place, at);
    }

    pub(super) fn is_stalled(&self, id: ExchangeId) -> bool {
        self.bodies.contains_key(&id.place)
    }

    pub(super) fn starved(&mut self, conn: Conn, at: Nanos) {
        self.servers.insert(conn, at);
    }
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// The body of a request has waited for a window of the server's; or it has ended without having waited.
    pub(super) fn end_wait(&mut self, id: ExchangeId, at: Nanos) {
        if S::SHARED
            && !self.windows.bodies.is_empty()
            && self.slab.get(id).is_some()
            && let Some(since) = self.windows.bodies.remove(&id.place)
        {
            let length = self.recorder.measured_part(since, at);
            self.recorder.http2().traffic.peer_window.add(length);
        }
    }

    /// The server has waited for a window of ours; or its connection has ended.
    pub(super) fn end_starving(&mut self, conn: Conn, at: Nanos) {
        if let Some(since) = self.windows.servers.remove(&conn) {
            let length = self.recorder.measured_part(since, at);
            self.recorder.http2().traffic.own_window.add(length);
        }
    }

    /// The run is over: what still waits has waited until now.
    pub(super) fn end_all_waits(&mut self, now: Nanos) {
        let (bodies, servers) = (&mut self.windows.bodies, &mut self.windows.servers);
        let bodies: Vec<Nanos> = bodies.drain().map(|(_, since)| since).collect();
        let servers: Vec<Nanos> = servers.drain().map(|(_, since)| since).collect();
        for since in bodies {
            let length = self.recorder.measured_part(since, now);
            self.recorder.http2().traffic.peer_window.add(length);
        }
        for since in servers {
            let length = self.recorder.measured_part(since, now);
            self.recorder.http2().traffic.own_window.add(length);
        }
    }
}
