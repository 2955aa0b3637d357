//! When one public file counts as a repetition of another. Whether its rows agree with those of the original is another
//! question: a repetition that fails counts, too, and is shown beside the original.

use std::collections::BTreeSet;

use lab::experiment::{Experiment, Subjects};
use lab::record::TrialRecord;
use store::RunEnd;

use crate::run::PublicRun;

/// What a file is for the run that it says it repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// A repetition by somebody else, on a machine of the same class.
    Counts,
    /// It repeats the run, and is not signed, or nothing shows that its signer is another than that of the original.
    ByTheSame,
    /// It repeats the run, on a machine of another class.
    OnAnotherClass,
    /// It is no repetition: why.
    No(&'static str),
}

impl Repetition {
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Repetition::Counts => "repeated",
            Repetition::ByTheSame => "repeated by the same",
            Repetition::OnAnotherClass => "repeated on another class of machine",
            Repetition::No(why) => why,
        }
    }
}

/// Whether a file counts as a repetition of another, by the signers' names and the labels of the machines' classes: those
/// of the original, then those of the repetition.
#[must_use]
pub fn counts_as_repetition(
    original: &PublicRun,
    repetition: &PublicRun,
    signers: [Option<&str>; 2],
    classes: [&str; 2],
) -> Repetition {
    if let Some(why) = no_repetition(original, repetition) {
        return Repetition::No(why);
    }
    if classes[0] != classes[1] {
        return Repetition::OnAnotherClass;
    }
    match signers {
        [Some(first), Some(other)] if first != other => Repetition::Counts,
        _ => Repetition::ByTheSame,
    }
}

fn no_repetition(original: &PublicRun, repetition: &PublicRun) -> Option<&'static str> {
    let (first, again) = (&original.record, &repetition.record);
    if repetition.repeats() != Some(&original.id) {
        return Some("it does not say that it repeats this run");
    }
    if original.id == repetition.id || first.seed == again.seed {
        return Some("it has the seed of the original");
    }
    if !matches!(repetition.ended, Some((_, RunEnd::Done))) {
        return Some("it did not end");
    }
    if first.experiment.is_none() {
        return Some("what it names has no experiment that can be repeated");
    }
    if asked(original) != asked(repetition) || first.is_quick != again.is_quick {
        return Some("its experiment is another one");
    }
    let is_known = |file: &(String, String)| first.files.contains(file);
    let servers = || again.entries.iter().filter(|entry| entry.skipped.is_none());
    let differs = |server: &str| {
        let [before, now] = [original, repetition].map(|run| run.folder(server));
        before.into_iter().collect::<BTreeSet<_>>() != now.into_iter().collect()
    };
    if !again.files.iter().all(is_known) || servers().any(|entry| differs(&entry.name)) {
        return Some("its files are not those of the original");
    }
    let before: BTreeSet<String> = original.trials.iter().filter_map(measured).collect();
    let now: Vec<String> = repetition.trials.iter().filter_map(measured).collect();
    if now.is_empty() || now.iter().any(|trial| before.contains(trial)) {
        return Some("its trials are not new");
    }
    None
}

/// The experiment without what may differ: the seed, which servers are named, and what is sampled after the rounds.
fn asked(run: &PublicRun) -> Option<Experiment> {
    let experiment = run.record.experiment.clone()?;
    Some(Experiment { seed: 0, subjects: Subjects::All, why: None, ..experiment })
}

/// What was counted in a trial: no two loads have the same counts and times.
fn measured(trial: &TrialRecord) -> Option<String> {
    let loaded = trial.loaded.as_ref().and_then(|it| serde_json::to_string(&it.recording).ok());
    let held = || trial.held.as_ref().and_then(|it| serde_json::to_string(&it.holding).ok());
    loaded.or_else(held)
}
