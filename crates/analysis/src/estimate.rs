//! Rounds of one thing, folded into one number with its doubt.

use crate::figures::Number;

/// One number of several rounds, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// What is shown: of times, what the requests of all rounds have together, by their merged histograms; of all else,
    /// the median of the rounds.
    pub value: f64,
    /// Half of the rounds came to no more; of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// Where the truth of this run's rounds is likely to be, if there are two rounds or more: the 95 % interval that
    /// Student's t gives to the middle of the rounds' logarithms, widened if it would not hold `value`. What differs
    /// from one run to the next is not in it.
    pub interval: Option<(f64, f64)>,
    /// How many rounds.
    pub rounds: usize,
    /// The value is a bound: the truth is no less.
    pub is_censored: bool,
    /// There were enough samples for the value.
    pub is_supported: bool,
}

impl Estimate {
    /// None of nothing.
    #[must_use]
    pub fn of(mut numbers: Vec<Number>) -> Option<Estimate> {
        numbers.sort_by(|one, other| one.value.total_cmp(&other.value));
        let (first, last) = (numbers.first()?, numbers.last()?);
        let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
        let middle = &numbers[(numbers.len() - 1) / 2..=numbers.len() / 2];
        let sum: f64 = middle.iter().map(|number| number.value).sum();
        let median = sum / middle.len() as f64;
        Some(Estimate {
            value: median,
            median,
            min: first.value,
            max: last.value,
            interval: interval(&values).map(|found| holding(found, median)),
            rounds: numbers.len(),
            is_censored: middle.iter().any(|number| number.is_censored),
            is_supported: numbers.iter().all(|number| number.is_supported),
        })
    }

    /// The same with what all rounds came to together in the place of their median.
    #[must_use]
    pub(crate) fn with_value(self, together: Number) -> Estimate {
        Estimate {
            value: together.value,
            interval: self.interval.map(|interval| holding(interval, together.value)),
            is_censored: together.is_censored,
            is_supported: together.is_supported,
            ..self
        }
    }
}

/// An interval that does not hold what is shown would be wrong at a glance: it is widened.
fn holding((low, high): (f64, f64), value: f64) -> (f64, f64) {
    (low.min(value), high.max(value))
}

/// The 97.5 % points of Student's t with 1, 2, 3, … degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// Rates and times differ by factors, so their logarithms are taken; where a value is 0, the values themselves.
pub(crate) fn interval(values: &[f64]) -> Option<(f64, f64)> {
    let by_factors = values.iter().all(|value| 0.0 < *value);
    let scaled: Vec<f64> =
        values.iter().map(|value| if by_factors { value.ln() } else { *value }).collect();
    let count = scaled.len() as f64;
    let freedom = scaled.len().checked_sub(2)?;
    // Beyond the table the points come down to the normal distribution's 1.96 as 2.4 / n does.
    let point = STUDENT.get(freedom).copied().unwrap_or(1.96 + 2.4 / (count - 1.0));
    let mean = scaled.iter().sum::<f64>() / count;
    let squares: f64 = scaled.iter().map(|value| (value - mean).powi(2)).sum();
    let half = point * (squares / (count - 1.0) / count).sqrt();
    Some(match by_factors {
        true => ((mean - half).exp(), (mean + half).exp()),
        false => ((mean - half).max(0.0), mean + half),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SplitMix64, and sums of twelve for something like a normal distribution.
    fn normal(state: &mut u64) -> f64 {
        let mut uniform = || {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = *state;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (bits ^ (bits >> 31)) as f64 / u64::MAX as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        const EXPERIMENTS: usize = 20_000;
        let mut state = 7;
        for rounds in [2, 3, 5, 10] {
            let truth = 1_000.0;
            let mut round = || truth * (0.08 * normal(&mut state)).exp();
            let covers = |_: &usize| {
                let values: Vec<f64> = (0..rounds).map(|_| round()).collect();
                let (low, high) = interval(&values).expect("two rounds or more");
                (low..=high).contains(&truth)
            };
            let covered = (0..EXPERIMENTS).filter(covers).count() as f64 / EXPERIMENTS as f64;
            assert!((0.943..0.957).contains(&covered), "{rounds} rounds: {covered}");
        }
    }

    /// The numbers that docs/validity.md states.
    #[test]
    fn intervals_of_skewed_rounds_hold_the_usual_round() {
        const EXPERIMENTS: usize = 20_000;
        let mut state = 8;
        for rounds in [3, 5, 10] {
            for law in ["wide", "one in ten is three times as slow", "a tail to one side"] {
                let mut round = || {
                    let (one, other) = (normal(&mut state), normal(&mut state));
                    match law {
                        "wide" => (0.5 * one).exp(),
                        // 1.2816 is what one in ten is beyond.
                        "one in ten is three times as slow" => {
                            (0.03 * one).exp() * if 1.2816 < other { 3.0 } else { 1.0 }
                        }
                        // Its squares are distributed as an exponential law is.
                        _ => 1.0 + 0.1 * (one * one + other * other),
                    }
                };
                let mut many: Vec<f64> = (0..100_001).map(|_| round()).collect();
                many.sort_by(f64::total_cmp);
                let usual = many[50_000];
                let holds = |_: &usize| {
                    let values: Vec<f64> = (0..rounds).map(|_| round()).collect();
                    let (low, high) = interval(&values).expect("two rounds or more");
                    (low..=high).contains(&usual)
                };
                let held = (0..EXPERIMENTS).filter(holds).count() as f64 / EXPERIMENTS as f64;
                assert!((0.93..0.97).contains(&held), "{rounds} rounds, {law}: {held}");
            }
        }
    }

    #[test]
    fn one_round_has_no_interval_and_none_goes_below_nothing() {
        assert_eq!(interval(&[5.0]), None);
        assert_eq!(interval(&[0.0, 0.0, 0.0]), Some((0.0, 0.0)));
        let (low, high) = interval(&[0.0, 1.0, 5.0]).unwrap();
        assert!(low == 0.0 && 5.0 < high);
        let (low, high) = interval(&[100.0, 100.0]).unwrap();
        assert!((low - 100.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
    }

    fn of(values: &[f64]) -> Option<(f64, f64, f64, usize)> {
        let number = |&value: &f64| Number { value, is_censored: false, is_supported: true };
        let estimate = Estimate::of(values.iter().map(number).collect())?;
        Some((estimate.median, estimate.min, estimate.max, estimate.rounds))
    }

    #[test]
    fn the_median_of_odd_even_one_and_no_rounds() {
        assert_eq!(of(&[5.0, 1.0, 3.0]), Some((3.0, 1.0, 5.0, 3)));
        assert_eq!(of(&[4.0, 1.0, 3.0, 2.0]), Some((2.5, 1.0, 4.0, 4)));
        assert_eq!(of(&[7.0]), Some((7.0, 7.0, 7.0, 1)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn a_bound_in_the_middle_makes_the_median_one() {
        let number = |value, is_censored| Number { value, is_censored, is_supported: !is_censored };
        let of =
            |last| Estimate::of(vec![number(1.0, false), number(2.0, last), number(5.0, true)]);
        assert_eq!(of(false).map(|e| (e.is_censored, e.is_supported)), Some((false, false)));
        assert_eq!(of(true).map(|estimate| estimate.is_censored), Some(true));
    }
}
