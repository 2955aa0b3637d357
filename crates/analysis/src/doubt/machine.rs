//! Whether others used the machine.

use lab::record::{OTHER_DYNO, TrialRecord};
use load::SECOND;

use super::Doubt;
use crate::readings;

/// Of one CPU: what the host takes away for longer than this is seen in a p99.
const STEAL: f64 = 0.02;
/// Of one CPU: less than this is lost in what one round differs from the next.
const OTHERS: f64 = 0.05;
/// Slewing makes less than this of three minutes.
const STEP_MS: f64 = 100.0;
/// The kernel counts this time in steps of 10 ms: fewer than five of them are no finding.
const LEAST_NS: f64 = 50e6;

pub(super) fn steal(trial: &TrialRecord) -> Option<Doubt> {
    let share = share(trial, "machine.cpu.steal")?;
    (STEAL < share).then_some(Doubt::Steal { share })
}

pub(super) fn other_programs(trial: &TrialRecord) -> Option<Doubt> {
    let share = share(trial, "machine.cpu.other")?;
    (OTHERS < share).then_some(Doubt::OtherPrograms { share })
}

/// Named, not judged: an idle dyno disturbs nothing, and what a busy one takes is seen in `other_programs`.
pub(super) fn other_dyno(trial: &TrialRecord) -> Option<Doubt> {
    let fact = trial.conditions.iter().find(|fact| fact.name == OTHER_DYNO)?;
    Some(Doubt::OtherDyno { who: fact.value.clone() })
}

/// The wall clock against the clock that all times are taken with. It is slewed by no more than 0.05 %; a step is more.
pub(super) fn clock_step(trial: &TrialRecord) -> Option<Doubt> {
    let step_ms = readings::change(trial, "machine.clock.offset")? / 1e6;
    (STEP_MS <= step_ms.abs()).then_some(Doubt::ClockStep { step_ms })
}

/// Of one CPU, over the measured time.
fn share(trial: &TrialRecord, name: &str) -> Option<f64> {
    let share = readings::growth_ns_per_s(trial, name)? / SECOND as f64;
    let (from, until) = readings::measured(trial)?;
    (LEAST_NS <= share * (until - from) as f64).then_some(share)
}
