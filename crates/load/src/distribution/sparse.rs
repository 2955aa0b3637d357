//! A histogram that has memory only where it has values: a few blocks of 8 KiB, where an HdrHistogram of ten seconds has
//! 200 KiB. A lane allocates a block when a time falls into its octave for the first time.

use super::places::{Count, OCTAVE, octaves, place};
use crate::Nanos;

#[derive(Clone, Debug)]
pub(super) struct Sparse {
    blocks: Vec<Option<Box<[u64]>>>,
    pub(super) high: Nanos,
    pub(super) count: u64,
    pub(super) sum: u128,
    /// Of the values, those that are only lower bounds: exchanges that were given up would have taken longer. No place
    /// has more of them than values.
    pub(super) censored: Option<Box<Sparse>>,
}

impl Sparse {
    pub(super) fn new(high: Nanos) -> Sparse {
        let high = high.max(2);
        Sparse { blocks: vec![None; octaves(high)], high, count: 0, sum: 0, censored: None }
    }

    /// Where the lower bounds alone are counted.
    pub(super) fn bounds(&mut self) -> &mut Sparse {
        let high = self.high;
        self.censored.get_or_insert_with(|| Box::new(Sparse::new(high)))
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

    pub(super) fn merge(&mut self, counts: impl Iterator<Item = Count>, sum: u128) {
        for count in counts {
            self.count_many(count.lowest(), count.times);
            if 0 < count.censored {
                self.bounds().count_many(count.lowest(), count.censored);
            }
        }
        self.sum += sum;
    }

    /// Keeps its memory.
    pub(super) fn clear(&mut self) {
        self.blocks.iter_mut().flatten().for_each(|block| block.fill(0));
        (self.count, self.sum, self.censored) = (0, 0, None);
    }

    pub(super) fn counts(&self) -> Counts<'_> {
        Counts { sparse: self, place: 0 }
    }

    fn at(&self, place: usize) -> u64 {
        let block = self.blocks[place / OCTAVE].as_ref();
        block.map_or(0, |block| block[place % OCTAVE])
    }
}

/// The places that have values, in order.
pub(super) struct Counts<'s> {
    sparse: &'s Sparse,
    place: usize,
}

impl Iterator for Counts<'_> {
    type Item = Count;

    /// A loop without closures: it passes thousands of empty places for each that has values.
    fn next(&mut self) -> Option<Count> {
        loop {
            let (number, mut within) = (self.place / OCTAVE, self.place % OCTAVE);
            if let Some(block) = self.sparse.blocks.get(number)? {
                while within < OCTAVE {
                    let times = block[within];
                    within += 1;
                    if 0 < times {
                        let place = number * OCTAVE + within - 1;
                        self.place = place + 1;
                        let censored = self.sparse.censored.as_ref();
                        let censored = censored.map_or(0, |censored| censored.at(place));
                        return Some(Count { place, times, censored });
                    }
                }
            }
            self.place = (number + 1) * OCTAVE;
        }
    }
}
