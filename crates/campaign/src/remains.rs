//! Removes what a dead dyno left behind, before anything starts.

use std::fs;

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
    let is_left = |name: &str| name.parse::<Marker>().is_ok_and(|marker| !marker.owner_lives());
    let left = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_left));
    left.filter(|entry| fs::remove_dir_all(entry.path()).is_ok()).count()
}
