//! Latencies as a mergeable histogram; values that are only lower bounds are counted separately.

mod encoded;
mod folded;
mod moments;
mod places;
mod sparse;

use serde::{Deserialize, Serialize};

use crate::Nanos;
pub use encoded::EncodedError;
pub use folded::Folded;
pub use moments::{Moment, Moments};
use places::{Count, place};
use sparse::Sparse;

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

/// A histogram with its exact sum, in which some values may be lower bounds. One that was read from a file stays folded, in
/// a few hundred bytes, until something is added to it. Queries read the counts of both forms where they are.
#[derive(Clone, Debug)]
pub struct Distribution(Form);

#[derive(Clone, Debug)]
enum Form {
    Open(Sparse),
    Folded(Folded),
}

/// The least value that is distinguished from zero.
const LOWEST: Nanos = 1;
/// Significant decimal digits.
const DIGITS: u8 = 3;

/// A number, and how reliable it is: a figure of one load or one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "figure_value")]
pub struct Number<T = f64> {
    /// in the unit in which its name ends
    pub value: T,
    /// requests were given up: the true value is no less
    pub is_bound: bool,
    /// at least ten samples lie beyond it
    pub is_supported: bool,
}

impl Number {
    /// A number that is neither a bound nor short of samples; none if it is not finite.
    #[must_use]
    pub fn exact(value: f64) -> Option<Number> {
        let number = Number { value, is_bound: false, is_supported: true };
        value.is_finite().then_some(number)
    }
}

/// A percentile of a distribution.
pub type Quantile = Number<Nanos>;

impl Default for Distribution {
    /// One that distinguishes hardly any value.
    fn default() -> Distribution {
        Distribution::new(0)
    }
}

impl Distribution {
    /// Values up to `max` are distinguished; larger ones count as `max`.
    #[must_use]
    pub fn new(max: Nanos) -> Distribution {
        Distribution(Form::Open(Sparse::new(max)))
    }

    /// Unfolds the histogram, so that values can be added.
    fn open_mut(&mut self) -> &mut Sparse {
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
    pub fn record_many(&mut self, value: Nanos, times: u64) {
        self.open_mut().record_many(value, times);
    }

    /// Adds a value that is only known to be no less than this.
    pub fn record_censored(&mut self, at_least: Nanos) {
        let open = self.open_mut();
        open.record_many(at_least, 1);
        open.bounds().record_many(at_least, 1);
    }

    /// Adds all values of another. Values above this one's largest count as this one's largest.
    pub fn merge(&mut self, other: &Distribution) {
        match (&mut self.0, &other.0) {
            _ if other.count() == 0 => {}
            (Form::Folded(folded), _) => folded.absorb(&Folded::of(other)),
            (Form::Open(open), Form::Open(other)) => open.merge(other.counts(), other.sum),
            (Form::Open(open), Form::Folded(other)) => open.merge(other.counts(), other.sum()),
        }
    }

    /// From now on it takes a few hundred bytes, also when others are merged into it.
    pub(crate) fn fold(&mut self) {
        self.0 = Form::Folded(Folded::of(self));
    }

    pub(crate) fn clear(&mut self) {
        match &mut self.0 {
            Form::Open(open) => open.clear(),
            Form::Folded(_) => *self = Distribution::new(self.high()),
        }
    }

    /// How many values there are, including censored ones.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            Form::Open(open) => open.count,
            Form::Folded(folded) => folded.count(),
        }
    }

    /// How many are only known to be no less than some bound.
    #[must_use]
    pub fn censored(&self) -> u64 {
        match &self.0 {
            Form::Open(open) => open.censored.as_ref().map_or(0, |censored| censored.count),
            Form::Folded(folded) => folded.censored(),
        }
    }

    /// Values up to this one are distinguished.
    #[must_use]
    pub fn high(&self) -> Nanos {
        match &self.0 {
            Form::Open(open) => open.high,
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

    fn counts(&self) -> Box<dyn Iterator<Item = Count> + '_> {
        match &self.0 {
            Form::Open(open) => Box::new(open.counts()),
            Form::Folded(folded) => Box::new(folded.counts()),
        }
    }

    /// The values from low to high, each with how often it occurs. A value is the largest of those that are not
    /// distinguished from it; censored values are at their bounds.
    pub fn values(&self) -> impl Iterator<Item = (Nanos, u64)> {
        self.counts().map(|count| (count.highest(), count.times))
    }

    /// The values that are known, in the same way: without the censored ones.
    pub fn known(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let known = self.counts().map(|count| (count.highest(), count.times - count.censored));
        known.filter(|(_, times)| 0 < *times)
    }

    /// How many values lie in this range, to the histogram's resolution of a thousandth; censored ones count at their
    /// bounds.
    #[must_use]
    pub fn count_between(&self, from: Nanos, upto: Nanos) -> u64 {
        let places = place(from)..=place(upto);
        let within = self.counts().filter(|count| places.contains(&count.place));
        within.map(|count| count.times).sum()
    }

    /// Whether the sum can be that of the values, as far as they are distinguished.
    pub(crate) fn is_sum_possible(&self) -> bool {
        let (mut least, mut most) = (0, 0_u128);
        for count in self.counts() {
            let times = u128::from(count.times);
            let is_cut = self.high() <= count.highest();
            let highest = if is_cut { u128::MAX } else { u128::from(count.highest()) };
            least += u128::from(count.lowest()) * times;
            most = highest.saturating_mul(times).saturating_add(most);
        }
        (least..=most).contains(&self.sum())
    }

    /// The smallest and the largest.
    #[must_use]
    pub fn extremes(&self) -> Option<(Nanos, Nanos)> {
        let mut counts = self.counts();
        let first = counts.next()?;
        Some((first.lowest(), counts.last().unwrap_or(first).highest()))
    }

    /// How many values are known to be no more than `limit`, to the histogram's resolution of a thousandth.
    #[must_use]
    pub fn known_within(&self, limit: Nanos) -> u64 {
        let last = place(limit);
        let within = self.counts().take_while(|count| count.place <= last);
        within.map(|count| count.times - count.censored).sum()
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
        let (value, most) = self.at_rank(rank(count, q));
        Some(Quantile {
            value,
            is_bound: most != Some(value),
            is_supported: is_supported(count, q),
        })
    }

    /// The least and the most that the value of this rank can be, from 1 to `count`; nothing limits the most where it may
    /// be one that was given up.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> (Nanos, Option<Nanos>) {
        let (mut upto, mut known, mut least) = (0, 0, None);
        for count in self.counts() {
            upto += count.times;
            known += count.times - count.censored;
            if rank <= upto {
                least = least.or(Some(count.highest()));
            }
            if rank <= known {
                return (least.unwrap_or(0), Some(count.highest()));
            }
        }
        (least.unwrap_or(0), None)
    }

    /// As `Folded::encoded`.
    #[must_use]
    pub fn encoded(&self) -> Option<String> {
        Folded::of(self).encoded()
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

impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        (self.count(), self.censored(), self.sum(), self.high())
            == (other.count(), other.censored(), other.sum(), other.high())
            && self.counts().eq(other.counts())
    }
}

#[cfg(test)]
mod tests;
