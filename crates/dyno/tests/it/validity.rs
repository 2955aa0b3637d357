//! Doubts that are provoked for real, and that are absent if nothing is wrong.

use std::process::Command;

use serde_json::Value;

use crate::lab_rig::{Lab, ORACLE, is_root, not_tested};
use crate::rig::{in_each, in_one_of_five, note_retry};

/// Kinds of doubt about a subject's row in the first run's JSON.
fn doubts(json: &Value, subject: &str) -> Vec<String> {
    let rows = json["tables"][0]["rows"].as_array().unwrap().iter();
    let why = rows
        .filter(|row| row["subject"] == subject)
        .flat_map(|row| row["verdict"]["doubts"].as_array().unwrap());
    why.map(|reason| reason["id"].as_str().unwrap().to_string()).collect()
}

fn has(json: &Value, subject: &str, id: &str) -> bool {
    doubts(json, subject).iter().any(|other| other == id)
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
    assert!(has(&json, "short", "accept_queue_full"), "{:?}", doubts(&json, "short"));
    if is_isolated {
        assert!(!has(&json, "long", "accept_queue_full"), "{:?}", doubts(&json, "long"));
    }
    let row = &json["tables"][0]["rows"][0];
    assert!(row["verdict"]["word"] != "valid" && row["is_doubtful"] == true, "{row}");
}

#[test]
fn a_server_that_slows_down_is_not_steady_and_one_that_loses_a_process_is_not_whole() {
    in_one_of_five(|| {
        let lab = Lab::new().python("slower", "slower").python("loses", "loses").experiment(
            "x",
            &["slower", "loses"],
            "closed = { connections = 2 }, duration = '4s'",
            "",
        );
        let json = lab.dyno(&["run", "x", "--json"]).measured().json();
        in_each(|| {
            assert!(!has(&json, "slower", "processes_ended"), "{:?}", doubts(&json, "slower"));
        });
        // When the process is lost is a matter of time: beside other programs it may be before the load.
        assert!(has(&json, "loses", "processes_ended"), "{:?}", doubts(&json, "loses"));
        assert!(has(&json, "slower", "not_stationary"), "{:?}", doubts(&json, "slower"));
    });
}

#[test]
fn a_program_beside_it_is_noise() {
    in_one_of_five(|| {
        let lab = Lab::one("closed = { connections = 2 }, duration = '500ms'", "");
        let mut spins = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let ran = lab.dyno(&["run", "x"]);
        spins.kill().unwrap();
        spins.wait().unwrap();
        let text = ran.measured().stdout;
        assert!(text.contains("programs that are neither the server nor dyno used"), "{text}");
        // If it also keeps dyno from the CPU, more than that is reported.
        assert!(!text.contains("verdict: valid") && !text.contains("rows: 1 valid"), "{text}");
    });
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
    // Beside other programs a reference may be invalid, and an invalid one is no ceiling: in that case it is tried
    // again.
    let mut found = Vec::new();
    for _ in 0..10 {
        let (has_ceiling, is_doubted) = of("", slow);
        if has_ceiling {
            found.push(is_doubted);
        } else {
            note_retry("not found");
        }
        if found.len() == 3 {
            break;
        }
    }
    if found.is_empty() {
        not_tested(
            "that a reference is the limit",
            "a reference with a valid figure in ten attempts",
        );
    }
    assert!(found.is_empty() || found.contains(&true));
    assert!(!of(slow, "").1);
}
