//! A line for each plateau of each trial: which, how the trial ended, every figure. A trial that did not reach a
//! plateau has one line without figures.

use analysis::{JudgedTrial, PlateauFigure, Round, RoundPlateau, Row};
use lab::experiment::Point;

use super::super::csv;
use super::super::findings::Findings;
use crate::render::csv::line as csv_line;

/// The whole table, with its heading.
pub(in crate::run) fn of(findings: &Findings<'_>) -> String {
    let mut heading: Vec<String> = csv::WORDS.map(String::from).to_vec();
    heading.push("plateau".into());
    let figures: Vec<PlateauFigure<'_>> = findings.board.plateau_figures().collect();
    heading.extend(figures.iter().map(|figure| figure.name().to_string()));
    let mut text = csv_line(&heading);
    for (workload, row, trial) in findings.weighed() {
        let first = csv::words(findings, workload, row, trial);
        match round(findings, workload, row, trial).map(|round| round.plateaus.as_slice()) {
            None | Some([]) => text.push_str(&line(&first, &figures, None)),
            Some(plateaus) => {
                plateaus.iter().for_each(|one| text.push_str(&line(&first, &figures, Some(one))));
            }
        }
    }
    text + &csv::damaged(findings, heading.len())
}

fn round<'t>(
    findings: &'t Findings<'_>,
    workload: &str,
    row: &Row,
    trial: &JudgedTrial,
) -> Option<&'t Round> {
    let ramps = findings.board.ramps.iter().find(|ramps| ramps.workload == workload)?;
    let held = ramps
        .subjects
        .iter()
        .find(|held| held.subject == row.subject && Point::Held(held.connections) == row.point)?;
    held.rounds.iter().find(|round| round.number == trial.number)
}

fn line(first: &[String], figures: &[PlateauFigure<'_>], plateau: Option<&RoundPlateau>) -> String {
    let mut cells = first.to_vec();
    cells.push(plateau.map_or(String::new(), |plateau| plateau.connections.to_string()));
    cells.extend(figures.iter().map(|figure| {
        let number = plateau.and_then(|plateau| plateau.figures.get(*figure));
        number.map_or(String::new(), |number| number.value.to_string())
    }));
    csv_line(&cells)
}
