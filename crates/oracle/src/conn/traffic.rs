//! A connection's writes, and its end.

use std::mem;

use rustix::io::Errno;

use super::{Conn, DRAIN_NS, GONE, OUT_KEPT, Phase, REST, Stepped, TurnEnd};
use crate::state::{ThreadState, now_ns};

/// How much the peer has sent.
pub(super) enum Read {
    Nothing,
    Something,
    /// As much as one turn takes; there may be more.
    Much,
    /// The peer is gone.
    End,
}

impl Conn {
    /// Reads once, and hands on what has come.
    pub(super) fn read_some(
        &mut self,
        state: &mut ThreadState,
        take: impl FnOnce(&mut Conn, &[u8], &mut ThreadState),
    ) -> Read {
        let mut buffer = mem::take(&mut state.buffer);
        let read = match self.line.receive(&mut buffer, state) {
            Ok((0, _)) => Read::End,
            Ok((count, has_more)) => {
                self.arrived_ns = now_ns();
                self.readable = has_more || self.peer_done;
                take(self, &buffer[..count], state);
                if has_more { Read::Much } else { Read::Something }
            }
            Err(Errno::AGAIN) => {
                self.readable = false;
                Read::Nothing
            }
            Err(Errno::INTR) => Read::Something,
            Err(_) => Read::End,
        };
        state.buffer = buffer;
        read
    }

    /// Hands the kernel what the turn has written; what the kernel does not take waits.
    pub(super) fn send(&mut self, state: &mut ThreadState, afterwards: TurnEnd) -> Stepped {
        let further = match afterwards {
            TurnEnd::Rest => Stepped::Further,
            TurnEnd::Again | TurnEnd::Gone => Stepped::Stop(afterwards),
        };
        if state.out.is_empty() {
            return further;
        }
        if state.shared.config.stall.is_some() && state.shared.thaw_ns(now_ns()).is_some() {
            self.unsent.bytes.append(&mut state.out);
            return Stepped::Further;
        }
        let out = mem::take(&mut state.out);
        let sent = self.line.send(&out, self.owed > 0, state);
        state.out = out;
        let taken = match sent {
            Ok(taken) => taken,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => {
                state.out.clear();
                return GONE;
            }
        };
        if taken < state.out.len() {
            self.unsent.bytes.extend_from_slice(&state.out[taken..]);
        } else {
            self.settle(state);
        }
        state.out.clear();
        state.out.shrink_to(OUT_KEPT);
        further
    }

    pub(super) fn flush(&mut self, state: &mut ThreadState) -> Stepped {
        if let Some(thaw_ns) = state.shared.thaw_ns(now_ns()) {
            self.wake_at(thaw_ns, state);
            return REST;
        }
        match self.line.send(self.unsent.rest(), self.owed > 0, state) {
            Ok(taken) => self.unsent.advance(taken),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return REST,
            Err(_) => return GONE,
        }
        if self.unsent.is_empty() {
            self.settle(state);
            match &mut self.phase {
                Phase::Playing(play) => play.skip_beats(now_ns(), &mut state.books.beats_skipped),
                Phase::Conversing(socket) => {
                    socket.skip_beats(now_ns(), &mut state.books.beats_skipped);
                }
                Phase::Securing
                | Phase::Reading
                | Phase::Multiplexing(_)
                | Phase::Draining { .. } => {}
            }
        }
        Stepped::Further
    }

    /// The answers owed are written: the books record how long they took.
    fn settle(&mut self, state: &mut ThreadState) {
        if self.owed > 0 {
            let served_ns = now_ns() - self.arrived_ns;
            state.books.served_ns.saturating_record_n(served_ns, u64::from(self.owed));
            state.books.answers += u64::from(self.owed);
            self.owed = 0;
        }
    }

    pub(super) fn half_close(&mut self, state: &mut ThreadState, now_ns: u64) -> Stepped {
        if self.line.end(state).is_err() {
            return GONE;
        }
        let until_ns = now_ns + DRAIN_NS;
        self.wake_at(until_ns, state);
        self.phase = Phase::Draining { until_ns };
        self.readable = true;
        Stepped::Further
    }

    pub(super) fn drain(&mut self, state: &mut ThreadState) -> Stepped {
        if !self.readable {
            return REST;
        }
        match self.line.drop_some(&mut state.buffer) {
            Ok(0) => GONE,
            Ok(_) => Stepped::Stop(TurnEnd::Again),
            Err(Errno::AGAIN) => {
                self.readable = false;
                REST
            }
            Err(Errno::INTR) => Stepped::Further,
            Err(_) => GONE,
        }
    }
}
