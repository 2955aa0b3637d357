//! What a gate can see, before it begins.

use super::{LOOKS, Rule, bound};
use crate::student;

/// The probability that what is to be found is not found, or that what is not there is not ruled out.
const NOT_SHOWN: f64 = 0.05;

/// How much longer the way is because neighbours are alike by chance (`make gate-truth`).
const BY_CHANCE_ALIKE: f64 = 1.1;

/// After how many pairs, one of the looks, the difference that is to be found is shown nine times in ten, if pairs
/// spread so far; none if all of them are too few.
#[must_use]
pub fn pairs_needed(spread: f64, rule: Rule, level: f64) -> Option<usize> {
    LOOKS.into_iter().find(|&pairs| reach(spread, pairs, rule, level) <= rule.detect.ln_1p())
}

/// The least difference that so many pairs show nine times in ten (0.05 is 5 %); none for fewer than the first look, and
/// where they show less than a difference by a factor of two.
#[must_use]
pub fn least_shown(spread: f64, pairs: usize, rule: Rule, level: f64) -> Option<f64> {
    let look = LOOKS.into_iter().rfind(|look| *look <= pairs)?;
    Some(reach(spread, look, rule, level).exp_m1()).filter(|least| *least <= 1.0)
}

/// The difference, as a logarithm, of which both are likely: that it is found where it is, and ruled out where it is
/// not.
fn reach(spread: f64, pairs: usize, rule: Rule, level: f64) -> f64 {
    // Half of two tails.
    let beyond = student::point(2.0 * NOT_SHOWN, pairs as f64 - 1.0);
    let bound = bound(level, pairs).max(bound(rule.missed, pairs));
    BY_CHANCE_ALIKE * (bound + beyond) * spread / (pairs as f64).sqrt()
}
