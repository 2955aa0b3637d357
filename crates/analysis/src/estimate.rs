//! Rounds of one figure, combined into one number with its uncertainty. The number and its interval estimate the same
//! thing: the figure's mean over rounds, on the scale on which its rounds differ.

use lab::figure::{Fold, Number};
use schemars::JsonSchema;
use serde::Serialize;

use crate::student::{self, OUTSIDE};

/// The mean of a figure over the rounds, and how far these lie apart: geometric for rates, times and bytes if no round is
/// 0, else arithmetic; for the shortest and the longest response time the extreme of all rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "estimate")]
pub struct Estimate {
    /// the mean
    pub value: f64,
    /// the smallest of the rounds
    pub min: f64,
    /// the largest of the rounds
    pub max: f64,
    /// lower end of the mean's 95 % interval (Student's t over the rounds, on the scale of the mean; differences between
    /// runs are not in it); null for one round, and for extremes
    pub low: Option<f64>,
    /// its upper end; null where it is open: a round is a bound, and `low` is computed as if each round had ended where
    /// it was given up
    pub high: Option<f64>,
    /// rounds that have the figure
    pub rounds: usize,
    /// requests were given up, so it is a bound in a round: the true value is no less
    pub is_bound: bool,
    /// at least ten samples lie beyond it, in every round
    pub is_supported: bool,
}

impl Estimate {
    /// The estimate from these numbers; none if there are none.
    #[must_use]
    pub fn of(numbers: &[Number], fold: Fold) -> Option<Estimate> {
        let values: Vec<f64> = numbers.iter().map(|number| number.value).collect();
        let min = values.iter().copied().min_by(f64::total_cmp)?;
        let max = values.iter().copied().max_by(f64::total_cmp)?;
        let is_bound = match fold {
            // One that is known to be as small is the least of all.
            Fold::Least => numbers.iter().all(|number| number.is_bound || min < number.value),
            Fold::Greatest | Fold::Factors | Fold::Amounts | Fold::Shares | Fold::Differences => {
                numbers.iter().any(|number| number.is_bound)
            }
        };
        let (value, interval) = match fold {
            Fold::Least => (min, None),
            Fold::Greatest => (max, None),
            Fold::Factors | Fold::Amounts | Fold::Shares | Fold::Differences => mean(&values, fold),
        };
        Some(Estimate {
            value,
            min,
            max,
            low: interval.map(|(low, _)| low),
            high: interval.map(|(_, high)| high).filter(|_| !is_bound),
            rounds: numbers.len(),
            is_bound,
            is_supported: numbers.iter().all(|number| number.is_supported),
        })
    }

    /// The mean as a number.
    #[must_use]
    pub fn number(&self) -> Number {
        let Estimate { value, is_bound, is_supported, .. } = *self;
        Number { value, is_bound, is_supported }
    }

    /// Both ends of its interval, where it has both.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// The lower end of an interval that is open above.
    #[must_use]
    pub fn at_least(&self) -> Option<f64> {
        self.low.filter(|_| self.high.is_none())
    }
}

/// A mean and its interval.
///
/// Rates and times differ by factors, so the mean of their logarithms is used. Zero has no logarithm: where a round is
/// zero, the numbers themselves are used.
fn mean(values: &[f64], fold: Fold) -> (f64, Option<(f64, f64)>) {
    // Converting to a logarithm and back loses the last digit.
    if values.iter().all(|value| *value == values[0]) {
        let interval = (1 < values.len()).then_some((values[0], values[0]));
        return (values[0], interval);
    }
    let by_factors = fold == Fold::Factors && values.iter().all(|value| 0.0 < *value);
    let scaled: Vec<f64> =
        values.iter().map(|value| if by_factors { value.ln() } else { *value }).collect();
    let count = scaled.len() as f64;
    let mean = scaled.iter().sum::<f64>() / count;
    let (least, most) = match fold {
        Fold::Shares => (0.0, 100.0),
        Fold::Differences => (f64::NEG_INFINITY, f64::INFINITY),
        // Values that are usually positive may be negative in a round by chance.
        _ if values.iter().any(|value| *value < 0.0) => (f64::NEG_INFINITY, f64::INFINITY),
        Fold::Factors | Fold::Amounts | Fold::Least | Fold::Greatest => (0.0, f64::INFINITY),
    };
    let back = |scaled: f64| if by_factors { scaled.exp() } else { scaled };
    // Impossible values are not in the interval. The mean is always in it.
    let ends = half(&scaled, mean).map(|half| {
        (back(mean - half).max(least.min(back(mean))), back(mean + half).min(most.max(back(mean))))
    });
    (back(mean), ends)
}

