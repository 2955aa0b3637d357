//! The accounting bench: every load under every condition. The counts are compared with a log that is taken at the
//! boundary to the network, by definitions that are written down here a second time, the long way.

mod log;

use std::time::Duration;

use super::rig::{Run, closed, open, sessions};
use super::{GOOD, MILLI};
use crate::arrivals::{Arrivals, Listed, Rate};
use crate::engine::{Act, Log, Simulated};
use crate::recording::End;
use crate::supply::Kind;
use crate::{Nanos, SECOND};
use log::{Request, follow, on_connections};

/// What must be counted: by definition, from the individual requests.
#[derive(Debug, PartialEq)]
struct Figures {
    due: u64,
    attempted: u64,
    correct: u64,
    on_time: u64,
    failed: u64,
    under_way: u64,
    correct_inside: u64,
    carried_in: u64,
    /// Response times of correct answers and of time-outs, added up; none where some exchanges were left, at their own
    /// ages.
    response_ns: Option<u128>,
    /// Only where all were answered.
    p50_p99_ns: Option<(Nanos, Nanos)>,
    measured_ns: Nanos,
    /// For how long of it anything was due, where there is a schedule and no number ended it.
    scheduled_ns: Option<Nanos>,
}

/// A run that is over, and what was known of it beforehand: none of its own counts.
struct Bench<'a> {
    run: &'a Run,
    /// The measured time, as ordered.
    from: Nanos,
    until: Nanos,
    ended: Nanos,
}

impl Bench<'_> {
    fn has_endless_schedule(&self) -> bool {
        !matches!(self.run.kind, Kind::Closed) && self.run.total == u64::MAX
    }

    /// The instants at which the schedule has something due, over all lanes.
    fn arrivals(&self) -> Vec<Nanos> {
        let lead = self.from - self.run.warmup;
        let mut all = Vec::new();
        let rates = match &self.run.arrivals {
            Some(Arrivals::Steps(steps)) => steps.clone(),
            Some(Arrivals::Constant(rate)) => vec![(*rate, Duration::from_secs(3_600))],
            None => vec![(Rate::per_s(self.run.rate).unwrap(), Duration::from_secs(3_600))],
            Some(Arrivals::Listed(_)) => {
                let times = uneven().into_iter().map(|at| lead + at);
                all.extend(times.take_while(|at| *at < self.until));
                Vec::new()
            }
            Some(other) => panic!("{other:?} has no test here"),
        };
        let mut begins = lead;
        for (rate, length) in rates {
            let length = length.as_nanos() as Nanos;
            let instant = |n: u64| (n as f64 * SECOND as f64 / rate.as_f64()) as Nanos;
            all.extend(
                (0..)
                    .map(instant)
                    .take_while(|at| *at < length)
                    .map(|at| begins + at)
                    .take_while(|at| *at < self.until),
            );
            begins += length;
        }
        let before = all.iter().filter(|at| **at < self.from).count();
        all.truncate(before.saturating_add(usize::try_from(self.run.total).unwrap_or(usize::MAX)));
        all
    }

    fn requests(&self, lanes: &[Log]) -> Vec<Request> {
        match self.run.kind {
            Kind::Open => {
                let mut all: Vec<Request> = self.arrivals().into_iter().map(Request::due).collect();
                for (lane, log) in lanes.iter().enumerate() {
                    let own = |place: usize| place % lanes.len() == lane;
                    follow(log, self.run.timeout, &own, &mut all);
                }
                all
            }
            Kind::Closed => {
                lanes.iter().flat_map(|log| on_connections(log, self.run.timeout, None)).collect()
            }
            Kind::Sessions { .. } => {
                let arrivals = self.arrivals();
                let of_lane = |(lane, log): (usize, &Log)| {
                    let own = arrivals.iter().copied().skip(lane).step_by(lanes.len());
                    on_connections(log, self.run.timeout, Some(own.collect()))
                };
                lanes.iter().enumerate().flat_map(of_lane).collect()
            }
        }
    }

    fn figures(&self, lanes: &[Log]) -> Figures {
        let requests = self.requests(lanes);
        let limit = self.run.on_time_within.unwrap_or(self.run.timeout);
        let took = |request: &Request| {
            let (at, is_right) = request.answered?;
            let took = at - request.intended;
            (is_right && took < self.run.timeout).then_some(took)
        };
        // Where a number ended the run, the last answer is the end, and lies inside.
        let is_spent = u64::from(self.run.total < u64::MAX);
        let inside = |request: &&Request| {
            let done = took(request).map(|took| request.intended + took);
            done.is_some_and(|done| (self.from..self.until + is_spent).contains(&done))
        };
        let is_left = |request: &&&Request| {
            let is_open = request.answered.is_none() && !request.is_lost;
            is_open && self.ended < request.intended + self.run.timeout
        };
        let measured: Vec<&Request> =
            requests.iter().filter(|request| self.from <= request.due).collect();
        let mut times: Vec<Nanos> = measured.iter().filter_map(|request| took(request)).collect();
        times.sort_unstable();
        let (attempted, correct) = (measured.len() as u64, times.len() as u64);
        let under_way = measured.iter().filter(is_left).count() as u64;
        let of_all = |q: f64| {
            let place = (q * times.len() as f64).ceil() as usize;
            times[place.max(1) - 1]
        };
        Figures {
            due: match self.run.kind {
                Kind::Sessions { calls } => {
                    let due = self.arrivals().into_iter().filter(|at| self.from <= *at).count();
                    due as u64 * u64::from(calls)
                }
                Kind::Open | Kind::Closed => attempted,
            },
            attempted,
            correct,
            on_time: times.iter().filter(|took| **took <= limit).count() as u64,
            failed: attempted - correct - under_way,
            under_way,
            correct_inside: requests.iter().filter(inside).count() as u64,
            carried_in: requests
                .iter()
                .filter(inside)
                .filter(|request| request.due < self.from)
                .count() as u64,
            response_ns: (under_way == 0).then(|| {
                let given_up = measured.iter().filter(|request| {
                    let in_vain = request.answered.is_none_or(|(_, is_right)| is_right);
                    took(request).is_none() && !request.is_lost && in_vain
                });
                let known: u128 = times.iter().copied().map(u128::from).sum();
                known + given_up.count() as u128 * u128::from(self.run.timeout)
            }),
            p50_p99_ns: (correct == attempted && 0 < correct).then(|| (of_all(0.5), of_all(0.99))),
            measured_ns: self.until - self.from,
            scheduled_ns: self.has_endless_schedule().then_some(self.until - self.from),
        }
    }
}

