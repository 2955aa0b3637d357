//! Runs that are deleted, with their pages; what another dyno works on is left alone.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use campaign::Claim;
use campaign::project::Project;
use lab::Refusal;
use report::time::utc;
use store::{RunId, RunSummary, Store};
use units::counted;

use crate::page::{self, near};
use terminal::print;

/// A store, and the folder of its pages.
pub struct Removal {
    pub store: Store,
    path: PathBuf,
    pages: PathBuf,
}

impl Removal {
    pub fn open(project: Option<Project>, path: PathBuf) -> Result<Removal, Refusal> {
        let project = project.map_or_else(Project::of_user, Ok)?;
        let store = Store::open(&path)?;
        Ok(Removal { store, pages: project.reports(&path), path })
    }

    /// Makes sure that no other dyno works on a run.
    pub fn claim(&self, run: RunId) -> Result<Claim, Refusal> {
        Claim::stake(&self.path, run)
    }

    /// These runs, whose claims are held: those that are as they were when they were listed, and those that another dyno
    /// has deleted or changed since. The number of a deleted run may belong to another one by now.
    pub fn still_there(
        &self,
        runs: Vec<RunSummary>,
    ) -> Result<(Vec<RunSummary>, Vec<RunSummary>), Refusal> {
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        for run in runs {
            let is_same = self.store.summary(run.id)?.as_ref() == Some(&run);
            if is_same { there.push(run) } else { gone.push(run) }
        }
        Ok((there, gone))
    }

    /// Prints what would be deleted.
    pub fn show(&self, runs: &[RunSummary]) -> Result<(), Refusal> {
        for run in runs {
            let page = self.page(run).filter(|page| page.is_file());
            print(&line("would delete", run, page.as_deref()))?;
        }
        Ok(())
    }

    /// Deletes these runs, all of them or none, and then their pages; prints what was deleted. The runs are claimed.
    pub fn delete(&mut self, runs: &[RunSummary], claims: Vec<Claim>) -> Result<(), Refusal> {
        let numbers: Vec<RunId> = runs.iter().map(|run| run.id).collect();
        self.store.remove(&numbers)?;
        drop(claims);
        for run in runs {
            let page = self.page(run).filter(|page| is_removed(page));
            print(&line("deleted", run, page.as_deref()))?;
        }
        Ok(())
    }

    /// The page that a run left; of a run whose own rows are damaged it is not known.
    fn page(&self, run: &RunSummary) -> Option<PathBuf> {
        let is_known = run.damage.is_none();
        is_known.then(|| page::path(&self.pages, &run.id.to_string(), &run.name))
    }

    /// Gives the room back, if no run is under way in this store: its dyno would have to wait. Later runs use the room
    /// otherwise.
    pub fn shrink(&mut self) {
        let Ok(runs) = self.store.runs() else { return };
        if runs.iter().all(|run| run.is_finished || self.claim(run.id).is_ok()) {
            // A full disk has no room to do it; then the room is only used again.
            let _ = self.store.shrink();
        }
    }
}

fn is_removed(page: &Path) -> bool {
    match fs::remove_file(page) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => {
            terminal::notice(&format!("dyno: {}: not deleted: {error}", near(page)));
            false
        }
    }
}

fn line(what: &str, run: &RunSummary, page: Option<&Path>) -> String {
    let page = page.map_or(String::new(), |page| format!(", and its page {}", near(page)));
    format!("{what} {}{page}\n", in_words(run))
}

/// A run as it is named where something is done with it.
pub fn in_words(run: &RunSummary) -> String {
    if let Some(damage) = &run.damage {
        return format!("run {}, which is damaged ({damage})", run.id);
    }
    let (quick, began) = (if run.is_quick { ", quick" } else { "" }, utc(run.began_unix_ms));
    let trials = counted(u64::from(run.kept), "trial", "trials");
    let end = if run.is_finished { "" } else { ", unfinished" };
    format!("run {}: {}{quick}, begun {began}, {trials}{end}", run.id, run.group)
}

#[cfg(test)]
mod tests {
    use lab::record::RunRecord;

    use super::*;
    use crate::kept::{kept, still_kept};

    fn record(name: &str) -> RunRecord {
        RunRecord { name: name.into(), seed: 1, ..RunRecord::default() }
    }

    #[test]
    fn a_run_that_another_dyno_deletes_meanwhile_is_left_out_even_if_its_number_is_used_again() {
        let folder = std::env::temp_dir().join(format!("dyno-removal-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("s.sqlite");
        let mut other = Store::open(&path).unwrap();
        for name in ["a", "b", "c"] {
            other.begin(&record(name)).unwrap();
        }
        let store = Store::open(&path).unwrap();
        let removal = Removal { store, path, pages: folder.clone() };
        let listed = removal.store.runs().unwrap();
        other.remove(&[listed[1].id, listed[2].id]).unwrap();
        other.begin(&record("another")).unwrap();
        let (there, gone) = removal.still_there(listed.clone()).unwrap();
        assert_eq!((there, gone), (listed[..1].to_vec(), listed[1..].to_vec()));
        assert!(kept(&removal.store, listed[2].id).is_err());
        assert!(still_kept(&removal.store, listed[2].id).unwrap().is_none());
        assert!(still_kept(&removal.store, listed[0].id).unwrap().is_some());
        fs::remove_dir_all(&folder).unwrap();
    }
}
