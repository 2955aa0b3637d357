//! A comparison as JSON, `dyno.compare/1`. docs/compare.md explains each field.

use analysis::{Comparison, Finding, Pair, Why};
use lab::figure::Figure;
use serde::Serialize;

use super::{Compared, Side, answer, conformance};

#[derive(Serialize)]
struct Document<'t> {
    schema: &'static str,
    a: SideJson<'t>,
    b: SideJson<'t>,
    gate: answer::GateJson<'t>,
    comparisons: usize,
    worse: usize,
    better: usize,
    rows: Vec<RowJson<'t>>,
    conformance: Vec<conformance::ChecksJson<'t>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SideJson<'t> {
    run: &'t str,
    experiment: &'t str,
    subject: Option<&'t str>,
    began_unix_ms: i64,
}

#[derive(Serialize)]
struct RowJson<'t> {
    workload: &'t str,
    point: f64,
    point_unit: &'static str,
    a_subject: &'t str,
    b_subject: &'t str,
    a_is_doubtful: bool,
    b_is_doubtful: bool,
    figures: Vec<FigureJson>,
}

#[derive(Serialize)]
struct FigureJson {
    figure: &'static str,
    unit: &'static str,
    finding: &'static str,
    a_mean: Option<f64>,
    b_mean: Option<f64>,
    a_rounds: Option<usize>,
    b_rounds: Option<usize>,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    smallest_shown_percent: Option<f64>,
    more_rounds_for_5_percent: Option<usize>,
    is_bound: Option<bool>,
    is_supported: Option<bool>,
}

pub(super) fn of(compared: &Compared<'_>) -> serde_json::Result<String> {
    let [a, b] = compared.sides.each_ref().map(side);
    let checks = conformance::all(compared);
    let document = Document {
        schema: "dyno.compare/1",
        a,
        b,
        gate: answer::json(compared),
        comparisons: compared.versus.made().count(),
        worse: compared.count(Finding::Worse),
        better: compared.count(Finding::Better),
        rows: compared.versus.pairs.iter().map(row).collect(),
        conformance: conformance::json(&checks),
        notes: compared.notes(),
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n")
}

fn side<'t>(side: &'t Side<'_>) -> SideJson<'t> {
    SideJson {
        run: &side.findings.id,
        experiment: &side.findings.run.name,
        subject: side.subject,
        began_unix_ms: side.findings.run.began_unix_ms,
    }
}

fn row<'t>(pair: &'t Pair<'_>) -> RowJson<'t> {
    RowJson {
        workload: pair.workload,
        point: pair.a.point.value(),
        point_unit: pair.a.point.unit(),
        a_subject: &pair.a.subject,
        b_subject: &pair.b.subject,
        a_is_doubtful: pair.a.is_doubtful(),
        b_is_doubtful: pair.b.is_doubtful(),
        figures: pair.figures.iter().map(|(of, made)| figure(*of, made)).collect(),
    }
}

fn figure(figure: Figure, made: &Result<Comparison, Why>) -> FigureJson {
    let got = made.as_ref().ok();
    FigureJson {
        figure: figure.name(),
        unit: figure.unit().name(),
        finding: finding(made),
        a_mean: got.map(|made| made.means[0]),
        b_mean: got.map(|made| made.means[1]),
        a_rounds: got.map(|made| made.rounds[0]),
        b_rounds: got.map(|made| made.rounds[1]),
        ratio: got.map(|made| made.ratio),
        ratio_low: got.map(|made| made.interval.0),
        ratio_high: got.map(|made| made.interval.1),
        p: got.map(|made| made.p),
        p_adjusted: got.map(|made| made.adjusted_p),
        smallest_shown_percent: got.map(|made| made.smallest_shown() * 100.0),
        more_rounds_for_5_percent: got.and_then(|made| made.more_rounds(0.05)),
        is_bound: got.map(|made| made.is_bound),
        is_supported: got.map(|made| made.is_supported),
    }
}

fn finding(made: &Result<Comparison, Why>) -> &'static str {
    match made {
        Err(why) => not_compared(*why),
        Ok(made) => match made.finding() {
            Finding::Better => "better",
            Finding::Worse => "worse",
            Finding::Differs => "differs",
            Finding::ByChance => "perhaps_chance",
            Finding::NotShown => "no_difference_shown",
        },
    }
}

pub(super) fn not_compared(why: Why) -> &'static str {
    match why {
        Why::Missing => "not_compared_missing",
        Why::OneRound => "not_compared_one_round",
        Why::Nothing => "not_compared_zero",
        Why::KeptUp => "not_compared_kept_up",
        Why::Bounds => "not_compared_bounds",
    }
}
