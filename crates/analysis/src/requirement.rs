//! What a load is required to do, and whether its recording shows that it did. What a percentile needs in samples, and
//! what a censored one may say, is `Distribution::quantile`'s rule.

mod text;

use lab::figure::{Figure, Number, Trial};
use load::{Distribution, Moment, Recording, Sessions};

use crate::verdict::Verdict;

/// A figure of a load, and the limit that it must keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// As the user wrote it.
    pub written: String,
    pub figure: Required,
    pub relation: Relation,
    /// In the figure's unit; of a statistic of a time nanoseconds.
    pub limit: f64,
}

/// A figure of which something may be required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// A statistic of a time.
    Time(TimeOf, Statistic),
    /// Failed requests as a share of those attempted; of a load of sessions, sessions that were not completed.
    FailedPercent,
    /// Failed requests, or sessions.
    FailedCount,
    /// Any other figure of a load.
    Figure(Figure),
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
    /// In the figure's unit; of a statistic of a time nanoseconds. None if it was not measured.
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
    /// The percentile takes more samples: by those there are, it may lie on either side of the limit.
    FewSamples { samples: u64, needed: u64 },
    /// Fewer than ten samples lie beyond it.
    FewBeyond,
    /// Requests were given up, and the bound that is known lies on the good side of the limit.
    Bound,
}

/// A measured value, and between which ends the true one lies as far as is known.
struct Measured {
    value: f64,
    ends: (f64, f64),
    is_bound: bool,
    /// Why it is not known better.
    why: WhyUnknown,
}

impl Measured {
    fn of(value: f64, is_bound: bool) -> Measured {
        let most = if is_bound { f64::INFINITY } else { value };
        Measured { value, ends: (value, most), is_bound, why: WhyUnknown::Bound }
    }

    fn of_number(Number { value, is_bound, is_supported }: Number) -> Measured {
        let measured = Measured::of(value, is_bound);
        match is_supported {
            true => measured,
            false => {
                Measured { ends: (0.0, f64::INFINITY), why: WhyUnknown::FewBeyond, ..measured }
            }
        }
    }
}

impl Required {
    /// Whether only a schedule has it.
    #[must_use]
    pub fn needs_schedule(self) -> bool {
        matches!(self, Required::Figure(Figure::OnTime | Figure::Offered))
    }

    fn measured(self, recording: &Recording) -> Option<Measured> {
        let total = &recording.total;
        let exactly = |value: f64| Measured::of(value, false);
        let (failed, attempted) = match total.sessions {
            Sessions { attempted: 0, .. } => (total.failed_in_all(), total.attempted),
            sessions => (sessions.failed, sessions.attempted),
        };
        match self {
            Required::Time(of, statistic) => statistic.measured(match of {
                TimeOf::Response => &total.response,
                TimeOf::Service => &total.service,
                TimeOf::FirstByte => &total.first_byte,
                TimeOf::Connect => &total.connect,
                TimeOf::Blocked => &total.blocked,
                TimeOf::Late => &total.late,
            }),
            Required::FailedPercent => percent(failed, attempted).map(exactly),
            Required::FailedCount => (0 < attempted).then(|| exactly(failed as f64)),
            Required::Figure(figure) => {
                figure.of_trial(&Trial::of_load(recording)).map(Measured::of_number)
            }
        }
    }
}

/// Divided last, so that 999 of 1,000 are exactly 99.9 %.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (0 < whole).then(|| (100 * u128::from(part)) as f64 / whole as f64)
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

    fn measured(self, times: &Distribution) -> Option<Measured> {
        let measured = |moment: Moment| Measured::of(moment.value, moment.is_bound);
        let Statistic::Percentile(millionths) = self else {
            let all = times.moments()?;
            return Some(measured(if self == Statistic::Mean { all.mean } else { all.max }));
        };
        let q = f64::from(millionths) / 1e6;
        let quantile = times.quantile(q)?;
        let measured = Measured::of(quantile.value as f64, quantile.is_bound);
        if quantile.is_supported {
            return Some(measured);
        }
        let (samples, needed) = (times.count(), self.samples_needed());
        let [low, high] = ranks(samples, q).map(|rank| rank.map(|rank| times.at_rank(rank)));
        let least = low.map_or(0.0, |(least, _)| least as f64);
        let most = high.and_then(|(_, most)| most).map_or(f64::INFINITY, |most| most as f64);
        let why = WhyUnknown::FewSamples { samples, needed };
        Some(Measured { ends: (least, most), why, ..measured })
    }
}

