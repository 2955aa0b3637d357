//! A network and a clock made of numbers: whole runs in no time, with freezes, faults, refusals,
//! drips and a machine that oversleeps. A simulator that is always on time could not test an
//! instrument for lateness.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Break, Conn, Engine, Event, Idle};
use crate::Nanos;

/// What a server does, and when.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    Accept,
    Refuse,
    Send(Vec<u8>),
    Fin,
    Reset,
}

/// A server is what it does to a new connection, and to each request.
pub(crate) struct Simulated<Accept, Answer> {
    now: Nanos,
    oversleep: Nanos,
    idle: Idle,
    accept: Accept,
    answer: Answer,
    eras: Vec<u32>,
    to_come: BinaryHeap<Reverse<(Nanos, u64, Conn, u32, Act)>>,
    count: u64,
}

impl<Accept, Answer> Simulated<Accept, Answer>
where
    Accept: FnMut(Nanos) -> (Nanos, Act),
    Answer: FnMut(Nanos) -> Vec<(Nanos, Act)>,
{
    /// Both say what happens, and at which instant, to what arrives at a given one.
    pub(crate) fn new(accept: Accept, answer: Answer) -> Self {
        Simulated {
            now: 0,
            oversleep: 0,
            idle: Idle::default(),
            accept,
            answer,
            eras: Vec::new(),
            to_come: BinaryHeap::new(),
            count: 0,
        }
    }

    /// A machine that wakes this much too late, every time.
    pub(crate) fn oversleeping(self, oversleep: Nanos) -> Self {
        Simulated { oversleep, ..self }
    }

    fn expect(&mut self, at: Nanos, conn: Conn, act: Act) {
        assert!(self.now <= at, "a server cannot answer the past");
        self.count += 1;
        self.to_come.push(Reverse((at, self.count, conn, self.eras[conn as usize], act)));
    }
}

impl<Accept, Answer> Engine for Simulated<Accept, Answer>
where
    Accept: FnMut(Nanos) -> (Nanos, Act),
    Answer: FnMut(Nanos) -> Vec<(Nanos, Act)>,
{
    fn now(&self) -> Nanos {
        self.now
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        if self.eras.len() <= conn as usize {
            self.eras.resize(conn as usize + 1, 0);
        }
        let (at, act) = (self.accept)(self.now);
        self.expect(at, conn, act);
        Ok(())
    }

    fn close(&mut self, conn: Conn) {
        self.eras[conn as usize] += 1;
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        for (at, act) in (self.answer)(self.now) {
            self.expect(at, conn, act);
        }
        Ok(bytes.len())
    }

    fn wait(
        &mut self,
        deadline: Nanos,
        _in_flight: usize,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        let start = self.now;
        match self.to_come.peek() {
            Some(Reverse((at, ..))) if *at <= deadline => {
                let Some(Reverse((at, _, conn, era, act))) = self.to_come.pop() else {
                    return;
                };
                self.now = at.max(self.now);
                if self.eras[conn as usize] == era {
                    let event = match &act {
                        Act::Accept => Event::Connected,
                        Act::Refuse => Event::Broken(Break::Refused),
                        Act::Send(bytes) => Event::Bytes(bytes),
                        Act::Fin => Event::Ended,
                        Act::Reset => Event::Broken(Break::Reset),
                    };
                    deliver(conn, event, self.now);
                }
            }
            _ => self.now = deadline.max(self.now) + self.oversleep,
        }
        self.idle.waited += self.now - start;
    }

    fn idle(&self) -> Idle {
        self.idle
    }

    fn cpu(&self) -> Nanos {
        0
    }
}
