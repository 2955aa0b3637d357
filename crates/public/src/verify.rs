//! What a recomputation of a public file finds.

mod times;

use std::collections::{BTreeMap, BTreeSet};

use lab::experiment::Experiment;
use lab::manner::Task;
use lab::named;
use lab::plan::{Runner, plan};
use lab::record::{OutcomeKind, RunRecord, TrialKey, TrialRecord};
use report::run::Findings;
use serde_json::Value;
use store::RunEnd;

use crate::claims::claims;
use crate::run::{PLANNED_MAX, PublicRun};

named! {
    /// How far a file can be believed. Each level includes those before it.
    pub enum Level {
        /// The content is that of the id, and every part that of its digest.
        Intact = "intact",
        /// Besides, all that it claims was recomputed from its counts, and nothing differs.
        Consistent = "consistent",
    }
}

/// A claim that is not what the content gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where it stands, such as `tables[0].rows[2].figures.throughput_per_s.mean`.
    pub at: String,
    pub claimed: String,
    pub recomputed: String,
}

/// What came of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    pub level: Level,
    pub differences: Vec<Difference>,
    /// What could not be recomputed, in a sentence each.
    pub unrecomputed: Vec<String>,
    /// The dyno that computed the claims: a figure may have been defined otherwise then.
    pub claimed_by: String,
}

/// No more differences are listed.
const LISTED: usize = 1_000;
/// Two computers may round the last digits of a sum differently.
const ROUNDING: f64 = 1e-9;

/// Computes everything that a file claims from its counts and histograms, and compares.
#[must_use]
pub fn verify(run: &PublicRun) -> Verified {
    verify_found(run, &run.findings())
}

/// The same where all that is found in the run is known.
#[must_use]
pub fn verify_found(run: &PublicRun, findings: &Findings<'_>) -> Verified {
    let mut found = Found::default();
    plan_rows(run, &mut found);
    times::contradictions(run, &mut found);
    for trial in &run.trials {
        let at = format!("trial {}", trial.key.number);
        let planned = run.record.plan.iter().find(|key| key.number == trial.key.number);
        let is_planned = |key: &TrialKey| match run.record.is_search() {
            // Which load comes next depends on the trials before.
            true => (&key.subject, &key.workload) == (&trial.key.subject, &trial.key.workload),
            false => *key == trial.key,
        };
        if !planned.is_some_and(is_planned) {
            found.differs(at.clone(), "another server, load or round", "that of the plan");
        }
        if let Some(Err(says)) = trial.loaded.as_ref().map(|it| it.recording.check_sums()) {
            found.differs(format!("{at}, its counts"), &says, "counts that add up");
        }
        if trial.held.is_some() {
            found
                .unrecomputed
                .insert("the counts of held connections are not checked against each other".into());
        }
        if trial.loaded.is_none()
            && trial.held.is_none()
            && trial.outcome.kind == OutcomeKind::Measured
        {
            found.differs(at, "measured", "no load");
        }
    }
    match &run.claims {
        Value::Null => drop(found.unrecomputed.insert("it claims nothing".into())),
        claimed => compare(String::new(), claimed, &claims(findings), &mut found),
    }
    for (number, profile) in (0..).zip(&run.record.profiles) {
        if let Err(says) = &profile.found {
            found.unrecomputed.insert(format!("profile {number}: {says}"));
        }
    }
    let claimed_by = shown(&run.claims["dyno_version"]);
    let is_consistent = found.differences.is_empty() && found.unrecomputed.is_empty();
    Verified {
        level: if is_consistent { Level::Consistent } else { Level::Intact },
        differences: found.differences,
        unrecomputed: found.unrecomputed.into_iter().collect(),
        claimed_by,
    }
}

#[derive(Default)]
struct Found {
    differences: Vec<Difference>,
    unrecomputed: BTreeSet<String>,
}

impl Found {
    fn differs(&mut self, at: String, claimed: &str, recomputed: &str) {
        if self.differences.len() < LISTED {
            let (claimed, recomputed) = (claimed.into(), recomputed.into());
            self.differences.push(Difference { at, claimed, recomputed });
        }
    }
}

/// The plan is that of the experiment and its seed, and nothing of it is missing from a run that ended.
fn plan_rows(run: &PublicRun, found: &mut Found) {
    let record = &run.record;
    let Some(experiment) = record.experiment.as_ref().filter(|_| !record.is_search()) else {
        let what = if record.is_search() { "a search" } else { "a load without an experiment" };
        found.unrecomputed.insert(format!("the plan of {what} does not follow from its seed"));
        return;
    };
    let places = experiment.tasks().count().saturating_mul(experiment.points.len());
    if PLANNED_MAX < places.saturating_mul(experiment.rounds() as usize) {
        found.differs("the plan".into(), "an experiment", "more rounds and loads than are planned");
        return;
    }
    if experiment.seed != record.seed {
        found.differs("the seed".into(), &record.seed.to_string(), &experiment.seed.to_string());
    }
    let both = [false, true].map(|adds| runners(record, experiment, adds));
    let many = planned(experiment, &both[0]);
    // A plan is made only if it has as many trials as the file's, which are bounded.
    let is_plan = |runners: &Vec<Runner>| plan(experiment, runners) == record.plan;
    if many != record.plan.len() || !both.iter().any(is_plan) {
        let claimed = format!("{} trials", record.plan.len());
        let ours = format!("{many} trials, in the order of the experiment and its seed");
        found.differs("the plan".into(), &claimed, &ours);
    }
    if !matches!(run.ended, Some((_, RunEnd::Done))) {
        return;
    }
    let kept: BTreeSet<u32> = run.trials.iter().map(|trial| trial.key.number).collect();
    let mut missing = record.plan.iter().filter(|key| !kept.contains(&key.number));
    if let Some(key) = missing.find(|key| is_needed(key, experiment, &run.trials)) {
        let at = format!("trial {} ({}, round {})", key.number, key.subject, key.repeat + 1);
        found.differs(at, "the run was done", "it is missing");
    }
}

