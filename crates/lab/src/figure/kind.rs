//! What a figure is in one round, and its value at the edges.

/// What a figure is in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Count,
    /// A count divided by a time.
    Rate,
    /// A part of a whole.
    Share,
    /// A part of the requests that were due.
    ShareOfDue,
    /// A quantile of a histogram with three digits.
    Quantile,
    /// A quantile of times that only what succeeded has: there are no bounds.
    QuantileOfDone,
    /// A mean or an extreme of times.
    Moment,
    /// A standard deviation of times.
    Deviation,
    /// Times without a right answer.
    Silence,
    /// Computed from readings of the subject's processes.
    Reading,
    /// Observed once, at the start of a trial.
    Start,
}

impl Kind {
    /// Whether requests that were given up make it a bound.
    #[must_use]
    pub fn may_be_bound(self) -> bool {
        match self {
            Kind::Quantile | Kind::Moment | Kind::Deviation => true,
            Kind::Count
            | Kind::Rate
            | Kind::Share
            | Kind::ShareOfDue
            | Kind::QuantileOfDone
            | Kind::Reading
            | Kind::Silence
            | Kind::Start => false,
        }
    }

    /// Its value where there is nothing, one value, a bound, or only failures.
    #[must_use]
    pub fn edges(self) -> &'static str {
        match self {
            Kind::Count => {
                "nothing was due: 0. All failed: the failures are counted, correct is 0."
            }
            Kind::Rate => "nothing was due: not there. One: one by the time. All failed: 0.",
            Kind::Share => "nothing of which it could be a share: not there. None of it: 0 %.",
            Kind::ShareOfDue => {
                "nothing was due, or none of the whole was there: not there. All failed: 0 % on time, 100 % failed."
            }
            Kind::Quantile => {
                "no sample: not there. One sample: that one, marked `*` (fewer than ten samples lie beyond). Bounds: where a bound may \
                 lie at or below the quantile, it is a bound itself (`≥`). All failed: not there, or a bound where they were given up."
            }
            Kind::QuantileOfDone => {
                "no sample: not there. One sample: that one, marked `*` (fewer than ten samples lie beyond). What failed or was given \
                 up has none. All failed: not there."
            }
            Kind::Moment => {
                "no sample: not there. One sample: that one. Any bound: the mean and the longest are bounds (`≥`), \
                 and so is the shortest where no known value is as small. All given up: three bounds."
            }
            Kind::Deviation => {
                "no sample: not there. One sample: 0, whatever it is. Any bound among two samples or more: a bound \
                 (`≥`), the least standard deviation of all values that the bounds allow. Bounds at or above the \
                 mean count as they are, as any larger value would deviate by more; bounds below it count at the \
                 mean of the others, from which they may not have deviated at all. All given up: `≥` 0, as all may \
                 have taken the same time."
            }
            Kind::Silence => "no such time, or fewer than ten correct answers: 0.",
            Kind::Reading => {
                "no reading: not there; so is CPU time whose readings cover less than half of the time, and what would be divided by 0."
            }
            Kind::Start => "it never was ready: not there.",
        }
    }
}
