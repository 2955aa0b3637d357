//! Conditions and ranges: what a server must do that sends entity tags, modification times, or accepts ranges.

use std::time::Duration;

use crate::answer::ReceivedAnswer;
use crate::case::{Area, Case, Level, Need, Tag, semantics};
use crate::script::Rule::{All, Echo, Not, Ok, Status, When};
use crate::script::Step::{Quote, Receive, Send};
use crate::seen::Seen;

const BLANK: Case = Case { area: Area::Conditions, twin: Some("H1-B01"), ..Case::BLANK };
/// As long as an answer may take.
const SOON: Duration = Duration::ZERO;
const GET: &[u8] = b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n";
const IF_CHANGED: &[u8] = b"GET {get} HTTP/1.1\r\nHost: {H}\r\nIf-None-Match: {etag}\r\n\r\n";
const FIRST_OCTET: &[u8] =
    b"GET {get} HTTP/1.1\r\nHost: {H}\r\nRange: bytes=0-0\r\nAccept: */*\r\n\r\n";
/// The whole page a thousand times.
const MANY: &[u8] = &many();

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-N01",
        title: "If-None-Match with the page's ETag",
        clause: semantics("13.1.2"),
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(IF_CHANGED),
            Receive(SOON),
            Send(GET),
        ],
        answers: 3,
        applies: &[When("an ETag that stays the same", has_steady_tag)],
        pass: &[All(&[
            When("304 to a request with the page's own tag", is_unmodified),
            When("then the answer to GET, or the end", is_then_right),
        ])],
        demand: "a page that the client has already is answered with 304, and without content",
        ..BLANK
    },
    Case {
        id: "H1-N02",
        title: "the fields of a 304",
        clause: semantics("15.4.5"),
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(IF_CHANGED),
        ],
        answers: 2,
        applies: &[When("a 304", is_unmodified)],
        pass: &[When("the fields of the page that caches need", has_cache_fields)],
        demand: "a 304 has the ETag, Date, Vary, Cache-Control, Expires and Content-Location of the 200",
        ..BLANK
    },
    Case {
        id: "H1-N03",
        title: "If-None-Match beside If-Modified-Since",
        clause: semantics("13.1.3"),
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(
                b"GET {get} HTTP/1.1\r\nHost: {H}\r\nIf-None-Match: \"dyno-other\"\r\n\
                  If-Modified-Since: {modified}\r\n\r\n",
            ),
        ],
        answers: 2,
        applies: &[When("ETag and Last-Modified", |seen| {
            has_both(seen, "etag") && has_both(seen, "last-modified")
                || has_first(seen, "etag") && is_unmodified(seen)
        })],
        pass: &[When("2xx to a request with another tag", |seen| {
            seen.nth(1).is_some_and(ReceivedAnswer::is_success)
        })],
        demand: "beside If-None-Match, If-Modified-Since is ignored",
        ..BLANK
    },
    Case {
        id: "H1-N04",
        title: "If-None-Match with any tag",
        clause: semantics("13.1.2"),
        weight: 1,
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(IF_CHANGED),
            Receive(SOON),
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nIf-None-Match: *\r\n\r\n"),
        ],
        answers: 3,
        applies: &[When("a 304 to the ETag", is_unmodified)],
        pass: &[When("304 to any", is_unmodified_again)],
        demand: "* stands for whatever the page is now",
        ..BLANK
    },
    Case {
        id: "H1-N05",
        title: "If-None-Match with several tags",
        clause: semantics("13.1.2"),
        weight: 1,
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(IF_CHANGED),
            Receive(SOON),
            Quote(
                b"GET {get} HTTP/1.1\r\nHost: {H}\r\n\
                  If-None-Match: \"dyno-a\", {etag}, \"dyno-b\"\r\n\r\n",
            ),
        ],
        answers: 3,
        applies: &[When("a 304 to the ETag", is_unmodified)],
        pass: &[When("304 to this, too", is_unmodified_again)],
        demand: "one tag of the list is enough",
        ..BLANK
    },
    Case {
        id: "H1-N06",
        title: "If-None-Match with the weak form of the tag",
        clause: semantics("13.1.2"),
        weight: 1,
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(IF_CHANGED),
            Receive(SOON),
            Quote(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nIf-None-Match: {weak}\r\n\r\n"),
        ],
        answers: 3,
        applies: &[When("a 304 to the ETag", is_unmodified)],
        pass: &[When("304 to this, too", is_unmodified_again)],
        demand: "for If-None-Match a weak tag is the same as a strong one",
        ..BLANK
    },
    Case {
        id: "H1-N07",
        title: "the form of an ETag",
        clause: semantics("8.8.3"),
        steps: &[Send(GET)],
        applies: &[All(&[Ok, When("an ETag", |seen| has_first(seen, "etag"))])],
        pass: &[When("a quoted tag, perhaps with W/", |seen| {
            seen.first().and_then(|answer| answer.field("etag")).is_some_and(is_tag)
        })],
        demand: "a tag stands in quotes",
        ..BLANK
    },
    Case {
        id: "H1-N08",
        title: "If-Modified-Since that is no date",
        clause: semantics("13.1.3"),
        weight: 1,
        steps: &[Send(
            b"GET {get} HTTP/1.1\r\nHost: {H}\r\nIf-Modified-Since: the other day\r\n\r\n",
        )],
        applies: &[When("Last-Modified, or a 304", |seen| {
            has_first(seen, "last-modified") || is_first(seen, 304)
        })],
        pass: &[Ok],
        demand: "If-Modified-Since with what is no date is ignored",
        ..BLANK
    },
    Case {
        id: "H1-N09",
        title: "If-Modified-Since with the page's Last-Modified",
        clause: semantics("13.1.3"),
        level: Level::Should,
        weight: 1,
        steps: &[
            Send(GET),
            Receive(SOON),
            Quote(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nIf-Modified-Since: {modified}\r\n\r\n"),
        ],
        answers: 2,
        applies: &[When("a Last-Modified that stays the same", |seen| {
            let modified = |number| seen.nth(number).and_then(|it| it.field("last-modified"));
            let has_changed = seen.nth(1).is_some_and(ReceivedAnswer::is_success)
                && modified(1) != modified(0);
            modified(0).is_some() && seen.nth(1).is_some() && !has_changed
        })],
        pass: &[When("304 to a request with the page's own date", is_unmodified)],
        demand: "a page that has not changed since is answered with 304",
        ..BLANK
    },
    Case {
        id: "H1-G01",
        title: "the first octet of a page",
        clause: semantics("15.3.7.1"),
        steps: &[Send(FIRST_OCTET)],
        applies: &[Status(206)],
        pass: &[When("one octet, and where it is from", is_first_octet)],
        demand: "206 has the part that was asked for, and Content-Range says which part it is",
        ..BLANK
    },
    Case {
        id: "H1-G02",
        title: "a range behind the page's end",
        clause: semantics("15.5.17"),
        level: Level::Should,
        weight: 1,
        steps: &[
            Send(FIRST_OCTET),
            Receive(SOON),
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nRange: bytes=8999999999999-\r\n\r\n"),
        ],
        answers: 2,
        applies: &[When("ranges, and an answer to this one", takes_ranges)],
        pass: &[When("416 with the page's length", |seen| {
            let length = seen.nth(1).and_then(|answer| answer.field("content-range"));
            is_second(seen, 416) && length.is_some_and(|it| it.starts_with(b"bytes */"))
        })],
        warn: &[
            When("416", |seen| is_second(seen, 416)),
            When("the whole page", |seen| is_second(seen, 200)),
        ],
        demand: "a range that the page does not reach is answered with 416, which tells the page's length",
        doubt: "a range may be ignored, and the length is only advised",
        ..BLANK
    },
    Case {
        id: "H1-G03",
        title: "a thousand ranges",
        clause: semantics("17.15"),
        level: Level::Ought,
        tags: &[Tag::Size],
        steps: &[Send(FIRST_OCTET), Receive(SOON), Send(MANY)],
        answers: 2,
        applies: &[Status(206)],
        pass: &[When("an answer not much larger than the page", |seen| {
            seen.nth(1).is_some() && !is_flooded_by_parts(seen)
        })],
        warn: &[When("the end instead of an answer", |seen| {
            seen.reading.finals.len() == 1 && seen.is_closed()
        })],
        demand: "many ranges over the same octets are joined, ignored or refused",
        doubt: "ending the connection refuses them, too, but does not say so",
        ..BLANK
    },
    Case {
        id: "H1-G04",
        title: "Range of a POST",
        clause: semantics("14.2"),
        needs: Need::Echo,
        steps: &[Send(
            b"POST {post} HTTP/1.1\r\nHost: {H}\r\nRange: bytes=0-0\r\nContent-Length: 5\r\n\r\nhello",
        )],
        pass: &[All(&[Echo(b"hello"), Not(&Status(206))])],
        demand: "ranges are for GET; elsewhere Range is ignored",
        ..BLANK
    },
    Case {
        id: "H1-G05",
        title: "a range in an unknown unit",
        clause: semantics("14.2"),
        weight: 1,
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nRange: dyno=0-0\r\n\r\n")],
        applies: &[When("Accept-Ranges: bytes, or a part", |seen| {
            let takes = |answer: &ReceivedAnswer| answer.has_token("accept-ranges", "bytes");
            seen.first().is_some_and(takes) || is_first(seen, 206) || is_first(seen, 416)
        })],
        pass: &[All(&[Ok, Not(&Status(206))])],
        demand: "a Range in an unknown unit is ignored",
        ..BLANK
    },
];

