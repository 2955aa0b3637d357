//! A public file is repeated from what it brings along, and nothing else runs.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::lab_rig::{Lab, SHORT, is_root};
use crate::public::{id, unpacked};
use crate::services::{self, SERVE, STORE};
use crate::terminal::on_terminal;

const ROUNDS: &str = "[trials]\nrepeat = 3\npause = '0s'";

/// A project with a run of a server that is a script of its own, and the path for its public file.
fn measured() -> (Lab, String) {
    let lab = Lab::new().python("snake", "sound").experiment("x", &["snake"], SHORT, ROUNDS);
    lab.dyno(&["run", "x"]).measured();
    let file = lab.path("a.dyno");
    (lab, file)
}

fn export(lab: &Lab, file: &str) -> String {
    id(&lab.dyno(&["runs", "export", "1", "--public", "-o", file]).status(0).stdout)
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

/// Repeats it on a terminal, at which this is typed when it is asked for; its exit code, and all that was shown.
fn at_terminal(lab: &Lab, file: &str, answer: &str) -> (Option<i32>, String) {
    let question = Some("anything else to run nothing:");
    on_terminal((300, 24), lab.command(&repeat(&[file])), question, |ours, _| {
        writeln!(ours, "{answer}").unwrap();
    })
}

#[test]
fn at_a_terminal_only_the_first_digits_of_the_id_are_consent() {
    let (lab, file) = measured();
    let id = export(&lab, &file);
    let other = Lab::new();
    for answer in ["y", "", &id[..7], "00000000"] {
        let (code, shown) = at_terminal(&other, &file, answer);
        assert_eq!(code, Some(2), "{shown}");
        assert!(shown.contains("not the first 8 digits of its id: nothing was run"), "{shown}");
    }
    assert!(!other.has(".dyno/runs.sqlite") && !is_left(&other), "nothing was run");
    let (code, shown) = at_terminal(&other, &file, &id[..8]);
    assert!(code.is_some_and(|code| code <= 2), "{shown}");
    assert!(shown.contains("snake, hello at 2 connections: "), "{shown}");
    assert_eq!((other.trials("1").len(), is_left(&other)), (3, false), "{shown}");
}

#[test]
fn a_service_is_built_and_started_from_the_file_too() {
    let lab = services::with_load(services::lab(STORE, SERVE), SHORT, ROUNDS);
    lab.dyno(&["run", "x"]).measured();
    let file = lab.path("a.dyno");
    let id = export(&lab, &file);
    let other = Lab::new();
    let shown = other.dyno(&["runs", "repeat", &file, "--show"]).status(0);
    let commands = ["sh template.sh", "sh serve.sh {port}", "cp tables/world.csv", "sh count.sh"];
    for text in commands.into_iter().chain(["services/store/serve.sh"]) {
        assert!(shown.stdout.contains(text), "{text} in {shown}");
    }
    let ran = other.dyno(&repeat(&[&file, "--i-have-read", &id]));
    assert!(ran.stdout.contains("good, needy at 2 connections: "), "{ran}");
    assert_eq!(other.trials("1").len(), 3, "{ran}");
}

#[test]
fn a_file_that_is_too_large_leaves_its_hash_and_a_link_to_where_its_server_is_from() {
    let lab = Lab::new().python("snake", "sound").python("viper", "sound");
    let large = "x".repeat(300 << 10);
    let path = |name: &str| format!("subjects/{name}/data.txt");
    let lab = lab.file(&path("snake"), &large).file(&path("viper"), &large);
    let manifest = lab.read("subjects/viper/subject.toml");
    lab.write("subjects/viper/subject.toml", manifest.replace("https://", "javascript:"));
    let lab = lab.experiment("x", &["snake", "viper"], SHORT, "");
    lab.dyno(&["run", "x"]).measured();
    let file = lab.path("a.dyno");
    export(&lab, &file);
    let (text, size) = (unpacked(&file), large.len());
    assert!(text.contains(&format!(" {size} https://example.org {}", path("snake"))), "{text}");
    assert!(text.contains(&format!(" {size} {}", path("viper"))), "{text}");
    let says = format!("`{}` was too large for it", path("snake"));
    lab.dyno(&["runs", "repeat", &file, "--show"]).status(2).stderr_has(&says);
}
