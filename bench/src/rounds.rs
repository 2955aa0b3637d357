//! Alternating runs, and the figures made of them: medians, and ratios within a round.

use anyhow::Result;

/// One contender's result of every round; a round that failed is none.
pub(crate) struct Series<R> {
    pub(crate) runs: Vec<Option<R>>,
    /// Why rounds failed, each reason once.
    pub(crate) failures: Vec<String>,
}

impl<R> Series<R> {
    /// One figure of every round.
    pub(crate) fn figures(&self, figure: impl Fn(&R) -> Option<f64>) -> Vec<Option<f64>> {
        self.runs.iter().map(|run| run.as_ref().and_then(&figure)).collect()
    }

    /// The median over the rounds that have it.
    pub(crate) fn median(&self, figure: impl Fn(&R) -> Option<f64>) -> Option<f64> {
        median(self.figures(figure).into_iter().flatten().collect())
    }
}

/// Runs every contender once a round. Each round begins with another one: the first one has the
/// caches and the clock frequency that another one left.
pub(crate) fn alternate<R>(
    contenders: usize,
    rounds: usize,
    mut run: impl FnMut(usize, usize) -> Result<R>,
) -> Vec<Series<R>> {
    let empty = || Series { runs: Vec::new(), failures: Vec::new() };
    let mut all: Vec<Series<R>> = (0..contenders).map(|_| empty()).collect();
    for round in 0..rounds {
        for turn in 0..contenders {
            let contender = (round + turn) % contenders;
            let outcome = run(round, contender);
            let series = &mut all[contender];
            if let Err(error) = &outcome {
                let reason = format!("{error:#}");
                if !series.failures.contains(&reason) {
                    series.failures.push(reason);
                }
            }
            series.runs.push(outcome.ok());
        }
    }
    all
}

/// The ratio of two contenders: each round's own, their median and their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// None if no round has both.
pub(crate) fn ratio(above: &[Option<f64>], below: &[Option<f64>]) -> Option<Ratio> {
    let pairs = above.iter().zip(below);
    let ratios: Vec<f64> = pairs.filter_map(|(above, below)| Some((*above)? / (*below)?)).collect();
    Some(Ratio {
        least: ratios.iter().copied().reduce(f64::min)?,
        most: ratios.iter().copied().reduce(f64::max)?,
        median: median(ratios)?,
    })
}

/// The middle one, or the mean of the two middle ones.
pub(crate) fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = figures[(figures.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_ratio_is_taken_within_a_round_and_skips_rounds_that_lack_one() {
        let above = [Some(1.0), Some(4.0), None, Some(9.0)];
        let below = [Some(2.0), Some(2.0), Some(1.0), Some(3.0)];
        let expected = Ratio { median: 2.0, least: 0.5, most: 3.0 };
        assert_eq!(ratio(&above, &below), Some(expected));
        assert_eq!(ratio(&[None], &[Some(1.0)]), None);
    }

    #[test]
    fn rounds_alternate_and_begin_with_another_each_time() {
        let mut order = Vec::new();
        alternate(2, 3, |round, contender| {
            order.push((round, contender));
            Ok(())
        });
        assert_eq!(order, [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]);
    }

    #[test]
    fn a_failed_round_leaves_a_gap_and_its_reason_once() {
        let all = alternate(1, 3, |round, _| if round == 1 { Ok(7.0) } else { bail!("refused") });
        assert_eq!(all[0].figures(|figure| Some(*figure)), [None, Some(7.0), None]);
        assert_eq!(all[0].failures, ["refused"]);
    }
}
