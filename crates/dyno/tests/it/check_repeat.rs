//! What a reader copies from a check: the command that sends a finding's bytes again, and the issue.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::rig::{Rig, serving};

/// It answers the first bytes of each connection with this, and notes all that comes until the client closes.
fn noting(answer: &'static [u8]) -> (Rig, Arc<Mutex<BTreeSet<Vec<u8>>>>) {
    let noted: Arc<Mutex<BTreeSet<Vec<u8>>>> = Arc::default();
    let notes = Arc::clone(&noted);
    let address = serving(Ipv4Addr::LOCALHOST, move |stream| note(stream, answer, &notes));
    (Rig::at(address), noted)
}

fn note(mut stream: TcpStream, answer: &[u8], notes: &Mutex<BTreeSet<Vec<u8>>>) {
    let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        if all.is_empty() {
            let _ = stream.write_all(answer);
        }
        all.extend_from_slice(&bytes[..count]);
        // A client that resets the connection leaves no end behind.
        notes.lock().unwrap().insert(all.clone());
    }
}

const LENIENT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const HOSTILE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Length: 24\r\nX: \x1b[2J```\r\n\r\n```\n</code>$(rm x) `id` 1";

/// What the command sends to `nc`, which here is a function that only writes.
fn sent_by(command: &str) -> Vec<u8> {
    let script = format!("nc() {{ cat; }}; {command}");
    let ran = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert!(ran.status.success() && ran.stderr.is_empty(), "{command}");
    ran.stdout
}

#[test]
fn the_printed_command_sends_the_same_bytes() {
    let (rig, noted) = noting(LENIENT);
    let ran =
        rig.dyno(&["check", "{url}/", "--case", "H1-H*,H1-R*,H1-L*", "--rounds", "1"]).status(1);
    let commands: Vec<&str> =
        ran.stdout.lines().filter(|line| line.starts_with("  printf ")).collect();
    assert!(8 < commands.len(), "{ran}");
    let noted = noted.lock().unwrap();
    for command in commands {
        let sent = sent_by(command);
        assert!(noted.contains(&sent), "{command}\n{}", sent.escape_ascii());
        let port = rig.url("").rsplit(':').next().unwrap().to_string();
        assert!(command.ends_with(&format!(" | nc -w 3 127.0.0.1 {port}")), "{command}");
    }
}

#[test]
fn a_case_that_bytes_alone_do_not_repeat_says_so() {
    let (rig, _) = noting(LENIENT);
    let ran = rig.dyno(&["check", "{url}/", "--case", "H1-M*,H1-A*", "--rounds", "1", "--full"]);
    let _ = ran.stdout_has("repeat    printf and nc do not repeat it: it waits for an answer");
}

#[test]
fn an_issue_says_what_was_sent_what_came_what_is_demanded_and_how_to_repeat_it() {
    let (rig, noted) = noting(HOSTILE);
    let ran = rig.dyno(&["check", "{url}/", "--issue", "h1-h02", "--rounds", "1"]).status(1);
    let command = ran.stdout.lines().find(|line| line.starts_with("printf ")).unwrap().to_string();
    assert!(noted.lock().unwrap().contains(&sent_by(&command)), "{command}");
    // Every line of the server's is code by its indent, and nothing of it can be obeyed.
    let of_server = |line: &&str| line.contains("</code>") || line.contains("[2J");
    let lines: Vec<&str> = ran.stdout.lines().filter(of_server).collect();
    assert!(2 <= lines.len() && lines.iter().all(|line| line.starts_with("    ")), "{ran}");
    let ran = ran
        .stdout_has("## two different Host lines: 200")
        .stdout_has("[RFC 9112, 3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2), MUST")
        .stdout_has("**What was sent**\n\n    GET / HTTP/1.1\\r\\n\n")
        .stdout_has("\n    HTTP/1.1 200 OK\\r\\n\n")
        .stdout_has("**What would be right**: 400")
        .stdout_has("A failure can be used for: smuggling.");
    let _ = ran.stdout_lacks("\x1b").stdout_has("Found by dyno ").stdout_has(", case H1-H02, ");
}

#[test]
fn where_nothing_is_broken_there_is_no_issue() {
    let ran = Rig::new().dyno(&["check", "{url}/hello", "--issue", "H1-B01", "--rounds", "1"]);
    let ran = ran.status(0).stderr_has("H1-B01 passes: there is nothing to report");
    assert_eq!(ran.stdout, "");
}
