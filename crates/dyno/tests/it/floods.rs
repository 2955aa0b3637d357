//! Servers that flood a client, measured by the memory that it ever touched.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::time::Duration;

use oracle::{Config, Fault, Protocol};

use crate::faults::complaints;
use crate::lab_rig::{Lab, SHORT};
use crate::rig::{Going, Ran, Rig, closed_port, serving};
use crate::secured_rig::Front;

/// What SECURITY.md promises of a check, whatever the server sends.
const CHECK_MAX_KIB: u64 = 200 << 10;
/// And of a load, a question and a look, most of which is dyno itself.
const OTHERS_MAX_KIB: u64 = 48 << 10;

/// What comes after a right answer on every connection, for as long as the client takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flood {
    /// The content of an answer without a length.
    Body,
    /// One head of lines that have a name of one octet and no value.
    Fields,
    /// One head of lines without a colon.
    Colonless,
    /// One head with a length of 1,000,000 members.
    Lengths,
    Interim,
    Chunks,
    /// Heads of 16 kB that stand for 48 MB of fields.
    Bombs,
    Pings,
    Settings,
    Windows,
    /// Content after the end of the answer.
    Unasked,
}

pub(crate) const FLOODS: [Flood; 11] = [
    Flood::Body,
    Flood::Fields,
    Flood::Colonless,
    Flood::Lengths,
    Flood::Interim,
    Flood::Chunks,
    Flood::Bombs,
    Flood::Pings,
    Flood::Settings,
    Flood::Windows,
    Flood::Unasked,
];

const RIGHT: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

impl Flood {
    pub(crate) fn is_http2(self) -> bool {
        FLOODS[6..].iter().any(|it| std::mem::discriminant(it) == std::mem::discriminant(&self))
    }

    /// What is sent once, and what is sent again and again.
    fn bytes(self) -> (Vec<u8>, Vec<u8>) {
        let head = b"HTTP/1.1 200 OK\r\n";
        let line =
            |line: &[u8]| [head, &line.repeat(1_900_000 / line.len())[..], b"\r\n\r\n"].concat();
        let entry = [b"\x88\x40\x01x\x7f\xa1\x1e".as_slice(), &[b'a'; 4000]].concat();
        let bomb = frame(1, 4, 1, &[&entry[..], &[0xbe; 12_000]].concat());
        let fill = |unit: &[u8]| unit.repeat(65_536 / unit.len());
        match self {
            Flood::Body => ([head, &b"\r\n"[..]].concat(), vec![b'x'; 65_536]),
            Flood::Fields => (Vec::new(), line(b"a:\r\n")),
            Flood::Colonless => (Vec::new(), line(b"a\n")),
            Flood::Lengths => {
                let commas = b",".repeat(1_000_000);
                (Vec::new(), [head, &b"Content-Length: 1"[..], &commas, b"\r\n\r\n"].concat())
            }
            Flood::Interim => (Vec::new(), fill(b"HTTP/1.1 103 A\r\na:\r\n\r\n")),
            Flood::Chunks => {
                ([head, &b"Transfer-Encoding: chunked\r\n\r\n"[..]].concat(), fill(b"1\r\nx\r\n"))
            }
            Flood::Bombs => (Vec::new(), bomb),
            Flood::Pings => (Vec::new(), fill(&frame(6, 0, 0, b"flooding"))),
            Flood::Settings => (Vec::new(), fill(&frame(4, 0, 0, b"\0\x09\0\0\0\0"))),
            Flood::Windows => (Vec::new(), fill(&frame(8, 0, 1, b"\0\0\0\x01"))),
            Flood::Unasked => (Vec::new(), fill(&frame(0, 0, 1, b""))),
        }
    }

