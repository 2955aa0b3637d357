//! The JSON fits its schema.

use serde_json::Value;

use crate::rig::{Rig, closed_port, in_each, in_one_of_five};
use crate::schema::{self, fits, violations};

fn load(flags: &[&str]) -> Value {
    Rig::new().dyno(&[&["load", "--json", "--no-live"], flags].concat()).json()
}

#[test]
fn every_kind_of_load_gives_what_the_schema_says() {
    let loads: [&[&str]; 7] = [
        &["{url}/hello", "-c", "2", "-d", "300ms", "--warmup", "200ms"],
        &["{url}/hello", "-r", "100", "-d", "300ms"],
        &["{url}/hello", "-r", "100", "--arrivals", "poisson", "-d", "300ms"],
        &["{url}/hello", "-r", "10..100", "-d", "300ms"],
        &["{url}/hello", "-r", "100:100ms,200:200ms"],
        &["{url}/hello", "--sessions", "50", "--calls", "2", "-n", "5"],
        &["{url}/nothing", "-n", "10", "-c", "1", "--load-cpus", "0", "--source", "127.0.0.1"],
    ];
    let mut loads = loads.map(load);
    loads.iter().for_each(|json| fits("load", json));
    // The validator finds what is wrong.
    let json = &mut loads[0];
    json["books"]["attempted"] = "10".into();
    json["surprise"] = 1.into();
    json["rate"].as_object_mut().unwrap().remove("throughput_per_s");
    json["verdict"]["word"] = "splendid".into();
    assert_eq!(violations(&schema::of("load"), json).len(), 4);
}

#[test]
fn held_connections_give_what_the_schema_says() {
    in_one_of_five(|| {
        let flags = ["-c", "4", "--every", "1s", "--settle", "100ms", "--json"];
        let hold = |rest: &[&str]| Rig::new().dyno(&[&["hold"], rest, &flags[..]].concat()).json();
        let stream = hold(&["{url}/poll/0.1"]);
        let socket = hold(&["ws://{address}/wsecho", "--echo", "10"]);
        in_each(|| [&stream, &socket].map(|json| fits("hold", json)));
        assert!(socket["plateaus"][0]["echo"]["response"]["p50_ns"].is_u64(), "{socket:#}");
    });
}

#[test]
fn a_run_in_which_nothing_answered_is_as_the_schema_says() {
    let (_held, gone) = closed_port();
    let ran = Rig::at(gone).dyno(&["load", "{url}/", "--json", "-c", "1", "-d", "50s"]).status(2);
    let json = ran.json();
    fits("load", &json);
    assert_eq!(json["end"]["word"], "gave_up");
    assert_eq!(json["response"]["p50_ns"], Value::Null);
}
