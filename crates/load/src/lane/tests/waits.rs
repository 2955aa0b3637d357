//! Requests that are to wait: which answers are early, which are nearly early, and what of it is counted.

use super::rig::{Run, after, at_once, classes, closed, open};
use super::{GOOD, MILLI};
use crate::engine::{Act, Simulated};
use crate::failure::Failure;
use crate::tally::{Tally, Waited};
use crate::{Nanos, SECOND};

const WAIT: Nanos = 15 * MILLI;

/// Answers after the first time, and each so many-th one after the other.
pub(super) fn planted(
    usual: Nanos,
    each: u64,
    other: Nanos,
) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    let mut count = 0;
    move |now| {
        count += 1;
        let delay = if count % each == 0 { other } else { usual };
        vec![(now + delay, Act::Send(GOOD.to_vec()))]
    }
}

fn waiting(run: Run) -> Run {
    Run { wait: Some(WAIT), until: 100 * SECOND, ..run }
}

fn of(delay: Nanos) -> Tally {
    waiting(Run { total: 10, ..closed(1) }).press(Simulated::new(at_once, after(delay)))
}

#[test]
fn early_answers_planted_at_one_in_a_thousand_are_counted_exactly() {
    let server = || Simulated::new(at_once, planted(WAIT, 1_000, WAIT / 3));
    let run = waiting(Run { total: 20_000, ..closed(10) });
    let seen = run.press(server());
    assert_eq!((seen.correct, classes(&seen)), (19_980, vec![("answer.early", 20)]));
    // Two lanes, each with a server of its own, take the numbers in turn.
    let seen = Run { lanes: 2, ..run }.record([server(), server()]).total;
    assert_eq!((seen.correct, classes(&seen)), (19_980, vec![("answer.early", 20)]));
    let scheduled = waiting(Run { total: 5_000, ..open(10, 100) });
    let seen = scheduled.press(server());
    assert_eq!((seen.correct, classes(&seen)), (4_995, vec![("answer.early", 5)]));
}

#[test]
fn an_answer_is_early_from_the_first_nanosecond_beyond_what_is_allowed() {
    let too_early = of(WAIT - MILLI - 1);
    assert_eq!(classes(&too_early), [("answer.early", 10)]);
    assert_eq!((too_early.waited, too_early.correct), (None, 0));
    let says = too_early.evidence[0].reason.as_deref();
    assert_eq!(says, Some("the answer came 14.000 ms after the request was sent"));
    let counted = |delay, early, early_by| {
        let waited = Waited { answers: 10, early, early_by, shortest: WAIT };
        assert_eq!(of(delay).waited, Some(waited), "{delay}");
    };
    counted(WAIT - MILLI, 10, MILLI);
    counted(WAIT - 1, 10, 1);
    counted(WAIT, 0, 0);
    counted(WAIT + 1, 0, 0);
}

/// A timer of whole milliseconds that has begun late in one of them, as Node's are.
#[test]
fn timers_of_whole_milliseconds_fail_no_request() {
    let server = Simulated::new(at_once, planted(WAIT, 3, 14_100_000));
    let seen = waiting(Run { total: 3_000, ..closed(100) }).press(server);
    assert_eq!((seen.correct, seen.failed_in_all()), (3_000, 0));
    let waited = Waited { answers: 3_000, early: 1_000, early_by: 900_000, shortest: WAIT };
    assert_eq!(seen.waited, Some(waited));
}

/// The wait begins when the request is sent, not when it was due, and ends when the answer is read.
#[test]
fn the_time_that_a_request_waits_in_dyno_does_not_hide_an_early_answer() {
    // One connection, on which each request waits for the one before it.
    let run = waiting(Run { timeout: 60 * SECOND, total: 200, ..open(1, 200) });
    let seen = run.press(Simulated::new(at_once, after(10 * MILLI)));
    assert_eq!(classes(&seen), [("answer.early", 200)]);
    let late = Simulated::new(at_once, after(WAIT)).oversleeping(5 * MILLI);
    let seen = waiting(Run { total: 100, ..open(10, 100) }).press(late);
    assert_eq!((seen.correct, seen.waited.unwrap().early), (100, 0));
}

#[test]
fn early_answers_of_the_warm_up_are_none_of_the_measured_time() {
    let mut count = 0;
    let first_are_early = move |now: Nanos| {
        count += 1;
        vec![(now + if count <= 50 { MILLI } else { WAIT }, Act::Send(GOOD.to_vec()))]
    };
    let run = Run { warmup: SECOND, until: SECOND, ..waiting(open(10, 100)) };
    let seen = run.press(Simulated::new(at_once, first_are_early));
    assert_eq!((seen.correct, seen.failures(Failure::Early)), (100, 0));
    assert_eq!(seen.waited.unwrap().answers, 100);
}

#[test]
fn what_is_not_to_wait_is_not_counted() {
    let seen = Run { total: 10, ..closed(1) }.press(Simulated::new(at_once, after(MILLI)));
    assert_eq!((seen.correct, seen.waited), (10, None));
}
