//! Tables, rows and trials as JSON.

use std::collections::BTreeMap;

use analysis::{
    By, CpuShares, Estimate, Faults, JudgedTrial, Limit, Number, Peak, Row, Stopped, Table,
};
use lab::experiment::Point;
use lab::record::{Ending, Outcome, TrialRecord};
use load::Evidence;
use schemars::JsonSchema;
use serde::Serialize;

use super::{FactJson, by_class, capacity, verdict};
use crate::agents::AgentJson;
use crate::json::{ByFigure, figure_values, json_type};
use crate::run::findings::Findings;
use crate::run::origin;
use crate::verdict::ExplainedVerdict;

json_type! {
    /// The results of a task.
    pub(super) struct TableJson<'t> as "table" of table: Table, with findings: Findings<'_>;
        // The rates of a search are its own: no place of one server is that of another.
        let compared = Some(table).filter(|_| !findings.is_search());
    {
        /// the task's name: that of its workload, and how it was requested if that was not HTTP/1.1 in cleartext
        workload: &'t str = &table.workload,
        /// what the table is worth; alarms have the id `alike`
        verdict: ExplainedVerdict = verdict::of_table(findings, table),
        /// what dyno's own server reached under each load where it was measured
        ceiling: Vec<verdict::CeilingJson> =
            compared.map(verdict::ceilings).unwrap_or_default(),
        /// what a service beside the servers, such as a database, answered with no server under each load; only where
        /// it has CPUs of its own
        service_ceiling: Vec<verdict::ServiceCeilingJson<'t>> =
            table.service_ceilings.iter().map(verdict::ServiceCeilingJson::from).collect(),
        /// each server under each load
        rows: Vec<RowJson<'t>> = table.rows.iter().map(|row| RowJson::of(findings, row)).collect(),
        /// where each server had the most throughput, if there is more than one load
        peaks: &'t [Peak] = compared.map_or(&[], |table| &table.peaks),
        /// servers in groups, best first
        ranks: Vec<capacity::RanksJson<'t>> = compared.map(capacity::ranks).unwrap_or_default(),
        /// the rate that each server can be offered
        capacities: Vec<capacity::CapacityJson> =
            compared.map(capacity::capacities).unwrap_or_default(),
    }
}

json_type! {
    /// A server under a load. Rows of held connections have their figures under `held`.
    pub(in crate::run) struct RowJson<'t> as "row" of row: Row, with findings: Findings<'_>;
        let failures = by_class(&row.failures());
    {
        /// the server
        subject: &'t str = &row.subject,
        #[serde(flatten)]
        point: Point,
        /// how many rounds it takes, as far as is known: with `trials.until`, where rounds go on, one more than were
        /// tried
        rounds_planned: usize = row.planned,
        /// the rounds in `figures`
        rounds_measured: usize = row.measured(),
        /// with `trials.until`, why there are no more rounds
        stopped: Option<Stopped>,
        /// it is no competitor, but shows how far the load and the machine can go; it is in no rank, alarm or headline
        is_reference: bool,
        /// why it is not ranked, if it does not meet what the experiment requires
        not_ranked: Option<&'t str> = row.unmet.as_deref(),
        /// what its figures are worth: each kind of doubt once, and in how many rounds it was found
        verdict: ExplainedVerdict = ExplainedVerdict::of_row(row, By::Experiment),
        /// there are figures, and the verdict is not valid
        is_doubtful: bool = row.is_doubtful(),
        /// less than 99 % of the requests that were due were answered on time
        is_behind: bool = row.is_behind(),
        /// each figure over the measured rounds
        figures: ByFigure<Estimate> = ByFigure::of(|figure| row.estimate(figure)),
        /// the share of its own CPUs that each used, where a service beside the server has CPUs of its own
        cpu_shares: Option<CpuShares> = row.shares,
        /// those of the three that used 90 % of their CPUs, and may be the limit: load, server, service; null where the
        /// shares are not known
        limits: Option<Vec<&'static str>> =
            row.shares.map(|shares| shares.limits().into_iter().map(Limit::name).collect()),
        /// failures by class, summed over the measured rounds
        failures: BTreeMap<&'static str, u64> = failures,
        /// requests that were answered with the right status and a wrong header field or body
        wrong_answers: u64 = row.faults.wrong,
        /// what went wrong in the measured rounds through the server's doing
        faults: Faults,
        /// the first three failures of each class in the measured rounds
        evidence: &'t [Evidence] = &row.evidence,
        /// its rounds
        trials: Vec<TrialJson<'t>> =
            row.trials.iter().map(|weighed| TrialJson::of(findings, weighed)).collect(),
    }
}

/// Which trial it is, and how it ended.
#[derive(Serialize, JsonSchema)]
pub(super) struct EndedJson<'t> {
    /// its number in the plan
    number: u32,
    /// which round, from 1
    round: u32,
    /// measured, skipped, not-ready, wrong, died, service-died, wrong-server, unable or interrupted
    outcome: &'static str,
    /// this in words
    says: &'t str,
}

impl EndedJson<'_> {
    pub(super) fn of(
        number: u32,
        repeat: u32,
        Outcome { kind, says, .. }: &Outcome,
    ) -> EndedJson<'_> {
        EndedJson { number, round: repeat + 1, outcome: kind.name(), says }
    }
}

json_type! {
    /// A round of a row.
    struct TrialJson<'t> as "trial" of weighed: JudgedTrial, with findings: Findings<'_> {
        #[serde(flatten)]
        ended: EndedJson<'t> = EndedJson::of(weighed.number, weighed.repeat, &weighed.outcome),
        /// what its figures are worth
        verdict: ExplainedVerdict = verdict::of_trial(weighed),
        /// how long the load ran before the measured time
        warmup_s: Option<f64> = weighed.steady.map(|steady| steady.warmup_s),
        /// where the steady state begins, counted from the load's start; 0: the beginning is like the rest; null:
        /// unknown
        steady_from_s: Option<f64> = weighed.steady.and_then(|steady| steady.from_s),
        /// each figure of the trial
        figures: ByFigure<Number> = figure_values(&weighed.figures),
        /// failures by class
        failures: BTreeMap<&'static str, u64> = by_class(&weighed.figures.failures),
        /// what was done; null if nothing of it is kept
        course: Option<CourseJson<'t>> = findings
            .trials
            .iter()
            .find(|trial| trial.key.number == weighed.number)
            .map(CourseJson::from),
    }
}

json_type! {
    /// What was done in a trial, and what the server left behind.
    struct CourseJson<'t> as "course" of trial: TrialRecord {
        /// when it began
        began_unix_ms: i64,
        /// the command that started the server
        command: &'t [String] = trial.launch.as_ref().map_or(&[], |launch| &launch.command),
        /// the conditions that were made
        conditions: Vec<FactJson<'t>> = trial.conditions.iter().map(FactJson::from).collect(),
        /// the agents that carried the load out; empty where dyno's own process did
        agents: Vec<AgentJson> = origin::of_trial(trial).iter().map(AgentJson::from).collect(),
        #[serde(flatten)]
        ending: &'t Ending = &trial.ending,
    }
}