    /// Answers the first request, and floods.
    fn serve(self, mut stream: TcpStream) -> std::io::Result<()> {
        let (mut received, mut buffer) = (Vec::new(), [0; 16 << 10]);
        if self.is_http2() {
            stream.write_all(&[frame(4, 0, 0, b""), frame(4, 1, 0, b"")].concat())?;
        }
        let is_asked = |received: &[u8]| match self.is_http2() {
            false => received.windows(4).any(|four| four == b"\r\n\r\n"),
            // A HEADERS frame on stream 1.
            true => {
                received.windows(6).any(|it| it[0] == 1 && it[1] < 64 && it[2..] == [0, 0, 0, 1])
            }
        };
        while !is_asked(&received) {
            let count = stream.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            received.extend_from_slice(&buffer[..count]);
        }
        let right = match self.is_http2() {
            true => [frame(1, 4, 1, b"\x88"), frame(0, 1, 1, b"ok")].concat(),
            false => RIGHT.to_vec(),
        };
        let (once, again) = self.bytes();
        // The endless body takes the place of a right answer.
        if matches!(self, Flood::Body | Flood::Chunks) {
            stream.write_all(&once)?;
        } else {
            stream.write_all(&[right, once].concat())?;
        }
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
        loop {
            stream.write_all(&again)?;
        }
    }
}

