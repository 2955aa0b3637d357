//! Experiments with held connections: what is kept of them, and how servers that break are reported.

use std::fs;

use lab::record::{OutcomeKind, TrialRecord};
use load::{Holding, Loss, Plateau};
use rustix::process::Signal;

use crate::lab_rig::{Lab, ORACLE, not_tested, until};
use crate::rig::{in_each, in_one_of_five};

/// Two steps of four, each measured for more than half a second.
const RAMP: &str = "connections = 8, step = 4, every = '1s', settle = '200ms', beat = '100ms', \
                    silence = '400ms', drain = '100ms'";

const SPEAKS: [&str; 2] = ["poll", "wspoll"];

/// A project whose polls and WebSockets tick ten times a second, and an oracle that speaks both.
fn held(ramp: &str, subjects: &[&str], rest: &str) -> Lab {
    let ask = |path: &str, over: &str| {
        format!(
            "title = 'x'\n[[ask]]\nrequest = 'GET /{path}/0.1 HTTP/1.1'\n\
             stream = {{ chunks = 2, every = '100ms', over = '{over}' }}\n"
        )
    };
    let load = format!("held = {{ {ramp} }}");
    Lab::new()
        .file("workloads/poll.toml", &ask("poll", "chunks"))
        .file("workloads/wspoll.toml", &ask("wspoll", "websocket"))
        .speaking("oracle", &SPEAKS, &format!("run = '{ORACLE}'"))
        .experiment("x", subjects, &load, rest)
}

const POLL: &str = "workload = 'poll'\n";

/// Such a project with a server in Python that has a fault.
fn faulty(fault: &str, ramp: &str) -> Lab {
    with_fault(held(ramp, &["faulty"], POLL), fault)
}

fn with_fault(lab: Lab, fault: &str) -> Lab {
    lab.script("faulty", &SPEAKS, include_str!("held.py"), &format!("{{port}} {fault}"))
}

fn holding(trial: &TrialRecord) -> &Holding {
    &trial.held.as_ref().expect("what was held is kept").holding
}

#[test]
fn a_ramp_is_run_kept_and_gone() {
    in_one_of_five(|| {
        let lab = held(RAMP, &["oracle"], "workload = ['poll', 'wspoll']\n");
        let ran = lab.dyno(&["run", "x"]).measured();
        let ran =
            in_each(|| ran.stderr_has("2 trials of 1: oracle").stderr_has("8 held connections"));
        ran.stderr_has("failed 0  lost 0  silent 0");
        let trials = lab.trials("1");
        in_each(|| assert_eq!(trials.len(), 2));
        for trial in &trials {
            let steps = &holding(trial).plateaus;
            in_each(|| {
                assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
                assert_eq!(trial.checks.len(), 2, "asked before and after");
                assert!(trial.loaded.is_none());
                let is_stamped = |step: &Plateau| step.stamped == step.messages;
                assert!(steps.iter().all(is_stamped), "the oracle's say when they were due");
            });
            let books: Vec<[u64; 4]> = steps
                .iter()
                .map(|step| [step.begun, step.opened, step.open, step.silent])
                .collect();
            assert_eq!(books, [[4, 4, 4, 0], [4, 4, 8, 0]], "{:?}", trial.key);
            // Eight connections, a message each 100 ms, over the rest of a second.
            assert!((32..=64).contains(&steps[1].messages), "{}", steps[1].messages);
        }
    });
}

#[test]
fn a_server_that_dies_in_the_second_step_is_a_result_and_the_first_step_is_kept() {
    in_one_of_five(|| {
        let ramp = RAMP.replace("connections = 8", "connections = 12");
        // The server dies early in the second step, however long it is.
        let lab = faulty("dies", &ramp.replace("every = '1s'", "every = '3s'"));
        let trial = in_each(|| {
            let ran = lab.dyno(&["run", "x"]).status(2);
            ran.stderr_has("died: ").stderr_has("nothing was measured");
            let trial = lab.trial();
            let outcome = &trial.outcome;
            assert_eq!(outcome.kind, OutcomeKind::Died);
            assert!(outcome.says.contains("the load began: signal 9 (KILL)"), "{outcome:?}");
            assert_eq!(trial.ending.output_tail, b"no more of you\n");
            assert!(holding(&trial).was_halted);
            trial
        });
        let holding = holding(&trial);
        assert_eq!((holding.plateaus[0].open, holding.plateaus[0].lost_in_all()), (4, 0));
        assert!(holding.closed_at < 9_000_000_000, "the third step was not waited for");
    });
}

#[test]
fn a_server_that_stops_sending_without_closing_is_silent() {
    in_one_of_five(|| {
        let lab = faulty("mutes", RAMP);
        let ran = lab.dyno(&["run", "x"]).measured();
        let trial = lab.trial();
        let last = &holding(&trial).plateaus[1];
        in_each(|| {
            assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
            assert_eq!(last.lost_in_all(), 0);
        });
        assert_eq!((last.open, last.silent), (8, 8));
        ran.stderr_has("8 held  failed 0  lost 0  silent 8");
    });
}

