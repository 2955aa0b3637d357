//! HTTP/2, with frames written and read by hand: what is on the wire, faults included.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use expect_test::expect_file;
use oracle::{Config, Fault, HttpVersions, Oracle, Protocol};
use units::rfc9113::{
    CONTINUATION, DATA, GOAWAY, HEADERS, KINDS, PING, PREFACE, SETTINGS, WINDOW_UPDATE,
};

use crate::{connect, plain, start, wait_until, wait_until_no_client_is_connected};

/// An answer of more than this is taken to be endless.
const ENOUGH: usize = 96 * 1024;

/// What came: a frame, or the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Frame(u8, u8, u32, Vec<u8>),
    /// The head of a frame that would be too long: what follows is not read.
    Lie(Vec<u8>),
    Fin,
    Reset,
}

/// A connection whose every frame is ours.
pub(crate) struct Raw {
    stream: TcpStream,
    bytes: Vec<u8>,
    taken: usize,
}

pub(crate) fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let length = &(payload.len() as u32).to_be_bytes()[1..];
    [length, &[kind, flags], &id.to_be_bytes(), payload].concat()
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// A GET as a block of fields: by places of the static table, and a literal path.
pub(crate) fn get(path: &str) -> Vec<u8> {
    [b"\x82\x86\x04", &[path.len() as u8][..], path.as_bytes()].concat()
}

impl Raw {
    pub(crate) fn begin(oracle: &Oracle, settings: &[u8]) -> Raw {
        let mut raw = Raw { stream: connect(oracle), bytes: Vec::new(), taken: 0 };
        raw.send(PREFACE);
        raw.send(&frame(SETTINGS, 0, 0, settings));
        raw
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // The peer may have ended the connection.
        let _ = self.stream.write_all(bytes);
    }

    fn request(&mut self, id: u32, path: &str) {
        self.send(&frame(HEADERS, 5, id, &get(path)));
    }

    fn next(&mut self) -> Seen {
        loop {
            let bytes = &self.bytes[self.taken..];
            if let Some((head, rest)) = bytes.split_at_checked(9) {
                let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
                if length > 1 << 20 {
                    return Seen::Lie(bytes[..bytes.len().min(30)].to_vec());
                }
                if rest.len() >= length {
                    let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
                    let seen = Seen::Frame(head[3], head[4], id, rest[..length].to_vec());
                    self.taken += 9 + length;
                    return seen;
                }
            }
            let mut buffer = [0; 16 * 1024];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Seen::Fin,
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Seen::Reset,
                Err(error) => panic!("{error} after {} bytes", bytes.len()),
            }
        }
    }

    /// Reads up to the end, to so many bytes, or to a frame of which this is true; all of them.
    pub(crate) fn until(&mut self, is_last: impl Fn(&Seen) -> bool) -> Vec<Seen> {
        let mut all = Vec::new();
        loop {
            let seen = self.next();
            let ends = is_last(&seen) || matches!(seen, Seen::Fin | Seen::Reset | Seen::Lie(_));
            all.push(seen);
            if ends || self.taken > ENOUGH {
                return all;
            }
        }
    }

    /// What answers a stream, up to its end or the connection's.
    fn answer(&mut self, of: u32) -> Vec<Seen> {
        self.until(|seen| matches!(seen, Seen::Frame(DATA | HEADERS, 1 | 5, id, _) if *id == of))
    }
}

fn ends(seen: &[Seen]) -> Vec<u32> {
    let end = |seen: &Seen| match seen {
        Seen::Frame(DATA | HEADERS, flags, id, _) if flags & 1 == 1 => Some(*id),
        _ => None,
    };
    seen.iter().filter_map(end).collect()
}

fn shown(seen: &Seen) -> String {
    let (kind, flags, id, payload) = match seen {
        Seen::Frame(kind, flags, id, payload) => (kind, flags, id, payload),
        Seen::Lie(octets) => return format!("no frame: {}", octets.escape_ascii()),
        Seen::Fin | Seen::Reset => return format!("{seen:?}"),
    };
    let name =
        KINDS.get(usize::from(*kind)).map_or(format!("{kind:#x}"), |name| (*name).to_owned());
    // The head of a right answer has a date; cut into octets, each of them is a part of it.
    let is_plain = payload.starts_with(b"\0") && !payload.windows(3).any(|three| three == b"GMT");
    let payload = match *kind {
        HEADERS if payload.len() > 20 && !is_plain => "…".to_owned(),
        CONTINUATION if payload.len() == 1 && *flags == 0 => "one octet".to_owned(),
        CONTINUATION if payload.len() == 1 => "an octet".to_owned(),
        _ => payload.escape_ascii().to_string(),
    };
    let cut: String = payload.chars().take(60).collect();
    format!("{name} {flags:#x} {id} {cut}{}", if cut.len() < payload.len() { "…" } else { "" })
}

