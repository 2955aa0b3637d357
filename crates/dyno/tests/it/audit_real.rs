//! What other load generators really print of a server that fails: the counts of `dyno audit` are the server's own.

use std::ops::RangeInclusive;
use std::process::Command;

use oracle::{Config, Truth};

use crate::lab_rig::not_tested;
use crate::rig::{Going, Ran, Rig, in_one_of_five};

fn faulty(name: &str, fault_rate: f64) -> Config {
    let fault = Some(name.parse().unwrap());
    Config { fault, fault_rate, seed: 1, ..Config::default() }
}

fn delayed(law: &str) -> Config {
    Config { delay: Some(law.parse().unwrap()), seed: 1, ..Config::default() }
}

/// Most requests are answered with 503.
fn refusing() -> Config {
    Config { rate_limit: Some("1,50".parse().unwrap()), ..Config::default() }
}

/// A program loads a server with this command, and its output is audited. None: the program is not installed.
fn audited(server: Config, command: &str) -> Option<(Ran, Truth)> {
    let program = command.split(' ').next().unwrap();
    let installed = Command::new("sh").args(["-c", "command -v \"$0\"", program]).output().unwrap();
    if !installed.status.success() {
        not_tested(&format!("the audit of what {program} prints"), program);
        return None;
    }
    let rig = Rig::oracle(server);
    let script =
        format!("{command} {} 2>&1 | tee /dev/stderr | \"$0\" audit - --json", rig.url("/hello"));
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_dyno")]);
    Some((Going::start(shell).end(), rig.truth()))
}

/// What the audit must say, by what the server counted.
struct Expected {
    requests: u64,
    failed: u64,
    /// So many more may have failed.
    unclear: RangeInclusive<u64>,
    /// So many requests were under way when the load was over; the program does not count them.
    under_way: u64,
}

impl Expected {
    /// The program tells exactly which requests failed.
    fn exactly(requests: u64, failed: u64) -> Expected {
        Expected { requests, failed, unclear: 0..=0, under_way: 0 }
    }
}

/// Loads a server, and compares the audit with what the server counted.
fn check(server: Config, command: &str, expected: fn(&Truth) -> Expected) {
    let Some((ran, truth)) = audited(server, command) else { return };
    let expected = expected(&truth);
    let document = ran.json();
    let row = &document["files"][0]["rows"][0];
    let count = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("no {key}: {ran}")) as u64;
    let [requests, failed, at_most] = ["requests", "failed", "failed_at_most"].map(count);
    let is_near =
        |found: u64, is: u64| (is.saturating_sub(expected.under_way)..=is).contains(&found);
    let shown = format!("{command}: {ran}\n{truth}");
    // Those that perhaps had no answer are counted as if there had been as many as there can be.
    let is_counted = (0..=*expected.unclear.end())
        .any(|more| is_near(requests.saturating_sub(more), expected.requests));
    assert!(is_counted, "{requests} requests: {shown}");
    assert!(is_near(failed, expected.failed), "{failed} of {} failed: {shown}", expected.failed);
    assert!(expected.unclear.contains(&(at_most - failed)), "at most {at_most} failed: {shown}");
    let doubts = row["verdict"]["doubts"].as_array().unwrap();
    let has = |id: &str| doubts.iter().any(|doubt| doubt["id"] == id);
    assert_eq!(has("failures_ranked"), requests < 100 * at_most, "{shown}");
    let word = row["verdict"]["word"].as_str().unwrap();
    let is_failing = requests < 2 * failed;
    // Where a busy machine delayed it, wrk lengthens the times that it measured.
    let is_lengthened = command.starts_with("wrk") && has("littles_law");
    assert!(word == "invalid" || !is_failing, "{shown}");
    assert!(word != "invalid" || is_failing || is_lengthened, "{shown}");
}

#[test]
fn the_counts_of_wrk_are_the_server_s() {
    let wrk = |server, expected| check(server, "wrk -t1 -c4 -d1s", expected);
    let lost = |truth: &Truth| Expected {
        // Where connections are lost all the time, few requests are under way, and the others are said to wait.
        unclear: 0..=4,
        under_way: 4,
        ..Expected::exactly(truth.requests, truth.faults)
    };
    wrk(delayed("constant:2ms"), |truth| Expected {
        under_way: 4,
        ..Expected::exactly(truth.requests, 0)
    });
    wrk(refusing(), |truth| Expected {
        under_way: 4,
        ..Expected::exactly(truth.requests, truth.limited)
    });
    wrk(faulty("fin-at-request", 0.1), lost);
    wrk(faulty("rst-at-request", 0.1), lost);
    wrk(faulty("cut-body", 0.1), lost);
    // It counts answers only: each connection ends with a request that has none.
    wrk(faulty("mute", 0.1), |truth| Expected {
        unclear: 4..=4,
        ..Expected::exactly(truth.requests, 0)
    });
    let late = "wrk -t1 -c4 -d3s --timeout 1s";
    check(delayed("bimodal:1ms,1500ms,0.05"), late, |truth| Expected {
        unclear: 4..=4,
        under_way: 4,
        ..Expected::exactly(truth.requests, truth.served_ns.count_between(1_200_000_000, u64::MAX))
    });
    no_result(faulty("refuse", 1.0), "wrk -t1 -c4 -d1s");
}

