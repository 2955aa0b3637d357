use expect_test::{Expect as Snapshot, expect};
use proptest::prelude::*;

use super::*;
use crate::cuts::cut_at;
use crate::fixture::whole;
use crate::{Expect, Request, StatusRule, Template};

const SOME: Values = Values { seq: 7, random: 11 };

fn ask(method: &str, body: BodyRule) -> Ask {
    let request = Request { method: method.into(), ..Request::get("h", "/") };
    let expect = Expect { status: StatusRule::Any, headers: Vec::new(), body, ..Expect::default() };
    Ask::new(&request, expect).unwrap()
}

/// What a connection reports for bytes that come in these pieces, and then end if `fin`.
fn hear(ask: &Ask, limits: &Limits, pieces: &[&[u8]], fin: bool) -> String {
    let heard = hear_on(H1::new(limits), ask, pieces, fin);
    // A head that is remembered means what it meant when it was read.
    let memo = HeadMemo::default();
    for _ in 0..2 {
        assert_eq!(hear_on(H1::remembering(limits, &memo), ask, pieces, fin), heard);
    }
    heard
}

fn hear_on<'a>(mut session: H1<'a>, ask: &'a Ask, pieces: &[&[u8]], fin: bool) -> String {
    let mut news = Vec::new();
    session.submit(ExchangeId::default(), ask, SOME, &mut Vec::new(), &mut Vec::new());
    let mut end = Ok(());
    for piece in pieces {
        end = end.and_then(|()| session.receive(piece, &mut news, &mut Vec::new()));
    }
    if fin {
        end = end.and_then(|()| ended(&mut session, &mut news));
    }
    let mut heard: Vec<String> = news.iter().map(note).collect();
    match end {
        Ok(()) => heard.push(format!("{:?}", session.progress())),
        Err(fault) => heard.push(fault.name().to_string()),
    }
    heard.join(", ")
}

/// The connection has ended.
fn ended(session: &mut H1<'_>, news: &mut Vec<News<WireFault>>) -> Result<(), WireFault> {
    session.ended(news)?;
    match session.progress() {
        Progress::Idle => Ok(()),
        progress => Err(progress.cut()),
    }
}

fn note(news: &News<WireFault>) -> String {
    match news {
        News::FirstByte(_) => "first".into(),
        News::Interim(_) => "interim".into(),
        News::Answered { status, mismatch, reusable, .. } => {
            let wrong = mismatch.map_or(String::new(), |wrong| format!(" wrong {wrong:?}"));
            format!("{status}{wrong}{}", if *reusable { "" } else { " last" })
        }
        other => format!("{other:?}"),
    }
}

fn hears(bytes: &[u8]) -> String {
    hear(&ask("GET", BodyRule::Any), &Limits::default(), &[bytes], true)
}

fn check(bytes: &[u8], expected: &Snapshot) {
    expected.assert_eq(&hears(bytes));
}

fn check_body(bytes: &[u8], body: &str) {
    let ask = ask("GET", BodyRule::Exactly(Template::literal(body)));
    assert_eq!(hear(&ask, &Limits::default(), &[bytes], true), "first, 200, Idle");
}

#[test]
fn a_body_ends_where_its_framing_says() {
    check_body(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nRust", "Rust");
    check_body(b"HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\ncontent-length: 4\r\n\r\nRust", "Rust");
    check_body(b"HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\n\r\n4\r\nRust\r\n0\r\n\r\n", "Rust");
    check(b"HTTP/1.1 200 OK\r\n\r\nuntil the end", &expect!["first, 200 last, Idle"]);
}

#[test]
fn chunk_extensions_and_trailers_are_skipped() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = "2;a=b\r\nRu\r\n2 ;c=\"d\"\r\nst\r\n000\r\nX-Sum: 1\r\nY:\r\n\r\n";
    check_body(format!("{head}{chunks}").as_bytes(), "Rust");
}

#[test]
fn answers_that_never_have_a_body() {
    for status in [204, 304] {
        let bytes = format!("HTTP/1.1 {status} x\r\nContent-Length: 4\r\n\r\n");
        assert_eq!(hears(bytes.as_bytes()), format!("first, {status}, Idle"));
    }
    let ask = ask("HEAD", BodyRule::Exactly(Template::literal("Rust")));
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";
    assert_eq!(hear(&ask, &Limits::default(), &[bytes], true), "first, 200, Idle");
    assert_eq!(ask.expect.body, BodyRule::Any, "it is not said that a body was checked");
}

