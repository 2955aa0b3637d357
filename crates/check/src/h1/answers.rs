//! What every answer must have: a date, a correct form, a type; and which fields it must not have twice.

use std::time::Duration;

use crate::answer::ReceivedAnswer;
use crate::case::{Area, Case, Level, semantics, syntax};
use crate::script::Rule::{All, Class, Ok, Status, When};
use crate::script::Step::{Receive, Send};
use crate::seen::Seen;

const BLANK: Case = Case { area: Area::Answers, twin: Some("H1-B01"), ..Case::BLANK };
/// As long as an answer may take.
const SOON: Duration = Duration::ZERO;

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H1-V01",
        title: "the Date of an answer",
        clause: semantics("6.6.1"),
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n")],
        pass: &[All(&[Ok, When("the Date of now", is_date_now)])],
        warn: &[All(&[Ok, When("another Date", has_date)])],
        demand: "an answer says when it was made, in the one form that dates are written in",
        doubt: "the clocks of two machines may differ, and a date may be a little old",
        ..BLANK
    },
    // It sends nothing, and judges every answer of the round.
    Case {
        id: crate::h1::PASSIVE,
        title: "the form of every answer",
        clause: syntax("2.1"),
        pass: &[When("every answer well-formed", |_| false)],
        demand: "a status line, fields and a framing that can be read in one way only",
        ..BLANK
    },
    Case {
        id: "H1-V03",
        title: "Content-Type",
        clause: semantics("8.3"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n")],
        applies: &[All(&[Ok, When("content", has_content)])],
        pass: &[When("Content-Type", has_type)],
        demand: "an answer with content says of which type it is",
        ..BLANK
    },
    Case {
        id: "H1-V04",
        title: "Allow in a 405",
        clause: semantics("10.2.1"),
        steps: &[
            Send(b"GET {post} HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n"),
            Receive(SOON),
            Send(b"PROPFIND {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"),
            Receive(SOON),
            Send(b"TRACE {get} HTTP/1.1\r\nHost: {H}\r\n\r\n"),
        ],
        answers: 3,
        applies: &[When("a 405", |seen| refusals(seen).next().is_some())],
        pass: &[When("Allow in each 405", |seen| {
            refusals(seen).count() > 0 && refusals(seen).all(|it| it.field("allow").is_some())
        })],
        demand: "a 405 says which methods are allowed",
        ..BLANK
    },
    Case {
        id: "H1-V05",
        title: "fields that there is only one of",
        clause: semantics("5.3"),
        weight: 1,
        steps: &[Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept: text/*\r\n\r\n")],
        applies: &[Ok],
        pass: &[All(&[Ok, When("none of them twice", |seen| twice(seen).is_none())])],
        demand: "a field that is no list stands in an answer once",
        ..BLANK
    },
    Case {
        id: "H1-V06",
        title: "gzip refused",
        clause: semantics("12.5.3"),
        level: Level::Should,
        weight: 1,
        steps: &[
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept-Encoding: gzip\r\n\r\n"),
            Receive(SOON),
            Send(b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept-Encoding: gzip;q=0\r\n\r\n"),
        ],
        answers: 2,
        applies: &[When("gzip where it is accepted, and an answer where it is not", |seen| {
            seen.nth(0).is_some_and(is_zipped) && seen.nth(1).is_some()
        })],
        pass: &[When("no gzip where it is not accepted", |seen| {
            seen.nth(1).is_some_and(|answer| answer.is_success() && !is_zipped(answer))
        })],
        warn: &[When("406", |seen| seen.nth(1).is_some_and(|answer| answer.status == 406))],
        demand: "a coding with the weight 0 is not used",
        doubt: "a server may refuse instead, though it could send the page as it is",
        ..BLANK
    },
    Case {
        id: "H1-V07",
        title: "Vary of what is sent in gzip",
        clause: semantics("12.5.5"),
        level: Level::Should,
        weight: 1,
        steps: &[Send(
            b"GET {get} HTTP/1.1\r\nHost: {H}\r\nAccept-Encoding: gzip, identity\r\n\r\n",
        )],
        applies: &[When("gzip that may be stored", |seen| {
            let is_stored = |it: &ReceivedAnswer| !it.has_token("cache-control", "no-store");
            seen.first().is_some_and(|it| it.is_success() && is_zipped(it) && is_stored(it))
        })],
        pass: &[When("Vary: Accept-Encoding", |seen| {
            let varies = |it: &ReceivedAnswer| {
                it.has_token("vary", "accept-encoding") || it.has_token("vary", "*")
            };
            seen.first().is_some_and(varies)
        })],
        demand: "an answer that depends on Accept-Encoding says so, or a cache gives it to clients that cannot read it",
        ..BLANK
    },
    Case {
        id: "H1-V08",
        title: "the Date of a 404",
        clause: semantics("6.6.1"),
        weight: 1,
        steps: &[Send(b"GET /dyno-no-such-page HTTP/1.1\r\nHost: {H}\r\nAccept: */*\r\n\r\n")],
        applies: &[Status(404)],
        pass: &[All(&[Status(404), When("a Date", has_date)])],
        demand: "an answer of the classes 2, 3 and 4 has a Date, not only a good one",
        ..BLANK
    },
    Case {
        id: "H1-V09",
        title: "the Date of a refusal",
        clause: semantics("6.6.1"),
        weight: 1,
        steps: &[Send(b"GET {get} HTTP/1.1\r\nAccept: */*\r\n\r\n")],
        applies: &[Class(4)],
        pass: &[All(&[Class(4), When("a Date", has_date)])],
        warn: &[Class(4)],
        demand: "an answer of the class 4 has a Date, even if the request could not be understood",
        doubt: "what refuses a broken request may be too small a part of the server to have a clock",
        ..BLANK
    },
];

fn has_content(seen: &Seen) -> bool {
    seen.first().is_some_and(|answer| !answer.content.is_empty())
}

fn has_type(seen: &Seen) -> bool {
    let kind = seen.first().and_then(|answer| answer.field("content-type"));
    kind.is_some_and(|kind| kind.contains(&b'/'))
}

fn is_zipped(answer: &ReceivedAnswer) -> bool {
    answer.has_token("content-encoding", "gzip")
}

fn refusals(seen: &Seen) -> impl Iterator<Item = &ReceivedAnswer> {
    seen.wholes().filter(|answer| answer.status == 405)
}

/// A field that occurs twice and may not.
fn twice(seen: &Seen) -> Option<&'static str> {
    const ONCE: [&str; 10] = [
        "date",
        "content-length",
        "content-type",
        "content-location",
        "content-range",
        "etag",
        "last-modified",
        "location",
        "age",
        "retry-after",
    ];
    let answer = seen.first()?;
    ONCE.into_iter().find(|name| answer.all(name).count() > 1)
}

