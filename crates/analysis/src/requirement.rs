//! What a load is required to do, and whether its recording shows that it did. What a percentile needs in samples, and
//! what a censored one may say, is `Distribution::quantile`'s rule.

mod text;

use load::{Distribution, Recording};

use crate::rates::{offered_per_s, on_time, throughput_per_s};
use crate::verdict::Verdict;

/// A figure of a load, and the limit that it must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As the user wrote it.
    pub written: String,
    pub figure: Required,
    pub relation: Relation,
    /// In the figure's unit.
    pub limit: f64,
}

/// A figure of which something may be required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// A statistic of a time.
    Time(TimeOf, Statistic),
    /// The share of the requests due that were answered correctly in time.
    OnTimePercent,
    /// Failed requests as a share of those attempted.
    FailedPercent,
    /// Failed requests.
    FailedCount,
    ThroughputPerS,
    OfferedPerS,
}

/// A time that a load measures of each request or connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOf {
    Response,
    Service,
    FirstByte,
    Connect,
    Blocked,
    Late,
}

/// What is said of many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// In millionths, so that 99.99 % is exact: 1 to 999,999.
    Percentile(u32),
    Mean,
    Max,
}

/// How a figure must stand to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// A requirement, the measured value, and whether it was met.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedRequirement {
    pub requirement: Requirement,
    /// In the figure's unit: nanoseconds, percent, per second, or a number; none if it was not measured.
    pub measured: Option<f64>,
    /// The true value is no less than the measured one, and may be more: requests were given up.
    pub is_bound: bool,
    pub answer: RequirementAnswer,
}

/// Whether a requirement was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequirementAnswer {
    Met,
    NotMet,
    CannotTell(WhyUnknown),
}

/// Why it is not known whether a requirement was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUnknown {
    /// The whole load is invalid.
    Invalid,
    /// Nothing was measured of this figure.
    Nothing,
    /// The percentile takes more samples.
    FewSamples { samples: u64, needed: u64 },
    /// Requests were given up, and the bound that is known lies on the good side of the limit.
    Bound,
}

/// A measured value and how far it is known.
struct Measured {
    value: f64,
    is_bound: bool,
    few: Option<WhyUnknown>,
}

impl Statistic {
    /// How many samples it takes: ten beyond a percentile.
    #[must_use]
    pub fn samples_needed(self) -> u64 {
        match self {
            Statistic::Percentile(millionths) => {
                10_000_000_u64.div_ceil(u64::from(1_000_000 - millionths))
            }
            Statistic::Mean | Statistic::Max => 1,
        }
    }
}

impl Required {
    /// Whether only a schedule has it.
    #[must_use]
    pub fn needs_schedule(self) -> bool {
        match self {
            Required::OnTimePercent | Required::OfferedPerS => true,
            Required::Time(..)
            | Required::FailedPercent
            | Required::FailedCount
            | Required::ThroughputPerS => false,
        }
    }

    fn measured(self, recording: &Recording) -> Option<Measured> {
        let total = &recording.total;
        let exactly = |value: f64| Measured { value, is_bound: false, few: None };
        let failed = total.failed_in_all();
        match self {
            Required::Time(of, statistic) => statistic.measured(match of {
                TimeOf::Response => &total.response,
                TimeOf::Service => &total.service,
                TimeOf::FirstByte => &total.first_byte,
                TimeOf::Connect => &total.connect,
                TimeOf::Blocked => &total.blocked,
                TimeOf::Late => &total.late,
            }),
            Required::OnTimePercent => {
                let on_time = on_time(recording, None);
                percent(on_time.on_time, on_time.due).map(exactly)
            }
            Required::FailedPercent => percent(failed, total.attempted).map(exactly),
            Required::FailedCount => (0 < total.attempted).then(|| exactly(failed as f64)),
            Required::ThroughputPerS => throughput_per_s(recording).map(exactly),
            Required::OfferedPerS => offered_per_s(recording).map(exactly),
        }
    }
}

/// Divided last, so that 999 of 1,000 are exactly 99.9 %.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (0 < whole).then(|| (100 * u128::from(part)) as f64 / whole as f64)
}

