//! The figures of one plateau of one trial, or of several trials together. A figure that was not measured is missing.

use std::collections::BTreeMap;

use lab::figure::{Figure, Number, Step};
use lab::probe::{ProbeFigure, ProbeFold, ProbeReading};
use lab::record::TrialRecord;
use load::Plateau;

use super::PlateauFigure;

/// All figures of a plateau.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNumbers {
    numbers: [Option<Number>; Figure::COUNT],
    /// Of what a probe read, by the figures' names.
    probe: BTreeMap<String, Number>,
}

impl HeldNumbers {
    /// The figures of a trial on one of its plateaus, those of its probe included. Only counts and times if the
    /// plateau's measured part was never reached.
    pub(super) fn of(
        trial: &TrialRecord,
        plateau: &Plateau,
        readings: &[ProbeReading],
    ) -> HeldNumbers {
        let step = Step::of(trial, plateau);
        let figures = readings.iter().flat_map(|reading| &reading.figures);
        let named = |figure: &ProbeFigure| {
            Some((figure.name.clone(), Number::exact(probed(&step, figure)?)?))
        };
        HeldNumbers {
            numbers: Figure::ALL.map(|figure| figure.of_step(&step)),
            probe: figures.filter_map(named).collect(),
        }
    }

    /// A number, if there is one.
    #[must_use]
    pub fn get<'f>(&self, figure: impl Into<PlateauFigure<'f>>) -> Option<Number> {
        match figure.into() {
            PlateauFigure::Own(figure) => self.numbers[figure as usize],
            PlateauFigure::Probe(figure) => self.probe.get(&figure.name).copied(),
        }
    }
}

/// A figure of a probe's readings in the measured part.
fn probed(step: &Step<'_>, figure: &ProbeFigure) -> Option<f64> {
    let name = figure.reading.as_str();
    let folded = match &figure.fold {
        ProbeFold::Mean => step.mean(name),
        ProbeFold::Max => step.greatest(name),
        ProbeFold::Growth => step.growth_per_s(name),
        ProbeFold::Per(other) => {
            let many = step.mean(other).filter(|many| 0.0 < *many);
            step.mean(name).zip(many).map(|(sum, many)| sum / many)
        }
    };
    folded.map(|value| value * figure.scale)
}
