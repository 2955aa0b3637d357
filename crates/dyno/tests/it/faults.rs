//! Exchanges with every fault of a server: classified, bounded in memory and in time, with books that balance.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use oracle::{Config, Fault, Protocol};
use serde_json::Value;

use crate::rig::Rig;

/// The order's second, the time-out, and as much as a busy machine may add; a hang would take longer.
const DEADLINE: Duration = Duration::from_secs(30);
const AT_ONCE: usize = 4;
/// Address space, of which most is never touched.
const MEMORY_KIB: u64 = 512 << 10;
/// The memory of it that was ever touched.
const TOUCHED_MAX_BYTES: u64 = 48 << 20;

#[test]
fn every_fault_is_classified_in_time_and_within_memory() {
    every_fault_of(Protocol::Http1);
}

#[test]
fn every_fault_of_http_2_is_classified_in_time_and_within_memory() {
    every_fault_of(Protocol::Http2);
}

#[test]
fn every_fault_of_tls_is_classified_in_time_and_within_memory() {
    every_fault_of(Protocol::Tls);
}

fn every_fault_of(protocol: Protocol) {
    let is_meant = |fault: &Fault| fault.protocol() == protocol;
    let all: Vec<Fault> = Fault::all().iter().copied().filter(is_meant).collect();
    let wrong = complaints(&all, |fault| {
        // Beside busy programs a long answer may not be complete in so short a time.
        let found = press(*fault, "300ms", DEADLINE);
        found.and_then(|_| press(*fault, "5s", DEADLINE * 4))
    });
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with any of them, tried a few at once.
pub(crate) fn complaints<T: Sync>(
    all: &[T],
    complaint: impl Fn(&T) -> Option<String> + Sync,
) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = complaint(one);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

/// The errors in how dyno handled a fault with this time-out, if any; it ends in time.
fn press(fault: Fault, timeout: &str, deadline: Duration) -> Option<String> {
    let tls = (fault.protocol() == Protocol::Tls).then(Arc::default);
    let rig = Rig::oracle(Config { fault: Some(fault), tls, ..Config::default() });
    let rig = rig.memory_kib(MEMORY_KIB);
    let authority = rig.authority_file();
    let protocol = match (fault.protocol(), &authority) {
        (Protocol::Tls, Some(file)) => vec!["--ca", file.path(), "--http2", "--streams", "3"],
        // A fault that one stream has may well break all others; and requests beyond a GOAWAY are refused in the end.
        (Protocol::Http2, _) if fault.expect.is_empty() && !fault.name.contains("goaway") => {
            vec!["--http2", "--streams", "3"]
        }
        (Protocol::Http2, _) => vec!["--http2"],
        (_, _) => Vec::new(),
    };
    // What fails at once need not fail more often than this.
    let load =
        ["load", "{url}/hello", "-c", "2", "-d", "300ms", "-n", "300", "--json", "--no-live"];
    let wants = ["--expect-status", "200", "--expect-body", "Hello, world!", "--timeout", timeout];
    let ran = rig.dyno(&[&load[..], &wants, &protocol].concat());
    let complaint = |why: String| Some(format!("{}: {why}", fault.name));
    if deadline < ran.took {
        return complaint(format!("took {:?}", ran.took));
    }
    let Ok(json) = serde_json::from_str::<Value>(&ran.stdout) else {
        return complaint(format!("no report: {ran}"));
    };
    let touched = json["generator"]["peak_memory_bytes"].as_u64().unwrap();
    if TOUCHED_MAX_BYTES < touched {
        return complaint(format!("held {touched} bytes"));
    }
    let books = &json["books"];
    let count = |name: &str| books[name].as_u64().unwrap_or(0);
    if count("attempted") != count("correct") + count("failed") + count("under_way") {
        return complaint(format!("the counts do not add up: {books}"));
    }
    if !is_expected(fault, &json) {
        return complaint(format!("expected {:?}, got {books} {}", fault.expect, json["notes"]));
    }
    let expected = code(&json);
    (ran.code() != Some(expected)).then(|| {
        format!("{}: exit code {:?} instead of {expected}: {books}", fault.name, ran.code())
    })
}

/// One of the true classes occurred; or none at all if it is no fault.
fn is_expected(fault: Fault, json: &Value) -> bool {
    let books = &json["books"];
    if fault.expect.is_empty() {
        return books["failed"] == 0 && books["correct"] != 0;
    }
    let noted = |note: &str| json["notes"][note] != 0;
    fault.expect.iter().any(|class| {
        books["by_class"].get(class).is_some()
            || ["proto.surplus", "h2.frame"].contains(class) && noted("surplus")
            || *class == "proto.unsolicited" && noted("unsolicited")
    })
}

/// 2 if no server could be reached, 1 above a percent of failures, 2 if the figures are invalid, as they may be
/// on a busy machine, else 0.
fn code(json: &Value) -> i32 {
    let books = &json["books"];
    let count = |name: &str| books[name].as_u64().unwrap_or(0);
    let classes = books["by_class"].as_object().unwrap();
    let is_unreached = |class: &String| {
        let answered = ["connect.reset", "tls.cut", "tls.flood"].contains(&class.as_str());
        let has_begun = !["h2.preface", "h2.timeout"].contains(&class.as_str());
        let is_before = class.starts_with("connect.") || class.starts_with("tls.");
        (is_before || !has_begun) && !answered
    };
    if count("correct") == 0 && classes.keys().all(is_unreached) {
        2
    } else if count("attempted") < 100 * count("failed") {
        1
    } else if json["verdict"]["word"] == "invalid" {
        2
    } else {
        0
    }
}
