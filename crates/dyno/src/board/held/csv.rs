//! A line for each plateau of each trial: which, how the trial ended, every figure. A trial that did not come so far has
//! one line without figures.

use analysis::{HeldFigure, Round, RoundPlateau, Row, Weighed};
use lab::experiment::Point;

use super::super::{Told, csv};

/// The whole table, with its heading.
pub(in crate::board) fn of(told: &Told<'_>) -> String {
    let mut heading: Vec<String> = csv::WORDS.map(String::from).to_vec();
    heading.push("plateau".into());
    heading.extend(HeldFigure::ALL.map(|figure| figure.name().to_string()));
    let mut text = csv::line(&heading);
    for (workload, row, trial) in told.weighed() {
        let first = csv::words(told, workload, row, trial);
        match round(told, workload, row, trial).map(|round| round.plateaus.as_slice()) {
            None | Some([]) => text.push_str(&line(&first, None)),
            Some(plateaus) => {
                plateaus.iter().for_each(|one| text.push_str(&line(&first, Some(one))));
            }
        }
    }
    text
}

fn round<'t>(told: &'t Told<'_>, workload: &str, row: &Row, trial: &Weighed) -> Option<&'t Round> {
    let ramps = told.board.ramps.iter().find(|ramps| ramps.workload == workload)?;
    let climb = ramps.climbs.iter().find(|climb| {
        climb.subject == row.subject && Point::Held(climb.connections) == row.point
    })?;
    climb.rounds.iter().find(|round| round.number == trial.number)
}

fn line(first: &[String], plateau: Option<&RoundPlateau>) -> String {
    let mut cells = first.to_vec();
    cells.push(plateau.map_or(String::new(), |plateau| plateau.connections.to_string()));
    cells.extend(HeldFigure::ALL.map(|figure| {
        let number = plateau.and_then(|plateau| plateau.figures.get(figure));
        number.map_or(String::new(), |number| number.value.to_string())
    }));
    csv::line(&cells)
}
