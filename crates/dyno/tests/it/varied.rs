//! Requests in varied forms, sent to the oracle: all are right, and a fault that strikes one form is that form's.

use std::path::Path;

use oracle::Config;
use serde_json::Value;

use crate::lab_rig::{Lab, SHORT};
use crate::rig::{Rig, in_one_of_five};

/// Each fault, the figure that must show it, and the words for its form.
const FAULTS: [(&str, &str, &str); 5] = [
    ("case-sensitive", "failed_in_case_percent", "another case of the field names"),
    ("unknown-field", "failed_with_unknown_percent", "an unknown field"),
    ("no-other-spaces", "failed_in_spaces_percent", "other white space around the field values"),
    ("host-first", "failed_in_order_percent", "another order of the fields"),
    ("split-head", "failed_in_segments_percent", "a head in two segments"),
];

/// The names of the figures that are above 0, of those of forms.
fn failing(json: &Value) -> Vec<String> {
    let figures = json["figures"].as_object().unwrap().iter();
    let of_forms = figures.filter(|(name, _)| {
        ["failed_in_", "failed_with_", "failed_as_"].iter().any(|start| name.starts_with(start))
    });
    let above = of_forms.filter(|(_, value)| 0.0 < value["value"].as_f64().unwrap_or(0.0));
    above.map(|(name, _)| name.clone()).collect()
}

fn loaded(fault: Option<&str>, more: &[&str]) -> (Value, String, u64) {
    let fault = fault.map(|name| name.parse().unwrap());
    let rig = Rig::oracle(Config { fault, fault_rate: 0.5, ..Config::default() });
    let url = rig.url("/hello");
    let load =
        ["load", &url, "-n", "2000", "-c", "4", "--vary", "--no-live", "--max-failures", "50"];
    let fields = ["-H", "Accept: */*", "-H", "Cookie: a=1; b=2", "--expect-body", "Hello, world!"];
    let ran = rig.dyno(&[&load[..], &fields, &["--json"], more].concat());
    (ran.json(), ran.stdout.clone(), rig.truth().faults)
}

#[test]
fn every_form_is_accepted_by_a_server_that_parses_them() {
    for more in [&[][..], &["--http2", "--streams", "4"]] {
        let (json, ..) = loaded(None, more);
        assert_eq!(
            (&json["books"]["correct"], failing(&json)),
            (&2_000.into(), vec![]),
            "{more:?}"
        );
        let said = json["order"]["in_words"].as_str().unwrap();
        assert!(said.contains("requests in varied forms"), "{said}");
    }
}

#[test]
fn a_fault_that_strikes_one_form_is_counted_there_exactly_and_said() {
    for (fault, figure, words) in FAULTS {
        // On a busy machine two parts of a head may wait for the server together, and few heads are split for it.
        in_one_of_five(|| {
            let (json, text, planted) = loaded(Some(fault), &[]);
            let says = format!("does not parse a legal form of the same request: {words}");
            assert!(text.contains(&says), "{fault}: {text}");
            assert_eq!(json["books"]["failed"], planted, "{fault}");
            // An unknown field may stand before Host, as another order of the fields has it.
            let others =
                if fault == "host-first" { vec!["failed_with_unknown_percent"] } else { vec![] };
            let found = failing(&json);
            assert!(found.iter().any(|it| it == figure), "{fault}: {found:?}");
            let is_expected = |it: &String| it == figure || others.contains(&it.as_str());
            assert!(found.iter().all(is_expected), "{fault}: {found:?}");
        });
    }
}

#[test]
fn a_mixture_that_a_file_varies_is_right_at_a_rate_and_by_a_flag_so_is_another_workload() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let mix = file("workloads/mix.toml").replace("rate =", "vary = true\nrate =");
    let lab = Lab::new()
        .file("workloads/mix.toml", &mix)
        .file("subjects/own/subject.toml", &file("subjects/oracle/subject.toml"));
    let open = "open = { rate = 500, arrivals = 'poisson' }, total = 1000";
    let lab = lab.experiment("mix", &["own"], open, "workload = 'mix'\n").experiment(
        "hello",
        &["own"],
        SHORT,
        "workload = 'hello'\n",
    );
    lab.dyno(&["run", "mix"]).measured();
    lab.dyno(&["run", "hello", "--vary"]).measured().stdout_has("requests in varied forms");
    lab.dyno(&["run", "hello"]).measured();
    for (run, requests, is_varied) in [("1", 1_000, true), ("2", 200, true), ("3", 200, false)] {
        let trials = lab.trials(run);
        let total = &trials[0].loaded.as_ref().unwrap().recording.total;
        assert_eq!((total.correct, total.failed_in_all()), (requests, 0), "run {run}");
        let sent = total.forms.map(|forms| forms.sent.iter().sum::<u64>());
        assert_eq!(sent, is_varied.then_some(requests), "run {run}");
    }
}

/// The load in words, of the requests of this file.
fn words(rig: &Rig, file: &str, more: &[&str]) -> String {
    let url = rig.url("/");
    let load = ["load", &url, "--workload", file, "-n", "20", "--no-live", "--json"];
    let json = rig.dyno(&[&load[..], more].concat()).json();
    json["order"]["in_words"].as_str().unwrap().to_string()
}

#[test]
fn a_workload_that_states_its_rate_is_sent_at_it_unless_a_flag_says_otherwise() {
    let lab = Lab::new();
    let text = "title = 'x'\nrate = '200/s'\n[[ask]]\nrequest = 'GET /hello HTTP/1.1'\n";
    let lab = lab.file("workloads/stated.toml", text);
    let rig = Rig::oracle(Config::default());
    let file = lab.path("workloads/stated.toml");
    assert!(
        words(&rig, &file, &[]).starts_with("open: 200 requests/s, Poisson"),
        "{}",
        words(&rig, &file, &[])
    );
    let evenly = words(&rig, &file, &["--arrivals", "constant"]);
    assert!(evenly.starts_with("open: 200 requests/s, evenly spaced"), "{evenly}");
    assert!(words(&rig, &file, &["-r", "400"]).starts_with("open: 400 requests/s, evenly"));
    assert!(words(&rig, &file, &["-c", "2"]).starts_with("closed: 2 connections"));
}
