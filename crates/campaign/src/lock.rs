//! One run at a time in a project: two runs would load each other's servers. And one dyno at a time for each run of a
//! store. Both are locks on files, which the kernel releases however dyno ends, and which containers that share the
//! folder share, too.

use lab::Refusal;
use lab::build::make_folder;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use load::Halt;
use machine::owned;
use machine::process::Marker;
use rustix::fs::{FlockOperation, flock};
use store::RunId;

use crate::project::Project;
use crate::trials::rest;

/// How often a lock is tried that another dyno has.
const LOOK: Duration = Duration::from_millis(100);

/// Held while a run is under way.
pub struct Lock {
    _held: File,
}

impl Lock {
    pub fn take(project: &Project) -> Result<Lock, Refusal> {
        Lock::try_take(project)?.map_err(|holder| holder.runs_here())
    }

    /// Takes the lock, and waits as long as `most` for a dyno that has it, whose name `tell` is told. None:
    /// interrupted.
    pub fn wait(
        project: &Project,
        most: Duration,
        halt: &Halt,
        tell: &dyn Fn(&str),
    ) -> Result<Option<Lock>, Refusal> {
        let (began, mut is_told) = (Instant::now(), false);
        while !halt.is_asked() {
            let holder = match Lock::try_take(project)? {
                Ok(lock) => return Ok(Some(lock)),
                Err(holder) if most <= began.elapsed() => return Err(holder.runs_here()),
                Err(holder) => holder,
            };
            if !std::mem::replace(&mut is_told, true) {
                tell(&holder.in_words().0);
            }
            rest(LOOK, halt);
        }
        Ok(None)
    }

    fn try_take(project: &Project) -> Result<Result<Lock, Holder>, Refusal> {
        let path = project.results().join("run.lock");
        let refused = |error: io::Error| {
            Refusal::new(format!("{}: {error}; is the folder yours to write to?", path.display()))
        };
        make_folder(project.results()).map_err(refused)?;
        Ok(lock(&path).map_err(refused)?.map(|held| Lock { _held: held }))
    }
}

/// While this is held, one run of a store is ours. Two projects may share a store, so the project's lock is not enough;
/// and a lock on the store itself would conflict with SQLite's.
pub struct Claim {
    path: PathBuf,
    _held: File,
}

impl Claim {
    pub fn stake(store: &Path, run: RunId) -> Result<Claim, Refusal> {
        let refused = |error: io::Error| {
            Refusal::new(format!("{}: run {run} cannot be claimed: {error}", store.display()))
        };
        // By whatever links it is named: the file beside it must be the same.
        let mut path = std::fs::canonicalize(store).map_err(refused)?.into_os_string();
        path.push(format!("-run-{run}.lock"));
        let path = PathBuf::from(path);
        match lock(&path).map_err(refused)? {
            Ok(held) => Ok(Claim { path, _held: held }),
            Err(holder) => {
                let (name, end) = holder.in_words();
                Err(Refusal::new(format!(
                    "{name} is working on run {run} of {}; wait for it{end}",
                    store.display()
                )))
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // While it is held: so it is not another dyno's.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Who has a lock, if that could be read.
struct Holder(Option<Marker>);

impl Holder {
    fn runs_here(&self) -> Refusal {
        let (name, end) = self.in_words();
        Refusal::new(format!(
            "{name} runs an experiment here; two at once would disturb each other: wait for it{end}"
        ))
    }

    /// Its name, and how it can be ended.
    fn in_words(&self) -> (String, String) {
        match self.0.and_then(|marker| marker.owner()) {
            Some((pid, _)) => {
                (format!("another dyno (process {pid})"), format!(", or end it with `kill {pid}`"))
            }
            None => {
                ("another dyno (in another container, or on another host)".into(), String::new())
            }
        }
    }
}

/// Locks the file of this name, which is created if necessary, and writes down who has it; or says who has it.
fn lock(path: &Path) -> io::Result<Result<File, Holder>> {
    loop {
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // The file may have been removed by the one who had it until now.
            Ok(()) if !owned::is_at(&file, path) => {}
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                // On a full disk the lock is held all the same.
                match writeln!(file, "{}", Marker::unique()) {
                    Err(error) if error.kind() != ErrorKind::StorageFull => return Err(error),
                    Ok(()) | Err(_) => return Ok(Ok(file)),
                }
            }
            Err(error) if io::Error::from(error).kind() == ErrorKind::WouldBlock => {
                let mut holder = String::new();
                let _ = file.take(64).read_to_string(&mut holder);
                return Ok(Err(Holder(holder.trim().parse().ok())));
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Folder;

    #[test]
    fn a_run_is_claimed_once_also_from_another_network_namespace() {
        let folder = Folder::new();
        let store = folder.0.join("runs.sqlite");
        std::fs::write(&store, "").unwrap();
        std::os::unix::fs::symlink(&store, folder.0.join("link")).unwrap();
        let run: RunId = "7".parse().unwrap();
        let claim = Claim::stake(&store, run).unwrap();
        let says = Claim::stake(&folder.0.join("link"), run).err().unwrap().to_string();
        let own = std::process::id();
        let named = format!("another dyno (process {own}) is working on run 7 of ");
        assert!(says.contains(&named) && says.contains(&format!("`kill {own}`")), "{says}");
        let elsewhere = || {
            let store = store.clone();
            let stake = move || match machine::namespace::enter() {
                Ok(()) => Some(Claim::stake(&store, run).is_ok()),
                Err(_) => None,
            };
            std::thread::spawn(stake).join().unwrap()
        };
        assert_ne!(elsewhere(), Some(true), "in another network namespace");
        assert!(Claim::stake(&store, "8".parse().unwrap()).is_ok());
        drop(claim);
        assert_ne!(elsewhere(), Some(false), "nobody has it");
        let left = std::fs::read_dir(&folder.0).unwrap().count();
        assert_eq!(left, 2, "locks are removed with their claims");
    }

    #[test]
    fn a_holder_that_cannot_be_seen_is_not_named_by_a_number() {
        let elsewhere: Marker = "dyno-1-2-3-4".parse().unwrap();
        let (name, end) = Holder(Some(elsewhere)).in_words();
        assert_eq!(name, "another dyno (in another container, or on another host)");
        assert_eq!(end, "");
    }
}
