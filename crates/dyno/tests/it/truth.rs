//! The accounting bench on sockets: dyno's output checked against its definitions (docs/figures.md), and against the
//! oracle's own record. The same in simulated time, for many more conditions: crates/load/src/lane/tests/truth.rs.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hdrhistogram::Histogram;
use oracle::{Config, Fault, StreamTimes, TlsConfig};
use serde_json::Value;

use crate::rig::{Rig, doubts, histogram, in_each, in_one_of_five};

fn number(json: &Value, path: &str) -> f64 {
    json.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {path}: {json}"))
}

fn count(json: &Value, path: &str) -> u64 {
    json.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {path}: {json}"))
}

/// Failures whose time is known to be at least the time-out.
const GIVEN_UP: [&str; 10] = [
    "connect.timeout",
    "tls.timeout",
    "send.timeout",
    "send.window",
    "h2.timeout",
    "recv.first_byte_timeout",
    "recv.deadline",
    "own.late",
    "own.still",
    "own.blocked",
];

/// Every figure of a load equals what its definition makes of the others.
fn check(name: &str, json: &Value) {
    let near = |what: &str, found: f64, expected: f64| {
        let close = (found - expected).abs() <= expected.abs() * 1e-9;
        assert!(close, "{name}: {what} is {found}, and not {expected}\n{json:#}");
    };
    let counted = |path: &str| count(json, path);
    let (attempted, correct, failed) =
        (counted("/books/attempted"), counted("/books/correct"), counted("/books/failed"));
    let (due, under_way) = (counted("/books/due"), counted("/books/under_way"));
    assert_eq!(attempted, correct + failed + under_way, "{name}: {json:#}");
    let classes = json["books"]["by_class"].as_object().unwrap();
    let sum: u64 = classes.values().filter_map(Value::as_u64).sum();
    assert_eq!(sum, failed, "{name}");

    let measured_s = number(json, "/measured_s");
    let inside = counted("/books/correct_inside");
    near("throughput", number(json, "/rate/throughput_per_s"), inside as f64 / measured_s);
    if let Some(offered) = json["rate"]["offered_per_s"].as_f64() {
        let planned = json["order"]["requests"].is_null() && json["end"]["word"] == "done";
        if planned {
            near("offered", offered, due as f64 / measured_s);
        }
        let on_time = counted("/rate/on_time/on_time");
        assert_eq!(counted("/rate/on_time/due"), due, "{name}");
        assert!(on_time <= correct && correct <= due, "{name}");
        if 0 < due {
            near("on time", number(json, "/rate/on_time/share"), on_time as f64 / due as f64);
        }
        assert_eq!(
            json["rate"]["on_time"]["within_s"], json["order"]["on_time_within_s"],
            "{name}"
        );
    }

    let given_up: u64 =
        GIVEN_UP.iter().filter_map(|class| classes.get(*class)).filter_map(Value::as_u64).sum();
    assert_eq!(counted("/response/count"), correct + given_up + under_way, "{name}");
    assert_eq!(counted("/response/censored"), given_up + under_way, "{name}");
    assert_eq!(counted("/service/count"), counted("/first_byte/count"), "{name}");
    assert!((correct..=counted("/response/count")).contains(&counted("/service/count")), "{name}");
    let longest_ns = number(json, "/order/timeout_s") * 2e9;
    for which in ["response", "service", "first_byte", "late", "blocked", "connect"] {
        distribution(&format!("{name}: {which}"), &json[which], longest_ns);
    }

    let windows = json["windows"].as_array().unwrap();
    let of_windows = |of: &str| -> u64 {
        let inside = windows.iter().filter(|window| window["is_warmup"] == false);
        inside.filter_map(|window| window[of].as_u64()).sum()
    };
    assert!(inside <= of_windows("correct"), "{name}: the drain's windows may hold more");
    assert_eq!(of_windows("failed"), failed, "{name}");
    let sections = json["sections"].as_array().unwrap();
    if !sections.is_empty() {
        let sum = |of: &str| sections.iter().filter_map(|part| part[of].as_u64()).sum::<u64>();
        assert_eq!((sum("due"), sum("correct"), sum("failed")), (due, correct, failed), "{name}");
    }
    assert!(!doubts(json).contains(&"books"), "{name}: {}", json["verdict"]);
}