#[test]
fn answers_that_end_are_lost_by_their_cause_and_begun_again_only_if_that_is_wanted() {
    in_one_of_five(|| {
        for (reopen, begun_again) in [(true, 1..=u64::MAX), (false, 0..=0)] {
            let lab = faulty("ends", &format!("{RAMP}, reopen = {reopen}"));
            lab.dyno(&["run", "x"]).measured();
            let trial = lab.trial();
            let steps = &holding(&trial).plateaus;
            let again: u64 = steps.iter().map(|step| step.begun_again).sum();
            let ended = Loss::named("held.ended").unwrap().index();
            let lost: u64 = steps.iter().map(Plateau::lost_in_all).sum();
            in_each(|| {
                assert!(reopen || again == 0, "{again}");
                assert_eq!(steps.iter().map(|step| step.lost[ended]).sum::<u64>(), lost);
            });
            assert!(begun_again.contains(&again), "{again}");
            assert!(8 <= lost, "{lost}");
        }
    });
}

#[test]
fn a_dyno_killed_in_the_middle_of_a_ramp_leaves_nothing_and_the_run_goes_on() {
    in_one_of_five(|| {
        // The last step is long enough for a kill that comes late.
        let lab = faulty("notes", &RAMP.replace("every = '1s'", "every = '4s'"));
        let going = lab.start(&["run", "x"]);
        let pid = going.pid();
        until("the second step has begun", || lab.note("faulty", "second-step").is_some());
        going.signal(Signal::KILL);
        let _ = going.end();
        in_each(|| lab.awaits_end_of(pid));
        assert_eq!(lab.trials("1").len(), 0, "it was killed in the middle");
        in_each(|| {
            lab.dyno(&["run", "--resume"]).measured();
            assert_eq!(lab.left_of(pid), Vec::<String>::new());
            assert_eq!(holding(&lab.trial()).plateaus.len(), 2);
        });
    });
}

#[test]
fn ctrl_c_near_a_step_s_boundary_ends_a_trial_of_two_lanes() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        return not_tested("a trial of two lanes", "two CPUs");
    }
    let ramp = "connections = 16, step = 4, every = '1300ms', rate = 20, settle = '100ms', beat = '1s', \
                drain = '100ms'";
    let lab = held(ramp, &["faulty"], &format!("{POLL}conditions = {{ load_cpus = '0-1' }}\n"));
    let lab = with_fault(lab, "notes");
    let going = lab.start(&["run", "x"]);
    until("the second step has begun", || lab.note("faulty", "second-step").is_some());
    going.signal(Signal::INT);
    let ran = going.end().status(130);
    assert!(!ran.stderr.contains("panicked"), "{ran}");
}

#[test]
fn ramps_that_cannot_be_are_refused_with_their_place_and_the_way_out() {
    let refused = |ramp: &str, rest: &str, says: &str| {
        let lab = held(ramp, &["oracle"], rest);
        for flags in [&["run", "x"][..], &["run", "x", "--dry-run"]] {
            lab.dyno(flags).status(2).stderr_has("experiments/x.toml").stderr_has(says);
        }
        assert!(!lab.has(".dyno/work"), "{says}");
    };
    let with = |old: &str, new: &str| RAMP.replace(old, new);
    refused(&with("settle = '200ms'", "settle = '2s'"), POLL, "leaves no time to measure");
    refused(&with("every = '1s', ", ""), POLL, "every");
    refused(&with("beat = '100ms'", "beat = 'often'"), POLL, "often");
    refused(RAMP, "workload = 'hello'\n", "name `poll` or `wspoll`");
}

/// A runtime that dyno has never heard of.
const PROBE: &str = r#"
title = "A made-up virtual machine"
env = { PYTHONPATH = "{build}" }

[[reading]]
name = "jvm.heap.used_bytes"
title = "heap in use"
fold = ["mean", "max"]
"#;

#[test]
fn a_probe_for_another_runtime_needs_a_folder_and_no_line_of_dyno() {
    let ramp = RAMP.replace("connections = 8", "connections = 4").replace("'1s'", "'2s'");
    let lab = faulty("none", &ramp)
        .speaking("faulty", &SPEAKS, "probe = 'jvm'\nrun = 'python3 server.py {port} none'")
        .file("probes/jvm/probe.toml", PROBE)
        .file("probes/jvm/sitecustomize.py", include_str!("probe.py"));
    lab.dyno(&["run", "x"]).measured();
    let reports = || {
        let report = |format| lab.dyno(&["report", "1", "--format", format]).status(0);
        ["json", "csv", "html"].map(report)
    };
    let [json, csv, html] = reports();
    crate::schema::fits("run", &json.json());
    let figures = &json.json()["held"][0]["subjects"][0]["plateaus"][0]["figures"];
    let value = figures["jvm_heap_used_mean_bytes"]["value"].as_f64();
    assert!(value.is_some_and(|value| (value - 5e6).abs() < 1.0), "{figures}");
    let _ = csv.stdout_has(",jvm_heap_used_mean_bytes,jvm_heap_used_max_bytes");
    let _ = html.stdout_has(">heap in use<");
    // The run has kept what the probe declared.
    let before = reports().map(|ran| ran.stdout);
    fs::remove_dir_all(lab.root.join("probes")).unwrap();
    assert!(before == reports().map(|ran| ran.stdout));
    let broken = lab.file("probes/jvm/probe.toml", &PROBE.replace("\"mean\"", "\"median\""));
    let says = "probes/jvm/probe.toml:8: expected \"mean\", \"max\" or \"growth\", or a list";
    broken.dyno(&["run", "x"]).status(2).stderr_has(says);
}
