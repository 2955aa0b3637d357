//! A trial's cgroup, on a tree that only looks like the kernel's, and once on the kernel's own.

use std::path::PathBuf;

use super::super::hierarchy::parse;
use super::*;

/// A folder that looks like a hierarchy of version 2, with this process in `/user/me`.
struct Tree {
    root: PathBuf,
}

impl Tree {
    fn new(name: &str, controllers: [&str; 3], delegated: [&str; 3]) -> Tree {
        let root = std::env::temp_dir().join(format!("lab-tree-{}-{name}", std::process::id()));
        fs::create_dir_all(root.join("user/me")).expect("a temporary folder");
        let tree = Tree { root };
        for (at, folder) in ["", "user", "user/me"].into_iter().enumerate() {
            tree.write(&format!("{folder}/cgroup.procs"), "");
            tree.write(&format!("{folder}/cgroup.controllers"), controllers[at]);
            tree.write(&format!("{folder}/cgroup.subtree_control"), delegated[at]);
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.at(path), text).expect("a temporary file");
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("it was written")
    }

    fn create(&self, marker: &Marker, memory: Option<u64>) -> (Option<Group>, Vec<String>) {
        let mountinfo = format!("36 35 0:31 / {} rw - cgroup2 cgroup2 rw\n", self.root.display());
        let hierarchies = parse(&mountinfo, "0::/user/me\n");
        let (group, facts) = Group::create_in(&hierarchies, marker, memory);
        (group, facts.into_iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[test]
fn a_group_is_made_where_the_controller_is_delegated() {
    let tree = Tree::new("delegated", ["cpu memory", "cpu memory", ""], ["memory", "memory", ""]);
    let marker = Marker::unique();
    let (group, facts) = tree.create(&marker, Some(3 << 29));
    let group = group.expect("a group");
    assert_eq!(facts, ["memory: 1.5 GiB by cgroup v2", "cpu-time: exact, by cgroup v2"]);
    let own = format!("user/{marker}");
    assert_eq!(tree.read(&format!("{own}/memory.max")), "1610612736");
    assert_eq!(tree.read(&format!("{own}/memory.swap.max")), "0");
    let membership = group.membership();
    assert_eq!(membership.join, [tree.at(&format!("{own}/cgroup.procs"))]);
    assert_eq!(membership.leave, [tree.at("user/me/cgroup.procs")]);
    assert_eq!(membership.oom, Some(tree.at(&format!("{own}/memory.events"))));
}

#[test]
fn a_controller_that_is_there_is_switched_on() {
    let tree = Tree::new("there", ["memory", "memory", "cpu memory"], ["memory", "memory", ""]);
    let (_group, facts) = tree.create(&Marker::unique(), Some(1 << 20));
    assert_eq!(facts[0], "memory: 1 MiB by cgroup v2");
    assert_eq!(tree.read("user/me/cgroup.subtree_control"), "+memory");
}

#[test]
fn accounts_are_read() {
    let tree = Tree::new("accounts", ["memory", "memory", "memory"], ["memory"; 3]);
    let marker = Marker::unique();
    let (group, _) = tree.create(&marker, Some(1 << 20));
    let readings = group.expect("a group").readings();
    assert_eq!((readings.cpu_ns(), readings.kills_for_memory()), (None, 0));
    let file = |name: &str| format!("user/me/{marker}/{name}");
    tree.write(&file("cpu.stat"), "usage_usec 1234\nuser_usec 1000\nsystem_usec 234\n");
    tree.write(
        &file("memory.events"),
        "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 0\n",
    );
    tree.write(&file("memory.current"), "2048\n");
    assert_eq!(readings.cpu_ns(), Some(1_234_000));
    assert_eq!(readings.kills_for_memory(), 2);
    assert_eq!(readings.memory_bytes(), Some(2048));
}

#[test]
fn what_cannot_be_limited_is_said_with_the_way_out() {
    let tree = Tree::new("none", ["cpu"; 3], ["cpu"; 3]);
    let (group, facts) = tree.create(&Marker::unique(), Some(1 << 30));
    assert!(facts[0].starts_with("memory: not limited: "), "{facts:?}");
    assert!(facts[0].contains("has no memory controller"), "{facts:?}");
    assert!(facts[0].ends_with(WAY_OUT), "{facts:?}");
    // CPU time is counted all the same.
    assert_eq!(facts[1], "cpu-time: exact, by cgroup v2");
    assert!(group.is_some_and(|group| group.membership().oom.is_none()));
}

#[test]
fn where_nothing_may_be_made_there_is_no_group() {
    let tree = Tree::new("forbidden", ["memory"; 3], ["memory"; 3]);
    for folder in ["", "user/", "user/me/"] {
        fs::remove_file(tree.at(&format!("{folder}cgroup.procs"))).expect("it is there");
    }
    let (group, facts) = tree.create(&Marker::unique(), Some(1 << 30));
    assert!(group.is_none());
    assert!(facts[1].starts_with("cpu-time: in steps of 10 ms"), "{facts:?}");
    let (group, facts) = Group::create_in(&[], &Marker::unique(), Some(1 << 30));
    assert!(group.is_none());
    assert!(facts[0].value.contains("no cgroup hierarchy is mounted"), "{facts:?}");
}

#[test]
fn a_server_does_not_leave_the_limits_that_dyno_is_under() {
    let tree = Tree::new("limits", ["memory"; 3], ["memory", "memory", ""]);
    let (marker, memory) = (Marker::unique(), "user/me/memory.max");
    fs::remove_file(tree.at("user/me/cgroup.procs")).expect("it is there");
    for (limit, is_above) in [("max", true), ("2147483648", false)] {
        tree.write(memory, &format!("{limit}\n"));
        let (group, facts) = tree.create(&marker, None);
        assert_eq!(tree.at(&format!("user/{marker}")).exists(), is_above, "{facts:?}");
        assert_eq!(group.is_some(), is_above);
        let _ = fs::remove_dir_all(tree.at(&format!("user/{marker}")));
    }
}

#[test]
fn nothing_asked_is_nothing_limited() {
    let tree = Tree::new("nothing", ["memory"; 3], ["memory"; 3]);
    let marker = Marker::unique();
    let (group, facts) = tree.create(&marker, None);
    assert_eq!(facts[0], "memory: no limit is set; counted by cgroup v2");
    assert!(group.is_some() && !tree.at(&format!("user/me/{marker}/memory.max")).exists());
}

#[test]
fn amounts_are_written_as_people_write_them() {
    assert_eq!(amount(512 << 20), "512 MiB");
    assert_eq!(amount(5 << 28), "1.25 GiB");
    assert_eq!(amount(1_000_000_001), "1000000001 bytes");
    assert_eq!(amount(0), "0 bytes");
}

/// The rule that a group has either processes or controlled groups cannot be imitated.
#[test]
fn the_only_process_of_a_group_makes_room_for_children() {
    let Some(root) = all().into_iter().find(|found| found.version == Version::V2) else {
        eprintln!("SKIPPED: no cgroup v2 is mounted");
        return;
    };
    let root = root.line().last().expect("the mount").to_path_buf();
    let controllers = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    // These may be handed on by a group that has processes.
    let is_free = |name: &&str| !["cpu", "cpuset", "perf_event", "pids"].contains(name);
    let Some(controller) = controllers.split_whitespace().find(is_free) else {
        eprintln!("SKIPPED: cgroup v2 has no such controller here");
        return;
    };
    let switch = root.join("cgroup.subtree_control");
    let was_on = fs::read_to_string(&switch).unwrap_or_default().contains(controller);
    let group = root.join(format!("lab-tests-{}", std::process::id()));
    if delegate(&root, Some(controller), None).is_err() || fs::create_dir(&group).is_err() {
        eprintln!("SKIPPED: no group may be made in {}", root.display());
        return;
    }
    let enter = |group: &Path| fs::write(group.join("cgroup.procs"), "0");
    enter(&group).expect("our own group");
    let mut home = group.clone();
    let delegated = delegate(&group, Some(controller), Some(&mut home));
    let members = (listed(&group.join("cgroup.procs")), listed(&home.join("cgroup.procs")));
    enter(&root).expect("where we came from");
    fs::remove_dir(&home).and_then(|()| fs::remove_dir(&group)).expect("they are empty");
    if !was_on {
        let _ = fs::write(&switch, format!("-{controller}"));
    }
    assert_eq!(delegated, Ok(()));
    assert_eq!(home, group.join(HOME));
    assert_eq!(members, (vec![], vec![std::process::id()]));
}
