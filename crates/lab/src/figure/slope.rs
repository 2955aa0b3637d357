//! A line through the steps of held connections: how much a figure grows with each connection that is open.

use load::Plateau;

use super::source::Step;
use super::table::Figure;
use crate::record::TrialRecord;

/// A line through points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub slope: f64,
    /// Its standard error, and the degrees of freedom; none where two points leave none.
    pub error: Option<(f64, f64)>,
}

/// A figure of the steps of a trial over their open connections; none unless every step has it.
#[must_use]
pub fn line_of_steps(record: &TrialRecord, figure: Figure) -> Option<Line> {
    let steps = record.held.as_ref().map_or(&[][..], |held| &held.holding.plateaus);
    let measured = steps.iter().filter(|step| 0 < step.measured);
    let point =
        |step: &Plateau| Some((step.open as f64, figure.of_step(&Step::of(record, step))?.value));
    line(&measured.map(point).collect::<Option<Vec<_>>>()?)
}

/// Memory for each held connection: by PSS where every step has it, otherwise by RSS.
pub(super) fn memory_per_connection(record: &TrialRecord) -> Option<f64> {
    let by = |figure| line_of_steps(record, figure);
    Some(by(Figure::PssMean).or_else(|| by(Figure::RssMean))?.slope)
}

/// Least squares; none where all points have the same x.
#[must_use]
pub fn line(points: &[(f64, f64)]) -> Option<Line> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if points.len() < 2 || spread <= 0.0 {
        return None;
    }
    let slope = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    let off = |(x, y): &(f64, f64)| (y - mean_y - slope * (x - mean_x)).powi(2);
    let freedom = count - 2.0;
    let error = (0.0 < freedom)
        .then(|| ((points.iter().map(off).sum::<f64>() / freedom / spread).sqrt(), freedom));
    Some(Line { slope, error })
}
