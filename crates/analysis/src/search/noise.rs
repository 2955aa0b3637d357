//! What makes a trial no evidence, although the server was loaded: dyno itself or the machine was disturbed.

use lab::figure::Terms;
use lab::record::TrialRecord;
use load::{Failure, Recording};

use super::{Aim, Limit};
use crate::doubt::{Doubt, OWN_FAILURES, agents, books, doubts, generator, machine};
use crate::verdict::Gravity;

/// Why a trial is repeated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// dyno sent requests late.
    Late,
    /// dyno was not running for some time.
    StoodStill {
        longest_ms: f64,
    },
    OwnFailures,
    /// The counts of the load do not agree.
    Counts,
    AgentsLost,
    /// Programs that are neither the server nor dyno used so much of a CPU.
    OtherPrograms {
        cpus: f64,
    },
    /// The host took so much of a CPU away.
    Stolen {
        cpus: f64,
    },
}

impl Noise {
    /// As a clause.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Noise::Late => "dyno itself sent late".into(),
            Noise::StoodStill { longest_ms } => {
                format!("dyno was not running for up to {longest_ms:.0} ms")
            }
            Noise::OwnFailures => "requests failed for reasons on dyno's side".into(),
            Noise::Counts => "the counts of the load do not agree".into(),
            Noise::AgentsLost => "agents of the load were lost".into(),
            Noise::OtherPrograms { cpus } => format!("other programs used {}", of_a_cpu(*cpus)),
            Noise::Stolen { cpus } => format!("the host took {} away", of_a_cpu(*cpus)),
        }
    }

    /// How much, where that is known.
    fn amount(&self) -> f64 {
        match self {
            Noise::StoodStill { longest_ms: much }
            | Noise::OtherPrograms { cpus: much }
            | Noise::Stolen { cpus: much } => *much,
            Noise::Late | Noise::OwnFailures | Noise::Counts | Noise::AgentsLost => 0.0,
        }
    }
}

/// `0.8 of a CPU`
fn of_a_cpu(cpus: f64) -> String {
    match cpus {
        _ if cpus < 0.95 => format!("{cpus:.1} of a CPU"),
        _ => format!("{cpus:.1} CPUs"),
    }
}

/// Each kind once, with the worst case of it and how many there were; the most frequent first.
pub(super) fn summed(all: &[Noise]) -> Vec<(Noise, usize)> {
    let mut kinds: Vec<(Noise, usize)> = Vec::new();
    for noise in all {
        let is_alike = |(other, _): &&mut (Noise, usize)| {
            std::mem::discriminant(other) == std::mem::discriminant(noise)
        };
        match kinds.iter_mut().find(is_alike) {
            None => kinds.push((*noise, 1)),
            Some((worst, times)) => {
                *times += 1;
                if worst.amount() < noise.amount() {
                    *worst = *noise;
                }
            }
        }
    }
    kinds.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    kinds
}

/// Where other programs, or the host, took more than this share of the server's CPUs, what a trial lost says nothing of
/// the server.
pub(crate) const OTHERS_MOST: f64 = 0.1;
/// A greater share of failures of dyno's own makes a trial no evidence.
const OWN_MOST: f64 = 0.01;

/// What disturbed a load, for a server that has so many CPUs; without an aim, for a load that has none.
#[must_use]
pub fn noise_in(trial: &TrialRecord, aim: Option<&Aim>, cpus: f64) -> Option<Noise> {
    let recording = &trial.loaded.as_ref()?.recording;
    if aim.is_some_and(|aim| is_late(aim, recording)) {
        return Some(Noise::Late);
    }
    let doubts = doubts(trial, Terms::of(None));
    doubts.iter().find_map(|doubt| noise_of(doubt, aim, trial, cpus))
}

fn noise_of(doubt: &Doubt, aim: Option<&Aim>, trial: &TrialRecord, cpus: f64) -> Option<Noise> {
    let recording = &trial.loaded.as_ref()?.recording;
    let is_invalid = doubt.gravity() == Gravity::Invalid;
    let is_much = |share: &f64| OTHERS_MOST * cpus < *share;
    if doubt.is_any(books::ALL) {
        Some(Noise::Counts)
    } else if doubt.is(&agents::AGENTS_LOST) {
        Some(Noise::AgentsLost)
    } else if doubt.is(&OWN_FAILURES) {
        (is_invalid && OWN_MOST < own(recording)).then_some(Noise::OwnFailures)
    } else if doubt.is(&generator::INSTRUMENT_STOOD_STILL) {
        let longest_ms = generator::longest_pause(trial)? as f64 / 1e6;
        (is_invalid && is_long(aim, longest_ms)).then_some(Noise::StoodStill { longest_ms })
    } else if doubt.is(&machine::MACHINE_NOISE) {
        let share = machine::used_by_others(trial).filter(is_much);
        share.map(|cpus| Noise::OtherPrograms { cpus })
    } else if doubt.is(&machine::CPU_STOLEN) {
        machine::stolen(trial).filter(is_much).map(|cpus| Noise::Stolen { cpus })
    } else {
        None
    }
}

/// Whether dyno sent so many requests so late that the losses are not the server's own: by half a limit a tenth of those
/// that may be lost, or by a tenth of a limit one request in ten.
fn is_late(aim: &Aim, recording: &Recording) -> bool {
    let (late, due) = (&recording.total.late, recording.total.due as f64);
    let later_than = |time| (late.count() - late.known_within(time)) as f64;
    aim.criteria().iter().any(|criterion| {
        criterion.limit.is_some_and(|limit| {
            criterion.allowed / 10.0 * due < later_than(limit.within / 2)
                || due / 10.0 < later_than(limit.within / 10)
        })
    })
}

/// Whether a standstill of dyno is long beside a limit: a quarter of it.
fn is_long(aim: Option<&Aim>, longest_ms: f64) -> bool {
    let is_beyond = |limit: &Limit| limit.within as f64 / 4e6 <= longest_ms;
    aim.is_none_or(|aim| aim.limits.iter().any(is_beyond))
}

/// The share of the requests that failed for a reason on dyno's side. A request that no connection was free for is not
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
