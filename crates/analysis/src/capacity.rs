//! How much a subject can be offered before it breaks a promise: read off the measured points of its curve.

use lab::experiment::{Point, Promised};
use lab::figure::Figure;

use crate::board::{Row, Table, Weighed};
use crate::estimate::Estimate;
use crate::figures::Number;

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// A p99 of no more than so many milliseconds.
    pub p99_ms: f64,
    /// No more failures than so many of a hundred.
    pub failed_percent: f64,
    /// At least this share of what was due is answered as expected in time; usually 0.99.
    pub on_time_share: f64,
}

/// A schedule is kept up with where so much of it is on time.
const ON_TIME_SHARE: f64 = 0.99;

impl From<Promised> for Promise {
    fn from(promised: Promised) -> Promise {
        Promise {
            p99_ms: promised.p99.as_secs_f64() * 1e3,
            failed_percent: promised.failed_percent,
            on_time_share: ON_TIME_SHARE,
        }
    }
}

impl Table {
    /// What each subject can be offered, in the order of the table; nothing of closed loops and of one place.
    #[must_use]
    pub fn capacities(&self, promise: Promise) -> Vec<(&str, Capacity)> {
        let of_subjects = self.rows.chunk_by(|one, other| one.subject == other.subject);
        let curves = of_subjects.filter(|rows| 1 < rows.len() && !rows[0].is_reference);
        let found = |rows: &[Row]| capacity(&rows.iter().collect::<Vec<_>>(), promise);
        curves.filter_map(|rows| Some((rows[0].subject.as_str(), found(rows)?))).collect()
    }
}

/// A promise broken at a point, and what its rounds came to that broke it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breach {
    /// Too slow.
    P99(f64),
    /// Too many failures.
    Failed(f64),
    /// Only this share of what was due was answered as expected in time.
    Behind(f64),
    /// A round was no measurement, or the figures are not there.
    Unmeasured,
}

/// What was found along a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The highest point below which all kept the promise, and which does.
    pub good: Option<Point>,
    /// The first that broke it, and how: capacity lies between the two. None: capacity may be more.
    pub bad: Option<(Point, Vec<Breach>)>,
    /// The highest good point of each round alone, as a rate, over the rounds; 0 where a round had none.
    pub rounds: Option<Estimate>,
    /// Above the first bad point another one was good: the bracket is not to be relied on.
    pub is_ragged: bool,
    /// Where most is achieved for the time that half the requests take: beyond it one is paid for with the other.
    pub knee: Option<Point>,
}

/// Of one subject's rows with one workload. Nothing of closed loops, which offer nothing, and of no rows.
#[must_use]
pub fn capacity(rows: &[&Row], promise: Promise) -> Option<Capacity> {
    let is_offered = |row: &&Row| matches!(row.point, Point::Requests(_) | Point::Sessions(_));
    let mut rows: Vec<&Row> = rows.iter().copied().filter(is_offered).collect();
    rows.sort_by(|one, other| one.point.value().total_cmp(&other.point.value()));
    if rows.is_empty() {
        return None;
    }
    let judged: Vec<(Point, Vec<Breach>)> =
        rows.iter().map(|row| (row.point, breaches(row, promise))).collect();
    let is_good = |(_, breaches): &&(Point, Vec<Breach>)| breaches.is_empty();
    let good = judged.iter().take_while(is_good).count();
    Some(Capacity {
        good: judged[..good].last().map(|(point, _)| *point),
        bad: judged.get(good).cloned(),
        rounds: Estimate::of(of_rounds(&rows, promise)),
        is_ragged: judged[good..].iter().any(|judged| is_good(&judged)),
        knee: knee(&rows),
    })
}

/// The highest good point of each round that was tried at every point.
fn of_rounds(rows: &[&Row], promise: Promise) -> Vec<Number> {
    let trial = |row: &&Row, repeat: u32| -> Option<Weighed> {
        row.trials.iter().find(|trial| trial.repeat == repeat).cloned()
    };
    let last = rows.iter().flat_map(|row| &row.trials).map(|trial| trial.repeat).max();
    let round = |repeat: u32| -> Option<Number> {
        let trials: Option<Vec<Weighed>> = rows.iter().map(|row| trial(row, repeat)).collect();
        let keeps = |trial: &&Weighed| {
            let value = |figure| trial.figures.get(figure).map(|number: Number| number.value);
            trial.is_measured() && broken(value, promise).is_empty()
        };
        let good = trials?.iter().take_while(keeps).count();
        let value = rows[..good].last().map_or(0.0, |row| row.point.value());
        Some(Number { value, is_censored: good == rows.len(), is_supported: true })
    };
    (0..=last.unwrap_or(0)).filter_map(round).collect()
}

fn breaches(row: &Row, promise: Promise) -> Vec<Breach> {
    let value = |figure| row.estimate(figure).map(|estimate| estimate.value);
    let mut breaches = broken(value, promise);
    if !row.unmeasured().is_empty() && breaches != [Breach::Unmeasured] {
        breaches.insert(0, Breach::Unmeasured);
    }
    breaches
}

/// What of the promise these figures break.
fn broken(value: impl Fn(Figure) -> Option<f64>, promise: Promise) -> Vec<Breach> {
    let (Some(p99), Some(failed), Some(on_time)) =
        (value(Figure::ResponseP99), value(Figure::FailedShare), value(Figure::OnTime))
    else {
        return vec![Breach::Unmeasured];
    };
    let share = on_time / 100.0;
    let all = [
        (promise.p99_ms < p99).then_some(Breach::P99(p99)),
        (promise.failed_percent < failed).then_some(Breach::Failed(failed)),
        (share < promise.on_time_share).then_some(Breach::Behind(share)),
    ];
    all.into_iter().flatten().collect()
}

