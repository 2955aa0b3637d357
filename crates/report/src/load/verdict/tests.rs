use crate::load::fixture::{MS, answer_after, closed, fail, healthy, open};

use analysis::Verdict;
use load::End;

use super::*;

fn healthy_verdict() -> ExplainedVerdict {
    ExplainedVerdict { word: Some(Verdict::Valid), doubts: Vec::new() }
}

fn weigh(recording: &Recording, order: &Order) -> ExplainedVerdict {
    super::weigh(recording, order, None, (&[], &[]))
}

/// Before the change there is no doubt; after it there is this one, which says this, and the verdict is this word.
fn raises(
    (id, word, says): (&str, Verdict, &str),
    order: &Order,
    change: impl FnOnce(&mut Recording),
) {
    let mut recording = healthy();
    assert_eq!(weigh(&recording, order), healthy_verdict(), "a healthy run has no doubts");
    change(&mut recording);
    let verdict = weigh(&recording, order);
    let found = verdict.doubts.iter().find(|doubt| doubt.id == id);
    let doubt = found.unwrap_or_else(|| panic!("{id} is not among {verdict:?}"));
    assert_eq!(verdict.word, Some(word), "{id}");
    assert!(format!("{} {}", doubt.says, doubt.what_to_do).contains(says), "{verdict:?}");
}

#[test]
fn a_change_raises_its_doubt() {
    use Verdict::{Invalid, Suspect, Valid};
    let (open, closed) = (&open(), &closed());
    raises(("books", Invalid, ""), closed, |it| it.total.attempted += 1);
    let refused = |times| move |it: &mut Recording| fail(it, Failure::ConnectRefused, times);
    raises(("failures", Valid, ""), closed, refused(100));
    raises(("failures", Suspect, ""), closed, refused(1_000));
    let ports = |times| move |it: &mut Recording| fail(it, Failure::NoPorts, times);
    raises(("own_failures", Suspect, ""), closed, ports(10));
    raises(("own_failures", Invalid, "--source"), closed, ports(1_000));
    raises(("nothing_measured", Invalid, ""), closed, |it| fail(it, Failure::Deadline, 20_000));
    let gave_up = End::GaveUp(Failure::ConnectRefused);
    raises(("gave_up", Invalid, ""), closed, |it| it.end = gave_up);
    // Without times of theirs the books do not balance, either.
    raises(("under_way", Invalid, ""), closed, |it| {
        (it.total.under_way, it.total.attempted) = (3, it.total.attempted + 3);
    });
    raises(("blocked", Valid, ""), open, |it| {
        it.total.blocked.record_many(2 * MS, 300);
    });
}

#[test]
fn requests_that_wait_until_their_own_connections_are_open_are_not_blocked() {
    let mut recording = healthy();
    recording.total.connect.record_many(3 * MS, 300);
    recording.total.blocked.record_many(2 * MS, 300);
    assert!(!weigh(&recording, &open()).has("blocked"));
    recording.total.blocked.record_many(2 * MS, 300);
    assert!(weigh(&recording, &open()).has("blocked"));
}

#[test]
fn lateness_is_measured_against_the_latency() {
    let mut recording = healthy();
    recording.total.late.record_many(3 * MS, 400);
    recording.total.response.record_many(50 * MS, 60_000);
    assert!(!weigh(&recording, &open()).has("instrument_late"));
}

#[test]
fn what_is_on_time_is_of_schedules_only() {
    let mut recording = healthy();
    recording.total.on_time = 19_000;
    assert!(!weigh(&recording, &closed()).has("not_on_time"));
}

#[test]
fn a_queue_that_was_full_is_reported() {
    let of = |overflows| {
        let queue = Queue { backlog: Some(5), overflows };
        super::weigh(&healthy(), &closed(), Some(queue), (&[], &[]))
    };
    assert_eq!(of(0), healthy_verdict());
    assert_eq!(of(41).doubts[0].id, "accept_queue_full");
    assert!(of(41).doubts[0].says.starts_with("41 connections found an accept queue"));
}

#[test]
fn few_samples_do_not_carry_high_percentiles() {
    let with = |samples| {
        let mut recording = healthy();
        answer_after(&mut recording.total, &[(samples, MS)]);
        weigh(&recording, &closed())
    };
    assert_eq!(with(900).word, Some(Verdict::Suspect));
    assert!(with(900).doubts[0].says.contains("900 samples are too few for a p99"));
    assert_eq!(with(9_000).word, Some(Verdict::Valid));
    assert!(with(9_000).has("too_few_samples"));
    assert!(!with(11_000).has("too_few_samples"));
}
