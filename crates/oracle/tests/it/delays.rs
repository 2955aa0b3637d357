//! Known delays, stalls and beats, on real sockets. Machines are noisy: answers may be late, but never early.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use oracle::Config;

use crate::{PATIENCE, check_beats, connect, plain, said, start, wait_until};

/// The delays that the answers in a text report.
fn reported_ns(text: &str) -> Vec<u64> {
    let summary = text.lines().filter_map(|line| line.strip_prefix("x-oracle-delay-ns: "));
    summary.map(|number| number.parse().expect("the oracle writes numbers")).collect()
}

#[test]
fn a_delay_is_imposed_reported_and_kept_in_the_books() {
    let delay = Some("constant:20ms".parse().unwrap());
    let oracle = start(Config { threads: 1, delay, tell_delay: true, ..Config::default() });
    let begun = Instant::now();
    let summary = reported_ns(&said(&oracle, "GET /hello HTTP/1.0\r\n\r\n"));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert!(summary.len() == 1 && summary[0] >= 20_000_000, "{summary:?}");
    let truth = oracle.stop();
    assert_eq!((truth.drawn_ns.len(), truth.served_ns.len()), (1, 1));
    assert!(truth.drawn_ns.equivalent(truth.drawn_ns.max(), 20_000_000));
    assert!(truth.served_ns.max() >= summary[0]);
}

#[test]
fn a_request_may_ask_for_its_own_delay_beside_a_wait() {
    let oracle = plain();
    let begun = Instant::now();
    let text = said(&oracle, "GET /delay/20?delay=uniform:15ms,30ms HTTP/1.0\r\n\r\n");
    assert!(begun.elapsed() >= Duration::from_millis(35));
    assert!(text.ends_with("\r\n\r\n20"), "{text}");
    assert!((15_000_000..30_100_000).contains(&oracle.stop().drawn_ns.max()));
}

#[test]
fn a_request_that_waits_holds_up_no_other() {
    let oracle = plain();
    let mut waiting = connect(&oracle);
    waiting.write_all(b"GET /hello?delay=constant:1min HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    wait_until("no request has come", || 0 < oracle.truth().requests);
    assert!(said(&oracle, "GET /hello HTTP/1.0\r\n\r\n").ends_with("Hello, world!"));
    waiting.set_nonblocking(true).unwrap();
    assert_eq!(waiting.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn the_same_seed_draws_the_same_delays() {
    let drawn = |seed| {
        let delay = Some("exponential:10us".parse().unwrap());
        let oracle = start(Config { threads: 1, delay, seed, ..Config::default() });
        said(&oracle, &"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n".repeat(50));
        oracle.stop().drawn_ns
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1), drawn(2));
}

#[test]
fn a_request_within_a_freeze_is_answered_at_its_end() {
    let stall = Some("150ms/200ms".parse().unwrap());
    let oracle = start(Config { threads: 2, stall, tell_delay: true, ..Config::default() });
    let (begun, mut delays_ms) = (Instant::now(), Vec::new());
    // Whenever the next request comes, a freeze has begun by then, or a later request will meet the next one.
    while delays_ms.iter().filter(|ms| **ms >= 50).count() < 3 {
        let summary = reported_ns(&said(&oracle, "GET /hello HTTP/1.0\r\n\r\n"));
        delays_ms.push(summary[0] / 1_000_000);
        assert!(begun.elapsed() < PATIENCE, "too few freezes were met");
    }
    let truth = oracle.stop();
    assert!(truth.served_ns.max() >= 50_000_000);
    assert!(truth.elapsed >= Duration::from_millis(350));
    assert_eq!(truth.drawn_ns.len(), 0, "a stall is no law's delay");
}

#[test]
fn a_poll_beats_on_its_schedule_for_ever() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    stream.write_all(b"GET /poll/0.01 HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map(|line| line.unwrap());
    check_beats(lines.filter(|line| line.starts_with("beat=")).take(5));
    assert!(oracle.stop().beats >= 5);
}

#[test]
fn a_poll_in_http_1_0_has_no_chunks() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    stream.write_all(b"GET /poll/0.001 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").unwrap();
    let lines: Vec<String> = BufReader::new(stream).lines().take(9).map(Result::unwrap).collect();
    assert!(lines.contains(&"Connection: close".to_owned()), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("Transfer-Encoding")));
    let body: Vec<&String> = lines.iter().skip_while(|line| !line.is_empty()).skip(1).collect();
    assert!(body.len() > 1 && body.iter().all(|line| line.starts_with("beat=")), "{lines:?}");
}
