//! `dyno agents check`: a row for each host, whatever the others are; and `dyno agents key`.

use std::process::Command;

use serde_json::Value;

use crate::agents_rig::{Gate, OPEN_TO_LOOPBACK};
use crate::folder::Folder;
use crate::rig::{Ran, Rig};

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
    assert_eq!(rig.requests(), 0);
}

#[test]
fn a_host_that_cannot_load_keeps_no_other_from_being_looked_at() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens(&format!(
        "case \"$*\" in *' desk3 '*) echo 'ssh: no route to host' >&2; exit 255;;\n\
         *' desk4 '*) exec \"$DYNO\" agents run --stdio --allow 10.0.0.0/24:80 --max-rate 9000;; esac\n{OPEN_TO_LOOPBACK}"
    ));
    let places = ["ssh:desk2,desk3", "ssh:desk4"];
    let check = [&["agents", "check", "--json", "--target", "{url}/hello"], &places[..]].concat();
    let json = gate.start(&rig, &check).end().status(2).json();
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
}

#[test]
fn a_server_that_is_not_reached_is_no_ceiling() {
    let (rig, gate) = (Rig::new(), Gate::new());
    gate.opens(OPEN_TO_LOOPBACK);
    let (_held, address) = crate::rig::closed_port();
    let target = format!("http://{address}/");
    let ran =
        gate.start(&rig, &["agents", "check", "ssh:desk2", "--target", &target]).end().status(2);
    assert!(
        ran.has_sentence("desk2 cannot load: none of its requests to http://127.0.0.1:"),
        "{ran}"
    );
}

#[test]
fn flags_of_a_check_that_do_not_fit_are_refused() {
    let rig = Rig::new();
    let lone = "--listen-on 192.0.2.9: no server can listen there";
    for (flags, says) in [
        (&["desk2"][..], "ssh:HOST,HOST"),
        (&["ssh:a", "--listen-on", "192.0.2.9"], lone),
        (&["local:1", "--target", "https://localhost/"], "without TLS"),
        (&["local:1", "--target", "http://8.8.8.8/"], "--i-may-load-this-target"),
        (&["local:1", "--target", "{url}/", "--listen-on", "127.0.0.1"], "--listen-on"),
    ] {
        let _ = rig.dyno(&[&["agents", "check"], flags].concat()).status(2).stderr_has(says);
    }
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
fn a_key_is_read_from_standard_input_or_from_an_ordinary_file_and_gets_the_agent_s_flags() {
    let ran = key(&["--allow", "10.0.0.0/24:8080"], &format!("# of ann\n{KEY} ann@desk1\n"));
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let line = format!(
        "command=\"{dyno} agents run --stdio --allow 10.0.0.0/24:8080-8080\",restrict {KEY} ann@desk1\n"
    );
    assert_eq!(ran.status(0).stdout, line);
    let _ = key(&[], KEY).status(0).stderr_has("without --allow");
    let (_folder, path) = Folder::with("key.pub", [0xff, 0xfe]);
    for (flags, input, says) in [
        (&[][..], "x".repeat(99_999), "too long"),
        (&["/dev/zero"], String::new(), "/dev/zero: "),
        (&[path.as_str()], String::new(), "key.pub: "),
    ] {
        let ran = key(flags, &input).status(2).stderr_has(says);
        assert_eq!(ran.stdout, "");
    }
}
