//! A WebSocket (RFC 6455), the server's side: bytes in, bytes out to the thread's buffer. It has no kernel socket.
//!
//! Between messages it holds no other memory than its own. Messages for a room go to the state; the worker spreads them.

pub(crate) mod frames;
mod handshake;

use std::sync::Arc;

use crate::beats::{After, Beats, Rhythm, Wrap};
use crate::body::BODY_MAX;
use crate::state::{BUFFER, ThreadState};
use frames::{Opcode, Reader, Received, push_frame};

pub(crate) use handshake::{Accept, Disagreement, accept, push_agreement};

/// What a WebSocket is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    Beats(Rhythm),
    /// What it sends comes back.
    Echo,
    /// What one sends, all receive.
    Room,
}

/// One WebSocket after its handshake.
#[derive(Debug)]
pub(crate) struct Socket {
    role: Role,
    /// Under way, if that is its role.
    beats: Option<Beats>,
    reader: Reader,
    /// Whether the conversation has ended: later bytes are ignored.
    is_over: bool,
}

impl Socket {
    /// A WebSocket directly after the handshake.
    pub(crate) fn begin(role: Role, state: &mut ThreadState, now_ns: u64) -> Socket {
        let beats = match role {
            Role::Beats(rhythm) => Some(Beats::begin(rhythm, Wrap::Frame, state, now_ns)),
            Role::Echo | Role::Room => None,
        };
        let message_max = match role {
            Role::Beats(_) | Role::Echo => BODY_MAX as usize,
            // Such a message is kept for each thread that has yet to spread it.
            Role::Room => BUFFER,
        };
        Socket { role, beats, reader: Reader::new(message_max), is_over: false }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn is_in_room(&self) -> bool {
        matches!(self.role, Role::Room) && !self.is_over
    }

    /// Writes the beats whose time has come; returns when it wants to write again.
    pub(crate) fn beat(&mut self, state: &mut ThreadState, now_ns: u64) -> Option<u64> {
        let beats = self.beats.as_mut()?;
        match beats.push_due(state, now_ns) {
            After::Next(due_ns) => Some(due_ns),
            After::Silence => None,
            After::End => {
                beats.push_end(&mut state.out);
                self.is_over = true;
                None
            }
        }
    }

    /// Leaves out the beats that the peer had no room for.
    pub(crate) fn skip_beats(&mut self, now_ns: u64, skipped: &mut u64) {
        if let Some(beats) = &mut self.beats {
            beats.skip(now_ns, skipped);
        }
    }

    /// Takes what the peer has sent, in pieces of any size, and answers it.
    pub(crate) fn take(&mut self, mut bytes: &[u8], state: &mut ThreadState) {
        while !bytes.is_empty() && !self.is_over {
            match self.reader.take(&mut bytes) {
                Ok(None) => {}
                Ok(Some(received)) => self.answer(&received, state),
                Err(wrong) => self.leave(wrong.code(), state),
            }
        }
    }

    fn answer(&mut self, received: &Received, state: &mut ThreadState) {
        match received {
            Received::Message(opcode, payload) => {
                state.books.messages += 1;
                match (self.role, opcode) {
                    (Role::Beats(_), _) => {}
                    (Role::Echo, opcode) => push_frame(*opcode, payload, &mut state.out),
                    (Role::Room, Opcode::Text) => {
                        let mut frame = Vec::with_capacity(payload.len() + 10);
                        push_frame(Opcode::Text, payload, &mut frame);
                        state.for_the_room.push(Arc::from(frame));
                    }
                    // RFC 6455, 7.4.1: 1003 is for data of a type that the receiver cannot accept.
                    (Role::Room, _) => self.leave(1003, state),
                }
            }
            Received::Ping(payload) => push_frame(Opcode::Pong, payload, &mut state.out),
            Received::Pong => {}
            Received::Close(code) => {
                let code = code.map(u16::to_be_bytes);
                let payload = code.as_ref().map_or(&[][..], |code| code);
                push_frame(Opcode::Close, payload, &mut state.out);
                self.is_over = true;
            }
        }
    }

    fn leave(&mut self, code: u16, state: &mut ThreadState) {
        push_frame(Opcode::Close, &code.to_be_bytes(), &mut state.out);
        self.is_over = true;
    }
}
