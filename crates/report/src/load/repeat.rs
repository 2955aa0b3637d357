//! Several loads of one kind, one after another: each of them, and every figure over all of them with its interval.

use analysis::{By, Conduct, Estimate, Faults, JudgedTrial, Reason, Row};
use lab::figure::Figure;
use schemars::JsonSchema;
use serde::Serialize;
use units::counted;

use super::{FinishedLoad, words};
use crate::Findings;
use crate::conduct;
use crate::document::{self, Block, Cell, Column, Depth, Document, Section, Table, Tone};
use crate::json::{ByFigure, written};
use crate::verdict::{ExplainedDoubt, ExplainedVerdict};
use crate::written::{Written, marks};

pub(crate) const SCHEMA: &str = "dyno.loads/1";

/// What each load has in the table.
const SHOWN: [Figure; 7] = [
    Figure::Throughput,
    Figure::OnTime,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP99,
    Figure::FailedShare,
    Figure::SilentShare,
];

/// The whole report. The findings are those of the run that these loads are.
pub fn repeated(loads: &[FinishedLoad], findings: &Findings<'_>) -> Document {
    let verdict = verdict(findings);
    let first = loads.first();
    let title = first.map_or(String::new(), |load| {
        let asked = &load.asked;
        let times = counted(loads.len() as u64, "load", "loads");
        format!("{} at {}, {times}", asked.words(), asked.address)
    });
    let table = row(findings).map(|row| Block::Table(table(row)));
    let required = Section::new("required", "What was required", Depth::Brief);
    let mut sections = vec![
        Section::new("loads", "", Depth::Brief).with(table),
        required.with(super::requirements::of_all(loads)),
        verdict.section(),
    ];
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        title,
        answer: vec![sentence(loads, findings)],
        verdict: verdict.word,
        conditions: first.map(|load| words::of_load(&load.order)).into_iter().collect(),
        sections,
        ..Document::default()
    }
}

fn row<'t>(findings: &'t Findings<'_>) -> Option<&'t Row> {
    findings.board.tables.first()?.rows.first()
}

/// What all of them are worth, with the number of loads that have each doubt.
fn verdict(findings: &Findings<'_>) -> ExplainedVerdict {
    let explained = |Reason { doubt, rounds, of }: Reason| ExplainedDoubt {
        rounds: Some(rounds),
        of: Some(of),
        ..ExplainedDoubt::of(&doubt, By::Flags)
    };
    let reasons = row(findings).map_or(Vec::new(), Row::reasons);
    ExplainedVerdict {
        word: findings.board.verdict(),
        doubts: reasons.into_iter().map(explained).collect(),
    }
}

/// The answer: faults that are not tolerated, of all loads together or of one of them, come first.
fn sentence(loads: &[FinishedLoad], findings: &Findings<'_>) -> String {
    let figures = figures(findings);
    let Some(first) = loads.first() else { return format!("{figures}.") };
    let totals = loads.iter().map(|load| &load.recording.total);
    let all = Conduct::of(Faults::of(totals), first.tolerated);
    let one =
        |load: &FinishedLoad| Conduct::of(Faults::of([&load.recording.total]), load.tolerated);
    let worst = loads.iter().map(one).enumerate().find(|(_, conduct)| !conduct.is_tolerated());
    let named = match worst {
        Some((place, conduct)) if all.is_tolerated() => {
            conduct::says(&format!("Load {}", place + 1), conduct)
        }
        Some(_) => conduct::says("It", all),
        None => {
            let tolerated =
                conduct::says("it", all).map_or(String::new(), |says| format!("; {says}"));
            return format!("{figures}{tolerated}.");
        }
    };
    let (first, rest) = figures.split_at(figures.chars().next().map_or(0, char::len_utf8));
    format!("{}; {}{rest}.", named.unwrap_or_default(), first.to_lowercase())
}

/// Each figure with its interval, without a full stop.
fn figures(findings: &Findings<'_>) -> String {
    let figure = |figure: Figure| {
        let estimate = row(findings)?.estimate(figure)?;
        let written = Written::estimate(figure.unit(), &estimate);
        Some(format!("{}{}", written.bounded(), written.between()))
    };
    let Some(rate) = figure(Figure::Throughput) else { return "Nothing was measured".into() };
    let count = row(findings).map_or(0, Row::measured);
    let times =
        [(Figure::ResponseP50, "half of them within"), (Figure::ResponseP99, "99 % within")];
    let times = times.map(|(of, says)| Some(format!("{says} {}", figure(of)?)));
    let times: Vec<String> = times.into_iter().flatten().collect();
    let times = if times.is_empty() { String::new() } else { format!(", {}", times.join(" and ")) };
    let on_time =
        figure(Figure::OnTime).map_or(String::new(), |share| format!("; {share} on time"));
    let spread = match count {
        1 => "one load, whose spread is not known".to_string(),
        count => format!("the means of {count} loads, with 95 % intervals"),
    };
    format!("It answered {rate} requests/s{times}{on_time}: {spread}")
}

