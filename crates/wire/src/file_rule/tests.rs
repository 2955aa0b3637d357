use super::*;
use crate::ask::{Ask, Request};
use crate::expect::{BodyRule, Expect, StatusRule};
use crate::fixture::{encoded, gzip, judged, whole};
use crate::forms::{Compared, Forms};
use crate::{Delivered, mix};

const GZIP: [(&str, &str); 1] = [("Accept-Encoding", "gzip")];
const BOTH: [(&str, &str); 1] = [("Accept-Encoding", "br, gzip")];
const RANGE: [(&str, &str); 2] = [("Accept-Encoding", "identity"), ("Range", "bytes={range}")];
const KNOWN: [(&str, &str); 1] = [("If-None-Match", "{validator}")];

fn rule_of(request: &Request) -> Result<FileRule, &'static str> {
    FileRule::of(&request.target, &request.headers)
}

fn request(headers: &[(&str, &str)]) -> Request {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Request { headers, ..Request::get("h", "/static/{file}") }
}

fn ask_of(request: &Request, rule: FileRule) -> Ask {
    let expect =
        Expect { status: StatusRule::Any, body: BodyRule::File(rule), ..Expect::default() };
    Ask::new(request, expect).unwrap()
}

fn ask(headers: &[(&str, &str)]) -> Ask {
    let request = request(headers);
    let rule = rule_of(&request).unwrap().with(&Files::of(5));
    ask_of(&request, rule)
}

/// Tags "0" to "19" for the files.
fn tags() -> Validators {
    Validators { are_tags: true, values: (0..20).map(|number| format!("\"{number}\"")).collect() }
}

fn knowing(validators: &Validators) -> Ask {
    let known = request(&KNOWN);
    let rule = rule_of(&known).unwrap().with(&Files::of(5)).knowing(validators);
    ask_of(&known.with_validators(validators), rule)
}

/// Values that choose the file with this number.
fn choosing(number: usize) -> Values {
    let mut all = (0..).map(|seq| Values { seq, random: mix(seq) });
    all.find(|values| Files::chosen(*values) == number).unwrap()
}

fn content(number: usize) -> Vec<u8> {
    Files::of(5).content(number).to_vec()
}

/// The mismatch is the same however the answer is cut, and whether a lane learns or not.
#[track_caller]
fn check(ask: &Ask, number: usize, answer: &[u8], expected: Option<Mismatch>) {
    let forms = Forms::new(|| 0);
    for (forms, piece) in [(None, 1 << 20), (Some(&forms), 1 << 20), (Some(&forms), 777)] {
        let found = judged(ask, choosing(number), answer, forms, piece);
        assert_eq!(found, expected, "{piece}");
    }
}

#[test]
fn a_request_names_its_file_and_offers_what_it_does() {
    let values = choosing(3);
    let text = |ask: &Ask| String::from_utf8(encoded(ask, values)).unwrap();
    let (first, last) = Files::range(values);
    let ranged = text(&ask(&RANGE));
    assert!(ranged.starts_with("GET /static/reset.css HTTP/1.1\r\n"), "{ranged}");
    assert!(ranged.contains(&format!("\r\nRange: bytes={first}-{last}\r\n")), "{ranged}");
    assert!(text(&knowing(&tags())).contains("\r\nIf-None-Match: \"3\"\r\n"));
    let times = Validators { are_tags: false, ..tags() };
    assert!(text(&knowing(&times)).contains("\r\nIf-Modified-Since: \"3\"\r\n"));
}

#[test]
fn what_would_be_judged_wrongly_is_refused() {
    for headers in [
        &[("Accept-Encoding", "zstd")][..],
        &[("Range", "bytes=0-9")],
        &[("If-None-Match", "\"x\"")],
        &[("If-Modified-Since", "{validator}")],
        &[("If-Range", "{validator}"), ("Range", "bytes={range}")],
        &[("Range", "bytes={range}"), ("Accept-Encoding", "gzip")],
    ] {
        assert!(rule_of(&request(headers)).is_err(), "{headers:?}");
    }
    assert!(rule_of(&Request::get("h", "/static/app.js")).is_err());
}

