//! What jobs of CI run: packaging/ci/gate and packaging/ci/comment.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::lab_rig::{Lab, SHORT};

fn script(name: &str) -> PathBuf {
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/ci");
    packaging.join(name).canonicalize().unwrap()
}

/// Runs it in the lab, where `programs/` comes first in the path.
fn run(lab: &Lab, mut command: Command) -> Output {
    let dyno = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap().display().to_string();
    let own = lab.path("programs");
    let path = format!("{own}:{dyno}:{}", std::env::var("PATH").unwrap());
    command
        .current_dir(&lab.root)
        .env("PATH", path)
        .env("XDG_STATE_HOME", lab.root.join("state"))
        .env("XDG_CACHE_HOME", lab.root.join("cache"))
        .env_remove("GITHUB_STEP_SUMMARY");
    command.output().unwrap()
}

fn gate(lab: &Lab, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = Command::new(script("gate"));
    let usual = [("GATE_EXPERIMENT", "gated"), ("GATE_BASE", "dir:."), ("GATE_HEAD", "server:it")];
    command.envs(usual).envs(variables.iter().copied());
    let ended = run(lab, command);
    (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
}

#[test]
fn a_job_fails_where_there_is_no_answer_unless_it_is_let_pass_and_what_is_refused_always_fails() {
    let lab =
        Lab::new().oracle("it", "--delay constant:2ms").experiment("gated", &["it"], SHORT, "");
    // Nothing is measured for so wide a spread.
    let unclear = ("GATE_FLAGS", "--noise 30% -d 300ms");
    let pass = ("GATE_UNCLEAR", "pass");
    let (code, says) = gate(&lab, &[unclear]);
    assert_eq!(code, Some(2), "{says}");
    let (code, says) = gate(&lab, &[unclear, pass, ("GATE_RESULTS", "results")]);
    assert_eq!(code, Some(0), "{says}");
    assert!(says.contains("GATE_UNCLEAR=pass"), "{says}");
    let read = |name: &str| lab.read(&format!("results/{name}"));
    assert!(read("gate.md").starts_with("<!-- dyno gate -->\n"));
    assert!(read("gate.json").contains("dyno.gate/1") && read("gate.xml").contains("testsuite"));
    for (wrong, names) in [
        (("GATE_FLAGS", "--no-such-flag"), "--no-such-flag"),
        (("GATE_EXPERIMENT", ""), "GATE_EXPERIMENT"),
        (("GATE_BASE", "server:nobody"), "nobody"),
    ] {
        let (code, says) = gate(&lab, &[wrong, pass]);
        assert!(code != Some(0) && says.contains(names), "what was refused fails: {says}");
    }
    assert!(lab.has("dyno-gate/gate.md"));
}

/// A gh that writes down how it was called, and has these pull requests and comments.
fn with_gh(numbers: &str, comments: &str) -> Lab {
    let text = format!(
        "#!/bin/sh\necho \"$@\" >>calls\ncase \"$*\" in\n*--method\\ GET*) echo '{numbers}' ;;\n\
         *--paginate*) echo '{comments}' ;;\nesac\n"
    );
    let lab =
        Lab::new().file("programs/gh", &text).file("gate.md", "<!-- dyno gate -->\nNot worse\n");
    let gh = lab.root.join("programs/gh");
    fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
    lab
}

fn comment(lab: &Lab, commit: &str, file: &str) -> (Option<i32>, String) {
    let mut command = Command::new(script("comment"));
    command.args(["own/repo", "forker", "branch", commit, file]);
    let ended = run(lab, command);
    (ended.status.code(), fs::read_to_string(lab.root.join("calls")).unwrap_or_default())
}

#[test]
fn a_comment_takes_the_place_of_the_one_before() {
    let (code, calls) = comment(&with_gh("7", "99"), "0a1b", "gate.md");
    assert_eq!(code, Some(0));
    assert!(calls.contains("--method PATCH repos/own/repo/issues/comments/99"), "{calls}");
    assert!(!calls.contains("POST"), "{calls}");
    let (code, calls) = comment(&with_gh("7", ""), "0a1b", "gate.md");
    assert_eq!(code, Some(0));
    assert!(calls.contains("--method POST repos/own/repo/issues/7/comments"), "{calls}");
}

#[test]
fn a_comment_is_only_what_a_gate_wrote_about_a_commit_of_an_open_pull_request() {
    let lab = with_gh("7", "").file("other.md", "hello\n");
    assert_eq!(comment(&lab, "0a1b", "other.md"), (Some(2), String::new()));
    assert_eq!(comment(&lab, "\") or true", "gate.md"), (Some(2), String::new()));
    let (code, calls) = comment(&with_gh("", ""), "0a1b", "gate.md");
    assert_eq!(code, Some(0));
    assert!(!calls.contains("POST") && !calls.contains("PATCH"), "{calls}");
}
