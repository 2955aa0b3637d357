//! The queue and the limit of the rate on real sockets. What they do in simulated time is tested in src/queue. Machines are
//! noisy: an answer may be late, but never early, and no request waits for much longer than theory allows.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use oracle::{Config, Oracle, Queue, StartError, TlsConfig};
use tokio::task::JoinSet;

use crate::h2::{self, wait_for};
use crate::{connect, said, start, tls, wait_until};

/// So many servers, each service 20 ms, for as many threads.
fn counter(servers: u32) -> Config {
    let queue = Queue { servers, ..Queue::of("constant:20ms".parse().unwrap()) };
    Config { threads: 4, queue: Some(queue), ..Config::default() }
}

/// The status of each answer to so many requests of HTTP/2 at once, on one connection.
fn streams(oracle: &Oracle, count: usize) -> Vec<u16> {
    wait_for(async {
        let client = h2::connect(h2::address(oracle)).await;
        let mut all = JoinSet::new();
        for _ in 0..count {
            let client = client.clone();
            all.spawn(async move { h2::send(&client, "GET", "/hello", b"").await.unwrap().status });
        }
        all.join_all().await
    })
}

#[test]
fn all_connections_threads_and_versions_share_one_queue() {
    for (servers, rounds) in [(1, 9), (3, 3)] {
        let oracle = start(counter(servers));
        let begun = Instant::now();
        thread::scope(|scope| {
            for _ in 0..5 {
                let text = || said(&oracle, "GET /hello HTTP/1.0\r\n\r\n");
                scope.spawn(move || assert!(text().ends_with("Hello, world!")));
            }
            assert_eq!(streams(&oracle, 4), [200; 4]);
        });
        assert!(begun.elapsed() >= Duration::from_millis(20 * rounds), "{servers} servers");
        let truth = oracle.stop();
        assert_eq!((truth.drawn_ns.len(), truth.waited_ns.len()), (9, 9));
        assert!(truth.drawn_ns.equivalent(truth.drawn_ns.max(), 20_000_000));
        // And what a thread may be stopped for after it has noted a request. Two servers would let one wait for 80 ms.
        let most_ns = truth.waited_ns.highest_equivalent(20_000_000 * (rounds - 1) + 30_000_000);
        assert!(truth.waited_ns.max() <= most_ns, "nobody waits for longer: {truth}");
    }
}

#[test]
fn requests_within_tls_wait_in_the_queue_too() {
    let oracle = start(Config { tls: Some(Arc::new(TlsConfig::default())), ..counter(1) });
    let config = tls::client(&oracle, &["http/1.1"]);
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..4 {
            let secured = || tls::said(&mut tls::secured(&oracle, &config), "/hello");
            scope.spawn(move || assert!(secured().unwrap().ends_with("Hello, world!")));
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(80));
    assert_eq!(oracle.stop().waited_ns.len(), 4);
}

#[test]
fn a_request_whose_client_has_gone_away_is_served_all_the_same() {
    let oracle = start(counter(1));
    let begun = Instant::now();
    let mut gone = connect(&oracle);
    gone.write_all(b"GET /hello?delay=constant:150ms HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    wait_until("no request has come", || 0 < oracle.truth().requests);
    drop(gone);
    assert!(said(&oracle, "GET /hello HTTP/1.0\r\n\r\n").ends_with("Hello, world!"));
    assert!(begun.elapsed() >= Duration::from_millis(170), "{:?}", begun.elapsed());
    assert_eq!(oracle.stop().drawn_ns.len(), 2, "its own law is the law of its service");
}

/// The times of service that so many threads give to forty requests.
fn drawn(threads: usize, seed: u64) -> hdrhistogram::Histogram<u64> {
    let queue = Queue { seed, ..Queue::of("exponential:100us".parse().unwrap()) };
    let oracle = start(Config { threads, queue: Some(queue), ..Config::default() });
    for _ in 0..40 {
        said(&oracle, "GET /hello HTTP/1.0\r\n\r\n");
    }
    oracle.stop().drawn_ns
}

#[test]
fn which_thread_reads_a_request_changes_no_service() {
    assert_eq!(drawn(1, 5), drawn(4, 5));
    assert_ne!(drawn(1, 5), drawn(1, 6));
}

#[test]
fn a_fault_waits_for_its_turn() {
    let oracle = start(counter(1));
    let begun = Instant::now();
    said(&oracle, "GET /hello?fault=wrong-body HTTP/1.1\r\nHost: h\r\n\r\n");
    assert!(begun.elapsed() >= Duration::from_millis(20));
    assert_eq!(oracle.stop().faults, 1);
}

#[test]
fn what_is_beyond_the_limit_is_answered_503_at_once_and_the_connection_goes_on() {
    let limited = || {
        let limit = Some("0.001,2".parse().unwrap());
        let fault = Some("wrong-body".parse().unwrap());
        let queue = Queue { servers: 2, ..Queue::of("constant:10ms".parse().unwrap()) };
        start(Config { rate_limit: limit, fault, queue: Some(queue), ..Config::default() })
    };
    let oracle = limited();
    let text = said(&oracle, &"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n".repeat(5));
    let states: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(states, ["200", "200", "503", "503", "503"], "{text}");
    assert!(text.ends_with("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"));
    let truth = oracle.stop();
    assert_eq!((truth.limited, truth.answers, truth.faults), (3, 5, 2));
    assert_eq!(
        (truth.served_ns.len(), truth.drawn_ns.len()),
        (0, 2),
        "faults are no right answers"
    );
    assert!(truth.to_string().contains("  limited    3\n"), "{truth}");

    let oracle = limited();
    let mut states = streams(&oracle, 5);
    states.sort_unstable();
    assert_eq!(states, [200, 200, 503, 503, 503]);
    let truth = oracle.stop();
    assert_eq!((truth.limited, truth.answers, truth.served_ns.len()), (3, 5, 2));
}

#[test]
fn a_queue_that_cannot_be_is_refused() {
    let queue = Some(Queue::of("constant:0".parse().unwrap()));
    let error = Oracle::start(Config { queue, ..Config::default() }).unwrap_err();
    assert!(matches!(error, StartError::Queue(_)), "{error}");
}
