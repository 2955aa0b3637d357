//! What a row is judged by, and what is found: whether the server kept up, whether it kept the promise, what its figures
//! are worth, and whether it is ranked.

/// A way in which the promise was broken at a place, and the value in the rounds there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Breach {
    /// Too slow: the p99 in milliseconds.
    P99(f64),
    /// Too many failures: their percentage.
    Failed(f64),
    /// Only this share of the requests due was answered as expected in time.
    Behind(f64),
    /// Response times grew for as long as the load lasted, in at least half of the rounds: a queue that never ends.
    Growing,
    /// A round was not a measurement, or the figures are missing.
    Unmeasured,
}

/// Why a row has no rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unranked {
    /// It is not a competitor.
    Reference,
    /// It does not meet what the experiment requires, or its server gave wrong answers or failed.
    Unmet,
    /// No round was a measurement.
    Unmeasured,
    /// Its figures do not answer the question.
    Invalid,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Whether it kept up with its schedule. None: there was no schedule, or nothing was measured.
    pub kept_up: Option<bool>,
    /// How it broke the promise; empty: it kept it. None: there was no schedule.
    pub breaches: Option<Vec<Breach>>,
    /// Why it has no rank. None: it is ranked.
    pub unranked: Option<Unranked>,
}

impl Judgement {
    /// Whether it has a rank.
    #[must_use]
    pub fn is_ranked(&self) -> bool {
        self.unranked.is_none()
    }
}
