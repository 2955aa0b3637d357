//! Removes what a dead dyno left behind, before anything starts.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::owned;
use machine::process::Marker;

use crate::project::Project;

/// Ends processes, removes cgroups and folders that no living dyno owns; a sentence about it, if there were any.
pub fn sweep(project: &Project) -> Option<String> {
    let swept = machine::process::sweep();
    let removed = [
        (swept.processes as usize, "ended", "process", "processes"),
        (swept.cgroups.len(), "removed", "cgroup", "cgroups"),
        (folders(project), "removed", "folder", "folders"),
    ];
    let removed = removed.iter().filter(|(number, ..)| 0 < *number);
    let said: Vec<String> = removed
        .map(|(number, did, one, many)| {
            format!("{did} {number} {}", if *number == 1 { one } else { many })
        })
        .collect();
    (!said.is_empty()).then(|| format!("an earlier run did not end well; {}", said.join(", ")))
}

/// Removes the folders of trials whose dyno is dead.
fn folders(project: &Project) -> usize {
    let entries = fs::read_dir(project.work().join("work")).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let left = paths.filter_map(|path| owned::abandoned(&path).map(|lock| (path, lock)));
    left.filter(|(path, _)| fs::remove_dir_all(path).is_ok()).count()
}

/// A dyno of which it is not known whether it lives has this long to finish a file.
const UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// A name in a folder for what gets another name when it is whole. What dead dynos left there under such names is
/// removed.
#[must_use]
pub fn part_in(folder: &Path) -> PathBuf {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(is_left) {
        let _ = match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
    }
    folder.join(format!(".{}.part", Marker::unique()))
}

/// Whether this is such a file, or one of SQLite's beside it, and its dyno will not finish it.
fn is_left(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    let marker = || {
        let (marker, ending) = name.to_str()?.strip_prefix('.')?.split_once(".part")?;
        let is_of_part = ["", "-wal", "-shm", "-journal"].contains(&ending);
        marker.parse::<Marker>().ok().filter(|_| is_of_part)
    };
    let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
    marker().is_some_and(|marker| match marker.owner() {
        Some((_, is_alive)) => !is_alive,
        None => age().is_some_and(|age| UNFINISHED < age),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dead_dynos_did_not_finish_is_removed_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("dyno-parts-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let own = part_in(&folder);
        // No process id is as high.
        let own_name = own.file_name().unwrap().to_str().unwrap().to_string();
        let fields: Vec<&str> = own_name.split('-').collect();
        let dead = format!(".dyno-{}-4194305-3-1.part", fields[1]);
        let (recent, old) = (".dyno-1-4194305-3-1.part", ".dyno-1-4194305-3-2.part");
        let stays = ["x.part", ".x.77.part", recent, &own_name];
        let goes = [dead.clone(), format!("{dead}-wal"), format!("{dead}-shm"), old.into()];
        for name in stays.iter().copied().chain(goes.iter().map(String::as_str)) {
            fs::write(folder.join(name), "x").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * UNFINISHED;
        fs::File::options()
            .write(true)
            .open(folder.join(old))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        assert_ne!(part_in(&folder), own);
        assert!(stays.iter().all(|name| folder.join(name).exists()));
        let left: Vec<&String> = goes.iter().filter(|name| folder.join(name).exists()).collect();
        assert!(left.is_empty(), "{left:?}");
        fs::remove_dir_all(&folder).unwrap();
    }
}
