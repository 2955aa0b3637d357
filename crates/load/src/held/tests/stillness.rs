//! A generator that stands still while it holds connections: a paused machine, a stopped process, a busy CPU.

use std::ops::Range;

use wire::socket_ask;

use super::log::echoing;
use super::*;

fn paused(order: &HoldOrder, pause: Range<Nanos>) -> Holding {
    hold_on(order, Simulated::new(accept, |now| beats(now, |_| Some(0))).stopped(pause))
}

#[test]
fn a_pause_of_the_generator_is_known_to_it() {
    let order = order(20, 10);
    let still = |pause: Range<Nanos>| {
        let holding = paused(&order, pause);
        assert!(holding.plateaus.iter().all(|one| one.still.kept_waiting == 0));
        assert!(holding.plateaus.iter().all(|one| one.still.longest() == one.still.sum));
        holding.plateaus.iter().map(|one| one.still.sum / MS).collect::<Vec<_>>()
    };
    assert_eq!(still(60 * SECOND..61 * SECOND), [0, 0]);
    // Up to one look's interval of it may have been intended sleep.
    let within = |found: Vec<u64>, most: [u64; 2]| {
        found.iter().zip(most).all(|(found, most)| *found <= most && most <= found + 10)
    };
    assert!(within(still(3 * SECOND..5 * SECOND), [2_000, 0]));
    // Each step counts the part of the pause that lies in it.
    assert!(within(still(9 * SECOND..12 * SECOND), [1_000, 2_000]));
}

#[test]
fn messages_that_lay_unread_may_be_late_by_our_own_doing() {
    let plateau = &paused(&order(10, 10), 3 * SECOND..5 * SECOND).plateaus[0];
    let most = |of: &crate::Distribution| of.extremes().map_or(0, |(_, most)| most);
    // Two beats of each connection came in that time.
    assert!(900 * MS < most(&plateau.late), "{}", most(&plateau.late));
    assert!(most(&plateau.late) <= most(&plateau.own), "{}", most(&plateau.own));
    assert!(plateau.own.count_between(SECOND, 3 * SECOND) >= 20);
}

fn echoes(per_second: f64) -> HoldOrder {
    let what = HoldWhat::Socket { ask: socket_ask("h", "/wsecho", &[]).unwrap() };
    let sends = Some(Sends::Echo { text: b"hello".to_vec(), per_second });
    HoldOrder { what, sends, beat: None, reopen: false, ..order(40, 20) }
}

fn causes(holding: &Holding) -> Vec<&'static str> {
    let lost = |loss: &Loss| holding.plateaus.iter().any(|one| 0 < one.lost[loss.index()]);
    Loss::ALL.into_iter().filter(lost).map(Loss::name).collect()
}

#[test]
fn all_that_came_while_we_stood_still_is_read_before_anything_is_given_up() {
    // About forty echoes are on their way when the pause begins, which is more than are handed over at once.
    let order =
        HoldOrder { ramp: Ramp { step: 80, connections: 80, ..order(1, 1).ramp }, ..echoes(20.0) };
    let leaves = |at: Nanos| Some(if at < SECOND { at } else { at + 2 * SECOND });
    let holding = hold_on(&order, echoing(5 * SECOND..9_990 * MS, leaves));
    let one = &holding.plateaus[0].echoes;
    assert_eq!((causes(&holding), one.failed), (Vec::new(), 0), "{one:?}");
    // The echoes that were due by 5 s are back: about 20 per second since 1.08 s.
    assert!((70..=80).contains(&one.correct), "{one:?}");
}

#[test]
fn what_is_given_up_only_because_we_did_not_look_is_our_own_loss() {
    let order = echoes(7.0);
    let leaves = |at: Nanos| (!(2_500 * MS..9 * SECOND).contains(&at)).then_some(at);
    let holding = hold_on(&order, echoing(3 * SECOND..8 * SECOND, leaves));
    assert_eq!(causes(&holding), ["own.late", "own.still"]);
    let holding = hold_on(&order, echoing(60 * SECOND..61 * SECOND, leaves));
    assert_eq!(causes(&holding), ["echo.timeout"]);
}

#[test]
fn echoes_whose_time_passed_while_we_stood_still_are_not_lost_by_the_server() {
    // Longer than the time-out: texts under way have come back meanwhile, and texts that were due are sent too late.
    for pause in [3 * SECOND..9 * SECOND, 8 * SECOND..16 * SECOND] {
        let order = echoes(7.0);
        let holding = hold_on(&order, echoing(pause, Some));
        assert_eq!(causes(&holding), ["own.late"], "{:?}", holding.plateaus[0].echoes);
        // All that was due is accounted for, in the step in which it was due.
        let due = |number: usize| {
            let times = order.ramp.plateau(number);
            let instant = |n: u64| (n as f64 / 7.0 * SECOND as f64) as Nanos;
            let due = (0..1_000).map(instant);
            due.filter(|at| (times.measured_from..times.until).contains(at)).count() as u64
        };
        for (number, plateau) in holding.plateaus.iter().enumerate() {
            let one = &plateau.echoes;
            assert_eq!(one.due, due(number), "step {number}");
            assert_eq!(one.due, one.correct + one.failed + one.blocked + one.under_way);
        }
    }
}

#[test]
fn over_seconds_that_a_lane_did_not_see_it_has_what_it_had() {
    let holding = paused(&order(10, 10), 3 * SECOND..6 * SECOND);
    let mut merger = WindowMerger::new(SECOND, 1);
    let mut shown = Vec::new();
    for window in &holding.windows {
        merger.add(0, window, &mut |window| shown.push((window.from / SECOND, window.open)));
    }
    assert!(holding.windows.len() < 10, "some were left out");
    assert_eq!(shown, (0..10).map(|second| (second, 10)).collect::<Vec<_>>());
    let messages: u64 = merger.into_windows().iter().map(|window| window.messages).sum();
    assert_eq!(messages, 100);
}

#[test]
fn a_lane_that_stands_still_over_the_end_counts_nothing_that_came_after_it() {
    let order = order(10, 10);
    let engine = Simulated::new(accept, |now| beats(now, |_| Some(0)));
    let lane = Lane::new(engine.stopped(3_200 * MS..6 * SECOND), &order, 0, 0);
    let holding = lane.hold(|| Some(3_500 * MS), &mut |_| {});
    let plateau = &holding.plateaus[0];
    assert_eq!((holding.closed_at, plateau.measured), (3_500 * MS, 2_490 * MS));
    // Beats come some milliseconds after each whole second: at 1 (of some connections), 2 and 3.
    let messages = plateau.messages;
    assert!((20..=30).contains(&messages), "{messages}");
    assert_eq!(plateau.whole.map(|whole| (whole.messages, whole.lasted)), Some((20, 2 * SECOND)));
    assert_eq!((plateau.silent, plateau.late.count()), (0, messages - 10));
}
