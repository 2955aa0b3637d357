//! A run as JSON, `dyno.run/1`: every finding and what it is made of, with units in the names. docs/run-json.md
//! explains each field, docs/run.schema.json is its schema.

mod conformance;
mod held;
mod verdict;

use std::collections::BTreeMap;

use analysis::{Estimate, Figures, Peak, Row, Table, Weighed};
use lab::figure::Figure;
use lab::record::{Entry, Fact};
use load::Failure;
use serde::Serialize;

use super::{Findings, capacity, words};
use crate::evidence::{self, EvidenceJson};

/// The whole document, with a line end.
pub(super) fn of(findings: &Findings<'_>) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&document(findings)).map(|text| text + "\n")
}

#[derive(Serialize)]
struct Document<'t> {
    schema: &'static str,
    dyno_version: &'static str,
    run: RunJson<'t>,
    verdict: verdict::BoardJson,
    facts: Vec<FactJson<'t>>,
    subjects: Vec<SubjectJson<'t>>,
    tables: Vec<TableJson<'t>>,
    held: Vec<held::RampsJson<'t>>,
    conformance: Vec<conformance::ConformanceJson<'t>>,
    promise: capacity::PromiseJson,
    alarms: Vec<capacity::AlarmJson>,
    differences: Vec<DifferenceJson<'t>>,
    answers: Vec<AnswersJson<'t>>,
    published: PublishedJson<'t>,
    files: Vec<FileJson<'t>>,
    damaged: &'t [String],
}

fn document<'t>(findings: &'t Findings<'_>) -> Document<'t> {
    let run = findings.run;
    let experiment = findings.experiment.as_ref();
    Document {
        schema: "dyno.run/1",
        dyno_version: env!("CARGO_PKG_VERSION"),
        run: RunJson {
            id: &findings.id,
            experiment: &run.name,
            question: experiment.map(|experiment| experiment.question.as_str()),
            article: experiment.and_then(|experiment| experiment.article.as_deref()),
            load_in_words: experiment.map(words::load),
            is_quick: run.is_quick,
            seed: run.seed,
            began_unix_ms: run.began_unix_ms,
            measured_by: &run.dyno,
            trials_planned: findings.board.planned(),
            trials_kept: findings.trials.len(),
        },
        verdict: verdict::of_board(&findings.board),
        facts: run.facts.iter().map(fact).collect(),
        subjects: run.entries.iter().map(|entry| subject(findings, entry)).collect(),
        tables: findings.board.tables.iter().map(|table| of_table(findings, table)).collect(),
        held: held::all(findings),
        conformance: conformance::all(findings),
        promise: capacity::promise_json(findings),
        alarms: capacity::alarms_json(&findings.board),
        differences: differences(findings),
        answers: findings
            .fairness
            .answers
            .iter()
            .map(|answers| AnswersJson {
                workload: &answers.workload,
                ask: &answers.ask,
                alike: &answers.alike,
                apart: &answers.apart,
            })
            .collect(),
        published: published(findings),
        files: run.files.iter().map(|(path, text)| FileJson { path, text }).collect(),
        damaged: &findings.damaged,
    }
}

#[derive(Serialize)]
struct RunJson<'t> {
    id: &'t str,
    experiment: &'t str,
    question: Option<&'t str>,
    article: Option<&'t str>,
    load_in_words: Option<String>,
    is_quick: bool,
    seed: u64,
    began_unix_ms: i64,
    measured_by: &'t str,
    trials_planned: usize,
    trials_kept: usize,
}

#[derive(Serialize)]
struct FactJson<'t> {
    name: &'t str,
    value: &'t str,
}

fn fact(fact: &Fact) -> FactJson<'_> {
    FactJson { name: &fact.name, value: &fact.value }
}

#[derive(Serialize)]
struct FileJson<'t> {
    path: &'t str,
    text: &'t str,
}

#[derive(Serialize)]
struct SubjectJson<'t> {
    name: &'t str,
    title: &'t str,
    language: &'t str,
    processes: &'t str,
    tier: &'t str,
    version: &'t str,
    build: &'t str,
    notes: &'t str,
    skipped: Option<&'t str>,
    observed: Option<ObservedJson<'t>>,
}

#[derive(Serialize)]
struct ObservedJson<'t> {
    start_up_ms: Option<EstimateJson>,
    backlogs: Vec<u32>,
    processes: Vec<u32>,
    wire: Vec<WireJson<'t>>,
}

#[derive(Serialize)]
struct WireJson<'t> {
    workload: &'t str,
    ask: &'t str,
    head_bytes: u64,
    rest_bytes: u64,
}