impl Relation {
    fn holds(self, value: f64, limit: f64) -> bool {
        // 999 of 1,000 are 99.9 %, although neither number is exactly so in binary.
        let is_at_limit = (value - limit).abs() <= 4.0 * f64::EPSILON * limit.abs();
        match self {
            Relation::Below => value < limit && !is_at_limit,
            Relation::AtMost => value <= limit || is_at_limit,
            Relation::Above => limit < value && !is_at_limit,
            Relation::AtLeast => limit <= value || is_at_limit,
        }
    }
}

/// The ranks of the samples between which a percentile lies with 95 % (2.5 % on either side), whatever the law of the
/// samples: how many of them lie beyond it follows the binomial law. None where no sample is as far out.
fn ranks(count: u64, q: f64) -> [Option<u64>; 2] {
    const OUTSIDE: f64 = 0.025;
    let (mut low, mut high) = (None, None);
    // The probability that so many lie beyond it, or fewer.
    let (mut one, mut upto) = (q.powf(count as f64), 0.0);
    for beyond in 0..count {
        upto += one;
        if upto <= OUTSIDE {
            high = Some(count - beyond);
        }
        if 1.0 - OUTSIDE <= upto {
            low = Some(count - beyond);
            break;
        }
        one *= (count - beyond) as f64 / (beyond + 1) as f64 * (1.0 - q) / q;
    }
    [low, high]
}

