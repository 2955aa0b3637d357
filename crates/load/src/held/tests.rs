//! Whole ramps in simulated time.

pub(super) mod log;
mod stillness;
mod strangers;
mod truth;

use std::time::Duration;

use wire::{Ask, Cut, Expect, Request};

use super::lane::Lane;
use super::*;
use crate::engine::{Act, Simulated};
use crate::failure::Failure;
use crate::order::{Share, Target};
use crate::{Nanos, SECOND};

const MS: Nanos = 1_000_000;

pub(super) fn order(connections: usize, step: usize) -> HoldOrder {
    let ask = Ask::new(&Request::get("h", "/poll/1"), Expect::default()).unwrap();
    let ramp = Ramp {
        connections,
        step,
        every: Duration::from_secs(10),
        per_second: 1_000.0,
        settle: Duration::from_secs(1),
    };
    let target = Target::Tcp("127.0.0.1:1".parse().unwrap());
    HoldOrder {
        beat: Some(Duration::from_secs(1)),
        silence: Duration::from_secs(3),
        ..HoldOrder::new(target, HoldWhat::Stream { ask, cut: Cut::Chunk }, ramp)
    }
}

fn accept(now: Nanos) -> (Nanos, Act) {
    (now + 1, Act::Accept)
}

/// A head, and then beats: `late` returns how late each beat is, and none for those that never come.
fn beats(now: Nanos, late: impl Fn(u64) -> Option<Nanos>) -> Vec<(Nanos, Act)> {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let mut acts = vec![(now + MS, Act::Send(head))];
    for number in 0..60 {
        let Some(late) = late(number) else { continue };
        let text = format!("beat={number}\n");
        let chunk = format!("{:x}\r\n{text}\r\n", text.len());
        acts.push((now + 2 * MS + number * SECOND + late, Act::Send(chunk.into_bytes())));
    }
    acts
}

fn hold(
    order: &HoldOrder,
    accept: impl FnMut(Nanos) -> (Nanos, Act),
    answer: impl FnMut(Nanos) -> Vec<(Nanos, Act)>,
) -> Holding {
    hold_on(order, Simulated::new(accept, answer))
}

fn hold_on(order: &HoldOrder, engine: Simulated<'_>) -> Holding {
    let mut windows = Vec::new();
    let lane = Lane::new(engine, order, 0, 0);
    let mut holding = lane.hold(|| None, &mut |window| windows.push(window));
    assert_eq!(holding.check(order), Ok(()));
    holding.windows = windows;
    assert_eq!(holding.imbalance(), None);
    holding
}

#[test]
fn messages_are_counted_in_steps_and_in_windows() {
    let mut order = order(30, 10);
    order.ramp.settle = Duration::from_millis(500);
    let holding = hold(&order, accept, |now| beats(now, |_| Some(0)));
    // About nine seconds of each step are measured, and each connection gets one message per second.
    let messages: Vec<u64> = holding.plateaus.iter().map(|one| one.messages / 10).collect();
    assert_eq!(messages, [9, 18, 27]);
    assert!(holding.plateaus.iter().all(|one| one.late.extremes().unwrap().1 == 0));
    assert!(holding.plateaus.iter().all(|one| one.gap.quantile(0.5).unwrap().value / MS == 1_000));
    assert_eq!((holding.windows.len(), holding.windows[29].open), (30, 30));
    assert_eq!(holding.windows.iter().map(|window| window.begun).sum::<u64>(), 30);
}

#[test]
fn lateness_is_that_of_the_server() {
    // Every third beat is 50 ms late.
    let late = |number: u64| Some(if number % 3 == 2 { 50 * MS } else { 0 });
    let holding = hold(&order(10, 10), accept, |now| beats(now, late));
    let late = &holding.plateaus[0].late;
    let tenth = |q| late.quantile(q).unwrap().value.div_ceil(MS);
    assert_eq!((tenth(0.5), tenth(0.99)), (0, 51));
    let share = late.count_between(49 * MS, 52 * MS) as f64 / late.count() as f64;
    assert!((0.3..0.4).contains(&share), "{share}");
}

