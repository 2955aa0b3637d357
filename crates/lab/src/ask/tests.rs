//! Verdicts on the oracle's answers, and on servers that answer at odd times.

use super::*;
use crate::workload::tests::read as read_workload;
use oracle::{Config, Oracle};
use std::io::{Read, Write};

/// The verdict on the oracle's answer to an ask, which is given in time.
fn check(fault: Option<&str>, keys: &str) -> Option<String> {
    check_within(Duration::from_secs(20), fault, keys)
}

/// The verdict on the oracle's answer to an ask that must be answered within this time.
fn check_within(limit: Duration, fault: Option<&str>, keys: &str) -> Option<String> {
    let config = Config { fault: fault.map(|name| name.parse().unwrap()), ..Config::default() };
    let oracle = Oracle::start(config).unwrap();
    let oracle::Listen::Tcp(address) = *oracle.address() else { panic!("not TCP") };
    let workload = read_workload(&format!("title = 'x'\n[[ask]]\n{keys}")).unwrap();
    let values = Values { seq: 0, random: 7 };
    let check = ask(address.into(), &workload.questions[0], values, Phase::Before, limit);
    let is_socket = keys.contains("websocket") || keys.contains("echo =");
    let is_compared = check.wrong.is_none() && !is_socket;
    assert_eq!(is_compared, check.digest.is_some());
    assert!(!check.request.is_empty());
    let _ = oracle.stop();
    check.wrong
}

/// What a short limit finds is one of these words. A busy machine may keep the oracle waiting for as long as the limit, or
/// for longer than a beat, but not each time.
#[track_caller]
fn is_said(words: &str, limit_ms: u64, fault: Option<&str>, keys: &str) {
    let limit = Duration::from_millis(limit_ms);
    let said: Vec<_> = (0..5)
        .map(|_| check_within(limit, fault, keys).unwrap_or_default())
        .take_while(|says| !says.contains(words))
        .collect();
    assert!(said.len() < 5, "{said:?}");
}

const ECHO: &str = "request = 'GET /?value={random:4} HTTP/1.1'\n\
                    body = '<http_test><value>{random:4}</value></http_test>'";

#[test]
fn a_server_that_never_reads_a_large_request_does_not_outlast_the_deadline() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    // More than the sender's buffer and so small a receiver's hold.
    rustix::net::sockopt::set_socket_recv_buffer_size(&listener, 4_096).unwrap();
    let body = "x".repeat(16 << 20);
    let text = format!("title = 'x'\n[[ask]]\nrequest = 'POST / HTTP/1.1'\nsend = '{body}'");
    let workload = read_workload(&text).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let (values, limit) = (Values { seq: 0, random: 7 }, Duration::from_millis(300));
        let question = &workload.questions[0];
        let _ = sender.send(ask(address.into(), question, values, Phase::Before, limit).wrong);
    });
    let (_peer, _) = listener.accept().unwrap();
    let wrong = receiver.recv_timeout(Duration::from_secs(60)).expect("it ends");
    assert_eq!(wrong.as_deref(), Some("the request could not be sent: timed out"));
}

#[test]
fn a_right_answer_is_right() {
    assert_eq!(check(None, ECHO), None);
}

#[test]
fn a_wrong_answer_is_said_with_what_came_and_what_was_expected() {
    let wrong = |keys| check(None, keys).unwrap();
    assert_eq!(wrong("request = 'GET /nowhere HTTP/1.1'"), "status 404; 2xx was expected");
    assert_eq!(
        wrong("request = 'GET /hello HTTP/1.1'\nbody = 'Hello'"),
        "the body is `Hello, world!`; `Hello` was expected"
    );
    let long = format!("request = 'GET /hello HTTP/1.1'\nbody = 'Hello, {}'", "wörld".repeat(30));
    assert!(
        wrong(&long).contains("; the bodies differ after 8 equal bytes: `Hello, world!` came, ")
    );
    assert_eq!(
        wrong("request = 'GET /hello HTTP/1.1'\nheader = { content-type = 'text/xml' }"),
        "content-type: `text/plain` came, `text/xml` was expected"
    );
}

#[test]
fn a_stream_is_heard_until_it_has_beaten_often_enough() {
    let poll = |path: &str, status| {
        format!(
            "request = 'GET {path} HTTP/1.1'\nstatus = {status}\n\
             stream = {{ chunks = 3, every = '50ms' }}"
        )
    };
    let is_right = |path| (0..5).any(|_| check(None, &poll(path, 200)).is_none());
    assert!(is_right("/poll/0.05") && is_right("/poll/0.05?late=uniform:0,15ms"));
    is_said("s apart", 20_000, None, &poll("/poll/0.1", 200));
    is_said("s apart", 20_000, None, &poll("/poll/0.01", 200));
    assert!(check(None, &poll("/poll/0.05", 201)).unwrap().starts_with("status 200;"));
    assert!(check(None, &poll("/hello", 200)).unwrap().contains("should never end"));
    is_said("1 of 3 chunks", 500, None, &poll("/poll/9", 200));
}

