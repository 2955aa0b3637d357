//! How much load a subject can be offered before it breaks the promise: taken from the judgements along its curve.

use lab::experiment::{Point, Promised};
use lab::figure::Figure;

use crate::board::{JudgedTrial, Row, Table};
use crate::judge::keeps;
use crate::judgement::Breach;

impl Table {
    /// The capacity of each subject, in the order of the table; nothing for closed loops, or with only one place.
    #[must_use]
    pub fn capacities(&self) -> Vec<(&str, Capacity)> {
        let of_subjects = self.rows.chunk_by(|one, other| one.subject == other.subject);
        let curves = of_subjects.filter(|rows| 1 < rows.len() && !rows[0].is_reference);
        let found = |rows: &[Row]| capacity(&rows.iter().collect::<Vec<_>>(), self.promise);
        curves.filter_map(|rows| Some((rows[0].subject.as_str(), found(rows)?))).collect()
    }
}

/// The result along a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The highest point at which the promise was kept and below which it was kept at every point.
    pub good: Option<Point>,
    /// The first point at which it was broken, and how: capacity is between the two. None: capacity may be more.
    pub bad: Option<(Point, Vec<Breach>)>,
    /// The interval by single rounds, where there are two or more: from the last place at which none of them had broken
    /// the promise to the first at which each of them had. It always contains `good` and `bad`. None where one of these
    /// is missing: a bound has no interval.
    pub rounds: Option<(Point, Point)>,
    /// At a point above the first bad one the promise was kept: the bracket is not reliable.
    pub is_ragged: bool,
    /// Where throughput divided by the median response time is greatest: beyond it, one is gained at the cost of the
    /// other.
    pub knee: Option<Point>,
}

/// The capacity by one subject's rows with one workload. None for closed loops, which have no offered load, and without
/// rows.
fn capacity(rows: &[&Row], promise: Promised) -> Option<Capacity> {
    let mut rows: Vec<&Row> = rows.iter().copied().filter(|row| row.is_offered()).collect();
    rows.sort_by_key(|row| row.point);
    if rows.is_empty() {
        return None;
    }
    let of_row = |row: &&Row| Some((row.point, row.judgement.breaches.clone()?));
    let judged: Vec<(Point, Vec<Breach>)> = rows.iter().filter_map(of_row).collect();
    let is_good = |(_, breaches): &&(Point, Vec<Breach>)| breaches.is_empty();
    let good = judged.iter().take_while(is_good).count();
    Some(Capacity {
        good: judged[..good].last().map(|(point, _)| *point),
        bad: judged.get(good).cloned(),
        rounds: rounds(&rows, promise, good),
        is_ragged: judged[good..].iter().any(|judged| is_good(&judged)),
        knee: knee(&rows),
    })
}

/// The places between which single rounds break the promise. All rounds together break it at the place after so many
/// good ones.
fn rounds(rows: &[&Row], promise: Promised, good: usize) -> Option<(Point, Point)> {
    let last = rows.iter().flat_map(|row| &row.trials).map(|trial| trial.repeat).max()?;
    let found: Vec<usize> =
        (0..=last).filter_map(|repeat| good_places(rows, promise, repeat)).collect();
    let (least, most) = (*found.iter().min()?.min(&good), *found.iter().max()?.max(&good));
    let low = least.checked_sub(1).and_then(|place| rows.get(place))?;
    let high = rows.get(most)?;
    (1 < found.len()).then_some((low.point, high.point))
}

/// The number of good places of a round that was run at every place.
fn good_places(rows: &[&Row], promise: Promised, repeat: u32) -> Option<usize> {
    let trials = rows.iter().map(|row| row.trials.iter().find(|trial| trial.repeat == repeat));
    let trials: Vec<&JudgedTrial> = trials.collect::<Option<_>>()?;
    Some(trials.iter().take_while(|trial| keeps(trial, promise)).count())
}

