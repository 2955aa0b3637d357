//! `dyno run --history` and `dyno trend`.

use serde_json::Value;

use crate::lab_rig::{Lab, SHORT};
use crate::schema;

fn lab() -> Lab {
    Lab::one(SHORT, "")
}

fn lines(lab: &Lab) -> Vec<Value> {
    let text = lab.read("h.jsonl");
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_change_names_its_commit_and_the_gate_that_proves_it() {
    let lab = lab();
    lab.dyno(&["run", "x", "--history", "h.jsonl"]).measured();
    let all = lines(&lab);
    let line = all.iter().find(|line| line["figure"] == "throughput_per_s").unwrap();
    let mut text = String::new();
    for run in 0..20 {
        let mut line = line.clone();
        line["began_unix_ms"] = (1_790_000_000_000_i64 + run * 86_400_000).into();
        line["commit"] = format!("{:040x}", run + 1).into();
        line["is_dirty"] = false.into();
        line["reference"] = Value::Null;
        line["reference_value"] = Value::Null;
        line["value"] = ((1_000 + run * 7 % 5) * if run < 10 { 1 } else { 2 }).into();
        line["is_bound"] = false.into();
        line["verdict"] = "valid".into();
        text += &format!("{line}\n");
    }
    lab.write("long.jsonl", format!("{text}{{\"cut"));
    let shown = lab.dyno(&["trend", "long.jsonl"]).status(0);
    let gate = format!("dyno gate x --server a --base git:{:040x} --head git:{:040x}", 10, 11);
    let _ = shown
        .stdout_has(&gate)
        .stdout_has("better")
        .stdout_has("long.jsonl line 21: it ends early");
    let json = lab.dyno(&["trend", "long.jsonl", "--json"]).status(0).json();
    schema::fits("trend", &json);
    assert_eq!(json["series"][0]["changes"][0]["command"], gate);
}

#[test]
fn what_cannot_be_a_history_is_refused_before_anything_runs() {
    let lab = lab();
    lab.dyno(&["trend", "none.jsonl"]).status(2).stderr_has("none.jsonl: there is no such file");
    lab.write("empty.jsonl", "\n");
    lab.dyno(&["trend", "empty.jsonl"]).status(2).stderr_has("no line of a history is in it");
    lab.write("odd.jsonl", "{}\n");
    let odd = lab.dyno(&["trend", "odd.jsonl"]).status(2);
    let _ = odd.stderr_has("odd.jsonl line 1: missing field");
    lab.dyno(&["run", "x", "--history", "no/h.jsonl"]).status(2).stderr_has("no such directory");
    let both = lab.dyno(&["run", "x", "--history", "h.jsonl", "-o", "json:h.jsonl"]).status(2);
    let _ = both.stderr_has("names the same file");
    assert!(!lab.has("h.jsonl") && !lab.has(".dyno/runs.sqlite"));
}