const MANY_BEGIN: &[u8] = b"GET {get} HTTP/1.1\r\nHost: {H}\r\nRange: bytes=0-";
const MANY_MORE: &[u8] = b",0-";
const MANY_END: &[u8] = b"\r\n\r\n";
const MANY_LEN: usize = MANY_BEGIN.len() + 999 * MANY_MORE.len() + MANY_END.len();

/// The request for a thousand ranges.
const fn many() -> [u8; MANY_LEN] {
    let mut all = [0; MANY_LEN];
    let mut at = 0;
    while at < MANY_LEN {
        let behind = MANY_LEN - at;
        all[at] = if at < MANY_BEGIN.len() {
            MANY_BEGIN[at]
        } else if behind <= MANY_END.len() {
            MANY_END[MANY_END.len() - behind]
        } else {
            MANY_MORE[(at - MANY_BEGIN.len()) % MANY_MORE.len()]
        };
        at += 1;
    }
    all
}

fn has_first(seen: &Seen, name: &str) -> bool {
    seen.first().is_some_and(|answer| answer.field(name).is_some())
}

fn has_both(seen: &Seen, name: &str) -> bool {
    [0, 1].iter().all(|number| seen.nth(*number).is_some_and(|it| it.field(name).is_some()))
}

fn has_answered_tag(seen: &Seen) -> bool {
    has_first(seen, "etag") && seen.nth(1).is_some()
}

