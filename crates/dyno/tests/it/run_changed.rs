//! `dyno run` with --only, -c, -d and --rounds: the run is changed, and whatever shows it says so.

use lab::experiment::Point;

use crate::lab_rig::{Lab, SHORT};

fn lab() -> Lab {
    let all = ["my-a", "my-b", "other"];
    all.iter().fold(Lab::new(), |lab, it| lab.oracle(it, "")).experiment("x", &all, SHORT, "")
}

#[test]
fn a_changed_run_keeps_how_it_was_changed_and_every_report_says_so() {
    let lab = lab();
    let flags = ["--only", "my-*", "-c", "3", "-d", "100ms", "--rounds", "2"];
    let ran = lab.dyno(&[&["run", "x"][..], &flags].concat()).measured();
    let says = "not run as its file says; the command line changed it: only my-a, my-b, 3 connections, 100ms for each \
                trial, 2 rounds";
    let again = "dyno run x --only my-a,my-b -c 3 -d 100ms --rounds 2";
    assert!(ran.has_sentence(says) && ran.has_sentence(again), "{ran}");
    let record = lab.store().run("1".parse().unwrap()).unwrap();
    let subjects: Vec<&str> = record.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(subjects, ["my-a", "my-b"]);
    assert_eq!(record.plan.len(), 4);
    assert!(record.plan.iter().all(|key| key.point == Point::Connections(3)));
    assert_eq!(record.experiment.unwrap().changed.says.len(), 4);
    for format in ["md", "html", "json"] {
        let report = lab.dyno(&["report", "--format", format]).status(0);
        let _ = report.stdout_has("100ms for each trial");
    }
    // A run as the file says is not compared silently with it.
    lab.dyno(&["run", "x", "--only", "my-a,my-b"]).measured();
    let compared = lab.dyno(&["compare", "1", "2", "--full"]);
    for says in [
        "run 1 was changed on its command line (only my-a, my-b, 3 connections,",
        "they do not measure the same",
    ] {
        assert!(compared.has_sentence(says), "{compared}");
    }
}

#[test]
fn show_says_what_is_changed_and_by_which_flags() {
    let says = "--only other -c 1,2: only other, 1, 2 connections, instead of what the file says";
    lab()
        .dyno(&["run", "x", "--only", "other", "-c", "1,2", "--dry-run"])
        .status(0)
        .stdout_has(says)
        .stdout_lacks("my-a");
}

#[test]
fn a_pattern_without_a_subject_and_a_change_without_sense_are_refused() {
    let lab = lab().experiment("s", &["my-a"], "sessions = { rate = 9, calls = 2 }, total = 9", "");
    for (arguments, says) in [
        (
            ["x", "--only", "my-*,yours-*"],
            "--only: no server of experiments/x.toml is called `yours-*`; it has my-a, my-b, other",
        ),
        (["s", "-c", "5"], "-c with experiments/s.toml: this load is a schedule of rates"),
    ] {
        let _ = lab.dyno(&[&["run"], &arguments[..]].concat()).status(2).stderr_has(says);
    }
    assert!(!lab.has(".dyno/runs.sqlite"));
}