/// The most memory that a dyno has touched so far, in KiB; none if it has gone, or has not begun: just after a spawn, the
/// child may still show the memory of these tests.
fn touched(going: &Going) -> Option<u64> {
    let status =
        fs::read_to_string(format!("/proc/{}/status", going.pid().as_raw_nonzero())).ok()?;
    let mut lines = status.lines();
    let is_begun = lines.next()? == "Name:\tdyno";
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:")).filter(|_| is_begun)?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The command ends by itself, and touches less than so much; returns it, and what it touched, in KiB.
#[track_caller]
#[expect(clippy::print_stdout, reason = "SECURITY.md has these figures")]
fn bounded(command: Command, what: &str, most_kib: u64) -> (Ran, u64) {
    let mut going = Going::start(command);
    let mut most = 0;
    while !going.ends_within(Duration::from_millis(5)) {
        most = touched(&going).unwrap_or(0).max(most);
    }
    let ran = going.end();
    assert!(ran.code().is_some() && !ran.stderr.contains("panicked"), "{what}: {ran}");
    assert!(most < most_kib, "{what}: it touched {most} KiB\n{ran}");
    println!("{what}: {most} KiB, {:?}", ran.took);
    (ran, most)
}

/// A server with this flood.
fn flooding(flood: Flood) -> Rig {
    Rig::at(serving(Ipv4Addr::LOCALHOST, move |stream| {
        let _ = flood.serve(stream);
    }))
}

/// A check of a server with this flood.
pub(crate) fn check(flood: Flood, only: &str) -> (Ran, u64) {
    let rig = flooding(flood);
    let version = if flood.is_http2() { &["--http2"][..] } else { &[] };
    let arguments = ["check", "{url}/hello", "--rounds", "1", "--case", only];
    bounded(
        rig.command(&[&arguments[..], version].concat()),
        &format!("check, {flood:?}"),
        CHECK_MAX_KIB,
    )
}

#[test]
fn a_check_takes_at_most_200_mb_whatever_the_server_sends() {
    for flood in FLOODS {
        let only = if flood.is_http2() { "H2-F*,H2-B*,H2-C0*" } else { "H1-F*,H1-B*,H1-C*" };
        let (ran, _) = check(flood, only);
        assert_eq!(ran.code(), Some(1), "{flood:?}: {ran}");
    }
}

/// What `faults` shows of loads for faults in place of an answer holds for what comes after a right one, too.
#[test]
fn a_load_takes_at_most_48_mb_whatever_the_server_sends_after_a_right_answer() {
    let load = ["load", "-c", "4", "-d", "200ms", "--timeout", "200ms", "--no-live"];
    let _ = complaints(&FLOODS, |flood| {
        let rig = flooding(*flood);
        let version = if flood.is_http2() { &["--http2"][..] } else { &[] };
        let command = rig.command(&[&load[..], &["{url}/hello"], version].concat());
        bounded(command, &format!("load, {flood:?}"), OTHERS_MAX_KIB);
        if !flood.is_http2() {
            let front = Front::of(&rig.url("").replace("http://", ""));
            let url = front.url("/hello");
            let secured = [&load[..], &[url.as_str(), "--ca", front.ca()]].concat();
            bounded(rig.command(&secured), &format!("load within TLS, {flood:?}"), OTHERS_MAX_KIB);
        }
        None
    });
}

/// The faults of a protocol that send without end, or that stand for more than they send.
fn floods_of(protocols: &[Protocol]) -> Vec<Fault> {
    const SIGNS: [&str; 7] = ["endless", "flood", "bomb", "huge", "million", "overflow", "mib"];
    let is_flood = |fault: &&Fault| SIGNS.iter().any(|sign| fault.name.contains(sign));
    let is_meant = |fault: &&Fault| protocols.contains(&fault.protocol());
    let all: Vec<Fault> = Fault::all().iter().filter(is_flood).filter(is_meant).copied().collect();
    assert!(5 * protocols.len() < all.len(), "{all:?}");
    all
}

#[test]
fn a_question_of_the_lab_takes_at_most_48_mb_whatever_the_server_answers() {
    // Those that send until the question is out of time are left to the look of a race, which asks once.
    let is_soon_over = |it: &&Fault| {
        let lasting = ["endless-body", "endless-chunks", "empty-data", "window-overflow"];
        !lasting.iter().any(|part| it.name.contains(part))
    };
    let floods = floods_of(&[Protocol::Http1, Protocol::Http2]);
    let floods: Vec<Fault> = floods.iter().filter(is_soon_over).copied().collect();
    let wrong = complaints(&floods, |fault| {
        let rig = Rig::oracle(Config { fault: Some(*fault), ..Config::default() });
        let over = if fault.protocol() == Protocol::Http2 { ", protocol = 'h2c'" } else { "" };
        let manifest = format!("title = 'x'\nspeaks = ['hello']\nurl = '{}'\n", rig.url(""));
        let lab = Lab::new().file("subjects/here/subject.toml", &manifest);
        let lab = lab.experiment("x", &["here"], &format!("{SHORT}{over}"), "");
        let command = lab.command(&["run", "x"]);
        let (ran, _) = bounded(command, &format!("run, {}", fault.name), OTHERS_MAX_KIB);
        (lab.trials("1").len() != 1).then(|| format!("{}: {ran}", fault.name))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_first_look_of_a_race_takes_at_most_48_mb_whatever_a_side_answers() {
    let floods = floods_of(&[Protocol::Http1, Protocol::Http2, Protocol::Tls]);
    let (_held, nobody) = closed_port();
    let wrong = complaints(&floods, |fault| {
        let tls = (fault.protocol() == Protocol::Tls).then(Default::default);
        let rig = Rig::oracle(Config { fault: Some(*fault), tls, ..Config::default() });
        let authority = rig.authority_file();
        let scheme = if authority.is_some() { "https" } else { "http" };
        let other = format!("{scheme}://{nobody}/");
        let over = match (fault.protocol(), &authority) {
            (Protocol::Http2, _) => vec!["--http2"],
            (_, Some(file)) => vec!["--http2", "--ca", file.path()],
            (_, None) => Vec::new(),
        };
        let lab = Lab::new();
        let url = rig.url("/hello");
        let race = ["race", &url, &other, "--expect-body", "Hello, world!"];
        let command = lab.command(&[&race[..], &over].concat());
        let (ran, _) = bounded(command, &format!("race, {}", fault.name), OTHERS_MAX_KIB);
        let was_seen = ["its first answer: ", "it does not answer: "];
        let was_seen = was_seen.iter().any(|says| ran.stderr.contains(says));
        (ran.code() != Some(1) || !was_seen).then(|| format!("{}: {ran}", fault.name))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
