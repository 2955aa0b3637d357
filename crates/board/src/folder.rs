//! The runs of a folder, read one by one on two threads; what cannot be believed is refused with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use public::{PublicRun, Verified};
use report::Findings;

use crate::ranking::Shown;
use crate::settings::{BOARD, Refused, Superseded, Written};
use crate::summary::RunSummary;

/// How a file becomes a run, or why it is refused; and what a recomputation finds in it.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    pub(crate) parse: fn(&[u8]) -> Result<PublicRun, String>,
    pub(crate) verify: fn(&PublicRun, &Findings<'_>) -> Verified,
}

/// All that the pages of a board are made of.
pub(crate) struct Known {
    pub(crate) written: Written,
    /// Oldest first.
    pub(crate) runs: Vec<RunSummary>,
    pub(crate) refused: Vec<Refused>,
}

/// Two, whatever the machine has: a run that is read takes memory.
const THREADS: usize = 2;

impl Known {
    /// From the files of runs, each with what was read of it; and the runs that are in several files.
    pub(crate) fn of(
        written: Written,
        mut found: Vec<(String, Result<RunSummary, String>)>,
    ) -> (Known, BTreeSet<String>) {
        // Of several files of a run that which can be believed furthest stands: its claims and signature are not in its
        // id, and anybody can write others.
        found.sort_by_cached_key(|(file, run)| {
            let lacks = |has: fn(&RunSummary) -> bool| !run.as_ref().is_ok_and(has);
            let is_signed = |run: &RunSummary| run.signer().is_some();
            (lacks(|run| run.is_consistent), lacks(is_signed), file.clone())
        });
        let mut refused = written.refused.clone();
        let mut runs: BTreeMap<String, RunSummary> = BTreeMap::new();
        let mut twice = BTreeSet::new();
        for (file, found) in found {
            let taken = found.and_then(|run| match runs.get(&run.short) {
                None => Ok(run),
                Some(other) => {
                    twice.insert(run.short);
                    Err(format!("{} is the same run", other.file))
                }
            });
            match taken {
                Ok(run) => drop(runs.insert(run.short.clone(), run)),
                Err(why) => refused.push(Refused { file, why }),
            }
        }
        let mut runs: Vec<RunSummary> = runs.into_values().collect();
        runs.sort_by(|one, other| {
            (one.began_unix_ms, &one.id).cmp(&(other.began_unix_ms, &other.id))
        });
        let known = Known { written, runs, refused: Vec::new() };
        refused.extend(known.amiss());
        refused.sort();
        (Known { refused, ..known }, twice)
    }

    /// What people wrote of runs and servers that are not here.
    fn amiss(&self) -> Vec<Refused> {
        let amiss = |file: String, why: String| Refused { file, why };
        let written = &self.written;
        let mut found = Vec::new();
        for preset in &written.settings.presets {
            let is_here = |name: &String| {
                let mut servers = self.runs.iter().flat_map(|run| &run.servers);
                servers.any(|server| server.entry.name == *name)
            };
            for name in preset.compare.iter().filter(|name| !is_here(name)) {
                found.push(amiss(BOARD.into(), format!("presets: no run has the server `{name}`")));
            }
            if !matches!(preset.compare.len(), 0 | 2) {
                found.push(amiss(BOARD.into(), "presets: `compare` takes two servers".into()));
            }
        }
        let rounds = written.rounds.iter().flat_map(|(name, round)| {
            round.runs.iter().map(move |id| (format!("rounds/{name}.toml"), id))
        });
        let superseded = written.superseded.iter().map(|it| ("superseded".into(), &it.run));
        for (file, id) in rounds.chain(superseded).filter(|(_, id)| self.run(id).is_none()) {
            found.push(amiss(file, format!("no run has the id `{id}`")));
        }
        found
    }

    pub(crate) fn superseded(&self, run: &RunSummary) -> Option<&Superseded> {
        self.written.superseded(&run.id)
    }

    /// Whether its page names another run.
    pub(crate) fn has_kin(&self, run: &RunSummary) -> bool {
        run.repeats.is_some()
            || self.repetitions(run).next().is_some()
            || self.superseded(run).is_some_and(|it| !it.by.is_empty())
    }

    /// The run that people mean by this id.
    pub(crate) fn run(&self, written: &str) -> Option<&RunSummary> {
        self.runs.iter().find(|run| crate::settings::is_id(written, &run.id))
    }

    /// Every row, oldest first, without those of runs that are superseded.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Shown<'_>> {
        let runs = self.runs.iter().enumerate();
        let standing = runs.filter(|(_, run)| self.superseded(run).is_none());
        standing.flat_map(|(place, run)| run.rows.iter().map(move |row| Shown { place, run, row }))
    }

    /// Rows that began before this are pale: a year before the newest run. A date is only a claim: one that is contradicted,
    /// or superseded, does not age others.
    pub(crate) fn pale_before(&self) -> i64 {
        const YEAR_MS: i64 = 365 * 24 * 3_600 * 1_000;
        let is_sound = |run: &&RunSummary| run.differences == 0 && self.superseded(run).is_none();
        let newest = self.runs.iter().rfind(is_sound);
        newest.map_or(i64::MIN, |run| run.began_unix_ms.saturating_sub(YEAR_MS))
    }

    /// The runs that say they repeat this one.
    pub(crate) fn repetitions<'k>(
        &'k self,
        run: &'k RunSummary,
    ) -> impl Iterator<Item = &'k RunSummary> {
        self.runs.iter().filter(|other| other.repeats.as_deref() == Some(run.id.as_str()))
    }
}

pub(crate) fn signature(path: &str) -> String {
    format!("{path}.sig")
}

/// What this makes of each, in their order, on two threads.
pub(crate) fn for_each<T: Sync, R: Send>(all: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS.min(all.len()) {
            scope.spawn(|| {
                while let Some((place, one)) = {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    all.get(place).map(|one| (place, one))
                } {
                    let result = make(one);
                    made.lock().expect("no thread panics").push((place, result));
                }
            });
        }
    });
    let mut made = made.into_inner().expect("no thread panics");
    made.sort_by_key(|(place, _)| *place);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{READER, summary};

    fn run(began: i64) -> RunSummary {
        let words = format!("began {began}\nserver a 1 9000\n");
        summary(&(READER.parse)(words.as_bytes()).unwrap())
    }

    /// When rows are pale beside this run and one of 2026.
    fn pale_beside(run_of_2026: &RunSummary, other: RunSummary, superseded: &[Superseded]) -> i64 {
        let written = Written { superseded: superseded.to_vec(), ..Written::default() };
        let runs = vec![run_of_2026.clone(), other];
        Known { written, runs, refused: Vec::new() }.pale_before()
    }

    #[test]
    fn a_date_that_is_contradicted_or_superseded_ages_no_other_run() {
        let (sound, wrong) = (run(1_795_884_212_469), run(253_402_300_799_000));
        let usual = pale_beside(&sound, sound.clone(), &[]);
        assert!(usual < pale_beside(&sound, wrong.clone(), &[]));
        let differs = RunSummary { differences: 1, ..wrong.clone() };
        assert_eq!(pale_beside(&sound, differs, &[]), usual);
        let superseded = Superseded { run: wrong.id.clone(), ..Superseded::default() };
        assert_eq!(pale_beside(&sound, wrong, &[superseded]), usual);
    }
}
