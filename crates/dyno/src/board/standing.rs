//! Who stands where: ranks with ties, and what each can be offered within the promise; as text and for programs.

use analysis::{Alarm, Board, Breach, Capacity, Promise, Row, Table};
use lab::experiment::Point;
use lab::figure::Figure;
use serde::Serialize;

use super::results::mark;
use super::{Told, conformance, words};
use crate::doubt;
use crate::report::paint::{Line, wrapped};
use crate::report::units::percent;

/// What servers are ranked by: who is offered a rate achieves the schedule's number, if it can.
fn ranked_by(point: Point) -> &'static [Figure] {
    match point {
        Point::Connections(_) | Point::Held(_) => &[Figure::Achieved, Figure::ResponseP99],
        Point::Requests(_) | Point::Sessions(_) => &[Figure::ResponseP99],
    }
}

/// Ranks where there is one place, capacities where there is a curve.
pub(super) fn lines(told: &Told<'_>, table: &Table, width: usize) -> Vec<Line> {
    let mut texts = match table.points().as_slice() {
        [only] => ranks(told, table, *only),
        _ => Vec::new(),
    };
    texts.extend(capacities(told, table));
    let lines = texts.iter().flat_map(|text| wrapped(text, width));
    lines.map(Line::plain).collect()
}

/// One round tells nobody apart, and then nothing is said.
fn ranks(told: &Told<'_>, table: &Table, point: Point) -> Vec<String> {
    let is_one = |figure: &&Figure| {
        let groups = table.ranks(**figure, point);
        groups.iter().flatten().count() < 2 || groups.iter().flatten().any(|row| row.measured() < 2)
    };
    let figures = ranked_by(point).iter().filter(|figure| !is_one(figure));
    let one = |figure: &Figure| {
        let mut place = 1;
        let mut groups = Vec::new();
        for group in table.ranks(*figure, point) {
            let names: Vec<String> = group.iter().map(|row| name(told, row)).collect();
            groups.push(format!("{place}. {}", names.join(" = ")));
            place += group.len();
        }
        format!(
            "{} by {}: {} (= not shown to differ from the first of them)",
            table.workload,
            figure.heading(),
            groups.join(" · ")
        )
    };
    figures.map(one).collect()
}

fn name(told: &Told<'_>, row: &Row) -> String {
    format!("{}{}", told.title(&row.subject), mark(row))
}

fn capacities(told: &Told<'_>, table: &Table) -> Vec<String> {
    let promise = table.promise;
    let found = table.capacities();
    let Some(point) = table.rows.first().map(|row| row.point) else { return Vec::new() };
    if found.is_empty() {
        return Vec::new();
    }
    let one = |(subject, capacity): &(&str, Capacity)| {
        let beside = conformance::beside(told, subject);
        format!("{}{beside} {}", told.title(subject), in_words(capacity))
    };
    vec![format!(
        "{}: capacity in {} with p99 ≤ {}, at most {} failed and at least {} on time: {}",
        table.workload,
        point.unit(),
        words::number(Figure::ResponseP99, promise.p99_ms),
        percent(promise.failed_percent / 100.0),
        percent(promise.on_time_share),
        found.iter().map(one).collect::<Vec<_>>().join(" · ")
    )]
}

fn in_words(capacity: &Capacity) -> String {
    let mut says = match (capacity.good, &capacity.bad) {
        (Some(good), Some((bad, _))) => {
            format!("{}–{}", words::place(good), words::place(*bad))
        }
        (Some(good), None) => format!("≥ {}", words::place(good)),
        (None, Some((bad, _))) => format!("< {}", words::place(*bad)),
        (None, None) => "–".into(),
    };
    if let Some((low, high)) = capacity.rounds
        && (Some(low), Some(high)) != (capacity.good, capacity.bad.as_ref().map(|(bad, _)| *bad))
    {
        says.push_str(&format!(" (single rounds: {}–{})", words::place(low), words::place(high)));
    }
    if capacity.is_ragged {
        says.push_str(" (?: a higher place kept it again)");
    }
    says
}

#[derive(Serialize)]
pub(super) struct RanksJson<'t> {
    point: f64,
    point_unit: &'static str,
    figure: &'static str,
    groups: Vec<Vec<&'t str>>,
}

/// Groups at every place, best first.
pub(super) fn ranks_json(table: &Table) -> Vec<RanksJson<'_>> {
    let at = |point: Point| {
        ranked_by(point).iter().map(move |&figure| RanksJson {
            point: point.value(),
            point_unit: point.unit(),
            figure: figure.name(),
            groups: table
                .ranks(figure, point)
                .iter()
                .map(|group| group.iter().map(|row| row.subject.as_str()).collect())
                .collect(),
        })
    };
    table.points().into_iter().flat_map(at).collect()
}

#[derive(Serialize)]
pub(super) struct CapacityJson<'t> {
    subject: &'t str,
    good: Option<f64>,
    bad: Option<f64>,
    broken: Vec<BreachJson>,
    is_ragged: bool,
    knee: Option<f64>,
    rounds_low: Option<f64>,
    rounds_high: Option<f64>,
}

#[derive(Serialize)]
struct BreachJson {
    what: &'static str,
    value: Option<f64>,
}

/// What each can be offered.
pub(super) fn capacities_json(table: &Table) -> Vec<CapacityJson<'_>> {
    let one = |(subject, found): (_, Capacity)| CapacityJson {
        subject,
        good: found.good.map(Point::value),
        bad: found.bad.as_ref().map(|(point, _)| point.value()),
        broken: found.bad.iter().flat_map(|(_, broken)| broken).map(breach).collect(),
        is_ragged: found.is_ragged,
        knee: found.knee.map(Point::value),
        rounds_low: found.rounds.map(|(low, _)| low.value()),
        rounds_high: found.rounds.map(|(_, high)| high.value()),
    };
    table.capacities().into_iter().map(one).collect()
}

fn breach(breach: &Breach) -> BreachJson {
    let (what, value) = match *breach {
        Breach::P99(ms) => ("p99_ms", Some(ms)),
        Breach::Failed(percent) => ("failed_percent", Some(percent)),
        Breach::Behind(share) => ("on_time_percent", Some(share * 100.0)),
        Breach::Growing => ("growing", None),
        Breach::Unmeasured => ("unmeasured", None),
    };
    BreachJson { what, value }
}

#[derive(Serialize)]
pub(super) struct PromiseJson {
    p99_ms: f64,
    failed_percent: f64,
    on_time_percent: f64,
}

pub(super) fn promise_json(told: &Told<'_>) -> PromiseJson {
    let promised = told.experiment.as_ref().map(|experiment| experiment.promise);
    let promise = Promise::from(promised.unwrap_or_default());
    PromiseJson {
        p99_ms: promise.p99_ms,
        failed_percent: promise.failed_percent,
        on_time_percent: promise.on_time_share * 100.0,
    }
}

#[derive(Serialize)]
pub(super) struct AlarmJson {
    workload: String,
    point: f64,
    point_unit: &'static str,
    figure: &'static str,
    subjects: Vec<String>,
    of: usize,
    low: f64,
    high: f64,
    says: String,
}

pub(super) fn alarms_json(board: &Board) -> Vec<AlarmJson> {
    let one = |alarm: Alarm| AlarmJson {
        says: doubt::alarm(&alarm),
        point: alarm.point.value(),
        point_unit: alarm.point.unit(),
        figure: alarm.figure.name(),
        workload: alarm.workload,
        subjects: alarm.subjects,
        of: alarm.of,
        low: alarm.low,
        high: alarm.high,
    };
    board.alarms().into_iter().map(one).collect()
}
