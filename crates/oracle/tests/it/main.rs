//! The oracle over real loopback sockets. No fixed port, no sleep.

#![allow(clippy::unwrap_used)] // a test that cannot set itself up may stop there

mod answers;
mod delays;
mod faults;
mod frames;
mod h2;
mod life;
mod log;
mod queue;
mod sockets;
mod tls;
#[path = "../../../units/tests/fixture/websocket.rs"]
mod websocket;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use oracle::{Config, Listen, Oracle};
use rustix::time::{ClockId, clock_gettime};

/// Far longer than any answer takes; only a bug waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

fn start(config: Config) -> Oracle {
    Oracle::start(config).expect("loopback has a free port")
}

fn plain() -> Oracle {
    start(Config { threads: 1, ..Config::default() })
}

fn connect(oracle: &Oracle) -> TcpStream {
    let Listen::Tcp(address) = oracle.address() else { panic!("these tests use TCP") };
    let stream = TcpStream::connect(address).expect("the oracle accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("the span is not zero");
    stream.set_nodelay(true).expect("TCP has it");
    stream
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Fin,
    Reset,
    /// It had not ended after the requested number of bytes.
    More,
}

/// Reads to the end, or until there are this many bytes.
fn read_out(stream: &mut TcpStream, most: usize) -> (Vec<u8>, Ending) {
    let (mut seen, mut buffer) = (Vec::new(), [0; 16 * 1024]);
    while seen.len() < most {
        match stream.read(&mut buffer) {
            Ok(0) => return (seen, Ending::Fin),
            Ok(count) => seen.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                return (seen, Ending::Reset);
            }
            Err(error) => panic!("{error} after {}", seen.escape_ascii()),
        }
    }
    (seen, Ending::More)
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Beats from 0 on that are due every 10 ms; none of them has come early.
fn check_beats(beats: impl Iterator<Item = String>) {
    let mut before_ns = None;
    for (number, beat) in beats.enumerate() {
        let (name, due_ns) = beat.trim_end().split_once(" due_ns=").unwrap();
        let due_ns: u64 = due_ns.parse().unwrap();
        assert_eq!(name, format!("beat={number}"));
        assert!(due_ns <= now_ns(), "it came early");
        assert!(before_ns.is_none_or(|before| due_ns == before + 10_000_000));
        before_ns = Some(due_ns);
    }
}

fn wait_until(what_is_wrong: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what_is_wrong}");
        std::thread::yield_now();
    }
}

fn wait_until_no_client_is_connected(oracle: &Oracle) {
    wait_until("a connection outlives its peer", || oracle.truth().connections_open == 0);
}

/// Sends bytes, ends the client's direction, and returns all that was received, except for the dates.
fn said(oracle: &Oracle, request: &str) -> String {
    let mut stream = connect(oracle);
    stream.write_all(request.as_bytes()).expect("the oracle reads");
    // The peer may have answered, and closed, before it had read everything.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    undated(&read_out(&mut stream, 1 << 30).0)
}

/// As text, without the `Date` lines.
fn undated(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split_inclusive('\n').filter(|line| !line.starts_with("Date: ")).collect()
}
