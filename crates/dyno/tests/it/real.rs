//! Real servers: those of `experiments/smoke.toml` that this machine can run are started, checked, loaded for a moment
//! and stopped. Those that it cannot run are named, with the reason.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::lab_rig::not_tested;

/// One after the other: a project has one run at a time.
#[test]
fn real_servers_answer_rightly_under_a_moments_load_in_all_protocols() {
    run("smoke", &[]);
    run("smoke-h2", &["--protocol", "http/1.1+tls,h2c,h2", "--streams", "3", "--no-check"]);
}

/// Runs the experiment with these flags. What a server does not speak, it is not asked.
fn run(name: &str, flags: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let store = std::env::temp_dir().join(format!("dyno-{name}-{}.sqlite", std::process::id()));
    let ran = Command::new(env!("CARGO_BIN_EXE_dyno"))
        .args(["run", "smoke", "--quick", "--json", "--store"])
        .arg(&store)
        .args(flags)
        .current_dir(&root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    // Beside busy programs some rows may be invalid, and the run exits with 2: the checks below are what matters here.
    assert!(matches!(ran.status.code(), Some(0 | 2)), "{said}");
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    for entry in run["subjects"].as_array().unwrap() {
        if let Some(reason) = entry["skipped"].as_str() {
            not_tested(&entry["name"].to_string(), reason);
        }
    }
    let each = |value: &Value, key: &str| value[key].as_array().unwrap().clone();
    let rows: Vec<Value> =
        each(&run, "tables").iter().flat_map(|table| each(table, "rows")).collect();
    assert!(2 <= rows.len(), "the oracle alone has two rows: {said}");
    for row in rows {
        for trial in each(&row, "trials") {
            assert_eq!(trial["outcome"], "measured", "{row:#}\n{said}");
            assert_eq!(trial["figures"]["failed"]["value"], 0.0, "{row:#}");
            // A moment beside busy programs may end before one request was due; such a row is in doubt.
            let rate = trial["figures"]["throughput_per_s"]["value"].as_f64();
            let is_doubtful = row["verdict"]["word"] != "valid";
            assert!(rate.map_or(is_doubtful, |rate| 0.0 < rate), "{row:#}");
        }
    }
    for ending in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{ending}", store.display()));
    }
}
