//! The numbers that are compared: a figure in the rounds of a side, each with its number.

use lab::figure::{Figure, Number};

use crate::board::{JudgedTrial, Row};

/// The rounds that both sides have.
pub(super) fn in_both(a: &[(u32, Number)], b: &[(u32, Number)]) -> Vec<(u32, [Number; 2])> {
    let both = a.iter().filter_map(|(round, one)| Some((*round, [*one, in_round(b, *round)?])));
    both.collect()
}

/// The rounds that all of these sides have.
pub(super) fn in_all(sides: &[&[(u32, Number)]]) -> Vec<Vec<Number>> {
    let Some(first) = sides.first() else { return Vec::new() };
    let all = |(round, _): &(u32, Number)| sides.iter().map(|it| in_round(it, *round)).collect();
    first.iter().filter_map(all).collect()
}

fn in_round(side: &[(u32, Number)], round: u32) -> Option<Number> {
    side.iter().find(|(number, _)| *number == round).map(|(_, number)| *number)
}

impl Row {
    /// A figure in the rounds that were measured, each with its number.
    #[must_use]
    pub fn rounds(&self, figure: Figure) -> Vec<(u32, Number)> {
        let measured = self.measured_trials();
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
