//! Ranks, capacities and alarms as JSON.

use analysis::{Alarm, Breach, Capacity, KEPT_UP, Table};
use lab::experiment::{Point, Promised};
use lab::figure::Figure;
use schemars::JsonSchema;
use serde::Serialize;

use crate::json::json_type;
use crate::remark;
use crate::run::findings::Findings;

/// Servers in groups, by a figure under a load. dyno's own server has no rank.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ranks")]
pub(super) struct RanksJson<'t> {
    #[serde(flatten)]
    point: Point,
    /// the figure: for closed loops throughput and p99, else p99
    #[schemars(with = "String")]
    figure: Figure,
    /// best first: no member of a group is shown to differ from its first (round by round, Holm's correction over all
    /// pairs and all orders of the table; with one round no difference can be shown)
    groups: Vec<Vec<&'t str>>,
}

/// Groups under every load, best first.
pub(super) fn ranks(table: &Table) -> Vec<RanksJson<'_>> {
    let mut all = Vec::new();
    for point in table.points() {
        for &figure in ranked_by(table, point) {
            let groups = table.ranks(figure, point);
            let groups = groups
                .iter()
                .map(|group| group.iter().map(|row| row.subject.as_str()).collect())
                .collect();
            all.push(RanksJson { point, figure, groups });
        }
    }
    all
}

// `Capacity` has places with their axis; here they are rates, and what was broken has its figure's name.
json_type! {
    /// The rate that a server can be offered, where a schedule was run under more than one load.
    pub(super) struct CapacityJson as "capacity" of found: Capacity, with subject: str {
        /// the server
        subject: String = subject.into(),
        /// the highest rate that meets the limits, as do all below it; null: capacity is below the lowest rate
        good: Option<f64> = found.good.map(Point::value),
        /// the first rate that does not; null: capacity is above the highest rate
        bad: Option<f64> = found.bad.as_ref().map(|(point, _)| point.value()),
        /// which limits were exceeded there
        broken: Vec<BreachJson> =
            found.bad.iter().flat_map(|(_, broken)| broken).map(BreachJson::from).collect(),
        /// a higher rate met the limits again
        is_ragged: bool,
        /// where throughput is largest for the median response time
        knee: Option<f64> = found.knee.map(Point::value),
        /// the highest rate at which no single round exceeded the limits; null with one round, or where `good` or `bad` is
        rounds_low: Option<f64> = found.rounds.map(|(low, _)| low.value()),
        /// the lowest rate at which each single round exceeded them
        rounds_high: Option<f64> = found.rounds.map(|(_, high)| high.value()),
    }
}

json_type! {
    /// Which limits were exceeded.
    struct BreachJson as "breach" of breach: Breach;
        let (what, value) = match *breach {
            Breach::P99(ms) => ("p99_ms", Some(ms)),
            Breach::Failed(percent) => ("failed_percent", Some(percent)),
            Breach::Behind(share) => ("on_time_percent", Some(share * 100.0)),
            Breach::Growing => ("growing", None),
            Breach::Unmeasured => ("unmeasured", None),
        };
    {
        /// p99_ms, failed_percent, on_time_percent, growing or unmeasured
        what: &'static str = what,
        /// its value, where it has one
        value: Option<f64> = value,
    }
}

/// The rate that each server can be offered.
pub(super) fn capacities(table: &Table) -> Vec<CapacityJson> {
    let capacities = table.capacities().into_iter();
    capacities.map(|(subject, found)| CapacityJson::of(subject, &found)).collect()
}

json_type! {
    /// What capacity keeps: the experiment's `[promise]`.
    pub(super) struct PromiseJson as "limits" of promise: Promised {
        /// p99 of the response time is no more
        p99_ms: f64 = promise.p99_ms(),
        /// no more requests failed
        failed_percent: f64,
        /// no fewer of the requests that were due were answered on time
        on_time_percent: f64 = KEPT_UP * 100.0,
    }
}

json_type! {
    /// Many servers have the same value: something else may be the limit.
    pub(super) struct AlarmJson as "alarm" of alarm: Alarm, with findings: Findings<'_> {
        #[serde(flatten)]
        alarm: Alarm = alarm.clone(),
        /// this in words
        says: String = remark::alarm(findings, alarm),
    }
}

pub(super) fn alarms(findings: &Findings<'_>) -> Vec<AlarmJson> {
    findings.board.alarms().iter().map(|alarm| AlarmJson::of(findings, alarm)).collect()
}

/// The figures that servers are ranked by: where a rate is offered, a server that keeps up achieves the schedule's
/// number, and a table that is ordered by CPU time has no other rank.
fn ranked_by(table: &Table, point: Point) -> &'static [Figure] {
    match point {
        _ if table.by_cpu => &[Figure::CpuPerThousand],
        Point::Connections(_) | Point::Held(_) => &[Figure::Throughput, Figure::ResponseP99],
        Point::Requests(_) | Point::Sessions(_) => &[Figure::ResponseP99],
    }
}
