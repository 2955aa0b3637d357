//! A map of how many exchanges took how long, along time: strokes in five depths, as long as the depth stays the same.

use super::scale::Scale;
use crate::markup::{Markup, markup};

/// Shares at which each depth begins; a smaller share has the first depth, too.
const DEPTHS: [f64; 5] = [0.0, 0.01, 0.04, 0.12, 0.35];

/// A stroke's place: its row, counted from 1 ns, and the columns that it covers.
type Run = (i64, usize, usize);

/// How many exchanges took how long, along time.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    /// From and until, of each column.
    pub(crate) columns: Vec<(f64, f64)>,
    /// For each column: where a bin begins, and its share.
    pub(crate) bins: Vec<Vec<(f64, f64)>>,
    /// Bins per factor of ten.
    pub(crate) to_ten: f64,
}

impl Heat {
    pub(super) fn drawn(&self, along: &Scale, scale: &Scale) -> Markup {
        let step = 10f64.powf(1.0 / self.to_ten);
        let thick = (scale.at(scale.low()) - scale.at(scale.low() * step)).abs();
        let bin = |from: f64| ((from * 1e6).log10() * self.to_ten).round() as i64;
        let mut drawn = Markup::default();
        for (depth, runs) in runs(&self.bins, bin).iter().enumerate() {
            let mut path = String::new();
            for &(row, first, last) in runs {
                let ends = (self.columns.get(first), self.columns.get(last));
                let (Some(begin), Some(end)) = ends else { continue };
                let middle = 10f64.powf((row as f64 + 0.5) / self.to_ten) / 1e6;
                let (left, right) = (along.at(begin.0), along.at(end.1));
                path.push_str(&format!("M{left:.1} {:.1}h{:.1}", scale.at(middle), right - left));
            }
            if !path.is_empty() {
                drawn.push(&markup!(
                    "<path class=\"heat h{}\" stroke-width=\"{:.1}\" d=\"{}\"/>\n",
                    depth,
                    thick,
                    path
                ));
            }
        }
        drawn
    }
}

/// By depth, all strokes: neighbours of one depth are one.
fn runs(bins: &[Vec<(f64, f64)>], row: impl Fn(f64) -> i64) -> [Vec<Run>; 5] {
    let mut cells: Vec<(i64, usize, usize)> = Vec::new();
    for (column, bins) in bins.iter().enumerate() {
        for &(from, share) in bins {
            let depth = DEPTHS.iter().rposition(|least| *least <= share).unwrap_or(0);
            cells.push((row(from), column, depth));
        }
    }
    cells.sort_unstable();
    let mut runs: [Vec<Run>; 5] = Default::default();
    for (row, column, depth) in cells {
        match runs[depth].last_mut() {
            Some(last) if last.0 == row && last.2 + 1 == column => last.2 = column,
            Some(_) | None => runs[depth].push((row, column, column)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_depth_are_one_stroke() {
        let bins = vec![
            vec![(1.0, 0.5)],
            vec![(1.0, 0.9)],
            vec![(1.0, 0.001), (2.0, 0.5)],
            vec![(1.0, 0.5)],
        ];
        let runs = runs(&bins, |from| from as i64);
        assert_eq!(runs[4], [(1, 0, 1), (1, 3, 3), (2, 2, 2)]);
        assert_eq!(runs[0], [(1, 2, 2)]);
    }
}
