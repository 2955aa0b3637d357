//! Runs whose servers are elsewhere: in another process of this machine, and in other namespaces.

use std::fs;

use lab::record::OutcomeKind;
use machine::conditions::Cpus;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use store::RunEnd;

use crate::agents_rig::processes_of;
use crate::hosts::Hosts;
use crate::lab_rig::{Lab, ORACLE, SHORT, carriers, until};
use crate::rig::{Going, in_one_of_five};

const TWICE: &str = "[trials]\nrepeat = 2\npause = '0s'";
const LONG: &str = "open = { rate = 50 }, duration = '60s'";
/// An address that no host of these tests has.
const NOWHERE: &str = "10.255.255.1";

fn two(load: &str) -> Lab {
    Lab::one(load, TWICE)
}

fn fact(lab: &Lab, name: &str) -> Option<String> {
    let facts = lab.store().run("1".parse().unwrap()).unwrap().facts;
    facts.into_iter().find(|fact| fact.name == name).map(|fact| fact.value)
}

/// The process that has the servers of this run.
fn host_of(going: &Going) -> Pid {
    let is_host = |pid: &Pid| {
        let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|word| word == b"--servers")
    };
    processes_of(going.pid()).into_iter().find(is_host).expect("there is a host")
}

/// A run whose servers are in another process, which is returned, too; it has said this.
fn elsewhere(lab: &Lab, says: &str) -> (Going, Pid) {
    let mut going = lab.start(&["run", "x", "--server-on", "local"]);
    going.says(says);
    let host = host_of(&going);
    (going, host)
}

/// Nothing of a host is left: neither itself, nor what it started.
#[track_caller]
fn has_gone(host: Pid) {
    until("the host has ended", || test_kill_process(host).is_err());
    until("its servers have ended", || carriers(host).is_empty());
}

