//! The figures of one trial, or of one of its plateaus. A figure that was not measured is missing.

use std::collections::BTreeMap;

use lab::figure::{Figure, Fold, Number, Step, Terms, Trial, Unit};
use lab::probe::{ProbeFigure, ProbeFold, ProbeReading};
use lab::record::TrialRecord;
use load::{Distribution, Failure, Recording};

#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    numbers: [Option<Number>; Figure::COUNT],
    /// Of a plateau what its probe read, by the figures' names.
    probe: BTreeMap<String, Number>,
    /// Failures by class, those that occurred, in the order of `Failure::ALL`; of a plateau none.
    pub failures: Vec<(Failure, u64)>,
}

impl Figures {
    /// The figures of a trial, as far as it got.
    #[must_use]
    pub fn of(trial: &TrialRecord, terms: Terms) -> Figures {
        let recording = trial.loaded.as_ref().map(|loaded| &loaded.recording);
        Figures::made(&Trial::of(trial, terms), recording)
    }

    /// The figures of a load that stands alone.
    #[must_use]
    pub fn of_load(recording: &Recording) -> Figures {
        Figures::made(&Trial::of_load(recording), Some(recording))
    }

    /// The figures of a trial on one of its plateaus, those of its probe included. Only counts and times if the
    /// plateau's measured part was never reached.
    pub(crate) fn of_plateau(
        trial: &TrialRecord,
        plateau: &load::Plateau,
        readings: &[ProbeReading],
    ) -> Figures {
        let step = Step::of(trial, plateau);
        let probe = readings.iter().flat_map(|reading| &reading.figures);
        let named = |figure: &ProbeFigure| {
            Some((figure.name.clone(), Number::exact(probed(&step, figure)?)?))
        };
        Figures {
            numbers: Figure::ALL.map(|figure| figure.of_step(&step)),
            probe: probe.filter_map(named).collect(),
            failures: Vec::new(),
        }
    }

    /// These numbers alone, as a file states them.
    #[must_use]
    pub(crate) fn of_numbers(stated: &[(Figure, Number)]) -> Figures {
        let mut numbers = [None; Figure::COUNT];
        for (figure, number) in stated {
            numbers[*figure as usize] = Some(*number);
        }
        Figures { numbers, probe: BTreeMap::new(), failures: Vec::new() }
    }

