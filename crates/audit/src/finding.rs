//! What speaks against a row: rules, findings with their figures, and what each is worth.

use analysis::{Gravity, named};

use crate::row::{Mark, MarkOf, NoLimit, OwnVerdict};

named! {
    /// A rule that is applied to every row. Where dyno applies the same rule to its own trials, it has that doubt's name.
    pub enum Rule {
        OwnVerdict = "own_verdict" => "its own verdict",
        MeanAboveP99 = "mean_above_p99" => "the mean reaches the p99",
        Little = "littles_law" => "the mean is too long for so few connections (Little's law)",
        MeanImpossible = "mean_impossible" => "no times with these percentiles have this mean",
        NotAscending = "percentiles_not_ascending" => "a higher percentile is shorter than a lower one",
        RateImpossible = "rate_impossible" => "the rate is not the requests divided by the time",
        SdImpossible = "sd_impossible" => "the standard deviation is more than half of the range",
        RateMissed = "rate_missed" => "the rate that was to be offered was not reached",
        FewSamples = "too_few_samples" => "too few requests for a percentile",
        Failures = "failures_ranked" => "failed requests are counted as answers",
        NoUnit = "unit_missing" => "a unit is missing",
        NoNumber = "no_number" => "a number stands for no number",
        SameRate = "same_rate" => "many servers have the same rate",
        SameMedian = "same_median" => "many servers have the same median",
    }
}

/// Why a rule could not be applied to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    NoMean,
    NoP99,
    NoMedian,
    NoPercentiles,
    /// The number of samples is not stated.
    NoSamples,
    NoFailures,
    NoRate,
    /// It is not stated which requests the rate counts, in which time.
    NoDuration,
    NoSd,
    NoUnit,
    /// It is not known how many requests were under way at once.
    NoLimit(NoLimit),
    /// It is not stated which server was loaded.
    NoServer,
    /// The median has so few digits that different ones may look the same.
    FewDigits,
    /// Fewer than four rows of one place.
    FewRows,
}

/// What speaks against a row, or against a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    OwnVerdict(OwnVerdict),
    MeanAboveP99 {
        mean: f64,
        p99: f64,
        has_unit: bool,
    },
    Little {
        /// Nanoseconds.
        mean_ns: f64,
        rate_per_s: f64,
        /// The most that can have been under way.
        under_way: f64,
    },
    MeanImpossible {
        mean: f64,
        least: f64,
        most: Option<f64>,
        has_unit: bool,
    },
    NotAscending {
        lower: (f64, f64),
        higher: (f64, f64),
        has_unit: bool,
    },
    RateImpossible {
        requests: f64,
        seconds: f64,
        rate_per_s: f64,
    },
    SdImpossible {
        sd: f64,
        shortest: f64,
        longest: f64,
        has_unit: bool,
    },
    RateMissed {
        asked_per_s: f64,
        rate_per_s: f64,
    },
    FewSamples {
        samples: f64,
        share: f64,
    },
    Failures {
        failed: f64,
        /// More than failed for certain, where the file does not say it of all.
        at_most: f64,
        requests: f64,
    },
    NoUnit {
        /// The figures, if they are not the times.
        figures: Vec<String>,
    },
    NoNumber {
        marks: Vec<Mark>,
    },
    SameRate {
        rows: usize,
        of: usize,
        low: f64,
        high: f64,
    },
    SameMedian {
        rows: usize,
        of: usize,
        median: f64,
        has_unit: bool,
    },
}

/// If a larger share failed, the row is mostly not a row of answers.
const MOSTLY: f64 = 0.5;
/// Percentiles above this one are quoted and seldom ranked.
const RANKED_SHARE: f64 = 0.99;

impl Finding {
    #[must_use]
    pub fn rule(&self) -> Rule {
        match self {
            Finding::OwnVerdict(_) => Rule::OwnVerdict,
            Finding::MeanAboveP99 { .. } => Rule::MeanAboveP99,
            Finding::Little { .. } => Rule::Little,
            Finding::MeanImpossible { .. } => Rule::MeanImpossible,
            Finding::NotAscending { .. } => Rule::NotAscending,
            Finding::RateImpossible { .. } => Rule::RateImpossible,
            Finding::SdImpossible { .. } => Rule::SdImpossible,
            Finding::RateMissed { .. } => Rule::RateMissed,
            Finding::FewSamples { .. } => Rule::FewSamples,
            Finding::Failures { .. } => Rule::Failures,
            Finding::NoUnit { .. } => Rule::NoUnit,
            Finding::NoNumber { .. } => Rule::NoNumber,
            Finding::SameRate { .. } => Rule::SameRate,
            Finding::SameMedian { .. } => Rule::SameMedian,
        }
    }

    /// Invalid: the row cannot be true, or does not answer the question. Suspect: it should not be ranked as it stands.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        match self {
            Finding::OwnVerdict(own) => own.gravity,
            Finding::Little { .. }
            | Finding::MeanImpossible { .. }
            | Finding::NotAscending { .. }
            | Finding::RateImpossible { .. }
            | Finding::SdImpossible { .. } => Gravity::Invalid,
            Finding::Failures { failed, requests, .. } if MOSTLY * requests < *failed => {
                Gravity::Invalid
            }
            Finding::NoNumber { marks } => marks.iter().map(of_mark).max().unwrap_or(Gravity::Note),
            Finding::FewSamples { share, .. } if RANKED_SHARE < *share => Gravity::Note,
            Finding::NoUnit { figures } if !figures.is_empty() => Gravity::Note,
            Finding::MeanAboveP99 { .. }
            | Finding::RateMissed { .. }
            | Finding::FewSamples { .. }
            | Finding::Failures { .. }
            | Finding::NoUnit { .. }
            | Finding::SameRate { .. }
            | Finding::SameMedian { .. } => Gravity::Suspect,
        }
    }
}

fn of_mark(mark: &Mark) -> Gravity {
    match mark.of {
        MarkOf::Rate => Gravity::Invalid,
        MarkOf::Time => Gravity::Suspect,
        MarkOf::Aside => Gravity::Note,
    }
}
