//! `dyno gate`: what is refused, what the sides are, and what is written. How often it is wrong is in docs/gate.md.

use std::fs;
use std::process::Command;

use crate::lab_rig::{Lab, ORACLE};
use crate::rig::{Going, Ran};

/// Pairs that are over soon, and how far they are said to spread, so that none are measured before.
const SHORT: [&str; 8] = ["-c", "2", "-d", "300ms", "--warmup", "50ms", "--spread", "1%"];
const SERVER: &str = "DYNO serve --listen 127.0.0.1:{port} --threads 1";

/// A project with an experiment of one subject.
fn lab() -> Lab {
    Lab::new().oracle("it", "").experiment("gated", &["it"], crate::lab_rig::SHORT, "")
}

fn git(lab: &Lab, arguments: &[&str]) {
    let who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"];
    let done = Command::new("git").arg("-C").arg(&lab.root).args(who).args(arguments).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

/// The same in a repository with one commit, `first`.
fn repository() -> Lab {
    let lab = lab().file(".gitignore", "/.dyno\n/cache\n/state\n");
    git(&lab, &["init", "--quiet"]);
    git(&lab, &["add", "."]);
    git(&lab, &["commit", "--quiet", "-m", "first"]);
    git(&lab, &["tag", "first"]);
    lab
}

#[track_caller]
fn refused(lab: &Lab, arguments: &[&str]) -> Ran {
    lab.dyno(&[&["gate"], arguments].concat()).status(2)
}

#[test]
fn what_names_no_two_sides_is_refused_with_the_way_out() {
    let lab =
        lab().oracle("other", "").experiment("two", &["it", "other"], crate::lab_rig::SHORT, "");
    refused(&lab, &[]).stderr_has("or two commands with --base-cmd and --head-cmd");
    refused(&lab, &["gated"]).stderr_has("name both sides");
    let with = |base: &'static str| ["gated", "--base", base, "--head", "dir:."];
    refused(&lab, &with("main")).stderr_has("write git:REVISION, dir:FOLDER or subject:NAME");
    refused(&lab, &with("git:-x")).stderr_has("no revision has such a name");
    refused(&lab, &with("dir:nowhere")).stderr_has("nowhere");
    refused(&lab, &with("subject:nobody")).stderr_has("there is no");
    let two = ["two", "--base", "dir:.", "--head", "dir:."];
    refused(&lab, &two).stderr_has("a gate is about one: name it with --subject (it, other)");
    refused(&lab, &[&with("dir:.")[..], &["-H", "a: b"]].concat())
        .stderr_has("leave the flags of the request out");
    refused(&lab, &[&with("dir:.")[..], &["--alpha", "0.05%"]].concat()).stderr_has("--alpha");
    let both = ["--json", "-", "--junit", "-"];
    refused(&lab, &[&with("dir:.")[..], &both].concat()).stderr_has("both want standard output");
    let no_program = ["--base-cmd", "no-such-program", "--head-cmd", "sh"];
    refused(&lab, &no_program).stderr_has("--base-cmd: there is no program");
}

#[test]
fn a_limit_too_short_for_what_is_to_be_found_ends_the_gate_before_it_begins() {
    let lab = lab();
    let sides = ["gated", "--base", "subject:it", "--head", "dir:."];
    let ran = refused(&lab, &[&sides[..], &SHORT, &["--limit", "3s"]].concat());
    ran.stderr_has("cannot tell whether the head is 5 % worse").stderr_has("(--limit)");
    let noisy = ["-d", "300ms", "--spread", "30%"];
    let ran = refused(&lab, &[&sides[..], &noisy].concat());
    ran.stderr_has("no number of pairs suffices");
    assert!(!lab.has(".dyno/reports"), "nothing was measured");
}

#[test]
fn a_revision_is_built_in_a_tree_of_its_own_and_the_working_tree_stays_as_it_is() {
    let lab = repository();
    lab.write("subjects/it/extra", "not committed");
    git(&lab, &["add", "."]);
    let sides = ["gated", "--base", "git:first", "--head", "dir:.", "--show"];
    let ran = lab.dyno(&[&["gate"], &sides[..], &SHORT].concat()).status(0);
    ran.stderr_has("the working tree has changes").stdout_has("6 pairs").stdout_has("to find 5 %");
    let trees = lab.root.join("cache/dyno/trees");
    let of_top = fs::read_dir(&trees).unwrap().next().unwrap().unwrap().path();
    let mut names: Vec<String> = fs::read_dir(&of_top)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "a tree, and that it is whole: {names:?}");
    assert!(!of_top.join(&names[0]).join("subjects/it/extra").exists());
    assert!(lab.has("subjects/it/extra"));
    let unknown = ["gated", "--base", "git:nothing", "--head", "dir:."];
    refused(&lab, &unknown).stderr_has("has no such revision");
}

