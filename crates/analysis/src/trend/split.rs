//! The place of a series where its two sides differ most, by the energy statistic: how far values of the two sides lie
//! apart, beyond how far those of one side do.

use load::Chance;

use super::SEGMENT;

/// A part of a series.
#[derive(Clone, Debug)]
pub(super) struct Part {
    values: Vec<f64>,
}

/// Where a part is split, and how much its sides differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Split {
    /// How many values are before it.
    pub(super) at: usize,
    pub(super) energy: f64,
}

impl Part {
    pub(super) fn of(values: &[f64]) -> Part {
        Part { values: values.to_vec() }
    }

    /// The values in their order.
    #[cfg(test)]
    pub(super) fn in_order(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied()
    }

    /// Puts the values in an order by chance.
    pub(super) fn shuffle(&mut self, chance: &mut Chance) {
        for last in (1..self.values.len()).rev() {
            let other = chance.below(last + 1);
            self.values.swap(last, other);
        }
    }

    /// The best split that leaves enough values on both sides; the first of equal ones. What comes after the other side
    /// may be left out of it, so that a level that did not last is seen, too. None if there are too few.
    pub(super) fn best(&self) -> Option<Split> {
        let count = self.values.len();
        // Of the values up to here: the sum of the distances between any two of the first so many, and between these and
        // the others.
        let (mut within, mut between) = (vec![0.0; count + 1], vec![0.0; count + 1]);
        let mut best: Option<Split> = None;
        for (last, value) in self.values.iter().enumerate() {
            let mut sum = 0.0;
            for (other, between) in self.values[..last].iter().zip(&mut between[1..]) {
                sum += (other - value).abs();
                *between += sum;
            }
            within[last + 1] = within[last] + sum;
            let end = last + 1;
            for at in SEGMENT..=end.saturating_sub(SEGMENT) {
                let other = within[end] - within[at] - between[at];
                let energy = energy([at, end - at], [within[at], other], between[at]);
                if best.is_none_or(|best| best.energy < energy) {
                    best = Some(Split { at, energy });
                }
            }
        }
        best
    }
}

/// The statistic of Székely and Rizzo with exponent 1, as E-divisive weighs it.
fn energy(counts: [usize; 2], within: [f64; 2], between: f64) -> f64 {
    let [one, other] = counts.map(|count| count as f64);
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let apart = 2.0 * between / (one * other) - within[0] / pairs(one) - within[1] / pairs(other);
    one * other / (one + other) * apart
}

#[cfg(test)]
mod tests {
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
            let found = Part::of(&values).best().unwrap();
            let ends = 2 * SEGMENT..=count;
            let all = ends.flat_map(|end| (SEGMENT..=end - SEGMENT).map(move |at| (at, end)));
            let best = all.map(|(at, end)| plain(&values[..end], at)).fold(f64::MIN, f64::max);
            assert!((found.energy - best).abs() < 1e-9 * best.abs(), "{found:?} {best}");
        }
        assert_eq!(Part::of(&[1.0; 9]).best(), None, "too few for two sides");
    }

    #[test]
    fn a_shuffled_part_has_the_same_values() {
        let values: Vec<f64> = (0..30).map(f64::from).collect();
        let mut part = Part::of(&values);
        part.shuffle(&mut Chance::new(1));
        let mut shuffled: Vec<f64> = part.in_order().collect();
        assert_ne!(shuffled, values);
        shuffled.sort_by(f64::total_cmp);
        assert_eq!(shuffled, values);
    }
}
