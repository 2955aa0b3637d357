//! WebSockets, with requests and frames written by hand.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up may stop there

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use expect_test::expect;
use oracle::{Config, Fault, Oracle, Queue};

use crate::{
    Ending, PATIENCE, check_beats, connect, plain, read_out, said, start, undated, websocket,
};

const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
/// The proof that RFC 6455 gives for that key.
const PROOF: &str = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

const TEXT: u8 = 0x81;
const BINARY: u8 = 0x82;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;

/// One frame: its first byte and its payload.
type Frame = (u8, Vec<u8>);

fn open(oracle: &Oracle, target: &str) -> TcpStream {
    let mut stream = connect(oracle);
    stream.write_all(request(target, UPGRADE).as_bytes()).unwrap();
    let head = read_head(&mut stream);
    assert!(head.starts_with("HTTP/1.1 101 ") && head.contains(PROOF), "{head}");
    stream
}

fn request(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: h\r\n{fields}\r\n")
}

fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    websocket::frame(first, Some([1, 2, 3, 4]), payload)
}

fn say(stream: &mut TcpStream, first: u8, payload: &[u8]) {
    stream.write_all(&frame(first, payload)).unwrap();
}

fn hear(stream: &mut TcpStream) -> Frame {
    let mut header = [0; 2];
    stream.read_exact(&mut header).unwrap();
    let more = match header[1] {
        126 => 2,
        127 => 8,
        length => {
            assert!(length < 126, "a server does not mask");
            0
        }
    };
    let mut digits = vec![0; more];
    stream.read_exact(&mut digits).unwrap();
    let long = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
    let mut payload = vec![0; if more == 0 { header[1].into() } else { long }];
    stream.read_exact(&mut payload).unwrap();
    (header[0], payload)
}

fn hear_text(stream: &mut TcpStream) -> String {
    let (first, payload) = hear(stream);
    assert_eq!(first, TEXT, "{}", payload.escape_ascii());
    String::from_utf8(payload).unwrap()
}

/// The code of the Close, after which the connection ends.
fn close_code(stream: &mut TcpStream) -> Option<u16> {
    let (first, payload) = hear(stream);
    assert_eq!((first, read_out(stream, 1)), (CLOSE, (Vec::new(), Ending::Fin)));
    payload.try_into().ok().map(u16::from_be_bytes)
}

#[test]
fn a_handshake_is_agreed_to_with_nothing_else_and_asked_for() {
    let oracle = plain();
    let fields = format!(
        "{UPGRADE}Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Protocol: chat\r\n"
    );
    let upgrades = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
    let agreed = format!("HTTP/1.1 101 Switching Protocols\r\n{upgrades}{PROOF}\r\n");
    assert_eq!(said(&oracle, &request("/wsecho", &fields)), agreed);
    let needed = format!(
        "HTTP/1.1 426 Upgrade Required\r\nContent-Type: text/plain\r\n{upgrades}Sec-WebSocket-Version: 13\r\n\
         Content-Length: 32\r\n\r\nhere is a WebSocket, version 13\n"
    );
    assert_eq!(said(&oracle, &request("/wspoll/1", "")), needed);
}

