//! A connection's life: bytes off the socket, requests out of bytes, answers back.
//!
//! ```text
//! Securing (TLS) ──► Reading, or Multiplexing (HTTP/2)
//!
//! Reading ──request──► answered at once ──► Reading
//!    │                 or Playing (delay, queue, beats, fault) ──► Reading
//!    │                 or Conversing (WebSocket) ──► Draining
//!    ├─ the preface of HTTP/2 ──► Multiplexing ──► Draining
//!    └─ the last answer is out ──► gone, or Draining until the peer has closed ──► gone
//! ```

mod conversation;
mod multiplexing;
mod requests;
mod securing;
mod traffic;

use std::mem;

use rustix::fd::OwnedFd;

use crate::h2::Multiplex;
use crate::instructions::Arrived;
use crate::intake::{Fed, Intake};
use crate::line::Line;
use crate::play::{End, Play, Turn};
use crate::request::{Refusal, Status};
use crate::socket::Socket;
use crate::state::{ThreadState, Token, now_ns};
use traffic::Read;

/// How long a peer may take to notice that the oracle has closed.
const DRAIN_NS: u64 = 5_000_000_000;
/// How long a peer may take to send a head, and a body.
const HEAD_NS: u64 = 60_000_000_000;
const BODY_NS: u64 = 240_000_000_000;
/// A write buffer that has grown beyond this is freed.
const OUT_KEPT: usize = 1 << 20;

/// One connection. Idle, it costs these bytes and nothing on the heap.
pub(crate) struct Conn {
    line: Line,
    token: Token,
    phase: Phase,
    /// Whether the socket may hold unread bytes.
    readable: bool,
    /// Whether the peer will send no more.
    peer_done: bool,
    /// Whether no further request will be read.
    ending: bool,
    /// Whether a whole request has come: what follows is no preface.
    has_requested: bool,
    /// Whether a timer will check the request that is arriving.
    watched: bool,
    /// Part of a request.
    intake: Option<Box<Intake>>,
    /// Whole requests, or parts of them, that wait for the previous one.
    unread: Pending,
    /// What the kernel has not taken.
    unsent: Pending,
    /// When the last bytes were read.
    arrived_ns: u64,
    /// When the request that is arriving began to arrive.
    began_ns: u64,
    /// The time of the timer that was last set.
    wake_ns: u64,
    /// Answers written to the buffer, but not yet to the kernel.
    owed: u32,
}

enum Phase {
    /// The handshake of TLS is under way.
    Securing,
    Reading,
    Playing(Box<Play>),
    /// It has become a WebSocket.
    Conversing(Box<Socket>),
    /// It speaks HTTP/2.
    Multiplexing(Box<Multiplex>),
    Draining {
        until_ns: u64,
    },
}

/// How a turn of a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    /// It lives, until something happens to it.
    Rest,
    /// It lives, and wants another turn when the other connections have had theirs.
    Again,
    Gone,
}

/// The result of one step of a turn.
enum Stepped {
    Further,
    Stop(TurnEnd),
}

const REST: Stepped = Stepped::Stop(TurnEnd::Rest);
const GONE: Stepped = Stepped::Stop(TurnEnd::Gone);

/// Bytes whose front has been dealt with.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    at: usize,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Frees the memory with the last byte.
    fn advance(&mut self, count: usize) {
        self.at += count;
        if self.at == self.bytes.len() {
            *self = Pending::default();
        }
    }
}

impl Conn {
    pub(crate) fn new(socket: OwnedFd, token: Token, state: &mut ThreadState) -> Conn {
        let (line, phase) = self::securing::begin(socket, state);
        Conn {
            line,
            token,
            phase,
            readable: false,
            peer_done: false,
            ending: false,
            has_requested: false,
            watched: false,
            intake: None,
            unread: Pending::default(),
            unsent: Pending::default(),
            arrived_ns: 0,
            began_ns: 0,
            wake_ns: 0,
            owed: 0,
        }
    }

