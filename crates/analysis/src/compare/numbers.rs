//! The numbers that are compared: of each row a figure in its measured rounds.

use lab::figure::{Figure, Number};

use crate::board::{JudgedTrial, Row};

/// A figure in the rounds in which both were measured.
pub(super) fn rounds(a: &Row, b: &Row, figure: Figure) -> Vec<[Number; 2]> {
    let both = |round: Vec<Number>| [round[0], round[1]];
    rounds_of_all(&[a, b], figure).into_iter().map(both).collect()
}

/// A figure in the rounds in which all of these were measured.
pub(super) fn rounds_of_all(rows: &[&Row], figure: Figure) -> Vec<Vec<Number>> {
    let Some(first) = rows.first() else { return Vec::new() };
    let all = |round: u32| rows.iter().map(|row| in_round(row, round, figure)).collect();
    first.trials.iter().filter_map(|trial| all(trial.repeat)).collect()
}

/// B's figure divided by A's, with the number of the round: of those in which both were measured.
pub(super) fn ratios(a: &Row, b: &Row, figure: Figure) -> Vec<(u32, f64)> {
    let rounds = a.trials.iter().map(|trial| trial.repeat);
    let ratio = |round: u32| {
        let [a, b] = [in_round(a, round, figure)?, in_round(b, round, figure)?];
        Some((round, b.value / a.value)).filter(|(_, ratio)| ratio.is_finite() && 0.0 < *ratio)
    };
    rounds.filter_map(ratio).collect()
}

fn in_round(row: &Row, round: u32, figure: Figure) -> Option<Number> {
    let trial = row.trials.iter().find(|trial| trial.repeat == round && trial.is_measured());
    trial.and_then(|trial| number(trial, figure))
}

impl Row {
    /// A figure in the rounds that were measured, each with its number.
    #[must_use]
    pub fn rounds(&self, figure: Figure) -> Vec<(u32, Number)> {
        let measured = self.trials.iter().filter(|trial| trial.is_measured());
        measured.filter_map(|trial| Some((trial.repeat, number(trial, figure)?))).collect()
    }
}

/// A figure of a round. There are no ratios of 0: of no request on time it is half a request, as for a count of none.
fn number(trial: &JudgedTrial, figure: Figure) -> Option<Number> {
    let number = trial.figures.get(figure)?;
    if figure != Figure::OnTime || 0.0 < number.value {
        return Some(number);
    }
    let due = trial.figures.get(Figure::Attempted)?.value;
    Some(Number { value: 50.0 / due.max(1.0), ..number })
}
