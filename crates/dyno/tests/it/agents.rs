//! Load by agents: processes of this machine, and others that a stand-in for ssh starts.

use std::fs;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::agents_rig::{Gate, OPEN_TO_LOOPBACK, all_have_gone, processes_of};
use crate::lab_rig::until;
use crate::rig::{Going, Ran, Rig, in_each, in_one_of_five};

fn count(json: &Value, path: &str) -> u64 {
    json.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {path}: {json}"))
}

#[test]
fn agents_load_as_one_process_would() {
    let rig = Rig::new();
    let load = ["load", "{url}/hello", "-c", "8", "-n", "4000", "--load-on", "local:4", "--json"];
    let json = rig.dyno(&load).status(0).json();
    assert_eq!((count(&json, "/books/attempted"), count(&json, "/books/correct")), (4_000, 4_000));
    assert_eq!(rig.requests(), 4_000);
    let agents = json["agents"].as_array().unwrap();
    let place = |agent: &Value| ["first_lane", "lanes", "of_lanes"].map(|key| agent[key].as_u64());
    let places: Vec<_> = agents.iter().map(place).collect();
    assert_eq!(places, [0, 1, 2, 3].map(|first| [Some(first), Some(1), Some(4)]));
    assert_eq!(json["generator"]["lanes"].as_array().map(Vec::len), Some(4));
    assert_eq!(json["lost_agents"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_schedule_that_agents_share_is_kept_and_a_known_delay_is_measured() {
    in_one_of_five(|| {
        let rig = Rig::new();
        let path = "{url}/hello?delay=constant:20ms";
        let load = ["load", path, "-r", "300", "-d", "1s", "--load-on", "local:3", "--json"];
        let json = rig.dyno(&load).json();
        assert_eq!(count(&json, "/books/attempted"), 300);
        assert_eq!(rig.requests(), 300);
        let p50 = json["service"]["p50_ns"].as_u64().unwrap();
        in_each(|| assert!((20_000_000..).contains(&p50), "{p50}"));
        assert!(p50 < 22_000_000, "{p50}");
        let windows = json["windows"].as_array().unwrap().iter();
        let attempted: u64 = windows.filter_map(|window| window["attempted"].as_u64()).sum();
        in_each(|| assert_eq!(attempted, 300));
    });
}

/// Four agents with a load that lasts, and their processes.
fn four_agents(rig: &Rig) -> (Going, Vec<Pid>) {
    let load = ["load", "{url}/hello?delay=constant:5ms", "-c", "8", "-d", "5m"];
    let by_four = ["--load-on", "local:4", "--json"];
    let going = Going::start(rig.command(&[&load[..], &by_four].concat()));
    until("requests arrive", || 100 < rig.requests());
    let pids = processes_of(going.pid());
    assert_eq!(pids.len(), 4);
    (going, pids)
}

#[test]
fn when_all_agents_are_lost_nothing_was_measured() {
    let rig = Rig::new();
    let (going, pids) = four_agents(&rig);
    pids.iter().for_each(|pid| kill_process(*pid, Signal::KILL).unwrap());
    going.end().status(2).stderr_has("nothing was measured: agent local ");
}

#[test]
fn agents_end_their_load_when_their_dyno_says_nothing_for_the_time_of_the_lease() {
    let rig = Rig::new();
    let (going, pids) = four_agents(&rig);
    going.signal(Signal::STOP);
    // It is their parent, and stands still: what has ended is not forgotten yet.
    until("all agents have ended", || processes_of(going.pid()).is_empty());
    going.signal(Signal::KILL);
    all_have_gone(&pids);
    going.end();
}

#[test]
fn several_loads_in_a_row_have_the_same_agents() {
    let rig = Rig::new();
    let load = ["load", "{url}/hello", "-c", "4", "-n", "200", "--rounds", "3", "--json"];
    let ran = rig.dyno(&[&load[..], &["--load-on", "local:2"]].concat());
    assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
    assert_eq!(rig.requests(), 600);
}

/// What an agent says to these lines, and how it ends.
fn talk(flags: &[&str], lines: &[u8], folder: &Gate) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.args(["agents", "run"]).args(flags).env("DYNO_LOCKS", folder.path());
    Ran::with_input(command, lines)
}

fn hello(protocol: u32, dyno: &str, sha256: &str) -> Vec<u8> {
    let greeting = serde_json::json!({
        "protocol": protocol, "dyno": dyno, "sha256": sha256, "by": "me@here", "lease": 2_000_000_000u64,
    });
    let frame = serde_json::json!({ "run": "r", "meeting": 0, "says": { "hello": greeting } });
    format!("{frame}\n").into_bytes()
}

#[test]
fn what_is_no_line_of_a_coordinator_ends_an_agent_with_a_sentence() {
    let gate = Gate::new();
    let long = "x".repeat(5 << 20) + "\n";
    for (garbage, says) in [
        (&b"hello\n"[..], "that is not a line of a coordinator"),
        (long.as_bytes(), "a line of more than 4 MiB"),
        (b"\"beat\"\n", "this agent only loads, and was asked to run servers"),
    ] {
        talk(&["--stdio"], garbage, &gate).status(2).stderr_has(says);
    }
    let ran = talk(&["--stdio"], b"", &gate).status(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

#[test]
fn another_dyno_is_refused_with_both_versions() {
    let gate = Gate::new();
    let own = env!("CARGO_PKG_VERSION");
    // A later one may say more: that is no reason not to answer.
    let later = String::from_utf8(hello(99, "9.9.9", "")).unwrap();
    let later = later.replace("\"protocol\":99", "\"protocol\":99,\"more\":{}");
    let versions = format!("it is dyno {own}, and this is dyno 9.9.9");
    for (greeting, says) in [
        (later.into_bytes(), versions.as_str()),
        (hello(1, own, &"0".repeat(64)), "another build of dyno"),
    ] {
        let ran = talk(&["--stdio"], &greeting, &gate).status(0);
        assert!(ran.stdout.contains(says), "{ran}");
    }
}

#[test]
fn flags_of_an_agent_that_do_not_fit_are_refused() {
    let gate = Gate::new();
    let refused = |flags: &[&str], says: &str| {
        talk(flags, b"", &gate).status(2).stderr_has(says);
    };
    refused(&[], "--stdio");
    refused(&["--stdio", "--allow", "everything"], "ADDRESS[/BITS]:PORT");
    refused(&["--stdio", "--allow-file", "/nowhere"], "--allow-file /nowhere");
    refused(&["--via", "nats://x"], "--lab");
    fs::write(gate.path().join("allow"), "10.0.0.0/8:80\nany\n").unwrap();
    let file = gate.path().join("allow");
    refused(&["--stdio", "--allow-file", file.to_str().unwrap()], "line 2: `any`");
}

#[test]
fn places_that_are_none_are_refused() {
    let rig = Rig::new();
    for (flags, says) in [
        (&["--load-on", "slurm"][..], "not a job of Slurm"),
        (&["-c", "2", "--load-on", "local:4"], "4 agents share 2 threads"),
        (&["--unix", "/tmp/x", "--load-on", "local:1"], "not Unix sockets"),
        (&["--load-on", "ssh:nowhere.invalid", "--load-cpus", "0"], "is about this machine"),
        (&["--load-on", "ssh:nowhere.invalid", "--source", "127.0.0.1"], "is about this machine"),
    ] {
        rig.dyno(&[&["load", "{url}/"], flags].concat()).status(2).stderr_has(says);
    }
    assert_eq!(rig.requests(), 0);
}

#[test]
fn too_few_files_are_said_by_the_agent_before_anything_is_sent() {
    let rig = Rig::new().files(150);
    let load = ["load", "{url}/", "-c", "300", "-t", "2", "--load-on", "local:2"];
    rig.dyno(&load)
        .status(2)
        .stderr_has("agent local ")
        .stderr_has("the limit of open files (RLIMIT_NOFILE) is 150");
    assert_eq!(rig.requests(), 0);
    // They suffice where there are twice as many agents.
    let load = ["load", "{url}/", "-c", "300", "-n", "600", "--load-on", "local:4"];
    rig.dyno(&load).status(0);
}

#[test]
fn a_host_without_dyno_gets_this_one_once_and_loads_by_poissons_law() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens(OPEN_TO_LOOPBACK);
    let load = |count: &str| {
        let flags = ["-r", "100", "-n", count, "--load-on", "ssh:desk2,desk3", "--json"];
        gate.start(&rig, &[&["load", "{url}/hello"], &flags[..]].concat()).end()
    };
    let ran = load("100").stderr_has("each agent loads its own machine");
    assert!(matches!(ran.code(), Some(0..=2)), "{ran}");
    let json = ran.json();
    assert_eq!(count(&json, "/books/attempted"), rig.requests());
    assert_eq!(count(&json, "/books/attempted"), 100);
    let agents = json["agents"].as_array().unwrap();
    let names: Vec<_> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["desk2", "desk3"]);
    let digest = agents[0]["sha256"].as_str().unwrap();
    for agent in agents {
        assert_eq!(agent["sha256"].as_str(), Some(digest));
        let (offset, error) =
            (agent["clock_offset_s"].as_f64().unwrap(), agent["clock_error_s"].as_f64().unwrap());
        assert!(offset.abs() <= error && 0.0 < error, "one clock: {offset} ± {error}");
        assert!(agent["clock_drift_s"].is_f64());
    }
    assert_eq!(json["order"]["load"]["arrivals"]["law"], "poisson");
    let copied = fs::read_dir(gate.cache()).unwrap();
    let copied: Vec<_> = copied.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(copied, [digest]);
    let asked = gate.asked();
    assert!(asked.iter().all(|line| line.contains("BatchMode=yes")), "{asked:?}");
    // Each host was asked, got its copy, and was asked again; from then on it is asked once.
    assert_eq!(asked.len(), 6);
    load("20");
    assert_eq!(gate.asked().len(), 8);
}

/// A load of one host behind this gate.
fn refused_at(rig: &Rig, gate: &Gate) -> Ran {
    let load = ["load", "{url}/hello", "-c", "4", "-d", "2s", "--load-on", "ssh:desk2"];
    let ran = gate.start(rig, &load).end().status(2);
    assert_eq!(rig.requests(), 0, "{ran}");
    ran
}

#[test]
fn an_agent_refuses_what_its_owner_does_not_allow() {
    let (rig, gate) = (Rig::new(), Gate::new());
    for (owner, says) in [
        ("--allow 10.9.9.9:1", "agent desk2: its owner does not allow it to load 127.0.0.1:"),
        ("--max-connections 3", "its part is 4 connections, and its owner allows it 3"),
        ("--max-duration 1s", "7 seconds, its time-out included, and its owner allows it 1"),
        ("--max-rate 50", "a closed loop has no rate: give -r"),
    ] {
        gate.opens(&format!("exec \"$DYNO\" agents run --stdio {owner}"));
        refused_at(&rig, &gate).stderr_has(says);
    }
}

#[test]
fn a_host_that_does_not_answer_is_named_with_what_ssh_says() {
    let (rig, gate) = (Rig::new(), Gate::new());
    let no_route = "echo 'ssh: connect to host desk2 port 22: No route to host' >&2; exit 255";
    for (host, says) in [
        (no_route, "agent desk2: ssh did not reach it: connect to host desk2 port 22: No route"),
        ("echo Welcome; echo '\x1b[2Jthis is no agent'", "agent desk2: it ended: exit status 0"),
        ("echo dyno-agent missing Linux riscv64; exit 0", "it is Linux on riscv64"),
        ("echo '{\"run\":'; sleep 60", "agent desk2: it wrote what cannot be read"),
        ("while :; do echo y; done", "more than its shell's greeting"),
    ] {
        gate.opens(host);
        let ran = refused_at(&rig, &gate).stderr_has(says);
        assert!(!ran.stderr.contains('\x1b'), "{ran}");
    }
}

#[test]
fn a_host_that_is_busy_says_with_what_and_since_when() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens("exec \"$DYNO\" agents run --stdio");
    let path = "{url}/hello?delay=constant:5ms";
    let going = gate.start(&rig, &["load", path, "-c", "2", "-d", "5m", "--load-on", "ssh:desk2"]);
    until("requests arrive", || 20 < rig.requests());
    let other = Rig::new();
    refused_at(&other, &gate)
        .stderr_has("agent desk2: it is busy with a run of ")
        .stderr_has("UTC");
    let check = ["agents", "check", "ssh:desk2"];
    let ran = gate.start(&other, &check).end().status(2);
    assert!(ran.has_sentence("desk2 cannot load: it is busy with a run of "), "{ran}");
    assert!(ran.has_sentence("How fast they load was not measured"), "{ran}");
    going.signal(Signal::INT);
    going.end().status(130);
    // It is free again.
    let ran = gate.start(&other, &check).end().status(0);
    let ran = ran.stdout_has("Load can come from there.").stdout_has("requests/s");
    assert!(!ran.has_sentence("its owner allows it"), "its owner has said nothing: {ran}");
}