/// The point of the greatest power, as Kleinrock calls it: throughput divided by response time.
fn knee(rows: &[&Row]) -> Option<Point> {
    let power = |row: &&Row| {
        let value = |figure| row.estimate(figure).map(|estimate| estimate.value);
        let (throughput, p50) = (value(Figure::Throughput)?, value(Figure::ResponseP50)?);
        (0.0 < throughput && 0.0 < p50).then_some((row.point, throughput / p50))
    };
    let powers = rows.iter().filter_map(power);
    powers.max_by(|one, other| one.1.total_cmp(&other.1)).map(|(point, _)| point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, at, counted, end, fail, recording, responding, table};
    use lab::record::{OutcomeKind, TrialRecord};
    use load::Failure;

    /// The default promise is a p99 of 100 ms. Ten seconds at this rate, each answer after so many milliseconds.
    fn trial(rate: u64, answer_ms: u64) -> TrialRecord {
        let mut trial = at("a", Point::Requests(rate as f64), 0);
        counted(&mut trial, rate * 10, rate * 10);
        responding(&mut trial, answer_ms * MS);
        trial
    }

    fn found(trials: &[TrialRecord]) -> Option<Capacity> {
        let table = table(trials);
        capacity(&table.rows.iter().collect::<Vec<_>>(), table.promise)
    }

    /// Three rounds at four rates: each round is slow from one of them on, or nowhere.
    fn of_rounds(slow_from: [u64; 3]) -> Capacity {
        let rounds = slow_from.into_iter().zip(0..);
        let trials = rounds.flat_map(|(slow_from, repeat)| {
            [100, 200, 300, 400].map(|rate| {
                let mut trial = trial(rate, if slow_from <= rate { 200 } else { 1 });
                trial.key.repeat = repeat;
                trial
            })
        });
        found(&trials.collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn capacity_lies_between_the_last_good_point_and_the_first_bad_one() {
        let found = found(&[trial(100, 1), trial(200, 1), trial(300, 3), trial(400, 200)]).unwrap();
        assert_eq!(found.good, Some(Point::Requests(300.0)));
        let (point, breaches) = found.bad.unwrap();
        assert_eq!(point, Point::Requests(400.0));
        assert!(matches!(breaches[..], [Breach::P99(p99)] if (199.0..201.0).contains(&p99)));
        assert_eq!((found.is_ragged, found.knee), (false, Some(Point::Requests(200.0))));
    }

    #[test]
    fn a_good_point_beyond_a_bad_one_is_not_relied_on() {
        let found = found(&[trial(100, 1), trial(200, 200), trial(300, 1)]).unwrap();
        assert_eq!((found.good, found.is_ragged), (Some(Point::Requests(100.0)), true));
    }

    #[test]
    fn a_server_that_keeps_every_promise_may_be_able_to_do_more() {
        let found = found(&[trial(100, 1), trial(200, 1)]).unwrap();
        assert_eq!((found.good, found.bad), (Some(Point::Requests(200.0)), None));
    }

    #[test]
    fn rounds_that_break_elsewhere_widen_what_is_known() {
        let found = of_rounds([300, 400, 300]);
        assert_eq!(found.rounds, Some((Point::Requests(200.0), Point::Requests(400.0))));
    }

    /// However three rounds break at four places, the interval by single rounds contains the bracket of all rounds
    /// together, and bounds have no interval.
    #[test]
    fn what_rounds_say_never_contradicts_the_capacity() {
        for code in 0..5_u64.pow(3) {
            let found = of_rounds([1, 5, 25].map(|part| 100 + code / part % 5 * 100));
            let value = |point: Option<Point>| point.map(Point::value);
            let (good, bad) = (value(found.good), value(found.bad.map(|(point, _)| point)));
            if let Some((low, high)) = found.rounds {
                let is_within = low.value() <= good.unwrap() && bad.unwrap() <= high.value();
                assert!(is_within, "{good:?} {bad:?} {low:?} {high:?}");
            }
        }
    }

    #[test]
    fn failures_falling_behind_and_death_break_the_promise() {
        let breaches = |trial: TrialRecord| found(&[trial]).unwrap().bad.unwrap().1;
        let mut failing = trial(200, 1);
        fail(&mut failing, Failure::RecvReset, 40);
        assert!(matches!(breaches(failing)[..], [Breach::Failed(_), Breach::Behind(_)]));
        let mut slow = trial(200, 1);
        recording(&mut slow).total.correct_inside = 1_900;
        assert_eq!(found(&[slow.clone()]).unwrap().bad, None, "what comes later is in time, too");
        let total = &mut recording(&mut slow).total;
        (total.correct, total.on_time, total.under_way) = (1_900, 1_900, 100);
        assert_eq!(breaches(slow), [Breach::Behind(0.95)]);
        let mut died = trial(200, 1);
        end(&mut died, OutcomeKind::Died);
        assert_eq!(breaches(died), [Breach::Unmeasured]);
    }

    #[test]
    fn a_closed_loop_has_no_capacity() {
        assert_eq!(found(&[at("a", Point::Connections(10), 0)]), None);
    }
}
