//! TLS and HTTP/2 together, against the oracle: what both sides count, and what is refused or fails, with the way out.

use std::sync::Arc;

use oracle::{Config, Fault, HttpVersions};

use crate::rig::{Ran, Rig};
use crate::secured_rig::AuthorityFile;

/// An oracle within TLS, and its authority.
fn secured(config: Config) -> (Rig, AuthorityFile) {
    let rig = Rig::oracle(Config { tls: Some(Arc::default()), ..config });
    let authority = rig.authority_file().expect("it made one");
    (rig, authority)
}

fn having(fault: &str) -> Config {
    Config { fault: Some(fault.parse::<Fault>().unwrap()), ..Config::default() }
}

fn speaking(http: HttpVersions) -> Config {
    Config { http, ..Config::default() }
}

fn load(rig: &Rig, flags: &[&str]) -> Ran {
    let usual = ["load", "{url}/hello", "-n", "200", "-c", "4", "--timeout", "2s"];
    rig.dyno(&[&usual, flags].concat())
}

#[test]
fn right_answers_are_counted_on_both_sides() {
    let (rig, authority) = secured(Config::default());
    let flags = ["--http2", "--streams", "10", "--ca", authority.path(), "--json"];
    let json = load(&rig, &flags).status(0).json();
    let (books, tls, truth) = (&json["books"], &json["tls"], rig.truth());
    assert_eq!((&books["correct"], truth.requests, truth.answers), (&200.into(), 200, 200));
    assert_eq!((&tls["full"], truth.handshakes_full), (&4.into(), 4));
    assert_eq!(tls["alpn"]["h2"], 4);
    let _ = load(&rig, &["--http2", "-k"]).status(0).stdout_has("ALPN h2");
}

#[test]
fn a_name_that_is_not_taken_by_alpn_is_said_with_the_way_out() {
    let (rig, _authority) = secured(speaking(HttpVersions::Http1));
    let ran = load(&rig, &["--http2", "-k"]).status(2).stdout_has("tls.alpn");
    let _ = ran.stdout_has("does not take `h2`").stdout_has("leave out --http2");
    let (rig, _authority) = secured(speaking(HttpVersions::Http2));
    let ran = load(&rig, &["-k"]).status(2).stdout_has("tls.alpn");
    let _ = ran.stdout_has("does not take `http/1.1`").stdout_has("`dyno load --http2`");
    let _ = rig.dyno(&["check", "{url}/hello", "-k", "--case", "H1-B01"]).status(2);
    // A server without ALPN is taken to speak HTTP/1.1, and nothing else.
    let (rig, _authority) = secured(having("tls-no-alpn"));
    let _ = load(&rig, &["-k"]).status(0);
    let ran = load(&rig, &["-k", "--http2"]).status(2).stdout_has("tls.alpn");
    let _ = ran.stdout_has("so it speaks HTTP/1.1; leave out --http2");
}

#[test]
fn handshakes_are_resumed_where_each_request_has_a_connection() {
    let (rig, authority) = secured(Config::default());
    let flags = ["--http2", "--no-keepalive", "--tls-resume", "always", "--json"];
    let json = load(&rig, &[&flags[..], &["--ca", authority.path()]].concat()).status(0).json();
    let (tls, truth) = (&json["tls"], rig.truth());
    assert_eq!((&json["books"]["correct"], truth.requests), (&200.into(), 200));
    let resumed = tls["resumed"].as_u64().unwrap();
    assert!((150..200).contains(&resumed), "{resumed}");
    assert_eq!(
        (resumed, tls["full"].as_u64().unwrap()),
        (truth.handshakes_resumed, truth.handshakes_full)
    );
    assert_eq!(tls["alpn"]["h2"], 200);
}

