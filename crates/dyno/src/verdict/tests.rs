use crate::run::fixture::{MS, closed, fail, healthy, open};

use load::SECOND;

use super::*;

/// The doubt is there after the change, and was not before.
fn check(id: &str, order: &Order, change: impl FnOnce(&mut Recording)) -> Verdict {
    let mut recording = healthy();
    assert_eq!(weigh(&recording, order), Verdict::default(), "a healthy run has no doubts");
    change(&mut recording);
    let verdict = weigh(&recording, order);
    assert!(verdict.has(id), "{id} is not among {verdict:?}");
    verdict
}

#[test]
fn a_healthy_run_is_valid() {
    assert_eq!(weigh(&healthy(), &closed()).word(), "valid");
    assert_eq!(weigh(&healthy(), &open()).word(), "valid");
}

#[test]
fn a_busy_instrument_may_be_the_limit() {
    let verdict = check("instrument_busy", &closed(), |recording| {
        recording.lanes[0].idle = SECOND / 2;
    });
    assert_eq!(verdict.word(), "suspect");
    assert!(verdict.doubts[0].says.contains("busy 95 % of the time"), "{verdict:?}");
}

#[test]
fn a_late_instrument_is_told_with_its_bound() {
    let verdict = check("instrument_late", &open(), |recording| {
        (0..400).for_each(|_| recording.total.late.record(3 * MS));
    });
    assert!(verdict.doubts[0].says.contains("3.00 ms or more late (bound: 1.00 ms)"));
}

#[test]
fn lateness_is_measured_against_the_latency() {
    let mut recording = healthy();
    (0..400).for_each(|_| recording.total.late.record(3 * MS));
    (0..60_000).for_each(|_| recording.total.response.record(50 * MS));
    assert!(!weigh(&recording, &open()).has("instrument_late"));
}

#[test]
fn a_rate_that_was_not_reached_is_told_for_schedules_only() {
    let shortfall = |recording: &mut Recording| recording.total.correct_inside = 19_000;
    check("rate_not_reached", &open(), shortfall);
    let mut recording = healthy();
    shortfall(&mut recording);
    assert!(!weigh(&recording, &closed()).has("rate_not_reached"));
}

#[test]
fn answers_under_way_at_the_end_are_no_shortfall() {
    let mut recording = healthy();
    recording.total.response = load::Distribution::new(5 * SECOND);
    (0..20_000).for_each(|_| recording.total.response.record(SECOND));
    recording.total.correct_inside = 18_000;
    assert!(!weigh(&recording, &open()).has("rate_not_reached"));
}

#[test]
fn few_samples_do_not_carry_high_percentiles() {
    let with = |samples| {
        let mut recording = healthy();
        recording.total.response = load::Distribution::new(5 * SECOND);
        (0..samples).for_each(|_| recording.total.response.record(MS));
        weigh(&recording, &closed())
    };
    assert_eq!(with(900).word(), "suspect");
    assert!(with(900).doubts[0].says.contains("900 samples are too few for p99"));
    assert_eq!(with(9_000).word(), "valid");
    assert!(with(9_000).has("too_few_samples"));
    assert!(!with(11_000).has("too_few_samples"));
}

#[test]
fn a_mean_above_the_p99_is_told() {
    let verdict = check("mean_above_p99", &open(), |recording| {
        let total = &mut recording.total;
        total.response = load::Distribution::new(5 * SECOND);
        (0..19_900).for_each(|_| total.response.record(MS));
        (0..100).for_each(|_| total.response.record(SECOND));
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
            in_flight: 0.0,
            cpu: 0,
            response: load::Folded::of(&load::Distribution::new(SECOND)),
            service: load::Folded::of(&load::Distribution::new(SECOND)),
        };
        recording.windows = (0..100).map(window).collect();
    });
    let says = "It was not steady: in the first third of the measured time it answered 2,840/s, in the last 2,170/s.";
    assert_eq!((verdict.doubts[0].says.as_str(), verdict.word()), (says, "suspect"));
}

#[test]
fn littles_law_must_close() {
    for factor in [2, 9] {
        check("littles_law", &closed(), |recording| {
            recording.total.in_flight_area = recording.total.in_flight_area * factor / 5;
        });
    }
}

#[test]
fn failed_exchanges_may_account_for_what_was_in_flight() {
    let mut recording = healthy();
    fail(&mut recording, Failure::Deadline, 10);
    recording.total.in_flight_area += u128::from(50 * SECOND);
    assert!(!weigh(&recording, &closed()).has("littles_law"));
}

#[test]
fn failures_are_told_by_whose_they_are() {
    let refused =
        |times| move |recording: &mut Recording| fail(recording, Failure::ConnectRefused, times);
    assert_eq!(check("failures", &closed(), refused(100)).word(), "valid");
    assert_eq!(check("failures", &closed(), refused(1_000)).word(), "suspect");
    let ports = |times| move |recording: &mut Recording| fail(recording, Failure::NoPorts, times);
    assert_eq!(check("own_failures", &closed(), ports(10)).word(), "suspect");
    let verdict = check("own_failures", &closed(), ports(1_000));
    assert_eq!(verdict.word(), "invalid");
    assert!(verdict.doubts[0].what_to_do.contains("--source"));
}

#[test]
fn nothing_measured_is_invalid() {
    let verdict = check("nothing_measured", &closed(), |recording| {
        fail(recording, Failure::Deadline, 20_000);
    });
    assert_eq!(verdict.word(), "invalid");
}

#[test]
fn an_end_before_the_end_is_told() {
    check("halted", &closed(), |recording| recording.end = End::Halted);
    let verdict = check("gave_up", &closed(), |recording| {
        recording.end = End::GaveUp(Failure::ConnectRefused);
    });
    assert_eq!(verdict.word(), "invalid");
    check("under_way", &closed(), |recording| recording.total.under_way = 3);
}

#[test]
fn waiting_for_a_connection_is_told() {
    check("blocked", &open(), |recording| {
        (0..300).for_each(|_| recording.total.blocked.record(2 * MS));
    });
}