/// The printed figures of a distribution match its histogram, which counts what is longer than the longest as that.
fn distribution(name: &str, json: &Value, longest_ns: f64) {
    let histogram = histogram(&json["histogram"]);
    assert_eq!(histogram.len(), json["count"].as_u64().unwrap(), "{name}");
    if histogram.is_empty() {
        assert!(json["p50_ns"].is_null() && json["mean_ns"].is_null(), "{name}: {json}");
        return;
    }
    for (field, q) in [("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p99_9_ns", 0.999)] {
        assert_eq!(json[field].as_u64(), Some(histogram.value_at_quantile(q)), "{name}: {field}");
    }
    assert_eq!(json["max_ns"].as_u64(), Some(histogram.max()), "{name}");
    let (mean, about) = (json["mean_ns"].as_f64().unwrap(), histogram.mean());
    let is_whole = (histogram.max() as f64) < longest_ns * 0.999;
    assert!(!is_whole || (mean - about).abs() <= about * 0.002 + 1.0, "{name}: {mean} {about}");
    assert!(about <= mean * 1.002 + 1.0, "{name}: {mean} {about}");
}

const LOADS: [(&str, &[&str]); 5] = [
    ("closed", &["-c", "8", "-d", "1s"]),
    ("open", &["-r", "400", "-d", "1s", "-c", "50"]),
    ("open, two lanes", &["-r", "400", "-d", "1s", "-c", "50", "-t", "2", "--warmup", "300ms"]),
    ("sessions", &["--sessions", "60", "--calls", "3", "-d", "1s"]),
    ("steps", &["-r", "100:400ms,600:400ms,50:200ms", "-c", "50"]),
];

fn fault(name: &str) -> Option<Fault> {
    Some(name.parse().unwrap())
}

/// Faults in one request of five, and none in the others.
fn conditions() -> Vec<(&'static str, Config)> {
    let usual = Config::default;
    let fifth = |name| Config { fault: fault(name), fault_rate: 0.2, ..usual() };
    let stall = Some("600ms/1s".parse().unwrap());
    vec![
        ("steady", usual()),
        ("stalls over both ends", Config { stall, ..usual() }),
        ("never answers", Config { fault: fault("mute"), ..usual() }),
        ("resets", fifth("rst-at-request")),
        ("closes before an answer", fifth("fin-at-request")),
        ("wrong bodies", fifth("wrong-body")),
        ("answers twice", fifth("two-answers")),
        ("closes without a word", fifth("rst-after-answer")),
        ("drips", fifth("drip-body")),
        ("a short accept queue", Config { backlog: 1, ..usual() }),
    ]
}

const EXPECTED: [&str; 6] =
    ["--json", "--no-live", "--timeout", "900ms", "--expect-body", "Hello, world!"];

#[test]
fn every_figure_of_every_load_is_what_its_definition_says() {
    thread::scope(|scope| {
        for (condition, config) in conditions() {
            scope.spawn(move || {
                for (load, flags) in LOADS {
                    let rig = Rig::oracle(config.clone());
                    let ran = rig.dyno(&[&["load", "{url}/hello"], flags, &EXPECTED].concat());
                    let json = ran.json();
                    check(&format!("{load}, {condition}"), &json);
                    against_the_truth(&format!("{load}, {condition}"), &rig.truth(), &json);
                }
            });
        }
    });
}

/// Compared with what a server that behaves as configured has counted itself.
fn against_the_truth(name: &str, truth: &oracle::Truth, json: &Value) {
    let whole = |path: &str| count(json, path);
    let attempted = whole("/books/attempted");
    let again = whole("/notes/stale_retries");
    // A request that was never sent was not received; one that was sent again was received twice. The warm-up has neither
    // books nor notes, and what was due in it may be sent when it is over.
    let warmup_s = number(json, "/order/warmup_s");
    let due_before = json["rate"]["offered_per_s"].as_f64().unwrap_or(0.0) * warmup_s;
    let received = match warmup_s {
        0.0 => attempted + again,
        _ => 2 * (attempted + due_before.ceil() as u64),
    };
    assert!(truth.requests <= received, "{name}: {} {attempted}", truth.requests);
    assert!(whole("/books/correct") <= truth.answers, "{name}: {truth}");
    let is_healthy = truth.faults == 0 && whole("/books/failed") == 0 && again == 0;
    // There are no notes of requests that were sent again, either.
    if is_healthy && warmup_s == 0.0 {
        assert_eq!(truth.requests, attempted, "{name}");
        assert_eq!(truth.bytes_in, whole("/bytes/sent_bytes"), "{name}");
    }
}