#[test]
fn status_codes() {
    let oracle = plain();
    let status = |line: &str, fields: &str| {
        let text = said(&oracle, &format!("{line}\r\nHost: h\r\n{fields}\r\n"));
        text[9..12].to_owned()
    };
    let version_8 = UPGRADE.replace("13", "8");
    let two_keys = format!("{UPGRADE}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    assert_eq!(status("GET /wsroom HTTP/1.1", UPGRADE), "101");
    assert_eq!(status("GET /wsroom HTTP/1.1", &version_8), "426");
    assert_eq!(status("GET /wsroom HTTP/1.1", &two_keys), "400");
    assert_eq!(status("POST /wsroom HTTP/1.1", UPGRADE), "405");
    assert_eq!(status("HEAD /wsecho HTTP/1.1", UPGRADE), "405");
    assert_eq!(status("GET /wspoll/0 HTTP/1.1", UPGRADE), "404");
    assert_eq!(status("GET /wspoll/1?late=soon HTTP/1.1", UPGRADE), "400");
    assert_eq!(status("GET /poll/1?beats=some HTTP/1.1", ""), "400");
    assert_eq!(status("GET /hello HTTP/1.1", UPGRADE), "200");
    assert_eq!(status("GET /hello?fault=ws-masked HTTP/1.1", ""), "400");
    assert_eq!(status("GET /wsecho?fault=ws-masked HTTP/1.1", ""), "400");
}

#[test]
fn an_echo_gives_back_what_it_was_sent() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    // What is sent before the handshake is answered is received after it.
    let early = [request("/wsecho", UPGRADE).into_bytes(), frame(TEXT, b"early")].concat();
    stream.write_all(&early).unwrap();
    read_head(&mut stream);
    assert_eq!(hear(&mut stream), (TEXT, b"early".to_vec()));
    say(&mut stream, BINARY, b"\xff\0");
    assert_eq!(hear(&mut stream), (BINARY, b"\xff\0".to_vec()));
    say(&mut stream, 0x01, b"in two ");
    say(&mut stream, PING, b"between");
    say(&mut stream, 0x80, b"pieces");
    assert_eq!(hear(&mut stream), (PONG, b"between".to_vec()));
    assert_eq!(hear(&mut stream), (TEXT, b"in two pieces".to_vec()));
    say(&mut stream, CLOSE, b"\x0f\xa0bye");
    assert_eq!(close_code(&mut stream), Some(4000));
    let truth = oracle.stop();
    assert_eq!((truth.messages, truth.answers), (3, 1));
    assert!(truth.resources.contains(&("wsecho", 1)));
}

#[test]
fn a_message_of_16_mib_comes_back_and_a_longer_one_is_refused() {
    let oracle = plain();
    let mut stream = open(&oracle, "/wsecho");
    let much: Vec<u8> = (0..16 << 20).map(|at: u32| (at >> 8) as u8).collect();
    say(&mut stream, BINARY, &much);
    assert_eq!(hear(&mut stream), (BINARY, much));
    stream.write_all(&frame(BINARY, &vec![0; (16 << 20) + 1])[..14]).unwrap();
    assert_eq!(close_code(&mut stream), Some(1009));
}

#[test]
fn what_must_not_be_said_ends_the_connection_with_its_code() {
    let oracle = plain();
    let code = |bytes: &[u8]| {
        let mut stream = open(&oracle, "/wspoll/1000?stops=0");
        stream.write_all(bytes).unwrap();
        close_code(&mut stream)
    };
    assert_eq!(code(b"\x81\x02Hi"), Some(1002), "it is not masked");
    assert_eq!(code(&frame(TEXT, b"\xc3\x28")), Some(1007));
    assert_eq!(code(&frame(CLOSE, b"")), None);
}

#[test]
fn a_poll_beats_on_its_schedule_and_hears_the_client() {
    let oracle = plain();
    let mut stream = open(&oracle, "/wspoll/0.01");
    check_beats((0..5).map(|_| hear_text(&mut stream)));
    say(&mut stream, PING, b"there?");
    say(&mut stream, TEXT, b"no reader");
    say(&mut stream, CLOSE, b"\x03\xe8");
    let heard: Vec<Frame> = std::iter::repeat_with(|| hear(&mut stream))
        .filter(|(first, _)| *first != TEXT)
        .take(2)
        .collect();
    assert_eq!(heard, [(PONG, b"there?".to_vec()), (CLOSE, b"\x03\xe8".to_vec())]);
    assert!(oracle.stop().beats >= 5);
}

#[test]
fn beats_may_end_or_stop() {
    let oracle = plain();
    let mut ends = open(&oracle, "/wspoll/0.001?beats=3");
    assert!((0..3).all(|number| hear_text(&mut ends).starts_with(&format!("beat={number} "))));
    assert_eq!(close_code(&mut ends), Some(1000));
    let mut stops = open(&oracle, "/wspoll/0.001?stops=2");
    assert!((0..2).all(|number| hear_text(&mut stops).starts_with(&format!("beat={number} "))));
    // The connection is alive, and sends nothing more by itself.
    say(&mut stops, PING, b"p");
    assert_eq!(hear(&mut stops).0, PONG);
    let text = heard(
        &oracle,
        "GET /poll/0.001?beats=2 HTTP/1.1\r\nHost: h\r\n\r\nGET /user/7 HTTP/1.0\r\n\r\n",
    );
    assert!(text.contains("beat=1 ") && !text.contains("beat=2 "), "{text}");
    assert!(text.contains("0\r\n\r\nHTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n7"), "{text}");
    assert_eq!(oracle.stop().beats, 7);
}

