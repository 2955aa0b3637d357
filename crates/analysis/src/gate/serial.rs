//! Whether neighbouring pairs are alike. The rule's error rates are those of pairs that know nothing of one another.

use crate::student;

/// Of so many pairs that know nothing of one another, one series in ten lies above this, by chance (`make gate-truth`).
const TENTH: [(usize, f64); 7] =
    [(5, 0.207), (6, 0.236), (8, 0.254), (10, 0.253), (12, 0.255), (16, 0.232), (20, 0.22)];

/// Nothing is shrunk further than by this correlation.
const STRONGEST: f64 = 0.9;

/// What a mean is worth of pairs that are so alike: the root of 0.1 / 1.9.
pub(super) const LEAST_SURE: f64 = 0.229_4;

/// How alike neighbours are.
pub(super) struct Serial {
    /// The correlation of each pair with the next, around their mean.
    correlation: f64,
    count: usize,
}

impl Serial {
    pub(super) fn of(differences: &[f64]) -> Serial {
        let count = differences.len();
        let (mean, squares) = student::moments(differences);
        let products: f64 =
            differences.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        let correlation = if squares == 0.0 { 0.0 } else { products / squares };
        Serial { correlation, count }
    }

    /// They are more alike than chance makes them in nine of ten series.
    pub(super) fn is_found(&self) -> bool {
        let tenth = TENTH.iter().rfind(|(count, _)| *count <= self.count);
        tenth.is_some_and(|(_, tenth)| *tenth < self.correlation)
    }

    /// What the mean is worth of what separate pairs would make it: 1 where nothing is alike. Around their own mean,
    /// separate pairs seem unlike by one in their number.
    pub(super) fn shrinks(&self) -> f64 {
        let correlation = (self.correlation + 1.0 / self.count as f64).clamp(0.0, STRONGEST);
        ((1.0 - correlation) / (1.0 + correlation)).sqrt()
    }
}