/// What is spoken on the port is not what was ordered.
#[test]
fn another_protocol_than_ordered_is_named_with_the_way_out() {
    let rig = Rig::oracle(speaking(HttpVersions::Http1));
    let ran = load(&rig, &["--http2"]).stdout_has("h2.preface");
    let _ = ran.stdout_has(": h2.preface, the server answers in HTTP/1.1, not in HTTP/2; leave");
    let rig = Rig::oracle(having("h2-http1-answer"));
    let ran = load(&rig, &["--http2"]).stdout_has("h2.preface");
    let _ = ran.stdout_has("the server answers in HTTP/1.1, not in HTTP/2; leave out --http2");
    let plain = rig.url("/hello").replace("http://", "https://");
    let ran = rig.dyno(&["load", &plain, "-k", "--http2", "-n", "5", "--timeout", "2s"]).status(2);
    let _ = ran.stdout_has("tls.").stdout_has("http").stdout_lacks("?.");
    let (rig, _authority) = secured(Config::default());
    let bare = rig.url("/hello").replace("https://", "http://");
    let ran = rig.dyno(&["load", &bare, "-n", "5"]).status(1);
    let _ = ran.stdout_has("proto.status_line").stdout_has("with a record of TLS; write https://");
    let ran = rig.dyno(&["load", &bare, "-n", "5", "--http2"]).status(2);
    let _ = ran
        .stdout_has("failed: h2.preface, the server answers with a record of TLS; write https://");
    let _ =
        rig.dyno(&["check", &bare]).status(2).stdout_has("with a record of TLS; write https://");
    let rig = Rig::oracle(speaking(HttpVersions::Http2));
    let _ =
        rig.dyno(&["check", "{url}/hello"]).status(2).stdout_has("the server answers in HTTP/2");
}

#[test]
fn flags_that_mean_nothing_here_are_refused_by_name() {
    let rig = Rig::new();
    let (url, socket) = (rig.url("/hello"), rig.url("/wsecho").replace("http", "ws"));
    let refused = |arguments: &[&str], says: &str| rig.refuses(arguments, &[says]);
    for command in [
        &["load", &url][..],
        &["hold", &url],
        &["hold", &socket],
        &["check", &url],
        &["race", &url, &url],
    ] {
        refused(&[command, &["-k"]].concat(), "-k is for TLS");
    }
    refused(&["load", &url, "--streams", "10"], "--http2");
    refused(&["load", &url, "--http2", "--no-keepalive", "--streams", "2"], "--streams");
    refused(&["load", &url, "--http2", "--http-1.0"], "--http2");
    refused(&["load", &url, "--http2", "--sessions", "9", "--streams", "2"], "--sessions");
    refused(&["load", &url, "--http2", "--spread", "fill"], "--spread is for the requests");
    refused(&["load", &url, "--http2", "-m", "10"], "--streams 10");
    refused(&["load", &url, "--http2", "-m", "CONNECT"], "--method: HTTP/2 has no `CONNECT`");
    refused(&["load", &socket, "--http2"], "ws://");
    refused(&["check", &socket, "--http2"], "--http2: a WebSocket is checked over HTTP/1.1");
    refused(&["hold", &socket, "--http2"], "connections are held over HTTP/1.1");
}

#[test]
fn a_failed_stream_is_shown_with_what_was_sent_and_received() {
    let rig = Rig::oracle(having("h2-reset-mid-body"));
    let ran = load(&rig, &["--http2", "--streams", "2"]).status(1);
    let ran = ran.stdout_has("the first h2.reset, request ").stdout_has(" on stream ");
    let ran = ran.stdout_has("because: the server ended the stream: CANCEL");
    let ran = ran.stdout_has(r"sent: :method: GET\n:scheme: http\n:authority: 127.0.0.1:");
    let _ = ran.stdout_has(r"received: :status: 200\n").stdout_has(r"\n\nHello,");
    let kept = load(&rig, &["--http2", "--json"]).status(1).json()["evidence"][0].take();
    assert_eq!((&kept["class"], &kept["stream"]), (&"h2.reset".into(), &1.into()));
}
