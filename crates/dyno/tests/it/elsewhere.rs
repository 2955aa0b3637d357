//! Experiments and races whose loads are carried out by agents: the servers, the store and the judgement stay here.

use lab::record::{OutcomeKind, TrialRecord};
use rustix::process::{Signal, kill_process};

use crate::agents_rig::{agents_of, all_have_gone, loads};
use crate::lab_rig::{Lab, ORACLE, SHORT, until};
use crate::rig::{Going, in_each, in_one_of_five};

const BY_TWO: [&str; 4] = ["run", "x", "--load-on", "local:2"];

/// A server each of whose starts waits until its own gate is open: `gate.2` for the second.
fn gates(repeat: usize) -> Lab {
    let script = "echo x >>starts\nuntil [ -e \"$0.$(($(wc -l <starts)))\" ]; do sleep 0.02; done\nexec \"$@\"\n";
    let rest = format!("[trials]\nrepeat = {repeat}\npause = '0s'");
    Lab::new()
        .subject("a", &format!("run = 'sh gate {ORACLE}'\nready = '150s'"))
        .file("subjects/a/gate", script)
        .experiment("x", &["a"], SHORT, &rest)
}

fn has_started(lab: &Lab, times: usize) -> bool {
    lab.note("a", "starts").is_some_and(|starts| starts.lines().count() == times)
}

/// Lets the server start for this time, as soon as it was asked to.
fn open(lab: &Lab, time: usize) {
    until("the server is to start", || has_started(lab, time));
    let builds = std::fs::read_dir(lab.root.join(".dyno/builds/a")).unwrap().flatten();
    for build in builds.filter(|build| build.path().join("starts").exists()) {
        std::fs::write(build.path().join(format!("gate.{time}")), "").unwrap();
    }
}

/// A run by two agents, of whose trials the first has ended; the second waits for its gate.
fn in_the_second(lab: &Lab) -> Going {
    let going = lab.start(&BY_TWO);
    open(lab, 1);
    until("the second trial begins", || has_started(lab, 2));
    going
}

fn kill_one(going: &Going) {
    let agents = agents_of(going.pid());
    assert_eq!(agents.len(), 2);
    kill_process(agents[1], Signal::KILL).unwrap();
    until("it is gone", || agents_of(going.pid()).len() == 1);
}

fn kinds(trials: &[TrialRecord]) -> Vec<OutcomeKind> {
    trials.iter().map(|trial| trial.outcome.kind).collect()
}

fn first_try(trial: &TrialRecord) -> Option<&str> {
    let fact = trial.conditions.iter().find(|fact| fact.name == "agent.first_try");
    fact.map(|fact| fact.value.as_str())
}

#[test]
fn an_agent_that_ends_between_two_trials_costs_none_of_them() {
    let lab = gates(2);
    let mut going = in_the_second(&lab);
    kill_one(&going);
    open(&lab, 2);
    going.says("an agent was lost; the trial is run once more at the end of its round");
    open(&lab, 3);
    let _ = going.end().measured();
    let trials = lab.trials("1");
    assert_eq!(kinds(&trials), [OutcomeKind::Measured; 2]);
    assert_eq!(first_try(&trials[0]), None);
    let says = first_try(&trials[1]).expect("it is told that there was a first try");
    assert!(says.contains("was lost before the load began: it ended: signal 9 (KILL)"), "{says}");
}

#[test]
fn a_trial_that_loses_an_agent_twice_stops_the_run_which_can_be_resumed() {
    let lab = gates(2);
    let mut going = in_the_second(&lab);
    kill_one(&going);
    open(&lab, 2);
    going.says("an agent was lost");
    until("it is run once more", || has_started(&lab, 3));
    kill_one(&going);
    open(&lab, 3);
    let ran = going.end().status(2);
    let _ = ran.stderr_has("lost an agent twice").stderr_has("--resume");
    assert_eq!(lab.trials("1").len(), 1);
    let going = lab.start(&["run", "--resume", "--load-on", "local:2"]);
    open(&lab, 4);
    let _ = going.end().measured();
    assert_eq!(kinds(&lab.trials("1")), [OutcomeKind::Measured; 2]);
}

