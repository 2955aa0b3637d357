//! The truth about each stream of HTTP/2: none is missing, none is there twice, and its instants are true.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;

use oracle::{Config, Oracle, Reply, StreamTimes};
use rustix::net::sockopt::set_socket_recv_buffer_size;
use units::rfc9113::{DATA, GOAWAY, HEADERS, PREFACE, RST_STREAM, SETTINGS};

use crate::frames::{Raw, Seen, frame, get};
use crate::{connect, now_ns, start, wait_until, wait_until_no_client_is_connected};

/// So many answers with a field of this size are more than the kernel's buffers hold.
const ANSWERS: u32 = 3_000;
const FIELD: usize = 5_000;

/// What is known of the streams once this is true of it.
fn once(oracle: &Oracle, is_enough: impl Fn(&[StreamTimes]) -> bool) -> Vec<StreamTimes> {
    let mut all = Vec::new();
    wait_until("the streams are others", || {
        all = oracle.streams();
        all.sort_unstable_by_key(|times| (times.peer_port, times.stream));
        is_enough(&all)
    });
    all
}

/// Each stream, with whether END_STREAM of its request came and that of its answer left.
fn shown(all: &[StreamTimes]) -> Vec<(u32, bool, bool)> {
    let ends = |times: &StreamTimes| {
        (times.stream, times.request_ended_ns.is_some(), times.answer_ended_ns.is_some())
    };
    all.iter().map(ends).collect()
}

fn post(id: u32, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, 4, id, &[b"\x83\x86\x84", block].concat())
}

#[test]
fn each_stream_has_one_line_however_it_ends() {
    let config = Config { threads: 1, streams: 3, log_streams: true, ..Config::default() };
    let oracle = start(config);
    let ask = |id, path: &str| frame(HEADERS, 5, id, &get(path));
    let cancel = |id| frame(RST_STREAM, 0, id, &[0, 0, 0, 8]);
    let mut raw = Raw::begin(&oracle, &[]);
    let ended = [
        // Answered; reset by the client before the body is whole, and after.
        ask(1, "/hello"),
        post(3, b""),
        cancel(3),
        ask(5, "/hello?delay=constant:1min"),
        cancel(5),
        // Malformed: no path; less content than announced, and more; trailers that do not end the stream.
        frame(HEADERS, 5, 7, b"\x82\x86"),
        post(9, b"\x0f\x0d\x012"),
        frame(DATA, 1, 9, b"a"),
        frame(HEADERS, 5, 11, b"\x83\x86\x84\x0f\x0d\x012"),
        post(13, b""),
        frame(HEADERS, 4, 13, b"\x00\x01a\x01b"),
        // A request is refused with an answer before its body has come.
        post(15, b"\x0f\x0d\x0899999999"),
        // Struck by faults: one ends the stream, one resets it.
        ask(17, "/hello?fault=h2-length-short"),
        ask(19, "/hello?fault=h2-reset-cancel"),
        // Beats, which end.
        ask(21, "/poll/0.001?beats=3"),
    ];
    raw.send(&ended.concat());
    let answered =
        |all: &[StreamTimes]| all.iter().filter(|of| of.answer_ended_ns.is_some()).count();
    let all = once(&oracle, |all| all.len() == 11 && answered(all) == 4);
    let mut expected = vec![
        (1, true, true),
        (3, false, false),
        (5, true, false),
        (7, true, false),
        (9, true, false),
        (11, true, false),
        (13, false, false),
        (15, false, true),
        (17, true, true),
        (19, true, false),
        (21, true, true),
    ];
    assert_eq!(shown(&all), expected);
    // Three wait for their answers, and the next is one too many.
    let waiting = [23, 25, 27, 29].map(|id| ask(id, "/hello?delay=constant:1min"));
    raw.send(&waiting.concat());
    let all = once(&oracle, |all| 15 <= all.len());
    expected.extend([23, 25, 27, 29].map(|id| (id, true, false)));
    assert_eq!(shown(&all), expected, "while three of them are open");
    // Their connection is lost: they are there once, as before.
    drop(raw);
    wait_until_no_client_is_connected(&oracle);
    assert_eq!(shown(&once(&oracle, |_| true)), expected);
}