#[test]
fn beats_that_never_come_are_missed_and_a_server_that_stops_is_silent() {
    let holding = hold(&order(10, 10), accept, |now| {
        beats(now, |number| (number != 4 && number != 5).then_some(0))
    });
    assert_eq!((holding.plateaus[0].missed, holding.plateaus[0].silent), (20, 0));
    assert_eq!(holding.plateaus[0].late.extremes(), Some((0, 0)), "those that came were on time");
    let holding = hold(&order(10, 10), accept, |now| beats(now, |n| (n < 4).then_some(0)));
    let plateau = &holding.plateaus[0];
    assert_eq!((plateau.open, plateau.silent, plateau.lost_in_all()), (10, 10, 0));
}

#[test]
fn a_broadcast_that_nobody_receives_has_been_sent() {
    let sends = Sends::Broadcast { every: Duration::from_secs(2) };
    let what = HoldWhat::Socket { ask: wire::socket_ask("h", "/wsroom", &[]).unwrap() };
    let order = HoldOrder { what, beat: None, sends: Some(sends), ..order(3, 3) };
    // Only the sender receives what it sends, and after five seconds not even that.
    let leaves = |at| (at < 5 * SECOND).then_some(at);
    let holding = hold_on(&order, log::echoing(0..0, leaves));
    let broadcasts = holding.plateaus[0].broadcasts.iter();
    let received: Vec<_> = broadcasts.map(|(number, one)| (*number, one.received)).collect();
    assert_eq!(received, [(1, 1), (2, 1), (3, 0), (4, 0)]);
}

#[test]
fn connections_are_never_begun_faster_than_was_ordered_whatever_the_server_does() {
    let mut order = order(40, 20);
    order.ramp.per_second = 5.0;
    let mut begun = Vec::new();
    let refuse = |now| {
        begun.push(now);
        (now + 1, Act::Refuse)
    };
    let holding = hold(&order, refuse, |_| Vec::new());
    assert!(holding.plateaus.iter().all(|one| 20 < one.begun_again));
    let in_a_second =
        |from: Nanos| begun.iter().filter(|at| (from..from + SECOND).contains(*at)).count();
    assert_eq!(begun.iter().map(|&from| in_a_second(from)).max(), Some(5));
}

#[test]
fn messages_that_end_a_stream_are_its_cause() {
    for (end, cause) in [(&b"0\r\n\r\n"[..], "held.ended"), (b"zz", "proto.bad_chunk")] {
        let order = HoldOrder { reopen: false, ..order(10, 10) };
        let holding = hold(&order, accept, |now| {
            let mut acts = beats(now, |number| (number < 3).then_some(0));
            acts.push((now + 5 * SECOND, Act::Send(end.to_vec())));
            acts
        });
        let lost = |loss: &Loss| holding.plateaus[0].lost[loss.index()];
        let found = Loss::ALL.into_iter().filter(|loss| 0 < lost(loss));
        let found: Vec<_> = found.map(|loss| (loss.name(), lost(&loss))).collect();
        assert_eq!(found, [(cause, 10)]);
    }
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    let order = HoldOrder { reopen: false, ..order(10, 10) };
    let holding = hold(&order, accept, |_| Vec::new());
    let silent = Loss::Failure(Failure::FirstByteTimeout).index();
    assert_eq!(holding.plateaus[0].failed[silent], 10);
    let holding = hold(&order, |now| (now + 60 * SECOND, Act::Accept), |_| Vec::new());
    let unanswered = Loss::Failure(Failure::ConnectTimeout).index();
    assert_eq!(holding.plateaus[0].failed[unanswered], 10);
}

