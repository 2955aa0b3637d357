//! Trials of held connections as tables: for every workload, the figures of each subject on each plateau, and what a
//! connection costs. A trial is a whole ramp; its plateaus are the places of the axis.

mod price;

use std::collections::BTreeMap;
use std::time::Duration;

use lab::figure::Figure;
use lab::probe::ProbeReading;
use lab::record::{Outcome, TrialRecord};
use load::Loss;
use schemars::JsonSchema;
use serde::Serialize;

pub use price::{After, Basis, Cause, FirstFailure, Memory, Price, Slope};

use crate::estimate::Estimate;
use crate::figures::{Figures, PlateauFigure};
use crate::verdict::Verdict;

/// The results of one workload that is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Ramps {
    pub workload: String,
    /// Servers in the run's order; if one was to hold several numbers, from low to high.
    pub subjects: Vec<HeldSubject>,
}

/// One server and the plateaus of its ramp.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldSubject {
    pub subject: String,
    /// It is not a competitor, but shows the limit of the load and the machine.
    pub is_reference: bool,
    /// The number of connections that were to be held in the end.
    pub connections: u32,
    pub measured: usize,
    /// The row's verdict.
    pub verdict: Option<Verdict>,
    /// From low to high; over the measured rounds.
    pub plateaus: Vec<Plateau>,
    /// What a connection costs.
    pub price: Price,
    /// The rounds that got as far as holding connections, measured or not, in their order.
    pub rounds: Vec<Round>,
}

/// One step of all measured rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// How many connections were to be open.
    pub connections: usize,
    /// The number of measured rounds in which it was reached.
    pub rounds: usize,
    /// Connections that failed or were lost, by cause, over these rounds; the most frequent first.
    pub gone: Vec<LossCount>,
    /// Sums over these rounds.
    pub sums: Sums,
    /// Its messages are counted over times that no beat divides: at each edge up to one of each connection is too many, or
    /// too few.
    pub cuts_beats: bool,
    estimates: [Option<Estimate>; Figure::COUNT],
    /// Of what probes read, by the figures' names.
    probe: BTreeMap<String, Estimate>,
}

/// Sums over the rounds of a plateau.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "sums")]
pub struct Sums {
    /// connections that could not be opened
    pub failed: u64,
    /// open connections that were lost
    pub lost: u64,
    /// open connections that had received nothing for a while at its end
    pub silent: u64,
    /// begun and neither open nor failed at its end
    pub waiting: u64,
    /// connections that were begun again
    pub begun_again: u64,
    /// numbered messages that never came
    pub missed: u64,
}

/// Connections that ended for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossCount {
    /// It was open before.
    pub was_open: bool,
    pub loss: Loss,
    pub times: u64,
}

/// One trial, plateau by plateau.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Its place in the plan.
    pub number: u32,
    /// Which round, from 0.
    pub repeat: u32,
    pub outcome: Outcome,
    /// The results of each plateau that was reached.
    pub plateaus: Vec<RoundPlateau>,
}

/// One step of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct RoundPlateau {
    /// How many connections were to be open.
    pub connections: usize,
    pub figures: Figures,
}

impl Ramps {
    /// The figure of a reference with so many connections: lateness that it shows, too, is caused by the load or the
    /// machine.
    #[must_use]
    pub fn reference(&self, connections: usize) -> Option<&Plateau> {
        let references = self.subjects.iter().filter(|held| held.is_reference);
        let mut plateaus = references.flat_map(|held| &held.plateaus);
        plateaus.find(|plateau| plateau.connections == connections)
    }
}

