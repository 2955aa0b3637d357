//! The first picture of a race: the ratios of each side to the first, and those of the rounds of which they are made.

use analysis::Pair;
use lab::figure::Figure;

use super::against_first;
use crate::Findings;
use crate::chart::{About, Axis, Column, Name, Rows, Trust, Value};
use crate::paired::Ratio;
use crate::run::price::drawn_ratio;

/// What may be compared, in the order of the columns.
const FIGURES: [Figure; 5] = [
    Figure::Throughput,
    Figure::OnTime,
    Figure::ResponseP99,
    Figure::ResponseP999,
    Figure::CpuPerThousand,
];
/// There is room for so many columns.
const COLUMNS: usize = 3;
/// At most this many rounds of a side are drawn.
const ROUNDS: usize = 12;

/// A row for each side but the first, with a row for each round below it; none where no ratio can be formed.
pub(crate) fn rows(findings: &Findings<'_>) -> Option<Rows> {
    let pairs = against_first(findings);
    let is_compared = |figure: &Figure| {
        let mut all = pairs.iter().flat_map(|pair| &pair.figures);
        all.any(|(other, made)| other == figure && made.is_ok())
    };
    let figures = FIGURES.into_iter().filter(is_compared).take(COLUMNS);
    let columns: Vec<Column> = figures
        .map(|figure| {
            let values = pairs.iter().flat_map(|pair| values(pair, figure)).collect();
            Column::new(figure.heading(), Axis::Ratio, values)
        })
        .collect();
    let first = findings.title(&pairs.first()?.a.subject);
    (!columns.is_empty()).then(|| Rows {
        about: About {
            title: format!("Each server divided by {first}"),
            description: "The ratio of each figure with its interval, and the ratio in each round"
                .into(),
        },
        names: pairs.iter().flat_map(|pair| names(findings, pair)).collect(),
        columns,
        note: "logarithmic; the line is 1×, no difference; below each ratio those of the rounds"
            .into(),
        bars: "bars: the interval that decides",
    })
}

/// The numbers of the rounds that are drawn.
fn rounds(pair: &Pair<'_>) -> Vec<u32> {
    let measured = pair.a.trials.iter().filter(|trial| trial.is_measured());
    measured.map(|trial| trial.repeat).take(ROUNDS).collect()
}

fn names(findings: &Findings<'_>, pair: &Pair<'_>) -> Vec<Name> {
    let slot = Some(findings.slot(&pair.b.subject));
    let title = findings.title(&pair.b.subject).to_string();
    let rounds = rounds(pair).into_iter().map(|round| format!("round {}", round + 1));
    std::iter::once(title).chain(rounds).map(|title| Name { slot, title }).collect()
}

/// One for each of the names.
fn values(pair: &Pair<'_>, figure: Figure) -> Vec<Value> {
    let ratios = pair.round_ratios(figure);
    let rounds = rounds(pair).into_iter().map(|round| {
        let found = ratios.iter().find(|(other, _)| *other == round);
        found.map_or_else(
            || Value::absent("not measured"),
            |(_, ratio)| round_value(pair, figure, Ratio::single(*ratio)),
        )
    });
    std::iter::once(drawn_ratio(pair, figure)).chain(rounds).collect()
}

fn round_value(pair: &Pair<'_>, figure: Figure, ratio: Ratio) -> Value {
    let says = format!("{ratio} {}", figure.heading());
    Value { trust: Trust::of_row(pair.b), says, ..Value::from(ratio) }
}
