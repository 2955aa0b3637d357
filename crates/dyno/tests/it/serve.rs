//! `dyno serve`: listens, answers, and prints the truth at the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use base64::Engine as _;
use rustix::process::{Signal, kill_process};
use serde_json::Value;

use crate::folder::Folder;
use crate::rig::{Rig, pid};

/// A key that opens nothing: Ed25519 (RFC 8410, 7), of octets that are all alike.
fn key() -> String {
    let head = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let text = base64::engine::general_purpose::STANDARD.encode([&head[..], &[7; 32]].concat());
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}

/// A `dyno serve` that listens.
pub(crate) struct Serving {
    pub(crate) child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl Serving {
    /// Of a child whose standard output is a pipe.
    pub(crate) fn of(mut child: Child) -> Serving {
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = line.strip_prefix("listening on ").unwrap().trim().into();
        Serving { child, stdout, url }
    }

    /// Interrupts it; returns its output except the first line.
    pub(crate) fn end(mut self) -> String {
        kill_process(pid(&self.child), Signal::INT).unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        rest
    }
}

/// Starts the oracle, sends requests, interrupts it; returns its output except the first line.
pub(crate) fn served(flags: &[&str], press: impl FnOnce(&str)) -> String {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_dyno"));
    serve.args(["serve", "--threads", "1"]).args(flags);
    let child = serve.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let serving = Serving::of(child);
    press(&serving.url);
    serving.end()
}

pub(crate) fn load(url: &str, flags: &[&str]) -> Value {
    let nowhere = Rig::nowhere();
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
    let folder = Folder::new();
    served(&["--listen", &format!("unix:{}", folder.path("socket"))], |url| {
        assert_eq!(load(&format!("{url}:/hello"), &["-n", "5", "-c", "1"])["books"]["correct"], 5);
    });
}

#[test]
fn a_data_set_is_listed_with_totals() {
    let (_folder, file) = Folder::with("items.json", r#"[{"price": 3, "quantity": 7}]"#);
    let listed = r#"{"count":1,"items":[{"total":42,"price":3,"quantity":7}]}"#;
    served(&["--listen", "127.0.0.1:0", "--dataset", &file], |url| {
        let flags = ["-n", "4", "-c", "1", "--expect-body", listed];
        assert_eq!(load(&format!("{url}/json/1?m=2"), &flags)["books"]["correct"], 4);
    });
}

#[test]
fn what_is_burnt_for_an_answer_is_counted_and_timed() {
    let burns = ["--burn", "parse:50us,sort:0us,hash:60us/64", "--calls", "3"];
    let truth = served(&[&["--listen", "127.0.0.1:0", "--json"], &burns[..]].concat(), |url| {
        load(&format!("{url}/hello"), &["-n", "200", "-c", "1"]);
    });
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let counted = |at: usize| {
        let burn = &truth["burns"][at];
        (burn["function"].as_str().unwrap(), burn["calls"].as_u64(), burn["timed"].as_u64())
    };
    assert_eq!(counted(0), ("parse", Some(200), Some(4)));
    assert_eq!(counted(1), ("sort", Some(200), Some(4)));
    assert_eq!(counted(2), ("hash", Some(4), Some(4)));
    let mean_ns = |at: usize| truth["burns"][at]["mean_ns"].as_f64().unwrap();
    assert!(10.0 * mean_ns(1) < mean_ns(0) && 0.0 < mean_ns(2), "{truth}");
    assert_eq!(truth["getppid_calls"], 600);
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
fn http_2_is_served_and_its_streams_are_written_down() {
    let folder = Folder::new();
    let log = ["--stream-log", &folder.path("streams.csv")];
    let flags = [&["--listen", "127.0.0.1:0", "--json"], &log[..]].concat();
    let truth = served(&flags, |url| {
        let mut stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
        // The preface, SETTINGS, and GET / on stream 1.
        let said = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84";
        stream.write_all(said).unwrap();
        let is_answered = |seen: &[u8]| seen.windows(5).any(|part| part == [1, 5, 0, 0, 0]);
        let mut seen = Vec::new();
        while !is_answered(&seen) {
            let mut buffer = [0; 1000];
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "no answer in {}", seen.escape_ascii());
            seen.extend_from_slice(&buffer[..count]);
        }
    });
    let truth: Value = serde_json::from_str(&truth).unwrap();
    assert_eq!((&truth["answers"], &truth["handshakes_full"]), (&1.into(), &0.into()));
    let text = folder.read("streams.csv");
    let (head, line) = text.trim_end().split_once('\n').unwrap();
    assert_eq!(head, "client_port,stream,request_ended_ns,answer_ended_ns");
    let numbers: Vec<u64> = line.split(',').map(|number| number.parse().unwrap()).collect();
    assert!(numbers.len() == 4 && numbers[1] == 1 && numbers[2] <= numbers[3], "{line}");
}

#[test]
fn tls_is_served_with_a_certificate_that_can_be_trusted_or_refused_with_the_way_out() {
    let (folder, key) = Folder::with("key.pem", key());
    let authority = folder.path("ca.pem");
    served(&["--listen", "127.0.0.1:0", "--tls", "1.3", "--ca-out", &authority], |url| {
        assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    });
    let pem = folder.read("ca.pem");
    assert!(pem.starts_with("-----BEGIN CERTIFICATE-----\n"), "{pem}");
    let refused = |flags: &[&str], words: &str| {
        let all = [&["serve", "--listen", "127.0.0.1:0"], flags].concat();
        Rig::nowhere().refuses(&all, &[words]);
    };
    refused(&["--tls", "--cert", &authority, "--key", &key], "do not go together");
    refused(&["--tls", "--cert", &key, "--key", &key], "the certificate cannot be read");
    refused(
        &["--tls", "--cert", &authority, "--key", &authority],
        "it has no private key in PEM form",
    );
    refused(&["--tls", "--cert", &authority], "--key");
    refused(&["--tls", "--cert", &folder.path("none.pem"), "--key", &key], "none.pem");
    refused(&["--tls", "1.1"], "1.2 or 1.3");
    refused(&["--ca-out", &authority], "--tls");
    refused(&["--tls", "--ca-out", &folder.path("none/ca.pem")], "no such directory");
    refused(&["--fault", "tls-expired"], "add --tls");
    refused(&["--fault", "h2-mute", "--http", "1.1"], "leave --http 1.1 out");
    refused(&["--http", "3"], "1.1 or 2");
    refused(&["--streams", "0"], "write a number from 1 to 1000000");
    refused(&["--h2-window", "2GiB"], "1 to 2147483647 bytes");
    refused(&["--h2-window", "0"], "1 to 2147483647 bytes");
    refused(&["--http", "1.1", "--streams", "5"], "--streams is for HTTP/2");
}

#[test]
fn the_faults_are_listed() {
    let rig = Rig::nowhere();
    let ran = rig.dyno(&["serve", "--list-faults"]).status(0).stdout_has("cut-body");
    assert_eq!(ran.stdout.lines().count(), oracle::Fault::all().len());
}
