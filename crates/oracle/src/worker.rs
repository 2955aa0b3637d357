//! One thread of the server: its epoll, its listener, its connections and their timers.

use std::cmp::Reverse;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::{self, Errno};
use rustix::net::{SocketFlags, accept_with};
use rustix::thread::set_current_timer_slack;

use crate::conn::{Conn, TurnEnd};
use crate::mailbox::{Command, Waker};
use crate::room::{Room, send_to_other_threads};
use crate::state::{Shared, ThreadState, Token, now_ns};
use crate::truth::StreamTimes;
use crate::wait::Wait;

const LISTENER: u64 = u64::MAX;
const CONTROL: u64 = u64::MAX - 1;
/// The timer that reopens a listener after file descriptors had run out.
const REOPEN: Token = Token { slot: u32::MAX, generation: u32::MAX };
const REOPEN_NS: u64 = 50_000_000;
/// This long before a timer is due the worker stops sleeping and polls: the kernel does not wake a thread
/// to the microsecond.
const SPIN_NS: u64 = 50_000;
/// At most this many connections are accepted in a row.
const ACCEPTS: usize = 64;

/// A thread's whole state.
pub(crate) struct Worker {
    epoll: OwnedFd,
    wait: Wait,
    listener: OwnedFd,
    waker: Arc<Waker>,
    inbox: Receiver<Command>,
    slots: Vec<Slot>,
    /// Slots without a connection.
    free: Vec<u32>,
    /// Connections that want another turn without waiting for anything.
    ready: Vec<Token>,
    room: Room,
    state: ThreadState,
    stopped: bool,
}

struct Slot {
    generation: u32,
    /// Absent when free.
    conn: Option<Conn>,
}