/// The servers as the plan of the run has them. Where there is one round, it does not say whether dyno added a reference
/// or somebody named it: `adds` says so.
fn runners(record: &RunRecord, experiment: &Experiment, adds: bool) -> Vec<Runner> {
    let tasks: Vec<(Task, String)> =
        experiment.tasks().map(|it| (it.clone(), it.to_string())).collect();
    let mut planned: BTreeMap<&str, Vec<&TrialKey>> = BTreeMap::new();
    for key in &record.plan {
        planned.entry(&key.subject).or_default().push(key);
    }
    let entries = record.entries.iter().filter(|entry| entry.skipped.is_none());
    entries
        .map(|entry| {
            let own = planned.get(&*entry.name).map_or(&[][..], Vec::as_slice);
            let names: BTreeSet<&str> = own.iter().map(|key| &*key.workload).collect();
            let is_once =
                own.iter().all(|key| key.repeat == 0) && (adds || 1 < experiment.rounds());
            let tasks = || tasks.iter().filter(|(_, name)| names.contains(&**name));
            let asked: BTreeSet<String> = tasks().map(|(task, _)| task.workload.clone()).collect();
            let protocols: BTreeSet<_> = tasks().map(|(task, _)| task.manner.protocol).collect();
            Runner {
                subject: entry.name.clone(),
                asked: asked.into_iter().collect(),
                protocols: protocols.into_iter().collect(),
                is_extra: entry.tier == "reference" && is_once,
            }
        })
        .collect()
}

/// How many trials the plan of these servers has.
fn planned(experiment: &Experiment, runners: &[Runner]) -> usize {
    let mut trials = 0;
    for runner in runners {
        let of_protocols =
            experiment.manners.iter().filter(|it| runner.protocols.contains(&it.protocol));
        let rounds = if runner.is_extra { 1 } else { experiment.rounds() as usize };
        trials += runner.asked.len() * of_protocols.count() * rounds;
    }
    trials * experiment.points.len()
}

/// Whether the run could not be done without this trial: where a rule or the data end rounds, those that were not needed are the
/// last ones of a row.
fn is_needed(key: &TrialKey, experiment: &Experiment, trials: &[TrialRecord]) -> bool {
    (experiment.until.is_none() && experiment.pairs.is_none())
        || trials.iter().map(|trial| &trial.key).any(|other| {
            (&other.subject, &other.workload) == (&key.subject, &key.workload)
                && other.point == key.point
                && key.repeat < other.repeat
        })
}

/// Compares two trees of JSON.
fn compare(at: String, claimed: &Value, ours: &Value, found: &mut Found) {
    let below = |name: &str| match at.as_str() {
        "" => name.to_string(),
        at => format!("{at}.{name}"),
    };
    match (claimed, ours) {
        (Value::Object(claimed), Value::Object(ours)) => {
            let names: BTreeSet<&String> = claimed.keys().chain(ours.keys()).collect();
            for name in names.into_iter().filter(|name| *name != "dyno_version") {
                let [claimed, ours] =
                    [claimed, ours].map(|map| map.get(name).unwrap_or(&Value::Null));
                compare(below(name), claimed, ours, found);
            }
        }
        (Value::Array(claimed), Value::Array(ours)) => {
            for place in 0..claimed.len().max(ours.len()) {
                let [claimed, ours] =
                    [claimed, ours].map(|list| list.get(place).unwrap_or(&Value::Null));
                compare(format!("{at}[{place}]"), claimed, ours, found);
            }
        }
        (claimed, ours) if are_equal(claimed, ours) => {}
        (claimed, ours) => found.differs(at, &shown(claimed), &shown(ours)),
    }
}

/// Counts are not rounded.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(a), Some(b)) if one.is_f64() || other.is_f64() => {
            a == b || (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
        }
        _ => one == other,
    }
}

fn shown(value: &Value) -> String {
    const LONGEST: usize = 120;
    let text = match value {
        Value::Null => "nothing".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_that_were_computed_are_equal_to_nine_digits_and_counts_to_the_last() {
        assert!(are_equal(&json!(0.3), &json!(0.1 + 0.2)) && are_equal(&json!(2), &json!(2.0)));
        assert!(!are_equal(&json!(0.3), &json!(0.300_000_01)));
        assert!(!are_equal(&json!(3_000_000_001_u64), &json!(3_000_000_000_u64)));
        assert!(!are_equal(&json!(u64::MAX), &json!(u64::MAX - 1)));
        assert!(!are_equal(&json!(null), &json!(0)));
    }
}
