//! Removes what a dead dyno left behind, before anything starts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use machine::owned;
use machine::process::{Leftover, Marker};

use crate::places;
use crate::project::Project;

/// At most this many ended processes are named.
const NAMED: usize = 5;
/// At most this many letters of a command line are shown.
const COMMAND_SHOWN: usize = 60;

/// Ends processes, removes cgroups and folders that no living dyno owns; a sentence about it, if there were any.
pub fn sweep(project: &Project) -> Option<String> {
    let swept = machine::process::sweep();
    let ended = (!swept.processes.is_empty())
        .then(|| ended(&swept.processes, &dead_runs(project.results())));
    let removed = [(swept.cgroups.len(), "cgroup"), (folders(project), "folder")];
    let removed = removed.iter().filter(|(number, _)| 0 < *number).map(|(number, what)| {
        format!("removed {number} {what}{}", if *number == 1 { "" } else { "s" })
    });
    let said: Vec<String> = ended.into_iter().chain(removed).collect();
    (!said.is_empty()).then(|| format!("an earlier run ended abnormally; {}", said.join("; ")))
}

/// Which processes were ended, and whose they were: of which dead dyno, and of which run of this project.
fn ended(processes: &[Leftover], runs: &BTreeMap<u32, String>) -> String {
    let owners: BTreeSet<u32> = processes.iter().filter_map(|process| process.owner).collect();
    let owner = |owner: &u32| match runs.get(owner) {
        Some(run) => format!("run {run} (dyno's process {owner})"),
        None => format!("a dyno that had process {owner}"),
    };
    let owners: Vec<String> = owners.iter().map(owner).collect();
    let whose =
        if owners.is_empty() { String::new() } else { format!(" of {}", owners.join(", ")) };
    let process = |process: &Leftover| {
        let command = process.command.chars().filter(|letter| !letter.is_control());
        let command: String = command.take(COMMAND_SHOWN).collect();
        format!("{} `{command}` in {}", process.pid, process.folder.escape_debug())
    };
    let named: Vec<String> = processes.iter().take(NAMED).map(process).collect();
    let more = match processes.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let kind = if processes.len() == 1 { "process" } else { "processes" };
    format!("ended {} {kind}{whose}: {}{more}", processes.len(), named.join(", "))
}

/// The runs of the store in this folder whose dyno died, by its process id: its claim was left behind.
fn dead_runs(results: &Path) -> BTreeMap<u32, String> {
    let entries = fs::read_dir(results).into_iter().flatten().flatten();
    entries.filter_map(|entry| dead_run(&entry)).collect()
}

fn dead_run(entry: &fs::DirEntry) -> Option<(u32, String)> {
    let name = entry.file_name().into_string().ok()?;
    let run = name.split_once("-run-")?.1.strip_suffix(".lock")?.to_string();
    let marker: Marker = fs::read_to_string(entry.path()).ok()?.trim().parse().ok()?;
    let (owner, is_alive) = marker.owner()?;
    (!is_alive).then_some((owner, run))
}

/// Removes the folders of trials and of services whose dyno is dead.
fn folders(project: &Project) -> usize {
    let of_services = lab::service::private_root(&places::environment());
    let parents = [project.work().join("work"), of_services].into_iter();
    let entries = parents.flat_map(fs::read_dir).flatten().flatten();
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
    use crate::fixture::Folder;

    #[test]
    fn what_was_ended_is_named_with_its_run() {
        let process = |pid, owner| Leftover {
            pid,
            command: format!("node a.js\u{1b} {}", "x".repeat(99)),
            folder: "/home/me".into(),
            owner,
        };
        let runs = BTreeMap::from([(7, "3".to_string())]);
        let says = |processes: &[Leftover]| ended(processes, &runs);
        let command = format!("`node a.js {}` in /home/me", "x".repeat(COMMAND_SHOWN - 10));
        let one = format!("ended 1 process of run 3 (dyno's process 7): 11 {command}");
        assert_eq!(says(&[process(11, Some(7))]), one);
        let many: Vec<Leftover> = (1..=7).map(|pid| process(pid, Some(8))).collect();
        let says = says(&many);
        assert!(says.starts_with("ended 7 processes of a dyno that had process 8: 1 `"), "{says}");
        assert!(says.ends_with(", and 2 more"), "{says}");
    }

    #[test]
    fn the_run_of_a_dead_dyno_is_known_by_its_claim() {
        let folder = Folder::new();
        let own = Marker::unique().to_string();
        let fields: Vec<&str> = own.split('-').collect();
        // No process id is as high.
        let dead = format!("dyno-{}-4194305-3-1\n", fields[1]);
        for (name, marker) in [("run-5", &dead), ("run-6", &own)] {
            fs::write(folder.0.join(format!("runs.sqlite-{name}.lock")), marker).unwrap();
        }
        assert_eq!(dead_runs(&folder.0), BTreeMap::from([(4_194_305, "5".to_string())]));
    }

    #[test]
    fn what_dead_dynos_did_not_finish_is_removed_and_nothing_else() {
        let folder = Folder::new();
        let at = |name: &str| folder.0.join(name);
        let own = part_in(&folder.0);
        // No process id is as high.
        let own_name = own.file_name().unwrap().to_str().unwrap().to_string();
        let fields: Vec<&str> = own_name.split('-').collect();
        let dead = format!(".dyno-{}-4194305-3-1.part", fields[1]);
        let (recent, old) = (".dyno-1-4194305-3-1.part", ".dyno-1-4194305-3-2.part");
        let stays = ["x.part", ".x.77.part", recent, &own_name];
        let goes = [dead.clone(), format!("{dead}-wal"), format!("{dead}-shm"), old.into()];
        for name in stays.iter().copied().chain(goes.iter().map(String::as_str)) {
            fs::write(at(name), "x").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * UNFINISHED;
        let file = fs::File::options().write(true).open(at(old)).unwrap();
        file.set_modified(long_ago).unwrap();
        assert_ne!(part_in(&folder.0), own);
        assert!(stays.iter().all(|name| at(name).exists()));
        let left: Vec<&String> = goes.iter().filter(|name| at(name).exists()).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
