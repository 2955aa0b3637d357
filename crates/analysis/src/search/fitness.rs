//! What a trial is worth to a search: evidence, or nothing.

use lab::experiment::Point;
use lab::record::{OutcomeKind, TrialRecord};
use load::{Failure, Recording, SECOND};

use super::{Aim, Evidence, Found, Press, Tried, evidence};
use crate::doubt::{AgentsDoubt, Doubt, doubts};
use crate::terms::Terms;
use crate::verdict::Gravity;

/// What a trial that was ordered so has found. A server that ends or answers wrongly under a load has lost all of it.
///
/// What dyno itself did can only make answers later. So a trial that kept the aim is evidence whatever dyno did; one that
/// broke it is none if dyno was late, busy, stood still, or was kept from the CPU.
#[must_use]
pub fn tried(aim: &Aim, trial: &TrialRecord, press: &Press, took_s: f64) -> Tried {
    let found = |found| Tried { found, took_s };
    let says = &trial.outcome.says;
    let Some(loaded) = &trial.loaded else {
        return found(Found::Unfit(says.clone()));
    };
    let recording = &loaded.recording;
    let terms = Terms::of(None);
    match trial.outcome.kind {
        OutcomeKind::Measured => {}
        OutcomeKind::Died | OutcomeKind::Wrong => {
            let due = press.rate.map_or(1.0, |rate| rate * press.seconds);
            return found(match press.rate {
                Some(_) => Found::Open(Evidence::nothing(aim, due as u64)),
                None => closed(recording),
            });
        }
        OutcomeKind::Skipped
        | OutcomeKind::NotReady
        | OutcomeKind::WrongServer
        | OutcomeKind::Unable
        | OutcomeKind::Interrupted => return found(Found::Unfit(says.clone())),
    }
    let Some(rate) = press.rate else { return found(closed(recording)) };
    let evidence = evidence(aim, recording, rate, press.seconds);
    let doubts = doubts(trial, terms);
    let keeps = evidence.keeps(aim);
    match doubts.iter().find_map(|doubt| unfit(doubt, recording, keeps)) {
        Some(says) => found(Found::Unfit(says)),
        None => found(Found::Open(evidence)),
    }
}

fn closed(recording: &Recording) -> Found {
    Found::Closed { per_s: crate::rates::throughput_per_s(recording).unwrap_or(0.0) }
}

/// Why a trial with this doubt is no evidence.
fn unfit(doubt: &Doubt, recording: &Recording, keeps: bool) -> Option<String> {
    let is_invalid = doubt.gravity() == Gravity::Invalid;
    let says = match doubt {
        Doubt::Books { .. } | Doubt::Connections { .. } => "the counts of the load do not agree",
        Doubt::AgentsLost { .. } => "agents of the load were lost",
        Doubt::OwnFailures { .. } if is_invalid && OWN_MOST < own(recording) => {
            "requests failed for reasons of dyno's own"
        }
        Doubt::StoodStill { .. } if is_invalid && !keeps => "dyno stood still",
        Doubt::Late { .. } if !keeps => "dyno sent late",
        Doubt::Busy { .. } if !keeps => "dyno's own threads were never idle",
        Doubt::Starved { .. } if !keeps => "other programs kept dyno from the CPU",
        Doubt::Agents(AgentsDoubt::Late(_) | AgentsDoubt::Busy(_)) if !keeps => {
            "the agents of the load were late or never idle"
        }
        _ => return None,
    };
    Some(says.into())
}

/// A greater share of failures of dyno's own makes a trial no evidence.
const OWN_MOST: f64 = 0.01;

/// The share of the requests that failed for a reason of dyno's own. A request that no connection was free for is not
/// among them: a slow server keeps all of them busy.
fn own(recording: &Recording) -> f64 {
    let is_own = |failure: &Failure| failure.is_own() && *failure != Failure::Blocked;
    let failed: u64 = Failure::ALL
        .into_iter()
        .filter(is_own)
        .map(|failure| recording.total.failures(failure))
        .sum();
    failed as f64 / recording.total.attempted.max(1) as f64
}

/// What a kept trial was ordered to be.
#[must_use]
pub fn is_as_ordered(trial: &TrialRecord, press: &Press) -> bool {
    match (trial.key.point, press.rate) {
        (Point::Requests(rate), Some(ordered)) => (rate - ordered).abs() < 1e-6 * ordered,
        (Point::Connections(_), None) => true,
        _ => false,
    }
}

/// From the start of a trial to the end of its load, in seconds.
#[must_use]
pub fn lasted_s(trial: &TrialRecord) -> f64 {
    let ended = trial.loaded.as_ref().map(|loaded| loaded.began + loaded.recording.ended);
    ended.unwrap_or(0) as f64 / SECOND as f64
}
