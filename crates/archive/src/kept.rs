//! What a store has kept of a run, and two runs or two of its subjects to compare.

use std::fmt;
use std::path::{Path, PathBuf};

use analysis::Gate;
use campaign::project::Project;
use lab::Refusal;
use lab::record::{RunRecord, TrialRecord};
use report::run::{Compared, DamagedTrial, Findings, Side, place};
use report::time::utc;
use store::{Damage, Extent, Fault, Kept, RunEnd, RunId, RunSummary, Store, StoreError};

/// The store that a flag names, or else the one of the project; and the project, if it can be read.
pub fn store_of(flag: Option<&Path>) -> Result<(Option<Project>, PathBuf), Refusal> {
    let project = Project::find();
    let path = match (flag, &project) {
        (Some(path), _) => path.to_path_buf(),
        (None, Ok(project)) => project.store_path(),
        (None, Err(refusal)) => return Err(refusal.clone()),
    };
    match path.is_file() {
        true => Ok((project.ok(), path)),
        false => Err(nothing_kept(&path)),
    }
}

/// Opens a store to show what it has. Where it may be written to, that leaves no file beside it.
pub fn open(path: &Path) -> Result<Store, StoreError> {
    match Store::open(path) {
        Err(StoreError { fault: Fault::ReadOnly | Fault::CannotOpen(_), .. }) => {
            Store::open_to_read(path)
        }
        opened => opened,
    }
}

/// How a run ended, unless it is done.
pub fn unfinished(run: &RunSummary) -> Option<&'static str> {
    match run.ended {
        Some((_, RunEnd::Done)) => None,
        Some((_, RunEnd::Interrupted)) => Some("interrupted"),
        None => Some("in progress, or killed"),
    }
}

/// A store without a run.
pub fn nothing_kept(path: &Path) -> Refusal {
    if path.as_os_str() == "-" {
        return StoreError { path: path.into(), fault: Fault::Dash }.into();
    }
    let with = match Project::store_option(path).trim() {
        "" => String::new(),
        option => format!(", with `{option}`"),
    };
    Refusal::new(format!(
        "{}: no run has been kept here; `dyno run EXPERIMENT`, `dyno race` and `dyno load --keep` keep one{with}",
        path.display()
    ))
}

/// The run with this number, or the newest.
pub fn newest_or(store: &Store, number: Option<&str>) -> Result<RunId, Refusal> {
    if let Some(number) = number {
        return number.parse().map_err(|says: String| Refusal::new(says));
    }
    store.ids()?.last().copied().ok_or_else(|| nothing_kept(store.path()))
}

/// A run, its whole trials, and those that are damaged.
pub type Loaded = (RunRecord, Vec<TrialRecord>, Vec<DamagedTrial>);

/// All that is kept of a run.
pub fn kept(store: &Store, id: RunId) -> Result<Loaded, StoreError> {
    let run = store.run(id)?;
    let (mut trials, mut damaged) = (Vec::new(), Vec::new());
    for kept in store.trials(id, Extent::Whole)? {
        match kept.computable() {
            Kept::Whole(trial) => trials.push(*trial),
            Kept::Damaged(Damage { number, says }) => {
                let key = run.plan.iter().find(|key| key.number == number);
                let whose = key.map_or(String::new(), |key| {
                    format!(" ({}, {} at {})", key.subject, key.workload, place(&run, key.point))
                });
                let says = format!("trial {number}{whose} is damaged, and in no figure: {says}");
                damaged.push(DamagedTrial { number, says });
            }
        }
    }
    Ok((run, trials, damaged))
}

/// All that is kept of a run; none if another dyno has deleted the run since it was listed.
pub fn still_kept(store: &Store, id: RunId) -> Result<Option<Loaded>, Refusal> {
    match kept(store, id) {
        Err(StoreError { fault: Fault::NoRun(_), .. }) => Ok(None),
        kept => Ok(Some(kept?)),
    }
}

/// What is found in a run, with the commands that show it again.
pub fn findings<'t>(store: &Store, id: RunId, (run, trials, damaged): &'t Loaded) -> Findings<'t> {
    let found = Findings::of(&id, run, trials, damaged.clone());
    found.kept_where(Project::store_option(store.path()))
}

/// The runs of which this is one repetition, oldest first: those with trials whose own rows are not damaged; and whether
/// there are older ones than the newest `most`.
pub fn alike(store: &Store, id: RunId, most: usize) -> Result<(Vec<RunSummary>, bool), Refusal> {
    let run = store.run(id)?;
    refuse_search(&run, id, "a trend has one figure of each run")?;
    let group = run.group();
    let is_alike = |run: &RunSummary| run.group == group && run.damage.is_none() && 0 < run.kept;
    let (mut runs, has_older) = newest(store, most, is_alike)?;
    runs.reverse();
    Ok((runs, has_older))
}

/// The newest runs of those that are meant, newest first; and whether there are more. No more than these are read.
pub fn newest(
    store: &Store,
    most: usize,
    is_meant: impl Fn(&RunSummary) -> bool,
) -> Result<(Vec<RunSummary>, bool), StoreError> {
    let mut found = Vec::new();
    for id in store.ids()?.into_iter().rev() {
        // None: another dyno has deleted it since.
        let Some(run) = store.summary(id)?.filter(&is_meant) else { continue };
        if found.len() == most {
            return Ok((found, true));
        }
        found.push(run);
    }
    Ok((found, false))
}

