//! Experiments that search for the capacity of each of their servers: interrupted, killed, resumed; and what is refused.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::lab_rig::Lab;
use crate::rig::Ran;

/// A search that is soon over where every answer takes 31 ms: the lowest rate is decided by loads that end early.
const SEARCH: &str = "[trials]\npause = '0s'\nceiling = false\n\n[search]\np99 = '10ms'\nleast = 50\nmost = 400\n\
                      width = '50%'\nlimit = '60s'";

/// A slow server, and one that never answers.
fn lab() -> Lab {
    Lab::new()
        .oracle("slow", "--delay constant:31ms")
        .subject("mute", "run = 'sleep 100'\nready = '300ms'")
        .experiment("x", &["slow", "mute"], "open = { rate = 'search' }", SEARCH)
}

fn json(lab: &Lab, run: &str) -> Value {
    let ran = lab.dyno(&["report", run, "-o", "run.json"]);
    ran.status(0);
    serde_json::from_str(&lab.read("run.json")).unwrap()
}

/// The search of a subject.
fn of<'j>(json: &'j Value, subject: &str) -> &'j Value {
    let all = json["searches"].as_array().unwrap();
    all.iter().find(|it| it["subject"] == subject).unwrap_or_else(|| panic!("{subject}: {all:?}"))
}

/// Nothing is claimed that is not so: on a busy machine the slow one may not be measurable.
fn claims_nothing_wrong(ran: &Ran, json: &Value) {
    crate::schema::fits("run", json);
    let (slow, mute) = (of(json, "slow"), of(json, "mute"));
    let capacity = &slow["search"]["capacity"];
    assert!(capacity["lower_per_s"].is_null(), "31 ms are no 10 ms: {capacity}");
    let conclusion = capacity["conclusion"].as_str().unwrap();
    assert!(["not_met", "cannot_tell", "out_of_time"].contains(&conclusion), "{ran}");
    assert_eq!(mute["search"]["capacity"]["conclusion"], "cannot_tell");
    assert_eq!(mute["search"]["trials"], 3, "three in a row");
    for it in [slow, mute] {
        assert!(it["rank_first"].is_null(), "one that is known has no rank: {it}");
        assert!(!it["search"]["verdict"].to_string().contains("capacity_odd_trial"), "{it}");
    }
    assert!(
        ran.has_sentence("mute has no known capacity")
            || ran.has_sentence("A subject has no known capacity"),
        "{ran}"
    );
}

#[test]
fn searches_that_are_interrupted_and_killed_go_on_where_they_were() {
    let lab = lab();
    let mut going = lab.start(&["run", "x"]);
    going.says("slow: first");
    going.signal(Signal::INT);
    let ran = going.end().status(130).stderr_has("`dyno run --resume 1` continues it");
    assert!(
        ran.stderr.contains("searches are not over") || ran.stdout.contains("not over"),
        "{ran}"
    );
    let before: Vec<String> = lab.trials("1").iter().map(|trial| format!("{trial:?}")).collect();
    assert!(!before.is_empty());
    let mut going = lab.start(&["run", "--resume"]);
    going.says("mute: first");
    going.signal(Signal::KILL);
    let _ = going.end();
    let ran = lab.dyno(&["run", "--resume"]).status(2);
    let after: Vec<String> = lab.trials("1").iter().map(|trial| format!("{trial:?}")).collect();
    assert!(before.iter().all(|trial| after.contains(trial)), "finished trials stay as they were");
    claims_nothing_wrong(&ran, &json(&lab, "1"));
    lab.dyno(&["run", "--resume", "1"]).status(2).stderr_has("run 1 is complete");
    let page = lab.root.join(".dyno/reports/1-x.html");
    assert!(fs::read_to_string(page).unwrap().contains("requests/s that are held"));
    let csv = lab.dyno(&["report", "1", "--format", "csv"]).status(0);
    assert!(csv.stdout.lines().next().unwrap().ends_with("holds_per_s,not_per_s,search"), "{csv}");
    // Two rates are no figure.
    for (words, says) in [
        (&["compare", "1:slow", "1:mute"][..], "run 1 searched for capacities"),
        (&["trend", "--run", "1"], "run 1 searched for capacities"),
        (
            &["capacity", "--resume", "1", "--store", ".dyno/runs.sqlite"],
            "run 1 is not a capacity search",
        ),
    ] {
        lab.dyno(words).status(2).stderr_has(says);
    }
}

#[test]
fn what_a_search_cannot_be_is_refused_with_the_way_out() {
    let lab = lab();
    for (words, says) in [
        (&["-d", "5s"][..], "-d with experiments/x.toml: a search decides how long"),
        (&["--rounds", "3"], "--rounds with experiments/x.toml: a search decides how many"),
        (&["-c", "5"], "-c with experiments/x.toml: this load is a schedule"),
        (&["--only", "fast"], "no server of experiments/x.toml is called `fast`"),
        (&["--history", "h.jsonl"], "--history: experiments/x.toml searches for capacities"),
        (&["--server-on", "ssh:nowhere"], "leave --server-on out"),
    ] {
        lab.dyno(&[&["run", "x"], words].concat()).status(2).stderr_has(says);
    }
    assert!(!lab.has("h.jsonl"));
    let shown = lab.dyno(&["run", "x", "--only", "slow", "--dry-run"]).status(0);
    assert!(shown.stdout.contains("The 1 search (seed 1), at most 60 s of trials each"), "{shown}");
    assert!(shown.stdout.contains("from 50 to 400 requests/s: p99 ≤ 10 ms"), "{shown}");
    let quick = lab.dyno(&["run", "x", "--quick", "--dry-run"]).status(0);
    assert!(quick.stdout.contains("to 50 %, in at most 60 s"), "no longer than the file: {quick}");
}
