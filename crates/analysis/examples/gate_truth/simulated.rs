//! Pairs by chance, always from a seed: the laws of their differences, and the bounds that follow from the first.

use load::Chance;

/// What the differences of pairs are like; each has a standard deviation of about 1 around `mean`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    Normal,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
    /// One in ten pairs is three times as far off.
    OneInTen,
    /// Each slice of a pair is like the one before it (0.5); the pair is made of 30 of them, A B B A.
    AlikeSlices,
    /// Each pair is like the one before it (0.5).
    AlikePairs,
}

/// Normally distributed, with a standard deviation of 1.
pub(crate) fn normal(chance: &mut Chance) -> f64 {
    // Above 0, which has no logarithm.
    let mut share = || chance.unit() + 0.5 / (1_u64 << 53) as f64;
    let angle = std::f64::consts::TAU * share();
    (-2.0 * share().ln()).sqrt() * angle.cos()
}

/// So many differences of this law, around 0.
pub(crate) fn noise(law: Law, chance: &mut Chance, count: usize) -> Vec<f64> {
    let mut before = normal(chance);
    (0..count).map(|_| value(law, chance, &mut before)).collect()
}

/// A value of this noise. `before` is the last of the correlated ones.
pub(crate) fn value(law: Law, chance: &mut Chance, before: &mut f64) -> f64 {
    match law {
        Law::Normal => normal(chance),
        Law::HeavyTails => {
            let squares: f64 = (0..3).map(|_| normal(chance).powi(2)).sum();
            normal(chance) / squares.sqrt()
        }
        Law::OneInTen => {
            let factor = if chance.unit() < 0.1 { 3.0 } else { 1.0 };
            factor * normal(chance) / 1.8_f64.sqrt()
        }
        Law::AlikeSlices => {
            let slices: Vec<f64> = (0..60).map(|_| correlated(chance, before)).collect();
            let sum = |four: &[f64]| four[0] - four[1] - four[2] + four[3];
            // Of A B B A the slices of one side less those of the other.
            slices.chunks(4).map(sum).sum::<f64>() / 6.0
        }
        Law::AlikePairs => correlated(chance, before),
    }
}

fn correlated(chance: &mut Chance, before: &mut f64) -> f64 {
    *before = 0.5 * *before + 0.75_f64.sqrt() * normal(chance);
    *before
}

/// Pairs of so many builds that take turns: so far apart from build to build, and so far from pair to pair.
pub(crate) fn of_builds(
    law: Law,
    chance: &mut Chance,
    (builds, of_builds, of_pairs): (usize, f64, f64),
    count: usize,
) -> Vec<f64> {
    let layouts = noise(law, chance, builds);
    let pairs = noise(law, chance, count);
    let difference =
        |(place, pair): (usize, &f64)| of_builds * layouts[place % builds] + of_pairs * pair;
    pairs.iter().enumerate().map(difference).collect()
}

/// For each look, how large Student's t must be so that by the look after n pairs n/most of `level` is spent: the
/// quantiles of paths that have not crossed an earlier bound.
pub(crate) fn bounds(level: f64, looks: &[usize], paths: usize, seed: u64) -> Vec<f64> {
    let mut chance = Chance::new(seed);
    let most = looks.last().copied().unwrap_or(1) as f64;
    let mut left: Vec<(f64, f64)> = vec![(0.0, 0.0); paths];
    let (mut bounds, mut crossed, mut pairs) = (Vec::new(), 0_usize, 0);
    for &look in looks {
        for (sum, squares) in &mut left {
            for _ in pairs..look {
                let next = normal(&mut chance);
                *sum += next;
                *squares += next * next;
            }
        }
        pairs = look;
        let spend = (level * look as f64 / most * paths as f64).round() as usize - crossed;
        let count = look as f64;
        let t = |&(sum, squares): &(f64, f64)| {
            let mean = sum / count;
            mean / ((squares - mean * sum) / (count - 1.0) / count).sqrt()
        };
        left.sort_by(|one, other| t(other).total_cmp(&t(one)));
        bounds.push(left.get(spend).map_or(f64::INFINITY, t));
        left.drain(..spend);
        crossed += spend;
    }
    bounds
}
