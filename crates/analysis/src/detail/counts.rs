//! Values with how often they occurred: distributions of several rounds or windows combined into one, without loss.

use load::{Distribution, Nanos, Quantile};

/// Values from low to high, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Counts {
    values: Vec<(Nanos, u64)>,
    count: u64,
    censored: u64,
}

impl Counts {
    /// All values of all these distributions. They need not have the same bounds.
    pub(super) fn of<'d>(distributions: impl Iterator<Item = &'d Distribution>) -> Counts {
        let mut all = Counts::default();
        for distribution in distributions {
            all.values.extend(distribution.values());
            all.censored = all.censored.saturating_add(distribution.censored());
        }
        all.values.sort_unstable_by_key(|(value, _)| *value);
        all.values.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
        all.count = all.values.iter().fold(0, |sum, (_, times)| sum.saturating_add(*times));
        all.censored = all.censored.min(all.count);
        all
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn censored(&self) -> u64 {
        self.censored
    }

    /// The values that a share of all does not exceed, for shares in ascending order.
    pub(super) fn quantiles(&self, shares: &[f64]) -> Vec<Quantile> {
        let (mut found, mut upto) = (Vec::with_capacity(shares.len()), 0);
        let mut values = self.values.iter();
        let Some(mut now) = values.next() else { return found };
        for share in shares {
            let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
            while upto + now.1 < rank {
                upto += now.1;
                let Some(next) = values.next() else { break };
                now = next;
            }
            let beyond = self.count - rank;
            found.push(Quantile {
                value: now.0,
                is_bound: beyond < self.censored,
                is_supported: 10 <= beyond,
            });
        }
        found
    }

    /// How many values are in each bin that is not empty, from low to high: so many bins to a factor of ten, with bin 0
    /// starting at 1 ns. Values that were given up are in no bin.
    pub(super) fn bins(&self, to_ten: f64) -> Vec<(u32, u64)> {
        let (mut bins, mut left): (Vec<(u32, u64)>, u64) = (Vec::new(), self.count - self.censored);
        for &(value, times) in &self.values {
            // Values that were given up are at the end.
            let times = times.min(left);
            left -= times;
            let bin = ((value.max(1) as f64).log10() * to_ten).floor() as u32;
            match bins.last_mut() {
                _ if times == 0 => {}
                Some(last) if last.0 == bin => last.1 += times,
                Some(_) | None => bins.push((bin, times)),
            }
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::SECOND;

    fn of(values: impl Iterator<Item = Nanos>) -> Distribution {
        let mut distribution = Distribution::new(5 * SECOND);
        values.for_each(|value| distribution.record(value));
        distribution
    }

    #[test]
    fn rounds_together_have_the_quantiles_that_one_histogram_of_all_has() {
        let mut all = of((0..9_000).map(|n| n * n * 31));
        let mut parts =
            [of((0..4_000).map(|n| n * n * 31)), of((4_000..9_000).map(|n| n * n * 31))];
        for each in [&mut all, &mut parts[1]] {
            (0..50).for_each(|_| each.record_censored(5 * SECOND));
        }
        let counts = Counts::of(parts.iter());
        let shares = [0.0, 0.25, 0.5, 0.9, 0.99, 0.995, 0.999, 1.0];
        let expected: Vec<Quantile> =
            shares.iter().filter_map(|&share| all.quantile(share)).collect();
        assert_eq!(counts.quantiles(&shares), expected);
        assert_eq!((counts.count(), counts.censored()), (9_050, 50));
    }

    #[test]
    fn rounds_of_other_bounds_are_added_all_the_same() {
        let mut wide = Distribution::new(60 * SECOND);
        wide.record(30 * SECOND);
        let counts = Counts::of([of([1_000].into_iter()), wide].iter());
        assert_eq!(counts.count(), 2);
        assert!(30 * SECOND <= counts.quantiles(&[1.0])[0].value);
    }

    #[test]
    fn bins_hold_what_was_answered_and_not_what_was_given_up() {
        let mut mixed = of([1_000, 1_010, 50_000, 4_999_000_000].into_iter());
        (0..3).for_each(|_| mixed.record_censored(5 * SECOND));
        let counts = Counts::of([mixed].iter());
        assert_eq!(counts.bins(10.0), [(30, 2), (46, 1), (96, 1)]);
        let mut failed = Distribution::new(SECOND);
        failed.record_censored(SECOND);
        assert_eq!(Counts::of([failed].iter()).bins(10.0), []);
    }

    #[test]
    fn nothing_has_no_quantiles() {
        assert_eq!(Counts::of([].iter()).quantiles(&[0.5]), []);
    }
}