    /// The kernel has bytes for this connection, or the peer has ended its direction.
    pub(crate) fn notice(&mut self, readable: bool, peer_done: bool) {
        self.readable |= readable || peer_done;
        self.peer_done |= peer_done;
    }

    /// A timer of this connection has fired.
    pub(crate) fn turn_by_timer(&mut self, state: &mut ThreadState, now_ns: u64) -> TurnEnd {
        match &self.phase {
            Phase::Draining { until_ns } if now_ns >= *until_ns => return TurnEnd::Gone,
            Phase::Reading if self.watched => self.lose_patience(state, now_ns),
            Phase::Securing
            | Phase::Reading
            | Phase::Playing(_)
            | Phase::Conversing(_)
            | Phase::Multiplexing(_)
            | Phase::Draining { .. } => {}
        }
        self.turn(state)
    }

    /// Does all there is to do now, within one fair turn.
    pub(crate) fn turn(&mut self, state: &mut ThreadState) -> TurnEnd {
        loop {
            match self.step(state) {
                Stepped::Further => {}
                Stepped::Stop(end) => return end,
            }
        }
    }

    fn step(&mut self, state: &mut ThreadState) -> Stepped {
        if !self.unsent.is_empty() && !matches!(self.phase, Phase::Multiplexing(_)) {
            return self.flush(state);
        }
        match &self.phase {
            Phase::Securing => self.secure(state),
            Phase::Multiplexing(_) => self.multiplex(state),
            Phase::Playing(_) => self.play(state),
            Phase::Conversing(_) => self.converse(state),
            Phase::Draining { .. } => self.drain(state),
            Phase::Reading if self.ending => self.end(state),
            Phase::Reading if !self.unread.is_empty() => self.resume(state),
            Phase::Reading if self.readable => self.read(state),
            Phase::Reading => REST,
        }
    }

    fn read(&mut self, state: &mut ThreadState) -> Stepped {
        let read = self.read_some(state, |conn, bytes, state| {
            let used = conn.digest(bytes, state);
            conn.unread.bytes.extend_from_slice(&bytes[used..]);
        });
        match read {
            Read::Nothing => Stepped::Further,
            Read::Something => self.send(state, TurnEnd::Rest),
            Read::Much => self.send(state, TurnEnd::Again),
            Read::End => GONE,
        }
    }

    /// Goes on with requests that were read while another was being answered.
    fn resume(&mut self, state: &mut ThreadState) -> Stepped {
        let mut unread = mem::take(&mut self.unread);
        let used = self.digest(unread.rest(), state);
        unread.advance(used);
        if !unread.is_empty() {
            self.unread = unread;
        }
        self.send(state, TurnEnd::Rest)
    }

    /// Takes requests from the front of `bytes` while they can be answered; returns how much it took.
    fn digest(&mut self, bytes: &[u8], state: &mut ThreadState) -> usize {
        let mut at = 0;
        while at < bytes.len() && self.takes_requests() {
            let mut intake = self.intake.take().map(|intake| *intake).unwrap_or_default();
            match intake.feed(&bytes[at..]) {
                Ok(Fed::Whole { head, head_bytes, content, used, is_split }) => {
                    at += used;
                    let arrived = Arrived { ns: self.arrived_ns, head: head_bytes, is_split };
                    self.request(&head, arrived, content, state);
                }
                Ok(Fed::More { send_continue }) => {
                    at = bytes.len();
                    if send_continue {
                        state.out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                    }
                    self.watch(state);
                    self.intake = Some(Box::new(intake));
                }
                Err(refusal) => {
                    if self.begins_http2(&intake, &bytes[at..], refusal.status, state) {
                        return bytes.len();
                    }
                    at = bytes.len();
                    self.refuse(refusal, state);
                }
            }
        }
        at
    }