#[test]
fn interim_answers_are_skipped_and_counted() {
    let interims = |n| "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(n);
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    // The answer itself begins last.
    check((interims(1) + answer).as_bytes(), &expect!["first, interim, first, 200, Idle"]);
    assert!(hears((interims(8) + answer).as_bytes()).ends_with("first, 200, Idle"));
    assert!(hears((interims(9) + answer).as_bytes()).ends_with("first, proto.interim_flood"));
    check(b"HTTP/1.1 101 Switching\r\n\r\n", &expect!["first, proto.unexpected_101"]);
}

#[test]
fn the_connection_is_reused_only_if_both_may() {
    let last = |head: &str| {
        let heard = hears(format!("{head}\r\nContent-Length: 0\r\n\r\n").as_bytes());
        heard == "first, 200 last, Idle"
    };
    assert!(!last("HTTP/1.1 200 OK"));
    assert!(last("HTTP/1.1 200 OK\r\nConnection: foo, Close"));
    assert!(last("HTTP/1.0 200 OK"));
    assert!(!last("HTTP/1.0 200 OK\r\nConnection: keep-alive"));
}

#[test]
fn an_answer_that_stops_is_never_whole() {
    check(b"", &expect!["recv.empty"]);
    check(b"HTTP/1.1 200 OK\r\nConte", &expect!["first, recv.cut_head"]);
    check(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nRus", &expect!["first, recv.cut_body"]);
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nRust\r\n";
    check(chunked, &expect!["first, recv.cut_body"]);
}

#[test]
fn what_was_not_requested_is_never_an_answer() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    check(&[&answer[..], answer].concat(), &expect!["first, 200, proto.unsolicited"]);
    check(&[&answer[..], b"EXTRA"].concat(), &expect!["first, 200, proto.surplus"]);
    let limits = Limits::default();
    let mut idle = H1::new(&limits);
    assert_eq!(idle.receive(answer, &mut Vec::new(), &mut Vec::new()), Err(WireFault::Unsolicited));
}

#[test]
fn a_status_line_must_be_one() {
    for bytes in ["SSH-2.0-OpenSSH\r\n", "\x16\x03\x01", "ICY 200 OK\r\n\r\n", "\r\nHTTP/1.1 200"] {
        assert_eq!(hears(bytes.as_bytes()), "first, proto.status_line", "{bytes:?}");
    }
    for status in ["999", "099", "2000", "20", "abc"] {
        let bytes = format!("HTTP/1.1 {status} OK\r\n\r\n");
        assert_eq!(hears(bytes.as_bytes()), "first, proto.status_line", "{status}");
    }
    check(b"HTTP/9.9 200 OK\r\n\r\n", &expect!["first, proto.version"]);
    check(b"HTTP/2 200 OK\r\n\r\n", &expect!["first, proto.version"]);
}

#[test]
fn a_broken_field_is_a_named_fault() {
    let fields = [
        "A: b\nC: d",
        "A: b\r\n folded",
        "A : b",
        "A: b\0c",
        "A: b\rc",
        "no colon",
        ": no name",
        "A\u{e9}: b",
    ];
    for field in fields {
        let bytes = format!("HTTP/1.1 200 OK\r\n{field}\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(hears(bytes.as_bytes()), "first, proto.field", "{field:?}");
    }
}

#[test]
fn lenience_takes_what_old_servers_send() {
    let limits = Limits { lenient: true, ..Limits::default() };
    let ask = ask("GET", BodyRule::Exactly(Template::literal("Rust")));
    let heads = [
        "HTTP/1.1 200 OK\nContent-Length: 4\n\nRust",
        "HTTP/1.1 200 OK\r\nA: b\r\n folded\r\nContent-Length : 4\r\n\r\nRust",
        "HTTP/1.1 200 OK\nContent-Length: 9\nTransfer-Encoding: chunked\n\n4 \nRust\n0\nA: b\n\n",
    ];
    for bytes in heads {
        assert_eq!(hear(&ask, &limits, &[bytes.as_bytes()], false), "first, 200, Idle", "{bytes}");
    }
}

#[test]
fn a_length_is_digits_that_fit_and_there_is_one() {
    for length in ["-5", "+5", "5.0", "0x5", "", "5 5", "18446744073709551616", "five", "5,"] {
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        assert_eq!(hears(bytes.as_bytes()), "first, proto.bad_length", "{length:?}");
    }
    let conflicts = [
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: 4, 5",
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip",
    ];
    for fields in conflicts {
        let bytes = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n0\r\n\r\n");
        assert_eq!(hears(bytes.as_bytes()), "first, proto.length_conflict", "{fields:?}");
    }
}

#[test]
fn a_broken_chunk_is_a_named_fault() {
    let chunks = [
        "zz\r\n",
        "\r\n",
        "-1\r\n",
        "0x4\r\nRust\r\n",
        "4\nRust\r\n",
        "4\r\nRustXX",
        "4\r\nRust0\r\n\r\n",
        "4 \r\nRust\r\n",
        "4;a\0\r\n",
        "4;a\nRust",
        "ffffffffffffffff\r\n",
        "11111111111111111\r\n",
        "4\rX",
    ];
    for chunk in chunks {
        let bytes = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}");
        assert_eq!(hears(bytes.as_bytes()), "first, proto.bad_chunk", "{chunk:?}");
    }
    for trailer in ["A b: c", "A: b\0", ": x", " A: b", "A\r\n", "A: b\nC: d"] {
        let bytes =
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n{trailer}\r\n");
        assert_eq!(hears(bytes.as_bytes()), "first, proto.field", "{trailer:?}");
    }
}

