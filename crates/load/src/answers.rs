//! What whole answers looked like: their statuses and their sizes.

use serde::{Deserialize, Serialize};

/// The statuses and sizes of whole answers, whether they were right or wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// How many answers had each status, by status.
    statuses: Vec<(u16, u64)>,
    /// Octets of the smallest answer, its head included.
    smallest_bytes: u64,
    /// Octets of the largest one.
    largest_bytes: u64,
    /// Octets of all.
    bytes: u64,
}

impl Answers {
    /// Counts an answer. It allocates only for a status that it sees for the first time.
    pub fn count(&mut self, status: u16, bytes: u64) {
        let one =
            Answers { statuses: Vec::new(), smallest_bytes: bytes, largest_bytes: bytes, bytes };
        self.add_sizes(&one);
        self.add_status(status, 1);
    }

    /// How many answers had each status, by status.
    #[must_use]
    pub fn statuses(&self) -> &[(u16, u64)] {
        &self.statuses
    }

    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.statuses.iter().map(|(_, times)| times).sum()
    }

    /// Octets of the smallest and of the largest answer, heads included; none without an answer.
    #[must_use]
    pub fn extremes_bytes(&self) -> Option<(u64, u64)> {
        (0 < self.total()).then_some((self.smallest_bytes, self.largest_bytes))
    }

    /// Octets of an answer, on average; none without an answer.
    #[must_use]
    pub fn mean_bytes(&self) -> Option<f64> {
        (0 < self.total()).then(|| self.bytes as f64 / self.total() as f64)
    }

    /// Whether no figure is higher than these, and there are no more statuses than exist.
    pub(crate) fn are_within(&self, count: u64, bytes: u64) -> bool {
        let sizes = [self.smallest_bytes, self.largest_bytes, self.bytes];
        self.statuses.len() <= 1_000
            && self.statuses.iter().all(|(_, times)| *times <= count)
            && sizes.iter().all(|size| *size <= bytes)
    }

    /// Whether so many answers can have these sizes.
    pub(crate) fn are_sizes_possible(&self) -> bool {
        let total = u128::from(self.total());
        let [least, most] =
            [self.smallest_bytes, self.largest_bytes].map(|it| total * u128::from(it));
        (least..=most).contains(&self.bytes.into())
    }

    pub(crate) fn merge(&mut self, other: &Answers) {
        if other.statuses.is_empty() {
            return;
        }
        self.add_sizes(other);
        other.statuses.iter().for_each(|&(status, times)| self.add_status(status, times));
    }

    /// Must come before the statuses are added: without one, nothing has been counted.
    fn add_sizes(&mut self, other: &Answers) {
        let is_first = self.statuses.is_empty();
        let smallest = if is_first { u64::MAX } else { self.smallest_bytes };
        self.smallest_bytes = smallest.min(other.smallest_bytes);
        self.largest_bytes = self.largest_bytes.max(other.largest_bytes);
        self.bytes += other.bytes;
    }

    fn add_status(&mut self, status: u16, times: u64) {
        match self.statuses.iter_mut().find(|(seen, _)| *seen == status) {
            Some((_, count)) => *count += times,
            None => {
                let place = self.statuses.partition_point(|(seen, _)| *seen < status);
                self.statuses.insert(place, (status, times));
            }
        }
    }

    /// Empties it without freeing its memory.
    pub(crate) fn clear(&mut self) {
        self.statuses.clear();
        (self.smallest_bytes, self.largest_bytes, self.bytes) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_several_lanes_add_up() {
        let mut one = Answers::default();
        one.count(200, 150);
        one.count(404, 90);
        let mut other = Answers::default();
        other.count(200, 160);
        one.merge(&other);
        one.merge(&Answers::default());
        assert_eq!(one.statuses(), [(200, 2), (404, 1)]);
        assert_eq!((one.total(), one.extremes_bytes()), (3, Some((90, 160))));
        assert_eq!(one.mean_bytes().map(f64::round), Some(133.0));
        one.clear();
        assert_eq!((one.extremes_bytes(), one.mean_bytes()), (None, None));
        one.merge(&other);
        assert_eq!(one.extremes_bytes(), Some((160, 160)), "what was cleared is not remembered");
    }
}
