//! Response times over many streams against delays by a known law, and through a freeze. The truth is made of the
//! schedule and of what the server drew: nothing of it was measured by the lane.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use wire::Chance;

use super::MILLI;
use super::rig::{Run, classes, closed, open};
use super::streams::{answer, requested, spoken};
use crate::distribution::Distribution;
use crate::engine::{Peer, Simulated};
use crate::recording::Recording;
use crate::{Nanos, SECOND};

/// Connections, and streams on each.
const SHAPES: [(usize, u16); 3] = [(1, 1), (1, 100), (16, 10)];
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// The delays of a server's answers, in the order in which the requests came.
type Drawn = Rc<RefCell<Vec<Nanos>>>;

/// Answers each request after a delay of its own: 1 ms, and on the average 19 ms more, exponentially distributed.
fn delaying(drawn: &Drawn) -> Peer {
    let (drawn, mut chance) = (Rc::clone(drawn), Chance::new(1));
    requested(move |now, _, _, stream| {
        let delay = MILLI + (-(1.0 - chance.unit()).ln() * 19.0 * MILLI as f64) as Nanos;
        drawn.borrow_mut().push(delay);
        vec![(now + delay, answer(stream))]
    })
}

fn record(run: &Run, streams: u16, peer: Peer) -> Recording {
    let engine = Simulated::reading(peer);
    let seen = Run { protocol: spoken(streams), ..run.clone() }.record([engine]);
    assert_eq!(classes(&seen.total), [], "no request failed");
    seen
}

/// A queue for so many places, served in the order of arrival: how long each waits for a place and for its delay.
fn queue(
    places: usize,
    due: impl Iterator<Item = Nanos>,
    mut done: impl FnMut(usize, Nanos) -> Nanos,
) -> Vec<Nanos> {
    let mut free: BinaryHeap<Reverse<Nanos>> = (0..places).map(|_| Reverse(0)).collect();
    let waits = due.enumerate().map(|(number, due)| {
        let Reverse(since) = free.pop().unwrap();
        let done = done(number, due.max(since));
        free.push(Reverse(done));
        done - due
    });
    waits.collect()
}

/// The percentiles agree to the resolution of the histogram, far within the 2 % or 1 ms that are promised.
fn agree(name: &str, found: &Distribution, mut truth: Vec<Nanos>) {
    truth.sort_unstable();
    assert_eq!(found.count(), truth.len() as u64, "{name}");
    for q in QUANTILES {
        let place = (q * truth.len() as f64).ceil() as usize;
        let (found, truth) = (found.quantile(q).unwrap().value, truth[place.max(1) - 1]);
        assert!(
            found.abs_diff(truth) <= truth / 500 + 1,
            "{name}: p{}: {found} {truth}",
            q * 100.0
        );
    }
}

/// The instants of a schedule.
fn schedule(seen: &Recording, rate: u64) -> impl Iterator<Item = Nanos> + use<> {
    let from = seen.measured_from;
    (0..seen.total.attempted).map(move |n| from + (n as f64 * SECOND as f64 / rate as f64) as Nanos)
}

#[test]
fn a_closed_loop_reports_the_delays_that_were_drawn() {
    for (connections, streams) in SHAPES {
        let drawn = Drawn::default();
        let places = connections as u64 * u64::from(streams);
        let run = Run { total: 200 * places, until: 60 * SECOND, ..closed(connections) };
        let seen = record(&run, streams, delaying(&drawn));
        let name = format!("{connections} x {streams}");
        agree(&name, &seen.total.response, drawn.borrow().clone());
        agree(&name, &seen.total.service, drawn.borrow().clone());
    }
}

/// A little more comes than the streams can carry: most requests wait for one, and their waiting counts.
#[test]
fn an_open_loop_reports_the_delays_and_the_waiting_for_a_stream() {
    for (connections, streams) in SHAPES {
        let drawn = Drawn::default();
        let places = connections * usize::from(streams);
        let rate = places as u64 * 51;
        let run = Run { until: 10 * SECOND, ..open(connections, rate) };
        let seen = record(&run, streams, delaying(&drawn));
        let truth = queue(places, schedule(&seen, rate), |n, start| start + drawn.borrow()[n]);
        let name = format!("{connections} x {streams}");
        assert!(truth.len() / 2 < seen.total.blocked.count() as usize, "{name}: few wait");
        agree(&name, &seen.total.response, truth);
    }
}

/// A second of five, on 4 connections: 1,000 are due within it, and 20, 200 or all of them find a stream.
#[test]
fn a_freeze_is_reported_as_long_as_it_was() {
    const FROZEN: Range<Nanos> = 2 * SECOND..3 * SECOND;
    let answered = |came: Nanos| if FROZEN.contains(&came) { FROZEN.end } else { came } + MILLI;
    for streams in [5, 50, 300] {
        let freezes = requested(move |now, _, _, stream| vec![(answered(now), answer(stream))]);
        let run = Run { until: 5 * SECOND, ..open(4, 1_000) };
        let seen = record(&run, streams, freezes);
        let places = 4 * usize::from(streams);
        let truth = queue(places, schedule(&seen, 1_000), |_, start| answered(start));
        assert_eq!((truth.len(), seen.total.blocked.count() == 0), (5_000, streams == 300));
        agree("frozen", &seen.total.response, truth);
    }
}
