//! `dyno agents check`: a row for each host, whatever the others are; and `dyno agents key`.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::agents::busy;
use crate::agents_rig::{Gate, OPEN_TO_LOOPBACK};
use crate::rig::{Ran, Rig};
use rustix::process::Signal;

/// Dyno with these arguments, whose ssh is the gate.
fn behind(gate: &Gate, rig: &Rig, arguments: &[&str]) -> Ran {
    gate.start(rig, arguments).end()
}

fn host<'j>(json: &'j Value, name: &str) -> &'j Value {
    let hosts = json["hosts"].as_array().unwrap();
    hosts.iter().find(|host| host["name"] == name).unwrap_or_else(|| panic!("no {name}: {json}"))
}

#[test]
fn processes_of_this_machine_load_dyno_s_own_server() {
    let rig = Rig::new();
    let ran = rig.dyno(&["agents", "check", "local:2", "--json"]).status(0);
    let json = ran.json();
    assert_eq!(json["schema"], "dyno.agents-check/1");
    for name in ["local 1", "local 2"] {
        let host = host(&json, name);
        assert_eq!(
            (&host["can_load"], &host["known"]["has_our_clock"]),
            (&true.into(), &true.into())
        );
        let ceiling = &host["ceiling"];
        assert!(100.0 < ceiling["throughput_per_s"].as_f64().unwrap(), "{json}");
        assert_eq!(ceiling["link"]["name"], "lo", "{json}");
        let bounds = ["cpus", "link", "server", "round_trips"];
        assert!(bounds.contains(&ceiling["bound_by"].as_str().unwrap()), "{json}");
    }
    let _ = rig
        .dyno(&["agents", "check", "local:1"])
        .status(0)
        .stdout_has("Load can come from there.")
        .stdout_has("requests/s");
    assert_eq!(rig.requests(), 0);
}

#[test]
fn a_host_that_cannot_load_keeps_no_other_from_being_looked_at() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens(&format!(
        "case \"$*\" in *' desk3 '*) echo 'ssh: no route to host' >&2; exit 255;;\n\
         *' desk4 '*) exec \"$DYNO\" agents run --stdio --allow 10.0.0.0/24:80 --max-rate 9000;; esac\n{OPEN_TO_LOOPBACK}"
    ));
    let check = ["agents", "check", "ssh:desk2,desk3", "ssh:desk4", "--target", "{url}/hello"];
    let json = behind(&gate, &rig, &[&check[..], &["--json"]].concat()).status(2).json();
    let desk2 = host(&json, "desk2");
    assert_eq!((&desk2["can_load"], &desk2["known"]["may_load"]), (&true.into(), &Value::Null));
    assert!(100.0 < desk2["ceiling"]["throughput_per_s"].as_f64().unwrap(), "{json}");
    let error = desk2["known"]["clock_error_s"].as_f64().unwrap();
    assert!(desk2["known"]["clock_offset_s"].as_f64().unwrap().abs() <= error && 0.0 < error);
    let desk3 = host(&json, "desk3");
    assert_eq!(desk3["can_load"], false);
    assert!(desk3["says"].as_str().unwrap().contains("no route to host"), "{json}");
    // It can load, only not this.
    let desk4 = host(&json, "desk4");
    assert_eq!((&desk4["can_load"], &desk4["ceiling"]), (&true.into(), &Value::Null), "{json}");
    assert_eq!(desk4["known"]["may_load"], serde_json::json!(["10.0.0.0/24:80-80"]));
    assert_eq!(desk4["known"]["max_rate_per_s"], 9_000);
    assert!(
        desk4["no_ceiling"].as_str().unwrap().starts_with("its owner does not allow"),
        "{json}"
    );
    let ran = behind(&gate, &rig, &check).status(2);
    assert!(ran.has_sentence("Load can come from 2 of 3 hosts."), "{ran}");
    assert!(ran.has_sentence("desk3 cannot load: ssh did not reach it: no route to host"), "{ran}");
    assert!(
        ran.has_sentence("desk4: its owner allows it 10.0.0.0/24:80-80; at most 9,000/s"),
        "{ran}"
    );
}