#[test]
fn nothing_grows_without_limit() {
    let head = "HTTP/1.1 200 OK\r\n";
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    let too_large = [
        format!("{head}A: {}", "x".repeat(64 << 10)),
        format!("{head}{}", "A: b\r\n".repeat(16 << 10)),
        format!("{head}{}\r\n", "A: b\r\n".repeat(129)),
        format!("{chunked}1;{}", "x".repeat(4 << 10)),
        format!("{chunked}{}", "0".repeat(8 << 10)),
        format!("{chunked}{}", format!("1;{}\r\nx\r\n", "x".repeat(1 << 10)).repeat(20)),
        format!("{chunked}0\r\n{}", "A: b\r\n".repeat(4 << 10)),
    ];
    for (case, bytes) in too_large.iter().enumerate() {
        assert_eq!(hears(bytes.as_bytes()), "first, proto.head_too_large", "case {case}");
    }
    let limits = Limits { body: 10, ..Limits::default() };
    let ask = ask("GET", BodyRule::Any);
    let bodies = [
        format!("{head}Content-Length: 11\r\n\r\n"),
        format!("{head}\r\nhello world"),
        format!("{chunked}b\r\nhello world\r\n"),
    ];
    for body in bodies {
        assert_eq!(hear(&ask, &limits, &[body.as_bytes()], false), "first, limit.body", "{body}");
    }
}

#[test]
fn every_answer_is_judged() {
    let status = |status| Expect { status, ..Expect::default() };
    let typed = |value: &str| Expect {
        headers: vec![("content-type".into(), Template::literal(value))],
        ..Expect::default()
    };
    let body = |body| Expect { body, ..Expect::default() };
    let text = |text: &str| body(BodyRule::Exactly(Template::literal(text)));
    let digest = |text: &str| body(BodyRule::Sha256(crate::sha256(text.as_bytes())));
    let answer = whole("200 OK", "Content-Type: text/xml\r\n", b"Rust");
    let with_charset = whole("200 OK", "Content-Type: text/xml ;charset=utf-8\r\n", b"");
    let in_capitals = whole("200 OK", "Content-Type: Text/XML; charset=utf-8\r\n", b"");
    let moved = whole("301 Moved", "", b"");
    let wrong = "first, 200 wrong Body, Idle";
    for (expect, answer, heard) in [
        (status(StatusRule::Exactly(200)), &answer, "first, 200, Idle"),
        (status(StatusRule::Exactly(201)), &answer, "first, 200 wrong Status, Idle"),
        (Expect::default(), &moved, "first, 301 wrong Status, Idle"),
        (typed("text/xml"), &answer, "first, 200, Idle"),
        (typed("text/xm"), &answer, "first, 200 wrong Header, Idle"),
        (typed("text/xml"), &with_charset, "first, 200, Idle"),
        (typed("text/xml"), &in_capitals, "first, 200, Idle"),
        (typed("text/xml;charset=latin1"), &with_charset, "first, 200 wrong Header, Idle"),
        (text(""), &answer, wrong),
        (text("Rus"), &answer, wrong),
        (text("Rusty"), &answer, wrong),
        (text("rust"), &answer, wrong),
        (body(BodyRule::Length(4)), &answer, "first, 200, Idle"),
        (body(BodyRule::Length(5)), &answer, wrong),
        (digest("Rust"), &answer, "first, 200, Idle"),
        (digest("rust"), &answer, wrong),
    ] {
        let ask = Ask::new(&Request::get("h", "/"), expect).unwrap();
        let found = hear(&ask, &Limits::default(), &[answer], false);
        assert_eq!(found, heard, "{:?}", ask.expect);
    }
}

