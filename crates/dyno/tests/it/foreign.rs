//! Text that others wrote, secrets, and places that are no files: what of them reaches a terminal.

use std::process::Command;

use crate::lab_rig::{Lab, SHORT};
use crate::rig::Rig;

fn small_experiment() -> Lab {
    Lab::new().oracle("a", "").experiment("x", &["a"], SHORT, "")
}

#[test]
fn what_a_terminal_would_obey_is_shown_in_refusals() {
    let lab = Lab::new().file("allow", "10.0.0.1:80 # right\n\x1b[2J\0\u{202e}any");
    let ran = lab.dyno(&["agent", "--stdio", "--allow-file", "allow"]).status(2);
    let ran = ran.stderr_has("line 2: `\\u{1b}[2J\\u{0}\\u{202e}any`");
    assert!(!ran.stderr.contains(['\x1b', '\0', '\u{202e}']), "{ran}");
    // Words of the command line come back in clap's own refusals.
    let ran = lab.dyno(&["load", "--x\u{202e}y"]).status(2).stderr_has("--x\\u{202e}y");
    assert!(!ran.stderr.contains('\u{202e}'), "{ran}");
}

#[test]
fn a_strangers_commands_are_shown_as_they_are() {
    let lab = small_experiment().subject("a", "run = \"./serve \\u202e \\u001b[2J --port {port}\"");
    let ran = lab.dyno(&["run", "x", "--show"]).status(0);
    let ran = ran.stdout_has("./serve").stdout_has("\\u{202e}").stdout_has("\\u{1b}[2J");
    assert!(!ran.stdout.contains(['\x1b', '\u{202e}']), "{ran}");
}

#[test]
fn what_may_be_loaded_is_read_from_an_ordinary_file_alone() {
    let lab = Lab::new();
    let pipe = lab.root.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["/dev/zero", pipe.to_str().unwrap()] {
        let ran = lab.dyno(&["agent", "--stdio", "--allow-file", path]).status(2);
        let says = format!("--allow-file {path}: cannot be read: it is no ordinary file");
        let _ = ran.stderr_has(&says);
    }
    lab.write("allow", &"#\n".repeat(1 << 20));
    let ran = lab.dyno(&["agent", "--stdio", "--allow-file", "allow"]).status(2);
    let _ = ran.stderr_has("longer than 1 MiB");
}

#[test]
fn a_password_in_a_refused_curl_command_is_not_shown() {
    let rig = Rig::at("127.0.0.1:9".parse().unwrap());
    for line in [
        "curl http://ann:secret@h/{a,b}",
        "curl http://ann:secret@h/",
        "curl http://ann:secret@h/ http://b:secret@h/",
        "curl h --user=ann:secret",
        "curl h -H 'Authorization Basic secret'",
        "curl h -u ann:secret -L",
    ] {
        let ran = rig.dyno(&["load", "--curl", line]).status(2);
        assert!(!ran.stderr.contains("secret"), "{line}: {ran}");
    }
}

#[test]
fn a_password_in_a_refused_url_is_not_shown() {
    let lab = small_experiment();
    for url in [
        "http://ann:secret@h",
        "https://ann:se/secret@h/x",
        "ws://ann:a secret@h/",
        "ann:secret@h:80",
        "ann:secret@h/x",
    ] {
        for command in [
            &["load"][..],
            &["load", "http://127.0.0.1:9/", "--connect-to"],
            &["load", "http://127.0.0.1:9/", "--load-on"],
            &["hold"],
            &["check"],
            &["race", "http://127.0.0.1:9/"],
            &["capacity", "--p99", "20ms"],
            &["gate", "x", "--head", "dir:.", "--base"],
            &["gate", "--base-cmd", "true", "--head-cmd"],
            &["agents", "check", "local:2", "--target"],
            &["agent", "--stdio", "--allow"],
        ] {
            let arguments = [command, &[url]].concat();
            let ran = lab.dyno(&arguments).status(2);
            assert!(!ran.stderr.contains("secret"), "{arguments:?}: {ran}");
            assert!(!ran.stdout.contains("secret"), "{arguments:?}: {ran}");
        }
    }
}

#[test]
fn output_that_cannot_be_written_is_no_success() {
    for flags in
        ["--help", "load --help", "--version", "man", "completions bash", "serve --list-faults"]
    {
        let line = format!("\"$0\" {flags} >/dev/full");
        let dyno = env!("CARGO_BIN_EXE_dyno");
        let status = Command::new("sh").args(["-c", &line, dyno]).status().unwrap();
        assert_eq!(status.code(), Some(2), "{flags}");
    }
}

#[test]
fn a_store_is_neither_standard_input_nor_output() {
    let lab = small_experiment();
    for command in [&["run", "x"][..], &["list"], &["report"], &["rm", "1"], &["view"]] {
        let ran = lab.dyno(&[command, &["--store", "-"]].concat()).status(2);
        let _ = ran.stderr_has("-: a store is a file, and cannot be standard input or output");
        assert!(!lab.has("-"), "{command:?}");
    }
}

#[test]
fn a_run_without_room_says_by_which_command_it_goes_on() {
    let lab = small_experiment().oracle("b", "").before("ulimit -f 8192");
    for (command, says) in [
        (&["run", "x"][..], "`dyno run --resume 1 --store run.sqlite` goes on"),
        (
            &["capacity", "a", "--p99", "20ms"],
            "run 1 is a search for a capacity: `dyno capacity --resume 1 --store capacity.sqlite` goes on with it",
        ),
        (
            &["race", "a", "b"],
            "run 1 is a race, and only a run of an experiment can be resumed; `dyno report 1 --store race.sqlite` \
             shows what is kept of it, and this begins it anew: dyno race a b --store race.sqlite",
        ),
    ] {
        let store = format!("{}.sqlite", command[0]);
        let ran = lab.dyno(&[command, &["--store", &store]].concat()).status(2);
        let _ = ran.stderr_has("the disk is full").stderr_has(&format!("make room; {says}"));
    }
}
