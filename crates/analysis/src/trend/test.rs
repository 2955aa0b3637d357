//! Whether a split is more than chance: the same values in an order by chance, split anew where they then differ most.

use load::Chance;

use super::split::{ORDERS, Split, best_split, furthest, larger};

/// What a permutation test says of the best split of all parts of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tested {
    /// Which part is split.
    pub(super) part: usize,
    pub(super) split: Split,
    /// None: above the level, and the test ended early, which changes nothing of the answer.
    pub(super) p: Option<f64>,
}

/// The best split of all parts; of equal ones the first.
fn best(parts: &[Vec<f64>]) -> Option<(usize, Split)> {
    let splits = parts.iter().enumerate().filter_map(|(part, it)| Some((part, best_split(it)?)));
    splits.reduce(|one, other| if one.1.energy < other.1.energy { other } else { one })
}

/// Tests the best split by so many permutations within the parts.
pub(super) fn tested(
    parts: &[Vec<f64>],
    level: f64,
    permutations: u32,
    seed: u64,
) -> Option<Tested> {
    let (part, split) = best(parts)?;
    // Sums of the same numbers in another order differ by their rounding.
    let slack = 1e-9 * split.energy.abs();
    let all = f64::from(permutations) + 1.0;
    // The values as they came are one of the orders.
    let mut as_far = 1.0;
    let mut chance = Chance::new(seed);
    let mut shuffled: Vec<Vec<f64>> =
        parts.iter().filter(|it| best_split(it).is_some()).cloned().collect();
    for tried in (0..permutations).step_by(ORDERS) {
        let energies = by_chance(&mut shuffled, &mut chance);
        for energy in energies.into_iter().take((permutations - tried) as usize) {
            as_far += if split.energy - slack <= energy { 1.0 } else { 0.0 };
        }
        if level < as_far / all {
            return Some(Tested { part, split, p: None });
        }
    }
    Some(Tested { part, split, p: Some(as_far / all) })
}

/// How much the sides of the best split of all parts differ, for the next orders by chance.
fn by_chance(parts: &mut [Vec<f64>], chance: &mut Chance) -> [f64; ORDERS] {
    let mut orders: Vec<Vec<[f64; ORDERS]>> =
        parts.iter().map(|part| vec![[0.0; ORDERS]; part.len()]).collect();
    for order in 0..ORDERS {
        for (part, orders) in parts.iter_mut().zip(&mut orders) {
            chance.shuffle(part);
            part.iter().zip(orders).for_each(|(value, orders)| orders[order] = *value);
        }
    }
    orders.iter().map(|part| furthest(part)).fold([f64::MIN; ORDERS], larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64) -> Vec<f64> {
        let mut values: Vec<f64> = (0..24).map(|at| f64::from(at * at)).collect();
        Chance::new(seed).shuffle(&mut values);
        values
    }

    #[test]
    fn a_test_that_ends_early_has_the_same_answer() {
        let mut significant = 0;
        for seed in 0..200 {
            let parts = [noise(seed)];
            let whole = tested(&parts, 1.0, 199, 7).unwrap().p.unwrap();
            let early = tested(&parts, 0.1, 199, 7).unwrap().p;
            assert_eq!(early, (whole <= 0.1).then_some(whole), "{seed}");
            significant += usize::from(early.is_some());
        }
        assert!((5..=40).contains(&significant), "{significant} of 200 at a level of a tenth");
    }

    #[test]
    fn one_value_throughout_is_no_change() {
        let found = tested(&[vec![2.0; 20]], 0.01, 199, 1).unwrap();
        assert_eq!(found.p, None);
    }
}
