//! `dyno load --require`: what is met, what is not, and what cannot be decided.

use serde_json::Value;

use crate::folder::Folder;
use crate::rig::{Ran, Rig};
use crate::schema::fits;

/// The exit code is this one, unless the machine was so busy that the load is invalid: then nothing is decided.
#[track_caller]
fn decided(ran: Ran, code: i32) -> Value {
    let json = ran.json();
    fits("load", &json);
    let is_invalid = json["verdict"]["word"] == "invalid";
    ran.status(if is_invalid { 2 } else { code });
    json
}

fn load(flags: &[&str]) -> Ran {
    let usual = ["load", "{url}/hello", "-c", "2", "-n", "2000", "--no-live"];
    Rig::new().dyno(&[&usual, flags].concat())
}

#[test]
fn a_reader_and_a_program_see_each_requirement_with_its_value() {
    let folder = Folder::new();
    let require = ["p50<1h", "first-byte p50<1ns", "p99.99<1s"];
    let require: Vec<&str> = require.iter().flat_map(|it| ["--require", it]).collect();
    let ran = load(&[&require[..], &["-o", &folder.path("x.json")]].concat())
        .stdout_has("What was required\n")
        .stdout_has("p50<1h, measured ");
    let json = folder.json("x.json");
    fits("load", &json);
    if json["verdict"]["word"] != "invalid" {
        let words = [0, 1, 2].map(|place| json["requirements"][place]["word"].clone());
        assert_eq!(words, ["met", "not met", "cannot tell"]);
        assert!(json["requirements"][2]["why"].is_string(), "{json:#}");
        ran.stdout_has("\nmet: p50<1h, measured ")
            .stdout_has("\nnot met: first-byte p50<1ns, measured ")
            .stdout_has("\ncannot tell: p99.99<1s, measured ")
            .stdout_has("There were 2,000 samples, and this percentile takes 100,000;")
            .status(1);
    }
}

#[test]
fn a_schedules_requirements_are_about_what_was_due() {
    let load = ["load", "{url}/hello", "-r", "200", "-d", "300ms", "--json"];
    let require = ["--require", "on-time>=1%", "--require", "offered>=199"];
    let ran = Rig::new().dyno(&[&load[..], &require].concat());
    let json = decided(ran, 0);
    assert_eq!(json["requirements"][1]["measured"], 200.0);
}

#[test]
fn of_an_invalid_load_nothing_is_decided_but_its_failures_count() {
    let flags = ["load", "{url}/nothing", "-c", "1", "-n", "20", "--json", "--require", "p50<1h"];
    let ran = Rig::new().dyno(&flags).status(1);
    assert_eq!(ran.json()["requirements"][0]["word"], "cannot tell");
    let all = [&flags[..], &["--max-failures", "100"]].concat();
    let ran = Rig::new().dyno(&all).status(2);
    assert!(
        ran.json()["requirements"][0]["why"].as_str().unwrap().starts_with("The load is invalid. ")
    );
}

#[test]
fn what_can_never_be_decided_is_refused_before_the_load() {
    let rig = Rig::new();
    let refused = |requirement: &str, says: &str| {
        let flags = ["load", "{url}/hello", "-n", "1", "--require", requirement];
        rig.dyno(&flags).status(2).stderr_has(says);
    };
    refused("on-time>=99%", "a closed loop has no schedule");
    refused("offered>1", "add -r, --sessions or --arrivals FILE");
    refused("latency<1s", "`latency` is not a figure; there are p50, p99");
    assert_eq!(rig.requests(), 0);
}
