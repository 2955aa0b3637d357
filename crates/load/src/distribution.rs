//! Latencies as a mergeable histogram, with what is only known to be larger counted apart.

mod encoded;
mod folded;

use hdrhistogram::Histogram;

use crate::Nanos;
pub use encoded::EncodedError;
pub use folded::Folded;

/// A histogram with its exact sum, in which some values may be lower bounds.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// All values; of censored ones, their lower bounds.
    values: Histogram<u64>,
    /// The lower bounds alone: what was given up, and would have taken longer. `censored <= values`, place by place.
    censored: Option<Box<Histogram<u64>>>,
    sum: u128,
}

/// The least value told apart from zero.
const LOWEST: Nanos = 1;
/// Significant decimal digits.
const DIGITS: u8 = 3;

/// A percentile, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantile {
    /// In nanoseconds.
    pub value: Nanos,
    /// A bound: the truth is no less than this, and may be more.
    pub is_censored: bool,
    /// At least ten samples lie beyond it.
    pub is_supported: bool,
}

impl Distribution {
    /// Values up to `max` are told apart; larger ones count as `max`.
    #[must_use]
    pub fn new(max: Nanos) -> Distribution {
        Distribution { values: empty(max), censored: None, sum: 0 }
    }

    /// Adds a value.
    pub fn record(&mut self, value: Nanos) {
        self.values.saturating_record(value);
        self.sum += u128::from(value);
    }

    /// Adds a value that is only known to be no less than this.
    pub fn record_censored(&mut self, at_least: Nanos) {
        self.record(at_least);
        let high = self.values.high();
        self.censored.get_or_insert_with(|| Box::new(empty(high))).saturating_record(at_least);
    }

    /// Adds all values of another. Where the other tells larger values apart, they count as this one's largest.
    pub fn merge(&mut self, other: &Distribution) {
        add(&mut self.values, &other.values);
        if let Some(theirs) = other.censored.as_deref().filter(|theirs| !theirs.is_empty()) {
            let high = self.values.high();
            add(self.censored.get_or_insert_with(|| Box::new(empty(high))), theirs);
        }
        self.sum += other.sum;
    }

    pub(crate) fn clear(&mut self) {
        // Clearing writes every page; an empty histogram is left as it is.
        if !self.values.is_empty() {
            self.values.reset();
        }
        (self.censored, self.sum) = (None, 0);
    }

    /// How many values there are, censored ones among them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.values.len()
    }

    /// How many are only known to be no less than some bound.
    #[must_use]
    pub fn censored(&self) -> u64 {
        self.censored.as_ref().map_or(0, |censored| censored.len())
    }

    /// Exact, from the sum; 0 of nothing. A lower bound where values are censored.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum as f64 / self.count() as f64 }
    }

    /// The exact sum of all values, censored ones by their bounds.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Of the sample; 0 of nothing.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        self.values.stdev()
    }

    /// The smallest and the largest.
    #[must_use]
    pub fn extremes(&self) -> Option<(Nanos, Nanos)> {
        (0 < self.count()).then(|| (self.values.min(), self.values.max()))
    }

    /// How many values are known to be no more than `limit`, to the histogram's resolution of a thousandth.
    #[must_use]
    pub fn known_within(&self, limit: Nanos) -> u64 {
        let censored = self.censored.as_ref().map_or(0, |censored| upto(censored, limit));
        upto(&self.values, limit) - censored
    }

    /// The value that a share `q` of all values does not exceed; none of nothing.
    ///
    /// A censored value may be anything from its bound up. Counted at its bound it gives the least that the percentile
    /// can be, counted as endless the most. Where the two differ, the least is shown, as a bound. Nothing is assumed about
    /// what would have become of the values that were given up.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Quantile> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count);
        let least = self.values.value_at_quantile(q);
        Some(Quantile {
            value: least,
            is_censored: 0 < self.censored() && self.most_at(rank) != Some(least),
            is_supported: 10 <= count - rank,
        })
    }

    /// The value with this rank if all that was given up had taken for ever; none if it is one of these.
    fn most_at(&self, rank: u64) -> Option<Nanos> {
        let mut before = 0;
        let bound = |value| self.censored.as_ref().map_or(0, |censored| censored.count_at(value));
        for step in self.values.iter_recorded() {
            before += step.count_at_value() - bound(step.value_iterated_to());
            if rank <= before {
                return Some(self.values.highest_equivalent(step.value_iterated_to()));
            }
        }
        None
    }

    /// The histogram of all values, censored ones at their bounds.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.values
    }
}

fn empty(max: Nanos) -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST, max.max(2), DIGITS).expect("bounds and digits are valid")
}

/// Adds what need not have the same bounds.
fn add(values: &mut Histogram<u64>, more: &Histogram<u64>) {
    if values.add(more).is_err() {
        for step in more.iter_recorded() {
            values.saturating_record_n(step.value_iterated_to(), step.count_at_value());
        }
    }
}

