//! A public file is repeated from what it brings along, and nothing else runs.

use std::fs;
use std::path::Path;

use crate::lab_rig::{Lab, SHORT, is_root};

const ROUNDS: &str = "[trials]\nrepeat = 3\npause = '0s'";

/// A project with a run of a server that is a script of its own, and the path for its public file.
fn measured() -> (Lab, String) {
    let lab = Lab::new().python("snake", "sound").experiment("x", &["snake"], SHORT, ROUNDS);
    lab.dyno(&["run", "x"]).measured();
    let file = lab.root.join("a.dyno").display().to_string();
    (lab, file)
}

fn export(lab: &Lab, file: &str) -> String {
    let shown = lab.dyno(&["runs", "export", "1", "--public", "-o", file]).status(0).stdout;
    let id = shown.lines().find_map(|line| line.trim().strip_prefix("id "));
    id.unwrap_or_else(|| panic!("no id: {shown}")).into()
}

/// With the flag that lets root do it.
fn repeat<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    let as_root = rustix::process::geteuid().is_root().then_some("--as-root");
    ["runs", "repeat"].into_iter().chain(flags.iter().copied()).chain(as_root).collect()
}

fn is_left(lab: &Lab) -> bool {
    fs::read_dir(lab.root.join(".dyno/work")).is_ok_and(|left| left.count() != 0)
}

#[test]
fn a_strangers_server_is_built_from_the_file_and_measured_after_consent() {
    let (lab, file) = measured();
    let id = export(&lab, &file);
    // No server of this project has the stranger's name.
    let other = Lab::new().oracle("own", "");
    let ran = other.dyno(&["runs", "repeat", &file, "--show"]).status(0);
    let ran = ran.stdout_has("python3 server.py {port}").stdout_has("subjects/snake/server.py");
    assert!(ran.stdout.contains(&format!("id {id}")), "{ran}");
    let refused = other.dyno(&repeat(&[&file])).status(2);
    refused.stderr_has("there is no terminal to ask at").stderr_has("--i-have-read ID");
    let wrong = "0".repeat(64);
    other.dyno(&repeat(&[&file, "--i-have-read", &wrong])).status(2).stderr_has("another id");
    assert!(!other.has(".dyno/runs.sqlite"), "nothing was run");
    if is_root("that root is refused") {
        other
            .dyno(&["runs", "repeat", &file, "--i-have-read", &id])
            .status(2)
            .stderr_has("--as-root");
    }
    let again = other.root.join("b.dyno").display().to_string();
    let ran = other.dyno(&repeat(&[&file, "--i-have-read", &id[..32], "-o", &again]));
    // On a busy machine the figures may differ, or be in doubt.
    assert!(ran.stdout.contains("snake, hello at 2 connections: "), "{ran}");
    assert!(ran.stdout.contains("; `dyno report 1` shows the repetition"), "{ran}");
    assert_eq!(other.trials("1").len(), 3, "{ran}");
    assert!(!is_left(&other), "the folder of the stranger's files is gone");
    let verified = other.dyno(&["runs", "verify", &again]).status(0).stdout_has("consistent");
    assert!(!verified.stdout.contains(&id), "{verified}");
    let store = other.root.join("b.sqlite").display().to_string();
    other.dyno(&["runs", "import", &again, "--store", &store]).status(0);
    let record = store::Store::open_to_read(Path::new(&store)).unwrap();
    let record = record.run(record.runs().unwrap()[0].id).unwrap();
    assert_eq!(lab::record::fact(&record.facts, public::REPEATS), Some(id.as_str()));
    // A repetition brings the sources along, and can be repeated.
    other
        .dyno(&["runs", "repeat", &again, "--show"])
        .status(0)
        .stdout_has("subjects/snake/server.py");
}

#[test]
fn without_the_sources_of_a_server_nothing_is_repeated() {
    let (lab, file) = measured();
    lab.write("subjects/snake/server.py", "another server\n");
    export(&lab, &file);
    let says = "cannot be repeated from this file: server `snake` has no sources in it";
    lab.dyno(&["runs", "repeat", &file, "--show"]).status(2).stderr_has(says);
    assert!(!is_left(&lab));
}
