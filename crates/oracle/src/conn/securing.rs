//! A connection's beginning: a fault that strikes at once, the handshake of TLS, or nothing.

use rustix::fd::OwnedFd;
use rustls::HandshakeKind;

use super::{Conn, GONE, Phase, REST, Stepped, TurnEnd};
use crate::HttpVersions;
use crate::faults::{Fault, Start};
use crate::h2::Multiplex;
use crate::line::Line;
use crate::play::Play;
use crate::state::{ThreadState, now_ns};
use crate::tls::Shaken;

/// How long a peer may take for the handshake.
const HANDSHAKE_NS: u64 = 60_000_000_000;

/// How a connection begins.
pub(super) fn begin(socket: OwnedFd, state: &mut ThreadState) -> (Line, Phase) {
    let bare = |socket| Line { socket, tls: None };
    let rate = state.config().fault_rate;
    let of_connections = |fault: &Fault| matches!(fault.start, Start::Accept | Start::Handshake);
    let fault = state.config().fault.filter(of_connections);
    let struck = fault.filter(|_| state.dice.happens(rate));
    state.books.faults += u64::from(struck.is_some());
    if let Some(fault) = struck.filter(|fault| fault.start == Start::Accept) {
        return (bare(socket), Phase::Playing(Box::new(Play::fault(&fault, None, 0))));
    }
    match &state.shared.secured {
        Some(secured) => match secured.begin(struck.is_some()) {
            Some(tls) => (Line { socket, tls: Some(tls) }, Phase::Securing),
            None => (bare(socket), Phase::Draining { until_ns: 0 }),
        },
        None if state.config().http == HttpVersions::Http2 => {
            let line = bare(socket);
            let phase = multiplexing(&line, state);
            (line, phase)
        }
        None => (bare(socket), Phase::Reading),
    }
}

/// The connection speaks HTTP/2 from here on.
pub(super) fn multiplexing(line: &Line, state: &mut ThreadState) -> Phase {
    let peer_port = if state.config().log_streams { line.peer_port() } else { 0 };
    Phase::Multiplexing(Box::new(Multiplex::begin(state, peer_port)))
}

impl Conn {
    /// Goes on with the handshake.
    pub(super) fn secure(&mut self, state: &mut ThreadState) -> Stepped {
        let now_ns = now_ns();
        if let Some(thaw_ns) = state.shared.thaw_ns(now_ns) {
            self.wake_at(thaw_ns, state);
            return REST;
        }
        if self.began_ns == 0 {
            self.began_ns = now_ns;
            self.wake_at(now_ns + HANDSHAKE_NS, state);
        }
        let delay = state.shared.secured.as_ref().and_then(|secured| secured.delay);
        let Some(tls) = &mut self.line.tls else { return GONE };
        let shaken = tls.shake(&self.line.socket, delay, state, now_ns);
        let speaks_http2 = tls.speaks_http2();
        match shaken {
            Shaken::Wait if self.peer_done || self.began_ns + HANDSHAKE_NS <= now_ns => {
                state.books.handshakes_failed += 1;
                GONE
            }
            Shaken::Wait => REST,
            Shaken::At(due_ns) => {
                self.wake_at(due_ns, state);
                REST
            }
            Shaken::Again => Stepped::Stop(TurnEnd::Again),
            Shaken::Done(kind) => {
                match kind {
                    HandshakeKind::Resumed => state.books.handshakes_resumed += 1,
                    HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest => {
                        state.books.handshakes_full += 1;
                    }
                }
                self.began_ns = 0;
                // The session may hold what came with the handshake's last message.
                self.readable = true;
                self.phase =
                    if speaks_http2 { multiplexing(&self.line, state) } else { Phase::Reading };
                Stepped::Further
            }
            Shaken::Instead(steps) => {
                self.line.tls = None;
                self.phase = Phase::Playing(Box::new(Play::bare(steps)));
                Stepped::Further
            }
            Shaken::Failed => {
                state.books.handshakes_failed += 1;
                self.line.tls = None;
                self.half_close(state, now_ns)
            }
            Shaken::Gone => {
                state.books.handshakes_failed += 1;
                GONE
            }
        }
    }
}
