//! A run as JSON, `dyno.run/1`: every finding and what it is made of, with units in the names.

mod capacity;
mod conformance;
mod held;
mod price;
mod rows;
mod searches;
mod verdict;

pub(super) use rows::RowJson;
pub(super) use verdict::BoardJson;

use std::collections::BTreeMap;

use analysis::why::Explained;
use analysis::{Answers, Estimate, MannerPrice, Variant, Wire};
use lab::history::PublishedFigures;
use lab::record::{Entry, Fact};
use load::Failure;
use schemars::JsonSchema;
use serde::Serialize;

use super::Findings;
use crate::http2::SettingsJson;
use crate::json::{CheckedJson, json_type, written};
use crate::security::SecurityJson;
use crate::sentence;

/// The whole document, with a line end.
pub(crate) fn of(findings: &Findings<'_>) -> serde_json::Result<String> {
    // A search tries other rates of each task: nothing there is paired.
    let prices = if findings.is_search() { Vec::new() } else { findings.board.prices() };
    written(&RunDocument::of(&prices, findings))
}

json_type! {
    /// A run, computed again from what the store keeps. Figures that were not measured are missing. Strings from a
    /// server are not escaped: escape them where you show them.
    pub(crate) struct RunDocument<'t> as "run_report", "dyno.run/1" of findings: Findings<'_>,
        with prices: Vec<MannerPrice<'_>>
    {
        /// the answer in plain words
        sentence: String = sentence::all(findings).join(" "),
        /// where the CPU time of answers goes, for each load of which servers were sampled
        why: &'t [Explained] = findings.explained(),
        /// what the run is worth
        verdict: verdict::BoardJson = findings.into(),
        /// what was checked of the answers of all measured rounds; null where nothing was loaded
        checked: Option<CheckedJson> = findings.checked().as_ref().map(CheckedJson::from),
        /// which run it is
        run: RunJson<'t> = findings.into(),
        /// the machine
        facts: Vec<FactJson<'t>> = findings.run.facts.iter().map(FactJson::from).collect(),
        /// every server that was to take part
        subjects: Vec<SubjectJson<'t>> =
            findings.run.entries.iter().map(|entry| SubjectJson::of(findings, entry)).collect(),
        /// the results of each task: of a workload that was requested in one manner
        tables: Vec<rows::TableJson<'t>> =
            findings.board.tables.iter().map(|table| rows::TableJson::of(findings, table)).collect(),
        /// what TLS, HTTP/2 and full handshakes cost each server; empty where the run has no two such tasks
        prices: Vec<price::PriceJson<'t>> = prices.iter().map(price::PriceJson::from).collect(),
        /// what each server holds, where the run searched for that, best first; empty in any other run
        searches: Vec<searches::SearchJson> = searches::all(findings),
        /// held connections, for each workload; empty in a run of another load
        held: Vec<held::RampsJson<'t>> = held::all(findings),
        /// how far each participant conforms to the RFCs; never part of a speed figure
        conformance: Vec<conformance::ConformanceJson<'t>> = conformance::all(findings),
        /// what capacity keeps
        promise: capacity::PromiseJson =
            (&findings.run.experiment.as_ref().map(|found| found.promise).unwrap_or_default()).into(),
        /// servers that are too much alike
        alarms: Vec<capacity::AlarmJson> =
            if findings.is_search() { Vec::new() } else { capacity::alarms(findings) },
        /// settings that differ between servers, or that one of them changes
        differences: Vec<DifferenceJson<'t>> = differences(findings),
        /// whether the servers answered alike
        answers: &'t [Answers] = &findings.fairness.answers,
        /// the article's figures
        published: &'t PublishedFigures = &findings.history,
        /// every file that shaped the run, and behind them the experiment as it was run, as JSON
        files: Vec<FileJson> =
            findings.run.texts().into_iter().map(|(path, text)| FileJson { path, text }).collect(),
        /// a sentence for each trial whose content no longer matches its seal; such trials are in no figure
        damaged: Vec<&'t str> = findings.says_of_damage().collect(),
    }
}