#[test]
fn a_run_with_its_servers_elsewhere_is_kept_here_like_any_other() {
    let lab = two(SHORT).subject("ref", &format!("tier = 'reference'\nrun = '{ORACLE}'"));
    let ran = lab.dyno(&["run", "x", "--server-on", "local"]).measured();
    let ran = ran.stderr_has("run 1: x").stderr_has("3 trials of 2: a, ref").stderr_has("3/3 ");
    assert!(ran.has_sentence("to repeat: `dyno run x --server-on local`"), "{ran}");
    let trials = lab.trials("1");
    assert!(trials.iter().all(|trial| trial.outcome.kind == OutcomeKind::Measured), "{ran}");
    for trial in &trials {
        let loaded = trial.loaded.as_ref().unwrap();
        assert_eq!(loaded.recording.total.attempted, 200);
        // The load was of this process, and the server's host knows that it was of another.
        assert_eq!(loaded.agents.len(), 1);
        assert_eq!(loaded.agents[0].saw.as_ref().unwrap().attempted, 200);
        assert!(trial.series.iter().any(|series| series.name == "subject.cpu.total"));
    }
    assert_eq!(fact(&lab, "subject.on").as_deref(), Some("local"));
    for name in ["subject.host", "load.host", "load.on", "load.host.kernel"] {
        assert!(fact(&lab, name).is_some_and(|value| !value.is_empty()), "{name}");
    }
    assert_eq!(lab.store().runs().unwrap()[0].ended.unwrap().1, RunEnd::Done);
    assert_eq!(lab.store().verify("1".parse().unwrap()).unwrap(), []);
    assert!(!lab.has(".dyno/builds"), "nothing was built here");
    lab.dyno(&["report", "1"]).measured();
    // The same files are not sent again; those that were changed where they were sent are.
    let folders = || fs::read_dir(lab.root.join("state/dyno/lab")).unwrap().flatten();
    let sent = || folders().map(|entry| entry.path()).filter(|path| path.is_dir());
    let root = sent().next().unwrap();
    let manifest = root.join("subjects/a/subject.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("title = 'A subject'", "title = 'Another'")).unwrap();
    fs::write(root.join("subjects/a/more"), "x").unwrap();
    lab.dyno(&["run", "x", "--server-on", "local", "--rounds", "1"]).measured();
    assert_eq!((sent().count(), fs::read_to_string(&manifest).unwrap()), (1, text));
    assert!(!root.join("subjects/a/more").exists());
    assert_eq!(lab.store().run("2".parse().unwrap()).unwrap().entries[0].title, "A subject");
}

#[test]
fn loads_of_agents_and_held_connections_reach_servers_elsewhere() {
    let lab = two(SHORT);
    let flags = ["run", "x", "--server-on", "local", "--load-on", "local:2", "--rounds", "1"];
    lab.dyno(&flags).measured();
    let trial = lab.trial();
    assert_eq!(trial.loaded.as_ref().unwrap().agents.len(), 2, "{:?}", trial.outcome);
    assert_eq!(trial.loaded.unwrap().recording.total.attempted, 200);
    assert_eq!(fact(&lab, "load.on").as_deref(), Some("local:2"));
    let poll = "title = 'x'\n[[ask]]\nrequest = 'GET /poll/1 HTTP/1.1'\nstatus = 200\n\
                stream = { chunks = 2, every = '1s' }\n";
    let held = "held = { connections = 4, every = '1s', settle = '200ms', drain = '100ms' }";
    let lab = Lab::new().speaking("a", &["poll"], &format!("run = '{ORACLE}'"));
    let lab =
        lab.file("workloads/poll.toml", poll).experiment("x", &["a"], held, "workload = 'poll'");
    let ran = lab.dyno(&["run", "x", "--server-on", "local"]);
    let trial = lab.trials("1").pop().unwrap_or_else(|| panic!("{ran}"));
    let held = trial.held.unwrap_or_else(|| panic!("{:?}", trial.outcome));
    assert_eq!(held.holding.plateaus.last().unwrap().open, 4);
    assert_eq!(held.holding.windows.last().map(|second| second.open), Some(4));
}

/// Wherever the load and the servers are, a trial is judged by all that was recorded of it.
#[test]
fn a_trial_is_kept_whole_wherever_its_parts_are() {
    in_one_of_five(|| {
        let text = "question = 'Which?'\nsubjects = ['a']\nworkload = 'hello'\n\
                load = { closed = { connections = 16 }, warmup = '300ms', duration = '500ms' }\n\
                trials = { pause = '0s', check = false }\n";
        let here: &[&str] = &[];
        let places = [here, &["--load-on", "local:2"], &["--server-on", "local"]];
        for place in [&places[..], &[&[places[2], places[1]].concat()[..]]].concat() {
            let lab = Lab::new().oracle("a", "").file("experiments/x.toml", text);
            let ran =
                lab.dyno(&[&["run", "x", "--rounds", "1"], place].concat()).stderr_has("run 1: x");
            let trial = lab.trials("1").pop().unwrap_or_else(|| panic!("{ran}"));
            let series = |name: &str| trial.series.iter().any(|series| series.name == name);
            assert_eq!(series("load.helpers.cpu"), !place.is_empty(), "{place:?}");
            let lanes = &trial.loaded.as_ref().unwrap().recording.lanes;
            let load = fact(&lab, "cpus.load").unwrap();
            let is_load_s = |cpu: usize| load.parse::<Cpus>().unwrap().iter().any(|it| it == cpu);
            assert!(
                lanes.iter().all(|lane| lane.cpu.is_some_and(is_load_s)),
                "{place:?}: {lanes:?}"
            );
            // Later ones are of what was under way at the end.
            let windows = &trial.loaded.as_ref().unwrap().recording.windows;
            let ends: Vec<u64> =
                windows.iter().take(8).map(|window| window.until / 1_000_000).collect();
            assert_eq!(ends, [100, 200, 300, 400, 500, 600, 700, 800], "{place:?}");
            let report = lab.dyno(&["report", "1", "--format", "json"]).json();
            let doubts = report["tables"][0]["rows"][0]["verdict"]["doubts"].as_array();
            let doubts = doubts.unwrap_or_else(|| panic!("{report:#}"));
            assert!(doubts.iter().all(|doubt| doubt["id"] != "books"), "{place:?}: {doubts:#?}");
            let again = [&["`dyno", "run", "x"], place].concat().join(" ");
            assert!(ran.has_sentence(&format!("to repeat: {again} --rounds 1`")), "{ran}");
        }
    });
}

#[test]
fn what_would_run_elsewhere_is_shown_and_not_run() {
    let lab = two(SHORT);
    let ran = lab.dyno(&["run", "x", "--server-on", "local", "--dry-run"]).status(0);
    assert!(ran.stdout.contains("Order of the 2 trials"), "{ran}");
    assert!(!lab.has(".dyno/runs.sqlite"));
}

#[test]
fn ctrl_c_ends_the_servers_elsewhere_and_what_was_finished_goes_on() {
    let lab = Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, TWICE);
    let (going, host) = elsewhere(&lab, "1/2 ");
    going.signal(Signal::INT);
    let again = "`dyno run --resume 1 --server-on local` continues it";
    going.end().status(130).stderr_has(again);
    has_gone(host);
    assert_eq!(lab.trials("1").len(), 1);
    let first = format!("{:?}", lab.trials("1")[0]);
    assert_eq!(lab.store().runs().unwrap()[0].ended.unwrap().1, RunEnd::Interrupted);
    let says = "run 1 took place elsewhere, and its trials are compared with each other; go on with `dyno run --resume 1 \
         --server-on local`";
    lab.dyno(&["run", "--resume"]).status(2).stderr_has(says);
    lab.open_gate();
    lab.dyno(&["run", "--resume", "--server-on", "local"]).measured().stderr_has("2/2 ");
    let trials = lab.trials("1");
    assert_eq!((trials.len(), format!("{:?}", trials[0])), (2, first));
    assert_eq!(lab.store().runs().unwrap()[0].ended.unwrap().1, RunEnd::Done);
}

