//! A histogram without bounds that has memory only where it has values: a few blocks of 8 KiB, where an HdrHistogram of
//! ten seconds has 200 KiB. A lane allocates a block when a time falls into its octave for the first time.

use hdrhistogram::Histogram;

use super::empty;
use crate::Nanos;

/// Places of a block. HdrHistogram with three digits has the same places, in the same order.
const PLACES: usize = 1_024;

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
        let blocks = (place(high) / PLACES + 1).max(2);
        Sparse { blocks: vec![None; blocks], high, count: 0, sum: 0 }
    }

    pub(super) fn record_many(&mut self, value: Nanos, times: u64) {
        self.count_many(value, times);
        self.sum += u128::from(value) * u128::from(times);
    }

    fn count_many(&mut self, value: Nanos, times: u64) {
        let within = place(value);
        let is_within = within / PLACES < self.blocks.len();
        let place = if is_within { within } else { place(self.high) };
        let block = &mut self.blocks[place / PLACES];
        let block = block.get_or_insert_with(|| vec![0; PLACES].into_boxed_slice());
        block[place % PLACES] = block[place % PLACES].saturating_add(times);
        self.count = self.count.saturating_add(times);
    }

    pub(super) fn merge(&mut self, other: &Histogram<u64>, sum: u128) {
        for step in other.iter_recorded() {
            self.count_many(step.value_iterated_to(), step.count_at_value());
        }
        self.sum += sum;
    }

    pub(super) fn merge_sparse(&mut self, other: &Sparse) {
        other.each(|value, times| self.count_many(value, times));
        self.sum += other.sum;
    }

    /// Keeps its memory.
    pub(super) fn clear(&mut self) {
        self.blocks.iter_mut().flatten().for_each(|block| block.fill(0));
        (self.count, self.sum) = (0, 0);
    }

    pub(super) fn values(&self) -> Histogram<u64> {
        let mut values = empty(self.high);
        self.each(|value, times| values.saturating_record_n(value, times));
        values
    }

    fn each(&self, mut does: impl FnMut(Nanos, u64)) {
        for (number, block) in self.blocks.iter().enumerate() {
            for (at, &times) in block.iter().flat_map(|block| block.iter().enumerate()) {
                if 0 < times {
                    let shift = number.saturating_sub(1);
                    does(((number - shift) * PLACES + at) as Nanos * (1 << shift), times);
                }
            }
        }
    }
}

/// The first 2,048 times have a place each; of each further octave, 1,024 parts have one.
fn place(value: Nanos) -> usize {
    let shift = (value | (2 * PLACES as Nanos - 1)).ilog2() - (PLACES as Nanos).ilog2();
    shift as usize * PLACES + (value >> shift) as usize
}
