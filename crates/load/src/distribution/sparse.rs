//! A histogram without bounds that has memory only where it has values: a few blocks of 8 KiB, where an HdrHistogram of
//! ten seconds has 200 KiB. A lane allocates a block when a time falls into its octave for the first time.

use hdrhistogram::Histogram;

use super::empty;
use super::places::{Count, OCTAVE, place};
use crate::Nanos;

#[derive(Clone, Debug)]
pub(super) struct Sparse {
    blocks: Vec<Option<Box<[u64]>>>,
    pub(super) high: Nanos,
    pub(super) count: u64,
    pub(super) sum: u128,
}

impl Sparse {
    pub(super) fn new(high: Nanos) -> Sparse {
        let high = high.max(2);
        let blocks = (place(high) / OCTAVE + 1).max(2);
        Sparse { blocks: vec![None; blocks], high, count: 0, sum: 0 }
    }

    pub(super) fn record_many(&mut self, value: Nanos, times: u64) {
        self.count_many(value, times);
        self.sum += u128::from(value) * u128::from(times);
    }

    fn count_many(&mut self, value: Nanos, times: u64) {
        let within = place(value);
        let is_within = within / OCTAVE < self.blocks.len();
        let place = if is_within { within } else { place(self.high) };
        let block = &mut self.blocks[place / OCTAVE];
        let block = block.get_or_insert_with(|| vec![0; OCTAVE].into_boxed_slice());
        block[place % OCTAVE] = block[place % OCTAVE].saturating_add(times);
        self.count = self.count.saturating_add(times);
    }

    pub(super) fn merge(&mut self, other: &Histogram<u64>, sum: u128) {
        for step in other.iter_recorded() {
            self.count_many(step.value_iterated_to(), step.count_at_value());
        }
        self.sum += sum;
    }

    pub(super) fn merge_sparse(&mut self, other: &Sparse) {
        other.counts().for_each(|count| self.count_many(count.lowest(), count.times));
        self.sum += other.sum;
    }

    /// Keeps its memory.
    pub(super) fn clear(&mut self) {
        self.blocks.iter_mut().flatten().for_each(|block| block.fill(0));
        (self.count, self.sum) = (0, 0);
    }

    pub(super) fn values(&self) -> Histogram<u64> {
        let mut values = empty(self.high);
        self.counts().for_each(|count| values.saturating_record_n(count.lowest(), count.times));
        values
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = Count> {
        let blocks = self.blocks.iter().enumerate();
        let places = blocks.flat_map(|(number, block)| {
            let times = block.iter().flat_map(|block| block.iter().enumerate());
            times.map(move |(within, &times)| (number * OCTAVE + within, times))
        });
        let counted = places.filter(|(_, times)| 0 < *times);
        counted.map(|(place, times)| Count { place, times, censored: 0 })
    }
}
