//! All connections of a lane that speak TLS: what comes from the engine below, and what the lane gets of it.

use tls::rustls::{CommonState, Error};
use tls::{Client, Connector, HTTP_1_1, Terms, TlsFault};

use super::line::{Line, Next, State, Taken};
use crate::Nanos;
use crate::engine::{Break, Conn, Event};
use crate::security::SecurityLog;

/// A handshake has no more octets than this: certificates are the largest part of it.
const HANDSHAKE_MAX: usize = 256 << 10;
/// After a handshake no more octets than this come without a byte of data among them.
const WITHOUT_DATA_MAX: usize = 1 << 20;

pub(super) struct TlsConnections {
    connector: Connector,
    alpn: String,
    log: SecurityLog,
    pub(super) lines: Vec<Line>,
    /// TlsConnections with something to be written before the lane sleeps.
    pub(super) to_flush: Vec<Conn>,
    /// TlsConnections that the kernel takes bytes from again.
    pub(super) writable: Vec<Conn>,
    /// TlsConnections that broke while something was written on them.
    pub(super) broken: Vec<(Conn, Break)>,
    /// Records that have just come; empty in between.
    received: Vec<u8>,
}

impl TlsConnections {
    pub(super) fn new(client: &Client, log: SecurityLog) -> TlsConnections {
        TlsConnections {
            connector: client.connector(),
            alpn: client.order().offer.alpn.clone(),
            log,
            lines: Vec::new(),
            to_flush: Vec::new(),
            writable: Vec::new(),
            broken: Vec::new(),
            received: Vec::new(),
        }
    }

    pub(super) fn open(&mut self, conn: Conn) {
        if self.lines.len() <= conn as usize {
            self.lines.resize_with(conn as usize + 1, Line::default);
        }
        self.lines[conn as usize].state = State::Connecting;
    }

    /// Empties a place; `sealed` gets the last message of its connection.
    pub(super) fn close(&mut self, conn: Conn, sealed: &mut Vec<u8>) {
        let line = &mut self.lines[conn as usize];
        line.seal_close(sealed);
        if std::mem::take(line).is_to_be_flushed {
            self.to_flush.retain(|other| *other != conn);
        }
        self.broken.retain(|(other, _)| *other != conn);
    }

    pub(super) fn break_later(&mut self, conn: Conn, cause: Break) {
        let line = &mut self.lines[conn as usize];
        let cause = of_break(line.state, cause);
        (line.state, line.unsent) = (State::Over, Vec::new());
        self.broken.push((conn, cause));
    }

    pub(super) fn handle(
        &mut self,
        conn: Conn,
        event: Event<'_>,
        at: Nanos,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        let line = &mut self.lines[conn as usize];
        match (line.state, event) {
            (State::Vacant | State::Over, _) | (State::Ended, Event::Ended) => {}
            (_, Event::Connected) => {
                deliver(conn, Event::Reached, at);
                self.begin(conn, at, deliver);
            }
            (_, Event::Bytes(bytes)) => self.receive(conn, bytes, at, deliver),
            (_, Event::Writable) => self.writable.push(conn),
            (State::Handshaking, Event::Ended) => {
                self.fail(conn, TlsFault::Closed, "", at, deliver);
            }
            // RFC 8446, 6.1: without the closing message, what came may have been cut.
            (_, Event::Ended) if line.has_received => {
                self.fail(conn, TlsFault::Cut, "", at, deliver);
            }
            (_, Event::Ended) => {
                line.state = State::Over;
                deliver(conn, Event::Ended, at);
            }
            (state, Event::Broken(cause)) => {
                line.state = State::Over;
                deliver(conn, Event::Broken(of_break(state, cause)), at);
            }
            (_, Event::Reached) => {}
        }
    }

    /// TCP is connected: the client speaks first.
    fn begin(&mut self, conn: Conn, at: Nanos, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) {
        let line = &mut self.lines[conn as usize];
        match self.connector.connect() {
            Ok((tls, resumes)) => {
                (line.tls, line.is_meant_to_resume) = (Some(Box::new(tls)), resumes);
                (line.state, line.reached) = (State::Handshaking, at);
                self.receive(conn, &[], at, deliver);
            }
            Err(error) => {
                let says = tls::reason(&error, b"", &self.alpn);
                self.fail(conn, TlsFault::Protocol, &says, at, deliver);
            }
        }
    }

