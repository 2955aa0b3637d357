//! Whether other programs used the machine.

use lab::figure::readings;
use lab::record::{OTHER_DYNO, TrialRecord};
use load::SECOND;

use super::Doubt;

/// As a share of one CPU: if the host takes more than this away, it shows in a p99.
const STEAL: f64 = 0.02;
/// As a share of one CPU: less than this is lost in the difference between rounds.
const OTHERS: f64 = 0.05;
/// Slewing changes the clock by less than this in three minutes.
const STEP_MS: f64 = 100.0;
/// The kernel counts this time in steps of 10 ms: fewer than five of them are not a finding.
const LEAST_NS: f64 = 50e6;

pub(super) fn steal(trial: &TrialRecord) -> Option<Doubt> {
    let share = share(trial, "machine.cpu.steal")?;
    (STEAL < share).then_some(Doubt::Steal { share })
}

pub(super) fn other_programs(trial: &TrialRecord) -> Option<Doubt> {
    let share = share(trial, "machine.cpu.other")?;
    (OTHERS < share).then_some(Doubt::OtherPrograms { share })
}

/// Reported, not judged: an idle dyno disturbs nothing, and the CPU time of a busy one shows in `other_programs`.
pub(super) fn other_dyno(trial: &TrialRecord) -> Option<Doubt> {
    let fact = trial.conditions.iter().find(|fact| fact.name == OTHER_DYNO)?;
    Some(Doubt::OtherDyno { process: fact.value.clone() })
}

/// The wall clock against the clock by which all times are measured. It is slewed by no more than 0.05 %; a step is
/// more.
pub(super) fn clock_step(trial: &TrialRecord) -> Option<Doubt> {
    let step_ms = readings::change(trial, "machine.clock.offset")? / 1e6;
    (STEP_MS <= step_ms.abs()).then_some(Doubt::ClockStep { step_ms })
}

/// A share of one CPU, over the measured time.
fn share(trial: &TrialRecord, name: &str) -> Option<f64> {
    let share = readings::growth_ns_per_s(trial, name)? / SECOND as f64;
    let (from, until) = readings::measured(trial)?;
    (LEAST_NS <= share * (until - from) as f64).then_some(share)
}
