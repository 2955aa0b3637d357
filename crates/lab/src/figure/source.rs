//! What figures are computed from: a load or a trial of requests, or a step of held connections; and the numbers that
//! they become.

use load::{
    Distribution, Failure, Moment, Moments, Nanos, Number, Plateau, Recording, RequestForm, SECOND,
    Tally,
};

use super::rates::{self, OnTime};
use super::readings;
use super::terms::Terms;
use crate::record::{COUNTED, Launch, TrialRecord, fact};

/// A load, or a trial of a run.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'t> {
    /// None if the trial was over before its load.
    pub(super) recording: Option<&'t Recording>,
    /// None for a load of a server that dyno did not start.
    pub(super) record: Option<&'t TrialRecord>,
    /// None for a closed loop.
    pub(super) on_time: Option<OnTime>,
    /// None for a closed loop.
    pub(super) offered_per_s: Option<f64>,
}

/// A step of held connections in a trial.
#[derive(Clone, Copy, Debug)]
pub struct Step<'t> {
    record: &'t TrialRecord,
    pub(super) plateau: &'t Plateau,
}

impl<'t> Trial<'t> {
    /// A trial of a run, as far as it got.
    #[must_use]
    pub fn of(record: &'t TrialRecord, terms: Terms) -> Trial<'t> {
        let recording = record.loaded.as_ref().map(|loaded| &loaded.recording);
        let point = record.key.point;
        Trial {
            recording,
            record: Some(record),
            on_time: recording.and_then(|recording| terms.on_time(recording, point)),
            offered_per_s: recording.and_then(|recording| terms.offered_per_s(recording, point)),
        }
    }

    /// A load that stands alone: nothing is known of the server's processes.
    #[must_use]
    pub fn of_load(recording: &'t Recording) -> Trial<'t> {
        let is_scheduled = recording.scheduled_until.is_some();
        Trial {
            recording: Some(recording),
            record: None,
            on_time: is_scheduled.then(|| rates::on_time(recording, None)),
            offered_per_s: rates::offered_per_s(recording),
        }
    }

    pub(super) fn total(&self) -> Option<&'t Tally> {
        self.recording.map(|recording| &recording.total)
    }

    pub(super) fn launch(&self) -> Option<&'t Launch> {
        self.record?.launch.as_ref()
    }

    /// The trial with the readings of its monitors, if requests loaded its server.
    pub(super) fn watched(&self) -> Option<&'t TrialRecord> {
        self.record.filter(|_| self.recording.is_some())
    }

    /// CPU time of the subject's processes, nanoseconds a second.
    pub(super) fn cpu_ns_per_s(&self) -> Option<f64> {
        readings::cpu_ns_per_s(self.watched()?)
    }

    /// What the database counted of both tables, divided by right answers.
    pub(super) fn database_per_answer(&self, counter: &str) -> Option<Number> {
        let answers = self.total()?.rows?.answers;
        let counted = |table: &str| -> Option<u64> {
            let name = format!("{COUNTED}.{table}.{counter}");
            fact(&self.record?.conditions, &name)?.parse().ok()
        };
        exact(counted("world")?.saturating_add(counted("fortune")?) as f64 / answers.max(1) as f64)
    }

    /// CPU time of what works beside the subject, nanoseconds a second.
    pub(super) fn service_cpu_ns_per_s(&self) -> Option<f64> {
        readings::growth_ns_per_s(self.watched()?, "service.cpu.total")
    }

    /// Whole answers, right or wrong, whenever they came.
    pub(super) fn whole_answers(&self) -> Option<u64> {
        let total = self.total()?;
        // A whole answer with the wrong content has bytes, too.
        let is_whole = |failure: &&Failure| failure.is_of_whole_answer();
        let wrong = Failure::ALL.iter().filter(is_whole).map(|&failure| total.failures(failure));
        Some(total.answered + wrong.sum::<u64>())
    }
}

impl<'t> Step<'t> {
    #[must_use]
    pub fn of(record: &'t TrialRecord, plateau: &'t Plateau) -> Step<'t> {
        Step { record, plateau }
    }

    /// Its measured part on the trial's clock; none if that was never reached.
    #[must_use]
    pub fn measured(&self) -> Option<(Nanos, Nanos)> {
        let began = self.record.held.as_ref().map_or(0, |held| held.began);
        let (from, length) = (began + self.plateau.times.measured_from, self.plateau.measured);
        (0 < length).then_some((from, from + length))
    }

    /// The length of its measured part.
    pub(super) fn measured_s(&self) -> Option<f64> {
        self.measured().map(|_| self.plateau.measured as f64 / SECOND as f64)
    }

    /// CPU time of the subject's processes in the measured part, nanoseconds a second.
    pub(super) fn cpu_ns_per_s(&self) -> Option<f64> {
        readings::cpu_ns_per_s_in(self.record, self.measured()?)
    }

    /// The mean of the readings with this name in the measured part.
    #[must_use]
    pub fn mean(&self, name: &str) -> Option<f64> {
        let all = readings::inside(self.record, name, self.measured()?)?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The greatest of them.
    #[must_use]
    pub fn greatest(&self, name: &str) -> Option<f64> {
        let all = readings::inside(self.record, name, self.measured()?)?;
        all.into_iter().max_by(f64::total_cmp)
    }

    /// How much a growing counter grew each second of the measured part, in its own unit.
    #[must_use]
    pub fn growth_per_s(&self, name: &str) -> Option<f64> {
        readings::growth_per_s_in(self.record, name, self.measured()?)
    }
}

pub(super) fn exact(value: f64) -> Option<Number> {
    Number::exact(value)
}

pub(super) fn count(times: u64) -> Option<Number> {
    exact(times as f64)
}

pub(super) fn milliseconds(ns: f64) -> Option<Number> {
    exact(ns / 1e6)
}

/// None where there is nothing of which it could be a share.
pub(super) fn percent(part: u64, whole: u64) -> Option<Number> {
    exact(share(part, whole)? * 100.0)
}

/// The share of the requests in this form that failed.
pub(super) fn failed_in(trial: &Trial<'_>, form: RequestForm) -> Option<Number> {
    let (sent, failed) = trial.total()?.forms?.of(form);
    percent(failed, sent)
}

pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (0 < whole).then(|| part as f64 / whole as f64)
}

/// In milliseconds.
pub(super) fn quantile(times: &Distribution, q: f64) -> Option<Number> {
    times.quantile(q).map(|quantile| Number {
        value: quantile.value as f64 / 1e6,
        is_bound: quantile.is_bound,
        is_supported: quantile.is_supported,
    })
}

/// In milliseconds.
pub(super) fn moment(times: &Distribution, which: fn(Moments) -> Moment) -> Option<Number> {
    let Moment { value, is_bound } = which(times.moments()?);
    Some(Number { value: value / 1e6, is_bound, is_supported: true })
}
