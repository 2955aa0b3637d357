//! Conditional requests and ranges: what a server answers that has entity tags, modification times, or accepts ranges.

use crate::answer::ReceivedAnswer;
use crate::condition::{Condition, when};
use crate::observation::Observation;

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("etag_stays", "an ETag that stays the same", has_steady_tag),
    when("own_tag_unmodified", "304 to a request with the page's own tag", is_unmodified),
    when("then_get_or_end", "then the answer to GET, or the end", is_then_right),
    when("second_is_304", "a 304", is_unmodified),
    when("fields_for_caches", "the fields of the page that caches need", has_cache_fields),
    when("etag_and_modified", "ETag and Last-Modified", |seen| {
        has_both(seen, "etag") && has_both(seen, "last-modified")
            || has_first(seen, "etag") && is_unmodified(seen)
    }),
    when("other_tag_served", "2xx to a request with another tag", |seen| {
        seen.nth(1).is_some_and(ReceivedAnswer::is_success)
    }),
    when("etag_unmodified", "a 304 to the ETag", is_unmodified),
    when("any_tag_unmodified", "304 to any", |seen| seen.status(2) == Some(304)),
    when("this_tag_unmodified", "304 to this, too", |seen| seen.status(2) == Some(304)),
    when("has_etag", "an ETag", |seen| has_first(seen, "etag")),
    when("tag_in_quotes", "a quoted tag, perhaps with W/", |seen| {
        seen.first().and_then(|answer| answer.field("etag")).is_some_and(is_tag)
    }),
    when("modified_or_304", "Last-Modified, or a 304", |seen| {
        has_first(seen, "last-modified") || seen.status(0) == Some(304)
    }),
    when("modified_stays", "a Last-Modified that stays the same", |seen| {
        let modified = |number| seen.nth(number).and_then(|it| it.field("last-modified"));
        let has_changed =
            seen.nth(1).is_some_and(ReceivedAnswer::is_success) && modified(1) != modified(0);
        modified(0).is_some() && seen.nth(1).is_some() && !has_changed
    }),
    when("own_date_unmodified", "304 to a request with the page's own date", is_unmodified),
    when("first_octet_alone", "one octet, and where it is from", is_first_octet),
    when("ranges_served", "ranges, and an answer to this one", |seen| {
        seen.status(0) == Some(206) && seen.nth(1).is_some()
    }),
    when("range_refused_with_length", "416 with the page's length", |seen| {
        let length = seen.nth(1).and_then(|answer| answer.field("content-range"));
        seen.status(1) == Some(416) && length.is_some_and(|it| it.starts_with(b"bytes */"))
    }),
    when("second_is_416", "416", |seen| seen.status(1) == Some(416)),
    when("second_is_whole_page", "the whole page", |seen| seen.status(1) == Some(200)),
    when("parts_not_much_larger", "an answer not much larger than the page", |seen| {
        seen.nth(1).is_some() && !is_flooded_by_parts(seen)
    }),
    when("end_instead_of_second", "the end instead of an answer", |seen| {
        seen.reading.finals.len() == 1 && seen.is_closed()
    }),
    when("takes_byte_ranges", "Accept-Ranges: bytes, or a part", |seen| {
        let takes = |answer: &ReceivedAnswer| answer.has_token("accept-ranges", "bytes");
        seen.first().is_some_and(takes) || matches!(seen.status(0), Some(206 | 416))
    }),
];

fn has_first(seen: &Observation, name: &str) -> bool {
    seen.first().is_some_and(|answer| answer.field(name).is_some())
}

fn has_both(seen: &Observation, name: &str) -> bool {
    [0, 1].iter().all(|number| seen.nth(*number).is_some_and(|it| it.field(name).is_some()))
}

fn has_answered_tag(seen: &Observation) -> bool {
    has_first(seen, "etag") && seen.nth(1).is_some()
}

/// A page that changed between the two requests need not be the one that the client has.
fn has_steady_tag(seen: &Observation) -> bool {
    let tag = |number| seen.nth(number).and_then(|answer| answer.field("etag"));
    let has_changed = seen.nth(1).is_some_and(ReceivedAnswer::is_success) && tag(1) != tag(0);
    has_answered_tag(seen) && !has_changed
}

fn is_unmodified(seen: &Observation) -> bool {
    seen.status(1) == Some(304)
}

/// No bytes of a 304 were taken for the next answer.
fn is_then_right(seen: &Observation) -> bool {
    match seen.reading.finals.get(2) {
        Some(third) => third.is_whole && third.is_success() && third.flaws.is_empty(),
        None => seen.is_closed(),
    }
}

fn has_cache_fields(seen: &Observation) -> bool {
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

fn is_first_octet(seen: &Observation) -> bool {
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

/// More than four pages, plus what a small answer may have beside the page.
fn is_flooded_by_parts(seen: &Observation) -> bool {
    const BESIDE: u64 = 64 << 10;
    let page = seen.nth(0).and_then(total).unwrap_or(0);
    let begin = seen.marks.first().copied().unwrap_or(0);
    (seen.received.len() - begin) as u64 > BESIDE.saturating_add(page.saturating_mul(4))
}
