//! The place of a series where its two sides differ most, by the energy statistic: how far values of the two sides lie
//! apart, beyond how far those of one side do.

use std::array::from_fn;

use super::SEGMENT;

/// Where a part of a series is split, and how much its sides differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// How many values are before it.
    pub(super) at: usize,
    pub(super) energy: f64,
}

/// The best split of a part that leaves enough values on both sides; the first of equal ones. None if there are too few.
pub(super) fn best_split(values: &[f64]) -> Option<Split> {
    let mut best: Option<Split> = None;
    let alone: Vec<[f64; 1]> = values.iter().map(|value| [*value]).collect();
    each_split(&alone, |at, [energy]| {
        if best.is_none_or(|best| best.energy < energy) {
            best = Some(Split { at, energy });
        }
    });
    best
}

/// How many orders of a part are looked at at the same time: a processor computes as fast with several numbers.
pub(super) const ORDERS: usize = 8;

/// How much the sides of the best split differ, for each of several orders of the same values.
pub(super) fn furthest(orders: &[[f64; ORDERS]]) -> [f64; ORDERS] {
    let mut best = [f64::MIN; ORDERS];
    each_split(orders, |_, energy| best = larger(best, energy));
    best
}

/// The larger one of each two.
pub(super) fn larger(one: [f64; ORDERS], other: [f64; ORDERS]) -> [f64; ORDERS] {
    from_fn(|order| if one[order] < other[order] { other[order] } else { one[order] })
}

/// How much the sides of each split differ, with how many values are before it: the statistic of Székely and Rizzo with
/// exponent 1, as E-divisive weighs it. What comes after the other side may be left out of it, so that a level that did
/// not last is seen, too.
fn each_split<const N: usize>(values: &[[f64; N]], mut split: impl FnMut(usize, [f64; N])) {
    let count = values.len();
    // Of the values up to here: the sum of the distances between any two of the first so many, and between these and
    // the others.
    let (mut within, mut between) = (vec![[0.0; N]; count + 1], vec![[0.0; N]; count + 1]);
    let one_of: Vec<f64> = (0..=count).map(|others| 1.0 / others as f64).collect();
    for (last, value) in values.iter().enumerate() {
        let mut sum = [0.0; N];
        for (other, between) in values[..last].iter().zip(&mut between[1..]) {
            sum = from_fn(|order| sum[order] + (other[order] - value[order]).abs());
            *between = from_fn(|order| between[order] + sum[order]);
        }
        let end = last + 1;
        let all: [f64; N] = from_fn(|order| within[last][order] + sum[order]);
        within[end] = all;
        let share = 2.0 / end as f64;
        for at in SEGMENT..(end + 1).saturating_sub(SEGMENT) {
            let (within, between) = (&within[at], &between[at]);
            let (one, other) = (at as f64, (end - at) as f64);
            let weights = [other * one_of[at - 1], one * one_of[end - at - 1]];
            let energy = from_fn(|order| {
                let other = all[order] - within[order] - between[order];
                share * (between[order] - weights[0] * within[order] - weights[1] * other)
            });
            split(at, energy);
        }
    }
}

#[cfg(test)]
mod tests {
    use load::Chance;

    use super::*;

    /// By the definition, pair by pair.
    fn plain(values: &[f64], at: usize) -> f64 {
        let (one, other) = values.split_at(at);
        let between: f64 = one.iter().flat_map(|a| other.iter().map(move |b| (a - b).abs())).sum();
        let within = |side: &[f64]| {
            let pairs = (0..side.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let all: Vec<f64> = pairs.map(|(i, j)| (side[i] - side[j]).abs()).collect();
            all.iter().sum::<f64>() / all.len() as f64
        };
        let (m, n) = (one.len() as f64, other.len() as f64);
        m * n / (m + n) * (2.0 * between / (m * n) - within(one) - within(other))
    }

    #[test]
    fn the_best_split_is_that_of_the_definition() {
        let mut chance = Chance::new(3);
        for count in [10, 11, 17, 40] {
            let values: Vec<f64> = (0..count).map(|_| chance.below(1_000) as f64).collect();
            let found = best_split(&values).unwrap();
            let ends = 2 * SEGMENT..=count;
            let all = ends.flat_map(|end| (SEGMENT..=end - SEGMENT).map(move |at| (at, end)));
            let best = all.map(|(at, end)| plain(&values[..end], at)).fold(f64::MIN, f64::max);
            assert!((found.energy - best).abs() < 1e-9 * best.abs(), "{found:?} {best}");
        }
        assert_eq!(best_split(&[1.0; 9]), None, "too few for two sides");
    }
}
