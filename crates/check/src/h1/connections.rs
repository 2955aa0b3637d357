//! What became of a connection: how long it lasted, which requests on it were answered, and in which order.

use crate::answer::ReceivedAnswer;
use crate::condition::{Condition, when};
use crate::observation::Observation;

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("close_said", "close said", |seen| seen.first().is_some_and(ReceivedAnswer::says_close)),
    when("bodies_in_order", "the bodies A, B, C in this order", |seen| {
        contents(seen) == Some(vec![b"A", b"B", b"C"])
    }),
    when("first_body_then_end", "A, and then the end", |seen| {
        contents(seen) == Some(vec![b"A"]) && seen.is_closed()
    }),
    when("no_transfer_encoding", "an answer without Transfer-Encoding", |seen| {
        seen.first().is_some_and(|answer| answer.field("transfer-encoding").is_none())
    }),
    when("no_interim", "no 1xx", |seen| seen.reading.interim.is_empty()),
    when("keep_alive_said", "keep-alive said to HTTP/1.0", |seen| {
        seen.first().is_some_and(|answer| answer.has_token("connection", "keep-alive"))
    }),
    when("fewer_then_end", "fewer answers, and then the end", |seen| {
        contents(seen).is_some_and(|contents| !contents.is_empty()) && seen.is_closed()
    }),
    when("pages_and_bodies_in_order", "the page, dyno-A, the page, dyno-B", |seen| {
        matches!(contents(seen).as_deref(), Some([_, b"dyno-A", _, b"dyno-B"]))
    }),
    when("fewer_in_order_then_end", "fewer answers in this order, and then the end", |seen| {
        let first = contents(seen);
        let is_begun = matches!(first.as_deref(), Some([_] | [_, b"dyno-A"] | [_, b"dyno-A", _]));
        is_begun && seen.is_closed()
    }),
    when("upgrade_to_h2c", "Upgrade: h2c", |seen| {
        seen.first().is_some_and(|answer| answer.has_token("upgrade", "h2c"))
    }),
    when("continue_before_body", "100 before the body", is_asked_on),
    when("final_before_body", "a final answer before the body", is_decided_early),
    when("no_injected_line", "an answer without the injected line", has_no_injected_line),
    when("broken_off", "an answer that is broken off", is_broken_off),
    when("second_succeeds", "the second with success", |seen| {
        seen.nth(1).is_some_and(ReceivedAnswer::is_success)
    }),
];

/// The contents of all answers, if all of them are complete and successful.
fn contents(seen: &Observation) -> Option<Vec<&[u8]>> {
    let finals = &seen.reading.finals;
    let is_right = |answer: &ReceivedAnswer| answer.is_whole && answer.is_success();
    let contents = || finals.iter().map(|answer| answer.content.as_slice()).collect();
    finals.iter().all(is_right).then(contents)
}

/// 100 came before the body was sent.
fn is_asked_on(seen: &Observation) -> bool {
    is_received_early(seen) && seen.reading.interim.first().is_some_and(|it| it.status == 100)
}

/// No 100 came, but a final answer before the body was sent.
fn is_decided_early(seen: &Observation) -> bool {
    is_received_early(seen) && seen.reading.interim.is_empty() && seen.first().is_some()
}

fn is_received_early(seen: &Observation) -> bool {
    seen.marks.first().is_some_and(|received| *received > 0)
}

fn has_no_injected_line(seen: &Observation) -> bool {
    let mut answers = seen.reading.finals.iter().chain(&seen.reading.interim);
    seen.first().is_some() && answers.all(|answer| answer.field("x-dyno-injected").is_none())
}

fn is_broken_off(seen: &Observation) -> bool {
    let last = seen.reading.finals.last();
    seen.is_closed() && last.is_some_and(|answer| answer.status != 0 && !answer.is_whole)
}
