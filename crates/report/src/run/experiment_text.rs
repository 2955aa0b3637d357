//! What an experiment measures, as text: its places, rates and rounds, and its load as a whole.

use std::collections::BTreeSet;
use std::time::Duration;

use analysis::search::Aim;
use lab::experiment::{Experiment, Holds, Point, Shape};
use lab::manner::Manner;
use lab::schedule::Schedule;
use lab::search_goal::SearchGoal;
use load::Rate;
use units::{chosen, count, counted, duration, percent};

use crate::capacity;
use crate::load::order_text::{of_arrivals, on_each};

/// A place of the axis without its unit.
pub fn place(point: Point) -> String {
    chosen(point.value())
}

/// A place of the axis with its unit: `1 connection`, `16,000 requests/s`.
pub fn place_and_unit(point: Point) -> String {
    let unit = match point {
        Point::Connections(1) => "connection",
        Point::Held(1) => "held connection",
        Point::Connections(_) | Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => {
            point.unit()
        }
    };
    format!("{} {unit}", place(point))
}

/// A place of an experiment's axis as people read it: a ramp and steps by their rates, sessions by the requests that
/// they offer.
pub fn place_in(experiment: Option<&Experiment>, point: Point) -> String {
    let Some(experiment) = experiment else { return place_and_unit(point) };
    match &experiment.course {
        Some(course) => format!("{} requests/s", rates(course)),
        None => place_and_unit(experiment.as_requests(point)),
    }
}

/// The rates of a ramp or of steps, without their unit.
pub(crate) fn rates(course: &Schedule) -> String {
    let number = |rate: &Rate| chosen(rate.as_f64());
    match course {
        Schedule::Level(rate) => number(rate),
        Schedule::Ramp(from, to) => format!("{} to {}", number(from), number(to)),
        Schedule::Steps(steps) => {
            let list = |steps: &[(Rate, Duration)]| {
                steps.iter().map(|(rate, _)| number(rate)).collect::<Vec<_>>().join(", ")
            };
            match steps.as_slice() {
                [first @ .., last] if 4 < steps.len() => {
                    format!("{}, … {}", list(&first[..3]), number(&last.0))
                }
                all => list(all),
            }
        }
    }
}

/// How often the measurement was repeated.
pub fn rounds(experiment: &Experiment) -> String {
    let limit = |limit: Duration| format!(", at most {} of trials", duration(limit));
    match (experiment.until, experiment.repeat) {
        (None, 1) => "1 round".into(),
        (None, rounds) => format!("{rounds} rounds"),
        (Some(until), least) => format!(
            "{least} to {} rounds, until ±{}{}",
            until.repeat_max,
            percent(until.within),
            until.limit.map_or(String::new(), limit)
        ),
    }
}

fn held(experiment: &Experiment, places: &str, holds: Holds) -> String {
    let beat =
        holds.beat.map_or(String::new(), |beat| format!(", a message each {}", duration(beat)));
    let places = match experiment.points.as_slice() {
        [only] => format!("{} connections", count(only.value() as u64)),
        _ => places.to_string(),
    };
    let most = experiment.points.iter().map(|point| point.value()).fold(0.0, f64::max);
    let steps = match holds.step as f64 {
        step if most <= step => format!("in one step of {}", duration(holds.every)),
        _ => format!("{} more every {}", count(holds.step as u64), duration(holds.every)),
    };
    format!(
        "held: {places}, {steps} at {} a second{beat}, time-out {}; {}",
        count(u64::from(holds.per_second)),
        duration(experiment.timeout),
        rounds(experiment)
    )
}

/// How requests were written and travelled, where that was not as usual, and over HTTP/1.1 in cleartext alone.
fn manners(experiment: &Experiment) -> String {
    let forms = if experiment.vary { "; requests in varied forms" } else { "" };
    if experiment.manners == [Manner::default()] {
        return forms.into();
    }
    let protocols = experiment.protocols();
    let names: Vec<&str> = protocols.iter().map(|it| it.name()).collect();
    let http2 = experiment.manners.iter().filter(|manner| manner.protocol.is_http2());
    let streams = distinct(http2.map(|manner| manner.streams.get().into()));
    let secured = experiment.manners.iter().filter(|manner| manner.protocol.is_secured());
    let resumed = distinct(secured.map(|manner| manner.resumed.into()));
    let streams = match streams.as_str() {
        "" => String::new(),
        "1" => "; 1 stream on each connection".into(),
        streams => format!("; {streams} streams on each connection"),
    };
    let resumed = match resumed.as_str() {
        "" | "0" => String::new(),
        percents => format!("; {percents} % of the connections resume a TLS session"),
    };
    format!("{forms}; over {}{streams}{resumed}", names.join(", "))
}

