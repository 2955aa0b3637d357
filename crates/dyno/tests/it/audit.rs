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
fn piped(content: &str, arguments: &str) -> Ran {
    let mut command = Command::new("sh");
    let script = format!("printf '%b' \"$0\" | {} audit - {arguments}", env!("CARGO_BIN_EXE_dyno"));
    command.args(["-c", &script, content]);
    Going::start(command).end()
}

#[test]
fn healthy_results_exit_with_0_and_planted_faults_with_1() {
    audit(&["wrk-healthy.txt", "dyno-healthy.json"])
        .status(0)
        .stdout_has("2 rows raise no doubt.")
        .stdout_has("verdict: valid; rows: 2 valid · 0 suspect · 0 invalid");
    audit(&["wrk-false.txt"])
        .status(1)
        .stdout_has("64,000 requests/s × 2.20 ms are 141 requests in flight at once")
        .stdout_lacks("Every row that was found");
    audit(&["wrk-false.txt", "--full"]).status(1).stdout_has("Every row that was found");
    audit(&["web-frameworks-healthy.json"]).status(1).stdout_has("the times have no unit");
    audit(&["web-frameworks-healthy.json", "--times-in", "s"]).status(0);
    audit(&["hey-healthy.txt", "--connections", "10"]).status(1).stdout_has("littles_law");
}

#[test]
fn dyno_s_own_verdict_is_carried() {
    let load = r#"{"schema": "dyno.load/1", "order": {"load": {"kind": "closed", "connections": 1}},
        "verdict": {"word": "invalid", "doubts": [{"id": "failures", "gravity": "invalid"}]}}"#;
    piped(load, "")
        .status(1)
        .stdout_has("verdict: invalid")
        .stdout_has("invalid: its own verdict (own_verdict): 1 row")
        .stdout_has("its own verdict is invalid: failures")
        .stdout_lacks("other programs");
    piped(&load.replace("invalid", "valid"), "").status(0).stdout_lacks("own verdict");
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_way_out() {
    let ran = audit(&["wrk-healthy.txt", "none.txt"]).status(2);
    ran.stderr_has("none.txt: No such file").stdout_has("1 row raises no doubt.");
    audit(&[]).status(2);
    piped("hello", "")
        .status(2)
        .stderr_has("standard input: it has none of the formats")
        .stderr_has("HttpArena's data");
    piped("[{\"rps\": NaN}]", "").status(2).stderr_has("write null");
    piped("{\"schema\": \"dyno.run/1\"}", "").status(2).stderr_has("`dyno load --json`");
    piped("[]", "").status(2).stderr_has("none of the files has a row");
    piped("", "").status(2).stderr_has("standard input: it is empty");
}

#[test]
fn its_json_is_as_the_schema_says() {
    for (files, code) in [
        (&["wrk-healthy.txt"][..], 0),
        (&["wrk-false.txt", "arena-false-64.json", "techempower-false.json"], 1),
        (&["web-frameworks-false.json"], 1),
    ] {
        let ran = audit(&[files, &["--json"]].concat()).status(code);
        let document = ran.json();
        schema::fits("audit", &document);
        assert_eq!(document["files"].as_array().map(Vec::len), Some(files.len()));
    }
}

#[test]
fn a_load_of_dyno_s_own_passes_its_audit() {
    let ran = Rig::new().dyno(&["load", "{url}/hello", "-n", "2000", "-c", "4", "--json"]);
    let (_folder, path) = Folder::with("load.json", ran.status(0).stdout);
    let found = audit(&[&path, "--json"]).json();
    let row = &found["files"][0]["rows"][0];
    assert_eq!((&row["connections"], &row["requests"]), (&4.0.into(), &2_000.0.into()), "{row:#}");
    let ids = doubts(row);
    // A busy machine may raise others.
    assert!(
        !["littles_law", "mean_impossible", "unit_missing"].iter().any(|id| ids.contains(id)),
        "{ids:?}"
    );
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
        assert_eq!(found["files"][0]["rows"].as_array().map(Vec::len), Some(rows), "{found:#}");
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