/// Whether a run has every word of a search: in its number, what it is of, when it began, or its servers.
pub fn has_words(run: &RunSummary, search: &str) -> bool {
    let quick = if run.is_quick { "quick" } else { "" };
    let (began, servers) = (utc(run.began_unix_ms), run.servers.join(" "));
    let text = format!("{} {} {began} {quick} {servers}", run.id, run.group).to_lowercase();
    search.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

/// A search has two rates for each server, which other reports than its own would take for one figure.
fn refuse_search(run: &RunRecord, id: RunId, why: &str) -> Result<(), Refusal> {
    match run.is_search() {
        false => Ok(()),
        true => Err(Refusal::new(format!(
            "run {id} searched for capacities, each of which is two rates, and {why}; `dyno report {id}` shows it"
        ))),
    }
}

/// What one argument names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub run: RunId,
    pub subject: Option<String>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            None => write!(f, "{}", self.run),
            Some(subject) => write!(f, "{}:{subject}", self.run),
        }
    }
}

/// Either both are whole runs, or both subjects; and they are not the same.
pub fn differ(a: &Named, b: &Named) -> Result<(), Refusal> {
    if a.subject.is_some() != b.subject.is_some() {
        return Err(Refusal::new(format!(
            "`{a}` and `{b}`: one names a server and the other a whole run; name two runs, or RUN:SERVER twice"
        )));
    }
    if a == b {
        return Err(Refusal::new("A and B are the same: there is nothing to compare; name two"));
    }
    Ok(())
}

pub fn named(text: &str) -> Result<Named, Refusal> {
    match text.split_once(':') {
        None => Ok(Named { run: number(text)?, subject: None }),
        Some((run, subject)) => Ok(Named { run: number(run)?, subject: Some(subject.into()) }),
    }
}

pub fn number(text: &str) -> Result<RunId, Refusal> {
    text.parse().map_err(|says: String| {
        Refusal::new(format!("{says}; two servers of one run are `--run RUN SERVER SERVER`"))
    })
}

/// Both sides as they were kept, matched; refused if they do not match.
pub fn compared<T>(
    store: &Store,
    a: &Named,
    b: &Named,
    gate: Gate,
    then: impl FnOnce(&Compared<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let (a_loaded, b_loaded) = (load(store, a)?, load(store, b)?);
    for (side, loaded) in [(a, &a_loaded), (b, &b_loaded)] {
        refuse_search(&loaded.0, side.run, "a comparison has figures with rounds")?;
    }
    if a.subject.is_none() && a_loaded.0.name != b_loaded.0.name {
        return Err(Refusal::new(format!(
            "run {} is of `{}`, run {} of `{}`: their rows do not match; compare two runs of one experiment, or \
             two servers as RUN:SERVER RUN:SERVER",
            a.run, a_loaded.0.name, b.run, b_loaded.0.name
        )));
    }
    let a_found = findings(store, a.run, &a_loaded);
    let b_found = findings(store, b.run, &b_loaded);
    then(&Compared::of(
        Side { findings: &a_found, subject: a.subject.as_deref() },
        Side { findings: &b_found, subject: b.subject.as_deref() },
        gate,
    ))
}

/// A run as it was kept, which must have the requested subject.
fn load(store: &Store, side: &Named) -> Result<Loaded, Refusal> {
    let loaded = kept(store, side.run)?;
    if let Some(subject) = &side.subject {
        let entries: Vec<&str> = loaded.0.entries.iter().map(|entry| entry.name.as_str()).collect();
        if !entries.contains(&subject.as_str()) {
            return Err(Refusal::new(format!(
                "run {} has no server `{}`; it has {}",
                side.run,
                subject.escape_debug(),
                entries.join(", ")
            )));
        }
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use lab::record::Entry;

    use super::*;

    #[test]
    fn the_newest_runs_that_have_all_words_are_found_and_that_there_are_more() {
        let folder = std::env::temp_dir().join(format!("dyno-kept-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut store = Store::open(&folder.join("s.sqlite")).unwrap();
        for (name, title) in [("a", "Go"), ("b", "Go"), ("a", "Rust"), ("a", "go")] {
            let entries = vec![Entry { title: title.into(), ..Entry::default() }];
            store.begin(&RunRecord { name: name.into(), entries, ..RunRecord::default() }).unwrap();
        }
        let found = |most, words: &str| {
            let (runs, has_older) = newest(&store, most, |run| has_words(run, words)).unwrap();
            (runs.iter().map(|run| run.id.to_string()).collect::<Vec<_>>().join(" "), has_older)
        };
        assert_eq!(found(9, ""), ("4 3 2 1".into(), false));
        assert_eq!(found(3, ""), ("4 3 2".into(), true));
        assert_eq!(found(2, "go A"), ("4 1".into(), false));
        assert_eq!(found(1, "go 1970-01-01"), ("4".into(), true));
        assert_eq!(found(1, "go rust"), (String::new(), false));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
