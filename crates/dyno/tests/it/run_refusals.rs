//! Bad input to `dyno run`: exit code 2, the place, what to do about it, and nothing half-written.

use std::fs;
use std::os::unix::fs::symlink;

use crate::lab_rig::{Lab, SHORT};

/// It is refused with these words, and nothing was started.
#[track_caller]
fn refused(lab: &Lab, arguments: &[&str], words: &[&str]) {
    let mut ran = lab.dyno(arguments).status(2);
    for word in words {
        ran = ran.stderr_has(word);
    }
    assert_eq!((&ran.stdout[..], lab.has(".dyno/work")), ("", false), "{arguments:?}");
    let runs = if lab.has(".dyno/runs.sqlite") { lab.store().runs().unwrap().len() } else { 0 };
    assert_eq!(runs, 0, "{arguments:?}");
}

fn good() -> Lab {
    Lab::new().oracle("oak", "").oracle("elm", "").experiment("x", &["oak", "elm"], SHORT, "")
}

const EXPERIMENT: &str = "experiments/x.toml";
const WORKLOAD: &str = "workloads/hello.toml";
const SUBJECT: &str = "subjects/oak/subject.toml";

#[test]
fn unknown_keys_and_names_are_named_with_the_near_miss() {
    for (old, new, says) in [
        ("question", "qestion", ":1: unknown key `qestion`; did you mean `question`?"),
        ("\"oak\"", "\"oka\"", ":2: unknown server `oka`; did you mean `oak`?"),
        ("'hello'", "'helo'", ":3: unknown workload `helo`; did you mean `hello`?"),
        ("'hello'", "'zebra'", "unknown workload `zebra`; `dyno servers list` shows them"),
    ] {
        let lab = good();
        lab.write(EXPERIMENT, lab.read(EXPERIMENT).replace(old, new));
        refused(&lab, &["run", "x"], &[says]);
        refused(&lab, &["run", "x", "--dry-run"], &[says]);
    }
    refused(&good(), &["run", "y"], &["unknown experiment `y`; did you mean `x`?"]);
    refused(&good(), &["run", "z\x1b[2J"], &["unknown experiment `z\\u{1b}[2J`"]);
    refused(&good(), &["run", "nowhere/x.toml"], &["nowhere/x.toml: cannot be read"]);
}

#[test]
fn files_that_are_none_are_refused() {
    let lab = good();
    fs::remove_file(lab.root.join(SUBJECT)).unwrap();
    fs::create_dir(lab.root.join(SUBJECT)).unwrap();
    refused(&lab, &["run", "x"], &["unknown server `oak`"]);
    let lab = good();
    fs::remove_file(lab.root.join(EXPERIMENT)).unwrap();
    symlink("x.toml", lab.root.join(EXPERIMENT)).unwrap();
    refused(&lab, &["run", "x"], &["experiments/x.toml: cannot be read"]);
    refused(&lab, &["run", "experiments/x.toml"], &["experiments/x.toml: cannot be read"]);
    let lab = good();
    lab.write(EXPERIMENT, lab.read(EXPERIMENT).replace(", \"elm\"", ""));
    symlink("loop", lab.root.join("subjects/oak/loop")).unwrap();
    refused(
        &lab,
        &["run", "x"],
        &["no server could be built", "`loop` is neither a file nor a folder"],
    );
    let lab = good();
    fs::remove_file(lab.root.join(WORKLOAD)).unwrap();
    symlink("hello.toml", lab.root.join(WORKLOAD)).unwrap();
    refused(&lab, &["run", "x"], &["workloads/hello.toml: cannot be read"]);
}

#[test]
fn what_only_checks_ask_is_no_load() {
    let lab = good();
    lab.write(WORKLOAD, "title = 'x'\n[[ask]]\nrequest = 'GET /wsecho HTTP/1.1'\necho = 'hi'\n");
    let words = ["x.toml: workload `hello` is a conversation for checks", "dyno hold"];
    refused(&lab, &["run", "x"], &words);
}

#[test]
fn an_experiments_file_leads_to_its_project_from_anywhere() {
    let lab = good();
    let elsewhere = good();
    let path = lab.root.join(EXPERIMENT);
    elsewhere.dyno(&["run", path.to_str().unwrap()]).measured().stderr_has("run 1: x");
    assert_eq!((lab.trials("1").len(), elsewhere.has(".dyno")), (2, false));
}

#[test]
fn there_must_be_something_to_resume() {
    let lab = good();
    refused(
        &lab,
        &["run", "--resume"],
        &["no run of an experiment is unfinished; `dyno runs list` shows its runs"],
    );
    refused(&lab, &["run", "--resume", "99"], &["has no run 99; `dyno runs list --store "]);
    refused(&lab, &["run", "--resume", "0"], &["`0` is not a run"]);
    refused(&lab, &["run", "--resume", "x"], &["`x` is not a run"]);
    refused(&lab, &["run", "x", "--resume", "1"], &["cannot be used with"]);
    refused(&lab, &["run"], &["<EXPERIMENT>"]);
}
