//! One trial's figures. A figure that was not measured is missing.

use lab::figure::Figure;
use lab::record::TrialRecord;
use load::{Distribution, Failure, Moment, Moments, Recording, SECOND, Tally};

use crate::generator::generator_busy;
use crate::held::memory_per_connection;
use crate::rates::{measured_s, silent_share, throughput_per_s};
use crate::readings;
use crate::terms::Terms;

/// A number, and how far it can be relied on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// In its figure's unit.
    pub value: f64,
    /// The true value is no less than this: exchanges were given up.
    pub is_bound: bool,
    /// Enough samples lie beyond it.
    pub is_supported: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    numbers: [Option<Number>; Figure::COUNT],
    /// Failures by class, those that occurred, in the order of `Failure::ALL`.
    pub failures: Vec<(Failure, u64)>,
}

impl Figures {
    /// The figures of a trial, as far as it got.
    #[must_use]
    pub fn of(trial: &TrialRecord, terms: Terms) -> Figures {
        let recording = trial.loaded.as_ref().map(|loaded| &loaded.recording);
        let mut figures = Figures { numbers: [None; Figure::COUNT], failures: Vec::new() };
        if let Some(launch) = &trial.launch {
            figures
                .set(Figure::StartUp, launch.ready_after.map(|ready| milliseconds(ready as f64)));
            figures.set(Figure::Backlog, launch.backlog.map(f64::from));
            figures.set(Figure::Processes, Some(f64::from(launch.processes)));
        }
        figures.set(Figure::MemoryPerConnection, memory_per_connection(trial));
        if let Some(recording) = recording {
            figures.count(recording);
            figures.set(Figure::Offered, terms.offered_per_s(recording, trial.key.point));
            let on_time = terms.on_time(recording, trial.key.point);
            let share = on_time.and_then(|on_time| on_time.share());
            figures.set(Figure::OnTime, share.map(|share| share * 100.0));
            figures.time(&Latencies::of(&recording.total));
            figures.secure(&recording.total);
            figures.weigh(recording, trial);
        }
        figures
    }

    /// These numbers alone, as a file states them.
    #[must_use]
    pub(crate) fn of_numbers(numbers: &[(Figure, Number)]) -> Figures {
        let mut figures = Figures { numbers: [None; Figure::COUNT], failures: Vec::new() };
        for (figure, number) in numbers {
            figures.numbers[*figure as usize] = Some(*number);
        }
        figures
    }

    /// A number, if there is one.
    #[must_use]
    pub fn get(&self, figure: Figure) -> Option<Number> {
        self.numbers[figure as usize]
    }

    fn set(&mut self, figure: Figure, value: Option<f64>) {
        self.numbers[figure as usize] =
            value.map(|value| Number { value, is_bound: false, is_supported: true });
    }

    fn count(&mut self, recording: &Recording) {
        let total = &recording.total;
        let failed = total.failed_in_all();
        let seconds = measured_s(recording);
        self.set(Figure::Throughput, throughput_per_s(recording));
        self.set(Figure::Attempted, Some(total.attempted as f64));
        self.set(Figure::Correct, Some(total.correct as f64));
        self.set(Figure::Failed, Some(failed as f64));
        self.set(Figure::FailedShare, share(failed, total.attempted).map(|share| share * 100.0));
        let longest = milliseconds(recording.silence.longest as f64);
        self.set(Figure::SilentShare, silent_share(recording).map(|share| share * 100.0));
        self.set(Figure::LongestSilence, Some(longest));
        let received = total.received_inside as f64;
        self.set(Figure::Received, (0.0 < seconds).then(|| received / 1_024.0 / seconds));
        // A whole answer with the wrong content has bytes, too.
        let contents = |failure: &&Failure| matches!(failure, Failure::Content(_));
        let wrong: u64 =
            Failure::ALL.iter().filter(contents).map(|&failure| total.failures(failure)).sum();
        self.set(Figure::AnswerBytes, share(total.bytes_received, total.answered + wrong));
        let times = |failure: Failure| (failure, total.failures(failure));
        self.failures = Failure::ALL.map(times).into_iter().filter(|(_, n)| 0 < *n).collect();
    }

    fn time(&mut self, latencies: &Latencies<'_>) {
        let response = latencies.response;
        if let Some(Moments { mean, sd, min, max }) = response.moments() {
            for (figure, Moment { value, is_bound }) in [
                (Figure::ResponseMean, mean),
                (Figure::ResponseSd, sd),
                (Figure::ResponseMin, min),
                (Figure::ResponseMax, max),
            ] {
                let value = milliseconds(value);
                self.numbers[figure as usize] =
                    Some(Number { value, is_bound, is_supported: true });
            }
        }
        self.quantile(Figure::ResponseP50, response, 0.5);
        self.quantile(Figure::ResponseP90, response, 0.9);
        self.quantile(Figure::ResponseP99, response, 0.99);
        self.quantile(Figure::ResponseP999, response, 0.999);
        self.quantile(Figure::ServiceP50, latencies.service, 0.5);
        self.quantile(Figure::ServiceP99, latencies.service, 0.99);
        self.quantile(Figure::ConnectP50, latencies.connect, 0.5);
        self.quantile(Figure::LateP99, latencies.late, 0.99);
    }

