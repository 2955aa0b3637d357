//! Percentiles of times as they are printed: `≥` where only a bound is known, `*` where there are too few samples.

use load::{Distribution, Quantile};
use units::{nanos, tight};

use crate::document::{Cell, Mark, Marks, Tone};

/// In a sentence: `≥ 5.00 s` where a request was given up, `1.20 ms*` where fewer than 10 samples lie beyond.
pub(crate) fn shown(quantile: Quantile) -> String {
    let bound = if quantile.is_censored { "≥ " } else { "" };
    let mark = if quantile.is_supported { "" } else { "*" };
    format!("{bound}{}{mark}", nanos(quantile.value))
}

/// In a table.
pub(crate) fn cell(distribution: &Distribution, q: f64) -> Cell {
    let Some(quantile) = distribution.quantile(q) else { return Cell::none() };
    let marks = Marks::default()
        .when(quantile.is_censored, Mark::Censored)
        .when(!quantile.is_supported, Mark::FewSamples);
    let tone = if quantile.is_supported { Tone::Strong } else { Tone::Dim };
    of(quantile.value).marked(marks).toned(tone)
}

/// The largest value, which is a bound if a request was given up.
pub(crate) fn max_cell(distribution: &Distribution) -> Cell {
    let Some((_, max)) = distribution.extremes() else { return Cell::none() };
    of(max).marked(Marks::default().when(0 < distribution.censored(), Mark::Censored))
}

fn of(nanoseconds: u64) -> Cell {
    Cell::text(tight(nanoseconds as f64)).valued(Some(nanoseconds as f64))
}
