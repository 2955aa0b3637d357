//! What dyno's stalls cost the requests that wait for a place in a bounded pool. The truth is made of a load of the same
//! schedule without stalls, or of what the simulated server did.

use super::MILLI;
use super::rig::{Run, after, at_once, classes, open, sessions};
use super::streams::{plain, spoken};
use crate::engine::{Act, Simulated, Slept};
use crate::failure::Failure;
use crate::lane::stalls::Stalls;
use crate::pause::Pause;
use crate::tally::Tally;
use crate::{Nanos, SECOND};

/// On six places, by HTTP/1.1 and by HTTP/2, against a server that takes 20 ms: at most 300/s are answered.
fn press(run: &Run, streams: Option<u16>, stalls: &[(u64, u64)]) -> Tally {
    let stopped = stalls.iter().map(|&(at, length)| at..at + length);
    let engine = || {
        let engine = Simulated::new(at_once, after(20 * MILLI));
        stopped.clone().fold(engine, Simulated::stopped)
    };
    match streams {
        None => run.press(engine()),
        Some(streams) => Run {
            protocol: spoken(streams),
            connections: run.connections / usize::from(streams),
            max_connections: run.connections / usize::from(streams),
            ..run.clone()
        }
        .press(engine().with_peer(plain(&[], 20 * MILLI))),
    }
}

const SHAPES: [Option<u16>; 3] = [None, Some(3), Some(6)];

fn longest(times: &crate::distribution::Distribution) -> u64 {
    times.extremes().map_or(0, |(_, most)| most)
}

#[test]
fn small_stalls_before_a_full_pool_make_no_request_later_than_their_sum() {
    let run = Run { until: 4 * SECOND, timeout: 60 * SECOND, ..open(6, 500) };
    let stalls: Vec<_> = (1..40).map(|n| (n * 101 * MILLI, 2 * MILLI)).collect();
    for streams in SHAPES {
        let seen = press(&run, streams, &stalls);
        let sum = seen.still.sum;
        assert!((50 * MILLI..=80 * MILLI).contains(&sum), "{streams:?}: {sum}");
        assert_eq!(seen.correct, 2_000);
        assert!(longest(&seen.late) <= sum, "{streams:?}: late {}", longest(&seen.late));
        assert!(2_500 * MILLI < longest(&seen.blocked), "{streams:?}: {}", longest(&seen.blocked));
        // By how much the stalls have delayed the requests, on the average: late is no less, and at most three times
        // as much, as it is not known when within a stall an answer came.
        let delayed = seen.response.mean() - press(&run, streams, &[]).response.mean();
        let late = seen.late.mean();
        assert!(
            delayed * 0.9 <= late && late <= delayed * 3.0 + 1e6,
            "{streams:?}: {late} {delayed}"
        );
    }
}

/// A second's requests at 80 % of what the pool can carry need four seconds more until they are all sent.
#[test]
fn the_backlog_that_a_stall_has_drawn_is_dynos_until_it_is_sent() {
    for streams in SHAPES {
        let seen = press(&open(6, 240), streams, &[(3 * SECOND, SECOND)]);
        assert_eq!(seen.correct, 2_400);
        let (late, blocked) = (longest(&seen.late), longest(&seen.blocked));
        assert!((980 * MILLI..=1_001 * MILLI).contains(&late), "{streams:?}: {late}");
        assert!(blocked < 25 * MILLI, "{streams:?}: {blocked}");
        // Five seconds' requests had to wait, and the last of them hardly.
        let delayed = seen.late.count() - seen.late.known_within(MILLI);
        assert!((1_150..=1_200).contains(&delayed), "{streams:?}: {delayed}");
    }
}

/// The server takes longer than the stall lasts: only the places whose answers came meanwhile stood idle.
#[test]
fn a_stall_in_which_no_place_became_free_makes_nothing_late() {
    let run = Run { until: 8 * SECOND, timeout: 60 * SECOND, ..open(2, 10) };
    let engine = Simulated::new(at_once, after(2 * SECOND)).stopped(SECOND..2_500 * MILLI / 2);
    let seen = run.press(engine);
    assert!(240 * MILLI < seen.still.sum);
    assert_eq!(longest(&seen.late), 0);
}

#[test]
fn requests_out_of_time_are_dynos_only_if_its_stalls_took_most_of_it() {
    let run = Run { until: 4 * SECOND, timeout: SECOND / 2, ..open(6, 500) };
    let stalls: Vec<_> = (1..400).map(|n| (n * 11 * MILLI, 2 * MILLI)).collect();
    for streams in SHAPES {
        let seen = press(&run, streams, &stalls);
        assert!(100 < seen.failures(Failure::Blocked), "{streams:?}");
        assert_eq!(seen.failures(Failure::Late), 0, "{streams:?}: {:?}", classes(&seen));
        // At 80 %, a stall draws a backlog that takes longer than the time-out to send.
        let run = Run { timeout: SECOND / 2, ..open(6, 240) };
        let seen = press(&run, streams, &[(3 * SECOND, SECOND)]);
        assert!(100 < seen.failures(Failure::Late), "{streams:?}");
        assert_eq!(seen.failures(Failure::Blocked), 0, "{streams:?}: {:?}", classes(&seen));
    }
}

/// Each request waits for a connection of its own for longer than it takes until the next one is due, so there is always
/// one that waits: those that became due in the stall are late, and those whose connections were then established.
#[test]
fn a_stall_makes_nothing_late_that_becomes_due_after_it_while_places_are_free() {
    let slow_to_accept = |now: Nanos| (now + 30 * MILLI, Act::Accept);
    let stall = SECOND..SECOND + 10 * MILLI;
    for (run, late) in [(open(0, 500), 9..=12), (sessions(1, 500, 5_000), 9..=12)] {
        let run = Run { keep_alive: false, max_connections: 1_000, ..run };
        let engine = || Simulated::new(slow_to_accept, after(20 * MILLI));
        assert_eq!(longest(&run.press(engine()).late), 0);
        let seen = run.press(engine().stopped(stall.clone()));
        assert!((8 * MILLI..=11 * MILLI).contains(&longest(&seen.late)), "{}", longest(&seen.late));
        let delayed = seen.late.count() - seen.late.known_within(MILLI);
        assert!(late.contains(&delayed), "{:?}: {delayed}", run.kind);
    }
}

/// What was counted while the lane read is a part of its turn, whose length is known when it sleeps.
#[test]
fn stalls_that_overlap_count_as_their_union() {
    let mut stalls = Stalls::default();
    assert!(stalls.was_kept(0, 10 * MILLI));
    stalls.settle(1, 0);
    assert_eq!(stalls.delayed(&(0..SECOND)), 10 * MILLI);
    let slept = Slept { from: 12 * MILLI, until: 15 * MILLI };
    stalls.look_up(&Pause::of(0, 12 * MILLI, slept));
    stalls.settle(1, 0);
    assert_eq!(stalls.delayed(&(0..SECOND)), 15 * MILLI);
}
