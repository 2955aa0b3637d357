//! What was sampled in a run, explained load by load.

use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::RunRecord;
use profile::{Line, Profile, Stack};
use schemars::JsonSchema;
use serde::Serialize;

use super::sampling::{unseen, unseen_samples};
use super::{Explanation, Sampled, explain};
use crate::board::{Board, Row};
use crate::estimate::Estimate;

/// Where the CPU time of an answer goes: shares of sampled trials, of the CPU time that the rounds measured.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "why")]
pub struct Explained {
    /// the task
    pub task: String,
    #[serde(flatten)]
    pub point: Point,
    /// each server, and of two their difference
    pub explanation: Explanation,
    /// The stacks of each of its servers, in the same order.
    #[serde(skip)]
    pub stacks: Vec<Vec<CostedStack>>,
    /// servers of which no profile can be shown, and why
    pub unsampled: Vec<(String, String)>,
}

/// Where the kernel's stacks are not seen, its time is what the CPU time has more than the samples.
const KERNEL_UNKNOWN: &str =
    "the kernel's part is not known, because the CPU time of a process that ended is not";

/// A profile has shares only; they are shares of what the rounds measured.
const CPU_UNKNOWN: &str = "it was sampled, but no round measured how much CPU time an answer takes";

const NO_SAMPLES: &str = "it used so little CPU time that no sample met it";

/// What an answer costs in one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct CostedStack {
    /// Of the program, the outermost first.
    pub functions: Vec<String>,
    /// What the innermost of them was doing, where it is not its own code.
    pub line: Line,
    /// CPU time an answer, in microseconds.
    pub us: f64,
}

/// Explains each load of a run of which there are sampled trials.
#[must_use]
pub fn explained(board: &Board, run: &RunRecord) -> Vec<Explained> {
    let mut all = Vec::new();
    for table in &board.tables {
        // In the order in which the servers were named, so that a difference is the second's against the first.
        let mut rows: Vec<&Row> = table.rows.iter().filter(|row| !row.is_reference).collect();
        rows.sort_by_key(|row| run.entries.iter().position(|entry| entry.name == row.subject));
        for point in table.points() {
            let of_point = rows.iter().filter(|row| row.point == point).map(|row| (*row, run));
            all.extend(of_load(&table.workload, point, of_point));
        }
    }
    all
}

/// Explains two rows of one load, each of its run, with their difference; none unless there are samples of both.
#[must_use]
pub fn explained_pair(task: &str, rows: [(&Row, &RunRecord); 2]) -> Option<Explained> {
    let point = rows[0].0.point;
    of_load(task, point, rows.into_iter()).filter(|it| it.explanation.difference.is_some())
}

fn of_load<'t>(
    task: &str,
    point: Point,
    rows: impl Iterator<Item = (&'t Row, &'t RunRecord)>,
) -> Option<Explained> {
    let mut unsampled = Vec::new();
    let mut trials: Vec<(&Row, Vec<Profile>, Estimate)> = Vec::new();
    for (row, run) in rows {
        let is_its = |key: &lab::record::TrialKey| {
            key.subject == row.subject && key.workload == task && key.point == point
        };
        let records = run.profiles.iter().filter(|record| is_its(&record.key));
        let (mut found, mut refused) = (Vec::new(), None);
        for record in records {
            match &record.found {
                Ok(profile) if profile.method.user_only && profile.cpu_ns == 0 => {
                    refused = refused.or(Some(KERNEL_UNKNOWN.into()));
                }
                Ok(profile) => found.push(profile.clone()),
                Err(says) => refused = refused.or_else(|| Some(says.clone())),
            }
        }
        // Of little time, the kernel's clock may have counted none.
        let measured = row.estimate(Figure::CpuPerThousand).filter(|it| 0.0 < it.value);
        let is_met = |it: &Profile| 0.0 < it.samples() as f64 + unseen_samples(it);
        match (refused, measured) {
            (Some(says), _) if found.is_empty() => unsampled.push((row.subject.clone(), says)),
            _ if found.is_empty() => {}
            _ if !found.iter().any(is_met) => {
                unsampled.push((row.subject.clone(), NO_SAMPLES.into()));
            }
            (_, Some(measured)) => trials.push((row, found, measured)),
            (_, None) => unsampled.push((row.subject.clone(), CPU_UNKNOWN.into())),
        }
    }
    let sampled: Vec<Sampled<'_>> = trials
        .iter()
        .map(|(row, trials, measured)| Sampled {
            server: &row.subject,
            trials,
            measured: *measured,
        })
        .collect();
    let is_there = !(sampled.is_empty() && unsampled.is_empty());
    is_there.then(|| Explained {
        task: task.into(),
        point,
        explanation: explain(&sampled),
        stacks: sampled.iter().map(stacks).collect(),
        unsampled,
    })
}

/// All stacks of a server, each with its share of the measured time.
fn stacks(sampled: &Sampled<'_>) -> Vec<CostedStack> {
    let samples: u64 = sampled.trials.iter().map(Profile::samples).sum();
    let not_seen: f64 = sampled.trials.iter().map(unseen_samples).sum();
    let one_us = sampled.measured.value / (samples as f64 + not_seen).max(1.0);
    let of_kernel = CostedStack { functions: Vec::new(), line: unseen(), us: not_seen * one_us };
    let all = sampled.trials.iter();
    let seen = all.flat_map(|it| it.stacks.iter().map(move |stack| costed(it, stack, one_us)));
    seen.chain((0.0 < not_seen).then_some(of_kernel)).collect()
}

fn costed(trial: &Profile, stack: &Stack, one_us: f64) -> CostedStack {
    let name = |function: &u32| trial.functions[*function as usize].clone();
    CostedStack {
        functions: stack.functions.iter().map(name).collect(),
        line: trial.lines[stack.line as usize].clone(),
        us: stack.samples() as f64 * one_us,
    }
}
