//! Which kept run can be resumed, and how to go on where none can.

use std::path::Path;

use campaign::project::Project;
use lab::record::{CAPACITY, LOAD, RACE, RunRecord};
use public::REPEATS;
use store::{RunId, Store};

use crate::shell::Refusal;

/// The newest run that can be resumed.
pub(crate) fn newest_unfinished(store: &Store) -> Result<RunId, Refusal> {
    let mut other = None;
    for id in store.ids()?.into_iter().rev() {
        let Some(run) = store.summary(id)?.filter(|run| !run.is_finished) else { continue };
        let says = match run.damage {
            Some(_) => None,
            None => unresumable(&store.run(run.id)?, (run.id, store.path())),
        };
        match says {
            None => return Ok(run.id),
            Some(says) => other = other.or(Some(says)),
        }
    }
    let path = store.path().display();
    let way_out = other.unwrap_or_else(|| {
        let option = Project::store_option(store.path());
        format!("`dyno runs list{option}` shows its runs, and `dyno servers list` the experiments")
    });
    Err(Refusal::new(format!("{path}: no run of an experiment is unfinished; {way_out}")))
}

/// Why a run cannot be resumed, and how to go on, if it is of no experiment.
pub(crate) fn unresumable(record: &RunRecord, (run, store): (RunId, &Path)) -> Option<String> {
    if record.facts.iter().any(|fact| fact.name == CAPACITY) {
        let option = Project::store_option(store);
        return Some(format!(
            "run {run} is a search for a capacity: `dyno capacity --resume {run}{option}` continues it"
        ));
    }
    if record.facts.iter().any(|fact| fact.name == REPEATS) {
        return Some(format!(
            "run {run} repeats a public file, whose sources are no longer here: `dyno runs repeat FILE` repeats it anew"
        ));
    }
    let made = [("a race", RACE), ("a kept load", LOAD)].into_iter();
    let (what, command) = made
        .filter_map(|(what, name)| {
            let fact = record.facts.iter().find(|fact| fact.name == name)?;
            Some((what, &fact.value))
        })
        .next()?;
    let option = Project::store_option(store);
    Some(format!(
        "run {run} is {what}, and only a run of an experiment can be resumed; `dyno report {run}{option}` shows what is \
         kept of it, and this begins it anew: {command}"
    ))
}

/// By which command a run goes on; or that it cannot, and what can be done instead.
pub(crate) fn way_on(record: &RunRecord, (run, store): (RunId, &Path)) -> String {
    unresumable(record, (run, store))
        .unwrap_or_else(|| format!("`{}` continues it", again(record, (run, store))))
}

/// The command that goes on with a run of an experiment.
pub(crate) fn again(record: &RunRecord, (run, store): (RunId, &Path)) -> String {
    let option = Project::store_option(store);
    format!("dyno run --resume {run}{}{option}", record.place_flags())
}

/// Whether no trial is left to run.
pub(crate) fn is_finished(store: &Store, run: RunId) -> Result<bool, Refusal> {
    Ok(store.summary(run)?.is_some_and(|summary| summary.is_finished))
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::{Fact, TrialKey};

    use super::*;

    #[test]
    fn a_race_or_a_load_that_was_interrupted_is_no_run_that_goes_on() {
        let folder = std::env::temp_dir().join(format!("dyno-resume-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut store = Store::open(&folder.join("s.sqlite")).unwrap();
        let key = TrialKey::new(0, "a", "load", Point::Connections(1), 0);
        let mut record =
            RunRecord { name: "x".into(), seed: 1, plan: vec![key], ..RunRecord::default() };
        let of_experiment = record.clone();
        for name in [LOAD, RACE] {
            record.facts = vec![Fact { name: name.into(), value: format!("dyno {name} x") }];
            store.begin(&record).unwrap();
        }
        let says = newest_unfinished(&store).unwrap_err().to_string();
        for part in [
            "no run of an experiment is unfinished; run 2 is a race, and only a run of an experiment can be resumed",
            "`dyno report 2 --store /",
            "begins it anew: dyno race.command x",
        ] {
            assert!(says.contains(part), "{part} in {says}");
        }
        let run = store.begin(&of_experiment).unwrap();
        record.facts.truncate(0);
        let newer =
            RunRecord { facts: vec![Fact { name: RACE.into(), value: "x".into() }], ..record };
        store.begin(&newer).unwrap();
        assert_eq!(newest_unfinished(&store).unwrap(), run);
        let facts = vec![Fact { name: REPEATS.into(), value: "0".into() }];
        let repeated = store.begin(&RunRecord { facts, ..of_experiment }).unwrap();
        assert_eq!(newest_unfinished(&store).unwrap(), run);
        let repeated = unresumable(&store.run(repeated).unwrap(), (repeated, store.path()));
        assert!(repeated.unwrap().contains("`dyno runs repeat FILE`"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
