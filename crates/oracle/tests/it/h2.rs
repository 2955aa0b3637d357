//! HTTP/2 as a client of another make sees it: the crate `h2`, which shares nothing with the oracle.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use h2::client::{SendRequest, handshake};
use http::{HeaderMap, Request};
use oracle::{Config, Fault, Listen, Oracle, Protocol};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::{PATIENCE, plain, start};

/// An answer, as far as it came.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) fields: HeaderMap,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn address(oracle: &Oracle) -> SocketAddr {
    let Listen::Tcp(address) = oracle.address() else { panic!("these tests use TCP") };
    *address
}

/// Runs on this thread, and never for longer than patience lasts.
pub(crate) fn wait_for<T>(what: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limited = async { tokio::time::timeout(PATIENCE, what).await };
    runtime.block_on(limited).expect("only a bug takes as long")
}

pub(crate) async fn connect(address: SocketAddr) -> SendRequest<bytes::Bytes> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (client, connection) = handshake(stream).await.unwrap();
    // It ends with its client.
    tokio::spawn(connection);
    client
}

pub(crate) async fn send(
    client: &SendRequest<bytes::Bytes>,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<Got, h2::Error> {
    let mut client = client.clone().ready().await?;
    let request = Request::builder().method(method).uri(format!("http://h{path}"));
    let (answer, mut sender) = client.send_request(request.body(()).unwrap(), body.is_empty())?;
    let mut rest = body;
    while !rest.is_empty() {
        sender.reserve_capacity(rest.len().min(100_000));
        let Some(room) = std::future::poll_fn(|context| sender.poll_capacity(context)).await else {
            break;
        };
        let (now, later) = rest.split_at(room?);
        sender.send_data(bytes::Bytes::copy_from_slice(now), later.is_empty())?;
        rest = later;
    }
    let (head, mut content) = answer.await?.into_parts();
    let mut body = Vec::new();
    while let Some(piece) = content.data().await {
        let piece = piece?;
        content.flow_control().release_capacity(piece.len())?;
        body.extend_from_slice(&piece);
    }
    let mut fields = head.headers;
    fields.extend(content.trailers().await?.unwrap_or_default());
    Ok(Got { status: head.status.as_u16(), fields, body })
}

/// One request on a connection of its own.
fn get(oracle: &Oracle, method: &str, path: &str, body: &[u8]) -> Result<Got, h2::Error> {
    wait_for(async { send(&connect(address(oracle)).await, method, path, body).await })
}

/// The status line and the content of HTTP/1.1's answer.
fn said_in_http1(oracle: &Oracle, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
    );
    let text = crate::said(oracle, &format!("{head}{}", String::from_utf8_lossy(body)));
    let (head, content) = text.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), content.as_bytes().to_vec())
}

#[test]
fn the_value_of_a_field_comes_back_at_once_and_after_a_delay() {
    let oracle = plain();
    for path in ["/header", "/header?delay=constant:1ms"] {
        let content = wait_for(async {
            let mut client = connect(address(&oracle)).await.ready().await.unwrap();
            let request = Request::get(format!("http://h{path}")).header("x-request-id", "abc");
            let (answer, _) = client.send_request(request.body(()).unwrap(), true).unwrap();
            answer.await.unwrap().into_body().data().await.unwrap().unwrap()
        });
        assert_eq!(&content[..], b"abc", "{path}");
    }
}

#[test]
fn every_answer_burns_at_once_and_after_a_delay_and_a_refusal_does_not() {
    let burns = "parse:1us,hash:1us".parse().unwrap();
    let oracle = crate::start(Config { threads: 2, burns, calls: 2, ..Config::default() });
    for path in ["/hello", "/hello?delay=constant:1ms"] {
        said_in_http1(&oracle, "GET", path, b"");
        get(&oracle, "GET", path, b"").unwrap();
    }
    crate::said(&oracle, "bad\r\n\r\n");
    let truth = oracle.stop();
    let burns: Vec<_> = truth.burns.iter().map(|burn| (burn.function, burn.calls)).collect();
    assert_eq!(burns, [("parse", 4), ("hash", 4)]);
    assert_eq!((truth.getppid_calls, truth.answers), (8, 5));
}