#[test]
fn a_busy_host_is_told_with_who_has_it() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens("exec \"$DYNO\" agents run --stdio");
    let going = busy(&rig, &gate);
    let ran = behind(&gate, &rig, &["agents", "check", "ssh:desk2"]).status(2);
    assert!(ran.has_sentence("desk2 cannot load: it is busy with a run of "), "{ran}");
    assert!(ran.has_sentence("How fast they load was not measured"), "{ran}");
    going.signal(Signal::INT);
    let _ = going.end().status(130);
    let ran = behind(&gate, &rig, &["agents", "check", "ssh:desk2"]).status(0);
    assert!(!ran.has_sentence("its owner allows it"), "its owner has said nothing: {ran}");
}

#[test]
fn a_server_that_is_not_reached_is_no_ceiling() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens(OPEN_TO_LOOPBACK);
    let (_held, address) = crate::rig::closed_port();
    let target = format!("http://{address}/");
    let ran = behind(&gate, &rig, &["agents", "check", "ssh:desk2", "--target", &target]).status(2);
    assert!(
        ran.has_sentence("desk2 cannot load: none of its requests to http://127.0.0.1:"),
        "{ran}"
    );
}

#[test]
fn flags_of_a_check_that_do_not_fit_are_refused() {
    let rig = Rig::new();
    let refused = |flags: &[&str], says: &str| {
        let _ = rig.dyno(&[&["agents", "check"], flags].concat()).status(2).stderr_has(says);
    };
    refused(&[], "PLACE");
    refused(&["desk2"], "ssh:HOST,HOST");
    refused(
        &["ssh:a", "--listen-on", "192.0.2.9"],
        "--listen-on 192.0.2.9: no server can listen there",
    );
    refused(&["local:1", "--target", "https://localhost/"], "without TLS");
    refused(&["local:1", "--target", "http://8.8.8.8/"], "--i-may-load-this-target");
    refused(&["local:1", "--target", "{url}/", "--listen-on", "127.0.0.1"], "--listen-on");
    refused(&["slurm"], "not a job of Slurm");
}

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGKmZpxoUZ0TyPMHkA7NGCtXcAH3Rd5O0xYYsSgFXYHd";

/// `dyno agents key` with these flags, and this on its standard input.
fn key(flags: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.args(["agents", "key"]).args(flags);
    Ran::with_input(command, input.as_bytes())
}

#[test]
fn the_line_for_a_key_has_the_agent_s_flags_and_nothing_else_is_allowed() {
    let allows = ["--allow", "10.0.0.0/24:8080", "--allow-file", "/etc/my rules"];
    let caps = ["--max-rate", "50k", "--max-connections", "1000", "--max-duration", "90s"];
    let flags = [&["--dyno", "/opt/dyno"], &allows[..], &caps].concat();
    let ran = key(&flags, &format!("# of ann\n{KEY} ann@desk1\n")).status(0);
    assert_eq!(
        ran.stdout,
        format!(
            "command=\"/opt/dyno agents run --stdio --allow 10.0.0.0/24:8080-8080 --allow-file '/etc/my rules' \
             --max-rate 50000 --max-connections 1000 --max-duration 90000ms\",restrict {KEY} ann@desk1\n"
        )
    );
    let ran = key(&["--servers"], KEY).status(0);
    assert!(ran.stdout.contains(" agents run --stdio --servers\",restrict "), "{ran}");
    assert!(ran.stdout.starts_with(&format!("command=\"{}", env!("CARGO_BIN_EXE_dyno"))), "{ran}");
    let _ = key(&[], KEY).status(0).stderr_has("without --allow");
}

#[test]
fn what_is_no_public_key_is_refused_and_nothing_is_printed() {
    let refused = |flags: &[&str], input: &str, says: &str| {
        let ran = key(flags, input).status(2).stderr_has(says);
        assert_eq!(ran.stdout, "");
    };
    refused(&[], "", "one line");
    refused(&[], &"x".repeat(99_999), "too long");
    refused(&["/nowhere"], "", "/nowhere: ");
    refused(&["/dev/zero"], "", "/dev/zero: ");
    refused(&["--allow", "all"], KEY, "ADDRESS[/BITS]:PORT");
    refused(&["--allow-file", "rules"], KEY, "the whole path");
    refused(&["--dyno", "a\nb"], KEY, "control character");
    refused(&["--max-duration", "soon"], KEY, "--max-duration");
    let gate = Gate::new();
    let path = gate.path().join("key.pub");
    fs::write(&path, [0xff, 0xfe]).unwrap();
    refused(&[path.to_str().unwrap()], "", "key.pub: ");
}