/// The point of the greatest power, as Kleinrock calls it: what is achieved, by the time that it takes.
fn knee(rows: &[&Row]) -> Option<Point> {
    let power = |row: &&Row| {
        let value = |figure| row.estimate(figure).map(|estimate| estimate.value);
        let (achieved, p50) = (value(Figure::Achieved)?, value(Figure::ResponseP50)?);
        (0.0 < achieved && 0.0 < p50).then_some((row.point, achieved / p50))
    };
    let powers = rows.iter().filter_map(power);
    powers.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(point, _)| point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::fixture::{MS, counted, fail, healthy, key};
    use lab::record::{Outcome, OutcomeKind, RunRecord, TrialRecord};
    use load::{Distribution, Failure, SECOND};

    const PROMISE: Promise = Promise { p99_ms: 10.0, failed_percent: 1.0, on_time_share: 0.99 };

    /// Ten seconds at this rate, each answer after so many milliseconds.
    fn trial(rate: u64, answer_ms: u64) -> TrialRecord {
        let mut trial = healthy();
        trial.key = key("a", rate as f64, 0);
        let count = rate * 10;
        counted(&mut trial, count, count);
        let total = &mut trial.pressed.as_mut().unwrap().recording.total;
        total.response = Distribution::new(5 * SECOND);
        (0..count).for_each(|_| total.response.record(answer_ms * MS));
        trial
    }

    fn found(trials: &[TrialRecord]) -> Option<Capacity> {
        let run = RunRecord {
            name: "x".into(),
            files: Vec::new(),
            is_quick: false,
            seed: 1,
            began_unix_ms: 0,
            dyno: String::new(),
            facts: Vec::new(),
            entries: Vec::new(),
            plan: Vec::new(),
            conformance: Vec::new(),
        };
        let board = Board::of(&run, trials);
        let rows: Vec<&Row> = board.tables.iter().flat_map(|table| &table.rows).collect();
        capacity(&rows, PROMISE)
    }

    #[test]
    fn capacity_lies_between_the_last_good_point_and_the_first_bad_one() {
        let found = found(&[trial(100, 1), trial(200, 1), trial(300, 3), trial(400, 20)]).unwrap();
        assert_eq!(found.good, Some(Point::Requests(300.0)));
        let (point, breaches) = found.bad.unwrap();
        assert_eq!(point, Point::Requests(400.0));
        assert!(matches!(breaches[..], [Breach::P99(p99)] if (19.9..20.1).contains(&p99)));
        assert_eq!((found.is_ragged, found.knee), (false, Some(Point::Requests(200.0))));
    }

    #[test]
    fn a_good_point_beyond_a_bad_one_is_not_relied_on() {
        let found = found(&[trial(100, 1), trial(200, 20), trial(300, 1)]).unwrap();
        assert_eq!((found.good, found.is_ragged), (Some(Point::Requests(100.0)), true));
    }

    #[test]
    fn a_server_that_keeps_every_promise_may_be_able_to_do_more() {
        let found = found(&[trial(100, 1), trial(200, 1)]).unwrap();
        assert_eq!((found.good, found.bad), (Some(Point::Requests(200.0)), None));
    }

    #[test]
    fn rounds_that_break_elsewhere_make_an_interval() {
        let mut trials = Vec::new();
        for (repeat, slow_from) in [(0, 300), (1, 400), (2, 300)] {
            for rate in [100, 200, 300, 400] {
                let mut trial = trial(rate, if slow_from <= rate { 20 } else { 1 });
                trial.key.repeat = repeat;
                trials.push(trial);
            }
        }
        let rounds = found(&trials).unwrap().rounds.unwrap();
        assert_eq!(
            (rounds.median, rounds.min, rounds.max, rounds.rounds),
            (200.0, 200.0, 300.0, 3)
        );
        let (low, high) = rounds.interval.unwrap();
        assert!(low < 200.0 && 300.0 < high, "{low} {high}");
    }

    #[test]
    fn failures_falling_behind_and_death_break_the_promise() {
        let breaches = |trial: TrialRecord| found(&[trial]).unwrap().bad.unwrap().1;
        let mut failing = trial(200, 1);
        fail(&mut failing, Failure::RecvReset, 40);
        assert!(matches!(breaches(failing)[..], [Breach::Failed(_), Breach::Behind(_)]));
        let mut slow = trial(200, 1);
        slow.pressed.as_mut().unwrap().recording.total.correct_inside = 1_900;
        assert_eq!(found(&[slow.clone()]).unwrap().bad, None, "what comes later is in time, too");
        let total = &mut slow.pressed.as_mut().unwrap().recording.total;
        (total.correct, total.under_way) = (1_900, 100);
        assert_eq!(breaches(slow), [Breach::Behind(0.95)]);
        let mut died = trial(200, 1);
        died.outcome = Outcome { kind: OutcomeKind::Died, says: String::new() };
        assert_eq!(breaches(died), [Breach::Unmeasured]);
    }

    #[test]
    fn a_closed_loop_has_no_capacity() {
        let mut closed = trial(200, 1);
        closed.key.point = Point::Connections(10);
        assert_eq!(found(&[closed]), None);
        assert_eq!(found(&[]), None);
    }
}
