//! Percentiles as they are printed: with a mark where the sample does not carry them.

use load::{Distribution, Quantile};

use super::paint::Ink;
use super::table::Cell;
use super::units::{self, nanos};

/// The percentiles of the table.
pub(super) const SHOWN: [(&str, f64); 4] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// `≥ 5.00 s` among values that were given up; `*` where too few samples lie beyond.
pub(super) fn shown(quantile: Quantile) -> String {
    let bound = if quantile.is_censored { "≥ " } else { "" };
    let mark = if quantile.is_supported { "" } else { "*" };
    format!("{bound}{}{mark}", nanos(quantile.value))
}

/// The same for a table.
fn tight(quantile: Quantile) -> String {
    shown(quantile).replace(' ', "")
}

pub(super) fn cell(distribution: &Distribution, q: f64) -> Cell {
    match distribution.quantile(q) {
        None => Cell::ink(Ink::Dim, "–"),
        Some(quantile) if quantile.is_supported => Cell::ink(Ink::Bold, tight(quantile)),
        Some(quantile) => Cell::ink(Ink::Dim, tight(quantile)),
    }
}

/// The largest value, which is a bound where something was given up.
pub(super) fn max(distribution: &Distribution) -> String {
    let bound = if 0 < distribution.censored() { "≥" } else { "" };
    distribution
        .extremes()
        .map_or("–".into(), |(_, max)| format!("{bound}{}", units::tight(max as f64)))
}

/// Whether any percentile of the table is one that the sample does not carry.
pub(super) fn is_any_unsupported(distribution: &Distribution) -> bool {
    SHOWN.iter().any(|(_, q)| distribution.quantile(*q).is_some_and(|q| !q.is_supported))
}