#[test]
fn one_request_and_low_rates_are_divided_by_the_time_that_was_ordered() {
    in_one_of_five(|| {
        let rig = Rig::new();
        let load = |flags: &[&str]| {
            let json = rig.dyno(&[&["load", "{url}/hello"], flags, &EXPECTED].concat()).json();
            in_each(|| check(&format!("{flags:?}"), &json));
            json
        };
        let one = load(&["-n", "1", "-r", "2"]);
        let slow = load(&["-r", "2", "-d", "2s"]);
        let half = load(&["-r", "0.5", "-d", "3s"]);
        load(&["-n", "1", "-c", "1"]);
        in_each(|| {
            assert_eq!(number(&one, "/rate/offered_per_s"), 2.0);
            let ordered = (number(&slow, "/measured_s"), number(&slow, "/rate/offered_per_s"));
            assert_eq!(ordered, (2.0, 2.0));
            assert_eq!(count(&half, "/books/due"), 2);
        });
        // An answer that comes after the end does not count.
        assert_eq!(number(&one, "/rate/throughput_per_s"), 2.0);
        assert_eq!(number(&slow, "/rate/throughput_per_s"), 2.0);
    });
}

/// A load that is stopped at any instant ends for all of its lanes at the same time.
#[test]
fn a_stop_in_the_middle_leaves_no_figure_out_of_step() {
    for flags in [["-r", "900"], ["-c", "7"], ["--sessions", "80"]] {
        let rig = Rig::new();
        let all = ["load", "{url}/hello", "-d", "30s", "-t", "2", flags[0], flags[1]];
        let ran = rig.dyno_interrupted(&[&all[..], &EXPECTED].concat()).status(130);
        let json = ran.json();
        check(&format!("{flags:?}, stopped"), &json);
        assert_eq!(json["end"]["word"], "halted");
        let measured_s = number(&json, "/measured_s");
        let windows = measured_s * 10.0;
        assert!((windows - windows.round()).abs() < 1e-6, "it ends with a window: {measured_s}");
        if flags[0] == "-r" {
            let offered = number(&json, "/rate/offered_per_s");
            assert!((offered - 900.0).abs() < 1e-6, "{offered}");
        }
    }
}

/// All connections wait while the server stands still: neither the failures nor the p99 show it.
#[test]
fn a_server_that_stands_still_for_a_while_is_not_valid() {
    let rig = Rig::oracle(Config { stall: Some("500ms/2s".parse().unwrap()), ..Config::default() });
    let path = "{url}/hello?delay=constant:2ms";
    let json = rig.dyno(&["load", path, "-c", "8", "-d", "5s", "--json", "--no-live"]).json();
    check("stall", &json);
    let silence = &json["silence"];
    // It stands still twice or three times, for half a second each.
    assert!((0.15..0.5).contains(&number(&json, "/silence/share")), "{silence}");
    assert!((0.4..2.0).contains(&number(&json, "/silence/longest_s")), "{silence}");
    assert!(doubts(&json).contains(&"silence"), "{}", json["verdict"]);
    assert_eq!(json["verdict"]["word"], "invalid", "{json:#}");
}

/// The sentence with which the README begins: neither a frozen server nor a late generator can hide.
#[test]
fn a_dyno_that_was_stopped_does_not_blame_the_server() {
    for flags in [["-r", "2000"], ["-c", "8"]] {
        // Beside busy programs the server itself may be too late; not each time.
        let blamed: Vec<String> = (0..3).map_while(|_| stopped(flags).err()).collect();
        assert!(blamed.len() < 3, "{flags:?}: {blamed:?}");
    }
}

/// A load with a stop in the middle; the classes of its failures, if the server is blamed for many of them.
fn stopped(flags: [&str; 2]) -> Result<(), String> {
    let rig = Rig::new();
    let all = ["load", "{url}/hello", "-d", "50s", "--timeout", "500ms", "--json", "--no-live"];
    let pause = Duration::from_millis(1_200);
    let json = rig.dyno_stopped(&[&all[..], &flags].concat(), pause).status(130).json();
    check(&format!("{flags:?}, frozen"), &json);
    assert_eq!(json["verdict"]["word"], "invalid", "{json:#}");
    assert!(doubts(&json).contains(&"instrument_stood_still"), "{}", json["verdict"]);
    let longest = number(&json, "/generator/lanes/0/stood_still_longest_s");
    // All of its threads stood still for 1.2 s. A little of that may have been intended sleep.
    assert!(1.0 < longest, "{longest}");
    let classes = json["books"]["by_class"].as_object().unwrap();
    let sum = |is_own: bool| -> u64 {
        let of = classes.iter().filter(|(class, _)| class.starts_with("own.") == is_own);
        of.filter_map(|(_, times)| times.as_u64()).sum()
    };
    if sum(false) * 20 <= sum(true) { Ok(()) } else { Err(format!("{classes:?}")) }
}

