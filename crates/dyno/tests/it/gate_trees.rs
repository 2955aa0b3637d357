//! The trees of `dyno gate git:…`: gates that begin together, gates whose processes are killed in their check-out, and
//! several builds of each tree.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, kill_process_group};

use crate::gate::{commit, git, repository};
use crate::lab_rig::{Lab, ORACLE, SHORT, until};
use crate::rig::{Going, Ran};

const GATE: [&str; 7] = ["gate", "gated", "--base", "git:first", "--head", "dir:.", "--show"];

/// What a gate is asked that only checks its base out, and is over soon.
pub(crate) fn shown(lab: &Lab) -> Command {
    let mut command = lab.command(&GATE);
    command.args(["-c", "2", "-d", "150ms", "--warmup", "50ms", "--noise", "1%"]);
    command.process_group(0);
    command
}

#[track_caller]
pub(crate) fn has_run(lab: &Lab, ran: Ran) {
    let ran = ran.status(0).stdout_has("6 pairs");
    let trees = fs::read_dir(lab.root.join("cache/dyno/trees")).unwrap().flatten();
    let trees = trees.flat_map(|of_top| fs::read_dir(of_top.path()).unwrap().flatten());
    let whole = trees.filter(|tree| tree.path().join("subjects/it/subject.toml").is_file());
    assert_eq!(whole.count(), 1, "{ran}");
}

/// Three projects of the repository, and the one in its root three times.
pub(crate) const APART: [&str; 3] = ["a", "b", "c"];
pub(crate) const IN_ONE: [&str; 3] = ["."; 3];

/// A repository with a project in its root, and three below it.
pub(crate) fn with_projects() -> Lab {
    let lab = repository();
    for folder in ["experiments", "workloads", "subjects/it"] {
        for file in fs::read_dir(lab.root.join(folder)).unwrap().flatten() {
            let text = fs::read_to_string(file.path()).unwrap();
            let name = file.file_name().into_string().unwrap();
            APART.iter().for_each(|to| lab.write(&format!("{to}/{folder}/{name}"), &text));
        }
    }
    commit(&lab, "first");
    lab
}

/// A gate in each of these projects.
pub(crate) fn three(lab: &Lab, projects: [&str; 3]) -> [Going; 3] {
    projects.map(|project| {
        let mut command = shown(lab);
        command.current_dir(lab.root.join(project));
        Going::start(command)
    })
}

/// A repository whose files are checked out only after the file `go` is there: whoever begins to do it writes `began`.
fn slow() -> Lab {
    let lab = with_projects();
    let (began, go) = (lab.path("began"), lab.path("go"));
    let smudge = format!("sh -c 'echo x >>{began}; until [ -e {go} ]; do sleep 0.01; done; cat'");
    git(&lab, &["config", "filter.slow.smudge", &smudge]);
    lab.write(".git/info/attributes", "/subjects/it/subject.toml filter=slow\n");
    lab
}

#[test]
fn a_gate_that_is_killed_in_its_check_out_keeps_no_other_from_running() {
    for whole_group in [true, false] {
        let lab = slow();
        let going = Going::start(shown(&lab));
        until("git writes the tree", || lab.has("began"));
        match whole_group {
            true => kill_process_group(going.pid(), Signal::KILL).unwrap(),
            false => going.signal(Signal::KILL),
        }
        assert_eq!(going.end().code(), None);
        // git may be at it still.
        let mut next = Going::start(shown(&lab));
        if !whole_group {
            assert!(!next.ends_within(std::time::Duration::from_millis(300)), "{}", next.heard);
        }
        lab.write("go", "");
        has_run(&lab, next.end());
    }
}

