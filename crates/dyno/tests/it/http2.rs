//! HTTP/2: what is counted against a server whose every count is known, and each doubt with its cause and without.

use oracle::{Config, Delay, Fault};
use serde_json::Value;

use crate::rig::Rig;

fn json(config: Config, flags: &[&str]) -> Value {
    let all = [&["load", "{url}/hello", "--http2", "--json"], flags].concat();
    Rig::oracle(config).dyno(&all).json()
}

fn fault(name: &str) -> Config {
    Config { fault: Some(name.parse::<Fault>().unwrap()), ..Config::default() }
}

/// The doubts that are about HTTP/2.
fn doubts(json: &Value) -> Vec<&str> {
    let ids = ["streams_capped", "own_window", "peer_window", "churn", "calm"];
    crate::rig::doubts(json).into_iter().filter(|id| ids.contains(id)).collect()
}

#[test]
fn what_both_sides_count_agrees() {
    let rig = Rig::new();
    let all = ["load", "{url}/hello", "--http2", "--streams", "7", "-c", "3", "-n", "2000"];
    let json = rig.dyno(&[&all[..], &["--json"]].concat()).status(0).json();
    assert_eq!((json["books"]["correct"].as_u64(), rig.requests()), (Some(2_000), 2_000));
    let seen = &json["http2"];
    assert_eq!(
        (&seen["answers"], &seen["frames_received"]["HEADERS"]),
        (&2_000.into(), &2_000.into())
    );
    assert_eq!((&seen["streams_ordered"], &seen["streams_min"]), (&7.into(), &7.into()));
    assert_eq!(seen["settings"][0]["max_concurrent_streams"], 250);
    assert_eq!(seen["settings"][0]["connections"], 3);
    assert_eq!(seen["ready"]["count"], 3);
    assert_eq!(json["connections"]["established"], 3);
    assert_eq!(json["order"]["http2"]["streams"], 7);
    let reads = seen["reads_with_answers"].as_u64().unwrap();
    assert!((1..=2_000).contains(&reads), "{reads}");
    assert_eq!(doubts(&json), [""; 0]);
    let plain = rig.dyno(&["load", "{url}/hello", "-n", "10", "--json"]).status(0).json();
    assert!(plain["http2"].is_null() && plain["order"]["http2"].is_null());
}

#[test]
fn fewer_streams_than_ordered_are_said() {
    let allows = |streams| Config { streams, ..Config::default() };
    let flags = ["-c", "2", "--streams", "10", "-n", "500"];
    let capped = json(allows(9), &flags);
    assert_eq!(
        (doubts(&capped), &capped["http2"]["streams_max"]),
        (vec!["streams_capped"], &9.into())
    );
    assert_eq!(doubts(&json(allows(10), &flags)), [""; 0]);
}

#[test]
fn windows_that_are_waited_for_are_told_apart() {
    let own = json(Config::default(), &["--h2-windows", "5:65535", "-n", "200"]);
    assert_eq!(doubts(&own), ["own_window"]);
    // The oracle answers with 13 octets, and waits after the 5th and the 10th of each answer.
    assert_eq!(own["http2"]["own_window"]["times"], 400);
    assert_eq!(
        doubts(&json(Config::default(), &["--h2-windows", "14:65535", "-n", "200"])),
        [""; 0]
    );
    let post = |window, body: &str| {
        let config = Config { window, ..Config::default() };
        let all = ["load", "{url}/user", "--http2", "--json", "--method", "POST", "-n", "100"];
        Rig::oracle(config).dyno(&[&all[..], &["--body", body]].concat()).json()
    };
    let waited = post(10, "a body of 21 octets..");
    assert_eq!(doubts(&waited), ["peer_window"]);
    assert_eq!(waited["books"]["correct"], 100);
    assert!(100 <= waited["http2"]["peer_window"]["times"].as_u64().unwrap(), "{waited}");
    assert_eq!(doubts(&post(21, "a body of 21 octets..")), [""; 0]);
}

#[test]
fn connections_that_end_under_load_are_said_and_nothing_is_lost() {
    let ended = json(fault("h2-goaway-10"), &["-c", "2", "--streams", "5", "-n", "500"]);
    assert_eq!(ended["books"]["correct"], 500);
    assert_eq!(doubts(&ended), ["churn"]);
    // The last connection of each place may end with its last answer, or have room left.
    let goaways = ended["http2"]["goaways"]["NO_ERROR"].as_u64().unwrap();
    assert!((48..=50).contains(&goaways), "{}", ended["http2"]);
    assert_eq!(ended["notes"]["announced_closes"], 0);
    let lenient = Config { fault_rate: 0.0, ..fault("h2-goaway-10") };
    assert_eq!(doubts(&json(lenient, &["-n", "500"])), [""; 0]);
}

/// Half of the requests are given up; a few of the others are answered with a request for calm.
#[test]
fn calm_is_asked_for_after_our_own_resets() {
    let flags = ["-c", "2", "--streams", "5", "-n", "400", "--timeout", "300ms"];
    let delay: Delay = "bimodal:1ms,20s,0.5".parse().unwrap();
    let config = Config { delay: Some(delay), fault_rate: 0.1, ..fault("h2-goaway-calm") };
    let calm = json(config, &flags);
    assert!(doubts(&calm).contains(&"calm"), "{}", calm["http2"]);
    assert!(calm["books"]["by_class"]["h2.calm"].as_u64().is_some(), "{}", calm["books"]);
    // Without anything given up, a server that asks for calm has only itself to blame.
    let twin = Config { fault_rate: 0.1, ..fault("h2-goaway-calm") };
    let twin = json(twin, &["-c", "2", "--streams", "5", "-n", "400"]);
    assert!(!doubts(&twin).contains(&"calm"), "{}", twin["http2"]);
}