#[test]
fn a_build_that_fails_shows_what_it_wrote() {
    let broken = format!(
        "build = [\"sh -c 'echo first line; echo it is broken; exit 3'\"]\nrun = '{ORACLE}'"
    );
    let lab = lab().subject("broken", &broken);
    let sides = ["gated", "--base", "subject:it", "--head", "subject:broken"];
    let ran = refused(&lab, &[&sides[..], &SHORT].concat());
    ran.stderr_has("first line").stderr_has("it is broken").stderr_has("a side cannot take part");
}

#[test]
fn sides_that_answer_differently_are_not_compared_and_a_head_that_fails_is_worse() {
    let lab = lab();
    let commands = |head: &str| -> Ran {
        let dyno = env!("CARGO_BIN_EXE_dyno");
        let (base, head) = (SERVER.replace("DYNO", dyno), head.replace("DYNO", dyno));
        let sides = ["gate", "--base-cmd", &base, "--head-cmd", &head, "--path", "/hello"];
        lab.dyno(&[&sides[..], &["--ready", "20s"], &SHORT].concat())
    };
    commands(&format!("{SERVER} --fault wrong-body")).status(2).stderr_has("not comparable");
    commands("false").status(1).stderr_has("the head:");
}

/// On a busy machine nothing may be told; then that is the answer, in all forms.
#[test]
fn a_gate_is_told_to_people_to_pull_requests_and_to_programs() {
    let lab = lab();
    let server = SERVER.replace("DYNO", env!("CARGO_BIN_EXE_dyno"));
    let mut command = lab.command(&["gate", "--base-cmd", &server, "--head-cmd", &server]);
    command.args(SHORT).args(["--path", "/hello", "--detect", "40%", "--gate", "throughput,cpu"]);
    command.args(["--json", "-", "--markdown", "g.md", "--junit", "g.xml"]);
    command.env("GITHUB_STEP_SUMMARY", lab.root.join("summary"));
    let ran = Going::start(command).end();
    let code = ran.code();
    let json = ran.json();
    crate::schema::fits("gate", &json);
    let answers = [("not_worse", 0), ("worse", 1), ("cannot_tell", 2)];
    let of = answers.iter().find(|(word, _)| json["answer"] == *word).unwrap();
    assert_eq!(code, Some(of.1), "{ran}");
    let figures = json["figures"].as_array().unwrap();
    let gated: Vec<&str> = figures
        .iter()
        .filter(|figure| figure["is_gated"] == true)
        .filter_map(|figure| figure["figure"].as_str())
        .collect();
    assert_eq!(gated[0], "throughput_per_s");
    assert!(json["pairs_counted"].as_u64() <= json["pairs_tried"].as_u64());
    let read = |name: &str| fs::read_to_string(lab.root.join(name)).unwrap();
    assert!(read("g.md").starts_with("<!-- dyno gate -->\n"), "{}", read("g.md"));
    assert_eq!(read("summary"), read("g.md"));
    assert!(read("g.xml").contains("<testsuite name=\"dyno gate\""), "{}", read("g.xml"));
    assert!(read("g.md").contains(json["sentence"].as_str().unwrap().split(':').next().unwrap()));
}
