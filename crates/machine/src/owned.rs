//! Folders that belong to one process: a trial's cgroup, its files. The owner holds a lock on the folder itself. The
//! kernel frees it when the owner ends, however it ends, and shows it to whoever sees the folder, also from other PID,
//! time, mount and network namespaces, where the owner's process cannot be seen.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::process::Marker;

/// A folder for temporary files, named after a marker. It is removed when this is dropped, or by the next dyno if this
/// one is killed.
#[derive(Debug)]
pub struct WorkFolder {
    path: PathBuf,
    _lock: File,
}

impl WorkFolder {
    pub fn create(parent: &Path, marker: &Marker) -> io::Result<WorkFolder> {
        fs::create_dir_all(parent)?;
        let path = parent.join(marker.to_string());
        let lock = create(&path)?;
        Ok(WorkFolder { path, _lock: lock })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Creates a folder that belongs to this process as long as it keeps the lock.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    loop {
        fs::create_dir(path)?;
        // Another dyno that sweeps may come between: it removes the folder, and this one creates it again.
        let Ok(lock) = File::open(path) else { continue };
        // Where there are no locks, no other dyno gets one either, and so does not remove it.
        let _ = flock(&lock, FlockOperation::LockExclusive);
        if is_at(&lock, path) {
            return Ok(lock);
        }
    }
}

/// Whether the file that is open is still the one of this name.
#[must_use]
pub fn is_at(file: &File, path: &Path) -> bool {
    let same = |open: fs::Metadata, there: fs::Metadata| {
        (open.dev(), open.ino()) == (there.dev(), there.ino())
    };
    file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(open, there)| same(open, there))
}

/// A folder with this marker as its name whose owner is dead, with the lock that keeps other dynos from removing it,
/// too; none if its owner lives, or if that cannot be known.
#[must_use]
pub fn abandoned(path: &Path) -> Option<File> {
    let marker: Marker = path.file_name()?.to_str()?.parse().ok()?;
    // A living owner may have created it just now, and have no lock yet.
    if matches!(marker.owner(), Some((_, true))) {
        return None;
    }
    let lock = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|it| it.is_dir()))?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a dyno in namespaces that this process cannot see.
    fn elsewhere() -> String {
        let own = Marker::unique().to_string();
        let mut parts: Vec<&str> = own.split('-').collect();
        parts[1] = "1";
        parts.join("-")
    }

    #[test]
    fn a_folder_is_abandoned_when_its_lock_is_free_and_not_before() {
        let parent = std::env::temp_dir().join(format!("dyno-owned-{}", std::process::id()));
        let path = parent.join(elsewhere());
        fs::create_dir(&parent).expect("a temporary folder");
        let lock = create(&path).expect("a folder");
        assert!(abandoned(&path).is_none(), "its owner cannot be seen, but holds the lock");
        drop(lock);
        let lock = abandoned(&path);
        assert!(lock.is_some(), "no owner holds the lock");
        assert!(abandoned(&path).is_none(), "another dyno is about to remove it");
        fs::remove_dir_all(&parent).expect("it is there");
    }

    #[test]
    fn a_folder_of_a_living_dyno_is_not_abandoned_before_it_has_its_lock() {
        let parent = std::env::temp_dir().join(format!("dyno-unlocked-{}", std::process::id()));
        let path = parent.join(Marker::unique().to_string());
        fs::create_dir_all(&path).expect("a temporary folder");
        assert!(abandoned(&path).is_none());
        fs::remove_dir_all(&parent).expect("it is there");
    }

    #[test]
    fn a_work_folder_is_gone_with_its_owner() {
        let parent = std::env::temp_dir().join(format!("dyno-work-{}", std::process::id()));
        let folder = WorkFolder::create(&parent, &Marker::unique()).expect("a folder");
        fs::write(folder.path().join("file"), "x").expect("it can be written to");
        let path = folder.path().to_path_buf();
        drop(folder);
        assert!(!path.exists());
        fs::remove_dir(&parent).expect("it is empty");
    }
}
