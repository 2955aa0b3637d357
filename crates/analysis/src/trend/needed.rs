//! How many runs of a new level are needed before its change is announced: by simulation, as `make trend-truth` prints it.

/// A change, and the series in which it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spreads {
    /// The difference of the logarithms.
    pub(super) size: f64,
    /// The standard deviation of the logarithms around their level.
    pub(super) spread: f64,
    /// Runs of the old level.
    pub(super) runs: usize,
}

/// How many runs of the new level it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// So many suffice in nine of ten cases.
    Runs(usize),
    /// No number that was tried suffices: more than this.
    MoreThan(usize),
}

/// Sizes of changes, in standard deviations.
pub const SIZES: [f64; 5] = [1.0, 1.5, 2.0, 3.0, 5.0];
/// Runs of the old level.
pub const BEFORE: [usize; 3] = [10, 20, 40];
/// Shares of the level of a look: of one series, and of one among ten.
pub const SHARES: [f64; 2] = [1.0, 0.1];
/// No more runs were tried.
pub const TRIED: usize = 40;

/// For each share and size, by the runs of the old level; 0: more than were tried.
#[rustfmt::skip]
const TABLE: [[[usize; 3]; 5]; 2] = [
    [ // 1
        [0, 0, 0], // 1
        [0, 0, 31], // 1.5
        [0, 18, 13], // 2
        [8, 7, 6], // 3
        [6, 5, 5], // 5
    ],
    [ // 0.1
        [0, 0, 0], // 1
        [0, 0, 0], // 1.5
        [0, 31, 18], // 2
        [15, 10, 8], // 3
        [8, 5, 5], // 5
    ],
];

/// How many runs of the new level a change needs, from the nearest case that is no easier. None: the series is too
/// short, or one among so many that its case was not simulated.
#[must_use]
pub(super) fn needed(of: Spreads, share: f64) -> Option<Needed> {
    let strict = SHARES.iter().position(|tried| *tried <= share * (1.0 + 1e-9))?;
    let runs = BEFORE.iter().rposition(|&tried| tried <= of.runs)?;
    let sizes = if of.spread <= 0.0 { f64::INFINITY } else { of.size / of.spread };
    let found = match SIZES.iter().rposition(|&tried| tried <= sizes * (1.0 + 1e-9)) {
        Some(size) => TABLE[strict][size][runs],
        None => 0,
    };
    Some(if found == 0 { Needed::MoreThan(TRIED) } else { Needed::Runs(found) })
}
