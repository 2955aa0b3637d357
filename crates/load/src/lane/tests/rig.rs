//! A lane on a network made of numbers: how runs are ordered, and servers that do as they are told.

use std::cell::Cell;
use std::sync::mpsc::channel;

use wire::{Ask, Asks, BodyRule, Expect, H1, Limits, Request, Template};

use super::super::{Lane, Rules, Seed};
use super::{GOOD, MILLI};
use crate::arrivals::{Arrivals, Rate, Schedule};
use crate::engine::{Act, Break, Conn, Engine, Event, Idle};
use crate::failure::Failure;
use crate::recorder::{Handover, Recorder};
use crate::recording::Tally;
use crate::supply::{Kind, Supply};
use crate::{Nanos, SECOND};

/// A run's order, as far as a lane knows it.
pub(super) struct Run {
    pub(super) kind: Kind,
    pub(super) connections: usize,
    pub(super) max_connections: usize,
    pub(super) rate: u64,
    pub(super) total: u64,
    pub(super) warmup: Nanos,
    pub(super) until: Nanos,
    pub(super) timeout: Nanos,
    pub(super) keep_alive: bool,
    pub(super) method: &'static str,
    pub(super) halt_at: Nanos,
}

pub(super) fn run(kind: Kind, connections: usize) -> Run {
    Run {
        kind,
        connections,
        max_connections: connections,
        rate: 100,
        total: u64::MAX,
        warmup: 0,
        until: 10 * SECOND,
        timeout: 5 * SECOND,
        keep_alive: true,
        method: "GET",
        halt_at: Nanos::MAX,
    }
}

pub(super) fn closed(connections: usize) -> Run {
    run(Kind::Closed, connections)
}

pub(super) fn open(connections: usize, rate: u64) -> Run {
    Run { rate, ..run(Kind::Open, connections) }
}

pub(super) fn sessions(calls: u32, rate: u64, total: u64) -> Run {
    Run { rate, total, connections: 0, max_connections: 1_000, ..run(Kind::Sessions { calls }, 0) }
}

impl Run {
    pub(super) fn press(&self, engine: impl Engine) -> Tally {
        let request = Request { method: self.method.into(), ..Request::get("h", "/") };
        let body = BodyRule::Exactly(Template::literal("Rust"));
        let ask = Ask::new(&request, Expect { body, ..Expect::default() }).unwrap();
        let asks = Asks::one(ask);
        let rules = Rules { asks: &asks, timeout: self.timeout, keep_alive: self.keep_alive };
        let arrivals = Arrivals::Constant(Rate::per_s(self.rate).unwrap());
        let schedule = (self.kind != Kind::Closed).then(|| Schedule::new(&arrivals, 0, 1, 1));
        let time = 0..self.warmup + self.until;
        let supply = Supply::new(
            self.kind,
            self.connections,
            self.max_connections,
            schedule,
            time,
            self.warmup,
            self.total,
        );
        let (full, told) = channel();
        let (_give, empty) = channel();
        let longest = 2 * self.timeout;
        let measured = self.warmup..self.warmup + self.until;
        let handover = Handover { full, empty };
        let recorder = Recorder::new(0, SECOND / 10, measured, longest, handover);
        let limits = Limits::default();
        let new_session = || H1::new(&limits);
        let seed = Seed { chance: 1, first_seq: 0, seq_stride: 1 };
        let now = Cell::new(0);
        let engine = Watched { engine, now: &now };
        let lane = Lane::new(engine, rules, &new_session, supply, recorder, seed);
        lane.press(|| self.halt_at <= now.get());

        let mut total = Tally::new(longest);
        for told in told {
            if self.warmup <= told.index * (SECOND / 10) {
                total.merge(&told.tally);
            }
        }
        assert_books(&total);
        total
    }
}

/// The books balance: attempted = correct + Σ classes + under way.
pub(super) fn assert_books(tally: &Tally) {
    let ended = tally.correct + tally.failed_in_all() + tally.under_way;
    assert_eq!(tally.attempted, ended, "{:?}", classes(tally));
}

/// Lets a run be halted at an instant of its own clock.
pub(super) struct Watched<'a, E> {
    engine: E,
    now: &'a Cell<Nanos>,
}

impl<E: Engine> Engine for Watched<'_, E> {
    fn now(&self) -> Nanos {
        self.now.set(self.engine.now());
        self.engine.now()
    }

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        self.engine.open(conn)
    }

    fn close(&mut self, conn: Conn) {
        self.engine.close(conn);
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        self.engine.write(conn, bytes)
    }

    fn wait(
        &mut self,
        deadline: Nanos,
        in_flight: usize,
        deliver: &mut impl FnMut(Conn, Event<'_>, Nanos),
    ) {
        self.engine.wait(deadline, in_flight, deliver);
    }

    fn idle(&self) -> Idle {
        self.engine.idle()
    }

    fn cpu(&self) -> Nanos {
        self.engine.cpu()
    }
}

pub(super) fn classes(tally: &Tally) -> Vec<(&'static str, u64)> {
    let all = Failure::ALL.into_iter().map(|failure| (failure.name(), tally.failures(failure)));
    all.filter(|(_, count)| 0 < *count).collect()
}

/// Accepts at once.
pub(super) fn at_once(now: Nanos) -> (Nanos, Act) {
    (now, Act::Accept)
}

/// Answers every request well, this much later.
pub(super) fn after(delay: Nanos) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    move |now| vec![(now + delay, Act::Send(GOOD.to_vec()))]
}

/// Does the same to every request, this much later.
pub(super) fn always(delay: Nanos, acts: &[Act]) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> + use<> {
    let acts = acts.to_vec();
    move |now| acts.iter().map(|act| (now + delay, act.clone())).collect()
}

/// One worker, 1 ms a request, frozen for the whole third second.
pub(super) fn freezing() -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    let mut free_at = 0;
    move |arrived: Nanos| {
        let mut start = arrived.max(free_at);
        if (2 * SECOND..3 * SECOND).contains(&start) {
            start = 3 * SECOND;
        }
        free_at = start + MILLI;
        vec![(free_at, Act::Send(GOOD.to_vec()))]
    }
}
