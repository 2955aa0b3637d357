//! Every fault, seen through a plain socket.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use expect_test::expect;
use oracle::{Config, Fault, Listen, Oracle};

use crate::{
    Ending, connect, plain, read_out, start, undated, wait_until, wait_until_no_client_is_connected,
};

/// An answer longer than this is taken to be endless.
const ENOUGH: usize = 96 * 1024;

fn with_fault(name: &str) -> Oracle {
    let fault = Some(name.parse().expect("the tests name real faults"));
    start(Config { threads: 1, fault, ..Config::default() })
}

/// The faulty request, one more, and a last one that ends the connection, if that is still possible.
fn requests(name: &str) -> String {
    format!(
        "GET /hello?fault={name} HTTP/1.1\r\nHost: h\r\n\r\n\
         GET /user/2 HTTP/1.1\r\nHost: h\r\n\r\n\
         GET /user/3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
    )
}

/// These never end by themselves, and send nothing beyond this.
const STUCK: [(&str, &str); 3] = [
    ("stalled-body", "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello,"),
    ("drip-body", "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nd"),
    ("drip-head", "HTTP/1.1 200 OK\r\nX-Slow: d"),
];

fn is_stuck(fault: &Fault) -> bool {
    STUCK.iter().any(|(name, _)| *name == fault.name)
}

/// What answers those requests if nothing is wrong.
const RIGHT: &str = r"OK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin";