impl Plateau {
    /// A figure over the measured rounds.
    #[must_use]
    pub fn estimate<'f>(&self, figure: impl Into<PlateauFigure<'f>>) -> Option<Estimate> {
        match figure.into() {
            PlateauFigure::Own(figure) => self.estimates[figure as usize],
            PlateauFigure::Probe(figure) => self.probe.get(&figure.name).copied(),
        }
    }

    /// The plateaus of measured trials that have one number of connections.
    fn of(rounds: &[(&TrialRecord, &load::Plateau)], readings: &[ProbeReading]) -> Plateau {
        let plateaus: Vec<&load::Plateau> = rounds.iter().map(|(_, plateau)| *plateau).collect();
        let numbers: Vec<Figures> = rounds
            .iter()
            .map(|(trial, plateau)| Figures::of_plateau(trial, plateau, readings))
            .collect();
        let over_rounds = |figure: PlateauFigure<'_>| {
            let rounds: Vec<_> = numbers.iter().filter_map(|numbers| numbers.get(figure)).collect();
            Estimate::of(&rounds, figure.fold())
        };
        let probe = readings.iter().flat_map(|reading| &reading.figures);
        let probe =
            probe.filter_map(|figure| Some((figure.name.clone(), over_rounds(figure.into())?)));
        let mut sums = Sums::default();
        for plateau in &plateaus {
            sums.failed += plateau.failed_in_all();
            sums.lost += plateau.lost_in_all();
            sums.silent += plateau.silent;
            sums.waiting += plateau.opening;
            sums.begun_again += plateau.begun_again;
            sums.missed += plateau.missed;
        }
        Plateau {
            connections: plateaus.first().map_or(0, |plateau| plateau.times.connections),
            rounds: plateaus.len(),
            gone: gone(&plateaus),
            sums,
            cuts_beats: plateaus.iter().any(|plateau| cuts_beats(plateau)),
            probe: probe.collect(),
            estimates: Figure::ALL.map(|figure| over_rounds(figure.into())),
        }
    }
}

/// No time between messages is known, and none are dyno's own: the edges of the measured part may cut a beat.
fn cuts_beats(plateau: &load::Plateau) -> bool {
    plateau.whole.is_none() && plateau.echoes.due == 0 && 0 < plateau.messages
}

impl HeldSubject {
    /// What was held by one server; the caller names it.
    pub(crate) fn of(
        tried: &[&TrialRecord],
        connections: u32,
        beat: Option<Duration>,
        readings: &[ProbeReading],
    ) -> HeldSubject {
        let is_measured = |trial: &&&TrialRecord| {
            trial.outcome.kind == lab::record::OutcomeKind::Measured && trial.held.is_some()
        };
        let measured: Vec<&TrialRecord> = tried.iter().filter(is_measured).copied().collect();
        let plateaus = plateaus(&measured, readings);
        HeldSubject {
            subject: String::new(),
            is_reference: false,
            connections,
            measured: 0,
            verdict: None,
            price: Price::of(tried, &measured, &plateaus, beat),
            plateaus,
            rounds: tried.iter().filter_map(|trial| round(trial, readings)).collect(),
        }
    }
}

/// All plateaus of all rounds, from low to high.
fn plateaus(measured: &[&TrialRecord], readings: &[ProbeReading]) -> Vec<Plateau> {
    let mut places: Vec<usize> =
        measured.iter().flat_map(|trial| reached(trial)).map(|one| one.times.connections).collect();
    places.sort_unstable();
    places.dedup();
    let plateau = |connections: usize| {
        let rounds = measured.iter().filter_map(|trial| at_place(trial, connections));
        Plateau::of(&rounds.collect::<Vec<_>>(), readings)
    };
    places.into_iter().map(plateau).collect()
}

fn at_place(trial: &TrialRecord, connections: usize) -> Option<(&TrialRecord, &load::Plateau)> {
    let found = reached(trial).iter().find(|one| one.times.connections == connections);
    found.map(|plateau| (trial, plateau))
}

fn reached(trial: &TrialRecord) -> &[load::Plateau] {
    trial.held.as_ref().map_or(&[], |held| &held.holding.plateaus)
}

fn round(trial: &TrialRecord, readings: &[ProbeReading]) -> Option<Round> {
    trial.held.as_ref()?;
    let figures = |plateau: &load::Plateau| RoundPlateau {
        connections: plateau.times.connections,
        figures: Figures::of_plateau(trial, plateau, readings),
    };
    Some(Round {
        number: trial.key.number,
        repeat: trial.key.repeat,
        outcome: trial.outcome.clone(),
        plateaus: reached(trial).iter().map(figures).collect(),
    })
}

/// Ends of connections by cause, the most frequent first.
pub(crate) fn gone(plateaus: &[&load::Plateau]) -> Vec<LossCount> {
    let mut all = Vec::new();
    for (place, loss) in Loss::ALL.into_iter().enumerate() {
        let failed = plateaus.iter().map(|plateau| plateau.failed[place]).sum();
        let lost = plateaus.iter().map(|plateau| plateau.lost[place]).sum();
        all.push(LossCount { was_open: false, loss, times: failed });
        all.push(LossCount { was_open: true, loss, times: lost });
    }
    all.retain(|gone| 0 < gone.times);
    all.sort_by_key(|gone| std::cmp::Reverse(gone.times));
    all
}

#[cfg(test)]
mod tests;