#[test]
fn identity_is_right_and_every_offered_coding() {
    let (plain, packed) = (content(5), gzip(&content(5), 6));
    check(&ask(&[]), 5, &whole("200 OK", "", &plain), None);
    check(&ask(&GZIP), 5, &whole("200 OK", "", &plain), None);
    let labelled = whole("200 OK", "Content-Encoding: gzip\r\n", &packed);
    check(&ask(&GZIP), 5, &labelled, None);
    check(&ask(&BOTH), 5, &labelled, None);
    check(&ask(&[]), 5, &labelled, Some(Mismatch::Header));
    let other = whole("200 OK", "Content-Encoding: br\r\n", &packed);
    check(&ask(&GZIP), 5, &other, Some(Mismatch::Header));
    check(&ask(&BOTH), 5, &other, Some(Mismatch::Body));
    let twice = whole("200 OK", "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n", &packed);
    check(&ask(&GZIP), 5, &twice, Some(Mismatch::Header));
    let labelled =
        |label: &str, body| whole("200 OK", &format!("Content-Encoding: {label}\r\n"), body);
    check(&ask(&GZIP), 5, &labelled(", X-GZIP ,", &packed), None);
    check(&ask(&GZIP), 5, &labelled("", &plain), None);
    check(&ask(&GZIP), 5, &labelled("gzip, gzip", &packed), Some(Mismatch::Header));
}

#[test]
fn a_compressed_file_may_be_longer_than_the_file() {
    let packed = gzip(&content(0), 6);
    let mut extended = packed.clone();
    // RFC 1952, 2.3.1.1: one extra field, as long as there can be.
    extended[3] |= 4;
    let extra = [&[0xff, 0xff, b'X', b'Y', 0xfb, 0xff][..], &[0; 0xfffb]].concat();
    extended.splice(10..10, extra);
    let members: Vec<u8> = content(13).chunks(100).flat_map(|part| gzip(part, 6)).collect();
    for (number, body) in [(0, extended), (13, members)] {
        assert!(content(number).len() / 8 * 9 < body.len());
        let answer = whole("200 OK", "Content-Encoding: gzip\r\n", &body);
        assert_eq!(judged(&ask(&GZIP), choosing(number), &answer, None, 777), None);
    }
}

#[test]
fn bodies_that_are_cut_or_changed_are_wrong() {
    let (plain, packed) = (content(7), gzip(&content(7), 6));
    for (fields, body) in [("", plain), ("Content-Encoding: gzip\r\n", packed)] {
        let mut other = body.clone();
        other[body.len() / 2] ^= 1;
        let longer = [&body[..], b"x"].concat();
        let all = [&body[..body.len() - 1], &body[..body.len() / 2], &body[..0], &other, &longer];
        for wrong in all {
            check(&ask(&GZIP), 7, &whole("200 OK", fields, wrong), Some(Mismatch::Body));
        }
    }
    let (plain, packed) = (content(7), gzip(&content(7), 6));
    let wrong = [("", content(8)), ("", packed), ("Content-Encoding: gzip\r\n", plain)];
    for (fields, body) in wrong {
        check(&ask(&GZIP), 7, &whole("200 OK", fields, &body), Some(Mismatch::Body));
    }
    check(&ask(&GZIP), 7, &whole("404 Not Found", "", &content(7)), Some(Mismatch::Status));
}

#[test]
fn a_part_is_the_one_that_was_wanted() {
    let values = choosing(9);
    let (first, last) = Files::range(values);
    let (plain, len) = (content(9), content(9).len());
    let part = &plain[first..=last];
    let ranged = |first, last, of: &str| format!("Content-Range: bytes {first}-{last}/{of}\r\n");
    let right = ranged(first, last, &len.to_string());
    let answer = |fields: &str, body| whole("206 Partial Content", fields, body);
    check(&ask(&RANGE), 9, &answer(&right, part), None);
    check(&ask(&RANGE), 9, &answer(&ranged(first, last, "*"), part), None);
    check(&ask(&RANGE), 9, &whole("200 OK", "", &plain), None);
    let wrong = Some(Mismatch::Header);
    check(&ask(&RANGE), 9, &answer(&ranged(first, last, "9"), part), wrong);
    check(&ask(&RANGE), 9, &answer(&ranged(first + 1, last, "*"), part), wrong);
    check(&ask(&RANGE), 9, &answer("", part), wrong);
    check(&ask(&RANGE), 9, &answer(&format!("{right}Content-Encoding: gzip\r\n"), part), wrong);
    check(&ask(&RANGE), 9, &answer(&right, &plain[first - 1..last]), Some(Mismatch::Body));
    check(&ask(&RANGE), 9, &answer(&right, &part[1..]), Some(Mismatch::Body));
    check(&ask(&[]), 9, &answer(&right, part), Some(Mismatch::Status));
}