#[test]
fn each_fault_of_a_request_is_as_described() {
    let oracle = plain();
    let (mut summary, mut unseen) = (String::new(), String::new());
    for fault in Fault::all().iter().filter(|fault| fault.fits_a_request() && !is_stuck(fault)) {
        let mut stream = connect(&oracle);
        stream.write_all(requests(fault.name).as_bytes()).unwrap();
        let (seen, ending) = read_out(&mut stream, ENOUGH);
        match shown(&seen, ending) {
            answers if answers == RIGHT => unseen += &format!(" {}", fault.name),
            answers => writeln!(summary, "{}: {answers}", fault.name).unwrap(),
        }
    }
    writeln!(summary, "as without a fault:{unseen}").unwrap();
    expect![[r#"
        mute: OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        fin-at-request:  Fin
        rst-at-request:  Reset
        rst-after-head: OK\r\nCL 13\r\n\r\n Reset
        rst-mid-body: OK\r\nCL 13\r\n\r\nHello Reset
        rst-after-answer: OK\r\nCL 13\r\n\r\nHello, world! Reset
        fin-in-head: OK\r\nContent-Le Fin
        fin-in-status-line: HTTP/1.1 20 Fin
        cut-body: OK\r\nCL 1000\r\n\r\nHello, wor Fin
        cut-chunked: OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!\r\n Fin
        cut-chunk: OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello Fin
        garbage-banner: SSH-2.0-OpenSSH_9.2p1\r\nOK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        garbage-tls: \x15\x03\x01\x00\x02\x02F\r\n\r\n Fin
        status-999: HTTP/1.1 999 Odd\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        status-2000: HTTP/1.1 2000 OK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        version-9-9: HTTP/9.9 200 OK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        icy: ICY 200 OK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        endless-status-line: HTTP/1.1 200 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… More
        endless-head-line: OK\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… More
        endless-header-lines: OK\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-… More
        nul-in-field: OK\r\nX-Nul: a\x00b\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        bare-cr: OK\r\nX-Cr: a\rb\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        bare-lf: OK\r\nX-Lf: a\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        space-before-colon: OK\r\nX-Space : a\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        obs-fold: OK\r\nX-Fold: a\r\n b\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-two: OK\r\nCL 13\r\nCL 14\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-list: OK\r\nCL 13, 14\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-negative: OK\r\nCL -13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-plus: OK\r\nCL +13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-fraction: OK\r\nCL 13.0\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-hex: OK\r\nCL 0xd\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-empty: OK\r\nCL \r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        content-length-overflow: OK\r\nCL 18446744073709551629\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        length-and-chunked: OK\r\nCL 13\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!\r\n0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        chunked-1-0: HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!\r\n0\r\n\r\n Fin
        chunked-204: HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        chunked-304: HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        chunked-103: HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\nOK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        chunk-size-huge: OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nHello, world!\r\n0\r\n\r\n Fin
        chunk-size-17-digits: OK\r\nTransfer-Encoding: chunked\r\n\r\n1000000000000000d\r\nHello, world!\r\n0\r\n\r\n Fin
        chunk-size-zz: OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nHello, world!\r\n0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        chunk-without-crlf: OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        huge-chunk-extension: OK\r\nTransfer-Encoding: chunked\r\n\r\nd;x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… More
        huge-trailers: OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\nHello, world!\r\n0\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-More: and more\r\nX-Mor… More
        one-octet-chunks: OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nH\r\n1\r\ne\r\n1\r\nl\r\n1\r\nl\r\n1\r\no\r\n1\r\n,\r\n1\r\n \r\n1\r\nw\r\n1\r\no\r\n1\r\nr\r\n1\r\nl\r\n1\r\nd\r\n1\r\n!\r\n0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: clos… Fin
        million-chunks: OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r… More
        endless-body: OK\r\n\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… More
        endless-chunks: OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n10\r\n01… More
        surplus-bytes: OK\r\nCL 13\r\n\r\nHello, world!EXTRAOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        two-answers: OK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        out-of-order: OK\r\nCL 1\r\n\r\n2OK\r\nCL 13\r\n\r\nHello, world!OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        too-few: OK\r\nCL 13\r\n\r\nHello, world!OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        interim-flood: HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n… More
        interim-nine: HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 1… Fin
        interim-eight: HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 1… Fin
        unasked-100: HTTP/1.1 100 Continue\r\n\r\nOK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        unasked-101: HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        redirect-loop: HTTP/1.1 302 Found\r\nLocation: /hello?fault=redirect-loop\r\nCL 0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        redirect-elsewhere: HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nCL 0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        redirect-file: HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nCL 0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        redirect-metadata: HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nCL 0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        retry-after-503: HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1000000000\r\nCL 0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        retry-after-408: HTTP/1.1 408 Request Timeout\r\nRetry-After: 1000000000\r\nConnection: close\r\nCL 0\r\n\r\n Fin
        ask-credentials: HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"dyno\"\r\nCL 0\r\n\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        cookie-1-mib: OK\r\nSet-Cookie: crumb=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… More
        close-lies-open: OK\r\nConnection: close\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        keep-alive-lies-close: OK\r\nConnection: keep-alive\r\nCL 13\r\n\r\nHello, world! Fin
        gzip-bomb: OK\r\nContent-Encoding: gzip\r\nCL 1076224\r\n\r\n\x1f\xef\xbf\xbd\x08\x00\x00\x00\x00\x00\x02\x03\xef\xbf\xbd\xef\xbf\xbd1\x01\x00\x00\x00\xc2\xa0\xef\xbf\xbdOm\x08_\xef\xbf\xbd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00… More
        stacked-codings: OK\r\nContent-Encoding: gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip, gzip\r\nCL 1051\r\n\r\n\x1f\xef\xbf\xbd\x08\x00\x00\x00\x00\x00\x02\x03\xef\xbf\xbd\xef\xbf\xbd1\x01\x00\x00\x00\xc2\xa0\xef\xbf\xbdOm\x08_\xef\xbf\xbd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00… Fin
        error-page-200: OK\r\nContent-Type: text/html\r\nCL 43\r\n\r\n<html><h1>500 Something broke</h1></html>\r\nOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        wrong-body: OK\r\nCL 13\r\n\r\nIdmmn-!vnsme OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        short-body: OK\r\nCL 6\r\n\r\nHello,OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        other-octet: OK\r\nCL 13\r\n\r\nHello,!world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        cheat-user-agent: OK\r\nCL 13\r\n\r\nIdmmn-!vnsme OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        html-in-head: OK\r\nX-Powered-By: <script>alert(1)</script>\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        ansi-headers: OK\r\nX-Powered-By: \x1b]0;owned\x07\x1b[31mred\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        ansi-reason: HTTP/1.1 200 \x1b[2J\x1b[31mOK\r\nCL 13\r\n\r\nHello, world!OK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        ansi-body: OK\r\nCL 14\r\n\r\n\x1b[31mHello\x1b[0mOK\r\nCL 1\r\n\r\n2OK\r\nConnection: close\r\nCL 1\r\n\r\n3 Fin
        as without a fault: case-sensitive unknown-field no-other-spaces host-first split-head early wrong-total unread-body other-field false-label no-label unoffered-coding other-range wrong-content-range other-version unasked-304 unasked-206 cheat-canned
    "#]].assert_eq(&summary);
}

fn shown(seen: &[u8], ending: Ending) -> String {
    let text = undated(seen).replace("Content-Type: text/plain\r\n", "");
    let text = text.replace("HTTP/1.1 200 OK", "OK").replace("Content-Length: ", "CL ");
    let most: String = text.chars().take(150).collect();
    let cut = if most.len() < text.len() { "…" } else { "" };
    format!("{}{cut} {ending:?}", most.as_bytes().escape_ascii())
}

#[test]
fn stuck_faults_send_the_beginning_and_end_with_the_peer() {
    let oracle = plain();
    for (name, beginning) in STUCK {
        let mut stream = connect(&oracle);
        stream.write_all(requests(name).as_bytes()).unwrap();
        let mut seen = vec![0; beginning.len()];
        stream.read_exact(&mut seen).unwrap();
        assert_eq!(String::from_utf8_lossy(&seen), beginning);
    }
    wait_until_no_client_is_connected(&oracle);
}

#[test]
fn endless_faults_end_with_the_peer_and_wait_for_a_peer_that_does_not_read() {
    let oracle = plain();
    let mut streams = Vec::new();
    for name in ["endless-body", "endless-header-lines", "interim-flood", "mute", "too-few"] {
        let mut stream = connect(&oracle);
        stream.write_all(requests(name).as_bytes()).unwrap();
        streams.push(stream);
    }
    // None of them is read; another connection is served meanwhile.
    let mut other = connect(&oracle);
    other.write_all(b"GET /hello HTTP/1.0\r\n\r\n").unwrap();
    assert!(read_out(&mut other, usize::MAX).0.ends_with(b"Hello, world!"));
    drop((streams, other));
    wait_until_no_client_is_connected(&oracle);
}

#[test]
fn faults_of_connections_strike_at_accept() {
    let seen = |name| {
        let oracle = with_fault(name);
        let mut stream = connect(&oracle);
        let (seen, ending) = read_out(&mut stream, 10);
        assert_eq!(oracle.stop().faults, 1);
        format!("{} {ending:?}", String::from_utf8_lossy(&seen[..seen.len().min(10)]))
    };
    assert_eq!(seen("fin-at-accept"), " Fin");
    assert_eq!(seen("rst-at-accept"), " Reset");
    assert_eq!(seen("banner-at-accept"), "220 mail.e More");
    assert_eq!(seen("answer-before-request"), "HTTP/1.1 2 More");
}

#[test]
fn the_silent_server_accepts_and_answers_nothing() {
    let oracle = with_fault("silent");
    let mut stream = connect(&oracle);
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    wait_until("no fault has begun", || 0 < oracle.truth().faults);
    stream.set_nonblocking(true).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    drop(stream);
    wait_until_no_client_is_connected(&oracle);
    assert_eq!(oracle.stop().bytes_in, 0);
}

#[test]
fn the_refusing_server_refuses_and_the_full_one_drops() {
    let attempt = |oracle: &Oracle| {
        let Listen::Tcp(address) = oracle.address() else { panic!("these tests use TCP") };
        TcpStream::connect_timeout(address, Duration::from_millis(200)).unwrap_err().kind()
    };
    assert_eq!(attempt(&with_fault("refuse")), ErrorKind::ConnectionRefused);
    assert_eq!(attempt(&with_fault("backlog-full")), ErrorKind::TimedOut);
}

#[test]
fn faults_strike_the_share_that_was_asked_for() {
    let fault = Some("wrong-body".parse().unwrap());
    let oracle = start(Config { threads: 1, fault, fault_rate: 0.3, seed: 7, ..Config::default() });
    let text = crate::said(&oracle, &"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n".repeat(1000));
    let right = text.matches("Hello, world!").count();
    let truth = oracle.stop();
    assert_eq!(truth.faults, 1000 - right as u64);
    assert_eq!(truth.answers, 1000);
    assert!((240..360).contains(&truth.faults), "{}", truth.faults);
}

#[test]
fn a_fault_of_content_strikes_and_counts_only_where_it_can_be_seen() {
    let numbers = r#"{"values":[1,2]}"#;
    let post = format!("POST /sum HTTP/1.1\r\nHost: h\r\nContent-Length: 16\r\n\r\n{numbers}");
    assert_eq!(content_after_hello("wrong-total", &post), r#"{"count":2,"sum":2}"#);
    // A minute later it would be a failure of patience.
    let wait = "GET /delay/60000 HTTP/1.1\r\nHost: h\r\n\r\n";
    assert_eq!(content_after_hello("early", wait), "60000");
}

/// What a server with this fault answers to a request after one for `/hello`, which is answered rightly.
fn content_after_hello(name: &str, request: &str) -> String {
    let oracle = with_fault(name);
    let hello = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
    let text = crate::said(&oracle, &format!("{hello}{request}"));
    assert_eq!(oracle.stop().faults, 1, "{name}");
    assert!(text.contains("\r\n\r\nHello, world!HTTP/1.1 200 OK\r\n"), "{name}: {text}");
    text.rsplit("\r\n\r\n").next().unwrap().to_owned()
}

#[test]
fn the_cheat_knows_its_own() {
    let oracle = with_fault("cheat-user-agent");
    let answer = |agent: &str| {
        crate::said(&oracle, &format!("GET /hello HTTP/1.0\r\nUser-Agent: {agent}\r\n\r\n"))
    };
    assert!(answer("Dyno/1").ends_with("Hello, world!"));
    assert!(!answer("curl/8").ends_with("Hello, world!"));
}
