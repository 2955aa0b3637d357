//! `dyno run`: it measures and keeps the right things, and leaves nothing behind.

use std::process::Command;

use lab::record::{OutcomeKind, fact};
use load::Failure;
use rustix::process::Signal;
use wire::Mismatch;

use crate::lab_rig::{Lab, SHORT, is_answered, is_root, not_tested, patiently, trial_of};

#[test]
fn an_experiment_is_run_kept_and_gone() {
    let load = "closed = { connections = [1, 2] }, total = 200";
    let twice = "[trials]\nrepeat = 2\npause = '0s'";
    let lab =
        Lab::new().oracle("a", "").oracle("b", "").experiment("race", &["a", "b"], load, twice);
    let ran = lab.dyno(&["run", "race"]).measured().stderr_has("8 trials of 2: a, b");
    for number in 1..=8 {
        assert!(ran.stderr.contains(&format!("\n{number}/8 ")), "{ran}");
    }
    assert!(
        !ran.stderr.contains('\x1b'),
        "plain lines where standard error is not a terminal: {ran}"
    );
    let trials = lab.trials("1");
    assert_eq!(trials.len(), 8);
    for trial in &trials {
        assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
        assert_eq!(trial.loaded.as_ref().unwrap().recording.total.correct, 200);
        assert!(!is_answered(trial.launch.as_ref().unwrap().port));
    }
    let of = |name: &str| trials.iter().filter(|trial| trial.key.subject == name).count();
    assert_eq!((of("a"), of("b")), (4, 4));
    let run = lab.dyno(&["runs", "list", "--json"]).status(0).json()["runs"][0].take();
    assert_eq!((&run["id"], &run["name"]), (&"1".into(), &"race".into()));
    assert_eq!((&run["planned"], &run["kept"]), (&8.into(), &8.into()));
    assert!(run["unfinished"].is_null(), "{run}");
}

#[test]
fn a_server_that_lies_about_a_byte_now_and_then_is_found_out() {
    let lab = Lab::new().python("liar", "lies").experiment("x", &["liar"], SHORT, "");
    lab.dyno(&["run", "x"]).status(1).stderr_has("failed 4");
    let trial = lab.measured();
    // The fault is in the 49th answer, the 99th, the 149th and the 199th; readiness and the check used the first two.
    let total = trial.loaded.unwrap().recording.total;
    assert_eq!((total.failures(Failure::Content(Mismatch::Body)), total.correct), (4, 196));
}

#[test]
fn a_server_that_always_lies_is_wrong_before_it_is_pressed() {
    let trials = patiently(|ready| {
        let lab = Lab::new().liar("liar", ready).oracle("good", "");
        let lab = lab.experiment("x", &["liar", "good"], SHORT, "");
        let ran = lab.dyno(&["run", "x"]).measured();
        ran.stderr.contains("wrong: ").then(|| lab.trials("1"))
    });
    for trial in trials {
        if trial.key.subject == "good" {
            assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
            continue;
        }
        assert_eq!(trial.outcome.kind, OutcomeKind::Wrong, "{:?}", trial.outcome);
        assert!(trial.outcome.says.contains("`Hello, world!` was expected"), "{:?}", trial.outcome);
        assert!(trial.loaded.is_none());
        let evidence = trial.checks.last().unwrap();
        assert!(evidence.request.starts_with(b"GET /hello "));
        assert!(evidence.response.starts_with(b"HTTP/1.1 200 OK\r\n"), "{evidence:?}");
    }
}

#[test]
fn every_question_of_the_workload_is_checked_before_the_load() {
    let lab = Lab::new().oracle("half", "");
    let lab = lab.experiment("x", &["half"], SHORT, "workload = 'both'");
    lab.dyno(&["run", "x"]).status(2).stderr_has("nothing was measured");
    let trial = lab.trial();
    let says = "`second`, asked before the load: status 404; 2xx was expected";
    assert_eq!((trial.outcome.kind, &trial.outcome.says[..]), (OutcomeKind::Wrong, says));
    assert!(trial.checks.iter().any(|check| check.response.starts_with(b"HTTP/1.1 404 ")));
}

#[test]
fn quick_does_less_and_says_so() {
    let load = "closed = { connections = [1, 2] }, total = 2000";
    let rest = "[trials]\nrepeat = 3\npause = '0s'\n[quick]\npoints = 2";
    let lab = Lab::one(load, rest);
    lab.dyno(&["run", "x", "--quick"])
        .measured()
        .stderr_has("(quick: shorter and fewer trials)")
        .stderr_has("1/1 ");
    assert_eq!(lab.trial().loaded.unwrap().recording.total.correct, 200);
    assert!(lab.store().run("1".parse().unwrap()).unwrap().is_quick);
    assert!(lab.store().runs().unwrap()[0].is_quick);
}

#[test]
fn a_trial_may_have_a_network_of_its_own() {
    if !is_root("`isolate = true`") {
        return;
    }
    if !Command::new("unshare").args(["-n", "true"]).status().is_ok_and(|status| status.success()) {
        not_tested("`isolate = true`", "network namespaces");
        return;
    }
    let lab = Lab::new().oracle("a", "");
    let lab = lab.experiment("x", &["a"], SHORT, "conditions = { isolate = true }");
    lab.dyno(&["run", "x"]).measured();
    assert_eq!(fact(&lab.measured().conditions, "network"), Some("of its own"));
}

#[test]
fn a_server_that_eats_more_memory_than_it_has_is_said_to_have_run_out_of_it() {
    let lab = Lab::new().python("glutton", "eats").oracle("good", "");
    let lab = lab.experiment("x", &["glutton", "good"], SHORT, "conditions = { memory = '64MiB' }");
    lab.dyno(&["run", "x"]).measured();
    let trials = lab.trials("1");
    let trial = trial_of(&trials, "glutton");
    let limited = fact(&trial.conditions, "memory").unwrap_or_default();
    if limited.starts_with("not limited") {
        not_tested("a limit of memory", limited);
        return;
    }
    assert!(limited.starts_with("64 MiB by cgroup v"), "{limited}");
    assert_eq!(trial.outcome.kind, OutcomeKind::Died, "{:?}", trial.outcome);
    assert!(trial.outcome.says.contains("out of memory"), "{:?}", trial.outcome);
}

#[test]
fn the_page_of_the_first_round_is_there_before_the_subjects_are_checked() {
    let rest = "[trials]\nrepeat = 2\npause = '0s'\ncheck = true";
    let lab = Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, rest);
    let mut going = lab.start(&["run", "x"]);
    going.says("the page after the first round: .dyno/reports/1-x.html");
    assert!(!going.heard.contains("conformance check of"), "{}", going.heard);
    going.signal(Signal::KILL);
    going.end();
    let page = lab.read(".dyno/reports/1-x.html");
    assert!(page.contains("1 of 2 trials"), "the page says how far the run is");

    lab.open_gate();
    lab.dyno(&["run", "--resume", "--no-check"]).measured();
    let page = lab.read(".dyno/reports/1-x.html");
    assert!(!page.contains("1 of 2 trials"), "it was written again");
}
