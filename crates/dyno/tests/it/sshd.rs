//! Load by a real sshd: with a login that may start anything, and with a key that may only have an agent.

use std::fs;
use std::time::Duration;

use crate::rig::{Going, Ran, Rig};
use crate::sshd_rig::Sshd;

/// A server that lets its user start anything.
fn free() -> Option<Sshd> {
    let sshd = Sshd::start()?;
    sshd.lets_in(&fs::read_to_string(sshd.public_key()).unwrap());
    Some(sshd)
}

/// Dyno loads the rig's server by these hosts.
fn load(sshd: &Sshd, rig: &Rig, hosts: &str, flags: &[&str]) -> Ran {
    let place = format!("ssh:{hosts}");
    let load = ["load", "{url}/hello", "--json", "--load-on", &place];
    sshd.dyno(rig, &[&load[..], flags].concat())
}

#[test]
fn a_login_that_may_start_anything_needs_nothing_but_ssh() {
    let Some(sshd) = free() else { return };
    let rig = Rig::new();
    for _ in 0..2 {
        let before = rig.requests();
        let ran = load(&sshd, &rig, "desk2,desk3", &["-c", "4", "-n", "300"]);
        // So short a load may be invalid on a busy machine.
        assert!(matches!(ran.code(), Some(0..=2)), "{ran}\n{}", sshd.log());
        assert_eq!(rig.requests(), before + 300, "{ran}");
        let json = ran.json();
        assert_eq!(json["agents"].as_array().map(Vec::len), Some(2), "{json}");
        let digest = json["agents"][0]["sha256"].as_str().unwrap();
        let copied = fs::read_dir(sshd.gate.cache()).unwrap();
        let copied: Vec<_> = copied.map(|it| it.unwrap().file_name()).collect();
        assert_eq!(copied, [digest], "this very program was copied");
    }
}

/// What `dyno agents key` prints for the user's key.
fn line(sshd: &Sshd, flags: &[&str]) -> String {
    let key = sshd.public_key();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dyno"));
    command.args(["agents", "key"]).args(flags).arg(key);
    Going::start(command).end().status(0).stdout
}

#[test]
fn a_key_that_may_only_have_an_agent_loads_what_its_line_allows_and_does_nothing_else() {
    let Some(sshd) = Sshd::start() else { return };
    let (rig, other) = (Rig::new(), Rig::new());
    let port = rig.url("").rsplit(':').next().unwrap().to_string();
    let allow = format!("127.0.0.0/8:{port}");
    let caps = ["--max-rate", "50", "--max-connections", "4", "--max-duration", "5s"];
    sshd.lets_in(&line(&sshd, &[&["--allow", &allow], &caps[..]].concat()));
    let within = ["-r", "50", "--max-connections", "4", "-n", "50", "-d", "4s", "--timeout", "1s"];
    let ran = load(&sshd, &rig, "desk2", &within);
    assert!(matches!(ran.code(), Some(0..=2)), "{ran}\n{}", sshd.log());
    assert_eq!(rig.requests(), 50, "{ran}");
    assert!(!sshd.gate.cache().exists(), "nothing was copied");
    let ran = load(&sshd, &other, "desk2", &within).status(2);
    let _ = ran.stderr_has("agent desk2: its owner does not allow it to load 127.0.0.1:");
    let ran =
        load(&sshd, &rig, "desk2", &["-r", "51", "--max-connections", "4", "-d", "1s"]).status(2);
    let _ = ran.stderr_has("its part is 51 a second, and its owner allows it 50");
    assert_eq!((rig.requests(), other.requests()), (50, 0));
    // Another command is not run: an agent starts, hears nothing, and ends.
    let canary = sshd.gate.path().join("canary");
    for command in ["id", &format!("touch '{}'", canary.display())] {
        let ran = sshd.ssh("desk2", command).status(0);
        assert_eq!(ran.stdout, "", "{ran}");
    }
    assert!(!canary.exists());
}

#[test]
fn a_key_whose_line_starts_another_dyno_is_told_both_programs() {
    let Some(sshd) = Sshd::start() else { return };
    let rig = Rig::new();
    let other = sshd.gate.path().join("another \"dyno\"");
    fs::copy(env!("CARGO_BIN_EXE_dyno"), &other).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&other).unwrap();
    std::io::Write::write_all(&mut file, b"x").unwrap();
    drop(file);
    sshd.lets_in(&line(
        &sshd,
        &["--allow", "127.0.0.0/8:1-65535", "--dyno", other.to_str().unwrap()],
    ));
    let ran = load(&sshd, &rig, "desk2", &["-c", "4", "-n", "50"]).status(2);
    let _ = ran.stderr_has("agent desk2: it is another build of dyno").stderr_has("SHA-256");
    assert_eq!(rig.requests(), 0);
}

#[test]
fn a_host_that_lets_nobody_in_or_is_another_or_says_nothing_is_named() {
    let Some(sshd) = free() else { return };
    let rig = Rig::new();
    let refused = |host: &str, says: &str| {
        let ran = load(&sshd, &rig, &format!("desk2,{host}"), &["-c", "4", "-n", "50"]).status(2);
        let ran = ran.stderr_has(&format!("agent {host}: ssh did not reach it: ")).stderr_has(says);
        assert!(ran.took < Duration::from_secs(40), "{ran}");
        assert_eq!(rig.requests(), 0, "{ran}");
    };
    refused("stranger", "Permission denied (publickey)");
    refused("moved", "Host key verification failed");
    refused("silent", "timed out");
}

#[test]
fn each_host_is_checked_for_itself_whatever_the_others_are() {
    let Some(sshd) = free() else { return };
    let rig = Rig::new();
    let check = ["agents", "check", "ssh:desk2,stranger,moved", "--target", "{url}/hello"];
    let ran = sshd.dyno(&rig, &check).status(2);
    let ran = ran.stdout_has("Load can come from 1 of 3 hosts.");
    assert!(ran.has_sentence("stranger cannot load: ssh did not reach it:"), "{ran}");
    assert!(ran.has_sentence("Permission denied (publickey)"), "{ran}");
    assert!(ran.has_sentence("Host key verification failed"), "{ran}");
    let json = sshd.dyno(&rig, &[&check[..], &["--json"]].concat()).status(2).json();
    let host = |at: usize| &json["hosts"][at];
    assert_eq!((&host(0)["name"], &host(0)["can_load"]), (&"desk2".into(), &true.into()), "{json}");
    assert!(100.0 < host(0)["ceiling"]["throughput_per_s"].as_f64().unwrap(), "{json}");
    assert_eq!(host(1)["can_load"], false);
    assert!(host(2)["known"].is_null() && host(2)["ceiling"].is_null());
}