/// All that is received until the oracle ends the connection.
fn heard(oracle: &Oracle, requests: &str) -> String {
    let mut stream = connect(oracle);
    stream.write_all(requests.as_bytes()).unwrap();
    undated(&read_out(&mut stream, usize::MAX).0)
}

#[test]
fn beats_are_as_late_as_the_law_says_and_the_books_know() {
    let late = Some("constant:30ms".parse().unwrap());
    let oracle = start(Config { threads: 1, late, ..Config::default() });
    let begun = Instant::now();
    let mut stream = open(&oracle, "/wspoll/0.01?beats=3");
    assert!(hear_text(&mut stream).starts_with("beat=0 "));
    assert!(begun.elapsed() >= Duration::from_millis(30));
    assert_eq!((hear_text(&mut stream).len() > 8, hear_text(&mut stream).len() > 8), (true, true));
    heard(&oracle, "GET /poll/0.01?beats=2&late=uniform:1ms,9ms HTTP/1.0\r\n\r\n");
    let truth = oracle.stop();
    assert_eq!((truth.beats, truth.late_ns.len()), (5, 5));
    assert!((1_000_000..9_100_000).contains(&truth.late_ns.min()));
    assert!(truth.late_ns.equivalent(truth.late_ns.max(), 30_000_000));
    assert!(truth.to_string().contains("\nlate "));
}

#[test]
fn what_one_says_in_the_room_all_hear_on_every_thread() {
    let oracle = start(Config { threads: 3, ..Config::default() });
    let mut all: Vec<TcpStream> = (0..12).map(|_| open(&oracle, "/wsroom")).collect();
    let mut elsewhere = open(&oracle, "/wsecho");
    for said in ["one", "two", "three"] {
        say(&mut all[5], TEXT, said.as_bytes());
        assert!(all.iter_mut().all(|stream| hear_text(stream) == said));
    }
    say(&mut all[0], BINARY, b"no text");
    assert_eq!(close_code(&mut all[0]), Some(1003));
    say(&mut all[1], TEXT, b"four");
    assert!(all[1..].iter_mut().all(|stream| hear_text(stream) == "four"));
    say(&mut elsewhere, TEXT, b"mine");
    assert_eq!(hear_text(&mut elsewhere), "mine");
    let truth = oracle.stop();
    assert_eq!((truth.spread, truth.spread_skipped), (12 * 3 + 11, 0));
}

#[test]
fn a_client_that_does_not_read_in_the_room_does_without() {
    let oracle = start(Config { threads: 2, ..Config::default() });
    let (deaf, mut talker) = (open(&oracle, "/wsroom"), open(&oracle, "/wsroom"));
    let text = vec![b'x'; 60_000];
    let begun = Instant::now();
    while oracle.truth().spread_skipped == 0 {
        say(&mut talker, TEXT, &text);
        assert_eq!(hear(&mut talker).1.len(), text.len());
        assert!(begun.elapsed() < PATIENCE, "nothing was ever skipped");
    }
    drop(deaf);
    say(&mut talker, TEXT, b"still there");
    assert_eq!(hear_text(&mut talker), "still there");
}

#[test]
fn an_oracle_with_a_delay_a_queue_or_a_stall_keeps_its_sockets_too() {
    let (law, stall) = ("constant:10ms".parse().unwrap(), "20ms/60ms".parse().unwrap());
    let stalled = Config { threads: 1, stall: Some(stall), ..Config::default() };
    let delayed = Config { delay: Some(law), ..stalled.clone() };
    let queued = Config { queue: Some(Queue::of(law)), ..stalled };
    for config in [delayed, queued] {
        let oracle = start(config);
        let begun = Instant::now();
        let mut stream = open(&oracle, "/wsecho");
        assert!(begun.elapsed() >= Duration::from_millis(10));
        for number in 0..50_u8 {
            say(&mut stream, BINARY, &[number]);
            assert_eq!(hear(&mut stream), (BINARY, vec![number]));
        }
    }
}