fn subject<'t>(findings: &'t Findings<'_>, entry: &'t Entry) -> SubjectJson<'t> {
    let observed =
        findings.fairness.observed.iter().find(|observed| observed.subject == entry.name);
    SubjectJson {
        name: &entry.name,
        title: &entry.title,
        language: &entry.language,
        processes: &entry.processes,
        tier: &entry.tier,
        version: &entry.version,
        build: &entry.build,
        notes: &entry.notes,
        skipped: entry.skipped.as_deref(),
        observed: observed.map(|observed| ObservedJson {
            start_up_ms: observed.start_up.as_ref().map(estimate),
            backlogs: observed.backlogs.iter().copied().collect(),
            processes: observed.processes.iter().copied().collect(),
            wire: observed
                .wires
                .iter()
                .map(|wire| WireJson {
                    workload: &wire.workload,
                    ask: &wire.ask,
                    head_bytes: wire.head_bytes,
                    rest_bytes: wire.rest_bytes,
                })
                .collect(),
        }),
    }
}

#[derive(Serialize)]
struct TableJson<'t> {
    workload: &'t str,
    verdict: Option<&'static str>,
    why: Vec<verdict::DoubtJson>,
    ceiling: Vec<verdict::CeilingJson>,
    rows: Vec<RowJson<'t>>,
    peaks: Vec<PeakJson<'t>>,
    ranks: Vec<capacity::RanksJson<'t>>,
    capacities: Vec<capacity::CapacityJson<'t>>,
}

#[derive(Serialize)]
struct RowJson<'t> {
    subject: &'t str,
    point: f64,
    point_unit: &'static str,
    rounds_planned: usize,
    rounds_measured: usize,
    /// Why there are no more rounds, where their number was determined by the data.
    stopped: Option<StoppedJson>,
    is_reference: bool,
    /// Why it is not ranked.
    not_ranked: Option<&'t str>,
    verdict: Option<&'static str>,
    why: Vec<verdict::ReasonJson>,
    is_doubtful: bool,
    is_behind: bool,
    figures: BTreeMap<&'static str, EstimateJson>,
    failures: BTreeMap<&'static str, u64>,
    wrong_answers: u64,
    /// The first few failures of each class, with their bytes.
    evidence: Vec<EvidenceJson>,
    trials: Vec<TrialJson<'t>>,
}

#[derive(Serialize)]
struct StoppedJson {
    why: &'static str,
    figure: &'static str,
    within_percent: Option<f64>,
    rounds: usize,
}

#[derive(Serialize)]
pub(super) struct EstimateJson {
    value: f64,
    min: f64,
    max: f64,
    low: Option<f64>,
    high: Option<f64>,
    rounds: usize,
    is_censored: bool,
    is_supported: bool,
}

#[derive(Serialize)]
struct PeakJson<'t> {
    subject: &'t str,
    is_reference: bool,
    point: f64,
    point_unit: &'static str,
    achieved_per_s: EstimateJson,
    is_open: bool,
    is_doubtful: bool,
}

fn of_table<'t>(findings: &'t Findings<'_>, table: &'t Table) -> TableJson<'t> {
    TableJson {
        workload: &table.workload,
        verdict: table.verdict().map(analysis::Verdict::name),
        why: verdict::of_table(table),
        ceiling: verdict::ceilings(table),
        rows: table.rows.iter().map(|row| of_row(findings, row)).collect(),
        peaks: table.peaks.iter().map(peak).collect(),
        ranks: capacity::ranks_json(table),
        capacities: capacity::capacities_json(table),
    }
}

fn of_row<'t>(findings: &'t Findings<'_>, row: &'t Row) -> RowJson<'t> {
    let named = |figure: Figure| Some((figure.name(), estimate(&row.estimate(figure)?)));
    RowJson {
        subject: &row.subject,
        point: row.point.value(),
        point_unit: row.point.unit(),
        rounds_planned: row.planned,
        rounds_measured: row.measured(),
        stopped: row.stopped.map(|stopped| StoppedJson {
            why: stopped.why.name(),
            figure: stopped.figure.name(),
            within_percent: stopped.within.map(|within| within * 100.0),
            rounds: stopped.rounds,
        }),
        is_reference: row.is_reference,
        not_ranked: row.unmet.as_deref(),
        verdict: row.verdict().map(analysis::Verdict::name),
        why: verdict::of_row(row),
        is_doubtful: row.is_doubtful(),
        is_behind: row.is_behind(),
        figures: Figure::ALL.into_iter().filter_map(named).collect(),
        failures: by_class(&row.failures()),
        wrong_answers: row.wrong.answers,
        evidence: row.evidence.iter().map(evidence::json).collect(),
        trials: row.trials.iter().map(|weighed| trial(findings, weighed)).collect(),
    }
}

pub(super) fn estimate(estimate: &Estimate) -> EstimateJson {
    EstimateJson {
        value: estimate.value,
        min: estimate.min,
        max: estimate.max,
        low: estimate.interval.map(|(low, _)| low).or(estimate.at_least),
        high: estimate.interval.map(|(_, high)| high),
        rounds: estimate.rounds,
        is_censored: estimate.is_censored,
        is_supported: estimate.is_supported,
    }
}