/// Runs it, and compares the counts with the definitions.
fn check<'s>(name: &str, run: &Run, server: impl Fn() -> Simulated<'s>) {
    let logs: Vec<Log> = (0..run.lanes).map(|_| Log::default()).collect();
    let engines = logs.iter().map(|log| server().logged(log));
    let seen = run.record(engines);
    if run.total < u64::MAX && matches!(seen.end, End::GaveUp(_)) {
        // The lanes of this bench do not notice that: they continued until the number was reached.
        return;
    }
    let planned = seen.measured_from.saturating_add(run.until);
    let stopped = (run.halt_at / (100 * MILLI)).saturating_add(2).saturating_mul(100 * MILLI);
    let until = match run.total {
        u64::MAX => planned.min(stopped),
        // A number ended it: the time is taken from the run, and is tested separately.
        _ => seen.measured_until,
    };
    let bench = Bench { run, from: seen.measured_from, until, ended: seen.ended };
    let expected = bench.figures(&logs);
    let total = &seen.total;
    let quantile = |q| total.response.quantile(q).map_or(0, |found| found.value);
    let is_near = |(p50, p99): (Nanos, Nanos)| {
        let near = |one: Nanos, other: Nanos| one.abs_diff(other) <= other / 500 + 1;
        near(quantile(0.5), p50) && near(quantile(0.99), p99)
    };
    let found = Figures {
        due: total.due,
        attempted: total.attempted,
        correct: total.correct,
        on_time: total.on_time,
        failed: total.failed_in_all(),
        under_way: total.under_way,
        correct_inside: total.correct_inside,
        carried_in: total.carried_in,
        response_ns: (total.under_way == 0).then(|| total.response.sum()),
        // The values must agree within the histogram's resolution.
        p50_p99_ns: expected
            .p50_p99_ns
            .map(|times| if is_near(times) { times } else { (quantile(0.5), quantile(0.99)) }),
        measured_ns: match seen.end {
            End::Done | End::Halted => seen.measured_until - seen.measured_from,
            // These lanes ran one after the other, and did not notice it.
            End::GaveUp(_) => expected.measured_ns,
        },
        scheduled_ns: match seen.end {
            End::Done | End::Halted if bench.has_endless_schedule() => {
                seen.scheduled_until.map(|until| until - seen.measured_from)
            }
            End::Done | End::Halted | End::GaveUp(_) => expected.scheduled_ns,
        },
    };
    assert_eq!(found, expected, "{name}: found and expected");
}

