//! `dyno audit`: the files that it reads and refuses, what it prints, and its exit codes.

use std::process::Command;

use crate::folder::Folder;
use crate::rig::{Going, Ran, Rig, doubts};
use crate::schema;

/// Runs it in the folder of the fixtures.
fn audit(arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../audit/fixtures"));
    command.arg("audit").args(arguments).env_remove("COLUMNS");
    Going::start(command).end()
}

/// Runs it with this on its standard input.
fn piped(content: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.args(["audit", "-"]);
    Ran::with_input(command, content.as_bytes())
}

#[test]
fn healthy_results_exit_with_0_and_planted_faults_with_1() {
    audit(&["wrk-healthy.txt", "dyno-healthy.json"])
        .status(0)
        .stdout_has("verdict: valid; rows: 2 valid · 0 suspect · 0 invalid");
    audit(&["wrk-false.txt", "--full"]).status(1).stdout_has("Every row that was found");
    audit(&["web-frameworks-healthy.json"]).status(1).stdout_has("the times have no unit");
    audit(&["web-frameworks-healthy.json", "--times-in", "s"]).status(0);
    audit(&["hey-healthy.txt", "--connections", "10"]).status(1).stdout_has("littles_law");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_way_out() {
    let ran = audit(&["wrk-healthy.txt", "none.txt"]).status(2);
    ran.stderr_has("none.txt: No such file").stdout_has("1 row raises no doubt.");
    audit(&[]).status(2);
    for (content, says) in [
        ("hello", "standard input: it has none of the formats"),
        ("[]", "none of the files has a row"),
        ("", "standard input: it is empty"),
    ] {
        piped(content).status(2).stderr_has(says);
    }
}

#[test]
fn its_json_is_as_the_schema_says() {
    let files = ["wrk-false.txt", "arena-false-64.json", "web-frameworks-false.json"];
    let document = audit(&[&files[..], &["--json"]].concat()).status(1).json();
    schema::fits("audit", &document);
    assert_eq!(document["files"].as_array().map(Vec::len), Some(files.len()));
}

#[test]
fn each_document_that_dyno_writes_has_a_verdict_or_is_refused_by_its_schema() {
    let rig = Rig::new();
    let folder = Folder::new();
    let [load, several, stream] =
        ["load.json", "several.json", "stream"].map(|name| folder.path(name));
    let sends = ["load", "{url}/hello", "-n", "2000", "-c", "2", "--no-live"];
    let to = format!("--stream={stream}");
    rig.dyno(&[&sends[..], &["-o", &load, &to]].concat()).status(0);
    rig.dyno(&[&sends[..], &["-o", &several, "--rounds", "2"]].concat()).status(0);
    for (file, rows) in [(&load, 1), (&several, 2)] {
        let found = audit(&[file, "--json"]).json();
        let found = found["files"][0]["rows"].as_array().unwrap();
        assert_eq!(found.len(), rows, "{found:#?}");
        for row in found {
            assert_eq!((&row["connections"], &row["requests"]), (&2.0.into(), &2_000.0.into()));
            // A busy machine may raise others.
            let false_ones = ["littles_law", "mean_impossible", "unit_missing"];
            let ids = doubts(row);
            assert!(!false_ones.iter().any(|id| ids.contains(id)), "{ids:?}");
        }
    }
    let others = [
        ("dyno.check-list/1", rig.dyno(&["check", "--list", "--json"]).status(0).stdout),
        ("dyno.compare/1", rig.dyno(&["compare", &load, &several, "--json"]).stdout),
        ("dyno.audit/1", audit(&[&load, "--json"]).stdout),
        ("dyno.stream/1", folder.read("stream")),
    ];
    for (schema, document) in others {
        assert!(document.contains(schema), "{document}");
        folder.write("other", document);
        audit(&[&folder.path("other")]).status(2).stderr_has(&format!("its schema is `{schema}`"));
    }
}
