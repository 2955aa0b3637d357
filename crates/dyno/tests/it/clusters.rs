//! `dyno agents`: what it prints is read by the programs that it is for: nats-server, bash, a checker of Kubernetes' schema.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab_rig::{Lab, not_tested};

/// The keys in it are true ones, whose secret halves were thrown away.
const KEYS: &str = include_str!("../../../../carriers/nats/tests/lab.keys");
/// What dyno-nats is tested with.
const CONFIG: &str = include_str!("../../../../carriers/nats/tests/lab.conf");

const NATS_CONFIG: [&str; 6] = ["agents", "nats", "--lab", "lab", "--keys", "lab.keys"];

fn folder() -> Lab {
    let load = KEYS.replace("desk2", "load-0").replace("desk3", "load-1");
    Lab::new().file("lab.keys", KEYS).file("load.keys", &load)
}

/// A program in the usual places, or beside dyno where `.ci/needs` puts it.
fn found(name: &str, left_out: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let built = Path::new(env!("CARGO_BIN_EXE_dyno")).ancestors().nth(2).unwrap();
    let places =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), built.join("needs/python/bin")]);
    let found = places.map(|place| place.join(name)).find(|path| path.exists());
    if found.is_none() {
        not_tested(left_out, name);
    }
    found
}

#[test]
fn a_broker_s_configuration_is_the_one_that_dyno_nats_is_tested_with_and_nats_server_takes_it() {
    let lab = folder();
    let printed = lab.dyno(&[&NATS_CONFIG[..], &["--without-tls"]].concat()).status(0).stdout;
    assert_eq!(printed, CONFIG, "carriers/nats/tests/lab.conf is what this prints");
    assert!(printed.contains("accounts {") && !printed.contains("authorization"));
    let Some(server) = found("nats-server", "the broker's configuration") else { return };
    fs::write(lab.root.join("nats.conf"), printed).unwrap();
    let mut server = Command::new(server);
    let ran = server.args(["-t", "-c", "nats.conf"]).current_dir(&lab.root).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_broker_that_others_reach_has_tls_or_a_flag_that_says_it_has_none() {
    let lab = folder();
    let dyno = |flags: &[&str]| lab.dyno(&[&NATS_CONFIG[..], flags].concat());
    let open = ["--listen", "0.0.0.0:4222"];
    let _ = dyno(&open).status(2).stderr_has("give --tls-cert and --tls-key, or --without-tls");
    let _ = dyno(&[&open[..], &["--without-tls"]].concat()).status(0).stdout_has("0.0.0.0:4222");
    let tls = ["--tls-cert", "a.crt", "--tls-key", "a.key"];
    let _ = dyno(&[&open[..], &tls].concat()).status(0).stdout_has("cert_file: \"a.crt\"");
    let _ = dyno(&["--tls-cert", "a.crt"]).status(2).stderr_has("--tls-key");
}

fn k8s(lab: &Lab, flags: &[&str]) -> crate::rig::Ran {
    let usual = ["agents", "k8s", "--image", "dyno:1", "--keys", "load.keys"];
    lab.dyno(&[&usual[..], flags].concat())
}

const TWO: [&str; 7] =
    ["--agents", "2", "--allow", "10.0.0.7:80", "--", "load", "http://10.0.0.7/"];

#[test]
fn manifests_are_what_the_schema_of_kubernetes_demands() {
    let lab = folder();
    let plain = k8s(&lab, &TWO).status(0).stdout;
    let named = k8s(&lab, &[&["--namespace", "load", "--lab", "x"], &TWO[..]].concat()).status(0);
    let Some(validate) = found("kubernetes-validate", "the manifests for Kubernetes") else {
        return;
    };
    for (manifests, is_good) in [
        (plain.clone(), true),
        (named.stdout, true),
        // The checker sees what is wrong.
        (plain.replace("completionMode: Indexed", "completionMode: 7"), false),
        (plain.replace("restartPolicy: Never", "restartPolcy: Never"), false),
    ] {
        fs::write(lab.root.join("lab.yaml"), manifests).unwrap();
        for version in ["1.25", "1.33"] {
            let mut validate = Command::new(&validate);
            validate.args(["--strict", "-k", version, "lab.yaml"]).current_dir(&lab.root);
            let ran = validate.output().unwrap();
            let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.success(), is_good, "{version}: {said}");
        }
    }
}

#[test]
fn what_would_mean_something_else_where_it_is_read_is_refused() {
    let lab = folder();
    let slurm = ["agents", "slurm", "--nodes", "2"];
    let k8s = ["agents", "k8s", "--image", "dyno:1", "--keys", "load.keys", "--agents"];
    for (command, flags, says) in [
        (&slurm[..3], &["0", "--", "x"][..], "from 1 to 1,000"),
        (&slurm, &[], "COMMAND"),
        (&slurm, &["--partition", "a b", "--", "x"], "one word"),
        (&slurm, &["--time", "1h", "--", "x"], "hours:minutes:seconds"),
        (&slurm, &["--", "load", "a\nb"], "control character"),
        (&slurm, &["--lab", "A", "--", "x"], "small letters"),
        (&["agents", "nats", "--keys"], &["/dev/zero"], "--keys /dev/zero: "),
        (&NATS_CONFIG, &["--listen", "here"], "ADDRESS:PORT"),
        (&NATS_CONFIG, &["--tls-cert", "a\"b", "--tls-key", "x"], "one word"),
        (&k8s, &["3", "--allow", "10.0.0.7:80", "--", "x"], "it has no key of load-2"),
        (&k8s, &["2", "--allow", "everything", "--", "x"], "ADDRESS[/BITS]:PORT"),
        (&k8s, &["2", "--allow", "10.0.0.7:80", "--image", "a\"b", "--", "x"], "--image"),
    ] {
        let _ = lab.dyno(&[command, flags].concat()).status(2).stderr_has(says);
    }
}
