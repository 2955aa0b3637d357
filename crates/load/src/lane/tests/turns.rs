//! A lane that takes turns: what it sends, when, and what becomes of what is under way when its turn is over.

use std::cell::Cell;
use std::rc::Rc;

use super::rig::{Passed, Run, at_once, closed, freezing, open};
use super::{GOOD, MILLI, p99};
use crate::engine::{Act, Simulated};
use crate::{Nanos, SECOND};

const LENGTH: Nanos = 100 * MILLI;

fn turns(length: Nanos) -> Passed {
    Passed { length, times: Rc::default() }
}

/// A server that answers after `delay`, and fails the test if a request comes after its turn, or in a new turn while
/// older requests are under way.
fn strict(turns: &Passed, delay: Nanos) -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> + use<> {
    let times = Rc::clone(&turns.times);
    let length = turns.length;
    let (mut turn, mut began, mut answered_by) = (0, 0, 0);
    move |now| {
        if times.get() != turn {
            assert!(answered_by <= now, "{now}: the turn was passed on too early");
            (turn, began) = (times.get(), now);
        }
        // The first request of a schedule may come a little after the turn's begin.
        assert!(now <= began + length, "{now}: the turn was over");
        answered_by = now + delay;
        vec![(now + delay, Act::Send(GOOD.to_vec()))]
    }
}

#[test]
fn a_closed_loop_sends_within_its_turns_alone_and_loses_no_time_between_them() {
    let turns = turns(LENGTH);
    let run = Run { turns: Some(turns.clone()), ..closed(8) };
    let recording = run.record([Simulated::new(at_once, strict(&turns, 3 * MILLI))]);
    // A turn lasts until the answer to the last request that was sent in it: 102 ms, and there are 10 s.
    assert_eq!(turns.times.get(), 10_000 / 102);
    let total = &recording.total;
    assert!(total.correct.abs_diff(8 * 10_000 / 3) <= 8, "{}", total.correct);
    assert_eq!(p99(&total.response) / MILLI, 3);
    assert_eq!(total.connections.established, 8, "connections stay open from turn to turn");
    assert_eq!(total.late.quantile(1.0).unwrap().value, 0, "the time between turns is not counted");
}

#[test]
fn connections_that_close_with_each_answer_are_opened_again_in_the_next_turn() {
    let turns = turns(LENGTH);
    let run = Run { turns: Some(turns.clone()), keep_alive: false, ..closed(4) };
    let tally = run.press(Simulated::new(at_once, strict(&turns, 3 * MILLI)));
    assert!(tally.correct.abs_diff(4 * 10_000 / 3) <= 4, "{}", tally.correct);
    assert_eq!(tally.connections.established, tally.correct);
}

/// The schedule stands still while a turn is drained: nothing becomes late by that.
#[test]
fn an_open_loop_alternates_at_its_rate() {
    let turns = turns(LENGTH);
    let run = Run { turns: Some(turns.clone()), max_connections: 50, ..open(50, 1_000) };
    let tally = run.press(Simulated::new(at_once, strict(&turns, 5 * MILLI)));
    // 100 requests in every 105 ms: those of a turn, and what is under way at its end.
    assert!(tally.attempted.abs_diff(10_000 * 100 / 105) < 100, "{}", tally.attempted);
    assert_eq!(tally.correct, tally.attempted);
    assert_eq!(p99(&tally.response) / MILLI, 5);
    assert!(tally.late.quantile(1.0).unwrap().value < MILLI);
}

/// The server is frozen for a second, across the border of a turn.
#[test]
fn a_stall_across_the_border_counts_with_its_whole_time() {
    let turns = turns(LENGTH);
    let run = Run { turns: Some(turns.clone()), ..closed(1) };
    let tally = run.press(Simulated::new(at_once, freezing()));
    let longest = tally.response.quantile(1.0).unwrap().value;
    assert!((SECOND..SECOND + 10 * MILLI).contains(&longest), "{longest}");
    assert!(
        tally.correct.abs_diff(9_000) < 20,
        "{}: the second is part of its time",
        tally.correct
    );
    let expected = 9_000 / 101;
    assert!(turns.times.get().abs_diff(expected) <= 2, "{} turns", turns.times.get());
}

/// A server that answers nothing keeps its turn until the time-out, and no longer.
#[test]
fn a_server_that_hangs_loses_its_own_time_only() {
    let turns = turns(LENGTH);
    let run = Run { turns: Some(turns.clone()), timeout: SECOND, ..closed(2) };
    let asked = Rc::new(Cell::new(0));
    let count = Rc::clone(&asked);
    let silent = move |_| {
        count.set(count.get() + 1);
        Vec::new()
    };
    let tally = run.press(Simulated::new(at_once, silent));
    assert_eq!((tally.correct, tally.failed_in_all()), (0, asked.get()));
    assert!((9..=10).contains(&turns.times.get()), "{} turns in 10 s", turns.times.get());
}