    fn receive(
        &mut self,
        conn: Conn,
        bytes: &[u8],
        at: Nanos,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        let line = &mut self.lines[conn as usize];
        let Some(tls) = &mut line.tls else { return };
        let was_cut = !line.cut.is_empty();
        let mut received = std::mem::take(if was_cut { &mut line.cut } else { &mut self.received });
        received.extend_from_slice(bytes);
        // What comes with the end of the handshake is for a lane that knows of it.
        let (is_open, mut early) = (line.state == State::Open, Vec::new());
        let (unsent_before, mut has_data) = (line.unsent.len(), false);
        let Taken { used, outcome } =
            Line::take(tls, &mut received, &mut line.unsent, &mut |plain| {
                has_data = true;
                match is_open {
                    true => deliver(conn, Event::Bytes(plain), at),
                    false => early.extend_from_slice(plain),
                }
            });
        line.has_received |= has_data;
        line.without_data = if has_data { 0 } else { line.without_data + bytes.len() };
        let tickets = tls.tls13_tickets_received();
        if line.tickets < tickets {
            self.log.tickets(tickets - line.tickets);
            line.tickets = tickets;
        }
        if unsent_before < line.unsent.len() && !line.is_full {
            self.flush_soon(conn);
        }
        match outcome {
            Err(error) => self.fail_by(conn, &error, &received, at, deliver),
            Ok(_) if self.is_flood(conn) => self.fail(conn, TlsFault::Flood, "", at, deliver),
            Ok(next) => self.go_on(conn, next, &early, at, deliver),
        }
        received.drain(..used);
        let line = &mut self.lines[conn as usize];
        if was_cut && !received.is_empty() {
            line.cut = received;
        } else if !was_cut {
            line.cut.extend_from_slice(&received);
            received.clear();
            self.received = received;
        }
    }

    fn go_on(
        &mut self,
        conn: Conn,
        next: Next,
        early: &[u8],
        at: Nanos,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        if self.lines[conn as usize].state == State::Handshaking && next != Next::Handshake {
            if !self.finish_handshake(conn, at, deliver) {
                return;
            }
            if !early.is_empty() {
                deliver(conn, Event::Bytes(early), at);
            }
        }
        if next == Next::End {
            self.lines[conn as usize].state = State::Ended;
            deliver(conn, Event::Ended, at);
        }
    }

    /// The handshake is done; returns whether the connection is of use.
    fn finish_handshake(
        &mut self,
        conn: Conn,
        at: Nanos,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) -> bool {
        let line = &mut self.lines[conn as usize];
        let Some(tls) = &line.tls else { return false };
        let state: &CommonState = tls;
        let terms = Terms::of(state);
        // RFC 7301, 3.2: a server that knows no ALPN says nothing, and then means HTTP/1.1.
        let is_agreed = match &terms.alpn {
            Some(name) => name == self.alpn.as_bytes(),
            None => self.alpn == HTTP_1_1,
        };
        if !is_agreed {
            let says = tls::alpn_reason(&self.alpn, terms.alpn.is_none());
            self.fail(conn, TlsFault::Alpn, &says, at, deliver);
            return false;
        }
        let chain = state.peer_certificates().unwrap_or_default();
        self.log.handshake(&terms, chain, at - line.reached, line.is_meant_to_resume);
        line.state = State::Open;
        deliver(conn, Event::Connected, at);
        true
    }

    fn is_flood(&self, conn: Conn) -> bool {
        let line = &self.lines[conn as usize];
        let most = if line.state == State::Handshaking { HANDSHAKE_MAX } else { WITHOUT_DATA_MAX };
        most < line.without_data
    }

    fn fail_by(
        &mut self,
        conn: Conn,
        error: &Error,
        received: &[u8],
        at: Nanos,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        // Once a server has chosen the version, what came before was TLS.
        let tls = self.lines[conn as usize].tls.as_ref();
        let is_begun = tls.is_some_and(|tls| tls.protocol_version().is_some());
        let says = tls::reason(error, if is_begun { &[] } else { received }, &self.alpn);
        self.fail(conn, tls::fault(error), &says, at, deliver);
    }

    /// Ends a connection; the alert that tells the server why leaves when the lane closes it.
    fn fail(
        &mut self,
        conn: Conn,
        fault: TlsFault,
        reason: &str,
        at: Nanos,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        // Whether a cut costs an answer is known to the lane alone, which counts it then.
        if fault != TlsFault::Cut {
            self.log.failed(fault, reason);
        }
        self.lines[conn as usize].state = State::Over;
        deliver(conn, Event::Broken(Break::Tls(fault)), at);
    }

    fn flush_soon(&mut self, conn: Conn) {
        let line = &mut self.lines[conn as usize];
        if !std::mem::replace(&mut line.is_to_be_flushed, true) {
            self.to_flush.push(conn);
        }
    }
}

/// A connection that breaks within the handshake never carried a request.
fn of_break(state: State, cause: Break) -> Break {
    match (state, cause) {
        (State::Handshaking, Break::Reset) => Break::Tls(TlsFault::Closed),
        (_, cause) => cause,
    }
}
