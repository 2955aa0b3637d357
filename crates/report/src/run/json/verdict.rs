//! The verdicts, and their reasons, as JSON.

use analysis::{By, Estimate, Gravity, JudgedTrial, Table, Verdict, Worth};
use lab::experiment::Point;
use schemars::JsonSchema;
use serde::Serialize;

use crate::remark;
use crate::run::Findings;
use crate::verdict::{ExplainedDoubt, ExplainedVerdict};

/// What a run is worth. dyno's own server is not counted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "run_verdict")]
pub(in crate::run) struct BoardJson {
    /// valid, suspect or invalid; null before the first trial
    #[schemars(extend("enum" = ["valid", "suspect", "invalid", null]))]
    word: Option<&'static str>,
    #[serde(flatten)]
    worth: Worth,
}

pub(in crate::run) fn of_run(findings: &Findings<'_>) -> BoardJson {
    BoardJson { word: findings.verdict().map(Verdict::name), worth: findings.worth() }
}

pub(super) fn of_trial(trial: &JudgedTrial) -> ExplainedVerdict {
    let doubts =
        trial.doubts.iter().map(|found| ExplainedDoubt::of(found, By::Experiment)).collect();
    ExplainedVerdict { word: Some(trial.verdict()), doubts }
}

/// Alarms first.
pub(super) fn of_table(findings: &Findings<'_>, table: &Table) -> ExplainedVerdict {
    let alarms = table.alarms().into_iter().map(|alarm| {
        let way_out = "see how busy dyno and the CPUs were";
        ExplainedDoubt::new("alike", Gravity::Suspect, remark::alarm(findings, &alarm), way_out)
    });
    let remarks = table.remarks.iter().map(|remark| {
        let says = remark::says(remark, &|point| findings.shown(point));
        ExplainedDoubt::new(remark.id(), remark.gravity(), says, remark.way_out())
    });
    if findings.is_search() {
        // Its rows are trials at rates that no other server had: what a server holds has a verdict of its own.
        return ExplainedVerdict { word: findings.verdict(), doubts: remarks.collect() };
    }
    ExplainedVerdict { word: table.verdict(), doubts: alarms.chain(remarks).collect() }
}

/// What dyno's own server reached under a load.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ceiling")]
pub(super) struct CeilingJson {
    #[serde(flatten)]
    point: Point,
    /// its throughput
    throughput_per_s: Estimate,
}

pub(super) fn ceilings(table: &Table) -> Vec<CeilingJson> {
    let mut points: Vec<Point> = Vec::new();
    for row in &table.rows {
        if !points.contains(&row.point) {
            points.push(row.point);
        }
    }
    points.sort_by(|one, other| one.value().total_cmp(&other.value()));
    let ceiling =
        |point: Point| Some(CeilingJson { point, throughput_per_s: table.ceiling(point)? });
    points.into_iter().filter_map(ceiling).collect()
}

/// What a service answered with no server before it, under a load.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "service_ceiling")]
pub(super) struct ServiceCeilingJson<'t> {
    #[serde(flatten)]
    point: Point,
    /// how many answers it made possible each second; null if that is not known
    answers_per_s: Option<f64>,
    /// the program that measured it
    by: Option<&'t str>,
    /// why it is not known
    says: Option<&'t str>,
}

pub(super) fn service_ceilings(table: &Table) -> Vec<ServiceCeilingJson<'_>> {
    let ceilings = table.service_ceilings.iter().map(|(point, found)| ServiceCeilingJson {
        point: *point,
        answers_per_s: found.as_ref().ok().map(|found| found.answers_per_s),
        by: found.as_ref().ok().map(|found| found.by.as_str()),
        says: found.as_ref().err().map(String::as_str),
    });
    ceilings.collect()
}
