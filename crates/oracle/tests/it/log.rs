//! The truth about each stream of HTTP/2: none is missing, none is there twice, and its instants are true.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use oracle::{Config, Oracle, Reply, StreamTimes};
use rustix::net::sockopt::set_socket_recv_buffer_size;
use rustix::time::{ClockId, clock_gettime};

use crate::frames::{
    DATA, GOAWAY, HEADERS, PREFACE, RST_STREAM, Raw, SETTINGS, Seen, WINDOW_UPDATE, frame, get,
    setting,
};
use crate::{PATIENCE, connect, start};

/// More than the kernel's buffers hold.
const LARGE: usize = 16 << 20;
const INITIAL_WINDOW_SIZE: u16 = 4;

fn instant_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What is known of the streams once this is true of it.
fn once(oracle: &Oracle, is_enough: impl Fn(&[StreamTimes]) -> bool) -> Vec<StreamTimes> {
    let begun = Instant::now();
    loop {
        let mut all = oracle.streams();
        all.sort_unstable_by_key(|times| (times.peer_port, times.stream));
        if is_enough(&all) {
            return all;
        }
        assert!(begun.elapsed() < PATIENCE, "{all:?}");
        std::thread::yield_now();
    }
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
    ];
    raw.send(&ended.concat());
    let answered =
        |all: &[StreamTimes]| all.iter().filter(|of| of.answer_ended_ns.is_some()).count();
    let all = once(&oracle, |all| all.len() == 10 && answered(all) == 3);
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
    ];
    assert_eq!(shown(&all), expected);
    // Three wait for their answers, and the next is one too many.
    let waiting = [21, 23, 25, 27].map(|id| ask(id, "/hello?delay=constant:1min"));
    raw.send(&waiting.concat());
    let all = once(&oracle, |all| 14 <= all.len());
    expected.extend([21, 23, 25, 27].map(|id| (id, true, false)));
    assert_eq!(shown(&all), expected, "while three of them are open");
    // Their connection is lost: they are there once, as before.
    drop(raw);
    let begun = Instant::now();
    while oracle.truth().connections_open > 0 {
        assert!(begun.elapsed() < PATIENCE, "the connection is still open");
        std::thread::yield_now();
    }
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
    let oracle = large(Config::default());
    let client = connect(&oracle);
    receives_little(&client);
    leaves_when_it_is_read(&oracle, &client);
}

/// Answers every request with more than the kernel takes at once.
pub(crate) fn large(config: Config) -> Oracle {
    let head = b"HTTP/1.1 200 OK\r\n\r\n";
    let reply = Reply::parse(&[&head[..], &vec![0; LARGE]].concat()).unwrap();
    start(Config { threads: 1, log_streams: true, reply: Some(reply.into()), ..config })
}

pub(crate) fn receives_little(client: &TcpStream) {
    set_socket_recv_buffer_size(client, 64 << 10).unwrap();
}

/// The answer to the only request has not left until its client has read most of it.
pub(crate) fn leaves_when_it_is_read(oracle: &Oracle, mut client: impl Read + Write) {
    let window = (0x7fff_ffff_u32 - 65_535).to_be_bytes();
    let begins = [
        PREFACE,
        &frame(SETTINGS, 0, 0, &setting(INITIAL_WINDOW_SIZE, 0x7fff_ffff)),
        &frame(WINDOW_UPDATE, 0, 0, &window),
        &frame(HEADERS, 5, 1, &get("/")),
    ];
    client.write_all(&begins.concat()).unwrap();
    let mut buffer = vec![0; 64 << 10];
    // Its beginning has come: the oracle has written as much as the kernel takes.
    let mut count = 0;
    while count < 1_000 {
        count += client.read(&mut buffer).unwrap();
    }
    let all = once(oracle, |all| all.len() == 1);
    assert_eq!(shown(&all), [(1, true, false)]);
    let reading_ns = instant_ns();
    while count < LARGE {
        count += client.read(&mut buffer).unwrap();
    }
    let all = once(oracle, |all| all[0].answer_ended_ns.is_some());
    let [times] = all[..] else { panic!("{all:?}") };
    let ended_ns = times.answer_ended_ns.unwrap();
    let instants = [times.request_ended_ns.unwrap(), reading_ns, ended_ns, instant_ns()];
    assert!(instants.is_sorted(), "{instants:?}");
}