#[test]
fn the_counts_of_h2load_are_the_server_s() {
    let h2load = |server, expected| check(server, "h2load -n 400 -c 4 -m 4", expected);
    let http1 = |server, expected| check(server, "h2load --h1 -n 400 -c 4 -N 1", expected);
    // What a lost connection was to carry has failed, too.
    let lost = |truth: &Truth| Expected::exactly(400, 400 - truth.answers);
    h2load(delayed("constant:2ms"), |truth| Expected::exactly(truth.requests, 0));
    h2load(refusing(), |truth| Expected::exactly(truth.requests, truth.limited));
    h2load(faulty("h2-reset-cancel", 0.1), |truth| Expected::exactly(truth.requests, truth.faults));
    http1(refusing(), |truth| Expected::exactly(truth.requests, truth.limited));
    http1(faulty("fin-at-request", 0.1), lost);
    http1(faulty("rst-at-request", 0.1), lost);
    http1(faulty("cut-body", 0.1), lost);
    http1(faulty("mute", 0.1), lost);
    http1(faulty("refuse", 1.0), lost);
    // Whether those without an answer had long been sent is judged by times, which a busy machine lengthens.
    in_one_of_five(|| {
        check(faulty("h2-mute", 0.05), "h2load -D 1 -c 4 -m 4", |truth| Expected {
            unclear: 16..=16,
            ..Expected::exactly(truth.requests, 0)
        });
    });
}

#[test]
fn the_counts_of_ab_are_the_server_s() {
    let ab = |server, expected| check(server, "ab -q -r -n 400 -c 4", expected);
    // It tells answers that were cut off from answers of another length by nothing.
    let cut = |truth: &Truth| Expected {
        unclear: truth.faults..=truth.faults,
        ..Expected::exactly(truth.requests, 0)
    };
    ab(delayed("constant:2ms"), |truth| Expected::exactly(truth.requests, 0));
    ab(refusing(), |truth| Expected {
        unclear: 0..=truth.requests - truth.limited,
        ..Expected::exactly(truth.requests, truth.limited)
    });
    ab(faulty("status-999", 0.1), |truth| Expected::exactly(truth.requests, truth.faults));
    ab(faulty("fin-at-request", 0.1), cut);
    ab(faulty("cut-body", 0.1), cut);
    ab(faulty("rst-at-request", 0.1), |truth| Expected {
        unclear: 0..=truth.answers,
        ..Expected::exactly(truth.requests, truth.faults)
    });
    ab(faulty("refuse", 1.0), |_| Expected::exactly(400, 400));
    check(delayed("constant:2ms"), "ab -q -k -n 400 -c 4", |truth| {
        Expected::exactly(truth.requests, 0)
    });
    no_result(faulty("mute", 0.1), "ab -q -r -s 1 -n 400 -c 4");
}

#[test]
fn the_counts_of_hey_are_the_server_s() {
    let hey = |server, expected| check(server, "hey -n 400 -c 4 -t 1", expected);
    let once =
        |server, expected| check(server, "hey -disable-keepalive -n 400 -c 4 -t 1", expected);
    let all = |truth: &Truth| Expected::exactly(truth.requests, truth.faults);
    hey(delayed("constant:2ms"), |truth| Expected::exactly(truth.requests, 0));
    hey(refusing(), |truth| Expected::exactly(truth.requests, truth.limited));
    check(faulty("mute", 0.1), "hey -n 400 -c 20 -t 1", all);
    once(faulty("fin-at-request", 0.1), all);
    once(faulty("rst-at-request", 0.1), all);
    hey(faulty("refuse", 1.0), |_| Expected::exactly(400, 400));
    // What a kept connection lost is sent again, and is not counted.
    hey(faulty("rst-at-request", 0.1), |truth| Expected::exactly(400, 400 - truth.answers));
    // It takes an answer that was cut off for a whole one. The audit cannot know it, and says so.
    hey(faulty("cut-body", 0.1), |truth| Expected::exactly(truth.requests, 0));
    let Some((ran, _)) = audited(Config::default(), "hey -n 400 -c 4") else { return };
    let not_counted = ran.json()["files"][0]["not_counted"].to_string();
    assert!(not_counted.contains("which answers were cut off"), "{not_counted}");
}

/// The program ends without a result, so that there is nothing to audit.
fn no_result(server: Config, command: &str) {
    let Some((ran, _)) = audited(server, command) else { return };
    ran.status(2).stderr_has("it has none of the formats that can be audited");
}
