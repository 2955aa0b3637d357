//! How much a subject can be offered before it breaks a promise: read off the measured points of its curve.

use lab::experiment::Point;
use lab::figure::Figure;

use crate::board::Row;

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// A p99 of no more than so many milliseconds.
    pub p99_ms: f64,
    /// No more failures than so many of a hundred.
    pub failed_percent: f64,
    /// At least this share of what was offered is achieved; usually 0.99.
    pub achieved_share: f64,
}

/// A promise broken at a point, and what its rounds came to that broke it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breach {
    /// Too slow.
    P99(f64),
    /// Too many failures.
    Failed(f64),
    /// Less than was offered: so much of it.
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
    /// Above the first bad point another one was good: the bracket is not to be relied on.
    pub is_ragged: bool,
    /// Where most is achieved for the time that half the requests take: beyond it one is paid for with the other.
    pub knee: Option<Point>,
}

/// Of one subject's rows with one workload. Nothing of closed loops, which offer nothing, and of no rows.
#[must_use]
pub fn capacity(rows: &[&Row], promise: Promise) -> Option<Capacity> {
    let is_offered = |row: &&Row| !matches!(row.point, Point::Connections(_));
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
        is_ragged: judged[good..].iter().any(|judged| is_good(&judged)),
        knee: knee(&rows),
    })
}

fn breaches(row: &Row, promise: Promise) -> Vec<Breach> {
    let value = |figure| row.estimate(figure).map(|estimate| estimate.value);
    let (Some(p99), Some(failed), Some(achieved), Some(offered)) = (
        value(Figure::ResponseP99),
        value(Figure::FailedShare),
        value(Figure::Achieved),
        value(Figure::Offered),
    ) else {
        return vec![Breach::Unmeasured];
    };
    let share = achieved / offered;
    let all = [
        (!row.unmeasured().is_empty()).then_some(Breach::Unmeasured),
        (promise.p99_ms < p99).then_some(Breach::P99(p99)),
        (promise.failed_percent < failed).then_some(Breach::Failed(failed)),
        (share < promise.achieved_share).then_some(Breach::Behind(share)),
    ];
    all.into_iter().flatten().collect()
}

/// The point of the greatest power, as Kleinrock calls it: what is achieved, by the time that it takes.
fn knee(rows: &[&Row]) -> Option<Point> {
    let power = |row: &&Row| {
        let value = |figure| row.estimate(figure).map(|estimate| estimate.value);
        let (achieved, p50) = (value(Figure::Achieved)?, value(Figure::ResponseP50)?);
        (0.0 < p50).then_some((row.point, achieved / p50))
    };
    let powers = rows.iter().filter_map(power);
    powers.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(point, _)| point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::fixture::{MS, fail, healthy, key};
    use lab::record::{Outcome, OutcomeKind, RunRecord, TrialRecord};
    use load::{Distribution, Failure, SECOND};

    const PROMISE: Promise = Promise { p99_ms: 10.0, failed_percent: 1.0, achieved_share: 0.99 };

    /// Ten seconds at this rate, each answer after so many milliseconds.
    fn trial(rate: u64, answer_ms: u64) -> TrialRecord {
        let mut trial = healthy();
        trial.key = key("a", rate as f64, 0);
        let total = &mut trial.pressed.as_mut().unwrap().recording.total;
        let count = rate * 10;
        (total.attempted, total.correct, total.correct_inside) = (count, count, count);
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
    fn failures_falling_behind_and_death_break_the_promise() {
        let breaches = |trial: TrialRecord| found(&[trial]).unwrap().bad.unwrap().1;
        let mut failing = trial(200, 1);
        fail(&mut failing, Failure::RecvReset, 40);
        assert!(matches!(breaches(failing)[..], [Breach::Failed(_), Breach::Behind(_)]));
        let mut slow = trial(200, 1);
        slow.pressed.as_mut().unwrap().recording.total.correct_inside = 1_900;
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
