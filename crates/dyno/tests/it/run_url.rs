//! Subjects that run already, at a URL: measured, never started; and what cannot be done for them.

use lab::record::{TrialRecord, fact};

use crate::lab_rig::{Lab, SHORT, trial_of};
use crate::rig::{Rig, closed_port};

/// An oracle that runs already, beside one that is started.
fn lab(server: &Rig) -> Lab {
    Lab::new()
        .oracle("own", "")
        .file("subjects/here/subject.toml", &manifest(&server.url("")))
        .experiment("x", &["here", "own"], SHORT, "[trials]\nrepeat = 2\npause = '0s'")
}

fn manifest(url: &str) -> String {
    format!("title = 'The one here'\nspeaks = ['hello', 'both']\nurl = '{url}'\n")
}

#[test]
fn a_server_that_runs_already_is_measured_beside_one_that_is_started() {
    let server = Rig::new();
    let lab = lab(&server);
    let ran = lab.dyno(&["run", "x"]).measured();
    let ran = ran.stderr_has("here: runs already, at 127.0.0.1:").stdout_has("The one here");
    let trials = lab.trials("1");
    assert_eq!(trials.len(), 4, "{ran}");
    for trial in &trials {
        assert_eq!(trial.launch.is_some(), trial.key.subject == "own");
        assert_eq!(trial.loaded.as_ref().unwrap().recording.total.attempted, 200);
    }
    let found = trial_of(&trials, "here");
    assert!(fact(&found.conditions, "address").unwrap().starts_with("127.0.0.1:"));
    // Its process is on this machine, and so it is watched.
    assert!(found.series.iter().any(|series| series.name.starts_with("subject.")), "{found:?}");
    // Its own log has the requests of the loads, of each trial one that finds it ready, and those that check it.
    let here = || trials.iter().filter(|trial| trial.key.subject == "here");
    let total = |trial: &TrialRecord| trial.loaded.as_ref().unwrap().recording.total.clone();
    let answered: u64 =
        here().map(|trial| total(trial).correct + 1 + trial.checks.len() as u64).sum();
    assert_eq!(server.requests(), answered);
    let begun: u64 = here().map(|trial| total(trial).connections.begun).sum();
    assert_eq!(server.truth().connections, begun + answered - 400, "a check has its own");
    let entry = &lab.store().run("1".parse().unwrap()).unwrap().entries[0];
    assert!(entry.notes.contains("the same processes answer in all rounds"), "{entry:?}");
    lab.dyno(&["report", "--format", "html"]).status(0).stdout_has("The one here");
}

#[test]
fn what_cannot_be_done_for_it_is_said() {
    let server = Rig::new();
    let lab = lab(&server)
        .experiment("isolated", &["here"], SHORT, "[conditions]\nisolate = true\n")
        .experiment("checked", &["here"], SHORT, "[trials]\nrepeat = 1\ncheck = true\n");
    let isolated = lab.dyno(&["run", "isolated"]).status(2);
    let _ = isolated.stderr_has("`here` runs already: it cannot be given another network");
    let held = "question = 'x'\nsubjects = ['here']\nworkload = 'hello'\n\
                load = { held = { connections = 4, every = '5s', settle = '0s' } }\n";
    lab.write("experiments/held.toml", held.replace("'hello'", "'poll'"));
    lab.write(
        "workloads/poll.toml",
        "title = 'x'\n[[ask]]\nrequest = 'GET /poll/1 HTTP/1.1'\nstream = { chunks = 2, every = '1s' }\n",
    );
    let _ = lab
        .dyno(&["run", "held"])
        .status(2)
        .stderr_has("its connections are held by `dyno hold URL`");
    let checked = lab.dyno(&["run", "checked"]).measured();
    let record = lab.store().run("1".parse().unwrap()).unwrap();
    let says = record.conformance[0].found.as_ref().unwrap_err();
    assert_eq!(says, "it runs already, and is not started: check it by its URL", "{checked}");
}

#[test]
fn a_server_of_someone_else_is_loaded_only_with_permission() {
    let server = Rig::new();
    let lab = lab(&server)
        .file("subjects/far/subject.toml", &manifest("http://192.0.2.1:80"))
        .file("subjects/lost/subject.toml", &manifest("http://no-such-name.invalid"))
        .file(
            "subjects/fixed/subject.toml",
            "title = 'x'\nspeaks = ['hello']\nsite = { address = '192.0.2.1:80', host = 'h', target = '/' }\n",
        )
        .experiment("far", &["far", "lost", "fixed"], SHORT, "");
    let ran = lab.dyno(&["run", "far"]).status(2);
    let ran = ran.stderr_has("192.0.2.1 is neither this machine nor a private network");
    let ran = ran.stderr_has("the name `no-such-name.invalid` cannot be resolved");
    let ran = ran.stderr_has("no server could be built or started here");
    assert_eq!(ran.stderr.matches("add --i-may-load-this-target").count(), 2, "{ran}");
    let shown = lab.dyno(&["run", "far", "--dry-run", "--i-may-load-this-target"]).status(0);
    let _ = shown.stderr_has("far: runs already, at 192.0.2.1:80");
    let race = lab.dyno(&["race", "far", "own"]).status(2);
    let _ = race.stderr_has("add --i-may-load-this-target");
}

#[test]
fn a_server_that_does_not_answer_is_a_result() {
    let server = Rig::new();
    let (_held, gone) = closed_port();
    let lab = lab(&server).file("subjects/gone/subject.toml", &manifest(&format!("http://{gone}")));
    lab.write(
        "experiments/y.toml",
        "question = 'x'\nsubjects = ['gone']\nworkload = 'hello'\nload = { closed = { connections = 1 }, total = 9 }\n\
         trials = { repeat = 1, check = false }\n",
    );
    let _ = lab.dyno(&["run", "y"]).status(2).stdout_has("does not answer");
}
