//! Whole runs on simulated networks: how they are ordered, and servers with a fixed behaviour.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::channel;
use std::time::Duration;

use wire::h2::Scheme;
use wire::{Ask, Asks, BodyRule, Expect, Meaning, Request, Template};

use super::{GOOD, MILLI};
use crate::arrivals::{Arrivals, Rate};
use crate::collector::Collector;
use crate::engine::{Act, Simulated};
use crate::failure::Failure;
use crate::form_counts::FormCounts;
use crate::halt::{Halt, StopTime};
use crate::handover::Handover;
use crate::order::{Load, Order, Protocol, Stop, Target};
use crate::part::{Part, Parts};
use crate::plan::Plan;
use crate::press::run_lane;
use crate::recording::Recording;
use crate::supply::Kind;
use crate::tally::Tally;
use crate::turns::{Rest, TakesTurns};
use crate::{Nanos, SECOND};

/// The settings of a run.
#[derive(Clone)]
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
    pub(super) body: &'static str,
    pub(super) protocol: Protocol,
    pub(super) halt_at: Nanos,
    pub(super) lanes: usize,
    /// Instead of a constant rate.
    pub(super) arrivals: Option<Arrivals>,
    pub(super) on_time_within: Option<Nanos>,
    pub(super) turns: Option<Passed>,
    pub(super) tls: Option<tls::Client>,
    /// Compared and not demanded; without it `Rust` is demanded.
    pub(super) usual_body: Option<&'static str>,
    /// Answers are to come so long after their requests.
    pub(super) wait: Option<Nanos>,
    /// What answers mean; without it `Rust` is demanded.
    pub(super) meaning: Option<Meaning>,
    /// Requests are varied.
    pub(super) vary: bool,
}

/// Turns of this length, with the instants at which each was passed on.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    pub(super) length: Nanos,
    pub(super) times: Rc<Cell<u64>>,
}

impl TakesTurns for Passed {
    fn length(&self) -> Nanos {
        self.length
    }

    fn pass(&mut self) -> Rest {
        self.times.set(self.times.get() + 1);
        Rest { from: 0, until: 0 }
    }
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
        body: "",
        protocol: Protocol::Http1,
        halt_at: Nanos::MAX,
        lanes: 1,
        arrivals: None,
        on_time_within: None,
        turns: None,
        tls: None,
        usual_body: None,
        wait: None,
        meaning: None,
        vary: false,
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
    pub(super) fn order(&self) -> Order {
        let (method, body) = (self.method.into(), self.body.into());
        let http2 = matches!(self.protocol, Protocol::Http2(_)).then_some(Scheme::Http);
        let request = Request { method, body, http2, ..Request::get("h", "/n/{seq}") };
        let body = match &self.meaning {
            Some(rule) => BodyRule::Meaning(rule.clone()),
            None => BodyRule::Exactly(Template::literal(self.usual_body.unwrap_or("Rust"))),
        };
        let body_is_usual = self.usual_body.is_some();
        let expect = Expect { body, body_is_usual, wait_ns: self.wait, ..Expect::default() };
        let asks = Asks::one(Ask::new(&request, expect).unwrap());
        let asks = if self.vary { asks.varied(1) } else { asks };
        let constant = || Arrivals::Constant(Rate::per_s(self.rate).unwrap());
        let arrivals = self.arrivals.clone().unwrap_or_else(constant);
        let (connections, max_connections) = (self.connections, self.max_connections);
        let load = match self.kind {
            Kind::Closed => Load::Closed { connections },
            Kind::Open => Load::Open { arrivals, connections, max_connections },
            Kind::Sessions { calls } => Load::Sessions { arrivals, calls, max_connections },
        };
        let target = Target::Tcp("127.0.0.1:1".parse().unwrap());
        let some = |limit: u64| (limit < u64::MAX).then_some(limit);
        Order {
            stop: Stop {
                total: some(self.total),
                duration: some(self.until).map(Duration::from_nanos),
            },
            warmup: Duration::from_nanos(self.warmup),
            timeout: Duration::from_nanos(self.timeout),
            on_time_within: self.on_time_within.map(Duration::from_nanos),
            keep_alive: self.keep_alive,
            protocol: self.protocol,
            tls: self.tls.clone(),
            lanes: self.lanes,
            ..Order::new(target, asks, load)
        }
    }

    /// The counts of one lane on this engine.
    pub(super) fn press(&self, engine: Simulated<'_>) -> Tally {
        self.record([engine]).total
    }