#[test]
fn the_requests_own_value_must_come_back() {
    let echo = Template::parse(b"<v>{random:8}</v>").unwrap();
    let ask = ask("GET", BodyRule::Exactly(echo.clone()));
    let with = |values| {
        let mut body = Vec::new();
        echo.fill(values, &mut body);
        hear(&ask, &Limits::default(), &[&whole("200 OK", "", &body)], false)
    };
    assert_eq!(with(SOME), "first, 200, Idle");
    assert_eq!(with(Values { random: 12, ..SOME }), "first, 200 wrong Body, Idle");
}

#[test]
fn a_remembered_head_is_judged_anew_where_the_request_matters() {
    let limits = Limits::default();
    let memo = HeadMemo::default();
    let headers = vec![("x-number".to_string(), Template::parse(b"{seq}").unwrap())];
    let expect =
        Expect { status: StatusRule::Any, headers, body: BodyRule::Any, ..Expect::default() };
    let ask = Ask::new(&Request::get("h", "/"), expect).unwrap();
    let judged = |seq: u64| {
        let mut session = H1::remembering(&limits, &memo);
        let mut news = Vec::new();
        let values = Values { seq, random: 1 };
        session.submit(ExchangeId::default(), &ask, values, &mut Vec::new(), &mut Vec::new());
        let answer = b"HTTP/1.1 200 OK\r\nX-Number: 7\r\nContent-Length: 0\r\n\r\n";
        session.receive(answer, &mut news, &mut Vec::new()).unwrap();
        news.iter().map(note).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(judged(7), "first, 200");
    assert_eq!(judged(8), "first, 200 wrong Header");
}

#[test]
fn an_idle_connection_is_small() {
    assert!(size_of::<H1<'_>>() <= 256, "{}", size_of::<H1<'_>>());
}

/// Answers, some of them spoilt in some of their parts.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let status = prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 404 Not Found\r\n",
        "HTTP/1.1 204 No\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 99 x\r\n",
        "HTP",
    ]);
    let field = prop::sample::select(vec![
        "A: b\r\n",
        "Connection: close\r\n",
        "Content-Length: 5\r\n",
        "Content-Length: 12\r\n",
        "Content-Length: x\r\n",
        "Transfer-Encoding: chunked\r\n",
        "A: b\n",
        " c\r\n",
    ]);
    let body = prop::sample::select(vec![
        "hello",
        "5\r\nhello\r\n0\r\n\r\n",
        "5;x\r\nhello\r\n3\r\nabc\r\n0\r\nT: u\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\nEXTRA",
        "5\r\nhelloX",
        "g\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "",
    ]);
    let fields = prop::collection::vec(field, 0..4);
    (status, fields, body, any::<bool>()).prop_map(|(status, fields, body, ends)| {
        let end = if ends { "\r\n" } else { "" };
        format!("{status}{}{end}{body}", fields.concat()).into_bytes()
    })
}

proptest! {
    #[test]
    fn cutting_the_bytes_anywhere_changes_nothing(
        bytes in answers(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        fin in any::<bool>(),
        lenient in any::<bool>(),
    ) {
        let limits = Limits { lenient, ..Limits::default() };
        let ask = ask("GET", BodyRule::Exactly(Template::literal("helloabc")));
        let whole = hear(&ask, &limits, &[&bytes], fin);

        prop_assert_eq!(hear(&ask, &limits, &cut_at(&bytes, &cuts), fin), whole.clone());

        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(hear(&ask, &limits, &single, fin), whole);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        hears(&bytes);
        hears(&[b"HTTP/1.1 200 OK\r\n", bytes.as_slice()].concat());
        hears(&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", bytes.as_slice()].concat());
    }
}