    /// What TLS took, where there was any.
    fn secure(&mut self, total: &Tally) {
        let Some(security) = &total.security else { return };
        self.quantile(Figure::TlsP50, &security.handshake, 0.5);
        self.quantile(Figure::TlsP99, &security.handshake, 0.99);
        let resumed = share(security.resumed, security.handshakes());
        self.set(Figure::TlsResumed, resumed.map(|share| share * 100.0));
    }

    fn quantile(&mut self, figure: Figure, distribution: &Distribution, q: f64) {
        self.numbers[figure as usize] = distribution.quantile(q).map(|quantile| Number {
            value: milliseconds(quantile.value as f64),
            is_bound: quantile.is_bound,
            is_supported: quantile.is_supported,
        });
    }

    fn weigh(&mut self, recording: &Recording, trial: &TrialRecord) {
        let cpu = readings::cpu_ns_per_s(trial);
        self.set(Figure::CpuShare, cpu.map(|cpu| cpu / SECOND as f64 * 100.0));
        let throughput = self.get(Figure::Throughput).filter(|throughput| 0.0 < throughput.value);
        let each = cpu.zip(throughput).map(|(cpu, throughput)| cpu / throughput.value);
        self.set(Figure::CpuPerThousand, each.map(|each| milliseconds(each * 1_000.0)));
        self.set(Figure::RssPeak, readings::peak(trial, "subject.memory.rss"));
        self.set(Figure::PssPeak, readings::peak(trial, "subject.memory.pss"));
        self.set(Figure::GeneratorBusy, generator_busy(&recording.lanes).map(|busy| busy * 100.0));
    }
}

/// The distributions from which times are read.
struct Latencies<'r> {
    response: &'r Distribution,
    service: &'r Distribution,
    connect: &'r Distribution,
    late: &'r Distribution,
}

impl Latencies<'_> {
    fn of(total: &Tally) -> Latencies<'_> {
        Latencies {
            response: &total.response,
            service: &total.service,
            connect: &total.connect,
            late: &total.late,
        }
    }
}

/// All values of all these distributions; nothing if there are none.
pub(crate) fn merged<'r>(
    all: impl Iterator<Item = &'r Distribution> + Clone,
) -> Option<Distribution> {
    // Trials of one run have the same limit; what a store holds may have any.
    let highest = all.clone().map(|distribution| distribution.histogram().high()).max()?;
    let mut merged = Distribution::new(highest);
    all.for_each(|distribution| merged.merge(distribution));
    Some(merged)
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (0 < whole).then(|| part as f64 / whole as f64)
}

fn milliseconds(ns: f64) -> f64 {
    ns / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{MS, ONE, fail, healthy, series};
    use lab::experiment::Point;
    use lab::record::Launch;

    fn value(trial: &TrialRecord, figure: Figure) -> Option<f64> {
        Figures::of(trial, ONE).get(figure).map(|number| number.value)
    }

    #[test]
    fn a_healthy_trial_s_numbers() {
        let mut trial = healthy();
        trial.series = vec![
            series("subject.cpu.total", "ns", &[(0, 0.0), (20 * SECOND, 10e9)]),
            series("subject.memory.rss", "bytes", &[(0, 3e6), (5 * SECOND, 4e6)]),
        ];
        trial.launch = Some(Launch {
            command: Vec::new(),
            pid: 1,
            port: 1,
            ready_after: Some(30 * MS),
            backlog: Some(128),
            processes: 2,
        });
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
    fn a_closed_loop_offers_nothing() {
        let mut trial = healthy();
        trial.key.point = Point::Connections(10);
        assert_eq!(value(&trial, Figure::Offered), None);
    }

    #[test]
    fn a_number_of_requests_is_offered_at_its_rate_however_long_the_answers_take() {
        let mut trial = healthy();
        trial.loaded.as_mut().unwrap().recording.scheduled_until = Some(6 * SECOND);
        assert_eq!(value(&trial, Figure::Offered), Some(4_000.0), "as the schedule said");
    }

    #[test]
    fn sessions_offer_all_their_calls() {
        let mut trial = healthy();
        trial.key.point = Point::Sessions(400.0);
        let terms = Terms { calls: 10, ..ONE };
        let offered = |trial: &TrialRecord| {
            Figures::of(trial, terms).get(Figure::Offered).map(|number| number.value)
        };
        assert_eq!(offered(&trial), Some(2_000.0), "all calls that were due");
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
        (security.full, security.resumed) = (250, 750);
        trial.loaded.as_mut().unwrap().recording.total.security = Some(Box::new(security));
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
        let recording = &mut trial.loaded.as_mut().unwrap().recording;
        recording.total = load::Tally::new(SECOND);
        recording.measured_until = recording.measured_from;
        recording.lanes.clear();
        let figures = Figures::of(&trial, ONE);
        for figure in Figure::ALL {
            assert!(
                figures.get(figure).is_none_or(|number| number.value.is_finite()),
                "{figure:?}"
            );
        }
        assert_eq!(figures.get(Figure::Throughput), None);
    }
}
