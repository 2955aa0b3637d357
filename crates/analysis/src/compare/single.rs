//! Single rounds: they have a ratio and no interval, so they show no difference.

use lab::figure::Figure;

use super::Pair;
use crate::difference::{Comparison, Why};

/// A figure of both sides where single rounds allow no interval: it shows no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Single {
    /// A's mean and B's; of one run, their values in the only round that both have.
    pub means: [f64; 2],
    pub rounds: [usize; 2],
}

impl Single {
    /// B's mean divided by A's.
    #[must_use]
    pub fn ratio(self) -> f64 {
        self.means[1] / self.means[0]
    }
}

impl Pair<'_> {
    /// What was made of a figure.
    pub fn made(&self, figure: Figure) -> Result<Comparison, Why> {
        let found = self.figures.iter().find(|(of, _)| *of == figure);
        found.map_or(Err(Why::Missing), |(_, made)| *made)
    }

    /// What single rounds say of a figure. Bounds have no ratio.
    #[must_use]
    pub fn single(&self, figure: Figure) -> Option<Single> {
        if self.made(figure) != Err(Why::OneRound) {
            return None;
        }
        let (values, rounds) = match self.is_one_run {
            // Other rounds of a side are not the other side's.
            true => {
                let (_, both) = *self.rounds_of_both(figure).first()?;
                (both.map(|it| (it.value, it.is_bound)), [1, 1])
            }
            false => {
                let both = [self.a.estimate(figure)?, self.b.estimate(figure)?];
                let rounds = [self.a.measured(), self.b.measured()];
                (both.map(|it| (it.value, it.is_bound)), rounds)
            }
        };
        let is_one = values.iter().all(|(value, is_bound)| 0.0 < *value && !is_bound);
        is_one.then(|| Single { means: values.map(|(value, _)| value), rounds })
    }

    /// B's value divided by A's in single rounds.
    #[must_use]
    pub fn single_ratio(&self, figure: Figure) -> Option<f64> {
        self.single(figure).map(Single::ratio)
    }
}
