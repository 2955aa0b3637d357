//! The numbers that are compared: of each row a figure in its measured rounds.

use lab::figure::{Figure, Number};

use crate::board::{JudgedTrial, Row};

/// A figure in the rounds in which both were measured.
pub(super) fn rounds(a: &Row, b: &Row, figure: Figure) -> Vec<[Number; 2]> {
    let measured = |row: &'_ Row, repeat: u32| {
        let trial = row.trials.iter().find(|trial| trial.repeat == repeat && trial.is_measured());
        trial.and_then(|trial| number(trial, figure))
    };
    let both = |round: u32| Some([measured(a, round)?, measured(b, round)?]);
    a.trials.iter().filter_map(|trial| both(trial.repeat)).collect()
}

/// A figure in the rounds that were measured.
pub(super) fn numbers(row: &Row, figure: Figure) -> Vec<Number> {
    let measured = row.trials.iter().filter(|trial| trial.is_measured());
    measured.filter_map(|trial| number(trial, figure)).collect()
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
