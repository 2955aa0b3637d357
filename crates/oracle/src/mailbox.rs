//! How a thread of the server is reached from the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io;

use crate::truth::{StreamTimes, Truth};

/// A command to a worker from outside.
#[derive(Debug)]
pub(crate) enum Command {
    Tell(Sender<Truth>),
    /// The times of the streams so far.
    List(Sender<Vec<StreamTimes>>),
    /// A whole frame for the connections in the room.
    Spread(Arc<[u8]>),
    Stop,
}

/// Wakes a worker that sleeps.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

impl Waker {
    pub(crate) fn new() -> io::Result<Waker> {
        Ok(Waker(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn wake(&self) {
        // It fails only when a wake-up is already due.
        let _ = io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

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

    /// Passes a frame on, unless too many wait.
    pub(crate) fn send(&self, frame: &Arc<[u8]>) {
        if WAITING_MAX <= self.waiting.fetch_add(1, Ordering::Relaxed) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // A thread that is gone has no receivers.
        let _ = self.commands.send(Command::Spread(Arc::clone(frame)));
        self.waker.wake();
    }

    /// One message was taken out. Returns how many found no place since the last time.
    pub(crate) fn taken(&self) -> u64 {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.lost.swap(0, Ordering::Relaxed)
    }
}
