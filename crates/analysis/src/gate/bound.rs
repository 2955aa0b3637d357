//! How large Student's t must be at each look, so that all looks together are wrong as often as one may be.

use super::LOOKS;

/// The levels of the table below.
const LEVELS: [f64; 9] = [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2];

/// For each level, how large t must be at each look. By the look after n pairs, n/20 of the level is spent. With so few
/// pairs the tables for large samples do not hold, so these are simulated: `make gate-truth` prints them.
const BOUNDS: [[f64; 6]; 9] = [
    [8.850, 7.586, 6.374, 5.664, 4.778, 4.439],
    [7.660, 6.648, 5.757, 5.199, 4.443, 4.124],
    [6.611, 5.888, 5.179, 4.739, 4.064, 3.801],
    [5.378, 4.985, 4.448, 4.093, 3.567, 3.351],
    [4.570, 4.328, 3.928, 3.655, 3.200, 3.002],
    [3.854, 3.712, 3.420, 3.209, 2.821, 2.652],
    [3.004, 2.960, 2.767, 2.606, 2.290, 2.135],
    [2.421, 2.416, 2.268, 2.133, 1.851, 1.700],
    [1.873, 1.877, 1.750, 1.625, 1.352, 1.184],
];

/// The least and the greatest level for which there are bounds.
#[must_use]
pub fn level_allowed(level: f64) -> bool {
    (LEVELS[0]..=LEVELS[LEVELS.len() - 1]).contains(&level)
}

/// How large t must be after so many pairs; infinite where it is not looked.
#[must_use]
pub fn bound(level: f64, pairs: usize) -> f64 {
    let Some(look) = LOOKS.iter().position(|look| *look == pairs) else { return f64::INFINITY };
    let level = level.clamp(LEVELS[0], LEVELS[LEVELS.len() - 1]);
    let above = LEVELS.partition_point(|known| *known < level).clamp(1, LEVELS.len() - 1);
    let (low, high) = (above - 1, above);
    let share = (level / LEVELS[low]).ln() / (LEVELS[high] / LEVELS[low]).ln();
    let (from, to) = (BOUNDS[low][look].ln(), BOUNDS[high][look].ln());
    (from + (to - from) * share).exp()
}