#[test]
fn every_fault_of_sockets_is_as_described() {
    let oracle = plain();
    let mut summary = String::new();
    for fault in Fault::all().iter().filter(|fault| fault.fits_a_socket()) {
        let mut stream = connect(&oracle);
        let target = format!("/wspoll/1000?stops=0&fault={}", fault.name);
        stream.write_all(request(&target, UPGRADE).as_bytes()).unwrap();
        // Whatever the fault is, the oracle notices that the client closes.
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let (seen, ending) = read_out(&mut stream, 8 * 1024);
        let text = undated(&seen).replace("HTTP/1.1 101 Switching Protocols", "101");
        let text = text.replace(PROOF, "PROOF\r\n");
        let text = text.replace("Upgrade: websocket\r\nConnection: Upgrade\r\n", "UPGRADE\r\n");
        let (head, _) = text.split_once("\r\n\r\n").unwrap();
        let at = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
        let frames = &seen[at..seen.len().min(at + 16)];
        let (head, frames) = (head.escape_default(), frames.escape_ascii());
        summary += &format!("{}: {head} [{frames}] {ending:?}\n", fault.name);
    }
    assert_eq!(oracle.stop().faults, summary.lines().count() as u64);
    expect![[r#"
        ws-wrong-accept: 101\r\nUPGRADE\r\nSec-WebSocket-Accept: 3pPLMBiTxaQ9kYGzzhZRbK+xOo=s [] Fin
        ws-no-accept: 101\r\nUPGRADE [] Fin
        ws-200: HTTP/1.1 200 OK\r\nUPGRADE\r\nPROOF [] Fin
        ws-no-upgrade: 101\r\nPROOF [] Fin
        ws-extension: 101\r\nSec-WebSocket-Extensions: permessage-deflate\r\nUPGRADE\r\nPROOF [] Fin
        ws-subprotocol: 101\r\nSec-WebSocket-Protocol: chat\r\nUPGRADE\r\nPROOF [] Fin
        ws-masked: 101\r\nUPGRADE\r\nPROOF [\x81\x82\x01\x02\x03\x04Ik] Fin
        ws-reserved-bit: 101\r\nUPGRADE\r\nPROOF [\xc1\x02Hi] Fin
        ws-reserved-opcode: 101\r\nUPGRADE\r\nPROOF [\x83\x02Hi] Fin
        ws-long-length: 101\r\nUPGRADE\r\nPROOF [\x81~\x00\x02Hi] Fin
        ws-negative-length: 101\r\nUPGRADE\r\nPROOF [\x82\x7f\x80\x00\x00\x00\x00\x00\x00\x02Hi] Fin
        ws-control-126: 101\r\nUPGRADE\r\nPROOF [\x89~\x00~pppppppppppp] Fin
        ws-fragmented-ping: 101\r\nUPGRADE\r\nPROOF [\t\x01p\x80\x01p] Fin
        ws-continuation: 101\r\nUPGRADE\r\nPROOF [\x80\x02Hi] Fin
        ws-text-within-text: 101\r\nUPGRADE\r\nPROOF [\x01\x02Hi\x81\x02Hi] Fin
        ws-lying-length: 101\r\nUPGRADE\r\nPROOF [\x81dHello, wor] Fin
        ws-ping-flood: 101\r\nUPGRADE\r\nPROOF [\x89\x04ping\x89\x04ping\x89\x04pi] More
        ws-endless-fragments: 101\r\nUPGRADE\r\nPROOF [\x02\x01a\x00\x01a\x00\x01a\x00\x01a\x00\x01a\x00] More
        ws-empty-fragments: 101\r\nUPGRADE\r\nPROOF [\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00] More
        ws-huge-message: 101\r\nUPGRADE\r\nPROOF [\x82\x7f\x00\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x00\x00\x00] More
        ws-bad-utf8: 101\r\nUPGRADE\r\nPROOF [\x81\x04Hi\xc3(] Fin
        ws-close-1005: 101\r\nUPGRADE\r\nPROOF [\x88\x02\x03\xed] Fin
        ws-close-half: 101\r\nUPGRADE\r\nPROOF [\x88\x01\x03] Fin
        ws-cut: 101\r\nUPGRADE\r\nPROOF [] Fin
        ws-silent: 101\r\nUPGRADE\r\nPROOF [] Fin
    "#]].assert_eq(&summary);
}
