//! The room: what one WebSocket sends, all that are in the room receive, on every thread.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use crate::state::{ThreadState, Token};
use crate::worker::{Command, Waker};

/// This many messages may wait for a busy thread; those beyond are lost to its connections.
const WAITING_MAX: u64 = 1024;

/// A thread, as the others see it.
#[derive(Debug)]
pub(crate) struct ThreadHandle {
    commands: Sender<Command>,
    waker: Arc<Waker>,
    waiting: AtomicU64,
    /// Messages that did not get in since the last count.
    lost: AtomicU64,
}

impl ThreadHandle {
    pub(crate) fn new(commands: Sender<Command>, waker: Arc<Waker>) -> ThreadHandle {
        ThreadHandle { commands, waker, waiting: AtomicU64::new(0), lost: AtomicU64::new(0) }
    }

    fn send(&self, frame: &Arc<[u8]>) {
        if WAITING_MAX <= self.waiting.fetch_add(1, Ordering::Relaxed) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // A thread that is gone has no receivers.
        let _ = self.commands.send(Command::Spread(Arc::clone(frame)));
        self.waker.wake();
    }
}

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
        own.waiting.fetch_sub(1, Ordering::Relaxed);
        let lost = own.lost.swap(0, Ordering::Relaxed);
        state.books.spread_skipped += lost * self.members.len() as u64;
    }
}

/// Passes the frame to the other threads.
pub(crate) fn send_to_other_threads(frame: &Arc<[u8]>, state: &ThreadState) {
    let threads = state.shared.threads.get().map_or(&[][..], Vec::as_slice);
    let others = threads.iter().enumerate().filter(|(index, _)| *index != state.index);
    others.for_each(|(_, mate)| mate.send(frame));
}
