//! A run as lines of a history.

use std::collections::BTreeMap;

use analysis::{Row, Table, Verdict, against_first};
use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::{Fact, LOAD_ON, SUBJECT_HOST, SUBJECT_ON};
use sha2::{Digest, Sha256};

use super::line::{Line, Measurement, SCHEMA};
use super::origin::Origin;
use super::{KERNEL, fact};
use crate::Findings;

/// The project's repository while the run was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// In hexadecimal digits.
    pub hash: String,
    /// Files differ from it.
    pub is_dirty: bool,
}

/// What makes a machine another one. Kernels, limits and the like change more often, and are no part of it.
const OF_A_MACHINE: [&str; 11] = [
    "architecture",
    "cpu.model",
    "cpu.online",
    "cpu.smt",
    "cpu.turbo",
    "cpu.governor",
    "machine.product",
    "virtualisation",
    SUBJECT_ON,
    SUBJECT_HOST,
    LOAD_ON,
];

/// So many digits of a hash are a name.
const DIGITS: usize = 12;

/// The machine's name in histories, and the facts of which it is made.
#[must_use]
pub fn machine_key(facts: &[Fact]) -> (String, BTreeMap<String, String>) {
    let known = |name: &&str| Some((name.to_string(), fact(facts, name)?.to_string()));
    let known: BTreeMap<String, String> = OF_A_MACHINE.iter().filter_map(known).collect();
    (hash(known.iter().flat_map(|(name, value)| [name.as_str(), value])), known)
}

/// The beginning of a SHA-256 over texts, each with its length: no two lists of texts have the same bytes.
pub(super) fn hash<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    units::hex(&hash.finalize())[..DIGITS].to_string()
}

/// The figures of a history: those that servers are compared by.
fn figures(row: &Row) -> impl Iterator<Item = Figure> {
    let is_closed = matches!(row.point, Point::Connections(_));
    let all = analysis::COMPARED.into_iter().chain([Figure::MemoryPerConnection]);
    // A schedule's throughput is its own, unless the server is behind.
    all.filter(move |figure| *figure != Figure::Throughput || is_closed)
}

/// Every line of a run, each with its line end.
pub fn lines(
    findings: &Findings<'_>,
    origin: &Origin,
    commit: Option<&Commit>,
) -> serde_json::Result<String> {
    let mut text = String::new();
    for line in of_run(findings, origin, commit) {
        text.push_str(&serde_json::to_string(&line)?);
        text.push('\n');
    }
    Ok(text)
}

/// The lines of a kept run, which its store does not know the commit of.
#[must_use]
pub fn kept_lines(findings: &Findings<'_>) -> Vec<Line> {
    of_run(findings, &Origin::of_kept(findings.run), None)
}

pub(super) fn of_run(
    findings: &Findings<'_>,
    origin: &Origin,
    commit: Option<&Commit>,
) -> Vec<Line> {
    let run = findings.run;
    let (machine, machine_facts) = machine_key(&origin.facts(run));
    let others = ["subjects/", "experiments/history/"];
    let texts = run.texts();
    let files = texts.iter().filter(|(path, _)| !others.iter().any(|it| path.starts_with(it)));
    let common = Line {
        schema: SCHEMA.into(),
        run: Measurement {
            began_unix_ms: run.began_unix_ms,
            commit: commit.map(|commit| commit.hash.clone()),
            is_dirty: commit.map(|commit| commit.is_dirty),
        },
        machine,
        machine_facts,
        kernel: fact(&run.facts, KERNEL).map(str::to_string),
        dyno_version: run.dyno.clone(),
        made_by: origin.made_by,
        experiment: origin.experiment.clone().unwrap_or_else(|| run.group()),
        plan: hash(
            files
                .flat_map(|(path, text)| [path.as_str(), text])
                .chain(origin.terms.iter().map(String::as_str)),
        ),
        is_quick: run.is_quick,
        flags: origin.flags.clone(),
        ..Line::default()
    };
    let tables = findings.board.tables.iter();
    let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    rows.flat_map(|(table, row)| of_row(findings, origin, &common, table, row)).collect()
}

fn of_row(
    findings: &Findings<'_>,
    origin: &Origin,
    common: &Line,
    table: &Table,
    row: &Row,
) -> Vec<Line> {
    let Some(verdict) = row.verdict().map(Verdict::name) else { return Vec::new() };
    let reference = table.rows.iter().find(|other| {
        other.is_reference && other.point == row.point && other.subject != row.subject
    });
    let entry = findings.entry(&row.subject);
    let side = origin.sides.iter().find(|side| side.subject == row.subject);
    let first = origin.sides.first().filter(|first| side.is_some() && first.subject != row.subject);
    let ratios = first.map(|first| ratios(table, &first.subject, row)).unwrap_or_default();
    let lines = figures(row).filter_map(|figure| {
        let estimate = row.estimate(figure)?;
        let measured = row.trials.iter().filter(|trial| trial.is_measured());
        let rounds = measured.filter_map(|trial| Some(trial.figures.get(figure)?.value));
        let beside = reference.and_then(|row| Some((row.subject.clone(), row.estimate(figure)?)));
        Some(Line {
            workload: table.workload.clone(),
            subject: side.map_or_else(|| row.subject.clone(), |side| side.name.clone()),
            version: entry.map(|entry| entry.version.clone()).unwrap_or_default(),
            build: entry.map(|entry| entry.build.clone()).unwrap_or_default(),
            point: row.point.value(),
            point_unit: row.point.unit().into(),
            figure: figure.name().into(),
            unit: figure.unit().name().into(),
            rounds: rounds.collect(),
            value: estimate.value,
            is_bound: estimate.is_bound,
            reference: beside.as_ref().map(|(name, _)| name.clone()),
            reference_value: beside.map(|(_, estimate)| estimate.value),
            first_side: first.map(|first| first.name.clone()),
            ratio_to_first: ratios.iter().find(|(of, _)| *of == figure).map(|(_, ratio)| *ratio),
            side: side.map(|side| side.side.clone()),
            verdict: verdict.into(),
            ..common.clone()
        })
    });
    lines.collect()
}

/// A side's figures divided by those of the first side, as the race states them. A bound is none, and nothing is divided
/// by a figure that is none.
fn ratios(table: &Table, first: &str, row: &Row) -> Vec<(Figure, f64)> {
    let is_first = |other: &&Row| other.subject == first && other.point == row.point;
    let is_valid = |first: &&Row| first.verdict() != Some(Verdict::Invalid);
    let first = table.rows.iter().find(is_first).filter(is_valid);
    let pairs = first.map_or(Vec::new(), |first| against_first(&table.workload, &[first, row]));
    let figures = pairs.iter().flat_map(|pair| &pair.figures);
    let made = figures.filter_map(|(_, made)| made.as_ref().ok());
    made.filter(|made| !made.is_bound).map(|made| (made.figure, made.ratio)).collect()
}