/// A page that changed between the two requests need not be the one that the client has.
fn has_steady_tag(seen: &Seen) -> bool {
    let tag = |number| seen.nth(number).and_then(|answer| answer.field("etag"));
    let has_changed = seen.nth(1).is_some_and(ReceivedAnswer::is_success) && tag(1) != tag(0);
    has_answered_tag(seen) && !has_changed
}

fn is_unmodified(seen: &Seen) -> bool {
    is_second(seen, 304)
}

fn is_unmodified_again(seen: &Seen) -> bool {
    seen.nth(2).is_some_and(|answer| answer.status == 304)
}

fn is_first(seen: &Seen, status: u16) -> bool {
    seen.nth(0).is_some_and(|answer| answer.status == status)
}

fn is_second(seen: &Seen, status: u16) -> bool {
    seen.nth(1).is_some_and(|answer| answer.status == status)
}

/// No bytes of a 304 were taken for the next answer.
fn is_then_right(seen: &Seen) -> bool {
    match seen.reading.finals.get(2) {
        Some(third) => third.is_whole && third.is_success() && third.flaws.is_empty(),
        None => seen.is_closed(),
    }
}

fn has_cache_fields(seen: &Seen) -> bool {
    const OWED: [&str; 6] =
        ["etag", "date", "vary", "cache-control", "expires", "content-location"];
    let (Some(page), Some(short)) = (seen.nth(0), seen.nth(1)) else { return false };
    OWED.iter().all(|name| page.field(name).is_none() || short.field(name).is_some())
}

fn is_tag(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"W/").unwrap_or(value);
    let inside = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    inside.is_some_and(|tag| tag.iter().all(|octet| matches!(octet, 0x21 | 0x23..=0x7e | 0x80..)))
}

fn is_first_octet(seen: &Seen) -> bool {
    let Some(answer) = seen.first() else { return false };
    let range = answer.field("content-range").unwrap_or_default();
    let length = range.strip_prefix(b"bytes 0-0/").unwrap_or_default();
    let is_length = length == b"*" || total(answer).is_some_and(|length| length > 0);
    answer.status == 206 && is_length && answer.content.len() == 1
}

/// The length of the page of which a part was sent.
fn total(answer: &ReceivedAnswer) -> Option<u64> {
    let range = std::str::from_utf8(answer.field("content-range")?).ok()?;
    range.rsplit('/').next()?.parse().ok()
}

fn takes_ranges(seen: &Seen) -> bool {
    seen.nth(0).is_some_and(|answer| answer.status == 206) && seen.nth(1).is_some()
}

/// More than four pages, plus what a small answer may have beside the page.
fn is_flooded_by_parts(seen: &Seen) -> bool {
    const BESIDE: u64 = 64 << 10;
    let page = seen.nth(0).and_then(total).unwrap_or(0);
    let begin = seen.marks.first().copied().unwrap_or(0);
    (seen.received.len() - begin) as u64 > BESIDE.saturating_add(page.saturating_mul(4))
}
