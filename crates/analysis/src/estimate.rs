//! Rounds of one thing, folded into one number with its range.

use crate::figures::Number;

/// The median of the rounds, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Half of the rounds came to no more; of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// How many rounds.
    pub rounds: usize,
    /// The median is a bound: the truth is no less.
    pub is_censored: bool,
    /// Every round had enough samples for it.
    pub is_supported: bool,
}

impl Estimate {
    /// None of nothing.
    #[must_use]
    pub fn of(mut numbers: Vec<Number>) -> Option<Estimate> {
        numbers.sort_by(|one, other| one.value.total_cmp(&other.value));
        let (first, last) = (numbers.first()?, numbers.last()?);
        let middle = &numbers[(numbers.len() - 1) / 2..=numbers.len() / 2];
        let sum: f64 = middle.iter().map(|number| number.value).sum();
        Some(Estimate {
            median: sum / middle.len() as f64,
            min: first.value,
            max: last.value,
            rounds: numbers.len(),
            is_censored: middle.iter().any(|number| number.is_censored),
            is_supported: numbers.iter().all(|number| number.is_supported),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
