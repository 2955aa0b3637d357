//! Methods: what is answered to HEAD, OPTIONS and TRACE.

use crate::answer::ReceivedAnswer;
use crate::condition::{Condition, when};
use crate::observation::Observation;

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("head_then_get", "a head without content, then the answer to GET", is_head_then_get),
    when("head_then_end", "a head without content, then the end", is_head_then_end),
    when(
        "length_stays",
        "a length told to HEAD, of a page with content that keeps its length",
        is_steady,
    ),
    when("length_of_get", "the length of GET's content", is_length_true),
    when("head_and_get_answered", "HEAD and GET both answered", have_both_succeeded),
    when("all_fields_of_get", "all the fields of GET's answer", has_all_fields),
    when("fewer_fields_than_get", "fewer fields than GET's answer", have_both_succeeded),
    when("is_message_http", "message/http", |seen| {
        let kind = seen.first().and_then(|answer| answer.field("content-type"));
        kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"message/http"))
    }),
    when("has_secret", "the secret", has_secret),
    when("has_allow", "Allow", |seen| {
        seen.first().is_some_and(|answer| answer.field("allow").is_some())
    }),
];

fn is_bodiless(head: &ReceivedAnswer) -> bool {
    head.flaws.is_empty() && (200..600).contains(&head.status)
}

/// The bytes after the head were an answer of their own, so the answer to HEAD had no content.
fn is_head_then_get(seen: &Observation) -> bool {
    match seen.reading.finals.as_slice() {
        [head, get] => {
            is_bodiless(head) && get.is_whole && get.is_success() && get.flaws.is_empty()
        }
        [head] => is_bodiless(head) && head.says_close() && seen.is_closed(),
        _ => false,
    }
}

fn is_head_then_end(seen: &Observation) -> bool {
    matches!(seen.reading.finals.as_slice(), [head] if is_bodiless(head) && seen.is_closed())
}

fn is_steady(seen: &Observation) -> bool {
    let (Some(head), Some(once), Some(again)) = (seen.nth(0), seen.nth(1), seen.nth(2)) else {
        return false;
    };
    let lengths = (once.content.len(), again.content.len());
    head.field("content-length").is_some()
        && lengths.0 == lengths.1
        && lengths.0 > 0
        && [head, again].iter().all(|it| it.status == once.status)
}

fn is_length_true(seen: &Observation) -> bool {
    let stated = seen.nth(0).and_then(|head| head.field("content-length"));
    let true_length = seen.nth(1).map(|get| get.content.len().to_string());
    stated.is_some() && stated == true_length.as_deref().map(str::as_bytes)
}

fn have_both_succeeded(seen: &Observation) -> bool {
    [0, 1].iter().all(|number| seen.nth(*number).is_some_and(ReceivedAnswer::is_success))
}

fn has_all_fields(seen: &Observation) -> bool {
    /// Fields about how an answer is sent, not about its content; and fields that may change each time.
    const FREE: [&str; 7] = [
        "content-length",
        "transfer-encoding",
        "trailer",
        "connection",
        "keep-alive",
        "date",
        "set-cookie",
    ];
    let (Some(head), Some(get)) = (seen.nth(0), seen.nth(1)) else { return false };
    let mut owed = get.fields.iter().filter(|(name, _)| !FREE.contains(&name.as_str()));
    owed.all(|(name, _)| head.field(name).is_some())
}

fn has_secret(seen: &Observation) -> bool {
    let holds = |secret: &[u8]| seen.received.windows(secret.len()).any(|window| window == secret);
    holds(b"ZHlubzpkeW5v") || holds(b"dyno=secret")
}
