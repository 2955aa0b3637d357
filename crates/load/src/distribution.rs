//! Latencies as a mergeable histogram, with what is only known to be larger counted apart.

mod encoded;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

use crate::Nanos;
pub use encoded::EncodedError;

/// A histogram with its exact sum and the count of values that are only known to be larger.
#[derive(Clone, Debug)]
pub struct Distribution {
    pub(crate) values: Histogram<u64>,
    pub(crate) sum: u128,
    pub(crate) censored: u64,
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
    /// It falls among values that were given up: the truth is no less than this.
    pub is_censored: bool,
    /// At least ten samples lie beyond it.
    pub is_supported: bool,
}

/// A distribution in a few hundred bytes. `unfold` loses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// HdrHistogram's V2 format, not compressed. Sound: `encoded::judge` has nothing against it.
    bytes: Box<[u8]>,
    sum: u128,
    censored: u64,
}

impl Distribution {
    /// Values up to `max` are told apart; larger ones count as `max`.
    #[must_use]
    pub fn new(max: Nanos) -> Distribution {
        let values = Histogram::new_with_bounds(LOWEST, max.max(2), DIGITS)
            .expect("bounds and digits are valid");
        Distribution { values, sum: 0, censored: 0 }
    }

    /// Adds a value.
    pub fn record(&mut self, value: Nanos) {
        self.values.saturating_record(value);
        self.sum += u128::from(value);
    }

    /// A value that is only known to be no less than this, and than every other.
    pub fn record_censored(&mut self, at_least: Nanos) {
        self.record(at_least);
        self.censored += 1;
    }

    /// Adds all values of another with the same `max`.
    pub fn merge(&mut self, other: &Distribution) {
        self.values.add(&other.values).expect("all windows have the same bounds");
        self.sum += other.sum;
        self.censored += other.censored;
    }

    pub(crate) fn clear(&mut self) {
        // Clearing writes every page; an empty histogram is left as it is.
        if !self.values.is_empty() {
            self.values.reset();
        }
        (self.sum, self.censored) = (0, 0);
    }

    /// How many values there are, censored ones among them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.values.len()
    }

    /// How many are only known to be no less than the time-out.
    #[must_use]
    pub fn censored(&self) -> u64 {
        self.censored
    }

    /// Exact, from the sum; 0 of nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum as f64 / self.count() as f64 }
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

    /// The value that a share `q` of all values does not exceed; none of nothing.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Quantile> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count);
        let beyond = count - rank;
        Some(Quantile {
            value: self.values.value_at_quantile(q),
            is_censored: beyond < self.censored,
            is_supported: 10 <= beyond,
        })
    }

    /// The histogram itself.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.values
    }
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        // Histograms with different limits are equal to hdrhistogram if their counts are.
        self.values.high() == other.values.high()
            && self.values == other.values
            && (self.sum, self.censored) == (other.sum, other.censored)
    }
}

impl Folded {
    /// A distribution, folded.
    #[must_use]
    pub fn of(distribution: &Distribution) -> Folded {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&distribution.values, &mut bytes)
            .expect("writing to memory cannot fail");
        Folded {
            // The serializer reserves for the worst case; a copy keeps what there is.
            bytes: bytes.as_slice().into(),
            sum: distribution.sum,
            censored: distribution.censored,
        }
    }

    /// Folded again from what was kept. The bytes may come from anybody: they are judged before they
    /// are decoded, and what is refused allocates nothing.
    pub fn from_parts(bytes: &[u8], sum: u128, censored: u64) -> Result<Folded, EncodedError> {
        let count = encoded::judge(bytes)?;
        if count < censored {
            return Err(EncodedError::Censored);
        }
        Ok(Folded { bytes: bytes.into(), sum, censored })
    }

    /// The histogram in HdrHistogram's V2 format, not compressed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The exact sum of all values.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// How many values are only known to be no less than the time-out.
    #[must_use]
    pub fn censored(&self) -> u64 {
        self.censored
    }

    pub(crate) fn absorb(&mut self, other: &Folded) {
        let mut both = self.unfold();
        both.merge(&other.unfold());
        *self = Folded::of(&both);
    }

    /// The distribution again.
    #[must_use]
    pub fn unfold(&self) -> Distribution {
        let values =
            Deserializer::new().deserialize(&mut &self.bytes[..]).expect("these bytes are sound");
        Distribution { values, sum: self.sum, censored: self.censored }
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
}
