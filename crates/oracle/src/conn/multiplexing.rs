//! A connection that speaks HTTP/2: what comes is read even while nothing can leave, so that each request's arrival has
//! its true instant.

use std::mem;

use rustix::io::Errno;

use super::securing::multiplexing;
use super::traffic::Read;
use super::{Conn, GONE, Phase, REST, Stepped, TurnEnd};
use crate::HttpVersions;
use crate::h2::Multiplex;
use crate::h2::frames::PREFACE;
use crate::intake::Intake;
use crate::request::Status;
use crate::state::{ThreadState, now_ns};
use crate::truth::StreamTimes;

/// With more than this unsent, nothing more is read.
const UNSENT_MAX: usize = 1 << 20;
/// The request line that the preface begins with.
const PREFACE_LINE: usize = 16;

impl Conn {
    /// Whether what was refused as a request is the beginning of HTTP/2; if so, the connection speaks it.
    pub(super) fn begins_http2(
        &mut self,
        intake: &Intake,
        piece: &[u8],
        status: Status,
        state: &mut ThreadState,
    ) -> bool {
        let is_possible = status == Status::VersionUnknown
            && !self.has_requested
            && matches!(self.phase, Phase::Reading)
            && state.config().http != HttpVersions::Http1;
        let began = intake.began();
        let bytes = if began.is_empty() { piece } else { began };
        if !is_possible || !bytes.starts_with(&PREFACE[..PREFACE_LINE]) {
            return false;
        }
        self.unread.bytes = bytes.to_vec();
        self.phase = multiplexing(&self.line, state);
        true
    }

    /// Reads, does what is due, and sends.
    pub(super) fn multiplex(&mut self, state: &mut ThreadState) -> Stepped {
        let now_ns = now_ns();
        let thaw_ns = state.shared.thaw_ns(now_ns);
        let Phase::Multiplexing(mut multiplex) = mem::replace(&mut self.phase, Phase::Reading)
        else {
            return Stepped::Further;
        };
        if multiplex.is_silent() {
            self.phase = Phase::Multiplexing(multiplex);
            return if self.peer_done { GONE } else { REST };
        }
        let read = self.read_frames(&mut multiplex, state);
        let next = if thaw_ns.is_none() && self.unsent.is_empty() {
            Some(multiplex.perform(state, now_ns))
        } else {
            None
        };
        multiplex.wrote(state.out.len());
        let sent = match thaw_ns {
            Some(_) => {
                self.unsent.bytes.append(&mut state.out);
                Ok(true)
            }
            None => self.send_frames(&mut multiplex, state),
        };
        self.phase = Phase::Multiplexing(multiplex);
        let Ok(is_blocked) = sent else { return GONE };
        match read {
            Read::End => return GONE,
            Read::Much => return Stepped::Stop(TurnEnd::Again),
            Read::Something => return Stepped::Further,
            Read::Nothing => {}
        }
        if let Some(thaw_ns) = thaw_ns {
            self.wake_at(thaw_ns, state);
            return REST;
        }
        if !self.unsent.is_empty() {
            return if is_blocked { REST } else { Stepped::Further };
        }
        // What could not be done while something was unsent can be done now.
        next.map_or(Stepped::Further, |next| self.follow(next, state, now_ns))
    }

    fn read_frames(&mut self, multiplex: &mut Multiplex, state: &mut ThreadState) -> Read {
        if !self.unread.is_empty() {
            let unread = mem::take(&mut self.unread);
            multiplex.take(unread.rest(), self.arrived_ns, state);
            return Read::Something;
        }
        if !self.readable || self.unsent.bytes.len() > UNSENT_MAX {
            return Read::Nothing;
        }
        self.read_some(state, |conn, bytes, state| {
            multiplex.take(bytes, conn.arrived_ns, state);
        })
    }

    /// Sends what is unsent, or else what was just written; returns whether the kernel had no room for all of it.
    fn send_frames(
        &mut self,
        multiplex: &mut Multiplex,
        state: &mut ThreadState,
    ) -> Result<bool, Errno> {
        let out = mem::take(&mut state.out);
        let mut taken = 0;
        let mut is_blocked = false;
        let is_direct = self.unsent.is_empty();
        let bytes = if is_direct { &out[..] } else { self.unsent.rest() };
        if !bytes.is_empty() {
            match self.line.send(bytes, multiplex.has_answers(), state) {
                Ok(count) => taken = count,
                Err(Errno::AGAIN) => is_blocked = true,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
            multiplex.sent(taken, now_ns(), state);
        }
        if is_direct {
            self.unsent.bytes.extend_from_slice(&out[taken..]);
        } else {
            self.unsent.advance(taken);
            self.unsent.bytes.extend_from_slice(&out);
        }
        state.out = out;
        state.out.clear();
        state.out.shrink_to(super::OUT_KEPT);
        Ok(is_blocked)
    }

    /// The connection is gone, or its streams are.
    pub(crate) fn leave(&mut self, state: &mut ThreadState) {
        if let Phase::Multiplexing(multiplex) = &self.phase {
            multiplex.leave(state);
        }
    }

    /// Adds the streams that are under way.
    pub(crate) fn list_streams(&self, all: &mut Vec<StreamTimes>) {
        if let Phase::Multiplexing(multiplex) = &self.phase {
            all.extend(multiplex.unfinished());
        }
    }
}
