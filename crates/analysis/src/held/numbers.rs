//! The figures of one plateau of one trial, or of several trials together. A figure that was not measured is missing.

use std::collections::BTreeMap;

use lab::probe::{ProbeFigure, ProbeFold, ProbeReading};
use lab::record::TrialRecord;
use load::{Distribution, Nanos, Plateau, SECOND};

use super::{HeldFigure, PlateauFigure};
use crate::figures::Number;
use crate::readings;

/// All figures of a plateau.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNumbers {
    numbers: [Option<Number>; HeldFigure::COUNT],
    /// Of what a probe read, by the figures' names.
    probe: BTreeMap<String, Number>,
}

impl HeldNumbers {
    /// The figures of a trial on one of its plateaus, those of its probe included.
    pub(super) fn of(
        trial: &TrialRecord,
        plateau: &Plateau,
        readings: &[ProbeReading],
    ) -> HeldNumbers {
        let figures = readings.iter().flat_map(|reading| &reading.figures);
        let span = measured(trial, plateau);
        let named = |figure: &ProbeFigure| {
            let value = probed(trial, span?, figure)?;
            Some((figure.name.clone(), exact(value)?))
        };
        HeldNumbers {
            probe: figures.filter_map(named).collect(),
            ..HeldNumbers::own(trial, plateau)
        }
    }

    /// Dyno's own figures. Only counts if the plateau's measured part was never reached.
    pub(super) fn own(trial: &TrialRecord, plateau: &Plateau) -> HeldNumbers {
        let mut numbers =
            HeldNumbers { numbers: [None; HeldFigure::COUNT], probe: BTreeMap::new() };
        numbers.count(plateau);
        numbers.time(&Times::of(plateau));
        if let Some(span) = measured(trial, plateau) {
            numbers.weigh(trial, plateau, span);
        }
        numbers
    }

    /// A number, if there is one.
    #[must_use]
    pub fn get<'f>(&self, figure: impl Into<PlateauFigure<'f>>) -> Option<Number> {
        match figure.into() {
            PlateauFigure::Own(figure) => self.numbers[figure as usize],
            PlateauFigure::Probe(figure) => self.probe.get(&figure.name).copied(),
        }
    }

    fn set(&mut self, figure: HeldFigure, value: Option<f64>) {
        self.numbers[figure as usize] = value.and_then(exact);
    }

    fn count(&mut self, plateau: &Plateau) {
        for (figure, count) in [
            (HeldFigure::Open, plateau.open),
            (HeldFigure::Failed, plateau.failed_in_all()),
            (HeldFigure::Lost, plateau.lost_in_all()),
            (HeldFigure::Silent, plateau.silent),
            (HeldFigure::Waiting, plateau.opening),
            (HeldFigure::BegunAgain, plateau.begun_again),
            (HeldFigure::Missed, plateau.missed),
        ] {
            self.set(figure, Some(count as f64));
        }
    }

    fn time(&mut self, times: &Times<'_>) {
        let mut quantile = |figure: HeldFigure, distribution: &Distribution, q: f64| {
            self.numbers[figure as usize] = distribution.quantile(q).map(|quantile| Number {
                value: quantile.value as f64 / 1e6,
                is_bound: quantile.is_bound,
                is_supported: quantile.is_supported,
            });
        };
        quantile(HeldFigure::ConnectP50, times.connect, 0.5);
        quantile(HeldFigure::ConnectP99, times.connect, 0.99);
        quantile(HeldFigure::AgreeP50, times.agree, 0.5);
        quantile(HeldFigure::AgreeP99, times.agree, 0.99);
        quantile(HeldFigure::LateP50, times.late, 0.5);
        quantile(HeldFigure::LateP99, times.late, 0.99);
        quantile(HeldFigure::GapP50, times.gap, 0.5);
        quantile(HeldFigure::GapP99, times.gap, 0.99);
        quantile(HeldFigure::OwnP99, times.own, 0.99);
        let latest = times.late.extremes().map(|(_, latest)| latest as f64 / 1e6);
        self.set(HeldFigure::LateMax, latest);
    }

    fn weigh(&mut self, trial: &TrialRecord, plateau: &Plateau, span: (Nanos, Nanos)) {
        let seconds = plateau.measured as f64 / SECOND as f64;
        self.set(HeldFigure::Messages, plateau.messages_per_s());
        self.set(HeldFigure::Received, Some(plateau.bytes as f64 / seconds / 1_024.0));
        let own = plateau.cpu as f64 / plateau.measured as f64;
        self.set(HeldFigure::GeneratorCpu, Some(own * 100.0));
        let cpu = readings::cpu_ns_per_s_in(trial, span);
        self.set(HeldFigure::CpuShare, cpu.map(|cpu| cpu / SECOND as f64 * 100.0));
        // CPU time and messages over the same seconds, whether or not these are whole beats.
        let in_all_per_s = plateau.messages as f64 / seconds;
        let each = cpu.filter(|_| 0 < plateau.messages).map(|cpu| cpu / in_all_per_s);
        self.set(HeldFigure::CpuPerThousand, each.map(|each| each * 1_000.0 / 1e6));
        self.read(trial, span);
    }

    /// What the monitors read in the measured part.
    fn read(&mut self, trial: &TrialRecord, span: (Nanos, Nanos)) {
        let mean = |name: &str| mean(trial, name, span);
        let most = |name: &str| most(trial, name, span);
        let kib = |name: &str| readings::growth_per_s_in(trial, name, span).map(|by| by / 1_024.0);
        for (figure, value) in [
            (HeldFigure::RssMean, mean("subject.memory.rss")),
            (HeldFigure::RssMax, most("subject.memory.rss")),
            (HeldFigure::PssMean, mean("subject.memory.pss")),
            (HeldFigure::PssMax, most("subject.memory.pss")),
            (HeldFigure::IoRead, kib("subject.io.read")),
            (HeldFigure::IoWritten, kib("subject.io.written")),
        ] {
            self.set(figure, value);
        }
    }
}

