//! A line for each trial: what it was, how it ended, every figure. Figures are plain numbers with the unit in the
//! column's name, empty where there is none; beside one that may be a bound, a column says whether it is.

use analysis::{JudgedTrial, Number, Row, Score, Verdict};
use lab::figure::Figure;
use lab::manner::Task;
use lab::record::TrialKey;
use lab::subject::Tier;

use super::findings::Findings;
use super::{conformance, held};
use crate::render::csv::{line, text};

/// The columns that every line begins with.
pub(super) const WORDS: [&str; 20] = [
    "run",
    "experiment",
    "quick",
    "trial",
    "workload",
    "subject",
    "version",
    "reference",
    "point",
    "unit",
    "streams",
    "round",
    "outcome",
    "says",
    "verdict",
    "doubts",
    "conformance",
    "must_broken",
    "security",
    "not_ranked",
];

/// The whole table, with its heading. For held connections, each line is a plateau.
pub(super) fn of(findings: &Findings<'_>) -> String {
    if !findings.board.ramps.is_empty() {
        return held::csv::of(findings);
    }
    let mut heading: Vec<String> = WORDS.map(String::from).to_vec();
    heading.extend(Figure::OF_TRIALS.iter().flat_map(|figure| {
        let bound = figure.kind().may_be_bound().then(|| format!("{}_bound", figure.name()));
        std::iter::once(figure.name().to_string()).chain(bound)
    }));
    if findings.is_search() {
        heading.extend(OF_SEARCH.map(String::from));
    }
    let mut lines = line(&heading);
    for (workload, row, trial) in findings.weighed() {
        let mut cells = words(findings, workload, row, trial);
        cells.extend(Figure::OF_TRIALS.iter().flat_map(|figure| {
            let number = trial.figures.get(*figure);
            let written = |of: fn(Number) -> String| number.map_or(String::new(), of);
            let bound = figure.kind().may_be_bound().then(|| written(|it| it.is_bound.to_string()));
            std::iter::once(written(|it| it.value.to_string())).chain(bound)
        }));
        if findings.is_search() {
            cells.extend(of_search(findings, &row.subject, workload));
        }
        lines.push_str(&line(&cells));
    }
    lines + &damaged(findings, heading.len())
}

/// A line of so many columns for each damaged trial, so that none is missing without notice: what was planned, what is
/// wrong, and no figure.
pub(super) fn damaged(findings: &Findings<'_>, columns: usize) -> String {
    let lines = findings.damaged.iter().map(|trial| {
        let key = findings.run.plan.iter().find(|key| key.number == trial.number);
        let of_key = |of: fn(&TrialKey) -> String| key.map_or(String::new(), of);
        let entry = findings
            .run
            .entries
            .iter()
            .find(|entry| key.is_some_and(|key| key.subject == entry.name));
        let mut cells = vec![
            number(&findings.id),
            text(&findings.run.name),
            findings.run.is_quick.to_string(),
            trial.number.to_string(),
            of_key(|key| text(&key.workload)),
            of_key(|key| text(&key.subject)),
            text(entry.map_or("", |entry| &entry.version)),
            entry.map_or(String::new(), |entry| (entry.tier == Tier::Reference.name()).to_string()),
            of_key(|key| key.point.value().to_string()),
            of_key(|key| key.point.unit().to_string()),
            String::new(),
            of_key(|key| (key.repeat + 1).to_string()),
            "damaged".into(),
            text(&trial.says),
            Verdict::Invalid.name().into(),
        ];
        cells.resize(columns, String::new());
        line(&cells)
    });
    lines.collect()
}

/// What the search of a trial's server has found, in each of its lines: the rate that is held, the one that is not, and how
/// it ended.
const OF_SEARCH: [&str; 3] = ["holds_per_s", "not_per_s", "search"];

fn of_search(findings: &Findings<'_>, subject: &str, task: &str) -> [String; 3] {
    let mut searches = findings.searches.iter();
    let found = searches.find(|found| found.of.subject == subject && found.of.task == task);
    let Some(found) = found else { return Default::default() };
    let rate = |end: Option<f64>| end.map_or(String::new(), |rate| rate.to_string());
    let bracket = found.answer.bracket();
    [
        rate(bracket.and_then(|it| it.lower)),
        rate(bracket.and_then(|it| it.upper)),
        found.answer.conclusion.name().to_string(),
    ]
}

/// What a trial was and how it ended, under `WORDS`.
pub(super) fn words(
    findings: &Findings<'_>,
    workload: &str,
    row: &Row,
    trial: &JudgedTrial,
) -> Vec<String> {
    let entry = findings.run.entries.iter().find(|entry| entry.name == row.subject);
    let doubts: Vec<&str> = trial.doubts.iter().map(analysis::Doubt::id).collect();
    let score = conformance::score(findings, &row.subject);
    let counted =
        |of: fn(&Score) -> usize| score.map_or(String::new(), |score| of(score).to_string());
    let manner = Task::named(workload).manner;
    let of_task = manner.protocol.is_http2().then(|| u64::from(manner.streams.get()));
    let streams = of_task.or(findings.streams());
    vec![
        number(&findings.id),
        text(&findings.run.name),
        findings.run.is_quick.to_string(),
        trial.number.to_string(),
        text(workload),
        text(&row.subject),
        text(entry.map_or("", |entry| &entry.version)),
        row.is_reference.to_string(),
        row.point.value().to_string(),
        row.point.unit().to_string(),
        streams.map_or(String::new(), |streams| streams.to_string()),
        (trial.repeat + 1).to_string(),
        trial.outcome.kind.name().to_string(),
        text(&trial.outcome.says),
        trial.verdict().name().to_string(),
        doubts.join(" "),
        score.map_or(conformance::NOT_CHECKED.into(), |score| {
            format!("{} of {}", score.all.pass, score.all.applicable())
        }),
        counted(|score| score.all.must_broken),
        counted(|score| score.all.security.len()),
        text(row.unmet.as_deref().unwrap_or_default()),
    ]
}

/// A run's number is a number; any other id is a text.
fn number(id: &str) -> String {
    if id.parse::<u64>().is_ok() { id.into() } else { text(id) }
}
