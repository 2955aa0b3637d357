//! A simulated network and clock: whole runs in no time, with freezes, faults, refusals,
//! drips and a machine that oversleeps. A simulator that is always on time could not test an
//! instrument for lateness.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::{Break, Conn, Engine, Event, Idle, Slept};
use crate::Nanos;

/// What a server does, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    Accept,
    Refuse,
    Send(Vec<u8>),
    Fin,
    Reset,
    /// The kernel takes bytes again.
    Room,
}

/// A server that reads what it is sent: at this time, on this connection, of which it is the so-many-th there.
pub(crate) type Peer = Box<dyn FnMut(Nanos, Conn, u32, &[u8]) -> Vec<(Nanos, Act)>>;

/// The time of an act, its order, its connection, that connection's era, and the act.
type ToCome = (Nanos, u64, Conn, u32, Act);

/// What happens, and when, to a connection that is begun at this instant.
type Accept<'s> = Box<dyn FnMut(Nanos) -> (Nanos, Act) + 's>;

/// What happens, and when, in response to what arrives at this instant.
type Answer<'s> = Box<dyn FnMut(Nanos) -> Vec<(Nanos, Act)> + 's>;

/// A server, defined by what it does to a new connection and to each request. It is one type for all servers: lanes are
/// compiled anew for each type of engine.
pub(crate) struct Simulated<'s> {
    now: Nanos,
    oversleep: Nanos,
    /// When the machine, or the program on it, stands still.
    stopped: Vec<Range<Nanos>>,
    /// While it hands over events, the machine stands still from the start of this range to its end; once.
    stops_delivering: Option<Range<Nanos>>,
    /// While it begins a connection, the machine stands still from the start of this range to its end; once.
    stops_opening: Option<Range<Nanos>>,
    /// At most this many events are handed over at once.
    at_once: usize,
    idle: Idle,
    accept: Accept<'s>,
    answer: Answer<'s>,
    greeting: Vec<u8>,
    /// Instead of `answer`.
    peer: Option<Peer>,
    /// At most so much is taken at once, and more a little later.
    takes: usize,
    eras: Vec<u32>,
    to_come: BinaryHeap<Reverse<ToCome>>,
    count: u64,
}

impl<'s> Simulated<'s> {
    pub(crate) fn new(
        accept: impl FnMut(Nanos) -> (Nanos, Act) + 's,
        answer: impl FnMut(Nanos) -> Vec<(Nanos, Act)> + 's,
    ) -> Self {
        Simulated {
            now: 0,
            oversleep: 0,
            stopped: Vec::new(),
            stops_delivering: None,
            stops_opening: None,
            at_once: usize::MAX,
            idle: Idle::default(),
            accept: Box::new(accept),
            answer: Box::new(answer),
            greeting: Vec::new(),
            peer: None,
            takes: usize::MAX,
            eras: Vec::new(),
            to_come: BinaryHeap::new(),
            count: 0,
        }
    }

    /// A machine that wakes this much too late, every time.
    pub(crate) fn oversleeping(self, oversleep: Nanos) -> Self {
        Simulated { oversleep, ..self }
    }

    /// A machine that stands still during this time: a lane that sleeps meanwhile wakes at its end.
    pub(crate) fn stopped(mut self, time: Range<Nanos>) -> Self {
        self.stopped.push(time);
        self
    }

    /// A machine that stands still in the middle of handing over events.
    pub(crate) fn stopped_delivering(self, time: Range<Nanos>) -> Self {
        Simulated { stops_delivering: Some(time), ..self }
    }

    /// A machine that stands still while a connection is begun.
    pub(crate) fn stopped_opening(self, time: Range<Nanos>) -> Self {
        Simulated { stops_opening: Some(time), ..self }
    }

    /// Hands over no more than this many events at once, as the kernel does.
    pub(crate) fn handing_over(self, at_once: usize) -> Self {
        Simulated { at_once, ..self }
    }

    /// A server that reads what it is sent.
    pub(crate) fn with_peer(self, peer: Peer) -> Self {
        Simulated { peer: Some(peer), ..self }
    }

    /// A kernel that takes no more than this at once, and more after 10 µs.
    pub(crate) fn taking(self, takes: usize) -> Self {
        Simulated { takes, ..self }
    }

    /// Sends this on every new connection, before any request.
    pub(crate) fn greets(&mut self, greeting: &[u8]) {
        self.greeting = greeting.to_vec();
    }

    fn expect(&mut self, at: Nanos, conn: Conn, act: Act) {
        assert!(self.now <= at, "a server cannot answer the past");
        self.count += 1;
        self.to_come.push(Reverse((at, self.count, conn, self.eras[conn as usize], act)));
    }
}

impl Engine for Simulated<'_> {
    fn now(&self) -> Nanos {
        self.now
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        if self.eras.len() <= conn as usize {
            self.eras.resize(conn as usize + 1, 0);
        }
        let stops = self.stops_opening.take_if(|stops| stops.contains(&self.now));
        self.now = stops.map_or(self.now, |stops| stops.end);
        let (at, act) = (self.accept)(self.now);
        let greets = act == Act::Accept && !self.greeting.is_empty();
        self.expect(at, conn, act);
        if greets {
            self.expect(at, conn, Act::Send(self.greeting.clone()));
        }
        Ok(())
    }

    fn close(&mut self, conn: Conn) {
        self.eras[conn as usize] += 1;
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        let bytes = &bytes[..bytes.len().min(self.takes)];
        let acts = match &mut self.peer {
            Some(peer) => peer(self.now, conn, self.eras[conn as usize], bytes),
            None => (self.answer)(self.now),
        };
        for (at, act) in acts {
            self.expect(at, conn, act);
        }
        if self.takes < usize::MAX {
            self.expect(self.now + 10_000, conn, Act::Room);
        }
        Ok(bytes.len())
    }

    fn sleep(&mut self, deadline: Nanos, _in_flight: usize) -> Slept {
        let from = self.now;
        // A timer that fires late keeps no event from waking the thread.
        let rings = if from < deadline { deadline + self.oversleep } else { from };
        let comes = self.to_come.peek().map_or(rings, |&Reverse((at, ..))| at);
        self.now = comes.clamp(from, rings);
        let stopped = self.stopped.iter().find(|stopped| stopped.contains(&self.now));
        self.now = stopped.map_or(self.now, |stopped| stopped.end);
        self.idle.waited += self.now - from;
        Slept { from, until: self.now }
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        let mut is_any = false;
        // All that came meanwhile is handed over in one go, as the kernel does.
        for _ in 0..self.at_once {
            let Some(Reverse((at, ..))) = self.to_come.peek() else { break };
            if self.now < *at {
                break;
            }
            let Some(Reverse((_, _, conn, era, act))) = self.to_come.pop() else { break };
            is_any = true;
            if self.eras[conn as usize] == era {
                let event = match &act {
                    Act::Accept => Event::Connected,
                    Act::Refuse => Event::Broken(Break::Refused),
                    Act::Send(bytes) => Event::Bytes(bytes),
                    Act::Fin => Event::Ended,
                    Act::Reset => Event::Broken(Break::Reset),
                    Act::Room => Event::Writable,
                };
                deliver(conn, event, self.now);
            }
        }
        if is_any
            && let Some(stops) = self.stops_delivering.take_if(|stops| stops.contains(&self.now))
        {
            self.now = stops.end;
        }
        is_any
    }

    fn idle(&self) -> Idle {
        self.idle
    }

    fn cpu(&self) -> Nanos {
        0
    }
}