#[test]
fn ctrl_c_in_a_load_ends_it_on_both_sides() {
    let lab = two(LONG);
    let (going, host) = elsewhere(&lab, "order (seed");
    until("a server runs", || !carriers(host).is_empty());
    going.signal(Signal::INT);
    going.end().status(130).stderr_has("dyno: interrupted;");
    has_gone(host);
    assert_eq!(lab.trials("1").len(), 0);
}

#[test]
fn a_host_that_is_lost_is_named_and_what_was_finished_is_kept() {
    let lab = Lab::new().gated("a", 1).experiment("x", &["a"], SHORT, TWICE);
    let (going, host) = elsewhere(&lab, "1/2 ");
    kill_process(host, Signal::KILL).unwrap();
    let says = "local: it ended: signal 9 (KILL); what was finished before is kept, and `dyno run --resume 1 \
                --server-on local` continues it";
    going.end().status(2).stderr_has(says);
    has_gone(host);
    assert_eq!(lab.trials("1").len(), 1);
    lab.open_gate();
    lab.dyno(&["run", "--resume", "1", "--server-on", "local"]).measured();
    assert_eq!(lab.trials("1").len(), 2);
}

#[test]
fn a_host_that_says_nothing_is_given_up() {
    let lab = two(LONG);
    let (going, host) = elsewhere(&lab, "order (seed");
    kill_process(host, Signal::STOP).unwrap();
    going.end().status(2).stderr_has("local: it sent nothing for 10 s");
    has_gone(host);
}

#[test]
fn servers_elsewhere_end_with_the_dyno_that_ordered_them() {
    for signal in [Signal::KILL, Signal::STOP] {
        let lab = two(LONG);
        let (going, host) = elsewhere(&lab, "order (seed");
        until("a server runs", || !carriers(host).is_empty());
        going.signal(signal);
        until("its servers have ended", || carriers(host).is_empty());
        // What stands still has not looked after its child yet.
        if signal == Signal::STOP {
            going.signal(Signal::KILL);
        }
        going.end();
        has_gone(host);
        let work = lab.root.join("cache/dyno/work");
        assert_eq!(lab.names(work.to_str().unwrap()), [""; 0]);
    }
}

