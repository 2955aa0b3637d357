//! What a run keeps and shows of where its load came from: the hosts, their ways to the server, and their shares.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::hosts::Hosts;
use crate::lab_rig::Lab;

/// A server and a reference, both of which listen where agents reach them.
fn lab(load: &str) -> Lab {
    let served = "run = '{dyno} serve --listen {address}:{port} --threads 1'";
    Lab::new()
        .subject("a", served)
        .subject("idle", &format!("tier = 'reference'\n{served}"))
        .experiment("x", &["a", "idle"], load, "")
}

/// Dyno at the desk, in this lab; its ssh leads to the other hosts.
fn at_the_desk(hosts: &Hosts, lab: &Lab, arguments: &[&str]) -> Command {
    let mut command = hosts.dyno("desk", &lab.root, arguments);
    command.env("XDG_STATE_HOME", lab.root.join("state"));
    command.env("XDG_CACHE_HOME", lab.root.join("cache"));
    command
}

fn trials(json: &Value) -> Vec<(String, Value)> {
    let rows = json["tables"][0]["rows"].as_array().unwrap();
    let trials = rows.iter().flat_map(|row| {
        let subject = row["subject"].as_str().unwrap().to_string();
        let trials = row["trials"].as_array().unwrap().clone();
        trials.into_iter().map(move |trial| (subject.clone(), trial))
    });
    trials.collect()
}

#[test]
fn a_run_keeps_and_shows_the_hosts_that_its_load_came_from() {
    let Some(hosts) = Hosts::up(&["desk", "g1", "g2"]) else { return };
    let lab = lab("closed = { connections = 4 }, duration = '1s'");
    let desk = hosts.address("desk").to_string();
    let run = ["run", "x", "--load-on", "ssh:g1,g2", "--listen-on", &desk, "--full"];
    let output = at_the_desk(&hosts, &lab, &run).stdin(Stdio::null()).output().unwrap();
    let (text, says) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("Where the load came from"), "{text}{says}");
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("load from g1, g2"), "{text}");
    assert!(words.contains("servers on "), "{text}");
    assert!(words.contains("eth0, "), "the link: {text}");

    let json = at_the_desk(&hosts, &lab, &["report", "1", "--format", "json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let fact = |name: &str| {
        let facts = json["run"]["facts"].as_array().or(json["facts"].as_array()).unwrap();
        let found = facts.iter().find(|fact| fact["name"] == name);
        found.map(|fact| fact["value"].as_str().unwrap().to_string())
    };
    assert_eq!(fact("load.on").as_deref(), Some("ssh:g1,g2"));
    assert_eq!(fact("g1: kernel"), fact("kernel"));
    assert!(fact("g2: cpus").is_some() && fact("subject.host").is_some(), "{}", json["facts"]);

    // The reference is loaded by the same agents: its ceiling is theirs, and that of the network.
    let trials = trials(&json);
    assert_eq!(trials.len(), 2);
    for (subject, trial) in &trials {
        let agents = trial["course"]["agents"].as_array().unwrap();
        let names: Vec<_> = agents.iter().map(|agent| agent["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["g1", "g2"], "{subject}");
        for agent in agents {
            let way = &agent["way"];
            assert_eq!((way["link"].as_str(), way["connects"].as_u64()), (Some("eth0"), Some(20)));
            assert!(0 < way["connect_p50_ns"].as_u64().unwrap(), "{agent}");
            assert!(0.0 < agent["saw"]["attempted_per_s"].as_f64().unwrap(), "{agent}");
            assert!(agent["facts"]["kernel"].is_string(), "{agent}");
        }
    }
    hosts.are_empty(&["g1", "g2"]);
}

#[test]
fn a_run_by_processes_of_this_machine_says_so_and_its_reference_has_the_same() {
    let lab = lab("closed = { connections = 4 }, total = 400");
    let ran = lab.dyno(&["run", "x", "--load-on", "local:2", "--full"]);
    assert!(matches!(ran.code(), Some(0 | 2)), "{ran}");
    assert!(ran.has_sentence("load from 2 processes of the same machine"), "{ran}");
    let all = lab.trials("1");
    assert_eq!(all.len(), 2);
    for trial in &all {
        let names: Vec<&str> =
            trial.loaded.as_ref().unwrap().agents.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["local 1", "local 2"], "{}", trial.key.subject);
    }
}
