//! Removes what a dead dyno left behind, before anything starts.

use std::fs;

use lab::process::Marker;

use crate::project::Project;
use crate::terminal;
use report::units::counted;

/// Ends processes, removes cgroups and folders that no living dyno owns, and reports it.
pub(crate) fn sweep(project: &Project) {
    let swept = lab::process::sweep();
    let removed = [
        (swept.processes as usize, "ended", "process", "processes"),
        (swept.cgroups.len(), "removed", "cgroup", "cgroups"),
        (folders(project), "removed", "folder", "folders"),
    ];
    let removed = removed.iter().filter(|(number, ..)| 0 < *number);
    let said: Vec<String> = removed
        .map(|(number, did, one, many)| format!("{did} {}", counted(*number as u64, one, many)))
        .collect();
    if !said.is_empty() {
        terminal::say(&format!("dyno: an earlier run did not end well; {}", said.join(", ")));
    }
}

/// Removes the folders of trials whose dyno is dead.
fn folders(project: &Project) -> usize {
    let entries = fs::read_dir(project.state().join("work")).into_iter().flatten().flatten();
    let is_left = |name: &str| name.parse::<Marker>().is_ok_and(|marker| !marker.owner_lives());
    let left = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_left));
    left.filter(|entry| fs::remove_dir_all(entry.path()).is_ok()).count()
}
