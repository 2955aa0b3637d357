//! Latencies as a mergeable histogram; values that are only lower bounds are counted separately.

mod encoded;
mod folded;
mod moments;

use std::borrow::Cow;

use hdrhistogram::Histogram;

use crate::Nanos;
pub use encoded::EncodedError;
pub use folded::Folded;
pub use moments::{Moment, Moments};

/// The percentiles that results have, by their names there.
pub const PERCENTILES: [(&str, f64); 7] = [
    ("p50_ns", 0.5),
    ("p75_ns", 0.75),
    ("p90_ns", 0.9),
    ("p95_ns", 0.95),
    ("p99_ns", 0.99),
    ("p99_9_ns", 0.999),
    ("p99_99_ns", 0.9999),
];

/// A histogram with its exact sum, in which some values may be lower bounds. One that was read from a file stays
/// folded, in a few hundred bytes, until something is added to it: each query unfolds it for a moment.
#[derive(Clone, Debug)]
pub struct Distribution(Form);

#[derive(Clone, Debug)]
enum Form {
    Open(Open),
    Folded(Folded),
}

#[derive(Clone, Debug)]
struct Open {
    /// All values; for censored values, their lower bounds.
    values: Histogram<u64>,
    /// The lower bounds alone: exchanges that were given up would have taken longer. `censored <= values` at each
    /// place.
    censored: Option<Box<Histogram<u64>>>,
    sum: u128,
}

/// The least value that is distinguished from zero.
const LOWEST: Nanos = 1;
/// Significant decimal digits.
const DIGITS: u8 = 3;

/// A percentile, and how reliable it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantile {
    /// In nanoseconds.
    pub value: Nanos,
    /// A bound: the true value is no less than this, and may be more.
    pub is_bound: bool,
    /// At least ten samples lie beyond it.
    pub is_supported: bool,
}

impl Distribution {
    /// Values up to `max` are distinguished; larger ones count as `max`.
    #[must_use]
    pub fn new(max: Nanos) -> Distribution {
        Distribution(Form::Open(Open { values: empty(max), censored: None, sum: 0 }))
    }

    fn open(&self) -> Cow<'_, Open> {
        match &self.0 {
            Form::Open(open) => Cow::Borrowed(open),
            Form::Folded(folded) => Cow::Owned(folded.open()),
        }
    }

    /// Unfolds the histogram, so that values can be added.
    fn open_mut(&mut self) -> &mut Open {
        if let Form::Folded(folded) = &self.0 {
            self.0 = Form::Open(folded.open());
        }
        match &mut self.0 {
            Form::Open(open) => open,
            Form::Folded(_) => unreachable!("it was opened"),
        }
    }

    /// Adds a value.
    pub fn record(&mut self, value: Nanos) {
        self.record_many(value, 1);
    }

    /// Adds so many values that are equal.
    pub(crate) fn record_many(&mut self, value: Nanos, times: u64) {
        let open = self.open_mut();
        open.values.saturating_record_n(value, times);
        open.sum += u128::from(value) * u128::from(times);
    }

    /// Adds a value that is only known to be no less than this.
    pub fn record_censored(&mut self, at_least: Nanos) {
        self.record(at_least);
        let open = self.open_mut();
        let high = open.values.high();
        open.censored.get_or_insert_with(|| Box::new(empty(high))).saturating_record(at_least);
    }

    /// Adds all values of another. Values above this one's largest count as this one's largest.
    pub fn merge(&mut self, other: &Distribution) {
        // To be unfolded, an empty one would need two hundred kilobytes.
        if other.count() == 0 {
            return;
        }
        if let Form::Folded(folded) = &mut self.0 {
            return folded.absorb(&Folded::of(other));
        }
        let (open, other) = (self.open_mut(), other.open());
        add(&mut open.values, &other.values);
        if let Some(theirs) = other.censored.as_deref().filter(|theirs| !theirs.is_empty()) {
            let high = open.values.high();
            add(open.censored.get_or_insert_with(|| Box::new(empty(high))), theirs);
        }
        open.sum += other.sum;
    }

    /// From now on it takes a few hundred bytes, also when others are merged into it.
    pub(crate) fn fold(&mut self) {
        self.0 = Form::Folded(Folded::of(self));
    }

    pub(crate) fn clear(&mut self) {
        let open = self.open_mut();
        // Clearing writes every page; an empty histogram is left as it is.
        if !open.values.is_empty() {
            open.values.reset();
        }
        (open.censored, open.sum) = (None, 0);
    }

    /// How many values there are, including censored ones.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            Form::Open(open) => open.values.len(),
            Form::Folded(folded) => folded.count(),
        }
    }

    /// How many are only known to be no less than some bound.
    #[must_use]
    pub fn censored(&self) -> u64 {
        match &self.0 {
            Form::Open(open) => open.censored.as_ref().map_or(0, |censored| censored.len()),
            Form::Folded(folded) => folded.censored(),
        }
    }

    /// Values up to this one are distinguished.
    pub(crate) fn high(&self) -> Nanos {
        match &self.0 {
            Form::Open(open) => open.values.high(),
            Form::Folded(folded) => folded.high(),
        }
    }

    /// Exact, from the sum; 0 if there are no values. A lower bound where values are censored.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum() as f64 / self.count() as f64 }
    }

    /// The exact sum of all values, censored ones by their bounds.
    #[must_use]
    pub fn sum(&self) -> u128 {
        match &self.0 {
            Form::Open(open) => open.sum,
            Form::Folded(folded) => folded.sum(),
        }
    }

    /// The smallest and the largest.
    #[must_use]
    pub fn extremes(&self) -> Option<(Nanos, Nanos)> {
        let of = |values: &Histogram<u64>| (values.min(), values.max());
        (0 < self.count()).then(|| of(&self.open().values))
    }

    /// How many values are known to be no more than `limit`, to the histogram's resolution of a thousandth.
    #[must_use]
    pub fn known_within(&self, limit: Nanos) -> u64 {
        let open = self.open();
        let censored = open.censored.as_ref().map_or(0, |censored| upto(censored, limit));
        upto(&open.values, limit) - censored
    }

    /// The value that a share `q` of all values does not exceed; none if there are no values.
    ///
    /// A censored value may be anything from its bound up. Counted at its bound, it gives the least that the percentile
    /// can be; counted as infinite, the most. Where the two differ, the least is shown, as a bound. Nothing is assumed
    /// about how long the exchanges that were given up would have taken.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Quantile> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let open = self.open();
        let rank = rank(count, q);
        let least = open.values.value_at_quantile(q);
        Some(Quantile {
            value: least,
            is_bound: 0 < self.censored() && open.most_at(rank) != Some(least),
            is_supported: is_supported(count, q),
        })
    }

    /// The least and the most that the value of this rank can be, from 1 to `count`; nothing limits the most where it may
    /// be one that was given up.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> (Nanos, Option<Nanos>) {
        let open = self.open();
        let mut upto = 0;
        let least = open.values.iter_recorded().find(|step| {
            upto += step.count_at_value();
            rank <= upto
        });
        (
            least.map_or(0, |step| open.values.highest_equivalent(step.value_iterated_to())),
            open.most_at(rank),
        )
    }

    /// The histogram of all values, censored ones at their bounds.
    #[must_use]
    pub fn histogram(&self) -> Cow<'_, Histogram<u64>> {
        match &self.0 {
            Form::Open(open) => Cow::Borrowed(&open.values),
            Form::Folded(folded) => Cow::Owned(folded.open().values),
        }
    }
}