    /// The measurements of lanes on these engines, folded like those of a real run.
    pub(super) fn record<'s>(&self, engines: impl IntoIterator<Item = Simulated<'s>>) -> Recording {
        let order = self.order();
        let recording = together(&order, [self.part(&order, engines)]);
        assert_books(&recording.total);
        recording
    }

    /// What the lanes of this process record on these engines.
    pub(super) fn part<'s>(
        &self,
        order: &Order,
        engines: impl IntoIterator<Item = Simulated<'s>>,
    ) -> Part {
        let plan = Plan::of(order);
        let (full, reports) = channel();
        let end = StopTime::open();
        let mut returns = Vec::new();
        let mut engines = engines.into_iter();
        for number in plan.own.clone() {
            let (give, empty) = channel();
            returns.push(give);
            let engine = engines.next().expect("one for each lane");
            let clock = engine.clock();
            let handover = Handover { full: full.clone(), empty };
            // As in the collector: one window is left for all lanes to notice the stop.
            let stop = (self.halt_at / plan.times.width)
                .saturating_add(2)
                .saturating_mul(plan.times.width);
            let mut turns = self.turns.clone();
            let turns = turns.as_mut().map(|turns| turns as &mut dyn TakesTurns);
            run_lane(order, &plan, number, engine, handover, turns, &|| {
                (self.halt_at <= clock.get()).then_some(stop)
            });
            if self.halt_at < Nanos::MAX {
                end.agree_on(stop);
            }
        }
        drop(full);
        let halt = Halt::default();
        let mut collector = Collector::new(order, &plan, returns, None);
        if end.agreed().is_some() {
            collector.is_halted_at(&end);
        }
        // Lanes report at the same time, not one after the other.
        let mut all: Vec<_> = reports.into_iter().collect();
        all.sort_by_key(|report| (report.index, report.lane));
        let (again, reports) = channel();
        all.into_iter().for_each(|one| again.send(one).unwrap());
        drop(again);
        collector.collect(&reports, &end, &halt, &mut |_| {})
    }
}

/// The parts of all processes, put together in this order.
pub(super) fn together(order: &Order, parts: impl IntoIterator<Item = Part>) -> Recording {
    let mut all = Parts::new(order);
    for part in parts {
        all.add(part).unwrap();
    }
    all.into_recording().expect("no lane is missing")
}

/// The books balance: attempted = correct + Σ classes + under way.
pub(super) fn assert_books(tally: &Tally) {
    let ended = tally.correct + tally.failed_in_all() + tally.under_way;
    assert_eq!(tally.attempted, ended, "{:?}", classes(tally));
    let flight = tally.flight;
    assert_eq!(flight.area, flight.correct + flight.failed + flight.unsent, "{flight:?}");
    let FormCounts { untimed, untimed_given_up, .. } = tally.forms.unwrap_or_default();
    let given_up = tally.response.censored() + untimed_given_up - tally.under_way;
    let timed = tally.correct + given_up + tally.under_way - untimed - untimed_given_up;
    assert_eq!(tally.response.count(), timed);
    assert!(tally.on_time <= tally.correct && tally.correct <= tally.due);
}

pub(super) fn classes(tally: &Tally) -> Vec<(&'static str, u64)> {
    let all = Failure::ALL.into_iter().map(|failure| (failure.name(), tally.failures(failure)));
    all.filter(|(_, count)| 0 < *count).collect()
}

/// Accepts at once.
pub(super) fn at_once(now: Nanos) -> (Nanos, Act) {
    (now, Act::Accept)
}

/// Answers every request correctly, after this delay.
pub(super) fn after(delay: Nanos) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    move |now| vec![(now + delay, Act::Send(GOOD.to_vec()))]
}

/// Does the same to every request, after this delay.
pub(super) fn always(delay: Nanos, acts: &[Act]) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> + use<> {
    let acts = acts.to_vec();
    move |now| acts.iter().map(|act| (now + delay, act.clone())).collect()
}

/// Answers correctly after a millisecond, but does this to each request that is so many-th.
pub(super) fn but_each(nth: u64, acts: &[Act]) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> + use<> {
    let (mut good, mut other) = (after(MILLI), always(MILLI, acts));
    let mut count = 0;
    move |now| {
        count += 1;
        if count % nth == 0 { other(now) } else { good(now) }
    }
}

/// One worker, 1 ms per request, frozen for the whole third second.
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