#[test]
fn a_beat_is_judged_over_all_messages_and_not_by_when_each_was_read() {
    let every = Duration::from_secs(1);
    let stream = Stream { chunks: 3, every, over: Default::default() };
    let sent = Instant::now();
    let judge = |ms: &[u64]| {
        let beats: Vec<Instant> = ms.iter().map(|ms| sent + Duration::from_millis(*ms)).collect();
        judge_beat(sent, &beats, stream, "chunks").is_ok()
    };
    assert!(judge(&[5, 1_005, 2_005]));
    assert!(judge(&[305, 1_000, 2_290]) && judge(&[300, 1_200, 2_000]), "30 % late");
    assert!(judge(&[1_005, 1_005, 2_005]) && judge(&[5, 2_005, 2_005]), "two in one read");
    assert!(judge(&[2_300, 2_300, 2_300]), "all of them lay unread");
    assert!(!judge(&[5, 2_005, 4_005]), "twice the beat");
    assert!(!judge(&[5, 505, 1_005]), "half of it");
    assert!(!judge(&[5, 5, 5]), "all at once");
    assert!(judge(&[5]) && judge(&[]));
}

/// The verdict on a server that sends the messages of its answers so far apart, answer by answer.
fn paced(answers: Vec<u64>) -> Option<String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let text = "title = 'x'\n[[ask]]\nrequest = 'GET / HTTP/1.1'\nstream = { chunks = 3, every = '300ms' }";
    let workload = read_workload(text).unwrap();
    std::thread::spawn(move || {
        for apart in answers {
            let (mut peer, _) = listener.accept().unwrap();
            let _ = peer.read(&mut [0; 1_000]);
            let _ = peer.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for _ in 0..3 {
                let _ = peer.write_all(b"1\r\nx\r\n");
                std::thread::sleep(Duration::from_millis(apart));
            }
        }
    });
    let (values, limit) = (Values { seq: 0, random: 7 }, Duration::from_secs(9));
    ask(address.into(), &workload.questions[0], values, Phase::Before, limit).wrong
}

#[test]
fn a_beat_that_was_kept_waiting_once_is_listened_to_again() {
    let late = std::thread::spawn(|| paced(vec![900, 900, 900]));
    assert_eq!(paced(vec![900, 900, 300]), None, "the third time it was right");
    let says = late.join().unwrap().expect("it was wrong each time");
    assert!(says.contains("s apart on average"), "{says}");
}

#[test]
fn a_websocket_is_heard_until_it_has_said_enough() {
    let poll = |path: &str| {
        format!(
            "request = 'GET {path} HTTP/1.1'\n\
             stream = {{ chunks = 3, every = '50ms', over = 'websocket' }}"
        )
    };
    assert!((0..5).any(|_| check(None, &poll("/wspoll/0.05")).is_none()));
    is_said("texts are ", 20_000, None, &poll("/wspoll/0.1"));
    is_said("1 of 3 texts", 500, None, &poll("/wspoll/9"));
    let ends = check(None, &poll("/wspoll/0.05?beats=2")).unwrap();
    assert!(ends.contains("closed the WebSocket"), "{ends}");
    let no = check(None, &poll("/hello")).unwrap();
    assert_eq!(no, "the WebSocket handshake is wrong: ws.not_switched");
}

#[test]
fn what_is_said_on_a_websocket_must_come_back() {
    let echo =
        |target: &str| format!("request = 'GET {target} HTTP/1.1'\necho = 'dyno-{{random:8}}'");
    assert_eq!(check(None, &echo("/wsecho")), None);
    let beats = check(None, &echo("/wspoll/0.05")).unwrap();
    // Its first text arrives before or after dyno has sent its message.
    let is_told = ["a message came that is not an echo", "was said, and text `beat="];
    assert!(is_told.iter().any(|words| beats.contains(words)), "{beats}");
    let silent = "0 of 2 messages came back within 0.5 s";
    is_said(silent, 500, Some("ws-silent"), &echo("/wsecho"));
    let ends = check(None, &echo("/wspoll/1?beats=0")).unwrap();
    assert!(ends.contains("closed the WebSocket"), "{ends}");
    let no = check(None, &echo("/hello")).unwrap();
    assert_eq!(no, "the WebSocket handshake is wrong: ws.not_switched");
}

#[test]
fn every_fault_of_the_oracles_ends_before_the_deadline_with_a_word() {
    let of_others = [oracle::Protocol::Http2, oracle::Protocol::Tls];
    let faults = oracle::Fault::all().iter();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for fault in faults.filter(|fault| !of_others.contains(&fault.protocol())) {
            scope.spawn(|| {
                let _ = check_within(Duration::from_millis(500), Some(fault.name), ECHO);
                // A hang would take longer, however busy the machine is.
                assert!(began.elapsed() < Duration::from_secs(30), "{}", fault.name);
            });
        }
    });
}

#[test]
fn an_answer_that_has_not_waited_is_wrong_in_a_check_too() {
    let hello = "request = 'GET /hello HTTP/1.1'\nbody = 'Hello, world!'";
    let wrong = check(None, &format!("{hello}\nwait = '10s'")).unwrap();
    assert!(wrong.ends_with("ms after it was asked; it is to come after 10000 ms"), "{wrong}");
    assert_eq!(check(None, &format!("{hello}\nwait = '1001us'")), None);
}