/// How far the 95 % interval of a mean extends to either side; there is none for one number.
fn half(values: &[f64], mean: f64) -> Option<f64> {
    let freedom = values.len().checked_sub(1).filter(|freedom| 0 < *freedom)? as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / freedom / values.len() as f64).sqrt();
    Some(student::point(OUTSIDE, freedom) * error)
}

/// The interval of numbers that differ by factors.
pub(crate) fn interval(values: &[f64]) -> Option<(f64, f64)> {
    if values.is_empty() { None } else { mean(values, Fold::Factors).1 }
}

#[cfg(test)]
mod tests {
    use load::Chance;

    use super::*;
    use crate::fixture::{normal, numbers, share};

    fn of(values: &[f64], fold: Fold) -> Option<Estimate> {
        Estimate::of(&numbers(values), fold)
    }

    const EXPERIMENTS: usize = 4_000;

    /// How often the interval from so many rounds contains the true value.
    fn covered(rounds: usize, fold: Fold, truth: f64, mut round: impl FnMut() -> f64) -> f64 {
        share(EXPERIMENTS, || {
            let values: Vec<f64> = (0..rounds).map(|_| round()).collect();
            let (low, high) = of(&values, fold).unwrap().interval().expect("two rounds or more");
            (low..=high).contains(&truth)
        })
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut chance = Chance::new(7);
        for rounds in [2, 3, 5, 10] {
            let by_factors = covered(rounds, Fold::Factors, 1_000.0, || {
                1_000.0 * (0.08 * normal(&mut chance)).exp()
            });
            assert!((0.94..0.96).contains(&by_factors), "{rounds} rounds: {by_factors}");
            // Bytes by which a server has grown: they scatter around zero.
            let by_sums =
                covered(rounds, Fold::Differences, -3.0, || -3.0 + 20.0 * normal(&mut chance));
            assert!((0.94..0.96).contains(&by_sums), "{rounds} rounds: {by_sums}");
        }
    }

    /// The interval must be about the value: where rounds are spread widely, the median and a percentile of all
    /// requests together are something else.
    #[test]
    fn the_interval_is_about_the_value_that_is_printed() {
        let mut chance = Chance::new(9);
        for _ in 0..2_000 {
            let values: Vec<f64> = (0..5).map(|_| (1.5 * normal(&mut chance)).exp()).collect();
            let found = of(&values, Fold::Factors).unwrap();
            let (low, high) = found.interval().unwrap();
            // On its scale the value is in the middle, and the interval was not widened.
            let middle = (low * high).sqrt();
            assert!((middle / found.value - 1.0).abs() < 1e-9, "{found:?}");
        }
    }

    /// The numbers that docs/validity.md states.
    #[test]
    fn intervals_of_skewed_rounds_hold_the_usual_round() {
        let mut chance = Chance::new(8);
        for rounds in [3, 5, 10] {
            for law in ["wide", "one in ten is three times as slow", "a tail to one side"] {
                let mut round = || {
                    let (one, other) = (normal(&mut chance), normal(&mut chance));
                    match law {
                        "wide" => (0.5 * one).exp(),
                        // One in ten normal values is above 1.2816.
                        "one in ten is three times as slow" => {
                            (0.03 * one).exp() * if 1.2816 < other { 3.0 } else { 1.0 }
                        }
                        // The sum of the two squares is exponentially distributed.
                        _ => 1.0 + 0.1 * (one * one + other * other),
                    }
                };
                let mut many: Vec<f64> = (0..100_001).map(|_| round()).collect();
                many.sort_by(f64::total_cmp);
                let usual = many[50_000];
                let held = covered(rounds, Fold::Factors, usual, round);
                assert!((0.93..0.97).contains(&held), "{rounds} rounds, {law}: {held}");
            }
        }
    }

