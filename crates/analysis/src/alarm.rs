//! What is odd about a table as a whole: different subjects with the same figure have something else in common, unless a
//! reference shows that the load and the machine could do more.

use lab::experiment::Point;
use lab::figure::Figure;
use schemars::JsonSchema;
use serde::Serialize;

use crate::board::{Board, Row, Table};
use crate::rule::{SAME_MEDIAN, SAME_RATE, alike};

/// Many servers with the same figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alarm {
    /// the workload
    pub workload: String,
    #[serde(flatten)]
    pub point: Point,
    /// the figure that is alike
    #[schemars(with = "String")]
    pub figure: Figure,
    /// the servers that are alike, lowest first
    pub subjects: Vec<String>,
    /// out of how many
    pub of: usize,
    /// their smallest value
    pub low: f64,
    /// their largest value
    pub high: f64,
}

impl Board {
    /// Where different servers have the same figure, table by table.
    #[must_use]
    pub fn alarms(&self) -> Vec<Alarm> {
        self.tables.iter().flat_map(Table::alarms).collect()
    }
}

impl Table {
    /// Where different subjects have the same figure. References do not count as servers.
    #[must_use]
    pub fn alarms(&self) -> Vec<Alarm> {
        self.points().into_iter().flat_map(|point| alarms_at(self, point)).flatten().collect()
    }
}

/// A reference that is better than all of a group by more than this factor shows that neither the load nor the machine
/// was what limited the group.
const CLEARLY: f64 = 1.25;

fn alarms_at(table: &Table, point: Point) -> [Option<Alarm>; 2] {
    let rows: Vec<&Row> = table.competitors().filter(|row| row.point == point).collect();
    let limited = rows.iter().copied().filter(|row| row.is_limited()).collect();
    let found = [
        alarm(table, point, Figure::Throughput, limited, SAME_RATE),
        alarm(table, point, Figure::ResponseP50, rows, SAME_MEDIAN),
    ];
    found.map(|alarm| alarm.filter(|alarm| !is_refuted(table, alarm)))
}

/// Whether a reference at the same place is clearly better than the whole group.
fn is_refuted(table: &Table, alarm: &Alarm) -> bool {
    let references = table.rows.iter().filter(|row| row.is_reference && row.point == alarm.point);
    let mut values = references.filter_map(|row| Some(row.estimate(alarm.figure)?.value));
    values.any(|value| match alarm.figure {
        Figure::Throughput => CLEARLY * alarm.high < value,
        _ => 0.0 < value && CLEARLY * value < alarm.low,
    })
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
    use crate::fixture::{MS, at, counted, normal, responding, table};
    use lab::record::TrialRecord;

    /// The alarms over servers in a closed loop: for each its answers in ten seconds, and its response time in
    /// milliseconds.
    fn alarms_of(subjects: &[(u64, u64)], point: Point) -> Vec<Alarm> {
        table_of(subjects.iter().map(|&(answers, ms)| (answers, ms * MS)), point).alarms()
    }

    fn table_of(subjects: impl Iterator<Item = (u64, u64)>, point: Point) -> Table {
        let trial = |(place, (answers, response)): (usize, (u64, u64))| {
            let mut trial = at(&format!("s{place}"), point, 0);
            counted(&mut trial, 20_000, answers);
            responding(&mut trial, response);
            trial
        };
        table(&subjects.enumerate().map(trial).collect::<Vec<TrialRecord>>())
    }

    const CLOSED: Point = Point::Connections(64);

    #[test]
    fn many_subjects_on_one_rate_are_an_alarm() {
        let subjects =
            [(10_000, 9), (15_000, 7), (15_100, 5), (15_150, 4), (15_220, 3), (19_000, 2)];
        let found = alarms_of(&subjects, CLOSED);
        let [alarm] = &found[..] else { panic!("{found:?}") };
        assert_eq!((alarm.figure, alarm.of, alarm.point), (Figure::Throughput, 6, CLOSED));
        assert_eq!(alarm.subjects, ["s1", "s2", "s3", "s4"]);
        assert_eq!((alarm.low, alarm.high), (1_500.0, 1_522.0));
    }

    #[test]
    fn many_subjects_with_one_median_are_an_alarm() {
        let subjects = [(10_000, 1), (12_000, 1), (14_000, 1), (16_000, 1), (18_000, 3)];
        let found = alarms_of(&subjects, CLOSED);
        let [alarm] = &found[..] else { panic!("{found:?}") };
        assert_eq!((alarm.figure, alarm.subjects.len(), alarm.of), (Figure::ResponseP50, 4, 5));
    }

    #[test]
    fn subjects_that_differ_are_no_alarm_nor_are_three_that_do_not() {
        let differ = [(10_000, 9), (11_000, 7), (12_000, 5), (13_000, 4), (14_000, 3), (15_000, 2)];
        assert_eq!(alarms_of(&differ, CLOSED), []);
        assert_eq!(alarms_of(&[(15_000, 9), (15_000, 7), (15_000, 5)], CLOSED), []);
    }

    /// How many of 50 tables of so many equal servers have an alarm, beside a reference of so many times their rate.
    fn false_alarms(servers: usize, reference: f64) -> usize {
        let mut chance = load::Chance::new(33);
        let is_alarm = |_: &u32| {
            let mut noisy = || 1.0 + 0.003 * normal(&mut chance);
            let all: Vec<f64> = (0..servers).map(|_| noisy()).chain([reference]).collect();
            let figures = |rate: f64| ((4_000.0 * rate) as u64, (4e6 / rate) as u64);
            let mut table = table_of(all.into_iter().map(figures), CLOSED);
            let of_reference = format!("s{servers}");
            table.rows.iter_mut().for_each(|row| row.is_reference = row.subject == of_reference);
            !table.alarms().is_empty()
        };
        (0..50).filter(is_alarm).count()
    }

    #[test]
    fn a_reference_that_does_clearly_more_refutes_the_alarm_of_equal_servers() {
        for servers in 2..=8 {
            assert_eq!(false_alarms(servers, 4.6), 0, "{servers}");
        }
        assert!(40 <= false_alarms(5, 1.1), "the reference is limited, too");
    }

    #[test]
    fn a_schedule_that_all_keep_up_with_is_no_coincidence() {
        let subjects = [(20_000, 9), (20_000, 7), (20_000, 5), (20_000, 4), (20_000, 3)];
        assert_eq!(alarms_of(&subjects, Point::Requests(2_000.0)), []);
        let behind = subjects.map(|(_, ms)| (15_000, ms));
        assert_eq!(alarms_of(&behind, Point::Requests(2_000.0)).len(), 1);
    }
}
