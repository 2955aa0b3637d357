//! Doubts that are provoked for real, and that are absent if nothing is wrong; `trouble` has more of them.

use serde_json::Value;

use crate::lab_rig::{Lab, ORACLE, is_root};
use crate::rig::{doubts, in_one_of_five};

/// Whether the row of a subject in a run's JSON has such a doubt.
fn has(json: &Value, subject: &str, id: &str) -> bool {
    let mut rows = json["tables"][0]["rows"].as_array().unwrap().iter();
    rows.any(|row| row["subject"] == subject && doubts(row).contains(&id))
}

#[test]
fn a_queue_of_one_overflows_and_a_long_one_does_not() {
    // On the machine's own network, other programs' queues count, too.
    let is_isolated = is_root("that a long queue does not overflow");
    // It accepts so seldom that 200 connections meet its queue of one, however slowly a starved dyno makes them.
    let lab = Lab::new().python("short", "slow-accept").oracle("long", "").experiment(
        "x",
        &["short", "long"],
        "closed = { connections = 200 }, total = 2000",
        &format!("[conditions]\nisolate = {is_isolated}\n[trials]\nrepeat = 1"),
    );
    let json = lab.dyno(&["run", "x", "--json"]).json();
    assert!(has(&json, "short", "accept_queue_full"), "{json:#}");
    assert!(!is_isolated || !has(&json, "long", "accept_queue_full"), "{json:#}");
    let row = &json["tables"][0]["rows"][0];
    assert!(row["verdict"]["word"] != "valid" && row["is_doubtful"] == true, "{row}");
}

#[test]
fn a_reference_that_comes_no_further_is_the_limit_and_one_that_does_is_not() {
    let of = |subject: &str, reference: &str| {
        let lab = Lab::new()
            .oracle("a", subject)
            .subject("idle", &format!("tier = 'reference'\nrun = '{ORACLE} {reference}'"))
            .experiment("x", &["a"], "closed = { connections = 2 }, total = 300", "");
        let json = lab.dyno(&["run", "x", "--json"]).measured().json();
        let table = &json["tables"][0];
        let has_ceiling = !table["ceiling"].as_array().unwrap().is_empty();
        // There is a reference, and it was measured: only its verdict may be in doubt.
        let mut rows = table["rows"].as_array().unwrap().iter();
        let row = rows.find(|row| row["subject"] == "idle").expect("the reference has a row");
        assert!(row["is_reference"] == true && row["rounds_measured"] == 1, "{row}");
        assert_eq!(has_ceiling, row["verdict"]["word"] != "invalid", "{row}");
        (has_ceiling, has(&json, "a", "ceiling"))
    };
    let slow = "--delay constant:4ms";
    // Beside other programs a reference may be invalid, and an invalid one is no ceiling.
    in_one_of_five(|| assert_eq!(of("", slow), (true, true)));
    assert!(!of(slow, "").1);
}
