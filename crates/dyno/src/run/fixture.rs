//! A healthy run, made by hand, for the tests of what is made of runs.

use std::time::Duration;

use load::{
    Arrivals, End, Failure, LaneReport, Load, Order, Rate, Recording, SECOND, Stop, Tally, Target,
};
use wire::{Ask, Asks, Expect, Request};

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
    for _ in 0..20_000 {
        total.response.record(MS);
        total.service.record(MS);
        total.late.record(10_000);
    }
    (total.attempted, total.correct, total.correct_inside) = (20_000, 20_000, 20_000);
    total.in_flight_area = u128::from(20_000 * MS);
    let lane = LaneReport { wall: 10 * SECOND, idle: 5 * SECOND, ..LaneReport::default() };
    Recording {
        total,
        windows: Vec::new(),
        lanes: vec![lane],
        measured_from: 0,
        measured_until: 10 * SECOND,
        ended: 10 * SECOND,
        end: End::Done,
        timeout: 5 * SECOND,
    }
}

pub(crate) fn fail(recording: &mut Recording, failure: Failure, times: u64) {
    let place = Failure::ALL.iter().position(|&other| other == failure).unwrap();
    recording.total.failed[place] += times;
    recording.total.correct -= times;
    recording.total.correct_inside -= times;
}