/// Frames in lines; equal ones are counted, and those of the greeting left out.
fn summary(seen: &[Seen]) -> String {
    let mut text = String::new();
    let lines: Vec<String> = seen.iter().map(shown).collect();
    for same in lines.chunk_by(|a, b| a == b) {
        let times =
            if same.len() > 20 { " many times".into() } else { format!(" {} times", same.len()) };
        let times = if same.len() == 1 { String::new() } else { times };
        writeln!(text, "    {}{times}", same[0]).unwrap();
    }
    text
}

/// Waits until the oracle has begun the fault: its first frames are out by then.
fn wait_for_faults(oracle: &Oracle, faults: u64) {
    wait_until("no fault has begun", || faults <= oracle.truth().faults);
}

/// These send a beginning, and go on only after a long time, if ever.
const STUCK: [&str; 5] =
    ["h2-mute", "h2-stalled-body", "h2-drip-body", "h2-goaway-open", "h2-endless-body"];

#[test]
fn each_fault_of_a_stream_is_as_described() {
    let oracle = plain();
    let mut text = String::new();
    let faults = Fault::all().iter().filter(|fault| fault.fits_a_stream());
    for (number, fault) in faults.filter(|fault| fault.shows_at_hello()).enumerate() {
        let mut raw = Raw::begin(&oracle, &[]);
        raw.until(|seen| *seen == Seen::Frame(SETTINGS, 1, 0, vec![]));
        raw.request(1, &format!("/hello?fault={}", fault.name));
        wait_for_faults(&oracle, number as u64 + 1);
        let mut seen = if STUCK.contains(&fault.name) {
            raw.send(&frame(PING, 0, 0, b"are you?"));
            raw.until(|seen| *seen == Seen::Frame(PING, 1, 0, b"are you?".to_vec()))
        } else if fault.name == "h2-rst" {
            // It comes a little later than what precedes it.
            raw.until(|_| false)
        } else {
            raw.request(3, "/user/3");
            raw.answer(3)
        };
        let served = ends(&seen).contains(&3);
        seen.retain(|seen| !matches!(seen, Seen::Frame(PING, 1, ..) | Seen::Frame(_, _, 3, _)));
        let serves = if served { ", then serves" } else { "" };
        writeln!(text, "{}: {}{serves}", fault.name, fault.about).unwrap();
        text.push_str(&summary(&seen));
    }
    expect_file!["frames/streams.txt"].assert_eq(&text);
}

#[test]
fn each_fault_of_a_connection_is_as_described() {
    let mut text = String::new();
    let of_connections =
        |fault: &&Fault| fault.protocol() == Protocol::Http2 && !fault.fits_a_stream();
    for fault in Fault::all().iter().filter(of_connections) {
        let oracle = start(Config { threads: 1, fault: Some(*fault), ..Config::default() });
        let mut raw = Raw::begin(&oracle, &[]);
        let mut seen = Vec::new();
        wait_for_faults(&oracle, 1);
        // One after the other, so that what waits for requests has its place among the answers.
        for id in (1..=21).step_by(2) {
            if fault.name.starts_with("h2-silence")
                || matches!(seen.last(), Some(Seen::Fin | Seen::Reset | Seen::Lie(_)))
            {
                break;
            }
            raw.request(id, "/user/1");
            seen.extend(raw.until(|seen| match seen {
                Seen::Frame(DATA | HEADERS, 1 | 5, of, _) => *of == id,
                seen => matches!(seen, Seen::Frame(GOAWAY, ..)),
            }));
            let has_left = |seen: &Seen| matches!(seen, Seen::Frame(GOAWAY, ..));
            if raw.taken > ENOUGH || seen.iter().any(has_left) {
                break;
            }
        }
        if fault.name == "h2-silence-after-settings" {
            seen.push(raw.next());
        }
        writeln!(text, "{}: {}", fault.name, fault.about).unwrap();
        let answers = seen.iter().filter(|seen| matches!(seen, Seen::Frame(HEADERS, ..))).count();
        let acknowledgement = Seen::Frame(SETTINGS, 1, 0, vec![]);
        let is_acknowledged = seen.contains(&acknowledgement);
        // Where in a flood it comes is left to chance.
        seen.retain(|seen| {
            !matches!(seen, Seen::Frame(HEADERS | DATA, ..)) && *seen != acknowledgement
        });
        text.push_str(&summary(&seen));
        if !is_acknowledged && answers == 11 {
            text.push_str("    no acknowledgement\n");
        }
        writeln!(text, "    {answers} answers of 11").unwrap();
    }
    expect_file!["frames/connections.txt"].assert_eq(&text);
}