/// The distributions from which times are read.
struct Times<'p> {
    connect: &'p Distribution,
    agree: &'p Distribution,
    late: &'p Distribution,
    gap: &'p Distribution,
    own: &'p Distribution,
}

impl Times<'_> {
    fn of(plateau: &Plateau) -> Times<'_> {
        Times {
            connect: &plateau.connect,
            agree: &plateau.agree,
            late: &plateau.late,
            gap: &plateau.gap,
            own: &plateau.own,
        }
    }
}

/// The measured part of a plateau on the trial's clock.
fn measured(trial: &TrialRecord, plateau: &Plateau) -> Option<(Nanos, Nanos)> {
    let from = trial.held.as_ref().map_or(0, |held| held.began) + plateau.times.measured_from;
    (0 < plateau.measured).then_some((from, from + plateau.measured))
}

fn exact(value: f64) -> Option<Number> {
    let number = Number { value, is_bound: false, is_supported: true };
    value.is_finite().then_some(number)
}

/// A figure of a probe's readings in the measured part.
fn probed(trial: &TrialRecord, span: (Nanos, Nanos), figure: &ProbeFigure) -> Option<f64> {
    let name = figure.reading.as_str();
    let folded = match &figure.fold {
        ProbeFold::Mean => mean(trial, name, span),
        ProbeFold::Max => most(trial, name, span),
        ProbeFold::Growth => readings::growth_per_s_in(trial, name, span),
        ProbeFold::Per(other) => {
            let many = mean(trial, other, span).filter(|many| 0.0 < *many);
            mean(trial, name, span).zip(many).map(|(sum, many)| sum / many)
        }
    };
    folded.map(|value| value * figure.scale)
}

fn mean(trial: &TrialRecord, name: &str, span: (Nanos, Nanos)) -> Option<f64> {
    let all = readings::inside(trial, name, span)?;
    Some(all.iter().sum::<f64>() / all.len() as f64)
}

fn most(trial: &TrialRecord, name: &str, span: (Nanos, Nanos)) -> Option<f64> {
    readings::inside(trial, name, span)?.into_iter().max_by(f64::total_cmp)
}
