//! Several builds of each side, which take turns from pair to pair. Pairs of one build are alike, as its layout in memory
//! is in all of them; so the mean of a build's pairs counts once, and there are as many differences as builds.

use std::ops::RangeInclusive;

use super::{LOOKS, MOST, bound};
use crate::student;

/// How many builds of a side there may be. Of the signs of four, one in sixteen is as bad as can be, which confirms nothing.
pub const BUILDS: RangeInclusive<usize> = 5..=MOST;

/// After how many pairs it is looked whether they suffice. Of several builds: while each pair has builds of its own, as
/// of one; then each time when all builds have had equally many pairs.
#[must_use]
pub fn looks(builds: Option<usize>) -> Vec<usize> {
    let Some(builds) = builds else { return LOOKS.to_vec() };
    fresh(builds).chain(sweeps(builds)).collect()
}

/// The most pairs that are used.
#[must_use]
pub fn most(builds: Option<usize>) -> usize {
    builds.map_or(MOST, |builds| builds * (MOST / builds).max(1))
}

/// Looks at pairs that have builds of their own, of which there are more.
fn fresh(builds: usize) -> impl Iterator<Item = usize> {
    LOOKS.into_iter().filter(move |look| *look < builds)
}

/// After so many pairs all builds have had equally many.
fn sweeps(builds: usize) -> impl Iterator<Item = usize> {
    (1..=most(Some(builds)) / builds).map(move |sweep| sweep * builds)
}

/// How large t must be after so many pairs; infinite where it is not looked. The looks at all builds share equally what
/// the earlier ones have left of the level: whatever of the spread is the builds' own, which no pair reduces, they are
/// wrong no more often than that.
pub(super) fn bound_of(builds: Option<usize>, level: f64, pairs: usize) -> f64 {
    let Some(builds) = builds else { return bound(level, pairs) };
    if pairs < builds {
        return bound(level, pairs);
    }
    if !sweeps(builds).any(|look| look == pairs) {
        return f64::INFINITY;
    }
    let spent = fresh(builds).last().unwrap_or(0) as f64 / MOST as f64;
    let share = level * (1.0 - spent) / sweeps(builds).count() as f64;
    student::point(2.0 * share, builds as f64 - 1.0)
}

/// What knows nothing of one another: pairs, or of several builds each one's mean.
pub(super) fn units(differences: &[f64], builds: Option<usize>) -> Vec<f64> {
    let Some(builds) = builds else { return differences.to_vec() };
    let mean = |build: usize| {
        let pairs = differences.iter().skip(build).step_by(builds);
        pairs.clone().sum::<f64>() / pairs.count() as f64
    };
    (0..builds.min(differences.len())).map(mean).collect()
}

/// How many of the differences count: those of pairs that not all builds have had yet are left out.
pub(super) fn even(count: usize, builds: Option<usize>) -> usize {
    match builds {
        Some(builds) if builds < count => count / builds * builds,
        Some(_) | None => count,
    }
}

#[cfg(test)]
mod tests;
