use expect_test::{Expect as Snapshot, expect};
use proptest::prelude::*;

use super::*;
use crate::{Ask, Expect, Limits, Request};

/// What a stream reports for bytes that come in these pieces, and then end if `ends`.
fn hear<'b>(cut: Cut, pieces: impl Iterator<Item = &'b [u8]>, ends: bool) -> String {
    let ask = Ask::new(&Request::get("h", "/poll/1"), Expect::default()).unwrap();
    let (limits, held) = (Limits::default(), HeldLimits { message: 100, fragments: 9 });
    let mut stream = HeldSession::Stream(Stream::new(&ask, cut, &limits, held));
    stream.begin(7, &mut Vec::new());
    let mut heard = Vec::new();
    let mut note = |news: HeldEvent<'_>| {
        heard.push(match news {
            HeldEvent::Message { shown, bytes } => {
                format!("{:?}/{bytes}", String::from_utf8_lossy(shown))
            }
            other => format!("{other:?}"),
        });
    };
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| stream.receive(piece, &mut Vec::new(), &mut note));
    }
    if ends {
        result = result.and_then(|()| stream.ended(&mut note));
    }
    heard.push(result.map_or_else(|fault| fault.name().to_string(), |()| "fine".into()));
    heard.join(", ")
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const UNTIL_CLOSE: &str = "HTTP/1.0 200 OK\r\n\r\n";

fn check(cut: Cut, text: &str, ends: bool, expected: &Snapshot) {
    expected.assert_eq(&hear(cut, std::iter::once(text.as_bytes()), ends));
}

#[test]
fn chunks_are_messages() {
    let text = format!("{CHUNKED}7\r\nbeat=0\n\r\n7\r\nbeat=1\n\r\n");
    for (end, ends, expected) in [
        ("", false, "fine"),
        ("", true, "recv.cut_body"),
        ("0\r\n\r\n", true, "held.ended"),
        ("x", true, "proto.bad_chunk"),
    ] {
        let heard = hear(Cut::Chunk, std::iter::once(format!("{text}{end}").as_bytes()), ends);
        assert_eq!(heard, format!(r#"Opened, "beat=0\n"/7, "beat=1\n"/7, {expected}"#));
    }
}

#[test]
fn lines_are_messages_where_there_are_no_chunks() {
    let text = format!("{UNTIL_CLOSE}beat=0\nbeat=1\nbea");
    check(Cut::Chunk, &text, true, &expect![[r#"Opened, "beat=0\n"/7, "beat=1\n"/7, held.ended"#]]);
}

#[test]
fn events_are_messages_if_they_have_data() {
    let text = format!(
        "{UNTIL_CLOSE}: hello\n\nevent: x\ndata: 1\n\n\r\n:\n\ndata: 2\r\ndata: 3\r\n\r\nid: 4\n\ndatum: 1\n\n"
    );
    check(
        Cut::Event,
        &text,
        false,
        &expect![[r#"Opened, "event: x\ndata: 1\n\n"/18, "data: 2\r\ndata: 3\r\n\r\n"/20, fine"#]],
    );
    let cut = "d\r\ndata: 1\n\ndata\r\n5\r\n: 2\n\n\r\n";
    check(
        Cut::Event,
        &format!("{CHUNKED}{cut}"),
        false,
        &expect![[r#"Opened, "data: 1\n\n"/9, "data: 2\n\n"/9, fine"#]],
    );
}

#[test]
fn an_answer_that_is_no_stream_is_distinguished() {
    let check = |text: &str, expected: &Snapshot| check(Cut::Chunk, text, true, expected);
    check("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", &expect!["held.not_a_stream"]);
    check("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", &expect!["content.status"]);
    check("HTTP/1.1 101 Yes\r\n\r\n", &expect!["proto.unexpected_101"]);
    check("HTTP/1.1 200 OK\r\n", &expect!["recv.cut_head"]);
    check("", &expect!["recv.empty"]);
    check("hello", &expect!["proto.status_line"]);
    let early = format!("HTTP/1.1 103 Early\r\n\r\n{UNTIL_CLOSE}a\n");
    check(&early, &expect![[r#"Opened, "a\n"/2, held.ended"#]]);
    check(&"HTTP/1.1 103 Early\r\n\r\n".repeat(9), &expect!["proto.interim_flood"]);
}

#[test]
fn no_message_grows_beyond_the_limit() {
    let long = "x".repeat(101);
    for (cut, begin) in [
        (Cut::Chunk, format!("{CHUNKED}65\r\n")),
        (Cut::Chunk, UNTIL_CLOSE.into()),
        (Cut::Event, format!("{UNTIL_CLOSE}data")),
    ] {
        check(cut, &format!("{begin}{long}"), false, &expect!["Opened, limit.message"]);
    }
}

proptest! {
    #[test]
    fn any_cut_means_the_same(
        body in "([0-9a]{1,2}\r\n[a-z\n]{0,20}\r\n|data: [a-z]{0,70}\n\n|[a-z: \n]{0,9}|\n|7\r\nbeat=0\n\r\n){0,8}",
        is_chunked: bool,
        is_event: bool,
        size in 1_usize..9,
    ) {
        let bytes = [if is_chunked { CHUNKED } else { UNTIL_CLOSE }, &body].concat();
        let cut = if is_event { Cut::Event } else { Cut::Chunk };
        let whole = hear(cut, std::iter::once(bytes.as_bytes()), true);
        prop_assert_eq!(whole, hear(cut, bytes.as_bytes().chunks(size), true));
    }
}
