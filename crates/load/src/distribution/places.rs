//! The places of a histogram with three significant digits: which times share one, and what is counted there. They are
//! those of HdrHistogram, in the same order.

use crate::Nanos;

/// An octave has half as many places as there are places for single values.
pub(super) const OCTAVE: usize = 1_024;

/// What is counted at one place. Queries read these in order, whatever form a distribution has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) place: usize,
    /// At least 1.
    pub(super) times: u64,
    /// Of them, those that are only known to be no less. `censored <= times`.
    pub(super) censored: u64,
}

impl Count {
    pub(super) fn lowest(&self) -> Nanos {
        lowest(self.place)
    }

    pub(super) fn median(&self) -> Nanos {
        lowest(self.place) + ((1 << shift(self.place)) >> 1)
    }

    pub(super) fn highest(&self) -> Nanos {
        lowest(self.place) + ((1 << shift(self.place)) - 1)
    }
}

/// The first 2,048 times have a place each; of each further octave, 1,024 parts have one.
pub(super) fn place(value: Nanos) -> usize {
    let shift = (value | (2 * OCTAVE as Nanos - 1)).ilog2() - (OCTAVE as Nanos).ilog2();
    shift as usize * OCTAVE + (value >> shift) as usize
}

/// How many blocks of places there are up to a value; the first two are the places for single values.
pub(super) fn octaves(highest: Nanos) -> usize {
    (place(highest) / OCTAVE + 1).max(2)
}

/// The lowest time at a place.
fn lowest(place: usize) -> Nanos {
    let shift = shift(place);
    ((place - shift * OCTAVE) as Nanos) << shift
}

fn shift(place: usize) -> usize {
    (place / OCTAVE).saturating_sub(1)
}