fn upto(values: &Histogram<u64>, limit: Nanos) -> u64 {
    values.count_between(0, limit)
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        // Histograms with different limits are equal to hdrhistogram if their counts are.
        self.values.high() == other.values.high()
            && self.values == other.values
            && self.censored() == other.censored()
            && (self.censored() == 0 || self.censored == other.censored)
            && self.sum == other.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_among_what_was_given_up_says_so() {
        let mut distribution = Distribution::new(10_000);
        (0..90).for_each(|_| distribution.record(100));
        (0..10).for_each(|_| distribution.record_censored(5_000));
        assert_eq!((distribution.count(), distribution.censored()), (100, 10));
        let p90 = distribution.quantile(0.9).unwrap();
        assert_eq!((p90.value, p90.is_censored, p90.is_supported), (100, false, true));
        let p91 = distribution.quantile(0.91).unwrap();
        assert!(p91.is_censored && !p91.is_supported, "{p91:?}");
    }

    /// What is given up early may have been anything later on: a percentile above it is a bound, and those that it cannot
    /// move are exact.
    #[test]
    fn a_percentile_that_a_censored_value_may_move_is_a_bound() {
        let mut distribution = Distribution::new(10_000);
        (1..=89).for_each(|value| distribution.record(value));
        (0..10).for_each(|_| distribution.record_censored(50));
        distribution.record(1_000);
        let at = |q: f64| distribution.quantile(q).map(|found| (found.value, found.is_censored));
        assert_eq!(at(0.49), Some((49, false)), "below all that was given up");
        assert_eq!(at(0.6), Some((50, true)), "it may be anything from 50 to 60");
        assert_eq!(at(0.9), Some((80, true)), "it may be anything from 80 up");
        assert_eq!(at(1.0), Some((1_000, true)), "no value is known to be the largest");
        assert_eq!((distribution.known_within(50), distribution.known_within(1_000)), (50, 90));
    }

    /// The truth behind censored values lies where the bounds say, whatever made them be given up.
    #[test]
    fn bounds_hold_the_truth_however_values_were_given_up() {
        let mut state = 1_u64;
        let mut chance = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        for _ in 0..200 {
            let (mut seen, mut truth) = (Distribution::new(1 << 30), Vec::new());
            for _ in 0..300 {
                let value = 1 + chance() % 2_000;
                // The slower a value, the likelier it is given up, at any age.
                if chance() % 2_500 < value {
                    seen.record_censored(1 + chance() % value);
                } else {
                    seen.record(value);
                }
                truth.push(value);
            }
            truth.sort_unstable();
            for q in [0.1, 0.5, 0.9, 0.99] {
                let is = truth[(q * 300.0_f64).ceil() as usize - 1];
                let found = seen.quantile(q).unwrap();
                assert!(found.value <= is, "{q}: {found:?} {is}");
                assert!(found.is_censored || found.value == is, "{q}: {found:?} {is}");
            }
        }
    }

    #[test]
    fn folding_and_merging_lose_nothing() {
        let mut all = Distribution::new(1 << 40);
        let mut parts = [Distribution::new(1 << 40), Distribution::new(1 << 40)];
        for n in 0..10_000_u64 {
            let value = n * n * 37;
            all.record(value);
            parts[n as usize % 2].record(value);
        }
        let [mut merged, other] = parts;
        merged.merge(&Folded::of(&other).unfold());
        assert_eq!(merged.values, all.values);
        assert_eq!(merged.mean().to_bits(), all.mean().to_bits());
    }

    #[test]
    fn what_has_other_bounds_is_added_all_the_same() {
        let (mut narrow, mut wide) = (Distribution::new(1_000), Distribution::new(1 << 40));
        wide.record(7);
        wide.record_censored(1 << 30);
        narrow.merge(&wide);
        assert_eq!((narrow.count(), narrow.censored()), (2, 1));
        assert_eq!(narrow.sum(), 7 + (1 << 30));
    }

    #[test]
    fn a_distribution_is_written_and_read_back_whole() {
        let mut made = Distribution::new(1 << 40);
        (0..1_000_u64).for_each(|n| made.record(n * n));
        for made in [made.clone(), {
            (0..10).for_each(|n| made.record_censored(n * 1_000));
            made
        }] {
            let text = serde_json::to_string(&made).unwrap();
            assert_eq!(serde_json::from_str::<Distribution>(&text).unwrap(), made, "{text}");
        }
    }

    #[test]
    fn a_distribution_that_contradicts_itself_is_refused() {
        let mut made = Distribution::new(1 << 40);
        made.record(5);
        made.record_censored(9);
        let good: serde_json::Value = serde_json::to_value(&made).unwrap();
        let mut other = Distribution::new(1 << 40);
        other.record_censored(77);
        let other = serde_json::to_value(&other).unwrap();
        let refused = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut bad = good.clone();
            change(&mut bad);
            serde_json::from_value::<Distribution>(bad).unwrap_err().to_string()
        };
        refused(&|bad| bad["count"] = 3.into());
        refused(&|bad| bad["censored"] = 0.into());
        refused(&|bad| bad["sum"] = "-1".into());
        refused(&|bad| bad["histogram"] = "AAAA".into());
        refused(&|bad| bad["histogram"] = "not base64 at all".into());
        let says = refused(&|bad| bad["censored_histogram"] = other["censored_histogram"].clone());
        assert!(says.contains("censored"), "{says}");
    }

    #[test]
    fn an_older_form_takes_the_largest_for_censored() {
        let mut plain = Distribution::new(10_000);
        (0..90).for_each(|_| plain.record(100));
        (0..10).for_each(|_| plain.record(5_000));
        let folded = Folded::of(&plain);
        let read = Folded::from_counted(folded.bytes(), folded.sum(), 10).unwrap().unfold();
        let mut expected = Distribution::new(10_000);
        (0..90).for_each(|_| expected.record(100));
        (0..10).for_each(|_| expected.record_censored(5_000));
        assert_eq!(read, expected);
        assert!(Folded::from_counted(folded.bytes(), folded.sum(), 101).is_err());
    }
}
