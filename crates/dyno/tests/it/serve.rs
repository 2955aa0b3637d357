//! `dyno serve`: listens, answers, and prints the truth at the end.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::rig::{Rig, pid};

/// Starts the oracle, sends requests, interrupts it; returns its output except the first line.
fn served(flags: &[&str], press: impl FnOnce(&str)) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dyno"))
        .args(["serve", "--threads", "1"])
        .args(flags)
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    press(line.strip_prefix("listening on ").unwrap().trim());
    end(&mut child);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    rest
}

fn end(child: &mut Child) {
    kill_process(pid(child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn load(url: &str, flags: &[&str]) -> Value {
    let nowhere = Rig::at("127.0.0.1:9".parse().unwrap());
    nowhere.dyno(&[&["load", url, "--json", "--no-live"], flags].concat()).json()
}

#[test]
fn the_truth_is_printed_at_the_end() {
    let truth = served(&["--listen", "127.0.0.1:0", "--json", "--delay", "constant:2ms"], |url| {
        load(&format!("{url}/hello"), &["-n", "50", "-c", "1"]);
    });
    let truth: Value = serde_json::from_str(&truth).unwrap();
    assert_eq!((&truth["requests"], &truth["answers"]), (&50.into(), &50.into()));
    assert_eq!(truth["imposed"]["count"], 50);
    let median = truth["imposed"]["p50_ns"].as_u64().unwrap();
    assert!((1_990_000..20_000_000).contains(&median), "{median}");
    assert!(truth["imposed"]["histogram"].as_str().unwrap().starts_with("HISTFAAAA"));
    let text = served(&["--listen", "127.0.0.1:0"], |_| {});
    assert!(text.contains("requests     0") && !text.contains("how many answers"), "{text}");
    let text = served(&["--listen", "127.0.0.1:0", "--delay", "constant:2ms"], |url| {
        load(&format!("{url}/hello"), &["-n", "50", "-c", "1"]);
    });
    assert!(text.contains("served, how many answers took how long"), "{text}");
    assert!(text.contains("2.00 ms"), "{text}");
}

#[test]
fn it_serves_a_root_a_fault_and_a_unix_socket() {
    served(&["--listen", "127.0.0.1:0", "--root", "hello"], |url| {
        let json = load(url, &["-n", "5", "-c", "1", "--expect-body", "Hello, world!"]);
        assert_eq!(json["books"]["correct"], 5);
    });
    served(&["--listen", "127.0.0.1:0", "--fault", "wrong-body", "--fault-rate", "1"], |url| {
        let flags = ["-n", "5", "-c", "1", "--expect-body", "Hello, world!"];
        let json = load(&format!("{url}/hello"), &flags);
        assert_eq!(json["books"]["by_class"]["content.mismatch"], 5);
    });
    let path = std::env::temp_dir().join(format!("dyno-serve-{}.sock", std::process::id()));
    served(&["--listen", &format!("unix:{}", path.display())], |url| {
        assert_eq!(load(&format!("{url}:/hello"), &["-n", "5", "-c", "1"])["books"]["correct"], 5);
    });
}

#[test]
fn what_others_can_reach_is_noted() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_dyno"))
        .args(["serve", "--threads", "1", "--listen", "0.0.0.0:0", "--until-stdin-ends"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("other machines can reach this"), "{line}");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0), "it ends with standard input");
}

#[test]
fn the_faults_are_listed() {
    let rig = Rig::at("127.0.0.1:9".parse().unwrap());
    let ran = rig.dyno(&["serve", "--list-faults"]).status(0).stdout_has("cut-body");
    assert_eq!(ran.stdout.lines().count(), oracle::Fault::all().len());
}