impl Statistic {
    fn measured(self, times: &Distribution) -> Option<Measured> {
        let is_bound = 0 < times.censored();
        let (_, max) = times.extremes()?;
        Some(match self {
            Statistic::Mean => Measured { value: times.mean(), is_bound, few: None },
            Statistic::Max => Measured { value: max as f64, is_bound, few: None },
            Statistic::Percentile(millionths) => {
                let quantile = times.quantile(f64::from(millionths) / 1e6)?;
                let (samples, needed) = (times.count(), self.samples_needed());
                let few = WhyUnknown::FewSamples { samples, needed };
                Measured {
                    value: quantile.value as f64,
                    is_bound: quantile.is_censored,
                    few: (!quantile.is_supported).then_some(few),
                }
            }
        })
    }
}

impl Relation {
    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Relation::Below => value < limit,
            Relation::AtMost => value <= limit,
            Relation::Above => limit < value,
            Relation::AtLeast => limit <= value,
        }
    }

    /// Whether a value that may be larger than it is known to be can still break it.
    fn is_upper(self) -> bool {
        matches!(self, Relation::Below | Relation::AtMost)
    }
}

impl Requirement {
    /// Judges a recording with this verdict. A bound that breaks an upper limit breaks it for certain, and so does one
    /// that keeps a lower limit keep it; the other way round, nothing is known.
    #[must_use]
    pub fn judge(&self, recording: &Recording, verdict: Option<Verdict>) -> JudgedRequirement {
        let measured = self.figure.measured(recording);
        let answer = match &measured {
            _ if verdict == Some(Verdict::Invalid) => {
                RequirementAnswer::CannotTell(WhyUnknown::Invalid)
            }
            None => RequirementAnswer::CannotTell(WhyUnknown::Nothing),
            Some(Measured { few: Some(why), .. }) => RequirementAnswer::CannotTell(*why),
            Some(Measured { value, is_bound, few: None }) => {
                let holds = self.relation.holds(*value, self.limit);
                match holds {
                    true if *is_bound && self.relation.is_upper() => {
                        RequirementAnswer::CannotTell(WhyUnknown::Bound)
                    }
                    false if *is_bound && !self.relation.is_upper() => {
                        RequirementAnswer::CannotTell(WhyUnknown::Bound)
                    }
                    true => RequirementAnswer::Met,
                    false => RequirementAnswer::NotMet,
                }
            }
        };
        JudgedRequirement {
            requirement: self.clone(),
            measured: measured.as_ref().map(|measured| measured.value),
            is_bound: measured.is_some_and(|measured| measured.is_bound),
            answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use load::{Nanos, SECOND, Tally};

    use super::*;

    const MS: Nanos = 1_000_000;

    /// So many requests took so long; so many were given up after 5 s.
    fn recording(times: &[(u64, Nanos)], given_up: u64) -> Recording {
        let mut total = Tally::new(10 * SECOND);
        for &(count, ns) in times {
            (0..count).for_each(|_| total.response.record(ns));
            total.correct += count;
        }
        (0..given_up).for_each(|_| total.response.record_censored(5 * SECOND));
        total.failed[0] = given_up;
        total.attempted = total.correct + given_up;
        (total.due, total.on_time, total.correct_inside) =
            (total.attempted, total.correct, total.correct);
        Recording { scheduled_until: Some(SECOND), ..Recording::new(total, 0..SECOND, 5 * SECOND) }
    }

    fn p(millionths: u32) -> Required {
        Required::Time(TimeOf::Response, Statistic::Percentile(millionths))
    }

    fn judge(
        figure: Required,
        relation: Relation,
        limit: f64,
        seen: &Recording,
    ) -> RequirementAnswer {
        let requirement = Requirement { written: String::new(), figure, relation, limit };
        requirement.judge(seen, Some(Verdict::Valid)).answer
    }

    use Relation::{Above, AtLeast, AtMost, Below};
    use RequirementAnswer::{CannotTell, Met, NotMet};

    #[test]
    fn a_figure_is_compared_with_its_limit() {
        let seen = recording(&[(999, MS), (1, 100 * MS)], 0);
        let (p50, one_ms) = (p(500_000), seen.total.response.quantile(0.5).unwrap().value as f64);
        assert_eq!(judge(p50, Below, 2e6, &seen), Met);
        assert_eq!(judge(p50, Below, 0.5e6, &seen), NotMet);
        assert_eq!(judge(p50, Below, one_ms, &seen), NotMet);
        assert_eq!(judge(p50, AtMost, one_ms, &seen), Met);
        assert_eq!(judge(p50, Above, one_ms, &seen), NotMet);
        assert_eq!(judge(p50, AtLeast, one_ms, &seen), Met);
        let max = Required::Time(TimeOf::Response, Statistic::Max);
        assert_eq!(judge(max, Below, 50e6, &seen), NotMet);
        let mean = Required::Time(TimeOf::Response, Statistic::Mean);
        assert_eq!(judge(mean, Below, 1.2e6, &seen), Met);
        assert_eq!(judge(Required::ThroughputPerS, AtLeast, 1_000.0, &seen), Met);
        assert_eq!(judge(Required::OfferedPerS, Above, 1_000.0, &seen), NotMet);
        let service = Required::Time(TimeOf::Service, Statistic::Max);
        assert_eq!(judge(service, Below, 1e9, &seen), CannotTell(WhyUnknown::Nothing));
    }

    #[test]
    fn a_share_at_its_limit_keeps_it() {
        let seen = recording(&[(999, MS)], 1);
        assert_eq!(judge(Required::OnTimePercent, AtLeast, 99.9, &seen), Met);
        assert_eq!(judge(Required::OnTimePercent, Above, 99.9, &seen), NotMet);
        assert_eq!(judge(Required::FailedPercent, AtMost, 0.1, &seen), Met);
        assert_eq!(judge(Required::FailedPercent, Below, 0.1, &seen), NotMet);
        assert_eq!(judge(Required::FailedCount, AtMost, 1.0, &seen), Met);
        assert_eq!(judge(Required::FailedCount, AtMost, 0.0, &seen), NotMet);
    }

    #[test]
    fn a_percentile_takes_ten_samples_beyond_it() {
        for (millionths, needed) in
            [(500_000, 20), (990_000, 1_000), (999_000, 10_000), (999_900, 100_000)]
        {
            assert_eq!(Statistic::Percentile(millionths).samples_needed(), needed);
            let few = recording(&[(needed - 1, MS)], 0);
            let why = WhyUnknown::FewSamples { samples: needed - 1, needed };
            assert_eq!(judge(p(millionths), Below, 1e12, &few), CannotTell(why));
            assert_eq!(judge(p(millionths), Below, 0.0, &few), CannotTell(why), "nor against it");
            assert_eq!(judge(p(millionths), Below, 1e12, &recording(&[(needed, MS)], 0)), Met);
        }
    }

    #[test]
    fn a_bound_decides_only_what_it_can() {
        let seen = recording(&[(900, MS)], 100);
        let p99 = p(990_000);
        assert_eq!(judge(p99, Below, 1e9, &seen), NotMet, "it is 5 s or more");
        assert_eq!(judge(p99, Below, 6e9, &seen), CannotTell(WhyUnknown::Bound), "it may be more");
        assert_eq!(judge(p99, Above, 1e9, &seen), Met);
        assert_eq!(judge(p99, Above, 6e9, &seen), CannotTell(WhyUnknown::Bound));
        assert_eq!(judge(p(500_000), Below, 2e6, &seen), Met, "nothing given up moves it");
        let mean = Required::Time(TimeOf::Response, Statistic::Mean);
        assert_eq!(judge(mean, Below, 1e9, &seen), CannotTell(WhyUnknown::Bound));
        assert_eq!(judge(mean, Below, 0.1e9, &seen), NotMet);
    }

    #[test]
    fn an_invalid_load_shows_nothing() {
        let seen = recording(&[(10_000, MS)], 0);
        let limit = Requirement {
            written: "p50<1s".into(),
            figure: p(500_000),
            relation: Below,
            limit: 1e9,
        };
        let judged = limit.judge(&seen, Some(Verdict::Invalid));
        assert_eq!(judged.answer, CannotTell(WhyUnknown::Invalid));
        assert!(judged.measured.is_some(), "what was measured is shown all the same");
        assert_eq!(limit.judge(&seen, Some(Verdict::Suspect)).answer, Met);
        let nothing = recording(&[], 0);
        assert_eq!(
            judge(Required::FailedPercent, Below, 1.0, &nothing),
            CannotTell(WhyUnknown::Nothing)
        );
    }
}
