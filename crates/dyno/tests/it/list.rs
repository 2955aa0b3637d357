//! `dyno servers list`, `servers setup` and `run --dry-run`: what they say, and what they do not run.

use serde_json::Value;

use crate::lab_rig::{Lab, SHORT};
use crate::rig::Going;

/// A subject that leaves a file behind whenever one of its commands is run.
fn telltale(lab: Lab, name: &str) -> Lab {
    let keys = "build = ['''sh -c 'echo built > telltale' ''']\n\
         run = '''sh -c 'echo ran > telltale; exec {dyno} serve --listen {address}:{port}' '''\n\
         version = '''sh -c 'echo asked >> telltale; echo 1.2.3' '''\n\
         env = { MODE = 'fast' }\npasses = ['HOME_OF_IT']";
    lab.subject(name, keys)
}

fn lab() -> Lab {
    let limits = "[conditions]\nmemory = '512MiB'\nfiles = 500";
    telltale(Lab::new(), "oak").experiment("x", &["oak"], SHORT, limits)
}

/// Whether any command of the subject's was run.
fn was_touched(lab: &Lab) -> bool {
    lab.has(".dyno/builds")
}

#[test]
fn show_prints_every_command_limit_and_target_and_runs_nothing() {
    let lab = lab();
    let ran = lab.dyno(&["run", "x", "--dry-run"]).status(0);
    let ran = ran
        .stdout_has("closed: 2 connections")
        .stdout_has("200 requests a trial")
        .stdout_has("time-out 5")
        .stdout_has("GET /hello HTTP/1.1")
        .stdout_has("536870912 bytes")
        .stdout_has("open files: 500")
        .stdout_has("loopback, 127.0.0.1")
        .stdout_has("build    sh -c 'echo built > telltale'")
        .stdout_has("run      sh -c 'echo ran > telltale; exec {dyno} serve")
        .stdout_has("version  sh -c 'echo asked >> telltale; echo 1.2.3'")
        .stdout_has("with     MODE=fast")
        .stdout_has("sees     your $HOME_OF_IT")
        .stdout_has("round 1  hello at 2 connections: oak");
    assert!(!lab.has(".dyno"), "nothing was run or written: {ran}");
}

#[test]
fn list_runs_nothing_but_version_commands_of_what_is_built() {
    let lab = telltale(lab(), "elm");
    lab.dyno(&["servers", "list"])
        .status(0)
        .stdout_has("oak")
        .stdout_has("can be built")
        .stdout_lacks("1.2.3");
    assert!(!was_touched(&lab));
    lab.dyno(&["servers", "setup", "oak"]).status(0);
    let json = lab.dyno(&["servers", "list", "--json"]).status(0).json();
    let row = |name: &str| -> Value {
        let rows = json["subjects"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!((&row("oak")["state"], &row("oak")["version"]), (&"built".into(), &"1.2.3".into()));
    assert_eq!(row("elm")["state"], "buildable");
    assert_eq!(row("elm")["next_command"], "dyno servers setup elm");
    let names = |kind: &str| -> Vec<String> {
        let rows = json[kind].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(names("workloads"), ["both", "hello"]);
    assert_eq!(names("experiments"), ["x"]);
    assert!(!lab.has(".dyno/builds/elm"));
}

#[test]
fn a_piped_list_is_as_wide_as_columns_says() {
    let question = "question = 'Which of these servers is the one that stands this test?'\n";
    let lab = telltale(lab(), "elm").file("experiments/long.toml", question);
    let longest = |columns: &str| {
        let mut command = lab.command(&["servers", "list"]);
        command.env("COLUMNS", columns);
        let ran = Going::start(command).end().status(0);
        ran.stdout.lines().map(|line| line.chars().count()).max().unwrap()
    };
    assert!(longest("50") <= 50);
    assert!(50 < longest("200"));
    let usual = longest("120");
    for odd in ["0", "wide"] {
        assert_eq!(longest(odd), usual, "COLUMNS={odd}");
    }
}

#[test]
fn list_shows_what_is_broken_and_goes_on_and_waits_for_no_pipe() {
    let lab = lab().subject("bad", "rnu = 'x'").file("experiments/odd.toml", "question = 1");
    for folder in ["workloads", "experiments"] {
        let pipe = lab.root.join(folder).join("pipe.toml");
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    let says = "experiments/pipe.toml: cannot be read: it is not an ordinary file";
    lab.dyno(&["servers", "list"])
        .status(0)
        .stdout_has("unknown key `rnu`; did you mean `run`?")
        .stdout_has("oak")
        .stdout_has("experiments/odd.toml:1: ")
        .stdout_has(says);
    lab.dyno(&["run", "pipe", "--dry-run"]).status(2).stderr_has(says);
}

#[test]
fn setup_shows_each_command_and_builds() {
    let lab = lab();
    let ran = lab.dyno(&["servers", "setup", "oak"]).status(0);
    let ran =
        ran.stderr_has("oak: $ sh -c 'echo built > telltale'").stderr_has("oak: ready: 1.2.3");
    assert!(was_touched(&lab), "{ran}");
    let again = lab.dyno(&["servers", "setup", "oak"]).status(0);
    assert!(!again.stderr.contains("echo built"), "it is built already: {again}");
}

#[test]
fn setup_says_what_cannot_be_had_and_goes_on() {
    let broken = "build = ['''sh -c 'echo no luck today >&2; exit 1' ''']\nrun = 'true'";
    let lab = lab().subject("broken", broken);
    let ran = lab.dyno(&["servers", "setup", "broken", "oak"]).status(1);
    let _ =
        ran.stderr_has("broken: not ready: ").stderr_has("no luck today").stderr_has("oak: ready");
    let unknown = lab.dyno(&["servers", "setup", "oka"]).status(2);
    let _ = unknown.stderr_has("unknown server `oka`; did you mean `oak`?");
}