#[test]
fn not_modified_is_right_for_the_version_that_was_named() {
    let answer = |fields: &str| format!("HTTP/1.1 304 Not Modified\r\n{fields}\r\n").into_bytes();
    let known = knowing(&tags());
    check(&known, 2, &answer("ETag: \"2\"\r\n"), None);
    check(&known, 2, &answer("ETag: W/\"2\"\r\n"), None);
    check(&known, 2, &answer(""), None);
    check(&known, 2, &whole("200 OK", "", &content(2)), None);
    check(&known, 2, &answer("ETag: \"3\"\r\n"), Some(Mismatch::Header));
    check(&ask(&[]), 2, &answer("ETag: \"2\"\r\n"), Some(Mismatch::Status));
    check(&ask(&KNOWN), 2, &answer(""), Some(Mismatch::Header));
}

#[test]
fn validators_are_tags_or_else_times_and_all_files_have_one() {
    let answer = |tag: Option<&'static str>, time: Option<&'static str>| {
        move |name: &str| if name == "etag" { tag } else { time }.map(str::as_bytes)
    };
    let all = |tag, time| Validators::of(&vec![answer(tag, time); 20]);
    assert!(all(Some("\"a\""), Some("now")).unwrap().are_tags);
    assert!(!all(None, Some("now")).unwrap().are_tags);
    assert_eq!(all(None, None), None);
    assert_eq!(all(Some("\"a\r\""), None), None);
    assert_eq!(Validators::of(&vec![answer(Some("\"a\""), None); 19]), None);
}

#[test]
fn a_form_is_decoded_once_and_then_compared_by_bytes() {
    let forms = Forms::new(|| 0);
    let label = "Content-Encoding: gzip\r\n";
    let (values, asks) = (choosing(11), [ask(&GZIP), ask(&BOTH)]);
    let of_level = |level| whole("200 OK", label, &gzip(&content(11), level));
    for level in [6, 6, 1, 6, 1] {
        for (ask, piece) in asks.iter().zip([777, 1 << 20]) {
            assert_eq!(judged(ask, values, &of_level(level), Some(&forms), piece), None);
        }
    }
    let Compared { by_bytes, by_meaning, .. } = forms.take();
    assert_eq!((by_bytes, by_meaning), (8, 2));
    let delivered = Delivered { gzip: 10, offered: 10, ..Delivered::default() };
    assert_eq!(forms.take_delivered(), Some(delivered));
    // A form that begins like a known one, and does not go on like it.
    let mut other = gzip(&content(11), 6);
    let end = other.len();
    other[end - 1] ^= 1;
    let wrong = whole("200 OK", label, &other);
    assert_eq!(judged(&asks[0], values, &wrong, Some(&forms), 777), Some(Mismatch::Body));
    assert_eq!(forms.take_delivered(), None);
}

/// The answer with a name in the head of its gzip (RFC 1952, 2.3.1).
fn named(one: &[u8], number: u8) -> Vec<u8> {
    let mut named = one.to_vec();
    named[3] |= 8;
    named.splice(10..10, [b'a' + number, 0]);
    whole("200 OK", "Content-Encoding: gzip\r\n", &named)
}

#[test]
fn a_server_with_a_new_form_each_time_is_decoded_each_time() {
    let forms = Forms::new(|| 0);
    let one = gzip(&content(4), 6);
    for number in (0..12).chain(0..12) {
        let answer = named(&one, number);
        assert_eq!(judged(&ask(&GZIP), choosing(4), &answer, Some(&forms), 777), None, "{number}");
    }
    let Compared { by_bytes, by_meaning, .. } = forms.take();
    assert_eq!((by_bytes, by_meaning), (8, 16));
}

#[test]
fn a_rule_comes_out_of_json_unchanged() {
    let ask = knowing(&tags());
    let text = serde_json::to_string(&ask).unwrap();
    let read: Ask = serde_json::from_str(&text).unwrap();
    assert_eq!(read.expect, ask.expect);
    assert_eq!(encoded(&read, choosing(8)), encoded(&ask, choosing(8)));
}
