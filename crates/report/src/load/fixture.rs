//! A healthy run, made by hand, for the tests of everything that is computed from runs.

use std::ops::Range;
use std::time::Duration;

use analysis::Tolerated;
use lab::experiment::Point;
use lab::record::{Fact, LOAD, OutcomeKind, RunRecord, TrialRecord};
use load::{
    Arrivals, Distribution, Failure, Folded, LaneReport, Load, Nanos, Order, Rate, Recording,
    SECOND, Stop, Tally, Target, Window,
};
use requests::RequestSource;
use wire::{Ask, Asks, Expect, Request};

use super::{Costs, FinishedLoad, RequestSummary, weigh};
use crate::Findings;

pub(crate) const MS: u64 = 1_000_000;

pub(crate) fn order(load: Load) -> Order {
    let ask = Ask::new(&Request::get("h", "/"), Expect::default()).unwrap();
    let target = Target::Tcp("127.0.0.1:1".parse().unwrap());
    let stop = Stop { total: None, duration: Some(Duration::from_secs(10)) };
    Order { stop, ..Order::new(target, Asks::one(ask), load) }
}

pub(crate) fn closed() -> Order {
    order(Load::Closed { connections: 10 })
}

pub(crate) fn open() -> Order {
    let arrivals = Arrivals::Constant(Rate::per_s(2_000).unwrap());
    order(Load::Open { arrivals, connections: 10, max_connections: 100 })
}

/// Ten seconds, 20,000 requests of 1 ms each, by a lane that is busy half of the time.
pub(crate) fn healthy() -> Recording {
    let mut total = Tally::new(5 * SECOND);
    (total.attempted, total.correct, total.correct_inside) = (20_000, 20_000, 20_000);
    (total.due, total.on_time, total.answered) = (20_000, 20_000, 20_000);
    total.in_flight_area = u128::from(20_000 * MS);
    (total.flight.area, total.flight.correct) = (total.in_flight_area, total.in_flight_area);
    total.late.record_many(10_000, 20_000);
    answer_after(&mut total, &[(20_000, MS)]);
    let lane = LaneReport {
        wall: 10 * SECOND,
        idle: 5 * SECOND,
        cpu_time: 5 * SECOND,
        ..LaneReport::default()
    };
    Recording {
        lanes: vec![lane],
        scheduled_until: Some(10 * SECOND),
        ..Recording::new(total, 0..10 * SECOND, 5 * SECOND)
    }
}

/// Makes these the times of the correct answers: how many took how long.
pub(crate) fn answer_after(total: &mut Tally, times: &[(u64, u64)]) {
    for distribution in [&mut total.response, &mut total.service, &mut total.first_byte] {
        let censored = distribution.censored();
        *distribution = Distribution::new(5 * SECOND);
        for &(count, ns) in times {
            distribution.record_many(ns, count);
        }
        (0..censored).for_each(|_| distribution.record_censored(5 * SECOND));
    }
    let all: u64 = times.iter().map(|(count, _)| count).sum();
    total.attempted = total.attempted - total.correct + all;
    total.due = total.attempted;
    (total.correct, total.correct_inside, total.on_time) = (all, all, all);
}

/// A window of the measured time with so many requests, which took these times.
pub(crate) fn window(span: Range<Nanos>, requests: u64, times: &Folded) -> Window {
    Window {
        from: span.start,
        until: span.end,
        is_warmup: false,
        attempted: requests,
        correct: requests,
        failed: [0; Failure::COUNT],
        bytes_sent: 0,
        bytes_received: 0,
        in_flight_area: 0,
        cpu: 0,
        service: times.clone(),
        response: times.clone(),
    }
}

/// A whole load, as it is reported; without a schedule, if it was to have none.
pub(crate) fn finished(order: Order, recording: Recording) -> FinishedLoad {
    let scheduled_until = recording.scheduled_until.filter(|_| order.load.arrivals().is_some());
    let recording = Recording { scheduled_until, ..recording };
    let asked = RequestSummary {
        source: RequestSource::Flags { method: "GET".into() },
        url: "http://localhost:8080/hello".into(),
        address: "127.0.0.1:8080".into(),
        status: "2xx".into(),
        expects: String::new(),
    };
    let verdict = weigh(&recording, &order, None, (&[], &[]));
    let costs = Costs { live_view_cpu: 2 * MS, peak_memory_bytes: Some(5_000_000) };
    FinishedLoad {
        began_unix_ms: 0,
        asked,
        order,
        recording,
        verdict,
        costs,
        queue: None,
        agents: Vec::new(),
        lost: Vec::new(),
        tolerated: Tolerated::default(),
        requirements: Vec::new(),
    }
}

/// Loads as the rounds of a run, whose only place is this one.
pub(crate) fn as_run(recordings: &[Recording], point: Point) -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, mut trials) = (crate::run::fixture::run(), crate::run::fixture::trials());
    run.files.clear();
    run.experiment = None;
    run.facts.push(Fact { name: LOAD.into(), value: "dyno load".into() });
    run.entries.truncate(1);
    trials.truncate(recordings.len());
    for ((place, trial), recording) in trials.iter_mut().enumerate().zip(recordings) {
        let key = &mut trial.key;
        (key.number, key.repeat) = (place as u32, place as u32);
        (key.subject, key.point) = ("quick".into(), point);
        trial.outcome.kind = OutcomeKind::Measured;
        trial.loaded.as_mut().unwrap().recording = recording.clone();
    }
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    (run, trials)
}

/// What is made of a load that has just ended.
pub(crate) fn told<T>(load: &FinishedLoad, show: impl FnOnce(&Findings<'_>) -> T) -> T {
    let point = match &load.order.load {
        Load::Closed { connections } => Point::Connections(*connections as u32),
        Load::Open { arrivals, .. } => Point::Requests(arrivals.peak().as_f64()),
        Load::Sessions { arrivals, .. } => Point::Sessions(arrivals.peak().as_f64()),
    };
    let (run, trials) = as_run(std::slice::from_ref(&load.recording), point);
    show(&Findings::of(&"–", &run, &trials, Vec::new()).of_ended(std::slice::from_ref(load)))
}

pub(crate) fn fail(recording: &mut Recording, failure: Failure, times: u64) {
    let total = &mut recording.total;
    total.failed[failure.index()] += times;
    let attempted = total.attempted;
    answer_after(total, &[(total.correct - times, MS)]);
    (total.attempted, total.due) = (attempted, attempted);
    if failure.is_censored() {
        for distribution in [&mut total.response, &mut total.service, &mut total.first_byte] {
            (0..times).for_each(|_| distribution.record_censored(5 * SECOND));
        }
    }
}