#[test]
fn ctrl_c_in_a_build_elsewhere_ends_it() {
    let lab = Lab::new();
    let note = lab.root.join("builds");
    let build = format!("echo $$ >'{0}.new'; mv '{0}.new' '{0}'; exec sleep 300", note.display());
    let lab = lab
        .subject("a", "build = ['sh build.sh']\nrun = 'true'")
        .file("subjects/a/build.sh", &build)
        .experiment("x", &["a"], SHORT, "");
    let going = lab.start(&["run", "x", "--server-on", "local"]);
    until("the build goes on", || note.exists());
    let host = host_of(&going);
    let build = fs::read_to_string(&note).unwrap().trim().parse().unwrap();
    let build = Pid::from_raw(build).unwrap();
    assert!(test_kill_process(build).is_ok());
    going.signal(Signal::INT);
    going.end().status(130);
    until("the build has ended", || test_kill_process(build).is_err());
    has_gone(host);
}

#[test]
fn a_build_that_fails_elsewhere_is_seen_here() {
    let build = "build = ['sh build.sh']\nrun = 'true'";
    let lab = Lab::new()
        .subject("a", build)
        .file("subjects/a/build.sh", "echo one; echo two >&2; exit 7")
        .experiment("x", &["a"], SHORT, "");
    lab.dyno(&["run", "x", "--server-on", "local"])
        .status(2)
        .stderr_has("building a: sh build.sh")
        .stderr_has("the end of what the build of a wrote:\n  $ sh build.sh\n  one\n  two\n")
        .stderr_has(
            "a does not take part: it cannot be built: `sh build.sh` ended with exit status 7",
        )
        .stderr_has("local: no server could be built or started there");
}

#[test]
fn what_cannot_be_on_another_machine_is_refused() {
    let refused = |lab: Lab, flags: &[&str], says: &str| {
        lab.dyno(&[&["run", "x", "--server-on"], flags].concat()).status(2).stderr_has(says);
    };
    refused(two(SHORT), &["ssh:a,b"], "on one host: name one");
    refused(two(SHORT), &["slurm"], "not a place for servers");
    refused(two(SHORT), &["local", "--listen-on", NOWHERE], "no server can listen on 10.255.255.1");
    refused(two(SHORT), &["local", "--server-cpus", "999"], "CPUs that are not here");
    refused(two(SHORT), &["local", "--load-cpus", "999"], "no CPU 999");
    refused(two(SHORT), &["local", "--load-on", "ssh:x"], "no other machine can reach");
    let isolated = Lab::one(SHORT, "conditions = { isolate = true }\n");
    refused(isolated, &["local"], "leave `isolate` out, or --server-on");
    let manifest = "title = 'x'\nspeaks = ['hello']\nurl = 'http://127.0.0.1:9'\n";
    let found = Lab::new().file("subjects/a/subject.toml", manifest);
    let found = found.experiment("x", &["a"], SHORT, "");
    refused(found, &["local"], "`a` runs already, and --server-on starts servers");
    let linked = two(SHORT);
    std::os::unix::fs::symlink("/etc/passwd", linked.root.join("subjects/a/link")).unwrap();
    refused(linked, &["local"], "neither a file nor a folder");
}

#[test]
fn servers_on_a_host_of_their_own_are_loaded_from_the_desk_and_from_other_hosts() {
    let Some(hosts) = Hosts::up(&["desk", "server", "g1", "g2"]) else { return };
    let lab = two("closed = { connections = 4 }, duration = '1s'");
    let run = |flags: &[&str]| {
        let flags = [&["run", "x", "--server-on", "ssh:server", "--rounds", "1"], flags].concat();
        Going::start(hosts.dyno("desk", &lab.root, &flags)).end().measured()
    };
    run(&[]);
    let trial = lab.trials("1").pop().unwrap();
    assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
    assert_eq!(fact(&lab, "subject.address"), Some(hosts.address("server").to_string()));
    assert_eq!(fact(&lab, "subject.on").as_deref(), Some("ssh:server"));
    run(&["--load-on", "ssh:g1,g2"]);
    let trial = lab.trials("2").pop().unwrap();
    assert_eq!(trial.outcome.kind, OutcomeKind::Measured, "{:?}", trial.outcome);
    let agents = trial.loaded.unwrap().agents;
    assert_eq!(agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(), ["g1", "g2"]);
    let facts = lab.store().run("2".parse().unwrap()).unwrap().facts;
    assert!(facts.iter().any(|fact| fact.name == "g1: kernel"), "{facts:?}");
    hosts.are_empty(&["server", "g1", "g2"]);
}
