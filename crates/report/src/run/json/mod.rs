//! A run as JSON, `dyno.run/2`: every finding and what it is made of, with units in the names.

mod capacity;
mod conformance;
mod held;
mod rows;
mod verdict;

pub(super) use rows::{RowJson, of_row};
pub(super) use verdict::{BoardJson, of_board};

use std::collections::BTreeMap;

use analysis::Estimate;
use lab::record::{Entry, Fact};
use load::Failure;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Findings, words};
use crate::json::written;
use crate::sentence;

const SCHEMA: &str = "dyno.run/2";

/// The whole document, with a line end.
pub(super) fn of(findings: &Findings<'_>) -> serde_json::Result<String> {
    written(&document(findings))
}

/// A run, computed again from what the store keeps. Figures that were not measured are missing. Strings from a server
/// are not escaped: escape them where you show them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "run_report")]
pub(crate) struct Document<'t> {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the dyno that wrote it; the one that measured is `run.measured_by`
    dyno_version: &'static str,
    /// the answer in plain words
    sentence: String,
    /// what the run is worth
    verdict: verdict::BoardJson,
    /// which run it is
    run: RunJson<'t>,
    /// the machine
    facts: Vec<FactJson<'t>>,
    /// every subject that was to take part
    subjects: Vec<SubjectJson<'t>>,
    /// the results of each workload
    tables: Vec<rows::TableJson<'t>>,
    /// held connections, for each workload; empty in a run of another load
    held: Vec<held::RampsJson<'t>>,
    /// how much of the RFCs each participant keeps; never part of a speed
    conformance: Vec<conformance::ConformanceJson<'t>>,
    /// what capacity keeps
    promise: capacity::PromiseJson,
    /// subjects that are too much alike
    alarms: Vec<capacity::AlarmJson>,
    /// settings that differ between subjects, or that an entry changes
    differences: Vec<DifferenceJson<'t>>,
    /// whether the subjects answered alike
    answers: Vec<AnswersJson<'t>>,
    /// the article's figures
    published: PublishedJson<'t>,
    /// every file that shaped the run
    files: Vec<FileJson<'t>>,
    /// a sentence for each trial whose content no longer matches its seal; such trials are in no figure
    damaged: &'t [String],
}

fn document<'t>(findings: &'t Findings<'_>) -> Document<'t> {
    let run = findings.run;
    let experiment = findings.experiment.as_ref();
    Document {
        schema: SCHEMA,
        dyno_version: env!("CARGO_PKG_VERSION"),
        sentence: sentence::all(findings).join(" "),
        verdict: verdict::of_board(&findings.board),
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
        facts: run.facts.iter().map(fact).collect(),
        subjects: run.entries.iter().map(|entry| subject(findings, entry)).collect(),
        tables: findings.board.tables.iter().map(|table| rows::of(findings, table)).collect(),
        held: held::all(findings),
        conformance: conformance::all(findings),
        promise: capacity::promise(findings),
        alarms: capacity::alarms(findings),
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

/// Which run it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "run")]
struct RunJson<'t> {
    /// its id in its store
    id: &'t str,
    /// the experiment
    experiment: &'t str,
    /// the question that it asks
    question: Option<&'t str>,
    /// the article that it follows
    article: Option<&'t str>,
    /// the load in words
    load_in_words: Option<String>,
    /// times and rounds were shortened
    is_quick: bool,
    /// the seed of the order of the trials
    seed: u64,
    /// when it began
    began_unix_ms: i64,
    /// the dyno that measured
    measured_by: &'t str,
    /// how many trials it takes, as far as is known
    trials_planned: usize,
    /// how many are kept; if there are fewer, the run is not finished
    trials_kept: usize,
}

/// A fact about the machine or the conditions.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "fact")]
struct FactJson<'t> {
    /// its name
    name: &'t str,
    /// its value
    value: &'t str,
}

fn fact(fact: &Fact) -> FactJson<'_> {
    FactJson { name: &fact.name, value: &fact.value }
}

/// A file that shaped the run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "file")]
struct FileJson<'t> {
    /// its path in the project
    path: &'t str,
    /// its text
    text: &'t str,
}

/// A server that was to take part.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "subject")]
struct SubjectJson<'t> {
    /// its name, which is that of its folder or entry
    name: &'t str,
    /// its title
    title: &'t str,
    /// the language that it is written in
    language: &'t str,
    /// how many processes it runs, as declared
    processes: &'t str,
    /// what kind of server it is
    tier: &'t str,
    /// its version
    version: &'t str,
    /// the hash of what was built
    build: &'t str,
    /// what its manifest says about it
    notes: &'t str,
    /// why it took no part; null if it did
    skipped: Option<&'t str>,
    /// what was seen of it; null if it took no part
    observed: Option<ObservedJson<'t>>,
}

/// What was seen of a server.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "observed")]
struct ObservedJson<'t> {
    /// from its start to the first right answer, over all its trials
    start_up_ms: Option<EstimateJson>,
    /// accept queues: all values seen
    backlogs: Vec<u32>,
    /// numbers of processes: all values seen
    processes: Vec<u32>,
    /// the sizes of its answers
    wire: Vec<WireJson<'t>>,
}

/// The size of an answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "wire")]
struct WireJson<'t> {
    /// the workload
    workload: &'t str,
    /// the request
    ask: &'t str,
    /// octets of its head
    head_bytes: u64,
    /// octets of the rest
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

/// The mean of a figure over the rounds: geometric for rates, times and bytes if no round is 0, else arithmetic; for the
/// shortest and the longest response time the extreme of all rounds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "estimate")]
struct EstimateJson {
    /// the mean
    value: f64,
    /// the smallest of the rounds
    min: f64,
    /// the largest of the rounds
    max: f64,
    /// lower end of the mean's 95 % interval (Student's t over the rounds); null for one round, and for extremes
    low: Option<f64>,
    /// its upper end; null where it is open
    high: Option<f64>,
    /// rounds that have the figure
    rounds: usize,
    /// a round's figure falls among requests that were given up: the true value is no less
    is_censored: bool,
    /// at least ten samples lie beyond it, in every round
    is_supported: bool,
}

fn estimate(estimate: &Estimate) -> EstimateJson {
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

fn by_class(failures: &[(Failure, u64)]) -> BTreeMap<&'static str, u64> {
    failures.iter().map(|(failure, times)| (failure.name(), *times)).collect()
}

/// Subjects that have a setting in common.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "difference")]
struct DifferenceJson<'t> {
    /// the setting
    setting: &'t str,
    /// the library's own default
    default: Option<&'t str>,
    /// what the entry changes it to
    change: Option<&'t str>,
    /// the subjects that have it so
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

/// Whether the subjects answered a request alike. Fields about the server, the time and the framing are not compared.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "answers")]
struct AnswersJson<'t> {
    /// the workload
    workload: &'t str,
    /// the request
    ask: &'t str,
    /// subjects that always answered alike
    alike: &'t [String],
    /// subjects that answered in another way at least once
    apart: &'t [String],
}

/// The article's figures.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "published")]
struct PublishedJson<'t> {
    /// the heading of their column
    label: &'t str,
    /// what their file says about the article
    about: &'t [String],
    /// each of them
    figures: Vec<PublishedFigureJson<'t>>,
}

/// A figure of the article.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "published_figure")]
struct PublishedFigureJson<'t> {
    /// the subject
    subject: &'t str,
    /// the workload
    workload: &'t str,
    /// the place on the axis; null: its peak
    point: Option<f64>,
    /// the figure
    figure: &'static str,
    /// its value
    value: f64,
    /// what the article says about it
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
