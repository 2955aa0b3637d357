//! The figures of one plateau of one trial, or of several trials together. A figure that was not measured is missing.

use lab::record::TrialRecord;
use load::{Distribution, Nanos, Plateau, SECOND};

use super::HeldFigure;
use crate::figures::Number;
use crate::readings;

/// All figures of a plateau.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldNumbers {
    numbers: [Option<Number>; HeldFigure::COUNT],
}

impl HeldNumbers {
    /// The figures of a trial on one of its plateaus. Only counts if its measured part was never reached.
    pub(super) fn of(trial: &TrialRecord, began: Nanos, plateau: &Plateau) -> HeldNumbers {
        let mut numbers = HeldNumbers { numbers: [None; HeldFigure::COUNT] };
        numbers.count(plateau);
        numbers.time(&Times::of(plateau));
        let from = began + plateau.times.measured_from;
        if 0 < plateau.measured {
            numbers.weigh(trial, plateau, (from, from + plateau.measured));
        }
        numbers
    }

    /// A number, if there is one.
    #[must_use]
    pub fn get(&self, figure: HeldFigure) -> Option<Number> {
        self.numbers[figure as usize]
    }

    fn set(&mut self, figure: HeldFigure, value: Option<f64>) {
        let value = value.filter(|value| value.is_finite());
        self.numbers[figure as usize] =
            value.map(|value| Number { value, is_censored: false, is_supported: true });
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
                is_censored: quantile.is_censored,
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

    /// What monitors and probes read in the measured part.
    fn read(&mut self, trial: &TrialRecord, span: (Nanos, Nanos)) {
        let mean = |name: &str| readings::inside(trial, name, span).and_then(|all| mean(&all));
        let most = |name: &str| {
            let all = readings::inside(trial, name, span)?;
            all.into_iter().max_by(f64::total_cmp)
        };
        let processes = mean("beam.processes").filter(|processes| 0.0 < *processes);
        let each = mean("beam.memory.processes_bytes").zip(processes);
        let percent = |share: Option<f64>| share.map(|share| share * 100.0);
        let kib = |name: &str| readings::growth_per_s_in(trial, name, span).map(|by| by / 1_024.0);
        for (figure, value) in [
            (HeldFigure::RssMean, mean("subject.memory.rss")),
            (HeldFigure::RssMax, most("subject.memory.rss")),
            (HeldFigure::PssMean, mean("subject.memory.pss")),
            (HeldFigure::PssMax, most("subject.memory.pss")),
            (HeldFigure::BeamMean, mean("beam.memory.total_bytes")),
            (HeldFigure::BeamMax, most("beam.memory.total_bytes")),
            (HeldFigure::BeamEach, each.map(|(bytes, processes)| bytes / processes)),
            (HeldFigure::Utilisation, percent(mean("beam.scheduler.utilisation_ratio"))),
            (HeldFigure::UtilisationMax, percent(most("beam.scheduler.utilisation_max_ratio"))),
            (HeldFigure::RunQueue, mean("beam.run_queue")),
            (HeldFigure::RunQueueMax, most("beam.run_queue")),
            (HeldFigure::BeamIn, kib("beam.io.in_bytes")),
            (HeldFigure::BeamOut, kib("beam.io.out_bytes")),
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

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
