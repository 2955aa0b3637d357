//! Series by chance, always from a seed, in which no level changes.

use load::Chance;

use crate::pairs::{self, normal, value};

/// What the logarithms of a figure are like from run to run, in units of about one standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    /// Each run by itself.
    Independent(pairs::Law),
    /// One run, anywhere, is ten standard deviations off.
    Spike,
    /// The last run is ten standard deviations off.
    LastSpike,
    /// Each run has this correlation with the one before.
    Correlated(f64),
}

impl Law {
    pub(crate) const NORMAL: Law = Law::Independent(pairs::Law::Normal);
    /// All of them, with their names in the tables.
    pub(crate) const ALL: [(Law, &str); 5] = [
        (Law::NORMAL, "normal"),
        (Law::Independent(pairs::Law::HeavyTails), "Student's t, 3 degrees"),
        (Law::Independent(pairs::Law::OneInTen), "one in ten × 3"),
        (Law::Spike, "normal, one run 10 standard deviations off"),
        (Law::LastSpike, "normal, the last run 10 standard deviations off"),
    ];
    /// Laws for which a permutation test is not made, as their runs may not be put in another order.
    pub(crate) const CORRELATED: [(Law, &str); 2] = [
        (Law::Correlated(0.2), "normal, neighbours correlated by 0.2"),
        (Law::Correlated(0.5), "normal, neighbours correlated by 0.5"),
    ];
}

/// So many runs of this law.
pub(crate) fn series(law: Law, chance: &mut Chance, runs: usize) -> Vec<f64> {
    let mut run = || match law {
        Law::Independent(law) => value(law, chance, &mut 0.0),
        Law::Spike | Law::LastSpike | Law::Correlated(_) => normal(chance),
    };
    let mut values: Vec<f64> = (0..runs).map(|_| run()).collect();
    if let Law::Correlated(by) = law {
        let kept = (1.0 - by * by).sqrt();
        (1..runs).for_each(|run| values[run] = by * values[run - 1] + kept * values[run]);
    }
    let place = match law {
        Law::Spike => Some((chance.unit() * runs as f64) as usize),
        Law::LastSpike => runs.checked_sub(1),
        Law::Independent(_) | Law::Correlated(_) => None,
    };
    if let Some(value) = place.and_then(|place| values.get_mut(place)) {
        *value += 10.0;
    }
    values
}