/// The numbers in ascending order, each once.
fn distinct(numbers: impl Iterator<Item = u64>) -> String {
    let numbers: BTreeSet<u64> = numbers.collect();
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// How the servers were loaded whose capacities were searched for.
fn searched(experiment: &Experiment, sought: &SearchGoal) -> String {
    let arrivals = match experiment.shape {
        Shape::Open { poisson: true, .. } => "requests at random (Poisson)",
        Shape::Open { .. } | Shape::Closed | Shape::Sessions { .. } | Shape::Held(_) => {
            "requests evenly spaced"
        }
    };
    let aim = Aim { limits: sought.limits.clone(), failures: sought.failures };
    let most = sought.most.map_or(String::new(), |most| format!(" to {}", chosen(most)));
    let warmup = match experiment.warmup {
        Duration::ZERO => "no warm-up".into(),
        warmup => format!("{} of warm-up", duration(warmup)),
    };
    format!(
        "the rate that each server holds is searched for, from {}{most} requests/s: {}; {arrivals}{}; to {}, in at most {} of \
         trials each; {warmup}, time-out {}",
        chosen(sought.least),
        capacity::aim(&aim),
        manners(experiment),
        capacity::sentence::whole(sought.width),
        duration(sought.limit),
        duration(experiment.timeout)
    )
}

/// How the servers were loaded; over HTTP/2, if connections have streams.
pub(crate) fn load(experiment: &Experiment, streams: Option<u64>) -> String {
    if let Some(sought) = &experiment.sought {
        return searched(experiment, sought);
    }
    let places = match experiment.points.as_slice() {
        [only] => place_and_unit(*only),
        many => {
            let places: Vec<String> = many.iter().map(|&point| place(point)).collect();
            format!("{} {}", places.join(", "), many[0].unit())
        }
    };
    let shape = match experiment.shape {
        Shape::Closed => format!("closed: {places}"),
        Shape::Open { poisson, .. } => match &experiment.course {
            Some(course) => {
                let arrivals = course.arrivals(experiment.duration.unwrap_or_default());
                format!("open: {}", of_arrivals(&arrivals, 1))
            }
            None if poisson => format!("open: {places}, at random (Poisson)"),
            None => format!("open: {places}, evenly spaced"),
        },
        Shape::Sessions { calls, .. } => {
            let requests = experiment.points.iter().map(|point| point.value() * f64::from(calls));
            let requests: Vec<String> = requests.map(chosen).collect();
            let calls = counted(calls.into(), "call", "calls");
            format!("sessions: {} requests/s (= {places} × {calls})", requests.join(", "))
        }
        Shape::Held(holds) => return held(experiment, &places, holds),
    };
    let what = match experiment.shape {
        Shape::Closed | Shape::Open { .. } | Shape::Held(_) => ["request", "requests"],
        Shape::Sessions { .. } => ["session", "sessions"],
    };
    let total = experiment.total.map(|total| counted(total, what[0], what[1]));
    let length: Vec<String> = total.into_iter().chain(experiment.duration.map(duration)).collect();
    let over = streams.map_or(String::new(), |streams| match experiment.shape {
        Shape::Closed => on_each(streams),
        Shape::Open { .. } => format!(", on connections{}", on_each(streams)),
        Shape::Sessions { .. } | Shape::Held(_) => " over HTTP/2".into(),
    });
    let warmup = match experiment.warmup {
        Duration::ZERO => "no warm-up".into(),
        warmup => format!("after {} of warm-up", duration(warmup)),
    };
    let rounds = rounds(experiment);
    format!(
        "{shape}{over}{}; {} a trial, {warmup}, time-out {}; {rounds}",
        manners(experiment),
        length.join(" or "),
        duration(experiment.timeout)
    )
}
