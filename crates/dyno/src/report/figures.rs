//! Percentiles as they are printed: with a mark if there are too few samples for them.

use load::{Distribution, Quantile};
use report::document::{Cell, Mark, Marks, Tone};
use report::units::{nanos, tight};

/// The percentiles of the table.
pub(super) const SHOWN: [(&str, f64); 4] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// `≥ 5.00 s` among requests that were given up; `*` where too few samples lie beyond.
pub(super) fn shown(quantile: Quantile) -> String {
    let bound = if quantile.is_censored { "≥ " } else { "" };
    let mark = if quantile.is_supported { "" } else { "*" };
    format!("{bound}{}{mark}", nanos(quantile.value))
}

/// The same for a table.
pub(super) fn cell(distribution: &Distribution, q: f64) -> Cell {
    let Some(quantile) = distribution.quantile(q) else { return Cell::none() };
    let marks = Marks::default()
        .when(quantile.is_censored, Mark::Censored)
        .when(!quantile.is_supported, Mark::FewSamples);
    let tone = if quantile.is_supported { Tone::Strong } else { Tone::Dim };
    Cell::text(tight(quantile.value as f64)).marked(marks).toned(tone)
}

/// The largest value, which is a bound if a request was given up.
pub(super) fn max(distribution: &Distribution) -> Cell {
    let Some((_, max)) = distribution.extremes() else { return Cell::none() };
    let marks = Marks::default().when(0 < distribution.censored(), Mark::Censored);
    Cell::text(tight(max as f64)).marked(marks)
}
