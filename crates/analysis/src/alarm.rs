//! What is odd about a table as a whole: different subjects with the same figure have something else in common.

use lab::experiment::Point;
use lab::figure::Figure;

use crate::board::{Board, Row, Table};
use crate::rule::{SAME_MEDIAN, SAME_RATE, alike};

/// Many subjects with the same figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    pub workload: String,
    /// The place on the axis.
    pub point: Point,
    pub figure: Figure,
    /// The subjects, lowest first.
    pub subjects: Vec<String>,
    /// How many subjects have that figure there.
    pub of: usize,
    /// The lowest of their values.
    pub low: f64,
    /// The highest of their values.
    pub high: f64,
}

impl Board {
    /// Where different subjects have the same figure, table by table.
    #[must_use]
    pub fn alarms(&self) -> Vec<Alarm> {
        self.tables.iter().flat_map(alarms).collect()
    }
}

impl Table {
    /// The same for one table.
    #[must_use]
    pub fn alarms(&self) -> Vec<Alarm> {
        alarms(self)
    }
}

/// References do not count as subjects.
fn alarms(table: &Table) -> Vec<Alarm> {
    let mut points: Vec<Point> = Vec::new();
    let competitors = || table.rows.iter().filter(|row| !row.is_reference);
    for row in competitors() {
        if !points.contains(&row.point) {
            points.push(row.point);
        }
    }
    let at = |point: Point| {
        let rows: Vec<&Row> = competitors().filter(|row| row.point == point).collect();
        // A server that keeps up with a schedule achieves what was offered: that is no coincidence.
        let limited = rows.iter().copied().filter(|row| is_limited(row)).collect();
        [
            alarm(table, point, Figure::Throughput, limited, SAME_RATE),
            alarm(table, point, Figure::ResponseP50, rows, SAME_MEDIAN),
        ]
    };
    points.into_iter().flat_map(at).flatten().collect()
}

fn is_limited(row: &Row) -> bool {
    match row.point {
        Point::Connections(_) => true,
        Point::Held(_) => false,
        Point::Requests(_) | Point::Sessions(_) => row.is_behind(),
    }
}

fn alarm(
    table: &Table,
    point: Point,
    figure: Figure,
    rows: Vec<&Row>,
    within: f64,
) -> Option<Alarm> {
    let value = |row: &Row| row.estimate(figure).map(|estimate| estimate.value);
    let mut all: Vec<(f64, &Row)> =
        rows.into_iter().filter_map(|row| Some((value(row)?, row))).collect();
    all.retain(|(value, _)| 0.0 < *value);
    all.sort_by(|one, other| one.0.total_cmp(&other.0));
    let group = alike(&all, within)?;
    Some(Alarm {
        workload: table.workload.clone(),
        point,
        figure,
        subjects: group.iter().map(|(_, row)| row.subject.clone()).collect(),
        of: all.len(),
        low: group.first()?.0,
        high: group.last()?.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, counted, healthy};
    use lab::record::TrialRecord;
    use load::{Distribution, SECOND};

    /// Subjects in a closed loop: for each its answers in ten seconds, and its response time.
    fn alarms_of(subjects: &[(u64, u64)], point: Point) -> Vec<Alarm> {
        let trial = |(place, &(answers, response)): (usize, &(u64, u64))| {
            let mut trial = healthy();
            trial.key.subject = format!("s{place}");
            trial.key.point = point;
            counted(&mut trial, 20_000, answers);
            let total = &mut trial.loaded.as_mut().unwrap().recording.total;
            total.response = Distribution::new(5 * SECOND);
            (0..2_000).for_each(|_| total.response.record(response));
            trial
        };
        let trials: Vec<TrialRecord> = subjects.iter().enumerate().map(trial).collect();
        let run = crate::fixture::run(&[]);
        Board::of(&run, &trials).alarms()
    }

    const CLOSED: Point = Point::Connections(64);

    #[test]
    fn many_subjects_on_one_rate_are_an_alarm() {
        let subjects =
            [(10_000, 9), (15_000, 7), (15_100, 5), (15_150, 4), (15_220, 3), (19_000, 2)];
        let found = alarms_of(&subjects.map(|(answers, ms)| (answers, ms * MS)), CLOSED);
        let [alarm] = &found[..] else { panic!("{found:?}") };
        assert_eq!((alarm.figure, alarm.of, alarm.point), (Figure::Throughput, 6, CLOSED));
        assert_eq!(alarm.subjects, ["s1", "s2", "s3", "s4"]);
        assert_eq!((alarm.low, alarm.high), (1_500.0, 1_522.0));
    }

    #[test]
    fn the_published_share_is_an_alarm() {
        // 174 of 380 within 1.5 %, the others far apart.
        let alike = (0..174).map(|place| (15_000 + place, 0));
        let apart = (0..206).map(|place| (100 + place * 40, 0));
        let subjects: Vec<(u64, u64)> = alike
            .chain(apart)
            .enumerate()
            .map(|(place, (answers, _))| (answers, MS * (place as u64 + 1)))
            .collect();
        let found = alarms_of(&subjects, CLOSED);
        assert!(
            found.iter().any(|alarm| alarm.figure == Figure::Throughput
                && (174..=180).contains(&alarm.subjects.len())),
            "{:?}",
            found.iter().map(|alarm| (alarm.figure, alarm.subjects.len())).collect::<Vec<_>>()
        );
    }

    #[test]
    fn many_subjects_with_one_median_are_an_alarm() {
        let subjects = [(10_000, MS), (12_000, MS), (14_000, MS), (16_000, MS), (18_000, 3 * MS)];
        let found = alarms_of(&subjects, CLOSED);
        let [alarm] = &found[..] else { panic!("{found:?}") };
        assert_eq!((alarm.figure, alarm.subjects.len(), alarm.of), (Figure::ResponseP50, 4, 5));
    }

    #[test]
    fn subjects_that_differ_are_no_alarm_nor_are_three_that_do_not() {
        let differ = [(10_000, 9), (11_000, 7), (12_000, 5), (13_000, 4), (14_000, 3), (15_000, 2)];
        assert_eq!(alarms_of(&differ.map(|(answers, ms)| (answers, ms * MS)), CLOSED), []);
        let three = [(15_000, 9), (15_000, 7), (15_000, 5)];
        assert_eq!(alarms_of(&three.map(|(answers, ms)| (answers, ms * MS)), CLOSED), []);
    }

    #[test]
    fn a_schedule_that_all_keep_up_with_is_no_coincidence() {
        let subjects = [(20_000, 9), (20_000, 7), (20_000, 5), (20_000, 4), (20_000, 3)];
        let subjects = subjects.map(|(answers, ms)| (answers, ms * MS));
        assert_eq!(alarms_of(&subjects, Point::Requests(2_000.0)), []);
        let behind = subjects.map(|(_, ns)| (15_000, ns));
        assert_eq!(alarms_of(&behind, Point::Requests(2_000.0)).len(), 1);
    }
}
