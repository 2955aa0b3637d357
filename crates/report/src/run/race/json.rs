//! A race as JSON, `dyno.race/1`.

use analysis::Row;
use schemars::JsonSchema;
use serde::Serialize;

use super::{RaceOutcome, against_first, sides};
use crate::gate::json::FigureJson;
use crate::json::{CheckedJson, written};
use crate::run::Findings;
use crate::run::comparison::json::RowJson as PairJson;
use crate::run::conditions::race_answers;
use crate::run::json::{BoardJson, RowJson, of_run};
use crate::sentence;

const SCHEMA: &str = "dyno.race/1";

/// A race: the servers, and the ratio of each to the first. The whole run is in `dyno report --format json`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "race")]
pub(crate) struct RaceDocument<'t> {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the dyno that wrote it
    dyno_version: &'t str,
    /// the answer in plain words
    sentence: String,
    /// measured, failed or cannot_tell: exit codes 0, 1, 2; with --detect a server that is worse is failed
    #[schemars(extend("enum" = ["measured", "failed", "cannot_tell"]))]
    outcome: &'static str,
    /// the id of the run in its store
    run: &'t str,
    /// the command line
    command: Option<&'t str>,
    /// when the run began
    began_unix_ms: i64,
    /// what the race is worth
    verdict: BoardJson,
    /// with --detect: whether the second server is worse than the first; else null
    gate: Option<FigureJson>,
    /// the servers, in the order in which they were named; then dyno's own server, if it takes part
    sides: Vec<SideJson<'t>>,
    /// each server but the first, divided by the first: round by round, with Student's t on the logarithms; all are
    /// decided together
    ratios: Vec<PairJson<'t>>,
    /// what was checked of the answers
    checked: Option<CheckedJson>,
    /// how the first answers of the servers differ, a sentence each
    answers_differ: Vec<&'t str>,
}

/// A server of a race.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "race_side")]
struct SideJson<'t> {
    /// its name, for readers
    title: &'t str,
    /// its figures
    row: RowJson<'t>,
}

pub(super) fn of(findings: &Findings<'_>) -> serde_json::Result<String> {
    let against = against_first(findings);
    let tables = findings.board.tables.first();
    let references = tables.into_iter().flat_map(|table| crate::references(table));
    written(&RaceDocument {
        schema: SCHEMA,
        dyno_version: &findings.run.dyno,
        sentence: sentence::all(findings).join(" "),
        outcome: match findings.race() {
            RaceOutcome::Measured => "measured",
            RaceOutcome::Failed => "failed",
            RaceOutcome::CannotTell => "cannot_tell",
        },
        run: &findings.id,
        command: findings.race_command(),
        began_unix_ms: findings.run.began_unix_ms,
        verdict: of_run(findings),
        checked: findings.checked().as_ref().map(CheckedJson::from),
        gate: findings.gate().and_then(|gate| gate.figures.first().map(FigureJson::from)),
        sides: sides(findings)
            .into_iter()
            .chain(references)
            .map(|row| side(findings, row))
            .collect(),
        ratios: against.iter().map(PairJson::from).collect(),
        answers_differ: race_answers(findings).collect(),
    })
}

fn side<'t>(findings: &'t Findings<'_>, row: &'t Row) -> SideJson<'t> {
    SideJson { title: findings.title(&row.subject), row: RowJson::of(findings, row) }
}
