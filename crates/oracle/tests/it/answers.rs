//! Which answers the oracle gives.

use std::io::{Read, Write};
use std::sync::Arc;

use expect_test::expect;
use oracle::{Config, Dataset, Root};

use crate::{Ending, connect, plain, read_out, said, start};

/// The status lines of all answers.
fn statuses(text: &str) -> Vec<&str> {
    text.match_indices("HTTP/1.1 ").map(|(at, _)| &text[at + 9..at + 12]).collect()
}

#[test]
fn each_request_is_answered_as_ever() {
    let post = "POST /sum HTTP/1.1\r\nHost: h\r\n";
    let sums = format!(
        "{post}Content-Length: 17\r\n\r\n{{\"values\":[4,-9]}}\
         {post}Transfer-Encoding: chunked\r\n\r\n8\r\n{{\"values\r\n5\r\n\":[]}}\r\n0\r\n\r\n\
         {post}Content-Length: 2\r\n\r\n[]"
    );
    let table = [
        ("hello", "GET /hello HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a value comes back in XML", "GET /?value=a%3Cb+c HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a query without a value is the XML error", "GET /? HTTP/1.1\r\nHost: h\r\n\r\n"),
        ("a user is known by the id in the path", "GET /user/a%2Fb+c HTTP/1.1\r\nHost: h\r\n\r\n"),
        (
            "a posted body comes back",
            "POST /user HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ),
        (
            "the value of a field comes back",
            "GET /header HTTP/1.1\r\nHost: h\r\nx-request-id: \t abc \r\n\r\n",
        ),
        ("numbers are summed, with a length and in chunks", &sums),
        (
            "an answer to HEAD is that to GET without content",
            "HEAD /hello HTTP/1.1\r\nHost: h\r\n\r\nHEAD /poll/1 HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
        (
            "a wrong method is answered with the right ones",
            "DELETE / HTTP/1.1\r\nHost: h\r\n\r\nGET /user HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
        (
            "options are listed for a resource and for the server",
            "OPTIONS /echo HTTP/1.1\r\nHost: h\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
        (
            "HTTP/1.0 is closed upon unless it asks to stay",
            "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /hello HTTP/1.0\r\n\r\n",
        ),
        (
            "a refusal says why and closes",
            "GET / HTTP/1.1\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
    ];
    let mut summary = String::new();
    for (what, request) in table {
        let answers = said(&plain(), request).replace("\r\n\r\n", " || ").replace("\r\n", " | ");
        // Those in one connection follow each other without a line end.
        let answers = answers.trim_end().replace('\n', " ").replace("HTTP/1.1 ", "\n> ");
        summary += &format!("{what}:{answers}\n");
    }
    expect![[r#"
        hello:
        > 200 OK | Content-Type: text/plain | Content-Length: 13 || Hello, world!
        a value comes back in XML:
        > 200 OK | Content-Type: text/xml | Content-Length: 46 || <http_test><value>a&lt;b c</value></http_test>
        a query without a value is the XML error:
        > 200 OK | Content-Type: text/xml | Content-Length: 56 || <http_test><error>no value specified</error></http_test>
        a user is known by the id in the path:
        > 200 OK | Content-Type: text/plain | Content-Length: 5 || a/b+c
        a posted body comes back:
        > 200 OK | Content-Type: text/plain | Content-Length: 5 || hello
        the value of a field comes back:
        > 200 OK | Content-Type: text/plain | Content-Length: 3 || abc
        numbers are summed, with a length and in chunks:
        > 200 OK | Content-Type: application/json | Content-Length: 20 || {"count":2,"sum":-5}
        > 200 OK | Content-Type: application/json | Content-Length: 19 || {"count":0,"sum":0}
        > 400 Bad Request | Content-Type: text/plain | Content-Length: 50 || what is summed is {"values":[…]}, whole numbers
        an answer to HEAD is that to GET without content:
        > 200 OK | Content-Type: text/plain | Content-Length: 13 || 
        > 200 OK | Content-Type: text/plain | Transfer-Encoding: chunked ||
        a wrong method is answered with the right ones:
        > 405 Method Not Allowed | Content-Type: text/plain | Allow: GET, HEAD, POST, OPTIONS | Content-Length: 21 || not that method here 
        > 405 Method Not Allowed | Content-Type: text/plain | Allow: POST, OPTIONS | Content-Length: 21 || not that method here
        options are listed for a resource and for the server:
        > 200 OK | Content-Type: text/plain | Allow: GET, HEAD, POST, OPTIONS | Content-Length: 0 || 
        > 200 OK | Content-Type: text/plain | Allow: GET, HEAD, POST, OPTIONS | Content-Length: 0 ||
        HTTP/1.0 is closed upon unless it asks to stay:
        > 200 OK | Content-Type: text/plain | Connection: keep-alive | Content-Length: 13 || Hello, world!
        > 200 OK | Content-Type: text/plain | Connection: close | Content-Length: 13 || Hello, world!
        a refusal says why and closes:
        > 400 Bad Request | Content-Type: text/plain | Connection: close | Content-Length: 30 || 
        > without a Host field
    "#]]
    .assert_eq(&summary);
}

#[test]
fn the_first_items_are_listed_with_their_totals() {
    let items =
        br#"[{"name": "a", "price": 3, "quantity": 7}, {"name": "b", "price": 5, "quantity": 2}]"#;
    let dataset = Some(Arc::new(Dataset::parse(items).unwrap()));
    let oracle = start(Config { threads: 1, dataset, ..Config::default() });
    let asked =
        |query: &str| said(&oracle, &format!("GET /json/{query} HTTP/1.1\r\nHost: h\r\n\r\n"));
    let listed = r#"{"count":1,"items":[{"total":168,"name":"a","price":3,"quantity":7}]}"#;
    let text = asked("1?m=8");
    assert!(
        text.contains("Content-Type: application/json\r\n") && text.ends_with(listed),
        "{text}"
    );
    for (query, status) in [
        ("2?m=1", "200"),
        ("0?m=1", "404"),
        ("3?m=1", "404"),
        ("x?m=1", "404"),
        ("1?m=x", "400"),
        ("1", "400"),
    ] {
        assert_eq!(statuses(&asked(query)), [status], "{query}");
    }
    assert_eq!(statuses(&said(&plain(), "GET /json/1?m=1 HTTP/1.1\r\nHost: h\r\n\r\n")), ["404"]);
}

#[test]
fn nothing_is_answered_after_close() {
    let oracle = plain();
    let request = "GET /hello HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nGET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
    assert_eq!(statuses(&said(&oracle, request)), ["200"]);
    assert_eq!(oracle.stop().requests, 1);
}

#[test]
fn status_codes() {
    let oracle = plain();
    let status = |line: &str| {
        let text = said(&oracle, &format!("{line} HTTP/1.1\r\nHost: h\r\n\r\n"));
        statuses(&text).join(" ")
    };
    assert_eq!(status("GET /"), "200");
    assert_eq!(status("GET http://other/hello"), "200");
    assert_eq!(status("GET /nowhere"), "404");
    assert_eq!(status("DELETE /nowhere"), "404");
    assert_eq!(status("GET /user/"), "404");
    assert_eq!(status("GET /poll/x"), "404");
    assert_eq!(status("GET /poll/0"), "404");
    assert_eq!(status("CONNECT h:99999"), "405");
    assert_eq!(status("TRACE /"), "405");
    assert_eq!(status("BREW /"), "501");
    assert_eq!(status("GET /hello?delay=sometimes"), "400");
    assert_eq!(status("GET /hello?fault=cut-bdoy"), "400");
    assert_eq!(status("GET /hello?fault=refuse"), "400");
    assert_eq!(status("GET /hello?delay=uniform:1us%2C2us"), "200");
}

#[test]
fn the_bare_root_answers_as_configured() {
    for (root, length) in [(Root::Empty, 0), (Root::Hello, 13), (Root::XmlError, 56)] {
        let oracle = start(Config { threads: 1, root, ..Config::default() });
        let text = said(&oracle, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        assert!(text.contains(&format!("Content-Length: {length}\r\n")), "{root:?}: {text}");
        let text = said(&oracle, "GET /?value=1 HTTP/1.1\r\nHost: h\r\n\r\n");
        assert!(text.ends_with("<http_test><value>1</value></http_test>"));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let oracle = plain();
    let all: String = (0..2000)
        .map(|i| match i % 3 {
            0 => format!("GET /user/{i} HTTP/1.1\r\nHost: h\r\n\r\n"),
            1 => format!("GET /user/{i}?delay=constant:1us HTTP/1.1\r\nHost: h\r\n\r\n"),
            _ => format!("POST /user HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n{i:04}"),
        })
        .collect();
    let text = said(&oracle, &all);
    let ids: Vec<usize> = text
        .split("HTTP/1.1 200 OK\r\n")
        .skip(1)
        .map(|answer| answer.rsplit("\r\n").next().expect("a body").parse().expect("an id"))
        .collect();
    assert_eq!(ids, (0..2000).collect::<Vec<_>>());
}

#[test]
fn a_body_is_asked_for_before_it_is_sent() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    let head = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    stream.write_all(head).unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"hello").unwrap();
    let (rest, ending) = read_out(&mut stream, usize::MAX);
    assert!(rest.starts_with(b"HTTP/1.1 200 OK\r\n") && rest.ends_with(b"\r\n\r\nhello"));
    assert_eq!(ending, Ending::Fin);
}

#[test]
fn a_large_body_comes_back_whole_and_a_larger_one_is_refused() {
    let oracle = plain();
    let post = |length: usize, body: &str| {
        said(
            &oracle,
            &format!("POST /user HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n{body}"),
        )
    };
    let body = "x".repeat(16 << 20);
    assert!(post(body.len(), &body).ends_with(&body));
    assert_eq!(statuses(&post((16 << 20) + 1, "x")), ["413"]);
}

#[test]
fn a_refusal_is_heard_though_the_peer_is_still_sending() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    let head = "POST /user HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // Larger than all socket buffers: it gets through only if the oracle keeps reading.
    stream.write_all(&vec![b'x'; 32 << 20]).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let (text, ending) = read_out(&mut stream, usize::MAX);
    assert!(text.starts_with(b"HTTP/1.1 413 "));
    assert_eq!(ending, Ending::Fin);
}

#[test]
fn every_answer_has_the_date_of_today() {
    let oracle = plain();
    let mut stream = connect(&oracle);
    stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    let (text, _) = read_out(&mut stream, usize::MAX);
    let text = String::from_utf8(text).unwrap();
    let date = text.lines().find_map(|line| line.strip_prefix("Date: ")).unwrap();
    assert!(date.len() == 29 && date.ends_with(" GMT") && date.contains(" 20"), "{date}");
}