impl Worker {
    pub(crate) fn new(
        index: usize,
        listener: OwnedFd,
        shared: Arc<Shared>,
        inbox: Receiver<Command>,
    ) -> io::Result<Worker> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let waker = Waker::new()?;
        // Edge-triggered, so that the counter need not be read.
        let control = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &waker, EventData::new_u64(CONTROL), control)?;
        let worker = Worker {
            epoll,
            wait: Wait::Directly,
            listener,
            waker: Arc::new(waker),
            inbox,
            slots: Vec::new(),
            free: Vec::new(),
            ready: Vec::new(),
            room: Room::default(),
            state: ThreadState::new(shared, index),
            stopped: false,
        };
        worker.open()?;
        Ok(worker)
    }

    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Serves until it is stopped.
    pub(crate) fn run(mut self) {
        // Without it, timers may be 50 µs late; if it is refused, they are.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        let mut events: Vec<Event> = Vec::with_capacity(256);
        while !self.stopped {
            let timeout = self.timeout();
            match self.wait.wait(&self.epoll, &mut events, timeout.as_ref()) {
                Ok(()) | Err(Errno::INTR) => {}
                Err(error) => panic!("waiting on an epoll of ours: {error}"),
            }
            for event in events.drain(..) {
                self.notice(event);
            }
            self.fire_timers();
            self.continue_ready();
            self.spread();
        }
        for _ in self.slots.iter().filter(|slot| slot.conn.is_some()) {
            self.state.shared.closed();
        }
    }

    /// How long the worker may sleep; without limit if nothing is due.
    fn timeout(&self) -> Option<Timespec> {
        let sleep_ns = match self.state.timers.peek() {
            _ if !self.ready.is_empty() => 0,
            None => return None,
            Some(Reverse((due_ns, _))) => due_ns.saturating_sub(now_ns()).saturating_sub(SPIN_NS),
        };
        let (seconds, nanos) = (sleep_ns / 1_000_000_000, sleep_ns % 1_000_000_000);
        Some(Timespec { tv_sec: seconds as i64, tv_nsec: nanos as _ })
    }

    fn notice(&mut self, event: Event) {
        match event.data.u64() {
            LISTENER => self.accept(),
            CONTROL => self.obey(),
            data => {
                let token = Token { slot: data as u32, generation: (data >> 32) as u32 };
                let flags = event.flags;
                self.with(token, |conn, state| {
                    if flags.contains(EventFlags::ERR) {
                        return TurnEnd::Gone;
                    }
                    let done = flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
                    conn.notice(flags.contains(EventFlags::IN), done);
                    conn.turn(state)
                });
            }
        }
    }

    fn obey(&mut self) {
        while let Ok(command) = self.inbox.try_recv() {
            match command {
                // The receiver may be gone.
                Command::Tell(asker) => drop(asker.send(self.state.books.clone())),
                Command::List(asker) => drop(asker.send(self.streams())),
                Command::Spread(frame) => {
                    self.room.take_in(&mut self.state);
                    self.spread_here(&frame);
                }
                Command::Stop => self.stopped = true,
            }
        }
    }

    /// Those that are over, and then those that are under way.
    fn streams(&self) -> Vec<StreamTimes> {
        let mut all = self.state.streams.clone();
        let conns = self.slots.iter().filter_map(|slot| slot.conn.as_ref());
        conns.for_each(|conn| conn.list_streams(&mut all));
        all
    }

    fn fire_timers(&mut self) {
        if self.state.timers.is_empty() {
            return;
        }
        let now_ns = now_ns();
        while let Some(Reverse((due_ns, token))) = self.state.timers.peek().copied() {
            if due_ns > now_ns {
                break;
            }
            self.state.timers.pop();
            if token == REOPEN {
                // If it fails, the listener stays closed unless another timer opens it; connections wait in the queue.
                let _ = self.open();
            } else {
                self.with(token, |conn, state| conn.turn_by_timer(state, now_ns));
            }
        }
    }

    fn continue_ready(&mut self) {
        for token in std::mem::take(&mut self.ready) {
            self.with(token, Conn::turn);
        }
    }

    /// Sends this turn's messages to all in the room.
    fn spread(&mut self) {
        for frame in std::mem::take(&mut self.state.for_the_room) {
            send_to_other_threads(&frame, &self.state);
            self.spread_here(&frame);
        }
    }

    fn spread_here(&mut self, frame: &[u8]) {
        for token in self.room.members() {
            self.with(token, |conn, state| conn.push_broadcast(frame, state));
        }
    }

    /// Gives a connection its turn, if it is still there.
    fn with(&mut self, token: Token, turn: impl FnOnce(&mut Conn, &mut ThreadState) -> TurnEnd) {
        let Some(slot) = self.slots.get_mut(token.slot as usize) else { return };
        let Some(conn) = slot.conn.as_mut().filter(|_| slot.generation == token.generation) else {
            return;
        };
        let was_in_room = conn.is_in_room();
        let end = turn(conn, &mut self.state);
        match (was_in_room, end != TurnEnd::Gone && conn.is_in_room()) {
            (false, true) => self.room.join(token),
            (true, false) => self.room.leave(token),
            (true, true) | (false, false) => {}
        }
        match end {
            TurnEnd::Rest => {}
            TurnEnd::Again => self.ready.push(token),
            TurnEnd::Gone => self.release(token),
        }
    }

    /// Closes the connection; its slot awaits the next.
    fn release(&mut self, token: Token) {
        let slot = &mut self.slots[token.slot as usize];
        if let Some(mut conn) = slot.conn.take() {
            conn.leave(&mut self.state);
        }
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(token.slot);
        self.state.out.clear();
        self.state.shared.closed();
    }

    fn open(&self) -> io::Result<()> {
        // Threads that share a listener (on a Unix socket) are woken one at a time.
        let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
        epoll::add(&self.epoll, &self.listener, EventData::new_u64(LISTENER), flags)
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            match accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.welcome(socket),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.pause(),
            }
        }
    }

    /// No file descriptor is left: a listener that stays readable would keep the worker spinning.
    fn pause(&mut self) {
        self.state.books.connections_lost += 1;
        let _ = epoll::delete(&self.epoll, &self.listener);
        self.state.wake_at(now_ns() + REOPEN_NS, REOPEN);
    }

    fn welcome(&mut self, socket: OwnedFd) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, conn: None });
            self.slots.len() as u32 - 1
        });
        let token = Token { slot, generation: self.slots[slot as usize].generation };
        let data = EventData::new_u64(u64::from(token.generation) << 32 | u64::from(slot));
        // One registration for life: with edges, a socket that stays writable costs nothing.
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        if epoll::add(&self.epoll, &socket, data, flags).is_err() {
            self.state.books.connections_lost += 1;
            self.free.push(slot);
            return;
        }
        self.state.books.connections += 1;
        self.state.shared.opened();
        let conn = Conn::new(socket, token, &mut self.state);
        self.slots[slot as usize].conn = Some(conn);
    }
}