    /// Rounds that are given up at a limit give a lower bound, which is wrong no more often than one end of an interval
    /// may be.
    #[test]
    fn the_open_interval_of_bounds_holds_the_truth() {
        let mut chance = Chance::new(10);
        let held = share(EXPERIMENTS, || {
            let round = |_| {
                let truth = 1_000.0 * (0.3 * normal(&mut chance)).exp();
                Number { value: truth.min(1_300.0), is_bound: 1_300.0 < truth, is_supported: true }
            };
            let rounds: Vec<Number> = (0..5).map(round).collect();
            let found = Estimate::of(&rounds, Fold::Factors).unwrap();
            assert_eq!(found.interval().is_none(), found.is_bound);
            found.at_least().or(found.interval().map(|(low, _)| low)).unwrap() <= 1_000.0
        });
        assert!(0.96 < held, "{held}");
    }

    #[test]
    fn one_round_has_no_interval_and_no_interval_holds_what_cannot_be() {
        let interval = |values: &[f64], fold| of(values, fold).unwrap().interval();
        assert_eq!(interval(&[5.0], Fold::Factors), None);
        assert_eq!(interval(&[0.0, 0.0, 0.0], Fold::Factors), Some((0.0, 0.0)));
        let (low, high) = interval(&[0.0, 1.0, 5.0], Fold::Factors).unwrap();
        assert!(low == 0.0 && 5.0 < high, "a round without any answer takes the logarithms away");
        let (low, high) = interval(&[100.0, 100.0], Fold::Factors).unwrap();
        assert!((low - 100.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
        let (low, high) = interval(&[90.0, 99.0, 100.0], Fold::Shares).unwrap();
        assert!(low < 90.0 && high == 100.0, "{low} {high}");
        let (low, _) = interval(&[0.0, 0.0, 9.0], Fold::Shares).unwrap();
        assert!(low == 0.0);
        let (low, _) = interval(&[-50.0, 0.0, 9.0], Fold::Differences).unwrap();
        assert!(low < -50.0, "what may be negative is so");
        let (low, _) = interval(&[1.0, 100.0, 10_000.0], Fold::Factors).unwrap();
        assert!(0.0 < low, "what is above zero has an interval above zero");
    }

    #[test]
    fn the_mean_of_each_kind_of_figure() {
        let parts = |values: &[f64], fold| {
            of(values, fold).map(|found| (found.value, found.min, found.max, found.rounds))
        };
        let (value, ..) = parts(&[1.0, 10.0, 100.0], Fold::Factors).unwrap();
        assert!((value - 10.0).abs() < 1e-9, "{value}");
        assert_eq!(parts(&[1.0, 2.0, 6.0], Fold::Amounts), Some((3.0, 1.0, 6.0, 3)));
        assert_eq!(parts(&[0.0, 2.0, 4.0], Fold::Factors), Some((2.0, 0.0, 4.0, 3)));
        assert_eq!(parts(&[4.0, -1.0, 3.0], Fold::Differences), Some((2.0, -1.0, 4.0, 3)));
        assert_eq!(parts(&[4.0, 1.0], Fold::Greatest), Some((4.0, 1.0, 4.0, 2)));
        assert_eq!(parts(&[4.0, 1.0], Fold::Least), Some((1.0, 1.0, 4.0, 2)));
        assert_eq!(of(&[4.0, 1.0], Fold::Greatest).unwrap().interval(), None);
        assert_eq!(parts(&[], Fold::Factors), None);
    }

    #[test]
    fn a_bound_in_any_round_makes_the_value_one() {
        let number = |value, is_bound| Number { value, is_bound, is_supported: !is_bound };
        let estimate = |last| {
            let rounds = [number(1.0, false), number(2.0, false), number(5.0, last)];
            Estimate::of(&rounds, Fold::Factors).unwrap()
        };
        let (whole, bound) = (estimate(false), estimate(true));
        assert!(!whole.is_bound && whole.is_supported && whole.at_least().is_none());
        assert!(bound.is_bound && !bound.is_supported && bound.interval().is_none());
        assert_eq!(bound.at_least(), whole.interval().map(|(low, _)| low));
    }
}
