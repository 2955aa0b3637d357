//! Heads that leave in two segments: the second one follows a little later, and the request's time counts from then.

use wire::{Asks, Session, Values};

use super::pool::Pool;
use crate::{Nanos, SECOND};

/// So much later the second segment leaves.
pub(super) const LATER: Nanos = SECOND / 1_000;

/// How much of a request leaves at once.
pub(super) fn first_segment(asks: &Asks, values: Values, request: &[u8]) -> usize {
    asks.choose(values).cut(values, request).unwrap_or(request.len())
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// Lets second segments leave whose time has come.
    pub(super) fn release(&mut self, now: Nanos) {
        while let Some(&(at, conn, id)) = self.held_back.front()
            && at <= now
        {
            self.held_back.pop_front();
            let slot = &mut self.slots[conn as usize];
            if slot.held_back != Some(id) {
                continue;
            }
            slot.held_back = None;
            if let Some(exchange) = self.slab.get_mut(id) {
                self.recorder.unsent(exchange, now);
                exchange.is_whole(now);
                self.recorder.sent(exchange, false);
            }
            self.put_on_agenda(conn);
        }
    }
}