/// Bursts, gaps, equal times and a trickle, for longer than the loads last.
fn uneven() -> Vec<Nanos> {
    let burst = |at: Nanos, count: usize| std::iter::repeat_n(at, count);
    let trickle = (0..150).map(|n| 1_200 * MILLI + n * 5 * MILLI);
    let tail = (0..200).map(|n| 3_400 * MILLI + n * n * MILLI);
    burst(0, 40)
        .chain(burst(900 * MILLI, 31))
        .chain(trickle)
        .chain(burst(2_500 * MILLI, 60))
        .chain(tail)
        .collect()
}

/// The loads; each is ordered for three seconds, after one second of warm-up.
fn loads() -> Vec<(&'static str, Run)> {
    let usual = |run: Run| Run { warmup: SECOND, until: 3 * SECOND, ..run };
    let per_s = |rate| Rate::per_s(rate).unwrap();
    let listed = || Arrivals::Listed(Listed::new(&uneven()).unwrap());
    let steps = vec![
        (per_s(100), Duration::from_secs(2)),
        (per_s(400), Duration::from_secs(1)),
        (per_s(50), Duration::from_secs(1)),
    ];
    vec![
        ("closed", usual(closed(20))),
        ("closed, a connection a request", Run { keep_alive: false, ..usual(closed(20)) }),
        ("open", usual(open(500, 200))),
        ("open, on a pool that is too small", usual(open(3, 200))),
        (
            "open, on time within 20 ms",
            Run { on_time_within: Some(20 * MILLI), ..usual(open(500, 200)) },
        ),
        (
            "open, one request in two seconds",
            Run {
                arrivals: Some(Arrivals::Constant("0.5".parse().unwrap())),
                until: 5 * SECOND,
                ..usual(open(2, 1))
            },
        ),
        ("open, two lanes", Run { lanes: 2, ..usual(open(500, 200)) }),
        ("closed, two lanes", Run { lanes: 2, ..usual(closed(20)) }),
        ("listed times", Run { arrivals: Some(listed()), ..usual(open(500, 1)) }),
        (
            "listed times, two lanes",
            Run { arrivals: Some(listed()), lanes: 2, ..usual(open(9, 1)) },
        ),
        ("steps", Run { arrivals: Some(Arrivals::Steps(steps)), ..usual(open(500, 1)) }),
        ("sessions", usual(sessions(5, 40, u64::MAX))),
        ("sessions, two lanes", Run { lanes: 2, ..usual(sessions(5, 40, u64::MAX)) }),
        ("sessions, few at once", Run { max_connections: 4, ..usual(sessions(5, 40, u64::MAX)) }),
    ]
}

/// A server: what it does to connections and to requests, by the instants at which they arrive.
type Accepts = Box<dyn FnMut(Nanos) -> (Nanos, Act)>;
type Answers = Box<dyn FnMut(Nanos) -> Vec<(Nanos, Act)>>;

fn at_once() -> Accepts {
    Box::new(|now| (now, Act::Accept))
}

fn good(now: Nanos) -> Vec<(Nanos, Act)> {
    vec![(now, Act::Send(GOOD.to_vec()))]
}

/// Answers after 3 ms; requests that come between the two instants are answered at the end of that time.
fn stalls(from: Nanos, until: Nanos) -> Answers {
    Box::new(move |now| good(if (from..until).contains(&now) { until } else { now } + 3 * MILLI))
}

