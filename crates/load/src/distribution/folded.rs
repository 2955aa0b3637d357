//! A distribution in a few hundred bytes, and its stored and sent form: JSON with the histograms in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::encoded::{self, EncodedError};
use super::places::Count;
use super::sparse::Sparse;
use super::{Distribution, Form, rank};
use crate::Nanos;

/// A distribution in a few hundred bytes. `unfold` loses nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// HdrHistogram's V2 format, not compressed. Valid: `encoded::judge` has accepted it.
    values: Box<[u8]>,
    /// The censored values alone, in the same format; none if there are none.
    censored: Option<Box<[u8]>>,
    count: u64,
    censored_count: u64,
    sum: u128,
}

impl Folded {
    /// A distribution, folded.
    #[must_use]
    pub fn of(distribution: &Distribution) -> Folded {
        if let Form::Folded(folded) = &distribution.0 {
            return folded.clone();
        }
        let (mut values, mut censored) = (Vec::new(), Vec::new());
        for count in distribution.counts() {
            let place = count.place as u64;
            values.push((place, count.times.min(encoded::TIMES_MAX)));
            if 0 < count.censored {
                censored.push((place, count.censored.min(encoded::TIMES_MAX)));
            }
        }
        let high = distribution.high();
        let bytes = |counts: Vec<(u64, u64)>| {
            encoded::written(high, counts.into_iter())
                .expect("no count is larger than the format can hold")
        };
        Folded {
            values: bytes(values),
            censored: (!censored.is_empty()).then(|| bytes(censored)),
            count: distribution.count(),
            censored_count: distribution.censored(),
            sum: distribution.sum(),
        }
    }

    /// Builds a folded distribution from its stored parts. The bytes may come from any source: they are checked before
    /// anything is made of them, and refused bytes allocate nothing.
    pub(crate) fn from_parts(
        values: &[u8],
        censored: Option<&[u8]>,
        sum: u128,
    ) -> Result<Folded, EncodedError> {
        let count = encoded::judge(values)?;
        let censored_count = censored.map_or(Ok(0), encoded::judge)?;
        let folded = Folded {
            values: values.into(),
            censored: censored.filter(|_| 0 < censored_count).map(Into::into),
            count,
            censored_count,
            sum,
        };
        if folded.censored_count == 0 || folded.are_censored_among_all() {
            Ok(folded)
        } else {
            Err(EncodedError::Censored)
        }
    }

    /// No place has more censored values than values.
    fn are_censored_among_all(&self) -> bool {
        let Some(censored) = &self.censored else { return true };
        encoded::highest(&self.values) == encoded::highest(censored)
            && self.counts().all(|count| count.censored <= count.times)
            && self.counts().map(|count| count.censored).sum::<u64>() == self.censored_count
    }

    /// The histogram of all values in HdrHistogram's V2 format, not compressed.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.values
    }

    /// That histogram with deflate, in base64, as every HdrHistogram library reads it; censored values are at their bounds.
    /// None if there are no values.
    #[must_use]
    pub fn encoded(&self) -> Option<String> {
        (0 < self.count).then(|| STANDARD.encode(encoded::deflated(&self.values)))
    }

    /// As many values with the same sum, of which these quantiles, the lowest and the highest are what they were; every
    /// other value is counted at the next of them. What has censored values is left as it is.
    #[must_use]
    pub fn outlined(&self, quantiles: &[f64]) -> Folded {
        if 0 < self.censored_count || self.count == 0 {
            return self.clone();
        }
        let mut ranks: Vec<u64> = quantiles.iter().map(|q| rank(self.count, *q)).collect();
        ranks.extend([1, self.count]);
        ranks.sort_unstable();
        let mut ranks = ranks.into_iter().peekable();
        let (mut below, mut moved, mut kept) = (0, 0, Vec::new());
        for Count { place, times, .. } in self.counts() {
            below += times;
            moved += times;
            if ranks.next_if(|rank| *rank <= below).is_some() {
                while ranks.next_if(|rank| *rank <= below).is_some() {}
                kept.push((place as u64, moved));
                moved = 0;
            }
        }
        let values = encoded::written(self.high(), kept.into_iter());
        let values = values.expect("as many values were counted before");
        Folded { values, ..self.clone() }
    }

    /// How many values there are, including censored ones.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of all values, censored ones by their bounds.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// How many values are only known to be no less than some bound.
    #[must_use]
    pub fn censored(&self) -> u64 {
        self.censored_count
    }

    /// Values up to this one are distinguished.
    pub(crate) fn high(&self) -> Nanos {
        encoded::highest(&self.values)
    }

    /// Adds the values of another. Where both distinguish the same values, neither is unfolded.
    pub(crate) fn absorb(&mut self, other: &Folded) {
        if let Some(sum) = self.sum_with(other) {
            *self = sum;
            return;
        }
        let mut both = self.unfold();
        both.merge(&other.unfold());
        *self = Folded::of(&both);
    }

    fn sum_with(&self, other: &Folded) -> Option<Folded> {
        let censored = match (&self.censored, &other.censored) {
            (Some(one), Some(other)) => Some(encoded::sum(one, other)?),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        };
        Some(Folded {
            values: encoded::sum(&self.values, &other.values)?,
            censored,
            count: self.count.checked_add(other.count)?,
            censored_count: self.censored_count.checked_add(other.censored_count)?,
            sum: self.sum.checked_add(other.sum)?,
        })
    }

    /// The distribution, unfolded.
    #[must_use]
    pub fn unfold(&self) -> Distribution {
        Distribution(Form::Open(self.open()))
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = Count> {
        let mut censored = self.censored.iter().flat_map(|bytes| encoded::counts(bytes)).peekable();
        encoded::counts(&self.values).map(move |(place, times)| {
            let censored = censored.next_if(|bound| bound.0 == place).map_or(0, |bound| bound.1);
            Count { place: place as usize, times, censored }
        })
    }

    pub(super) fn open(&self) -> Sparse {
        let mut open = Sparse::new(self.high());
        open.merge(self.counts(), self.sum);
        open
    }
}

impl From<Folded> for Distribution {
    /// It stays folded until something is added to it.
    fn from(folded: Folded) -> Distribution {
        Distribution(Form::Folded(folded))
    }
}

/// A folded distribution as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    count: u64,
    #[serde(with = "crate::json_form::large")]
    sum: u128,
    histogram: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    censored: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    censored_histogram: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires it
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Serialize for Folded {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            count: self.count,
            sum: self.sum,
            histogram: STANDARD.encode(&self.values),
            censored: self.censored_count,
            censored_histogram: self.censored.as_ref().map(|bytes| STANDARD.encode(bytes)),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Folded {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Folded, D::Error> {
        use serde::de::Error;
        let written = Written::deserialize(deserializer)?;
        let values = STANDARD.decode(&written.histogram).map_err(D::Error::custom)?;
        let censored = written.censored_histogram.map(|text| STANDARD.decode(text));
        let censored = censored.transpose().map_err(D::Error::custom)?;
        let folded = Folded::from_parts(&values, censored.as_deref(), written.sum);
        let folded = folded.map_err(D::Error::custom)?;
        if (folded.count, folded.censored_count) != (written.count, written.censored) {
            return Err(D::Error::custom("a distribution that does not hold what it says"));
        }
        Ok(folded)
    }
}

impl Serialize for Distribution {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Folded::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Distribution, D::Error> {
        Folded::deserialize(deserializer).map(Distribution::from)
    }
}
