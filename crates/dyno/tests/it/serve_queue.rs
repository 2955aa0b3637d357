//! `dyno serve` with a queue: what a load measures is what theory knows, and every flag arrives where it belongs.

use serde_json::Value;

use crate::rig::{in_each, in_one_of_five};
use crate::serve::{load, served};

/// The truth of a server with these flags, after this load.
fn truth(flags: &[&str], load: impl FnOnce(&str)) -> Value {
    let all = [&["--listen", "127.0.0.1:0", "--json"], flags].concat();
    serde_json::from_str(&served(&all, |url| load(&format!("{url}/hello")))).unwrap()
}

/// M/M/1 at half of its capacity. By theory the p50 is 14 ms and the p99 92 ms; without a queue they would be 7 and 46.
#[test]
fn a_load_measures_what_theory_says_of_a_queue() {
    in_one_of_five(|| {
        let mut json = Value::Null;
        let truth = truth(&["--service", "exponential:10ms", "--seed", "6"], |url| {
            let chance = ["-r", "50", "--arrivals", "poisson", "--seed", "6"];
            json = load(url, &[&chance[..], &["-c", "100", "-d", "6s"]].concat());
        });
        let ms = |figure: &str| json["response"][figure].as_u64().unwrap() as f64 / 1e6;
        in_each(|| {
            assert_eq!(json["books"]["failed"], 0);
            assert_eq!(truth["waited"]["count"], json["books"]["attempted"]);
            assert_eq!(
                (&truth["queue"]["seed"], &truth["queue"]["servers"]),
                (&6.into(), &1.into())
            );
            assert!(50.0 < ms("p99_ns"), "the wait is in it: {}", ms("p99_ns"));
        });
        assert!((9.5..30.0).contains(&ms("p50_ns")), "{}", ms("p50_ns"));
        assert!(ms("p99_ns") < 250.0, "{}", ms("p99_ns"));
    });
}

/// One token each 20 ms, two requests in that time, and no more than one saved: a half passes.
#[test]
fn a_hard_limit_lets_through_what_it_says() {
    in_one_of_five(|| {
        let mut json = Value::Null;
        let truth = truth(&["--rate-limit", "50,1"], |url| {
            json = load(url, &["-r", "100", "-d", "2s", "-c", "50", "--expect-status", "200"]);
        });
        let books = &json["books"];
        let correct = books["correct"].as_u64().unwrap();
        in_each(|| {
            assert_eq!(truth["limited"], books["failed"], "{books}");
            assert!(correct <= 105, "it is a hard limit: {correct}");
        });
        assert!(70 <= correct, "{correct}");
    });
}

#[test]
fn a_collapse_is_in_the_truth_with_its_time() {
    let flags = ["--service", "constant:20ms", "--servers", "2", "--collapse", "1ms,4"];
    let truth = truth(&flags, |url| {
        load(url, &["-n", "10", "-c", "5"]);
    });
    assert!(truth["queue"]["collapsed_s"].as_f64().unwrap() > 0.0, "{truth:#}");
    let longest = truth["drawn"]["max_ns"].as_u64().unwrap();
    assert!((79_000_000..81_000_000).contains(&longest), "{longest}");
}

#[test]
fn fresh_processes_draw_their_own_seed_and_speed_unless_they_are_given_one() {
    let queue = |flags: &[&str]| {
        let flags = [&["--service", "constant:1ms", "--lottery", "5%"], flags].concat();
        truth(&flags, |_| {})["queue"].take()
    };
    let [first, second] = [queue(&[]), queue(&[])];
    assert_ne!((&first["seed"], &first["speed"]), (&second["seed"], &second["speed"]));
    assert_eq!(queue(&["--seed", &first["seed"].to_string()]), first);
    for queue in [first, second] {
        assert!((0.95..=1.05).contains(&queue["speed"].as_f64().unwrap()), "{queue}");
    }
    assert_eq!(truth(&[], |_| {})["queue"], Value::Null);
}
