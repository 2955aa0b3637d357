//! What the reader should know of a table as a whole, besides its alarms.

mod tls;

use std::collections::{BTreeMap, BTreeSet};

use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::{Check, LOAD, RunRecord, TrialRecord};

use crate::board::{Row, Table};
use crate::fairness::answers;
use crate::remark::Remark;

/// Marks the rows of subjects that agreed on another TLS than the others.
pub(crate) fn mark_unlike(table: &mut Table, trials: &[TrialRecord]) {
    let unlike = tls::Unlike::all(&trials_of(table, trials));
    for row in &mut table.rows {
        row.doubts.extend(unlike.iter().filter_map(|unlike| unlike.doubt(&row.subject)).take(1));
    }
}

pub(crate) fn trials_of<'t>(table: &Table, trials: &'t [TrialRecord]) -> Vec<&'t TrialRecord> {
    trials.iter().filter(|trial| trial.key.workload == table.workload).collect()
}

/// Remarks about a table with its verdicts.
pub(crate) fn of_table(run: &RunRecord, table: &Table, trials: &[TrialRecord]) -> Vec<Remark> {
    let of_table = trials_of(table, trials);
    let apart = answers(run, &of_table).into_iter().filter(|answers| !answers.apart.is_empty());
    let mut remarks: Vec<Remark> = requests_unlike(&of_table);
    remarks.extend(tls::remarks(&of_table));
    remarks.extend(apart.map(Remark::Apart));
    // A load of `dyno load` stands alone.
    if run.facts.iter().all(|fact| fact.name != LOAD) && !table.shares_cpu {
        remarks.extend(no_ceiling(table));
    }
    if table.by_cpu {
        let lacks = |row: &&Row| row.estimate(Figure::CpuPerThousand).is_none();
        let measured = table.rows.iter().filter(|row| 0 < row.measured());
        let lacking: Vec<String> = measured.filter(lacks).map(|it| it.subject.clone()).collect();
        if table.shares_cpu {
            remarks.push(Remark::SharesCpu);
        }
        if !lacking.is_empty() {
            remarks.push(Remark::CpuUnknown { lacking });
        }
    }
    remarks
}

/// Places where a subject was measured, but no reference and no service alone.
fn no_ceiling(table: &Table) -> Option<Remark> {
    let measured = table.rows.iter().filter(|row| 0 < row.measured());
    let mut points: BTreeSet<Point> = measured.map(|row| row.point).collect();
    let is_of_service =
        |point: &Point| table.service_ceilings.iter().any(|(other, _)| other == point);
    points.retain(|point| !is_of_service(point) && !has_ceiling(table, *point));
    (!points.is_empty()).then(|| Remark::NoCeiling(points.into_iter().collect()))
}

/// Held connections have no rate: it is enough that a reference held as many.
fn has_ceiling(table: &Table, point: Point) -> bool {
    let is_one = |row: &Row| row.is_reference && row.point == point && 0 < row.measured();
    match point {
        Point::Held(_) => table.rows.iter().any(is_one),
        Point::Connections(_) | Point::Requests(_) | Point::Sessions(_) => {
            table.ceiling(point).is_some()
        }
    }
}

/// Requests can be compared where the same values were to be sent: one question, place, round and phase.
type Occasion<'t> = (&'t str, Point, u32, &'static str);

fn requests_unlike(trials: &[&TrialRecord]) -> Vec<Remark> {
    let mut first: BTreeMap<Occasion<'_>, &Check> = BTreeMap::new();
    let mut unlike: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    // Each server that runs already has a host and a path of its own, and is meant to be sent other requests.
    for trial in trials.iter().filter(|trial| trial.launch.is_some()) {
        let key = &trial.key;
        for check in &trial.checks {
            let occasion: Occasion<'_> = (&check.ask, key.point, key.repeat, check.phase.name());
            if !first.entry(occasion).or_insert(check).requests_alike(check) {
                unlike.entry(&check.ask).or_default().insert(&key.subject);
            }
        }
    }
    let remark = |(ask, subjects): (&str, BTreeSet<&str>)| Remark::RequestsUnlike {
        ask: ask.into(),
        subjects: subjects.into_iter().map(String::from).collect(),
    };
    unlike.into_iter().map(remark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{at, checked, table};
    use crate::verdict::Gravity;
    use lab::record::Launch;

    fn trial(subject: &str, request: &[u8]) -> TrialRecord {
        let mut trial = at(subject, Point::Connections(2), 0);
        trial.launch = Some(Launch { processes: 1, ..Launch::default() });
        trial.checks = vec![checked("value", request, b"", 1)];
        trial
    }

    fn found(trials: &[TrialRecord]) -> Vec<Remark> {
        table(trials).remarks
    }

    #[test]
    fn a_table_of_like_subjects_with_a_reference_needs_no_remark() {
        let trials = ["a", "b", "idle"].map(|name| trial(name, b"GET /"));
        assert_eq!(found(&trials), []);
    }

    #[test]
    fn without_a_reference_there_is_no_ceiling_where_a_server_was_measured() {
        let trials = ["a", "b"].map(|name| trial(name, b"GET /"));
        assert_eq!(found(&trials), [Remark::NoCeiling(vec![Point::Connections(2)])]);
        assert_eq!(found(&trials)[0].gravity(), Gravity::Note);
    }

    #[test]
    fn a_server_that_was_sent_another_request_is_not_compared() {
        let one = b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: a\r\n\r\n";
        let mut trials = ["a", "b", "idle"].map(|name| trial(name, one));
        let over_http2 =
            b":method: GET\n:scheme: http\n:authority: localhost\n:path: /\naccept: a\n";
        trials[1].checks[0].request = over_http2.to_vec();
        trials[2].checks[0].request = one.to_ascii_lowercase();
        trials[2].checks[0].request[..14].copy_from_slice(&one[..14]);
        assert_eq!(found(&trials), [], "only the bytes differ");
        trials[1].checks[0].request[over_http2.len() - 2] = b'b';
        let unlike = Remark::RequestsUnlike { ask: "value".into(), subjects: vec!["b".into()] };
        assert_eq!((found(&trials), unlike.gravity()), (vec![unlike.clone()], Gravity::Invalid));
        // In another round other values are sent.
        trials[1].key.repeat = 1;
        assert_eq!(found(&trials), []);
    }

    #[test]
    fn answers_that_are_right_and_unlike_are_reported() {
        let mut trials = ["a", "b", "idle"].map(|name| trial(name, b"GET /"));
        trials[0].checks[0].digest = Some([2; 32]);
        let found = found(&trials);
        let [Remark::Apart(answers)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (answers.apart.join(" "), answers.alike.join(" ")),
            ("a".into(), "b idle".into())
        );
        assert_eq!(found[0].gravity(), Gravity::Note);
    }
}
