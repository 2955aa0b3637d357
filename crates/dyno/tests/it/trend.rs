//! `dyno run --history` and `dyno trend`.

use serde_json::Value;

use crate::again;
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
fn each_finished_run_is_appended_and_shown() {
    again::in_one_of_five(appended_and_shown);
}

fn appended_and_shown() {
    let lab = lab();
    lab.dyno(&["run", "x", "--history", "h.jsonl"]).measured().stderr_has("history: h.jsonl");
    let first = lines(&lab);
    lab.dyno(&["run", "x", "--history", "h.jsonl", "--json"]).measured();
    let both = lines(&lab);
    // A run that is invalid on a busy machine has fewer figures.
    let (before, appended) = both.split_at(first.len());
    assert_eq!(before, first);
    let is_second = |line: &Value| line["began_unix_ms"] != first[0]["began_unix_ms"];
    assert!(!appended.is_empty() && appended.iter().all(is_second), "{appended:?}");
    for line in &both {
        assert_eq!(schema::violations(&schema::of("history"), line), Vec::<String>::new());
    }
    let throughput = first.iter().find(|line| line["figure"] == "throughput_per_s").unwrap();
    assert!(0.0 < throughput["value"].as_f64().unwrap() && throughput["commit"].is_null());
    assert_eq!((&throughput["experiment"], &throughput["subject"]), (&"x".into(), &"a".into()));
    let shown = lab.dyno(&["trend", "h.jsonl", "-o", "page.html"]).status(0);
    let _ = shown
        .stdout_has("No series is long enough")
        .stdout_has("x, hello\n")
        .stdout_has("a at 2 connections, throughput/s")
        .stdout_has("this machine: ");
    assert!(lab.read("page.html").contains("<svg"));
    let json = lab.dyno(&["trend", "h.jsonl", "h.jsonl", "--json"]).status(0).json();
    schema::fits("trend", &json);
    assert_eq!(json["runs"].as_u64(), Some(2));
    // What is invalid on a busy machine is left out, and counted.
    let series = &json["series"][0];
    let left_out = series["left_out"].as_u64().unwrap() as usize;
    assert_eq!(series["runs"].as_array().unwrap().len() + left_out, 2, "{series}");
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
