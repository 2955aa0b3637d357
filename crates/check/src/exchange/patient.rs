//! Steps that take time: waiting for the server to act, and sending an octet now and then.

use std::time::{Duration, Instant};

use rustix::event::PollFlags;

use super::Talk;
use crate::observation::End;
use crate::script::Trickle;

impl Talk {
    /// Reads until something has happened, and returns whether it happened in time.
    pub(super) fn wait(
        &mut self,
        limit: Duration,
        has_happened: &dyn Fn(&Talk) -> bool,
        is_halted: &dyn Fn() -> bool,
    ) -> bool {
        const SLICE: Duration = Duration::from_millis(250);
        let until = (Instant::now() + limit).min(self.line.until);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if has_happened(self) || left.is_zero() || self.line.end != End::Open || is_halted() {
                return has_happened(self);
            }
            self.line.turn(left.min(SLICE), PollFlags::empty());
        }
    }

    /// Sends an octet now and then, until the server answers or closes.
    pub(super) fn trickle(&mut self, trickle: &Trickle, head: &[u8], is_halted: &dyn Fn() -> bool) {
        let began = Instant::now();
        let acted = |talk: &Talk| {
            talk.line.end != End::Open || talk.reading().finals.iter().any(|it| it.is_whole)
        };
        let octets = head.iter().copied().chain(std::iter::repeat(trickle.filler));
        for octet in octets {
            self.line.send(&[octet]);
            let has_acted = self.wait(trickle.every, &acted, is_halted);
            self.slow.waited = began.elapsed();
            if has_acted {
                self.slow.acted = Some(self.slow.waited);
            }
            let is_late = self.slow.waited >= trickle.limit || Instant::now() >= self.line.until;
            if has_acted || is_late || is_halted() {
                return;
            }
        }
    }
}