impl Requirement {
    /// Judges a recording with this verdict. Where both ends between which the true value lies keep the limit, or both
    /// break it, that decides: a bound that breaks an upper limit breaks it for certain, and half of the samples beyond
    /// a limit break that of a p99, however few they are.
    #[must_use]
    pub fn judge(&self, recording: &Recording, verdict: Option<Verdict>) -> JudgedRequirement {
        let measured = self.figure.measured(recording);
        let answer = match &measured {
            _ if verdict == Some(Verdict::Invalid) => {
                RequirementAnswer::CannotTell(WhyUnknown::Invalid)
            }
            None => RequirementAnswer::CannotTell(WhyUnknown::Nothing),
            Some(Measured { ends: (least, most), why, .. }) => {
                match [*least, *most].map(|end| self.relation.holds(end, self.limit)) {
                    [true, true] => RequirementAnswer::Met,
                    [false, false] => RequirementAnswer::NotMet,
                    [true, false] | [false, true] => RequirementAnswer::CannotTell(*why),
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
    use load::{Chance, SECOND, Silence, Tally};

    use super::*;
    use crate::fixture::{MS, equal};

    use RequirementAnswer::{CannotTell, Met, NotMet};

    /// So many requests took so long; so many were given up after 5 s.
    fn recording(times: &[(u64, u64)], given_up: u64) -> Recording {
        let mut total = Tally::new(10 * SECOND);
        for &(count, ns) in times {
            total.response.merge(&equal(ns, count));
            total.correct += count;
        }
        (0..given_up).for_each(|_| total.response.record_censored(5 * SECOND));
        total.failed[0] = given_up;
        total.attempted = total.correct + given_up;
        (total.due, total.on_time, total.correct_inside) =
            (total.attempted, total.correct, total.correct);
        Recording { scheduled_until: Some(SECOND), ..Recording::new(total, 0..SECOND, 5 * SECOND) }
    }

    /// Whether a load keeps a requirement.
    #[track_caller]
    fn check(seen: &Recording, text: &str, answer: RequirementAnswer) {
        let judged = text.parse::<Requirement>().unwrap().judge(seen, Some(Verdict::Valid));
        assert_eq!(judged.answer, answer, "{text}");
    }

    #[test]
    fn a_figure_is_compared_with_its_limit() {
        let seen = recording(&[(999, MS), (1, 100 * MS)], 0);
        let one_ms = seen.total.response.quantile(0.5).unwrap().value;
        for (text, answer) in [
            ("p50<2ms", Met),
            ("p50<0.5ms", NotMet),
            (&*format!("p50<{one_ms}ns"), NotMet),
            (&format!("p50<={one_ms}ns"), Met),
            (&format!("p50>{one_ms}ns"), NotMet),
            (&format!("p50>={one_ms}ns"), Met),
            ("max<50ms", NotMet),
            ("mean<1.2ms", Met),
            ("throughput>=1000", Met),
            ("offered>1000", NotMet),
            ("silent<1%", Met),
            ("service max<1s", CannotTell(WhyUnknown::Nothing)),
        ] {
            check(&seen, text, answer);
        }
        let silence = Silence { longest: 5 * MS, sum: 20 * MS, ..Silence::default() };
        let silent = Recording { silence, ..seen };
        check(&silent, "silent<=2%", Met);
        check(&silent, "silent<2%", NotMet);
        check(&silent, "longest-silence<5.1ms", Met);
    }

    #[test]
    fn a_share_at_its_limit_keeps_it() {
        let seen = recording(&[(999, MS)], 1);
        for (text, answer) in [
            ("on-time>=99.9%", Met),
            ("on-time>99.9%", NotMet),
            ("failed<=0.1%", Met),
            ("failed<0.1%", NotMet),
            ("failed<=1", Met),
            ("failed<=0", NotMet),
        ] {
            check(&seen, text, answer);
        }
    }

    #[test]
    fn a_percentile_with_ten_samples_beyond_it_is_what_was_measured() {
        for (p, needed) in [("p50", 20), ("p99", 1_000), ("p99.9", 10_000), ("p99.99", 100_000)] {
            let slow = needed - 10;
            let enough = recording(&[(slow, MS), (10, 2 * MS)], 0);
            check(&enough, &format!("{p}<1.5ms"), Met);
            // With one sample less, it may as well be one of those beyond.
            let few = recording(&[(slow - 1, MS), (10, 2 * MS)], 0);
            let why = WhyUnknown::FewSamples { samples: needed - 1, needed };
            check(&few, &format!("{p}<1.5ms"), CannotTell(why));
            check(&few, &format!("{p}>=1.5ms"), CannotTell(why));
            // No sample is as slow, and all are slower.
            check(&few, &format!("{p}<1000s"), Met);
            check(&few, &format!("{p}<1us"), NotMet);
        }
    }

    #[test]
    fn few_samples_decide_what_they_can() {
        let half = recording(&[(200, 500), (200, 32_500)], 0);
        // Half of the samples are slower.
        check(&half, "p99<1us", NotMet);
        check(&half, "p99>=1us", Met);
        let cannot_tell = |samples| CannotTell(WhyUnknown::FewSamples { samples, needed: 1_000 });
        let of = |samples| recording(&[(samples, MS)], 0);
        // 0.99^368 is the first power below 2.5 %.
        check(&of(367), "p99<1s", cannot_tell(367));
        check(&of(368), "p99<1s", Met);
        // The next may be slower; but if 1 of 100 were slower, this one would hardly be.
        check(&of(1), "p99<1s", cannot_tell(1));
        check(&of(1), "p99<1us", NotMet);
        check(&recording(&[], 1), "p99<1us", NotMet);
        // What was given up may have taken 10 s.
        check(&recording(&[(399, MS)], 1), "p99<10s", cannot_tell(400));
        check(&recording(&[(300, MS)], 100), "p99<1s", NotMet);
    }

    /// However many samples there are, no more than 2.5 % of percentiles lie below their interval, and as many above.
    #[test]
    fn the_interval_of_a_percentile_holds_it() {
        let mut chance = Chance::new(5);
        for (count, q) in [(1, 0.99), (15, 0.5), (60, 0.9), (400, 0.99), (900, 0.99)] {
            let mut outside = [0, 0];
            for _ in 0..4_000 {
                let mut uniform: Vec<f64> = (0..count).map(|_| chance.unit()).collect();
                uniform.sort_by(f64::total_cmp);
                let [low, high] =
                    ranks(count, q).map(|rank| rank.map(|rank| uniform[rank as usize - 1]));
                outside[0] += usize::from(low.is_some_and(|low| q < low));
                outside[1] += usize::from(high.is_some_and(|high| high < q));
            }
            assert!(outside.iter().all(|times| *times < 125), "{count} {q}: {outside:?} of 4,000");
        }
        assert_eq!(ranks(15, 0.5), [Some(4), Some(12)], "the table of every textbook");
    }

    /// It is 5 s or more.
    #[test]
    fn a_bound_decides_only_what_it_can() {
        let seen = recording(&[(900, MS)], 100);
        for (text, answer) in [
            ("p99<1s", NotMet),
            ("p99<6s", CannotTell(WhyUnknown::Bound)),
            ("p99>1s", Met),
            ("p99>6s", CannotTell(WhyUnknown::Bound)),
            // Nothing that was given up moves it.
            ("p50<2ms", Met),
            ("mean<1s", CannotTell(WhyUnknown::Bound)),
            ("mean<0.1s", NotMet),
        ] {
            check(&seen, text, answer);
        }
    }

    #[test]
    fn an_invalid_load_shows_nothing() {
        let seen = recording(&[(10_000, MS)], 0);
        let limit: Requirement = "p50<1s".parse().unwrap();
        let judged = limit.judge(&seen, Some(Verdict::Invalid));
        assert_eq!(judged.answer, CannotTell(WhyUnknown::Invalid));
        assert!(judged.measured.is_some(), "what was measured is shown all the same");
        assert_eq!(limit.judge(&seen, Some(Verdict::Suspect)).answer, Met);
        check(&recording(&[], 0), "failed<1%", CannotTell(WhyUnknown::Nothing));
    }
}
