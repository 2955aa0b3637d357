//! Text that others wrote, secrets, and places that are no files: what of them reaches a terminal.

use std::fs;
use std::process::Command;

use oracle::Config;
use rusqlite::Connection;
use store::Store;

use crate::lab_rig::{Lab, SHORT};
use crate::report::{Kept, fixture};
use crate::rig::Rig;

fn small_experiment() -> Lab {
    Lab::one(SHORT, "")
}

#[test]
fn what_a_terminal_would_obey_is_shown_in_refusals() {
    let lab = Lab::new().file("allow", "10.0.0.1:80 # right\n\x1b[2J\0\u{202e}any");
    let ran = lab.dyno(&["agents", "run", "--stdio", "--allow-file", "allow"]).status(2);
    let ran = ran.stderr_has("line 2: `\\u{1b}[2J\\u{0}\\u{202e}any`");
    assert!(!ran.stderr.contains(['\x1b', '\0', '\u{202e}']), "{ran}");
    // Words of the command line come back in clap's own refusals.
    let ran = lab.dyno(&["load", "--x\u{202e}y"]).status(2).stderr_has("--x\\u{202e}y");
    assert!(!ran.stderr.contains('\u{202e}'), "{ran}");
}

#[test]
fn a_strangers_commands_are_shown_as_they_are() {
    let lab = small_experiment().subject("a", "run = \"./serve \\u202e \\u001b[2J --port {port}\"");
    let ran = lab.dyno(&["run", "x", "--dry-run"]).status(0);
    let ran = ran.stdout_has("./serve").stdout_has("\\u{202e}").stdout_has("\\u{1b}[2J");
    assert!(!ran.stdout.contains(['\x1b', '\u{202e}']), "{ran}");
}

#[test]
fn what_may_be_loaded_is_read_from_an_ordinary_file_alone() {
    let lab = Lab::new();
    let pipe = lab.root.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["/dev/zero", pipe.to_str().unwrap()] {
        let ran = lab.dyno(&["agents", "run", "--stdio", "--allow-file", path]).status(2);
        let says = format!("--allow-file {path}: cannot be read: it is not an ordinary file");
        let _ = ran.stderr_has(&says);
    }
    lab.write("allow", "#\n".repeat(1 << 20));
    let ran = lab.dyno(&["agents", "run", "--stdio", "--allow-file", "allow"]).status(2);
    let _ = ran.stderr_has("longer than 1 MiB");
}

#[test]
fn a_password_in_a_refused_curl_command_is_not_shown() {
    let rig = Rig::nowhere();
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
            &["agents", "run", "--stdio", "--allow"],
        ] {
            // Why there is no result stands in the files, too.
            let has_results = command[0] != "agents";
            let files = if has_results { &["-o", "end.json", "-o", "end.html"][..] } else { &[] };
            let arguments = [command, &[url], files].concat();
            let ran = lab.dyno(&arguments).status(2);
            assert!(!ran.stderr.contains("secret"), "{arguments:?}: {ran}");
            assert!(!ran.stdout.contains("secret"), "{arguments:?}: {ran}");
            for file in ["end.json", "end.html"] {
                let text = fs::read_to_string(lab.root.join(file)).unwrap_or_default();
                assert!(!text.contains("secret"), "{arguments:?}: {text}");
            }
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

/// More than are read.
const ROWS: u32 = 300_000;

#[test]
fn a_plan_beyond_all_measure_is_refused_by_the_name_of_its_file() {
    let kept = Kept::new();
    let store = kept.path("runs.sqlite");
    let mut other = Store::open(store.as_ref()).unwrap();
    let id = other.begin(&fixture::run()).unwrap();
    fixture::trials().iter().for_each(|trial| other.keep(id, trial).unwrap());
    drop(other);
    let connection = Connection::open(&store).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    let rows =
        "INSERT INTO run_plan SELECT 1, 1000 + i, 'resets', 'hello', 4, 'connections', i FROM n";
    let numbers = format!("n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})");
    connection.execute_batch(&format!("WITH RECURSIVE {numbers} {rows}")).unwrap();
    for command in [&["report", "1"][..], &["compare", "1", "2"]] {
        let light = Rig::new().memory_kib(256 << 10);
        let ran = light.dyno(&[command, &["--store", &store]].concat()).status(2);
        let says = "holds more than any dyno keeps (run 1: more than 250000 trials are planned)";
        let _ = ran.stderr_has(&format!("{store}: {says}")).stderr_has("name another file");
    }
    // The other runs of the store can be read.
    let _ = Rig::new().dyno(&["report", "2", "--store", &store]).status(0);
}

#[test]
fn what_is_no_store_is_refused_by_the_name_of_its_file_and_left_as_it_was() {
    let lab = small_experiment();
    let connection = Connection::open(lab.root.join("old.sqlite")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE run (run); PRAGMA application_id = 0x64796e6f; PRAGMA user_version = 5",
        )
        .unwrap();
    drop(connection);
    let before = std::fs::read(lab.root.join("old.sqlite")).unwrap();
    for (command, store, says) in [
        (&["run", "x"][..], "old.sqlite", "old.sqlite: was made by a dyno before its first"),
        (&["report"], "old.sqlite", "old.sqlite: was made by a dyno before its first release"),
        (&["run", "x"], "-", "-: a store is a file, and cannot be standard input or output"),
        (&["runs", "rm", "1"], "-", "-: a store is a file, and cannot be standard input or output"),
        (&["view"], "-", "-: a store is a file, and cannot be standard input or output"),
    ] {
        let _ = lab.dyno(&[command, &["--store", store]].concat()).status(2).stderr_has(says);
        assert!(!lab.has("-"), "{command:?}");
        assert!(before == std::fs::read(lab.root.join("old.sqlite")).unwrap(), "{command:?}");
    }
}

#[test]
fn a_run_without_room_says_by_which_command_it_goes_on() {
    let lab = small_experiment().oracle("b", "").before("ulimit -f 8192");
    for (command, says) in [
        (&["run", "x"][..], "`dyno run --resume 1 --store run.sqlite` continues it"),
        (
            &["capacity", "a", "--p99", "20ms"],
            "run 1 is a search for a capacity: `dyno capacity --resume 1 --store capacity.sqlite` continues it",
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

#[test]
fn loads_without_room_are_reported_and_name_the_command_that_begins_them_anew() {
    let lab = Lab::new().before("ulimit -f 700");
    let rig = Rig::oracle(Config::default());
    let url = rig.url("/hello");
    let repeated = ["load", &url, "-c", "1", "-d", "20ms", "--rounds", "200", "--no-live"];
    let ran = lab.dyno(&[&repeated[..], &["--keep", "--store", "s.sqlite"]].concat()).status(2);
    let ran = ran.stdout_has("throughput/s").stderr_has("s.sqlite: the disk ");
    let says = format!(
        "run 1 is a kept load, and only a run of an experiment can be resumed; `dyno report 1 --store s.sqlite` shows \
         what is kept of it, and this begins it anew: dyno load {url}"
    );
    let _ = ran.stderr_has(&says);
    let _ = lab.dyno(&["report", "1", "--store", "s.sqlite"]).stdout_has("20 ms");
}
