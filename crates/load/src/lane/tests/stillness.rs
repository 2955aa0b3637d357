//! A generator that stands still: a paused machine, a stopped process, a CPU that other programs use.

use super::MILLI;
use super::rig::{Run, after, at_once, but_each, classes, closed, open, sessions};
use crate::SECOND;
use crate::engine::Simulated;
use crate::failure::Failure;

const PAUSE: std::ops::Range<u64> = 3 * SECOND..5 * SECOND;

#[test]
fn a_pause_of_the_generator_is_known_to_it() {
    for run in [closed(8), open(8, 2_000), sessions(2, 100, u64::MAX)] {
        let engine = Simulated::new(at_once, after(MILLI)).stopped(PAUSE);
        let seen = run.record([engine]);
        let still = seen.total.still;
        // Up to one look's interval of it may have been intended sleep.
        assert!((1_985 * MILLI..=2_000 * MILLI).contains(&still.sum), "{:?} {still:?}", run.kind);
        assert_eq!((still.longest(), seen.lanes[0].still), (still.sum, still));
        let steady = run.record([Simulated::new(at_once, after(MILLI))]);
        assert_eq!(steady.total.still.sum, 0);
    }
}

#[test]
fn answers_that_lay_unread_are_not_the_server_s_time_outs() {
    // Twelve seconds: the exchanges under way, and all that were due then, run out of time.
    let pause = 3 * SECOND..15 * SECOND;
    for run in [closed(200), open(200, 100)] {
        let run = Run { until: 20 * SECOND, ..run };
        let engine =
            Simulated::new(at_once, after(50 * MILLI)).stopped(pause.clone()).handing_over(16);
        let tally = run.press(engine);
        let classes = classes(&tally);
        assert!(
            classes.iter().all(|(name, _)| name.starts_with("own.")),
            "{:?}: {classes:?}",
            run.kind
        );
        assert!(classes.iter().any(|(name, _)| *name == "own.still"), "{classes:?}");
    }
}

/// The program may be stopped at any instant: also between two answers that it has just read.
#[test]
fn a_pause_while_answers_are_read_is_known_and_no_server_s() {
    let pause = 3 * SECOND..15 * SECOND;
    for run in [closed(200), open(200, 100)] {
        let run = Run { until: 20 * SECOND, ..run };
        let server = || after(50 * MILLI);
        let engine = Simulated::new(at_once, server()).stopped_delivering(pause.clone());
        let seen = run.record([engine.handing_over(16)]);
        let still = seen.total.still;
        assert!((11_900 * MILLI..=12_000 * MILLI).contains(&still.sum), "{:?} {still:?}", run.kind);
        let classes = classes(&seen.total);
        assert!(classes.iter().all(|(name, _)| name.starts_with("own.")), "{classes:?}");
    }
}

/// It is stopped while it reads, and again while it reads what came meanwhile: what has run out of time by then ends
/// after what was read.
#[test]
fn nothing_ends_before_what_was_read_when_it_was_given_up() {
    let run = Run { timeout: 50 * MILLI, ..open(400, 4_000) };
    let engine = Simulated::new(at_once, but_each(10, &[])).handing_over(16);
    let seen = run.press(
        engine
            .stopped_delivering(3_000 * MILLI..3_100 * MILLI)
            .stopped(3_100 * MILLI..3_200 * MILLI),
    );
    // That the times in flight add up is asserted of each run.
    assert!(0 < seen.failures(Failure::FirstByteTimeout), "{:?}", classes(&seen));
}

/// Whether the lane slept, worked, or read answers when the pause began, and wherever the pause ends.
#[test]
fn a_pause_over_either_end_of_the_measured_time_counts() {
    let second = 900 * MILLI..1_900 * MILLI;
    let ends = [(SECOND, 9 * SECOND, second.clone()), (0, SECOND, second)];
    for (warmup, until, pause) in ends {
        for run in [closed(200), open(200, 5_000)] {
            let run = Run { warmup, until, ..run };
            let server = || Simulated::new(at_once, after(MILLI)).handing_over(16);
            for engine in
                [server().stopped(pause.clone()), server().stopped_delivering(pause.clone())]
            {
                let still = run.record([engine]).total.still;
                let is_known = 980 * MILLI <= still.sum && still.longest() <= SECOND;
                assert!(is_known, "{:?} until {until}: {still:?}", run.kind);
            }
        }
    }
}

#[test]
fn a_server_that_is_silent_all_the_time_is_not_excused_by_our_pause() {
    let pause = 3 * SECOND..15 * SECOND;
    let run = Run { until: 20 * SECOND, ..closed(5) };
    let tally = run.press(Simulated::new(at_once, |_| Vec::new()).stopped(pause));
    let silent = classes(&tally);
    assert_eq!(silent[0].0, "recv.first_byte_timeout", "{silent:?}");
    assert_eq!(silent.len(), 1, "{silent:?}");
}

#[test]
fn waiting_for_us_is_late_and_not_blocked() {
    let engine = Simulated::new(at_once, after(MILLI)).stopped(PAUSE);
    let tally = open(8, 2_000).press(engine);
    assert!(4_000 <= tally.late.count());
    let late = tally.late.quantile(0.99).unwrap().value;
    assert!(SECOND < late, "{late}");
    let blocked = tally.blocked.quantile(1.0).map_or(0, |most| most.value);
    // After the pause, 4,000 requests queue for eight connections that answer in a millisecond.
    assert!(blocked < 600 * MILLI, "{blocked}");
}