#[test]
fn an_agent_that_is_killed_in_a_load_costs_a_trial_that_is_run_once_more() {
    let lab = Lab::one("open = { rate = 200 }, duration = '4s'", "");
    let mut going = lab.start(&BY_TWO);
    until("the load is under way", || agents_of(going.pid()).iter().any(|pid| loads(*pid)));
    std::thread::sleep(std::time::Duration::from_secs(1));
    kill_one(&going);
    going.says("an agent was lost");
    let _ = going.end().measured();
    let trial = lab.trial();
    let says = first_try(&trial).expect("it is told that there was a first try");
    assert!(says.contains("s after the load began: it ended: signal 9 (KILL)"), "{says}");
    assert!(says.contains("50 % of the load was lost with it"), "{says}");
}

#[test]
fn a_dyno_that_is_killed_leaves_no_agent_and_a_store_from_which_the_run_goes_on() {
    let lab = gates(3);
    let going = in_the_second(&lab);
    let pid = going.pid();
    let agents = agents_of(pid);
    assert_eq!(agents.len(), 2);
    going.signal(Signal::KILL);
    let _ = going.end();
    all_have_gone(&agents);
    lab.awaits_end_of(pid);
    let before = format!("{:?}", lab.trials("1"));
    assert_eq!(lab.trials("1").len(), 1);
    let going = lab.start(&["run", "--resume", "--load-on", "local:2"]);
    open(&lab, 3);
    open(&lab, 4);
    let _ = going.end().measured();
    let trials = lab.trials("1");
    assert_eq!((kinds(&trials).len(), format!("{:?}", &trials[..1])), (3, before));
    assert_eq!(lab.store().verify("1".parse().unwrap()).unwrap(), []);
}

#[test]
fn ctrl_c_ends_a_run_and_its_agents_and_what_is_kept_stays() {
    let lab = gates(2);
    let going = in_the_second(&lab);
    let agents = agents_of(going.pid());
    going.signal(Signal::INT);
    let _ = going.end().status(130);
    all_have_gone(&agents);
    assert_eq!(lab.trials("1").len(), 1);
}

#[test]
fn held_connections_of_an_experiment_are_held_by_agents() {
    let ask = "title = 'x'\n[[ask]]\nrequest = 'GET /poll/0.1 HTTP/1.1'\n\
               stream = { chunks = 2, every = '100ms', over = 'chunks' }\n";
    let held = "held = { connections = 8, step = 4, every = '1s', settle = '200ms', beat = '100ms', \
                silence = '600ms', drain = '100ms' }";
    let lab = Lab::new().speaking("a", &["poll"], &format!("run = '{ORACLE}'"));
    let lab =
        lab.file("workloads/poll.toml", ask).experiment("x", &["a"], held, "workload = 'poll'\n");
    in_one_of_five(|| {
        let _ = in_each(|| lab.dyno(&BY_TWO).measured());
        let trial = in_each(|| lab.trials(&newest(&lab)).pop().unwrap());
        let holding = &trial.held.as_ref().expect("what was held is kept").holding;
        let books: Vec<[u64; 3]> =
            holding.plateaus.iter().map(|step| [step.begun, step.opened, step.open]).collect();
        assert_eq!(books, [[4, 4, 4], [4, 4, 8]]);
    });
}

fn newest(lab: &Lab) -> String {
    lab.store().runs().unwrap().last().unwrap().id.to_string()
}

#[test]
fn a_race_is_loaded_by_agents_and_neither_side_is_faster_by_that() {
    let lab = Lab::new();
    let side = "DYNO serve --listen 127.0.0.1:{port} --threads 1 --delay constant:2ms";
    let load = ["--path", "/hello", "-c", "4", "-d", "500ms", "--load-on", "local:2", "--json"];
    let ran = lab.dyno(&[&["race", side, side], &load[..]].concat());
    assert!(matches!(ran.code(), Some(0..=2)), "{ran}");
    let json = ran.json();
    assert_eq!(json["schema"], "dyno.race/1", "{ran}");
}
