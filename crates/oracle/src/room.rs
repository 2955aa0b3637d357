//! The room: what one WebSocket sends, all that are in the room receive, on every thread.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::state::{ThreadState, Token};

/// One thread's part of the room.
#[derive(Debug, Default)]
pub(crate) struct Room {
    members: BTreeSet<Token>,
}

impl Room {
    pub(crate) fn join(&mut self, token: Token) {
        self.members.insert(token);
    }

    pub(crate) fn leave(&mut self, token: Token) {
        self.members.remove(&token);
    }

    pub(crate) fn members(&self) -> Vec<Token> {
        self.members.iter().copied().collect()
    }

    /// Counts the messages that found no place to wait for this thread: each is lost to each of its connections.
    pub(crate) fn take_in(&self, state: &mut ThreadState) {
        let Some(own) = state.shared.threads.get().and_then(|threads| threads.get(state.index))
        else {
            return;
        };
        state.books.spread_skipped += own.taken() * self.members.len() as u64;
    }
}

/// Passes the frame to the other threads.
pub(crate) fn send_to_other_threads(frame: &Arc<[u8]>, state: &ThreadState) {
    let threads = state.shared.threads.get().map_or(&[][..], Vec::as_slice);
    let others = threads.iter().enumerate().filter(|(index, _)| *index != state.index);
    others.for_each(|(_, mate)| mate.send(frame));
}
