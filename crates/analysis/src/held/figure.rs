//! The figures of a plateau of held connections.

use lab::figure::{Figure, Fold, Unit};
use lab::probe::ProbeFigure;

/// A figure of one plateau: one of dyno's own, or one that a probe's manifest declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlateauFigure<'d> {
    /// One of dyno's own, which all subjects have.
    Own(Figure),
    /// For the subjects with that probe.
    Probe(&'d ProbeFigure),
}

impl<'d> PlateauFigure<'d> {
    /// The stable name that stands in results.
    #[must_use]
    pub fn name(self) -> &'d str {
        match self {
            PlateauFigure::Own(figure) => figure.name(),
            PlateauFigure::Probe(figure) => &figure.name,
        }
    }

    /// What it counts.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            PlateauFigure::Own(figure) => figure.unit(),
            PlateauFigure::Probe(figure) => figure.unit,
        }
    }

    /// The heading of its column.
    #[must_use]
    pub fn heading(self) -> &'d str {
        match self {
            PlateauFigure::Own(figure) => figure.heading(),
            PlateauFigure::Probe(figure) => &figure.heading,
        }
    }

    /// What it is, in words that follow its heading.
    #[must_use]
    pub fn meaning(self) -> &'d str {
        match self {
            PlateauFigure::Own(figure) => figure.meaning(),
            PlateauFigure::Probe(figure) => &figure.meaning,
        }
    }

    /// How its rounds become one number.
    pub(super) fn fold(self) -> Fold {
        match self {
            PlateauFigure::Own(figure) => figure.fold(),
            PlateauFigure::Probe(figure) => figure.fold.rounds(figure.unit),
        }
    }
}

impl From<Figure> for PlateauFigure<'_> {
    fn from(figure: Figure) -> Self {
        PlateauFigure::Own(figure)
    }
}

impl<'d> From<&'d ProbeFigure> for PlateauFigure<'d> {
    fn from(figure: &'d ProbeFigure) -> Self {
        PlateauFigure::Probe(figure)
    }
}