#[test]
fn a_stream_beyond_the_last_of_a_goaway_has_a_line() {
    let oracle = start(Config { threads: 1, log_streams: true, ..Config::default() });
    let mut raw = Raw::begin(&oracle, &[]);
    raw.send(&frame(HEADERS, 5, 1, &get("/hello?fault=h2-goaway-open")));
    raw.until(|seen| matches!(seen, Seen::Frame(GOAWAY, ..)));
    raw.send(&frame(HEADERS, 5, 3, &get("/hello")));
    let all = once(&oracle, |all| all.len() == 2);
    assert_eq!(shown(&all), [(1, true, false), (3, true, false)]);
}

/// An answer that the kernel has no room for has not left, whatever was written of it.
#[test]
fn an_answer_ends_when_the_kernel_has_taken_its_last_octet() {
    let oracle = generous(Config::default());
    let client = connect(&oracle);
    receives_little(&client);
    answers_leave_when_there_is_room(&oracle, &client);
}

/// Answers every request with one frame: a field that no table of HPACK has room for, and no content.
pub(crate) fn generous(config: Config) -> Oracle {
    let head = format!("HTTP/1.1 200 OK\r\nx-large: {}\r\n\r\n", "x".repeat(FIELD));
    let reply = Some(Reply::parse(head.as_bytes()).unwrap().into());
    start(Config { threads: 1, log_streams: true, reply, ..config })
}

pub(crate) fn receives_little(client: &TcpStream) {
    set_socket_recv_buffer_size(client, 64 << 10).unwrap();
}

/// A client that requests much and reads nothing: what then waits in the oracle leaves when it reads.
pub(crate) fn answers_leave_when_there_is_room(oracle: &Oracle, mut client: impl Read + Write) {
    let mut says = [PREFACE, &frame(SETTINGS, 0, 0, b"")].concat();
    (0..ANSWERS).for_each(|n| says.extend(frame(HEADERS, 5, 2 * n + 1, &get("/"))));
    let begun_ns = now_ns();
    client.write_all(&says).unwrap();
    let waits = |of: &&StreamTimes| of.answer_ended_ns.is_none();
    // Nothing leaves any more: the kernel has no room.
    let before = Cell::new(0);
    let is_full = |_: &[StreamTimes]| {
        let taken = oracle.truth().bytes_out;
        FIELD as u64 * 10 < taken && before.replace(taken) == taken
    };
    let waiting = once(oracle, is_full);
    let left = waiting.iter().filter(|of| !waits(of)).count() as u64;
    assert!(0 < left && left < u64::from(ANSWERS), "{left}");
    let left_until_ns = waiting.iter().filter_map(|of| of.answer_ended_ns).max().unwrap();
    let mut buffer = vec![0; 64 << 10];
    while oracle.truth().answers < u64::from(ANSWERS) {
        assert!(0 < client.read(&mut buffer).unwrap());
    }
    let all = once(oracle, |all| all.iter().filter(waits).count() == 0);
    assert_eq!(all.len(), ANSWERS as usize);
    let (now_ns, whole) = (now_ns(), oracle.truth().bytes_out);
    // All answers are of one size.
    assert!(left * whole <= before.get() * u64::from(ANSWERS), "{left} left in {}", before.get());
    for of in &all {
        let (came_ns, ended_ns) = (of.request_ended_ns.unwrap(), of.answer_ended_ns.unwrap());
        assert!([begun_ns, came_ns, ended_ns, now_ns].is_sorted(), "{of:?}");
        let waited = waiting.iter().any(|before| before.stream == of.stream && waits(&before));
        assert!(!waited || left_until_ns <= ended_ns, "{of:?}");
    }
}
