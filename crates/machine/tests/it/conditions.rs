//! Limits that the kernel enforces.

use std::fs;
use std::path::Path;

use machine::conditions::Group;
use machine::process::{launch, sweep};

use crate::folder::{Line, dead_marker, eventually, marker, warden, worker};

crate::tests![
    a_process_that_takes_more_memory_than_allowed_is_reported,
    a_group_counts_what_its_processes_used_and_no_other,
    groups_of_dead_dynos_are_swept_and_no_others,
];

/// A group with this limit, or nothing where that is not permitted.
fn limited(memory: u64) -> Option<Group> {
    let (group, facts) = Group::create(&marker(), Some(memory));
    if facts[0].value.starts_with("not limited") {
        eprintln!("SKIPPED: memory {}", facts[0].value);
        return None;
    }
    assert!(facts[0].value.contains(" MiB by cgroup v"), "{facts:?}");
    group
}

fn a_process_that_takes_more_memory_than_allowed_is_reported() {
    let Some(group) = limited(64 << 20) else { return };
    let (folder, _line) = Line::with_folder();
    let mut spec = worker(&folder, &["memory-mib", "300"]);
    spec.membership = Some(group.membership());
    let mut running = launch(&warden(), &spec).unwrap();
    eventually("its end", || running.ended().is_some());
    let stopped = running.stop();
    assert_eq!(stopped.exit.to_string(), "out of memory: killed by the kernel");
    assert!(1 <= group.readings().kills_for_memory());
    group.remove().unwrap();
}

fn a_group_counts_what_its_processes_used_and_no_other() {
    let Some(group) = limited(256 << 20) else { return };
    let (folder, mut line) = Line::with_folder();
    let mut spec = worker(&folder, &["burn-ms", "50", "memory-mib", "100"]);
    spec.membership = Some(group.membership());
    let running = launch(&warden(), &spec).unwrap();
    assert_eq!(line.hear(), "ready");
    let used = group.readings().cpu_ns().unwrap();
    assert!((50_000_000..1_000_000_000).contains(&used), "{used}");
    let held = group.readings().memory_bytes().unwrap();
    assert!((100 << 20..110 << 20).contains(&held), "{held}");
    // The warden was a member only while the subject was started.
    let members = fs::read_to_string(&spec.membership.as_ref().unwrap().join[0]).unwrap();
    assert_eq!(members.trim(), running.pid().to_string());
    let place = spec.membership.unwrap().join[0].parent().unwrap().to_path_buf();
    let _ = running.stop();
    group.remove().unwrap();
    assert!(!place.exists());
}

fn groups_of_dead_dynos_are_swept_and_no_others() {
    let Some(living) = limited(64 << 20) else { return };
    let place = living.membership().join[0].parent().unwrap().to_path_buf();
    let beside = |name: &str| place.parent().unwrap().join(name);
    let (dead, unowned) = (beside(&dead_marker()), beside("dyno-1-2"));
    fs::create_dir(&unowned).unwrap();
    // Its environment has no marker, but it is in a dead dyno's group.
    let mut orphan = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    // Another dyno of this machine may sweep, too, and take the empty group away: then it is made again.
    eventually("a process in a dead dyno's group", || {
        let _ = fs::create_dir(&dead);
        fs::write(dead.join("cgroup.procs"), orphan.id().to_string()).is_ok()
    });
    let reaper = std::thread::spawn(move || orphan.wait());
    let is_there = |path: &Path| path.is_dir();
    let swept = sweep();
    eventually("the end of the group, by this sweep or another dyno's", || !is_there(&dead));
    assert!(reaper.join().unwrap().is_ok(), "{swept:?}");
    assert!(is_there(&unowned) && is_there(&place));
    fs::remove_dir(&unowned).unwrap();
    living.remove().unwrap();
    assert!(!is_there(&place));
}
