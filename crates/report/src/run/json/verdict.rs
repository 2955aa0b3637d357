//! The verdicts, and their reasons, as JSON.

use analysis::{By, Estimate, Gravity, JudgedTrial, Table, Verdict, Worth};
use lab::experiment::Point;
use lab::service::ServiceCeiling;
use schemars::JsonSchema;
use serde::Serialize;

use crate::grouped::distinct;
use crate::json::json_type;
use crate::remark;
use crate::run::findings::Findings;
use crate::verdict::{ExplainedDoubt, ExplainedVerdict};

json_type! {
    /// What a run is worth. dyno's own server is not counted.
    pub(in crate::run) struct BoardJson as "run_verdict" of findings: Findings<'_> {
        /// valid, suspect or invalid; null before the first trial
        #[schemars(extend("enum" = ["valid", "suspect", "invalid", null]))]
        word: Option<&'static str> = findings.verdict().map(Verdict::name),
        #[serde(flatten)]
        worth: Worth = findings.worth(),
    }
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
    let mut points: Vec<Point> = distinct(table.rows.iter().map(|row| row.point));
    points.sort_by(|one, other| one.value().total_cmp(&other.value()));
    let ceiling =
        |point: Point| Some(CeilingJson { point, throughput_per_s: table.ceiling(point)? });
    points.into_iter().filter_map(ceiling).collect()
}

json_type! {
    /// What a service answered with no server before it, under a load.
    pub(super) struct ServiceCeilingJson<'t> as "service_ceiling"
        of found: (Point, Result<ServiceCeiling, String>)
    {
        #[serde(flatten)]
        point: Point = found.0,
        /// how many answers it made possible each second; null if that is not known
        answers_per_s: Option<f64> = found.1.as_ref().ok().map(|found| found.answers_per_s),
        /// the program that measured it
        by: Option<&'t str> = found.1.as_ref().ok().map(|found| found.by.as_str()),
        /// why it is not known
        says: Option<&'t str> = found.1.as_ref().err().map(String::as_str),
    }
}
