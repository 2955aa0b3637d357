use crate::load::fixture::{MS, answer_after, closed, fail, healthy, open};

use analysis::Verdict;
use load::{End, SECOND};

use super::*;

fn healthy_verdict() -> ExplainedVerdict {
    ExplainedVerdict { word: Some(Verdict::Valid), doubts: Vec::new() }
}

fn weigh(recording: &Recording, order: &Order) -> ExplainedVerdict {
    super::weigh(recording, order, None, (&[], &[]))
}

/// Before the change there is no doubt; after it, this one is there.
fn check(id: &str, order: &Order, change: impl FnOnce(&mut Recording)) -> ExplainedVerdict {
    let mut recording = healthy();
    assert_eq!(weigh(&recording, order), healthy_verdict(), "a healthy run has no doubts");
    change(&mut recording);
    let verdict = weigh(&recording, order);
    assert!(verdict.has(id), "{id} is not among {verdict:?}");
    verdict
}

#[test]
fn a_healthy_run_is_valid() {
    assert_eq!(weigh(&healthy(), &closed()).word, Some(Verdict::Valid));
    assert_eq!(weigh(&healthy(), &open()).word, Some(Verdict::Valid));
}

#[test]
fn a_busy_instrument_may_be_the_limit() {
    let verdict = check("instrument_busy", &closed(), |recording| {
        recording.lanes[0].idle = SECOND / 2;
        recording.lanes[0].cpu_time = 9 * SECOND;
    });
    assert_eq!(verdict.word, Some(Verdict::Suspect));
    assert!(verdict.doubts[0].says.contains("busy 95 % of the time"), "{verdict:?}");
}

#[test]
fn a_late_instrument_is_reported_with_its_bound() {
    let verdict = check("instrument_late", &open(), |recording| {
        (0..400).for_each(|_| recording.total.late.record(3 * MS));
    });
    assert!(verdict.doubts[0].says.contains("at least 3.00 ms late (limit: 1.00 ms)"));
}

#[test]
fn lateness_is_measured_against_the_latency() {
    let mut recording = healthy();
    (0..400).for_each(|_| recording.total.late.record(3 * MS));
    (0..60_000).for_each(|_| recording.total.response.record(50 * MS));
    assert!(!weigh(&recording, &open()).has("instrument_late"));
}

#[test]
fn a_server_that_does_not_keep_up_is_reported_for_schedules_only() {
    let late = |recording: &mut Recording| recording.total.on_time = 19_000;
    let verdict = check("not_on_time", &open(), late);
    assert_eq!(verdict.word, Some(Verdict::Valid), "its numbers stand");
    assert_eq!(
        verdict.doubts[0].says,
        "The server did not keep up: 19,000 of the 20,000 requests that were due (95 %) were answered correctly within \
         5.00 s."
    );
    let mut recording = healthy();
    late(&mut recording);
    assert!(!weigh(&recording, &closed()).has("not_on_time"));
}

#[test]
fn answers_that_came_after_the_end_are_on_time_all_the_same() {
    let mut recording = healthy();
    recording.total.correct_inside = 10_000;
    assert_eq!(weigh(&recording, &open()), healthy_verdict());
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

#[test]
fn a_mean_above_the_p99_is_reported() {
    let verdict = check("mean_above_p99", &open(), |recording| {
        answer_after(&mut recording.total, &[(19_900, MS), (100, SECOND)]);
    });
    assert!(verdict.doubts[0].says.starts_with("The mean (6.0"), "{verdict:?}");
}

#[test]
fn a_run_that_slows_down_is_not_steady() {
    let verdict = check("not_stationary", &closed(), |recording| {
        let window = |at: u64| load::Window {
            from: at * SECOND / 10,
            until: (at + 1) * SECOND / 10,
            is_warmup: false,
            attempted: 300 - at,
            correct: 300 - at,
            failed: [0; Failure::COUNT],
            bytes_sent: 0,
            bytes_received: 0,
            in_flight_area: 0,
            cpu: 0,
            response: load::Folded::of(&load::Distribution::new(SECOND)),
            service: load::Folded::of(&load::Distribution::new(SECOND)),
        };
        recording.windows = (0..100).map(window).collect();
    });
    let says = "The throughput was not steady: 2,840/s in the first third of the measured time, 2,170/s in the last.";
    assert_eq!((verdict.doubts[0].says.as_str(), verdict.word), (says, Some(Verdict::Suspect)));
}

#[test]
fn books_that_do_not_balance_are_said_and_end_nothing() {
    let verdict = check("books", &closed(), |recording| recording.total.attempted += 1);
    assert_eq!(verdict.word, Some(Verdict::Invalid));
    let verdict =
        check("books", &open(), |recording| recording.total.flight.area += u128::from(MS));
    assert!(verdict.doubts[0].says.contains("in flight"), "{verdict:?}");
}

#[test]
fn failures_are_reported_by_whose_they_are() {
    let refused =
        |times| move |recording: &mut Recording| fail(recording, Failure::ConnectRefused, times);
    assert_eq!(check("failures", &closed(), refused(100)).word, Some(Verdict::Valid));
    assert_eq!(check("failures", &closed(), refused(1_000)).word, Some(Verdict::Suspect));
    let ports = |times| move |recording: &mut Recording| fail(recording, Failure::NoPorts, times);
    assert_eq!(check("own_failures", &closed(), ports(10)).word, Some(Verdict::Suspect));
    let verdict = check("own_failures", &closed(), ports(1_000));
    assert_eq!(verdict.word, Some(Verdict::Invalid));
    assert!(verdict.doubts[0].what_to_do.contains("--source"));
}

#[test]
fn nothing_measured_is_invalid() {
    let verdict = check("nothing_measured", &closed(), |recording| {
        fail(recording, Failure::Deadline, 20_000);
    });
    assert_eq!(verdict.word, Some(Verdict::Invalid));
}

#[test]
fn an_end_before_the_end_is_reported() {
    check("halted", &closed(), |recording| recording.end = End::Halted);
    let verdict = check("gave_up", &closed(), |recording| {
        recording.end = End::GaveUp(Failure::ConnectRefused);
    });
    assert_eq!(verdict.word, Some(Verdict::Invalid));
    check("under_way", &closed(), |recording| {
        recording.total.under_way = 3;
        recording.total.attempted += 3;
    });
}

#[test]
fn waiting_for_a_connection_is_reported() {
    check("blocked", &open(), |recording| {
        (0..300).for_each(|_| recording.total.blocked.record(2 * MS));
    });
}