#[test]
fn what_a_killed_git_left_of_a_tree_is_removed_and_trees_of_others_are_left() {
    let lab = with_projects();
    has_run(&lab, Going::start(shown(&lab)).end());
    let notes = lab.root.join(".git/worktrees");
    let made = fs::read_dir(&notes).unwrap().flatten().next().unwrap().path();
    let others = notes.join("a-tree-of-the-user");
    // Git ended while it wrote this file. An entry without `gitdir` is none for git.
    for (file, is_removed) in [("commondir", true), ("HEAD", true), ("gitdir", false)] {
        fs::write(made.join(file), "").unwrap();
        fs::remove_dir_all(lab.root.join("cache")).unwrap();
        has_run(&lab, Going::start(shown(&lab)).end());
        let is_whole = fs::metadata(made.join(file)).unwrap().len() != 0;
        assert_eq!(is_whole, is_removed, "{file}");
    }
    fs::remove_dir_all(&made).unwrap();
    fs::create_dir(&others).unwrap();
    fs::write(others.join("gitdir"), "/elsewhere/.git\n").unwrap();
    fs::write(others.join("commondir"), "").unwrap();
    fs::remove_dir_all(lab.root.join("cache")).unwrap();
    let _ = Going::start(shown(&lab)).end().status(2).stderr_has("a-tree-of-the-user/commondir");
    assert!(others.exists());
}

#[test]
fn gates_of_one_repository_that_begin_together_all_run() {
    let lab = slow();
    let gates = three(&lab, APART);
    until("git writes the tree", || lab.has("began"));
    lab.write("go", "");
    gates.into_iter().for_each(|gate| has_run(&lab, gate.end()));
    let began = lab.read("began");
    assert_eq!(began.lines().count(), 1, "one of them checked it out");
}

#[test]
fn gates_of_one_project_that_begin_together_run_one_after_the_other() {
    let lab = with_projects();
    let ended: Vec<Ran> = three(&lab, IN_ONE).into_iter().map(Going::end).collect();
    let has_waited =
        |ran: &&Ran| ran.stderr.contains(") runs an experiment here; waiting for it to end");
    assert_eq!(ended.iter().filter(has_waited).count(), 2);
    ended.into_iter().for_each(|ran| has_run(&lab, ran));
}

#[test]
fn a_gate_waits_for_another_dyno_no_longer_than_its_limit_and_ends_when_it_is_told_to() {
    let lab = with_projects().gated("slow", 0).experiment("slow", &["slow"], SHORT, "");
    let mut run = lab.start(&["run", "slow"]);
    run.says("order ");
    let mut waiting = Going::start(shown(&lab));
    waiting.says("waiting for it to end");
    waiting.signal(Signal::INT);
    let _ = waiting.end().status(130);
    let mut limited = shown(&lab);
    limited.args(["--max-time", "1s"]);
    let _ =
        Going::start(limited).end().status(2).stderr_has("runs an experiment here; two at once");
    run.signal(Signal::INT);
    let _ = run.end().status(130);
}

/// A gate of five builds of each side, of which the head's third runs this before its server.
fn with_an_odd_build(odd: &str) -> Ran {
    let lab = repository();
    let root = lab.root.display().to_string();
    // Each build takes the next number; what leads into the working tree is in no argument.
    let build = "at=0\nuntil mkdir ROOT/state/taken/$at; do at=$((at+1)); done\necho $at >number\n";
    let run = "if [ $(cat number) = 7 ]; then\nODD\nfi\nexec \"$@\"\n".replace("ODD", odd);
    let keys = format!("build = ['sh build.sh']\nrun = 'sh run.sh {ORACLE}'");
    let lab = lab
        .subject("it", &keys)
        .file("subjects/it/build.sh", &build.replace("ROOT", &root))
        .file("subjects/it/run.sh", &run.replace("ROOT", &root));
    fs::create_dir_all(lab.root.join("state/taken")).unwrap();
    commit(&lab, "second");
    let sides = ["gate", "gated", "--base", "git:second", "--head", "git:HEAD", "--builds", "5"];
    let short = ["-c", "2", "-d", "150ms", "--warmup", "50ms", "--noise", "1%"];
    let usual = ["--detect", "60%", "--gate", "throughput", "--max-time", "60s"];
    lab.dyno(&[&sides[..], &short, &usual].concat())
}

#[test]
fn each_build_of_a_side_is_asked_and_it_is_looked_where_it_runs() {
    let wrong = with_an_odd_build("set -- \"$@\" --fault wrong-body");
    wrong.status(1).stdout_has("Worse: the head failed twice").stdout_has("head (build 3 of 5): ");
    let elsewhere = with_an_odd_build("cd ROOT");
    elsewhere.status(2).stderr_has("the head (build 3 of 5): a process of it leads to");
}