fn date(seen: &Seen) -> Option<u64> {
    seen.first()?.field("date").and_then(unix_s)
}

fn has_date(seen: &Seen) -> bool {
    date(seen).is_some()
}

/// Within two seconds, plus the time that the exchange took.
fn is_date_now(seen: &Seen) -> bool {
    const SLACK_S: u64 = 2;
    let earliest = seen.unix_s.saturating_sub(seen.took.as_secs() + SLACK_S + 1);
    date(seen).is_some_and(|date| (earliest..=seen.unix_s + SLACK_S).contains(&date))
}

/// RFC 9110, 5.6.7: the one form that is written today, `Sun, 06 Nov 1994 08:49:37 GMT`.
fn unix_s(text: &[u8]) -> Option<u64> {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() == 29 && text.is_ascii())?;
    let shape = |at: usize, what: &str| text[at..].starts_with(what);
    let is_shaped = shape(3, ", ") && shape(7, " ") && shape(11, " ") && shape(16, " ");
    if !is_shaped || !shape(19, ":") || !shape(22, ":") || !shape(25, " GMT") {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = &text[from..to];
        let is_number = digits.bytes().all(|octet| octet.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|_| is_number)
    };
    let month = MONTHS.iter().position(|month| text[8..11] == **month)? as u64;
    let (day, year) = (number(5, 7)?, number(12, 16)?);
    let (hour, minute, second) = (number(17, 19)?, number(20, 22)?, number(23, 25)?);
    // A leap second is a second.
    if !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 || year < 1970 {
        return None;
    }
    let days = days(year, month, day);
    let is_day = text[..3] == *DAYS[(days % 7) as usize];
    is_day.then_some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Days since 1970; months count from 0. The year begins in March, so that February's length does not matter.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let leaps = year / 4 - year / 100 + year / 400;
    year * 365 + leaps + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::unix_s;

    #[test]
    fn dates_are_read_in_one_form_only() {
        assert_eq!(unix_s(b"Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(unix_s(b"Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(unix_s(b"Tue, 29 Feb 2000 00:00:00 GMT"), Some(951_782_400));
        assert_eq!(unix_s(b"Mon, 01 Mar 2100 00:00:00 GMT"), Some(4_107_542_400));
        for wrong in [
            "Mon, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +00",
            "Sun, 6 Nov 1994 08:49:37 GMT ",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:+9:37 GMT",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 N\u{f8}v 994 08:49:37 GMT",
            "",
        ] {
            assert_eq!(unix_s(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