#[test]
fn endless_faults_of_streams_wait_for_a_peer_that_does_not_read_and_end_with_it() {
    let oracle = plain();
    let mut raws = Vec::new();
    let endless = ["h2-endless-body", "h2-window-overflow", "h2-continuation-flood", "h2-mute"];
    for (number, name) in endless.iter().enumerate() {
        let mut raw = Raw::begin(&oracle, &[]);
        raw.request(1, &format!("/hello?fault={name}"));
        wait_for_faults(&oracle, number as u64 + 1);
        raws.push(raw);
    }
    let mut other = Raw::begin(&oracle, &[]);
    other.request(1, "/hello");
    assert_eq!(ends(&other.answer(1)), [1]);
    drop((raws, other));
    wait_until_no_client_is_connected(&oracle);
}

fn content(seen: &[Seen]) -> String {
    let data = |seen: &Seen| match seen {
        Seen::Frame(DATA, _, _, payload) => String::from_utf8_lossy(payload).into_owned(),
        _ => String::new(),
    };
    seen.iter().map(data).collect()
}

#[test]
fn content_waits_for_both_windows() {
    let oracle = plain();
    let mut raw = Raw::begin(&oracle, &setting(4, 5));
    raw.request(1, "/hello");
    let seen = raw.until(|seen| matches!(seen, Seen::Frame(DATA, ..)));
    assert_eq!(content(&seen), "Hello");
    // A refusal is written whole as long as there is a window for its reason, and else without it.
    raw.request(7, "/hello?delay=soon");
    assert!(matches!(raw.answer(7).as_slice(), [Seen::Frame(HEADERS, 5, 7, _)]));
    // Another stream is served meanwhile.
    raw.request(9, "/user/abc");
    assert_eq!(content(&raw.answer(9)), "abc");
    raw.send(&frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 2]));
    assert_eq!(content(&raw.until(|seen| matches!(seen, Seen::Frame(DATA, ..)))), ", ");
    // SETTINGS open the windows of streams that wait.
    raw.send(&frame(SETTINGS, 0, 0, &setting(4, 100)));
    assert_eq!(content(&raw.answer(1)), "world!");
    // The connection's window is 65,535: 20 of it are used.
    raw.send(&frame(SETTINGS, 0, 0, &setting(4, 1 << 20)));
    let path = format!("/?value={}", "a".repeat(100));
    let size = "<http_test><value></value></http_test>".len() + 100;
    let fitting = (65_535 - 16) / size;
    for at in 0..=fitting {
        raw.request(11 + 2 * at as u32, &path);
    }
    let seen = raw.answer(11 + 2 * fitting as u32 - 2);
    raw.send(&frame(PING, 0, 0, b"and now?"));
    let more = raw.until(|seen| *seen == Seen::Frame(PING, 1, 0, b"and now?".to_vec()));
    assert_eq!(
        content(&seen).len() + content(&more).len(),
        65_535 - 16,
        "all of the window, and no more"
    );
    raw.send(&frame(WINDOW_UPDATE, 0, 0, &[0, 0, 255, 255]));
    assert_eq!(ends(&raw.answer(11 + 2 * fitting as u32)).last(), Some(&(11 + 2 * fitting as u32)));
}

#[test]
fn the_preface_may_come_octet_by_octet_and_only_first() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    for byte in
        [PREFACE, &frame(SETTINGS, 0, 0, b""), &frame(HEADERS, 5, 1, &get("/hello"))].concat()
    {
        stream.write_all(&[byte]).unwrap();
    }
    let mut raw = Raw { stream, bytes: Vec::new(), taken: 0 };
    assert_eq!(content(&raw.answer(1)), "Hello, world!");
    let late = crate::said(
        &oracle,
        &format!("GET / HTTP/1.1\r\nHost: h\r\n\r\n{}", String::from_utf8_lossy(PREFACE)),
    );
    assert!(late.contains("HTTP/1.1 505 "), "{late}");
    let only = |http| start(Config { threads: 1, http, ..Config::default() });
    let refused = crate::said(&only(HttpVersions::Http1), &String::from_utf8_lossy(PREFACE));
    assert!(refused.starts_with("HTTP/1.1 505 "), "{refused}");
    let oracle = only(HttpVersions::Http2);
    let mut raw = Raw { stream: connect(&oracle), bytes: Vec::new(), taken: 0 };
    raw.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    let seen = raw.until(|seen| matches!(seen, Seen::Frame(GOAWAY, ..)));
    assert!(matches!(&seen[0], Seen::Frame(SETTINGS, 0, 0, _)), "{seen:?}");
    let why = |payload: &[u8]| payload.ends_with(b"the preface of HTTP/2 was expected");
    assert!(
        matches!(seen.last(), Some(Seen::Frame(GOAWAY, 0, 0, payload)) if why(payload)),
        "{seen:?}"
    );
    raw.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(raw.next(), Seen::Fin);
}
