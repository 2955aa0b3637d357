//! How far shares of samples lie from the truth, as a multiple of the variance that samples have which do not depend on
//! one another. Fresh processes differ more than that, and work that comes in bursts fills one block and not the next.

use profile::BLOCKS;

use super::sampling::Sampling;

/// Of a single trial nothing shows how far processes differ. This is the largest spread seen, of standard deviations:
/// the kernel's line "wake the client" over six processes of one server.
const UNKNOWN: f64 = 1.7;
/// A line with fewer samples a trial is judged together with other such lines.
const EXPECTED_MIN: f64 = 5.0;
/// The spread of all lines counts as much as so many trials of one.
const OTHERS: f64 = 6.0;

/// How far a server's trials lie apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// The variance over that of independent samples, at least 1.
    factor: f64,
    pub(super) freedom: f64,
}

impl Spread {
    /// Of the trials of a server, pooled over its lines (Pearson's χ² by its degrees of freedom).
    pub(super) fn of(sampling: &Sampling<'_>) -> Spread {
        let total = by_trial(&sampling.total);
        let sum: f64 = total.iter().sum();
        let (mut groups, mut few) = (Vec::new(), vec![0.0; total.len()]);
        for line in sampling.lines.values().map(|blocks| by_trial(blocks)) {
            if EXPECTED_MIN * total.len() as f64 <= line.iter().sum() {
                groups.push(line);
            } else {
                few.iter_mut().zip(line).for_each(|(sum, count)| *sum += count);
            }
        }
        if EXPECTED_MIN * total.len() as f64 <= few.iter().sum() {
            groups.push(few);
        }
        let freedom = (total.len() as f64 - 1.0) * (groups.len() as f64 - 1.0);
        if freedom < 1.0 {
            return Spread { factor: UNKNOWN * UNKNOWN, freedom: f64::from(u32::MAX) };
        }
        let squares: f64 = groups
            .iter()
            .map(|group| {
                let share = group.iter().sum::<f64>() / sum;
                squares(group, &total, share) / share
            })
            .sum();
        Spread { factor: (squares / freedom).max(1.0), freedom }
    }

    /// The variance of a share, which so many of the samples in each block have.
    pub(super) fn variance(self, blocks: &[f64], total: &[f64]) -> f64 {
        let (part, whole) = (blocks.iter().sum::<f64>(), total.iter().sum::<f64>());
        if whole == 0.0 {
            return 0.0;
        }
        // A share of which no sample was seen is not known to be 0.
        let share = ((part + 0.5) / (whole + 1.0)).min(1.0);
        let factor = self.factor.max(self.moderated(blocks, total)).max(bursts(blocks, total));
        factor * share * (1.0 - share) / whole
    }

    /// A line may differ more between trials than the others do. Its own spread counts as its trials do, and that of all
    /// lines as so many more.
    fn moderated(self, blocks: &[f64], total: &[f64]) -> f64 {
        let (blocks, total) = (by_trial(blocks), by_trial(total));
        let whole: f64 = total.iter().sum();
        let share = blocks.iter().sum::<f64>() / whole;
        let expected = share * (1.0 - share);
        if expected <= 0.0 {
            return self.factor;
        }
        let own = squares(&blocks, &total, share) / expected;
        (OTHERS * self.factor + own) / (OTHERS + total.len() as f64 - 1.0)
    }
}

/// The variance of a share between the blocks of a trial, by that of independent samples.
fn bursts(blocks: &[f64], total: &[f64]) -> f64 {
    let (mut found, mut expected) = (0.0, 0.0);
    for (blocks, total) in blocks.chunks(BLOCKS).zip(total.chunks(BLOCKS)) {
        let sum: f64 = total.iter().sum();
        if 0.0 < sum {
            let share = blocks.iter().sum::<f64>() / sum;
            let seen = total.iter().filter(|samples| 0.0 < **samples).count() as f64;
            found += squares(blocks, total, share);
            expected += share * (1.0 - share) * (seen - 1.0);
        }
    }
    if 0.0 < expected { found / expected } else { 1.0 }
}

/// The squared deviations from this share, each by the number of samples.
fn squares(counts: &[f64], total: &[f64], share: f64) -> f64 {
    let both = counts.iter().zip(total).filter(|(_, samples)| 0.0 < **samples);
    both.map(|(count, samples)| (count - samples * share).powi(2) / samples).sum()
}

fn by_trial(blocks: &[f64]) -> Vec<f64> {
    blocks.chunks(BLOCKS).map(|trial| trial.iter().sum()).collect()
}