    fn takes_requests(&self) -> bool {
        match &self.phase {
            Phase::Reading => !self.ending,
            Phase::Playing(play) => play.awaits(),
            Phase::Securing
            | Phase::Conversing(_)
            | Phase::Multiplexing(_)
            | Phase::Draining { .. } => false,
        }
    }

    fn play(&mut self, state: &mut ThreadState) -> Stepped {
        let Phase::Playing(mut play) = mem::replace(&mut self.phase, Phase::Reading) else {
            return Stepped::Further;
        };
        if self.peer_done && play.is_endless() {
            return GONE;
        }
        let now_ns = now_ns();
        let turn = match state.shared.thaw_ns(now_ns) {
            Some(thaw_ns) => Turn::Wait(thaw_ns),
            None => play.perform(state, now_ns),
        };
        let answered = mem::take(&mut play.answered);
        if play.faulty {
            state.books.answers += u64::from(answered);
        } else {
            self.owed += answered;
        }
        self.ending |= play.closes && turn == Turn::Ended;
        match play.socket {
            _ if turn != Turn::Ended => self.phase = Phase::Playing(play),
            Some(role) => {
                self.phase = Phase::Conversing(Box::new(Socket::begin(role, state, now_ns)));
            }
            None => {}
        }
        // What the performance wrote leaves first; what the kernel does not take comes before
        // the next step of the turn.
        if let Stepped::Stop(TurnEnd::Gone) = self.send(state, TurnEnd::Rest) {
            return GONE;
        }
        if self.unsent.is_empty() { self.follow(turn, state, now_ns) } else { Stepped::Further }
    }

    fn follow(&mut self, turn: Turn, state: &mut ThreadState, now_ns: u64) -> Stepped {
        match turn {
            Turn::Ended => Stepped::Further,
            Turn::Rest => REST,
            Turn::Yield => Stepped::Stop(TurnEnd::Again),
            // After the peer has gone, no further event will come.
            Turn::End(End::Silence) if self.peer_done => GONE,
            Turn::End(End::Silence) => REST,
            Turn::End(End::Fin) => {
                self.leave(state);
                self.half_close(state, now_ns)
            }
            Turn::End(End::Rst) => {
                self.line.reset_at_close();
                GONE
            }
            Turn::Wait(due_ns) => {
                self.wake_at(due_ns, state);
                REST
            }
            Turn::Read(due_ns) => {
                self.wake_at(due_ns, state);
                if !self.unread.is_empty() {
                    return self.resume(state);
                }
                if self.readable { self.read(state) } else { REST }
            }
        }
    }

    /// The last answer is out.
    fn end(&mut self, state: &mut ThreadState) -> Stepped {
        // RFC 9112, 9.6: closing while bytes are unread resets the connection, and the
        // peer may lose the answer with it.
        // Within TLS the end is announced.
        let heard = !self.readable && self.unread.is_empty() && self.line.tls.is_none();
        if heard { GONE } else { self.half_close(state, now_ns()) }
    }

    fn watch(&mut self, state: &mut ThreadState) {
        if self.began_ns == 0 {
            self.began_ns = self.arrived_ns;
        }
        if !self.watched {
            self.watched = true;
            state.wake_at(self.arrived_ns + HEAD_NS, self.token);
        }
    }

    fn lose_patience(&mut self, state: &mut ThreadState, now_ns: u64) {
        let Some(intake) = &self.intake else {
            self.watched = false;
            return;
        };
        let deadline_ns = self.began_ns + if intake.has_head() { BODY_NS } else { HEAD_NS };
        if now_ns < deadline_ns {
            state.wake_at(deadline_ns, self.token);
            return;
        }
        self.watched = false;
        self.refuse(Refusal { status: Status::TimedOut, why: "the request took too long" }, state);
        self.unsent.bytes.append(&mut state.out);
    }

    fn wake_at(&mut self, due_ns: u64, state: &mut ThreadState) {
        if self.wake_ns != due_ns {
            self.wake_ns = due_ns;
            state.wake_at(due_ns, self.token);
        }
    }
}