#[test]
fn a_lane_holds_its_share() {
    let mut order = order(25, 10);
    order.share = Share { first: 1, of: 4 };
    let engine = Simulated::new(accept, |now| beats(now, |_| Some(0)));
    let holding = Lane::new(engine, &order, 1, 0).hold(|| None, &mut |_| {});
    // Of 0..25: 1, 5, 9, 13, 17, 21.
    assert_eq!(holding.plateaus.iter().map(|one| one.open).collect::<Vec<_>>(), [3, 5, 6]);
}

#[test]
fn a_halt_keeps_what_was_seen() {
    let order = order(20, 10);
    let engine = Simulated::new(accept, |now| beats(now, |_| Some(0)));
    let mut windows = Vec::new();
    let lane = Lane::new(engine, &order, 0, 0);
    let holding = lane.hold(|| Some(3_500 * MS), &mut |window| windows.push(window));
    assert!(holding.was_halted);
    assert_eq!((holding.plateaus.len(), holding.plateaus[0].open), (1, 10));
    assert_eq!((holding.closed_at, holding.plateaus[0].measured), (3_500 * MS, 2_490 * MS));
    assert_eq!(
        windows.iter().map(|one| one.until / MS).collect::<Vec<_>>(),
        [1_000, 2_000, 3_000, 3_500]
    );
}

/// The results of one lane of two, stopped at `stop`.
fn half(order: &HoldOrder, lane: usize, stop: Nanos, oversleeps: Nanos) -> Holding {
    let order = HoldOrder { share: Share { first: lane, of: 2 }, ..order.clone() };
    let engine = Simulated::new(accept, |now| beats(now, |_| Some(0))).oversleeping(oversleeps);
    Lane::new(engine, &order, lane, 0).hold(|| Some(stop), &mut |_| {})
}

#[test]
fn lanes_that_are_stopped_near_a_step_s_boundary_end_alike_and_their_books_balance() {
    let mut order = order(4, 1);
    order.ramp.every = Duration::from_millis(1_300);
    order.ramp.settle = Duration::from_millis(100);
    for ms in [1, 99, 1_000, 1_299, 1_300, 1_301, 2_000, 2_599, 2_600, 2_601, 5_199, 5_200, 9_000] {
        // The second lane wakes up to 3 s late, over two boundaries.
        for oversleeps in [0, 7 * MS, 900 * MS, 3_000 * MS] {
            let [mut one, other] =
                [(0, 0), (1, oversleeps)].map(|(lane, late)| half(&order, lane, ms * MS, late));
            assert_eq!((one.imbalance(), other.imbalance()), (None, None));
            assert_eq!(one.plateaus.len(), other.plateaus.len(), "{ms} ms, {oversleeps} ns late");
            assert_eq!((one.closed_at, other.closed_at), (5_200.min(ms) * MS, one.closed_at));
            one.merge(&other);
            assert_eq!(one.imbalance(), None, "{ms} ms, {oversleeps} ns late");
            assert_eq!(one.was_halted, ms < 5_200);
            let steps = u64::min(ms, 5_200).div_ceil(1_300);
            assert_eq!(one.plateaus.len() as u64, steps, "a step that begins as all ends is none");
        }
    }
}

#[test]
fn a_lane_that_missed_the_end_has_what_it_had_in_the_steps_that_only_others_have() {
    let mut order = order(4, 1);
    order.ramp.every = Duration::from_millis(1_300);
    order.ramp.settle = Duration::from_millis(100);
    for [first, second] in [[1_250, 1_350], [1_350, 1_250], [100, 5_000], [5_000, 100]] {
        let [mut one, other] =
            [(0, first), (1, second)].map(|(lane, ms)| half(&order, lane, ms * MS, 0));
        let last = |holding: &Holding| holding.plateaus.last().map_or(0, |plateau| plateau.open);
        let open = last(&one) + last(&other);
        one.merge(&other);
        assert_eq!(one.imbalance(), None, "{first} and {second}");
        assert_eq!(last(&one), open);
    }
}
