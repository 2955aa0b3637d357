//! Going on with a kept run: only where its trials can be compared with those to come.

use std::path::Path;

use lab::Refusal;
use lab::record::{Entry, Fact, RunRecord};
use load::Halt;
use machine::facts::differences_beyond_a_start;
use store::RunId;

use crate::event::Watch;
use crate::project::Project;
use crate::services::{self, SERVICE};
use crate::{Admitted, Campaign, Entrant, RunResources};

/// Refuses another dyno or another machine: figures of two instruments would be averaged as if they came from one.
fn same_instrument(
    record: &RunRecord,
    resources: &RunResources,
    (run, store): (RunId, &Path),
) -> Result<(), Refusal> {
    let (facts, version) = (resources.facts(), crate::version());
    let mut differ: Vec<String> = Vec::new();
    if record.dyno != version {
        differ.push(format!("dyno was {}, and is {version}", record.dyno));
    }
    // What is searched for, and under which ceiling, is of the run and not of the machine.
    let is_of_machine =
        |it: &&Fact| ["capacity.", SERVICE].iter().all(|of_run| !it.name.starts_with(of_run));
    let of_machine: Vec<Fact> = record.facts.iter().filter(is_of_machine).cloned().collect();
    for it in differences_beyond_a_start(&of_machine, &facts) {
        differ.push(format!("{} was {}, and is {}", it.name, it.values[0], it.values[1]));
    }
    if differ.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(format!(
        "run {run} began under other conditions, and its trials are compared with each other: {}; put that back, \
         or start a new run with `{}` (`dyno report {run}{}` shows what was measured)",
        differ.join("; "),
        anew(record, store),
        Project::store_option(store)
    )))
}

/// The campaign of a kept run; refused if a file that shaped it has changed.
pub fn as_it_was(project: Project, record: &RunRecord, store: &Path) -> Result<Campaign, Refusal> {
    let no_experiment = || Refusal::new("no experiment was kept with it");
    let experiment = record.experiment.clone().ok_or_else(no_experiment)?;
    let others = record.files.iter().filter(|(name, _)| *name != experiment.source.name);
    for (name, text) in others {
        let now = std::fs::read_to_string(project.root.join(name));
        if now.ok().as_ref() != Some(text) {
            return Err(Refusal::new(format!(
                "{name} has changed since the run began; put it back, or start a new run with \
                 `{}`",
                anew(record, store)
            )));
        }
    }
    Campaign::read(project, experiment)
}

/// Refuses subjects that were built anew since the run began: a run compares like with like.
fn same_entries(
    record: &RunRecord,
    entries: &[Entry],
    (run, store): (RunId, &Path),
) -> Result<(), Refusal> {
    let changed = |entry: &&Entry| {
        let now = entries.iter().find(|other| other.name == entry.name);
        entry.skipped.is_none()
            && now.is_none_or(|now| now.build != entry.build || now.version != entry.version)
    };
    match record.entries.iter().find(changed) {
        None => Ok(()),
        Some(entry) => Err(Refusal::new(format!(
            "`{}` is not what it was when run {run} began (it was {}); a run compares like with like: start a new \
             one with `{}`",
            entry.name,
            entry.version,
            anew(record, store)
        ))),
    }
}

/// Refuses services that are not what they were when the run began.
fn same_services(
    record: &RunRecord,
    entrants: &[Entrant],
    (run, store): (RunId, &Path),
) -> Result<(), Refusal> {
    let now = services::facts(entrants);
    let were = record.facts.iter().filter(|fact| fact.name.starts_with(SERVICE));
    match were.into_iter().find(|fact| !now.contains(fact)) {
        None => Ok(()),
        Some(fact) => Err(Refusal::new(format!(
            "{} is not what it was when run {run} began ({}); a run compares like with like: start a new one with `{}`",
            fact.name,
            fact.value,
            anew(record, store)
        ))),
    }
}

/// Has the subjects of a kept run built and admitted, so that it goes on; refused unless instrument and subjects are those
/// with which it began. None: interrupted.
pub fn admitted_again(
    campaign: &Campaign,
    resources: RunResources,
    (record, run, store): (&RunRecord, RunId, &Path),
    halt: &Halt,
    watch: Watch<'_>,
) -> Result<Option<Admitted>, Refusal> {
    same_instrument(record, &resources, (run, store))?;
    let admitted = Admitted::of(campaign, resources, halt, watch)?;
    if let Some(Admitted { entrants, entries, .. }) = &admitted {
        same_entries(record, entries, (run, store))?;
        same_services(record, entrants, (run, store))?;
    }
    Ok(admitted)
}

/// The command that runs the experiment anew, into the same store.
fn anew(record: &RunRecord, store: &Path) -> String {
    record.again() + &Project::store_option(store)
}
