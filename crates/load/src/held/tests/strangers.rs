//! Orders and results that come from elsewhere, and are not what they should be: they are refused in words, or harmless.

use serde_json::{Value, json};
use wire::{Chance, socket_ask};

use super::*;
use crate::strange_json::{assert_refused, leaves, shaken};

fn orders() -> Vec<HoldOrder> {
    let ramp = Ramp { every: Duration::from_secs(2), ..order(6, 3).ramp };
    let stream = HoldOrder { ramp, timeout: Duration::from_secs(1), ..order(6, 3) };
    let ask = || socket_ask("h", "/ws", &[("X".into(), "{seq}".into())]).unwrap();
    let socket = |sends| HoldOrder {
        what: HoldWhat::Socket { ask: ask() },
        sends: Some(sends),
        ..stream.clone()
    };
    let echo = Sends::Echo { text: b"to \xff and fro".to_vec(), per_second: 12.5 };
    let broadcast = Sends::Broadcast { every: Duration::from_millis(300) };
    vec![stream.clone(), socket(echo), socket(broadcast)]
}

fn again(order: &HoldOrder) -> HoldOrder {
    let sent = serde_json::to_string(order).unwrap();
    let received = serde_json::from_str(&sent).unwrap();
    assert_eq!(serde_json::to_string(&received).unwrap(), sent);
    received
}

#[test]
fn an_order_that_was_sent_holds_what_it_held_before() {
    for order in orders() {
        let run = |order: &HoldOrder| hold(order, accept, |now| beats(now, |_| Some(0)));
        let alone = run(&order);
        assert_eq!(run(&again(&order)), alone);
        assert_eq!(alone.plateaus.len(), 2);
    }
}

#[test]
fn an_order_that_asks_for_too_much_is_refused_in_words() {
    let all: Vec<Value> =
        orders().iter().map(|order| serde_json::to_value(order).unwrap()).collect();
    let refused = assert_refused::<HoldOrder>;
    let [stream, echo, broadcast] = [&all[0], &all[1], &all[2]];
    refused(stream, "/ramp/step", 0.into(), "step: 0");
    refused(stream, "/ramp/connections", (1_u64 << 40).into(), "connections: ");
    refused(stream, "/ramp/per_second", json!(-1.0), "connections a second: -1.0");
    refused(stream, "/ramp/per_second", json!(0.001), "leaves no time to measure");
    refused(stream, "/ramp/every/secs", u64::MAX.into(), "every: ");
    refused(stream, "/window", json!({ "secs": 0, "nanos": 1 }), "window: 1ns");
    refused(stream, "/ramp/every/secs", 200_000.into(), "windows: 400000 is not within");
    refused(stream, "/share", json!({ "first": 1, "of": 1 }), "threads 1..2 are not of 1");
    refused(stream, "/beat", json!({ "secs": 0, "nanos": 0 }), "beat: 0ns");
    refused(stream, "/held_limits/fragments", u32::MAX.into(), "held_limits.fragments");
    refused(stream, "/what/stream/ask/request/target", "a b".into(), "cannot be requested");
    refused(stream, "/what/stream/ask/request/http2", "http".into(), "do not speak HTTP/2");
    refused(echo, "/sends/echo/per_second", json!(0.0), "echoes a second: 0.0");
    refused(echo, "/sends/echo/text", "no base64".into(), "Invalid");
    refused(broadcast, "/sends/broadcast/every/nanos", 0.into(), "every: 0ns");
    refused(broadcast, "/sends/broadcast/every/nanos", 1.into(), "broadcasts: ");
}

#[test]
fn orders_that_were_shaken_are_refused_or_carried_out() {
    let mut chance = Chance::new(18);
    let (mut carried_out, mut refused) = (0, 0);
    for good in orders() {
        let good = serde_json::to_value(good).unwrap();
        let places = leaves(&good);
        for _ in 0..300 {
            let Ok(order) =
                serde_json::from_value::<HoldOrder>(shaken(&good, &places, &mut chance))
            else {
                refused += 1;
                continue;
            };
            let order = again(&order);
            let texts = match &order.sends {
                Some(Sends::Echo { per_second, .. }) => per_second * order.ramp.end() as f64 / 1e9,
                Some(Sends::Broadcast { every }) => {
                    order.ramp.end() as f64 / every.as_nanos() as f64
                }
                None => 0.0,
            };
            if order.ramp.connections <= 100 && order.ramp.end() < 100 * SECOND && texts < 1e4 {
                let engine = Simulated::new(accept, |now| beats(now, |_| Some(0)));
                let first = order.share.first;
                let holding = Lane::new(engine, &order, first, 0).hold(|| None, &mut |_| {});
                assert_eq!(holding.check(&order), Ok(()));
                carried_out += 1;
            }
        }
    }
    assert!(50 < carried_out && 300 < refused, "{carried_out} carried out, {refused} refused");
}

#[test]
fn no_number_in_a_result_makes_a_sum_overflow() {
    let order = HoldOrder { share: Share { first: 0, of: 2 }, ..orders().remove(1) };
    let engine = Simulated::new(accept, |now| beats(now, |_| Some(0)));
    let mut windows = Vec::new();
    let lane = Lane::new(engine, &order, 0, 0);
    let one = lane.hold(|| None, &mut |window| windows.push(window));
    let value = serde_json::to_value(&one).unwrap();
    // What a server numbers may have any number.
    let is_free = |place: &str| place.ends_with("/missed") || place.contains("/broadcasts/");
    for place in leaves(&value).iter().filter(|place| !is_free(place)) {
        for huge in [u64::MAX, 1 << 62] {
            let mut changed = value.clone();
            *changed.pointer_mut(place).unwrap() = huge.into();
            let Ok(holding) = serde_json::from_value::<Holding>(changed) else { continue };
            assert!(holding.check(&order).is_err(), "{place}: {huge} was believed");
        }
    }
    let window = serde_json::to_value(&windows[1]).unwrap();
    for place in leaves(&window) {
        for huge in [u64::MAX, 1 << 62] {
            let mut changed = window.clone();
            *changed.pointer_mut(&place).unwrap() = huge.into();
            let Ok(changed) = serde_json::from_value(changed) else { continue };
            let mut merger = WindowMerger::new(SECOND, 2);
            assert!(merger.receive(&order, 0, &changed, &mut |_| {}).is_err(), "{place}");
        }
    }
    let mut merger = WindowMerger::new(SECOND, 2);
    let mut shown = 0;
    for (at, window) in windows.iter().enumerate() {
        merger.receive(&order, 0, window, &mut |_| shown += 1).unwrap();
        merger.receive(&order, 0, window, &mut |_| shown += 1).unwrap_err();
        merger.receive(&order, 2, window, &mut |_| shown += 1).unwrap_err();
        merger.receive(&order, 1, window, &mut |_| shown += 1).unwrap();
        assert_eq!(shown, at + 1);
    }
}
