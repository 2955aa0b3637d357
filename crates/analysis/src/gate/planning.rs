//! What a gate can see, before it begins.

use super::builds::bound_of;
use super::{Rule, looks};
use crate::student;

/// The probability that what is to be found is not found, or that what is not there is not ruled out.
const NOT_SHOWN: f64 = 0.05;

/// How much longer the way is because neighbours are alike by chance (`make gate-truth`).
const BY_CHANCE_ALIKE: f64 = 1.1;

/// After how many pairs, one of the looks, the difference that is to be found is shown nine times in ten, if pairs
/// spread so far; none if all of them are too few.
#[must_use]
pub fn pairs_needed(spread: f64, rule: Rule, level: f64) -> Option<usize> {
    looks(rule.builds)
        .into_iter()
        .find(|&pairs| reach(spread, pairs, rule, level) <= rule.detect.ln_1p())
}

/// The least difference that so many pairs show nine times in ten (0.05 is 5 %); none for fewer than the first look, and
/// where they show less than a difference by a factor of two.
#[must_use]
pub fn least_shown(spread: f64, pairs: usize, rule: Rule, level: f64) -> Option<f64> {
    let look = looks(rule.builds).into_iter().rfind(|look| *look <= pairs)?;
    Some(reach(spread, look, rule, level).exp_m1()).filter(|least| *least <= 1.0)
}

/// The difference, as a logarithm, of which both are likely: that it is found where it is, and ruled out where it is
/// not. Of several builds as if all of the spread were theirs: then more pairs of the same builds are of no use.
fn reach(spread: f64, pairs: usize, rule: Rule, level: f64) -> f64 {
    // Half of two tails.
    let units = rule.builds.map_or(pairs, |builds| builds.min(pairs)) as f64;
    let beyond = student::point(2.0 * NOT_SHOWN, units - 1.0);
    let bound = |level: f64| bound_of(rule.builds, level, pairs);
    BY_CHANCE_ALIKE * (bound(level).max(bound(rule.missed)) + beyond) * spread / units.sqrt()
}
