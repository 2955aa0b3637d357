//! What every answer must have: a date, a type; and which fields it must not have twice.

use crate::answer::ReceivedAnswer;
use crate::condition::{Condition, when};
use crate::observation::Observation;

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("date_of_now", "the Date of now", is_date_now),
    when("another_date", "another Date", has_date),
    when("has_content", "content", |seen| {
        seen.first().is_some_and(|answer| !answer.content.is_empty())
    }),
    when("has_content_type", "Content-Type", |seen| {
        let kind = seen.first().and_then(|answer| answer.field("content-type"));
        kind.is_some_and(|kind| kind.contains(&b'/'))
    }),
    when("has_405", "a 405", |seen| refusals(seen).next().is_some()),
    when("allow_in_each_405", "Allow in each 405", |seen| {
        refusals(seen).count() > 0 && refusals(seen).all(|it| it.field("allow").is_some())
    }),
    when("no_field_twice", "none of them twice", |seen| twice(seen).is_none()),
    when("gzip_if_accepted", "gzip where it is accepted, and an answer where it is not", |seen| {
        seen.nth(0).is_some_and(is_zipped) && seen.nth(1).is_some()
    }),
    when("no_gzip_if_refused", "no gzip where it is not accepted", |seen| {
        seen.nth(1).is_some_and(|answer| answer.is_success() && !is_zipped(answer))
    }),
    when("second_is_406", "406", |seen| seen.status(1) == Some(406)),
    when("gzip_to_be_stored", "gzip that may be stored", |seen| {
        let is_stored = |it: &ReceivedAnswer| !it.has_token("cache-control", "no-store");
        seen.first().is_some_and(|it| it.is_success() && is_zipped(it) && is_stored(it))
    }),
    when("varies_by_encoding", "Vary: Accept-Encoding", |seen| {
        let varies = |it: &ReceivedAnswer| {
            it.has_token("vary", "accept-encoding") || it.has_token("vary", "*")
        };
        seen.first().is_some_and(varies)
    }),
    when("a_date", "a Date", has_date),
];

fn is_zipped(answer: &ReceivedAnswer) -> bool {
    answer.has_token("content-encoding", "gzip")
}

fn refusals(seen: &Observation) -> impl Iterator<Item = &ReceivedAnswer> {
    seen.wholes().filter(|answer| answer.status == 405)
}

/// A field that occurs twice and may not.
fn twice(seen: &Observation) -> Option<&'static str> {
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

fn date(seen: &Observation) -> Option<u64> {
    seen.first()?.field("date").and_then(unix_s)
}

fn has_date(seen: &Observation) -> bool {
    date(seen).is_some()
}

/// Within two seconds, plus the time that the exchange took.
fn is_date_now(seen: &Observation) -> bool {
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