json_type! {
    /// Which run it is.
    struct RunJson<'t> as "run" of findings: Findings<'_>;
        let run = findings.run;
        let experiment = findings.run.experiment.as_ref();
    {
        /// its id in its store
        id: &'t str = &findings.id,
        /// the experiment
        experiment: &'t str = &run.name,
        /// the question that it asks
        question: Option<&'t str> = experiment.map(|experiment| experiment.question.as_str()),
        /// the article that it follows
        article: Option<&'t str> = experiment.and_then(|experiment| experiment.article.as_deref()),
        /// the load in words
        load_in_words: Option<String> =  findings.load_in_words(),
        /// times and rounds were shortened
        is_quick: bool = run.is_quick,
        /// what the command line changed of what the experiment's file says, in words
        changed: Vec<String> = experiment.map(|it| it.changed.says.clone()).unwrap_or_default(),
        /// the seed of the order of the trials
        seed: u64 = run.seed,
        /// when it began
        began_unix_ms: i64 = run.began_unix_ms,
        /// the dyno that measured
        measured_by: &'t str = &run.dyno,
        /// how many trials it takes, as far as is known
        trials_planned: usize = match findings.is_search() {
            true => findings.kept(),
            false => findings.board.planned(),
        },
        /// how many are kept, damaged ones among them; if there are fewer, the run is not finished
        trials_kept: usize = findings.kept(),
    }
}

json_type! {
    /// A fact about the machine or the conditions.
    struct FactJson<'t> as "fact" of fact: Fact {
        /// its name
        name: &'t str = &fact.name,
        /// its value
        value: &'t str = &fact.value,
    }
}

/// A file that shaped the run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "file")]
struct FileJson {
    /// its path in the project
    path: String,
    /// its text
    text: String,
}

json_type! {
    /// A server that was to take part.
    struct SubjectJson<'t> as "run_server" of entry: Entry, with findings: Findings<'_>;
        let observed =
            findings.fairness.observed.iter().find(|observed| observed.subject == entry.name);
    {
        #[serde(flatten)]
        entry: &'t Entry = entry,
        /// what was seen of it; null if it took no part
        observed: Option<ObservedJson<'t>> = observed.map(ObservedJson::from),
    }
}

json_type! {
    /// What was seen of a server.
    struct ObservedJson<'t> as "observed" of observed: analysis::Observed {
        /// from its start to the first correct answer, over all its trials
        start_up_ms: Option<Estimate> = observed.start_up,
        /// accept queues: all values seen
        backlogs: Vec<u32> = observed.backlogs.iter().copied().collect(),
        /// numbers of processes: all values seen
        processes: Vec<u32> = observed.processes.iter().copied().collect(),
        /// the sizes of its answers
        wire: &'t [Wire] = &observed.wires,
        /// what its connections agreed on with TLS, over all of its trials; null without TLS
        tls: Option<SecurityJson> = observed.security.as_ref().map(SecurityJson::from),
        /// what it announced over HTTP/2, and on how many connections
        settings: Vec<SettingsJson> = observed.settings.iter().map(SettingsJson::from).collect(),
    }
}

fn by_class(failures: &[(Failure, u64)]) -> BTreeMap<&'static str, u64> {
    failures.iter().map(|(failure, times)| (failure.name(), *times)).collect()
}

/// Servers that have a setting in common.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "difference")]
struct DifferenceJson<'t> {
    /// the setting
    setting: &'t str,
    #[serde(flatten)]
    variant: &'t Variant,
}

fn differences<'t>(findings: &'t Findings<'_>) -> Vec<DifferenceJson<'t>> {
    let of_setting = |setting: &'t analysis::Variants| {
        let setting_of = |variant| DifferenceJson { setting: &setting.name, variant };
        setting.variants.iter().map(setting_of)
    };
    findings.fairness.settings.iter().flat_map(of_setting).collect()
}