/// One in seven requests gets this instead of an answer.
fn seventh(acts: Vec<Act>) -> Answers {
    let mut count = 0;
    Box::new(move |now| {
        count += 1;
        if count % 7 != 0 {
            return good(now + 3 * MILLI);
        }
        acts.iter().map(|act| (now + 3 * MILLI, act.clone())).collect()
    })
}

/// One worker: each request waits for those before it.
fn one_at_a_time(each: Nanos) -> Answers {
    let mut free_at = 0;
    Box::new(move |now| {
        free_at = now.max(free_at) + each;
        good(free_at)
    })
}

/// At most one connection per second is accepted: the others are tried again after 1, 3, 7 seconds, as the kernel does.
fn queue_of_one() -> Accepts {
    let mut free_at = 0;
    Box::new(move |now| {
        let retries = [0, 1, 3, 7].map(|seconds| now + seconds * SECOND);
        let at = retries.into_iter().find(|at| free_at <= *at).unwrap_or(now + 15 * SECOND);
        free_at = free_at.max(at) + 10 * MILLI;
        (at, Act::Accept)
    })
}

/// A server under a condition, made anew for each run.
type Condition = fn() -> (Accepts, Answers);

const HOUR: Nanos = 3_600 * SECOND;

/// The conditions. The measured time begins some tenths of a second after the first second.
fn conditions() -> Vec<(&'static str, Condition)> {
    vec![
        ("steady", || (at_once(), stalls(HOUR, HOUR))),
        ("a stall over the warm-up's end", || (at_once(), stalls(700 * MILLI, 1_600 * MILLI))),
        ("a stall over the end", || (at_once(), stalls(3_500 * MILLI, 5_500 * MILLI))),
        ("a hang for good", || (at_once(), stalls(2_500 * MILLI, HOUR))),
        ("a hang before the measured time", || (at_once(), stalls(500 * MILLI, HOUR))),
        ("slow to accept", || {
            (Box::new(|now| (now + 3 * SECOND, Act::Accept)), stalls(HOUR, HOUR))
        }),
        ("never accepts", || (Box::new(|now| (now + HOUR, Act::Accept)), stalls(HOUR, HOUR))),
        ("refuses", || (Box::new(|now| (now + MILLI, Act::Refuse)), stalls(HOUR, HOUR))),
        ("a backlog of one", || (queue_of_one(), stalls(HOUR, HOUR))),
        ("resets", || (at_once(), seventh(vec![Act::Reset]))),
        ("closes before an answer", || (at_once(), seventh(vec![Act::Fin]))),
        ("wrong bodies", || {
            (
                at_once(),
                seventh(vec![Act::Send(
                    GOOD.iter().map(|byte| if *byte == b'R' { b'r' } else { *byte }).collect(),
                )]),
            )
        }),
        ("cut answers", || (at_once(), seventh(vec![Act::Send(GOOD[..20].to_vec()), Act::Reset]))),
        ("overload", || (at_once(), one_at_a_time(15 * MILLI))),
        ("answers just in time and just too late", || {
            let mut count = 0;
            (
                at_once(),
                Box::new(move |now| {
                    count += 1;
                    good(now + 5 * SECOND + MILLI - count % 2 * 2 * MILLI)
                }),
            )
        }),
    ]
}

#[test]
fn what_is_counted_is_what_the_definitions_say() {
    for (load, run) in loads() {
        for (condition, server) in conditions() {
            let name = format!("{load}, {condition}");
            let make = || {
                let (accepts, answers) = server();
                Simulated::new(accepts, answers)
            };
            check(&name, &run, make);
            // Stopped in the middle, at a window's border and beside it.
            for halt_at in [2 * SECOND, 2 * SECOND + 1, 2_950 * MILLI] {
                check(
                    &format!("{name}, stopped at {halt_at}"),
                    &Run { halt_at, ..run.clone() },
                    make,
                );
            }
            // Ended by a number.
            for total in [1, 7] {
                let until = u64::MAX;
                check(&format!("{name}, {total} only"), &Run { total, until, ..run.clone() }, make);
            }
        }
    }
}
