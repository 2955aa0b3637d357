//! The rate that each server can be offered within the promise, and where its knee is.

use analysis::{Alarm, Board, Breach, Capacity, Promise, Table};
use lab::experiment::Point;
use lab::figure::Figure;
use serde::Serialize;

use super::{Findings, words};
use crate::document::{self, Block, Cell, Column, Mark, Marks, Row, Sign, Tone};
use crate::doubt;
use crate::sentence::{broken, promised};

/// Empty for closed loops and for a single load level.
pub(super) fn blocks(findings: &Findings<'_>, table: &Table, key: String) -> Vec<Block> {
    let found = table.capacities();
    let Some(row) = table.rows.first().filter(|_| !found.is_empty()) else { return Vec::new() };
    let says = format!(
        "The promise: {}. Capacity is read off the rates that were tried, in {}; it lies between the first two columns. \
         The knee is the rate with the most throughput for its median response time.",
        promised(table.promise),
        row.point.unit()
    );
    let column = |key, heading: &str, meaning: &str| Column::new(key, heading, 1).meaning(meaning);
    let columns = vec![
        Column::new("subject", "server", 0).left(),
        column(
            "good",
            "keeps it up to",
            "the highest rate that keeps the promise, as do all below it",
        ),
        column(
            "bad",
            "breaks it at",
            "the lowest rate that does not: capacity lies between the two",
        ),
        column("by", "by", "what of the promise was broken there").left(),
        column("rounds", "single rounds", "between these rates each round alone broke it")
            .folding(),
        column("knee", "knee", "where most is achieved for the time that half the requests take"),
    ];
    let rows = found.iter().map(|(subject, capacity)| line(findings, subject, capacity));
    let table = document::Table::of(key, columns, rows);
    vec![
        Block::Heading("What each can be offered".into()),
        Block::paragraph(Tone::Dim, says),
        Block::Table(table),
    ]
}

fn line(findings: &Findings<'_>, subject: &str, capacity: &Capacity) -> Row {
    let at = |point: Option<Point>| match point {
        None => Cell::none(),
        Some(point) => Cell::text(words::place(point)).valued(Some(point.value())),
    };
    let bad = capacity.bad.as_ref();
    let good = match (capacity.good, bad) {
        (Some(good), None) => {
            Cell::text(format!("≥{}", words::place(good))).valued(Some(good.value()))
        }
        (None, Some(_)) => Cell::text("no rate tried"),
        (good, _) => at(good),
    };
    let ragged = if capacity.is_ragged { "; kept again at a higher rate, so in doubt" } else { "" };
    let by = bad.map_or("–".into(), |(_, breaches)| {
        breaches.iter().map(broken).collect::<Vec<_>>().join(", ") + ragged
    });
    let rounds = capacity.rounds.map_or(Cell::none(), |(low, high)| {
        Cell::text(format!("{}–{}", words::place(low), words::place(high)))
    });
    let unmet = findings.board.conformity(subject).is_some_and(|found| found.unmet.is_some());
    let name = Cell { sign: Sign::Slot, ..Cell::text(findings.title(subject)) };
    let cells = vec![
        name.marked(Marks::default().when(unmet, Mark::Unranked)),
        good.toned(Tone::Strong),
        at(bad.map(|(point, _)| *point)),
        Cell::text(by),
        rounds,
        at(capacity.knee),
    ];
    Row { slot: Some(findings.slot(subject)), cells, ..Row::default() }
}

/// The figures that servers are ranked by: where a rate is offered, a server that keeps up achieves the schedule's
/// number.
fn ranked_by(point: Point) -> &'static [Figure] {
    match point {
        Point::Connections(_) | Point::Held(_) => &[Figure::Achieved, Figure::ResponseP99],
        Point::Requests(_) | Point::Sessions(_) => &[Figure::ResponseP99],
    }
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

/// The rate that each server can be offered.
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

pub(super) fn promise_json(findings: &Findings<'_>) -> PromiseJson {
    let promised = findings.experiment.as_ref().map(|experiment| experiment.promise);
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