/// A silence is told of where there was one.
fn is_shown(row: &Row, figure: Figure) -> bool {
    let is_told = |estimate: Estimate| figure != Figure::SilentShare || 0.0 < estimate.value;
    row.estimate(figure).is_some_and(is_told)
}

fn table(row: &Row) -> Table {
    let shown: Vec<Figure> = SHOWN.into_iter().filter(|figure| is_shown(row, *figure)).collect();
    let mut columns = vec![Column::new("load", "load", 0).left()];
    columns.extend(
        shown.iter().map(|figure| {
            Column::new(figure.name(), figure.heading(), 0).meaning(figure.meaning())
        }),
    );
    columns.push(Column::new("verdict", "verdict", 0).left());
    let each = |(place, trial): (usize, &JudgedTrial)| {
        let mut cells = vec![Cell::text((place + 1).to_string()).toned(Tone::Dim)];
        cells.extend(shown.iter().map(|&figure| one(trial, figure)));
        cells.push(Cell::text(trial.verdict().name()));
        document::Row { cells, ..document::Row::default() }
    };
    let mut rows: Vec<document::Row> = row.trials.iter().enumerate().map(each).collect();
    let mut cells = vec![Cell::text("mean [95 %]").toned(Tone::Strong)];
    cells.extend(shown.iter().map(|&figure| match row.estimate(figure) {
        None => Cell::none(),
        Some(estimate) => {
            let written = Written::estimate(figure.unit(), &estimate);
            let value = format!("{}{}", written.value, written.between());
            Written { value, ..written }.cell(estimate.value)
        }
    }));
    cells.push(Cell::text(row.verdict().map_or("–", analysis::Verdict::name)));
    rows.push(document::Row { cells, ..document::Row::default() });
    Table::of("loads", columns, rows)
}

fn one(trial: &JudgedTrial, figure: Figure) -> Cell {
    trial.figures.get(figure).map_or(Cell::none(), |number| {
        let marks = marks(number.is_bound, number.is_supported);
        Written::of(figure.unit(), number.value, None).cell(number.value).marked(marks)
    })
}

/// Several loads of one kind, one after another.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "loads")]
pub(crate) struct Loads {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the dyno that wrote it
    dyno_version: &'static str,
    /// all of them in plain words
    sentence: String,
    /// what the figures are worth
    verdict: ExplainedVerdict,
    /// each figure over all loads
    figures: ByFigure<EstimateJson>,
    /// each load, as `dyno load --json` writes it
    loads: Vec<super::json::Document>,
}

/// A figure over all loads.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "estimate")]
struct EstimateJson {
    /// the mean, in the unit that the name says; of rates and times the geometric one
    value: f64,
    /// lower end of its 95 % interval; null with one load
    low: Option<f64>,
    /// its upper end
    high: Option<f64>,
    /// loads that have it
    loads: usize,
    /// requests were given up: the true value is no less
    is_bound: bool,
    /// each load had enough samples for it
    is_supported: bool,
}

/// The same as JSON, with a line end.
pub fn repeated_json(
    loads: &[FinishedLoad],
    findings: &Findings<'_>,
) -> serde_json::Result<String> {
    let estimate = |estimate: Estimate| EstimateJson {
        value: estimate.value,
        low: estimate.interval().map(|(low, _)| low).or(estimate.at_least()),
        high: estimate.interval().map(|(_, high)| high),
        loads: estimate.rounds,
        is_bound: estimate.is_bound,
        is_supported: estimate.is_supported,
    };
    written(&Loads {
        schema: SCHEMA,
        dyno_version: env!("CARGO_PKG_VERSION"),
        sentence: sentence(loads, findings),
        verdict: verdict(findings),
        figures: ByFigure::of(|figure| row(findings)?.estimate(figure).map(estimate)),
        loads: loads.iter().map(super::json::Document::from).collect(),
    })
}

#[cfg(test)]
mod tests;
