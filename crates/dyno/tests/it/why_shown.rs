//! What is sampled after a gate and after a load, and where nothing is.

use rustix::process::Signal;
use serde_json::Value;
use store::Store;

use crate::lab_rig::{Lab, SHORT, not_tested};
use crate::rig::{Going, in_one_of_five};
use crate::serve::served;

/// Where the kernel permits samples; if it does not, that is said to the user.
fn was_permitted(why: &Value, what: &str) -> bool {
    let refused = why[0]["unsampled"][0][1].as_str();
    if let Some(says) = refused {
        assert!(says.contains("kernel"), "{says}");
        not_tested(what, "a kernel that permits samples");
    }
    refused.is_none()
}

/// Begins a gate whose head burns three times as much in one function. On a busy machine it may not be able to tell.
fn gate(lab: &Lab, flags: &[&str]) -> Going {
    let [base, head] = ["20us", "60us"].map(|time| {
        let dyno = env!("CARGO_BIN_EXE_dyno");
        format!("{dyno} serve --listen 127.0.0.1:{{port}} --threads 1 --burn parse:{time}")
    });
    let sides = ["gate", "--base-cmd", &base, "--head-cmd", &head, "--path", "/hello"];
    let load = ["-c", "2", "-d", "300ms", "--warmup", "50ms", "--noise", "1%", "--detect", "60%"];
    let rest = ["--gate", "throughput", "-o", "gate.json", "-o", "gate.md"];
    lab.start(&[&sides[..], &load, &rest, flags].concat())
}

/// So often it is tried.
const ATTEMPTS: usize = 4;

#[test]
fn a_gate_that_says_worse_samples_base_and_head_and_an_interrupt_cuts_only_that() {
    let lab = Lab::new();
    let worse = (0..ATTEMPTS).find_map(|_| {
        let mut going = gate(&lab, &[]);
        going.has_said("the head is worse").then_some(going)
    });
    let Some(mut going) = worse else {
        return not_tested("the profile of a gate", "a quiet machine");
    };
    // The third is cut; where nothing is permitted, there is but one.
    if going.has_said("base · sampled trial 3 of 12") {
        going.signal(Signal::INT);
    }
    let ran = going.end().status(1).stdout_has("Worse: throughput/s");
    let read = |file: &str| lab.read(file);
    let json: Value = serde_json::from_str(&read("gate.json")).unwrap();
    crate::schema::fits("gate", &json);
    assert_eq!((&json["answer"], &json["why_unknown"]), (&"worse".into(), &Value::Null));
    if !was_permitted(&json["why"], "the profile of a gate") {
        return;
    }
    let explained = &json["why"][0]["explanation"];
    for (place, name) in ["base", "head"].into_iter().enumerate() {
        let server = &explained["servers"][place];
        assert_eq!((&server["server"], &server["trials"]), (&name.into(), &1.into()), "{ran}");
    }
    let program = explained["difference"]["sides"]["program"]["us"].as_f64().unwrap();
    assert!((20.0..80.0).contains(&program), "40 µs were added: {program}");
    let id = json["runs"][0].as_str().unwrap();
    let texts =
        [ran.sentences(), read("gate.md"), read(&format!("state/dyno/reports/{id}-gate.html"))];
    for text in &texts {
        assert!(text.contains("more CPU time than one of"), "{text}");
    }
    let run = Store::open(&lab.root.join("state/dyno/runs.sqlite"))
        .unwrap()
        .run(id.parse().unwrap())
        .unwrap();
    assert_eq!(run.profiles.iter().filter(|it| it.found.is_ok()).count(), 2);
}

#[test]
fn a_gate_samples_nothing_with_no_why() {
    let lab = Lab::new();
    let ended = (0..ATTEMPTS).find_map(|_| {
        let ran = gate(&lab, &["--no-why"]).end();
        assert!(!ran.stderr.contains("sampled trial"), "{ran}");
        let json = lab.read("gate.json");
        let json: Value = serde_json::from_str(&json).unwrap();
        (json["answer"] == "worse").then_some(json)
    });
    let Some(json) = ended else { return not_tested("--no-why", "a quiet machine") };
    assert_eq!((json["why"].as_array().unwrap().len(), &json["why_unknown"]), (0, &Value::Null));
}

#[test]
fn a_server_is_sampled_when_its_load_is_over() {
    // The load lasts for tenths of a second: on a busy machine no reading of the CPU time may fall into it.
    in_one_of_five(|| {
        let lab = Lab::new();
        let store = lab.path("runs.sqlite");
        let mut is_sampled = false;
        let truth = served(&["--listen", "127.0.0.1:0", "--json"], |url| {
            let keep = ["--keep", "--store", &store, "--json"];
            let load = ["load", url, "--why", "-r", "3000", "-n", "2000"];
            let ran = lab.dyno(&[&load[..], &keep].concat());
            // On a busy machine the load is invalid; its profile is shown all the same.
            assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
            let json = ran.json();
            crate::schema::fits("load", &json);
            assert_eq!(json["books"]["attempted"], 2_000, "the sampled load is in no figure");
            is_sampled = was_permitted(&json["why"], "the profile of a load");
            if is_sampled {
                let server = &json["why"][0]["explanation"]["servers"][0];
                assert!(server["cpu"]["us"].as_f64().is_some_and(|us| 0.0 < us), "{}", json["why"]);
                assert_eq!(
                    (&server["cpu"]["low_us"], &server["trials"]),
                    (&Value::Null, &1.into())
                );
                lab.dyno(&["report", "1", "--store", &store])
                    .stdout_has("without intervals, because a single round was measured")
                    .stdout_has("µs of CPU time of an answer of");
            }
        });
        let truth: Value = serde_json::from_str(&truth).unwrap();
        assert!(!is_sampled || 2_000 < truth["requests"].as_u64().unwrap(), "{truth}");
    });
}

#[test]
fn servers_elsewhere_and_loads_that_change_are_not_sampled() {
    let lab = Lab::one(SHORT, "");
    let server = format!("{} serve --listen 127.0.0.1:{{port}}", env!("CARGO_BIN_EXE_dyno"));
    for (flags, says) in [
        (
            vec!["load", "localhost:1", "--why", "--load-on", "local:2"],
            "leave --why out, or --load-on",
        ),
        (vec!["race", &server, &server, "--why", "--load-on", "local:2"], "out, or --load-on"),
        (vec!["race", &server, &server, "--why", "-r", "10..20"], "--why: a ramp and steps"),
        (vec!["load", "localhost:1", "--why", "-r", "10..20"], "--why: a ramp, steps"),
        (vec!["run", "x", "--why", "--load-on", "local:2"], "out, or --load-on"),
        (vec!["run", "x", "--why", "--server-on", "local"], "out, or --server-on"),
    ] {
        lab.dyno(&flags).status(2).stderr_has(says);
    }
}