#[test]
fn every_resource_answers_as_in_http_1() {
    let oracle = plain();
    for (method, path, body) in [
        ("GET", "/", ""),
        ("GET", "/hello", ""),
        ("GET", "/hello?x=1&y=%20", ""),
        ("HEAD", "/hello", ""),
        ("GET", "/?value=a%3Cb", ""),
        ("GET", "/echo?value=caf%C3%A9", ""),
        ("GET", "/echo", ""),
        ("GET", "/user/me%20too", ""),
        ("GET", "/delay/1", ""),
        ("GET", "/header", ""),
        ("GET", "/json/1?m=1", ""),
        ("POST", "/sum", r#"{"values":[1,2]}"#),
        ("POST", "/sum", "none"),
        ("POST", "/", "posted"),
        ("POST", "/echo", "posted"),
        ("POST", "/user", "posted"),
        ("POST", "/user", ""),
        ("PUT", "/user", "posted"),
        ("OPTIONS", "/hello", ""),
        ("BREW", "/hello", ""),
        ("GET", "/nowhere", ""),
        ("GET", "/wsecho", ""),
        ("GET", "/poll/0.001?beats=x", ""),
        ("GET", "/hello?delay=soon", ""),
        ("GET", "/hello?fault=none", ""),
    ] {
        let got = get(&oracle, method, path, body.as_bytes()).unwrap();
        let (status, content) = said_in_http1(&oracle, method, path, body.as_bytes());
        assert_eq!(got.status, status, "{method} {path}");
        assert_eq!(
            got.body.escape_ascii().to_string(),
            content.escape_ascii().to_string(),
            "{method} {path}"
        );
        if method == "HEAD" {
            assert_eq!(got.fields["content-length"], "13");
        }
    }
    assert_eq!(
        get(&oracle, "OPTIONS", "/hello", b"").unwrap().fields["allow"],
        "GET, HEAD, OPTIONS"
    );
    let faults = ["cut-body", "ws-cut", "h2-silence", "tls-expired"].map(|name| {
        let got = get(&oracle, "GET", &format!("/hello?fault={name}"), b"").unwrap();
        assert_eq!(got.status, 400);
        String::from_utf8(got.body).unwrap()
    });
    assert!(faults[0].contains("HTTP/1.1") && faults[1].contains("WebSockets"), "{faults:?}");
    assert!(faults[2].contains("connections") && faults[3].contains("connections"), "{faults:?}");
    assert_eq!(said_in_http1(&oracle, "GET", "/hello?fault=h2-mute", b"").0, 400);
}

#[test]
fn one_reply_answers_every_request_here_too() {
    let reply =
        oracle::Reply::parse(b"HTTP/1.1 201 Made\r\nX-A: b\r\nUpgrade: h2c\r\n\r\nown").unwrap();
    let reply = Some(std::sync::Arc::new(reply));
    let oracle = start(Config { threads: 1, reply, tell_delay: true, ..Config::default() });
    let got = get(&oracle, "GET", "/any", b"").unwrap();
    assert_eq!(
        (got.status, &got.body[..], &got.fields["x-a"]),
        (201, &b"own"[..], &"b".parse().unwrap())
    );
    assert!(got.fields.get("upgrade").is_none(), "a field of a connection");
    assert!(got.fields.contains_key("x-oracle-delay-ns") && got.fields.contains_key("date"));
}

#[test]
fn large_bodies_pass_both_ways_within_the_windows() {
    let oracle = start(Config { threads: 1, window: 20_000, ..Config::default() });
    let body: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let got = wait_for(async {
        let client = connect(address(&oracle)).await;
        let one = send(&client, "POST", "/echo", &body);
        let (one, two) = (one.await.unwrap(), send(&client, "POST", "/user", &body).await.unwrap());
        [one, two]
    });
    assert!(got.iter().all(|got| got.body == body));
    let too_large = vec![0; 17 << 20];
    match get(&oracle, "POST", "/echo", &too_large) {
        Ok(got) => assert_eq!(got.status, 413),
        // The rest of the request was not wanted.
        Err(error) => assert_eq!(error.reason(), Some(h2::Reason::NO_ERROR)),
    }
}

#[test]
fn each_stream_has_its_own_delay_and_the_log_says_when_it_began_and_ended() {
    let delay = Some("uniform:20ms,60ms".parse().unwrap());
    let oracle = start(Config {
        threads: 1,
        delay,
        log_streams: true,
        tell_delay: true,
        ..Config::default()
    });
    let begun = Instant::now();
    let told: Vec<u64> = wait_for(async {
        let client = connect(address(&oracle)).await;
        let mut all = JoinSet::new();
        for _ in 0..100 {
            let client = client.clone();
            all.spawn(async move { send(&client, "GET", "/hello", b"").await.unwrap() });
        }
        let got = all.join_all().await;
        got.iter()
            .map(|got| got.fields["x-oracle-delay-ns"].to_str().unwrap().parse().unwrap())
            .collect()
    });
    // One after the other they would take four seconds.
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert!(told.iter().all(|ns| *ns >= 20_000_000), "{told:?}");
    let streams = oracle.streams();
    let mut took: Vec<u64> = streams
        .iter()
        .map(|stream| stream.answer_ended_ns.unwrap() - stream.request_ended_ns.unwrap())
        .collect();
    took.sort_unstable();
    let ids: std::collections::BTreeSet<u32> = streams.iter().map(|stream| stream.stream).collect();
    assert_eq!((streams.len(), ids.len()), (100, 100));
    assert!(
        streams
            .iter()
            .all(|stream| stream.peer_port == streams[0].peer_port && stream.stream % 2 == 1)
    );
    let truth = oracle.stop();
    assert_eq!(
        (truth.answers, truth.requests, truth.drawn_ns.len(), truth.served_ns.len()),
        (100, 100, 100, 100)
    );
    assert!(truth.served_ns.equivalent(took[99], truth.served_ns.max()));
    assert!(truth.served_ns.equivalent(took[0], truth.served_ns.min()));
    // None left before its drawn time: sorted, each took at least as long as the draw of its place.
    let drawn: Vec<u64> = truth
        .drawn_ns
        .iter_recorded()
        .flat_map(|step| {
            vec![
                truth.drawn_ns.lowest_equivalent(step.value_iterated_to());
                step.count_at_value() as usize
            ]
        })
        .collect();
    assert!(took.iter().zip(&drawn).all(|(took, drawn)| drawn <= took), "{took:?} {drawn:?}");
}

#[test]
fn requests_within_a_freeze_are_answered_at_its_end_and_arrived_within_it() {
    let stall = Some("150ms/200ms".parse().unwrap());
    let oracle = start(Config { threads: 1, stall, log_streams: true, ..Config::default() });
    let begun = Instant::now();
    wait_for(async {
        let client = connect(address(&oracle)).await;
        while oracle.truth().served_ns.max() < 100_000_000 {
            let mut all = JoinSet::new();
            for _ in 0..10 {
                let client = client.clone();
                all.spawn(async move { send(&client, "GET", "/hello", b"").await.unwrap().status });
            }
            assert!(all.join_all().await.iter().all(|status| *status == 200));
            assert!(begun.elapsed() < PATIENCE, "too few freezes were met");
        }
    });
    let took = |stream: &oracle::StreamTimes| {
        stream.answer_ended_ns.unwrap() - stream.request_ended_ns.unwrap()
    };
    assert!(oracle.streams().iter().any(|stream| took(stream) >= 100_000_000));
}

#[test]
fn beats_come_on_a_stream_of_their_own_and_end_it() {
    let oracle = plain();
    let got = get(&oracle, "GET", "/poll/0.01?beats=3", b"").unwrap();
    let text = String::from_utf8(got.body).unwrap();
    let numbers: Vec<&str> = text.lines().map(|line| line.split_once(' ').unwrap().0).collect();
    assert_eq!(numbers, ["beat=0", "beat=1", "beat=2"]);
    assert!(!got.fields.contains_key("content-length"));
    let late = get(&oracle, "GET", "/poll/0.01?beats=2&late=constant:5ms", b"").unwrap();
    assert_eq!(late.body.iter().filter(|byte| **byte == b'\n').count(), 2);
    assert_eq!((oracle.truth().beats, oracle.truth().answers), (5, 2));
}

/// What a stream's fault may leave of an answer and still be one: only the content is wrong.
const WRONG_CONTENT: [&str; 2] = ["h2-wrong-body", "h2-status-500"];
/// What the crate `h2` does not mind, or not always: a client of dyno's own must.
const NOT_MINDED: [&str; 10] = [
    "h2-data-after-end",
    "h2-head-after-end",
    "h2-huge-field",
    "h2-no-settings",
    "h2-push",
    "h2-request-pseudo",
    "h2-settings-push",
    "h2-status-101",
    "h2-trailers-status",
    "h2-update-overflow",
];

#[test]
fn a_client_of_another_make_gets_what_each_fault_promises() {
    let mut wrong = Vec::new();
    for fault in Fault::all().iter().filter(|fault| fault.protocol() == Protocol::Http2) {
        let is_endless = ["timeout", "deadline", "own.", "limit."];
        let may_last = |class: &&str| is_endless.iter().any(|word| class.contains(word));
        if fault.expect.iter().any(may_last) || NOT_MINDED.contains(&fault.name) {
            continue;
        }
        let (config, path) = match fault.fits_a_stream() {
            true => (Config::default(), format!("/hello?fault={}", fault.name)),
            false => (Config { fault: Some(*fault), ..Config::default() }, "/hello".to_owned()),
        };
        let oracle = start(Config { threads: 1, ..config });
        let got = wait_for(async {
            let both = async {
                let client = connect(address(&oracle)).await;
                let got = send(&client, "GET", &path, b"").await?;
                // What is wrong may come after the answer, and end the connection.
                send(&client, "GET", "/hello", b"").await.map(|_| got)
            };
            tokio::time::timeout(Duration::from_secs(3), both).await
        });
        let got = got.unwrap_or_else(|_| Err(h2::Reason::SETTINGS_TIMEOUT.into()));
        let is_right = matches!(&got, Ok(got) if got.status == 200 && got.body == b"Hello, world!");
        let is_fine = fault.expect.is_empty();
        let is_last = fault.name.starts_with("h2-goaway") && fault.expect.is_empty();
        let may_be_wrong = WRONG_CONTENT.contains(&fault.name);
        if is_right != is_fine && !is_last || may_be_wrong && got.is_err() {
            wrong.push(format!("{}: {got:?}", fault.name));
        }
        assert_eq!(oracle.stop().faults, u64::from(fault.shows_at_hello()), "{}", fault.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