    fn made(trial: &Trial<'_>, recording: Option<&Recording>) -> Figures {
        let times =
            |failure| (failure, recording.map_or(0, |recording| recording.total.failures(failure)));
        let failures = Failure::ALL.map(times).into_iter().filter(|(_, times)| 0 < *times);
        Figures {
            numbers: Figure::ALL.map(|figure| figure.of_trial(trial)),
            probe: BTreeMap::new(),
            failures: failures.collect(),
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
    pub(crate) fn fold(self) -> Fold {
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

/// All values of all these distributions.
pub(crate) fn merged<'r>(all: impl Iterator<Item = &'r Distribution> + Clone) -> Distribution {
    // Trials of one run have the same limit; what a store holds may have any.
    let highest = all.clone().map(Distribution::high).max().unwrap_or(1);
    let mut merged = Distribution::new(highest);
    all.for_each(|distribution| merged.merge(distribution));
    merged
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::Launch;
    use load::SECOND;

    use super::*;
    use crate::fixture::{MS, ONE, fail, healthy, recording, series};

    fn value(trial: &TrialRecord, figure: Figure) -> Option<f64> {
        value_with(trial, ONE, figure)
    }

    fn value_with(trial: &TrialRecord, terms: Terms, figure: Figure) -> Option<f64> {
        Figures::of(trial, terms).get(figure).map(|number| number.value)
    }

    #[test]
    fn times_of_rounds_with_other_bounds_are_added_all_the_same() {
        let (mut short, mut long) = (Distribution::new(5 * SECOND), Distribution::new(60 * SECOND));
        short.record(1_000);
        long.record(30 * SECOND);
        let all = merged([short, long].iter());
        assert_eq!(all.count(), 2);
        assert!(all.quantile(1.0).is_some_and(|longest| 30 * SECOND <= longest.value));
        assert_eq!(merged([].iter()).quantile(0.5), None);
    }

    #[test]
    fn a_healthy_trial_s_numbers() {
        let mut trial = healthy();
        trial.series = vec![
            series("subject.cpu.total", "ns", &[(0, 0.0), (20 * SECOND, 10e9)]),
            series("subject.memory.rss", "bytes", &[(0, 3e6), (5 * SECOND, 4e6)]),
        ];
        let (ready_after, backlog) = (Some(30 * MS), Some(128));
        trial.launch = Some(Launch { ready_after, backlog, processes: 2, ..Launch::default() });
        for (figure, expected) in [
            (Figure::Throughput, Some(2_000.0)),
            (Figure::Offered, Some(2_000.0)),
            (Figure::OnTime, Some(100.0)),
            (Figure::Attempted, Some(20_000.0)),
            (Figure::FailedShare, Some(0.0)),
            (Figure::ResponseMean, Some(1.0)),
            (Figure::LateP99, Some(0.01)),
            (Figure::ConnectP50, None),
            (Figure::Received, Some(20_000.0 * 100.0 / 10.0 / 1_024.0)),
            (Figure::AnswerBytes, Some(100.0)),
            (Figure::CpuShare, Some(50.0)),
            (Figure::CpuPerThousand, Some(250.0)),
            (Figure::RssPeak, Some(4e6)),
            (Figure::PssPeak, None),
            (Figure::StartUp, Some(30.0)),
            (Figure::Backlog, Some(128.0)),
            (Figure::Processes, Some(2.0)),
            (Figure::GeneratorBusy, Some(50.0)),
        ] {
            let found = value(&trial, figure);
            let near = found.zip(expected).is_none_or(|(a, b)| (a - b).abs() <= b.abs() * 0.001);
            assert!(near && found.is_some() == expected.is_some(), "{figure:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_offered_is_what_the_schedule_said() {
        let mut trial = healthy();
        assert_eq!(value(&trial, Figure::Offered), Some(2_000.0));
        // However long the answers take.
        recording(&mut trial).scheduled_until = Some(6 * SECOND);
        assert_eq!(value(&trial, Figure::Offered), Some(4_000.0));
        recording(&mut trial).scheduled_until = Some(11 * SECOND);
        trial.key.point = Point::Sessions(400.0);
        let terms = Terms { calls: 10, ..ONE };
        assert_eq!(value_with(&trial, terms, Figure::Offered), Some(2_000.0), "all calls");
        trial.key.point = Point::Connections(10);
        assert_eq!(value(&trial, Figure::Offered), None, "a closed loop offers nothing");
    }

    #[test]
    fn what_was_given_up_makes_percentiles_bounds() {
        let mut trial = healthy();
        fail(&mut trial, Failure::Deadline, 400);
        let figures = Figures::of(&trial, ONE);
        let flags = |figure| figures.get(figure).map(|number| (number.is_bound, number.value));
        assert_eq!(flags(Figure::ResponseP99).map(|(is_bound, _)| is_bound), Some(true));
        assert_eq!(flags(Figure::ResponseMax).map(|(is_bound, _)| is_bound), Some(true));
        assert_eq!(flags(Figure::ResponseP50).map(|(is_bound, _)| is_bound), Some(false));
        assert_eq!(flags(Figure::FailedShare), Some((false, 2.0)));
        assert_eq!(figures.failures, [(Failure::Deadline, 400)]);
    }

    #[test]
    fn handshakes_have_their_time_and_their_share_of_resumed_ones() {
        let mut trial = healthy();
        assert_eq!(value(&trial, Figure::TlsP50), None, "without TLS");
        let mut security = load::Security::new(SECOND);
        (1..=1_000).for_each(|time| security.handshake.record(time * MS / 10));
        (security.agreed.full, security.agreed.resumed) = (250, 750);
        recording(&mut trial).total.security = Some(Box::new(security));
        for (figure, expected) in
            [(Figure::TlsP50, 50.0), (Figure::TlsP99, 99.0), (Figure::TlsResumed, 75.0)]
        {
            let found = value(&trial, figure).unwrap();
            assert!((found - expected).abs() <= expected * 0.002, "{figure:?}: {found}");
        }
    }

    #[test]
    fn a_trial_that_was_never_pressed_has_no_rates() {
        let mut trial = healthy();
        trial.loaded = None;
        let figures = Figures::of(&trial, ONE);
        assert!(Figure::ALL.into_iter().all(|figure| figures.get(figure).is_none()));
    }

    #[test]
    fn a_recording_of_nothing_divides_by_nothing() {
        let mut trial = healthy();
        let recording = recording(&mut trial);
        recording.total = load::Tally::new(SECOND);
        recording.measured_until = recording.measured_from;
        recording.lanes.clear();
        let figures = Figures::of(&trial, ONE);
        for figure in Figure::ALL {
            let is_finite = figures.get(figure).is_none_or(|number| number.value.is_finite());
            assert!(is_finite, "{figure:?}");
        }
        assert_eq!(figures.get(Figure::Throughput), None);
    }
}