fn peak(peak: &Peak) -> PeakJson<'_> {
    PeakJson {
        subject: &peak.subject,
        is_reference: peak.is_reference,
        point: peak.point.value(),
        point_unit: peak.point.unit(),
        achieved_per_s: estimate(&peak.achieved),
        is_open: peak.is_open,
        is_doubtful: peak.is_doubtful,
    }
}

fn by_class(failures: &[(Failure, u64)]) -> BTreeMap<&'static str, u64> {
    failures.iter().map(|(failure, times)| (failure.name(), *times)).collect()
}

#[derive(Serialize)]
struct TrialJson<'t> {
    number: u32,
    round: u32,
    outcome: &'static str,
    says: &'t str,
    verdict: &'static str,
    doubts: Vec<verdict::DoubtJson>,
    /// Left out of the figures.
    warmup_s: Option<f64>,
    steady_from_s: Option<f64>,
    figures: BTreeMap<&'static str, f64>,
    /// Figures that are bounds: the true value is no less.
    censored: Vec<&'static str>,
    /// Figures beyond which fewer than ten samples lie.
    unsupported: Vec<&'static str>,
    failures: BTreeMap<&'static str, u64>,
    evidence: Option<CourseJson<'t>>,
}

/// What was done and what the subject left behind.
#[derive(Serialize)]
struct CourseJson<'t> {
    began_unix_ms: i64,
    command: &'t [String],
    conditions: Vec<FactJson<'t>>,
    exit: &'t str,
    killed: u32,
    output_tail: String,
}

fn trial<'t>(findings: &'t Findings<'_>, weighed: &'t Weighed) -> TrialJson<'t> {
    let figures = &weighed.figures;
    TrialJson {
        number: weighed.number,
        round: weighed.repeat + 1,
        outcome: weighed.outcome.kind.name(),
        says: &weighed.outcome.says,
        verdict: weighed.verdict().name(),
        doubts: weighed.doubts.iter().map(verdict::of_doubt).collect(),
        warmup_s: weighed.steady.map(|steady| steady.warmup_s),
        steady_from_s: weighed.steady.and_then(|steady| steady.from_s),
        figures: Figure::ALL
            .into_iter()
            .filter_map(|figure| Some((figure.name(), figures.get(figure)?.value)))
            .collect(),
        censored: marked(figures, |number| number.is_censored),
        unsupported: marked(figures, |number| !number.is_supported),
        failures: by_class(&figures.failures),
        evidence: course(findings, weighed.number),
    }
}

fn marked(figures: &Figures, is_so: fn(&analysis::Number) -> bool) -> Vec<&'static str> {
    let all = Figure::ALL.into_iter();
    let marked = all.filter(|&figure| figures.get(figure).as_ref().is_some_and(is_so));
    marked.map(Figure::name).collect()
}

fn course<'t>(findings: &'t Findings<'_>, number: u32) -> Option<CourseJson<'t>> {
    let trial = findings.trials.iter().find(|trial| trial.key.number == number)?;
    Some(CourseJson {
        began_unix_ms: trial.began_unix_ms,
        command: trial.launch.as_ref().map_or(&[], |launch| &launch.command),
        conditions: trial.conditions.iter().map(fact).collect(),
        exit: &trial.exit,
        killed: trial.killed,
        output_tail: String::from_utf8_lossy(&trial.output_tail).into_owned(),
    })
}

#[derive(Serialize)]
struct DifferenceJson<'t> {
    setting: &'t str,
    default: Option<&'t str>,
    change: Option<&'t str>,
    subjects: &'t [String],
}

fn differences<'t>(findings: &'t Findings<'_>) -> Vec<DifferenceJson<'t>> {
    let of_setting = |setting: &'t analysis::Variants| {
        setting.variants.iter().map(|variant| DifferenceJson {
            setting: &setting.name,
            default: variant.default.as_deref(),
            change: variant.change.as_deref(),
            subjects: &variant.subjects,
        })
    };
    findings.fairness.settings.iter().flat_map(of_setting).collect()
}

#[derive(Serialize)]
struct AnswersJson<'t> {
    workload: &'t str,
    ask: &'t str,
    alike: &'t [String],
    apart: &'t [String],
}

#[derive(Serialize)]
struct PublishedJson<'t> {
    label: &'t str,
    about: &'t [String],
    figures: Vec<PublishedFigureJson<'t>>,
}

#[derive(Serialize)]
struct PublishedFigureJson<'t> {
    subject: &'t str,
    workload: &'t str,
    point: Option<f64>,
    figure: &'static str,
    value: f64,
    note: &'t str,
}

fn published<'t>(findings: &'t Findings<'_>) -> PublishedJson<'t> {
    let history = &findings.history;
    let figures = history.figures.iter().map(|published| PublishedFigureJson {
        subject: &published.subject,
        workload: &published.workload,
        point: published.point,
        figure: published.figure.name(),
        value: published.value,
        note: &published.note,
    });
    PublishedJson { label: &history.label, about: &history.about, figures: figures.collect() }
}
