//! A histogram without bounds that has memory only where it has values: a few blocks of 8 KiB, where an HdrHistogram of
//! ten seconds has 200 KiB. A lane allocates a block when a time falls into its octave for the first time.

use super::places::{OCTAVE, lowest, place};
use crate::Nanos;

#[derive(Clone, Debug)]
pub(super) struct Sparse {
    blocks: Vec<Option<Box<[u64]>>>,
    pub(super) high: Nanos,
    pub(super) count: u64,
}

impl Sparse {
    pub(super) fn new(high: Nanos) -> Sparse {
        let high = high.max(2);
        let blocks = (place(high) / OCTAVE + 1).max(2);
        Sparse { blocks: vec![None; blocks], high, count: 0 }
    }

    pub(super) fn count_many(&mut self, value: Nanos, times: u64) {
        let within = place(value);
        let is_within = within / OCTAVE < self.blocks.len();
        let place = if is_within { within } else { place(self.high) };
        let block = &mut self.blocks[place / OCTAVE];
        let block = block.get_or_insert_with(|| vec![0; OCTAVE].into_boxed_slice());
        block[place % OCTAVE] = block[place % OCTAVE].saturating_add(times);
        self.count = self.count.saturating_add(times);
    }

    pub(super) fn merge(&mut self, other: &Sparse) {
        other.counts().for_each(|(place, times)| self.count_many(lowest(place), times));
    }

    /// Keeps its memory.
    pub(super) fn clear(&mut self) {
        self.blocks.iter_mut().flatten().for_each(|block| block.fill(0));
        self.count = 0;
    }

    /// How many values there are at a place.
    pub(super) fn at(&self, place: usize) -> u64 {
        let block = self.blocks.get(place / OCTAVE).and_then(Option::as_ref);
        block.map_or(0, |block| block[place % OCTAVE])
    }

    /// The places that have values, from low to high, and how many.
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let blocks = self.blocks.iter().enumerate();
        let places = blocks.flat_map(|(number, block)| {
            let times = block.iter().flat_map(|block| block.iter().enumerate());
            times.map(move |(within, &times)| (number * OCTAVE + within, times))
        });
        places.filter(|(_, times)| 0 < *times)
    }
}
