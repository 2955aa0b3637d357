//! What a recomputation of a public file finds.

use std::collections::BTreeSet;

use lab::experiment::Experiment;
use lab::plan::{Runner, plan};
use lab::record::{OutcomeKind, TrialKey, TrialRecord};
use report::run::Findings;
use serde_json::Value;
use store::RunEnd;

use crate::claims::claims;
use crate::run::{PLANNED_MAX, PublicRun};

/// How far a file can be believed. Each level includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The content is that of the id, and every part that of its digest.
    Intact,
    /// Besides, all that it claims was recomputed from its counts, and nothing differs.
    Consistent,
}

impl Level {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Intact => "intact",
            Level::Consistent => "consistent",
        }
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
    for trial in &run.trials {
        let at = format!("trial {}", trial.key.number);
        let planned = run.record.plan.iter().find(|key| key.number == trial.key.number);
        if planned != Some(&trial.key) {
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
    let claimed_by = run.claims["dyno_version"].as_str().unwrap_or_default().to_string();
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
    let tasks: Vec<_> = experiment.tasks().collect();
    let entries = record.entries.iter().filter(|entry| entry.skipped.is_none());
    let runners: Vec<Runner> = entries
        .map(|entry| {
            let own: Vec<_> = record.plan.iter().filter(|key| key.subject == entry.name).collect();
            let named = |task: &&lab::manner::Task| {
                let name = task.to_string();
                own.iter().any(|key| key.workload == name)
            };
            let tasks: Vec<_> = tasks.iter().filter(named).collect();
            let is_once = own.iter().all(|key| key.repeat == 0) && 1 < experiment.rounds();
            Runner {
                subject: entry.name.clone(),
                asked: tasks.iter().map(|task| task.workload.clone()).collect(),
                protocols: tasks.iter().map(|task| task.manner.protocol).collect(),
                is_extra: entry.tier == "reference" && is_once,
            }
        })
        .collect();
    if PLANNED_MAX < experiment.rounds() as usize * tasks.len() * experiment.points.len().max(1) {
        found.differs("the plan".into(), "an experiment", "more rounds and loads than are planned");
        return;
    }
    let planned = plan(experiment, &runners);
    if experiment.seed != record.seed {
        found.differs("the seed".into(), &record.seed.to_string(), &experiment.seed.to_string());
    }
    if planned != record.plan {
        let many = |plan: &[_]| format!("{} trials", plan.len());
        let (claimed, ours) = (many(&record.plan), many(&planned));
        let ours = format!("{ours}, in the order of the experiment and its seed");
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

/// Whether the run could not be done without this trial: where rounds end by a rule, those that were not needed are the
/// last ones of a row.
fn is_needed(key: &TrialKey, experiment: &Experiment, trials: &[TrialRecord]) -> bool {
    experiment.until.is_none()
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

fn are_equal(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => {
            one == other || (one - other).abs() <= ROUNDING * one.abs().max(other.abs())
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