/// The place of a percentile among so many ordered values.
fn rank(count: u64, q: f64) -> u64 {
    ((q * count as f64).ceil() as u64).clamp(1, count.max(1))
}

/// Whether so many values support this percentile: at least ten of them lie beyond it.
#[must_use]
pub fn is_supported(count: u64, q: f64) -> bool {
    10 <= count.saturating_sub(rank(count, q))
}

impl Open {
    /// The value with this rank if all that was given up had taken forever; none if the value is one of these.
    fn most_at(&self, rank: u64) -> Option<Nanos> {
        let mut before = 0;
        for step in self.values.iter_recorded() {
            before += step.count_at_value() - self.censored_at(step.value_iterated_to());
            if rank <= before {
                return Some(self.values.highest_equivalent(step.value_iterated_to()));
            }
        }
        None
    }
}

fn empty(max: Nanos) -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST, max.max(2), DIGITS).expect("bounds and digits are valid")
}

/// Adds values to a histogram that may have other bounds.
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
        if (self.count(), self.censored(), self.sum())
            != (other.count(), other.censored(), other.sum())
        {
            return false;
        }
        let (one, other) = (self.open(), other.open());
        // hdrhistogram takes histograms with different limits for equal if their counts are.
        one.values.high() == other.values.high()
            && one.values == other.values
            && (self.censored() == 0 || one.censored == other.censored)
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
        assert_eq!((p90.value, p90.is_bound, p90.is_supported), (100, false, true));
        let p91 = distribution.quantile(0.91).unwrap();
        assert!(p91.is_bound && !p91.is_supported, "{p91:?}");
    }

    /// A value that was given up early may have been anything later on: a percentile above it is a bound, and
    /// percentiles that it cannot move are exact.
    #[test]
    fn a_percentile_that_a_censored_value_may_move_is_a_bound() {
        let mut distribution = Distribution::new(10_000);
        (1..=89).for_each(|value| distribution.record(value));
        (0..10).for_each(|_| distribution.record_censored(50));
        distribution.record(1_000);
        let at = |q: f64| distribution.quantile(q).map(|found| (found.value, found.is_bound));
        assert_eq!(at(0.49), Some((49, false)), "below all that was given up");
        assert_eq!(at(0.6), Some((50, true)), "it may be anything from 50 to 60");
        assert_eq!(at(0.9), Some((80, true)), "it may be anything from 80 up");
        assert_eq!(at(1.0), Some((1_000, true)), "no value is known to be the largest");
        assert_eq!((distribution.known_within(50), distribution.known_within(1_000)), (50, 90));
    }

    /// The truth behind censored values lies where the bounds say, whatever the reason for giving up.
    #[test]
    fn bounds_hold_the_truth_however_values_were_given_up() {
        let mut drawn = wire::Chance::new(1);
        let mut chance = || drawn.draw() >> 33;
        for _ in 0..200 {
            let (mut seen, mut truth) = (Distribution::new(1 << 30), Vec::new());
            for _ in 0..300 {
                let value = 1 + chance() % 2_000;
                // The slower a value, the more likely it is given up, at any age.
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
                assert!(found.is_bound || found.value == is, "{q}: {found:?} {is}");
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
        all.record_censored(1 << 20);
        parts[1].record_censored(1 << 20);
        let [merged, other] = parts;
        for (is_folded, is_other_folded) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let (mut merged, mut other) = (merged.clone(), other.clone());
            if is_folded {
                merged.fold();
            }
            if is_other_folded {
                other.fold();
            }
            merged.merge(&other);
            assert_eq!(merged, all);
            assert_eq!(merged.mean().to_bits(), all.mean().to_bits());
            assert_eq!(matches!(merged.0, Form::Folded(_)), is_folded);
        }
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
