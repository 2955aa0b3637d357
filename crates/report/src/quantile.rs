//! Percentiles of times as they are printed: `≥` where only a bound is known, `*` where there are too few samples.

use load::{Distribution, Moment, Moments, Quantile};
use units::{nanos, tight};

use crate::document::{Cell, Mark, Marks, Tone};

/// In a sentence: `≥ 5.00 s` where a request was given up, `1.20 ms*` where fewer than 10 samples lie beyond.
pub(crate) fn shown(quantile: Quantile) -> String {
    let bound = if quantile.is_bound { "≥ " } else { "" };
    let mark = if quantile.is_supported { "" } else { "*" };
    format!("{bound}{}{mark}", nanos(quantile.value))
}

/// In a table.
pub(crate) fn cell(distribution: &Distribution, q: f64) -> Cell {
    let Some(quantile) = distribution.quantile(q) else { return Cell::none() };
    let marks = Marks::default()
        .when(quantile.is_bound, Mark::Bound)
        .when(!quantile.is_supported, Mark::FewSamples);
    let tone = if quantile.is_supported { Tone::Strong } else { Tone::Dim };
    of(quantile.value as f64).marked(marks).toned(tone)
}

/// A figure about all values, in a table.
pub(crate) fn moment_cell(distribution: &Distribution, named: fn(Moments) -> Moment) -> Cell {
    let Some(Moment { value, is_bound }) = distribution.moments().map(named) else {
        return Cell::none();
    };
    of(value).marked(Marks::default().when(is_bound, Mark::Bound))
}

fn of(nanoseconds: f64) -> Cell {
    Cell::text(tight(nanoseconds)).valued(Some(nanoseconds))
}
