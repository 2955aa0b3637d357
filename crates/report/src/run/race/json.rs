//! A race as JSON, `dyno.race/1`.

use analysis::{Pair, Row};

use super::{against_first, sides};
use crate::gate::json::FigureJson;
use crate::json::{CheckedJson, json_type, written};
use crate::run::comparison::json::RowJson as PairJson;
use crate::run::conditions::race_answers;
use crate::run::findings::Findings;
use crate::run::json::{BoardJson, RowJson};
use crate::sentence;

json_type! {
    /// A race: the servers, and the ratio of each to the first. The whole run is in `dyno report --format json`.
    pub(crate) struct RaceDocument<'t> as "race", "dyno.race/1" of findings: Findings<'_>,
        with against: Vec<Pair<'_>>;
        let tables = findings.board.tables.first();
        let references = tables.into_iter().flat_map(|table| crate::references(table));
    {
        /// the answer in plain words
        sentence: String = sentence::all(findings).join(" "),
        /// measured, failed or cannot_tell: exit codes 0, 1, 2; with --detect a server that is worse is failed
        #[schemars(extend("enum" = ["measured", "failed", "cannot_tell"]))]
        outcome: &'static str = findings.race().name(),
        /// the id of the run in its store
        run: &'t str = &findings.id,
        /// the command line
        command: Option<&'t str> = findings.race_command(),
        /// when the run began
        began_unix_ms: i64 = findings.run.began_unix_ms,
        /// what the race is worth
        verdict: BoardJson = findings.into(),
        /// with --detect: whether the second server is worse than the first; else null
        gate: Option<FigureJson> =
            findings.gate().and_then(|gate| gate.figures.first().map(FigureJson::from)),
        /// the servers, in the order in which they were named; then dyno's own server, if it takes part
        sides: Vec<SideJson<'t>> = sides(findings)
            .into_iter()
            .chain(references)
            .map(|row| SideJson::of(findings, row))
            .collect(),
        /// each server but the first, divided by the first: round by round, with Student's t on the logarithms; all are
        /// decided together
        ratios: Vec<PairJson<'t>> = against.iter().map(PairJson::from).collect(),
        /// what was checked of the answers
        checked: Option<CheckedJson> = findings.checked().as_ref().map(CheckedJson::from),
        /// how the first answers of the servers differ, a sentence each
        answers_differ: Vec<&'t str> = race_answers(findings).collect(),
    }
}

json_type! {
    /// A server of a race.
    struct SideJson<'t> as "race_side" of row: Row, with findings: Findings<'_> {
        /// its name, for readers
        title: &'t str = findings.title(&row.subject),
        /// its figures
        row: RowJson<'t> = RowJson::of(findings, row),
    }
}

pub(crate) fn of(findings: &Findings<'_>) -> serde_json::Result<String> {
    written(&RaceDocument::of(&against_first(findings), findings))
}
