//! An unnamed reference is added, runs once at every place, and does not compete.

use serde_json::Value;

use crate::lab_rig::{Lab, ORACLE, SHORT};

const TWICE: &str = "[trials]\nrepeat = 2\npause = '0s'";
const TWO_PLACES: &str = "closed = { connections = [1, 2] }, total = 200";

/// A project with a subject and a reference that no experiment names.
fn lab(rest: &str) -> Lab {
    Lab::one(TWO_PLACES, rest).subject("idle", &reference(""))
}

fn reference(keys: &str) -> String {
    format!("tier = 'reference'\nrun = '{ORACLE}'\n{keys}")
}

/// In how many trials a subject was tried.
fn tried(lab: &Lab, subject: &str) -> usize {
    lab.trials("1").iter().filter(|trial| trial.key.subject == subject).count()
}

fn rows<'t>(json: &'t Value, subject: &str) -> Vec<&'t Value> {
    let rows = json["tables"][0]["rows"].as_array().unwrap().iter();
    rows.filter(|row| row["subject"] == subject).collect()
}

#[test]
fn a_reference_runs_once_at_every_place_and_is_the_ceiling() {
    let lab = lab(TWICE);
    let ran = lab.dyno(&["run", "x", "--json"]).measured();
    let ran =
        ran.stderr_has("6 trials of 2: a, idle").stderr_has("idle is added, once under each load");
    assert_eq!((tried(&lab, "a"), tried(&lab, "idle")), (4, 2));
    assert!(lab.trials("1").iter().all(|it| it.key.subject == "a" || it.key.repeat == 0));
    let json = ran.json();
    let table = &json["tables"][0];
    let places: Vec<&Value> =
        table["ceiling"].as_array().unwrap().iter().map(|place| &place["point"]).collect();
    // Beside busy programs a row may be invalid, and then it is no ceiling.
    let usable = rows(&json, "idle").into_iter().filter(|row| row["verdict"]["word"] != "invalid");
    assert_eq!(places, usable.map(|row| &row["point"]).collect::<Vec<_>>());
    assert!(rows(&json, "idle").iter().all(|row| row["is_reference"] == true));
    assert!(rows(&json, "a").iter().all(|row| row["is_reference"] == false));
    assert_eq!(table["peaks"][1]["subject"], "idle", "it is the last, whatever it came to");
    let counted =
        ["valid", "suspect", "invalid", "untried"].map(|key| json["verdict"][key].as_u64());
    assert_eq!(counted.iter().flatten().sum::<u64>(), 2, "rows of `a` only: {counted:?}");
    let text = lab.dyno(&["report", "1"]).status(0).stdout.replace('\n', " ");
    assert!(
        text.contains("(reference)") && text.contains("a server that does nothing but answer"),
        "{text}"
    );
}

#[test]
fn what_would_run_is_shown_and_a_file_may_refuse_it() {
    let dry = |lab: &Lab, more: &[&str]| {
        lab.dyno(&[&["run", "x", "--dry-run"], more].concat()).status(0).stdout
    };
    let with = lab(TWICE);
    let shown = dry(&with, &[]);
    assert!(shown.contains("is added in the first round"), "{shown}");
    assert!(shown.contains("Order of the 6 trials"), "{shown}");
    let quick = dry(&with, &["--quick"]);
    assert!(quick.contains("Order of the 4 trials"), "{quick}");
    let shown = dry(&lab(&format!("{TWICE}\nceiling = false")), &[]);
    assert!(shown.contains("Order of the 4 trials") && !shown.contains("idle"), "{shown}");
}

#[test]
fn a_named_reference_takes_part_in_all_rounds_and_no_other_joins_it() {
    let lab = Lab::new()
        .oracle("a", "")
        .subject("idle", &reference(""))
        .subject("other", &reference(""))
        .experiment("x", &["a", "idle"], SHORT, TWICE);
    lab.dyno(&["run", "x"]).measured().stderr_has("4 trials of 2: a, idle");
    assert_eq!((tried(&lab, "idle"), tried(&lab, "other")), (2, 0));
}

#[test]
fn a_reference_that_cannot_run_is_reported_and_the_run_goes_on() {
    let broken = [
        ("needs = ['no-such-program']", "idle does not take part: needs `no-such-program`"),
        ("build = ['false']", "idle does not take part: it cannot be built"),
    ];
    for (keys, says) in broken {
        let lab = Lab::one(SHORT, "").subject("idle", &reference(keys));
        let ran = lab.dyno(&["run", "x", "--json"]).measured().stderr_has(says);
        let why = &ran.json()["tables"][0]["verdict"]["doubts"];
        assert!(why.as_array().unwrap().iter().any(|it| it["id"] == "no_ceiling"), "{why}");
    }
    let lab = Lab::one(SHORT, "")
        .subject("idle", &reference("needs = ['no-such-program']"))
        .subject("spare", &reference(""));
    lab.dyno(&["run", "x"]).measured();
    assert_eq!(tried(&lab, "spare"), 1, "another one is able");
}