/// Connections, and streams on each.
const SHAPES: [(&str, &str); 3] = [("1", "1"), ("1", "100"), ("16", "10")];
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// Response times over streams, as a load found them and as the oracle's own record of its streams has them.
fn on_streams(config: &Config, flags: &[&str]) -> (Histogram<u64>, Vec<StreamTimes>) {
    let rig = Rig::oracle(Config { log_streams: true, ..config.clone() });
    let url = match config.tls {
        Some(_) => "https://{address}/hello",
        None => "{url}/hello",
    };
    let all = [&["load", url, "-k", "--http2", "-t", "1"], flags, &EXPECTED].concat();
    let all: Vec<&str> =
        all.into_iter().filter(|flag| config.tls.is_some() || *flag != "-k").collect();
    let json = rig.dyno(&all).json();
    in_each(|| check(&format!("{flags:?}"), &json));
    assert_eq!(count(&json, "/books/failed"), 0, "{json:#}");
    let mut streams = rig.streams();
    in_each(|| {
        assert_eq!(
            streams.len() as u64,
            count(&json, "/books/attempted"),
            "a line for each stream"
        );
    });
    streams.sort_unstable_by_key(|stream| stream.request_ended_ns);
    (histogram(&json["response"]["histogram"]), streams)
}

/// p50 to p99.9 lie within 2 % or 1 ms of the truth.
fn agree(name: &str, found: &Histogram<u64>, mut truth: Vec<u64>) {
    truth.sort_unstable();
    for q in QUANTILES {
        let place = (q * truth.len() as f64).ceil() as usize;
        let (found, truth) = (found.value_at_quantile(q), truth[place.max(1) - 1]);
        let allowed = (truth / 50).max(1_000_000);
        assert!(found.abs_diff(truth) <= allowed, "{name}: p{}: {found} {truth}", q * 100.0);
    }
}

fn instants(stream: &StreamTimes) -> (u64, u64) {
    (stream.request_ended_ns.unwrap(), stream.answer_ended_ns.unwrap())
}

/// In a closed loop a stream's request is due when the answer before it has come: its response is what the oracle saw.
#[test]
fn percentiles_of_a_closed_loop_over_streams_are_those_of_the_oracle_s_record() {
    // So long that 2 % of it is more than a busy machine keeps a program waiting, mostly.
    let delay = Some("uniform:100ms,400ms".parse().unwrap());
    let plain = Config { delay, ..Config::default() };
    let secured = Config { tls: Some(Arc::new(TlsConfig::default())), ..plain.clone() };
    for (config, (connections, streams)) in
        SHAPES.map(|shape| (&plain, shape)).into_iter().chain([(&secured, SHAPES[2])])
    {
        let number = if streams == "1" { "10" } else { "1500" };
        in_one_of_five(|| {
            let flags = ["-c", connections, "--streams", streams, "-n", number];
            let (found, log) = on_streams(config, &flags);
            let took = log.iter().map(instants).map(|(came, left)| left - came);
            agree(&format!("{flags:?}"), &found, took.collect());
        });
    }
}

/// The server freezes for 300 ms in each second. The truth: when each answer left, since its request was due. A request
/// leaves in its turn, so the n-th that came was due n periods after the first; that was, at the latest, when the most
/// punctual of them came, less its place in the schedule.
#[test]
fn percentiles_of_an_open_loop_over_streams_have_the_waiting_for_a_frozen_server_in_them() {
    let config = Config {
        delay: Some("uniform:1ms,3ms".parse().unwrap()),
        stall: Some("300ms/1s".parse().unwrap()),
        ..Config::default()
    };
    for ((connections, streams), rate) in SHAPES.into_iter().zip([100, 1_000, 1_000]) {
        in_one_of_five(|| {
            let rate_flag = rate.to_string();
            let flags = ["-c", connections, "--streams", streams, "-r", &rate_flag, "-d", "3s"];
            let (found, log) = on_streams(&config, &flags);
            let due = |n: usize| n as u64 * 1_000_000_000 / rate;
            let instants = || log.iter().map(instants).enumerate();
            let began = instants().map(|(n, (came, _))| came - due(n)).min().unwrap();
            let truth: Vec<u64> = instants().map(|(n, (_, left))| left - began - due(n)).collect();
            let waited = truth.iter().filter(|took| **took > 100_000_000).count();
            assert!(log.len() / 10 < waited, "the freezes were met: {waited}");
            agree(&format!("{flags:?}"), &found, truth);
        });
    }
}
