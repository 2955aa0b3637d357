//! What one share of a load saw, in a few figures: so that shares can be compared, which are never averaged.

use serde::{Deserialize, Serialize};

use super::Part;
use crate::Nanos;

/// A share of a load in a few figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartSummary {
    pub attempted: u64,
    pub correct: u64,
    /// The median of its response times; none where it is not known.
    pub p50: Option<Nanos>,
    /// The 10th and the 90th percentile of its windows' medians: how much the median varies by itself.
    pub p50_of_windows: Option<(Nanos, Nanos)>,
    pub p99: Option<Nanos>,
    /// How late its lanes sent requests, the p99.
    pub late_p99: Option<Nanos>,
}

impl Part {
    /// What this share saw.
    #[must_use]
    pub fn summary(&self) -> PartSummary {
        let total = &self.total;
        let known = |distribution: &crate::Distribution, q: f64| {
            distribution.quantile(q).filter(|it| !it.is_censored).map(|it| it.value)
        };
        let measured = self.windows.iter().filter(|window| !window.is_warmup);
        let mut medians: Vec<Nanos> =
            measured.filter_map(|window| known(&window.response.unfold(), 0.5)).collect();
        medians.sort_unstable();
        let at = |share: usize| medians.get(medians.len() * share / 10).copied();
        PartSummary {
            attempted: total.attempted,
            correct: total.correct,
            p50: known(&total.response, 0.5),
            p50_of_windows: at(1).zip(at(9)),
            p99: known(&total.response, 0.99),
            late_p99: known(&total.late, 0.99),
        }
    }
}
