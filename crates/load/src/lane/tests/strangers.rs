//! Orders and parts that come from elsewhere, and are not what they should be: they are refused in words, or harmless.

use std::time::Duration;

use serde_json::{Value, json};
use wire::Chance;

use super::MILLI;
use super::rig::{Run, after, at_once, closed, open, sessions};
use super::shares::{moody, parts, uneven};
use super::streams::{plain, spoken};
use crate::SECOND;
use crate::arrivals::{Arrivals, Listed, Rate};
use crate::engine::Simulated;
use crate::order::{Order, Protocol};
use crate::part::{Part, Parts};
use crate::plan::Plan;
use crate::strange_json::{assert_refused, leaves, shaken};

fn rate(per_s: u64) -> Rate {
    Rate::per_s(per_s).unwrap()
}

/// A load with parts of its own.
fn steps() -> Run {
    let step = |per_s| (rate(per_s), Duration::from_millis(700));
    let arrivals = Some(Arrivals::Steps(vec![step(100), step(300), step(200)]));
    Run { lanes: 2, arrivals, timeout: SECOND / 2, warmup: 300 * MILLI, ..open(20, 0) }
}

/// Two parts with sections, failures, evidence and a warm-up, as they are sent.
fn honest() -> (Run, [Value; 2]) {
    let run = steps();
    let parts = parts(&run, &[1, 1], uneven);
    let [one, other] = [0, 1].map(|place| serde_json::to_value(&parts[place]).unwrap());
    (run, [one, other])
}

/// Two such parts over HTTP/2.
fn honest_http2() -> (Run, [Value; 2]) {
    let run = Run {
        protocol: spoken(4),
        until: SECOND,
        lanes: 2,
        timeout: SECOND / 2,
        keep_alive: false,
        ..closed(4)
    };
    let engine = |lane| Simulated::reading(moody(lane));
    let parts = parts(&run, &[1, 1], engine);
    let [one, other] = [0, 1].map(|place| serde_json::to_value(&parts[place]).unwrap());
    (run, [one, other])
}

/// Puts a part that was changed together with the other one, and looks at what comes out of it, if it is not refused.
fn judge(run: &Run, changed: Value, other: &Value) -> Result<(), String> {
    let changed: Part = serde_json::from_value(changed).map_err(|error| error.to_string())?;
    let other: Part = serde_json::from_value(other.clone()).unwrap();
    let mut all = Parts::new(&run.order());
    all.add(changed)?;
    all.add(other)?;
    assert_eq!(all.missing(), 0);
    let whole = all.into_recording().unwrap();
    serde_json::to_string(&whole).unwrap();
    assert!(whole.windows.len() < 1_200);
    for distribution in whole.total.all_distributions() {
        let _ = (distribution.quantile(0.99), distribution.mean(), distribution.extremes());
    }
    Ok(())
}

#[test]
fn a_part_that_does_not_belong_to_the_load_is_refused_in_words() {
    let (run, [one, other]) = honest();
    assert_eq!(judge(&run, one.clone(), &other), Ok(()));
    let refused = |change: &dyn Fn(&mut Value), words: &str| {
        let mut changed = one.clone();
        change(&mut changed);
        let says = judge(&run, changed, &other).unwrap_err();
        assert!(says.contains(words), "`{says}`, and not `{words}`");
    };
    refused(&|part| part["share"]["of"] = 3.into(), "of 3 threads, where 2 were ordered");
    refused(&|part| part["share"]["first"] = 7.into(), "threads 7..8 are not of 2");
    refused(&|part| part["share"]["first"] = 1.into(), "thread 1 has come before");
    refused(&|part| part["lanes"] = u64::MAX.into(), "are not of 2");
    refused(&|part| part["lanes"] = 0.into(), "no threads");
    refused(&|part| part["lanes"] = 2.into(), "other threads than it says");
    refused(&|part| part["reports"] = json!([]), "other threads than it says");
    refused(&|part| part["width"] = 1_000_000.into(), "windows have another length");
    refused(&|part| part["until"] = 5.into(), "ended at another time");
    refused(&|part| part["gave_up"] = "connect.refused".into(), "does not give up on its own");
    refused(&|part| part["total"]["correct"] = 1.into(), "counts do not add up");
    refused(&|part| part["total"]["attempted"] = u64::MAX.into(), "is too many");
    refused(&|part| part["total"]["cpu"] = u64::MAX.into(), "times: ");
    refused(&|part| part["windows"]["coarseness"] = 3.into(), "cut in another way");
    refused(&|part| part["windows"]["all"][3]["from"] = 17.into(), "in order");
    refused(&|part| part["windows"]["all"][3]["until"] = 17.into(), "lies where none may be");
    refused(&|part| part["windows"]["all"][9]["attempted"] = 1.into(), "do not add up to what");
    refused(&|part| part["sections"] = json!([]), "does not change where");
    refused(&|part| part["total"]["response"] = part["sections"][0]["response"].clone(), "add up");
    refused(&|part| part["quiet"]["gaps"][0]["until"] = 0.into(), "not in order");
    refused(
        &|part| part["quiet"]["stalls"] = json!(vec![json!({ "start": 1, "end": 2 }); 2]),
        "not in order",
    );
    refused(&|part| part["surprise"] = 1.into(), "unknown field");
    refused(&|part| part["total"]["slowest"][0]["done_ns"] = 0.into(), "impossible");
    refused(
        &|part| {
            let evidence = part["total"]["evidence"][0].clone();
            part["total"]["evidence"] = json!(vec![evidence; 9]);
        },
        "too much of a failure",
    );
}

#[test]
fn what_has_come_twice_is_counted_once() {
    let (run, both) = honest();
    let part = |place: usize| serde_json::from_value::<Part>(both[place].clone()).unwrap();
    let mut all = Parts::new(&run.order());
    assert_eq!(all.missing(), 2);
    all.add(part(0)).unwrap();
    assert_eq!(all.add(part(0)).unwrap_err(), "thread 0 has come before");
    assert_eq!(all.missing(), 1);
    all.add(part(1)).unwrap();
    let whole = all.into_recording().unwrap();
    assert_eq!(whole, run.record((0..2).map(uneven)));
    let mut half = Parts::new(&run.order());
    half.add(part(1)).unwrap();
    assert!(half.into_recording().is_none(), "a lane is missing");
}

#[test]
fn no_number_in_a_part_makes_a_sum_overflow() {
    for (run, [one, other]) in [honest(), honest_http2()] {
        let mut places = leaves(&one);
        // Of the many windows, a few stand for all.
        let is_other = |place: &String| place.starts_with("/windows/all/") && !place.contains("/1");
        places.retain(|place| !is_other(place));
        for place in &places {
            // A request's own number, sums that are wider, and how long many waited beside one another.
            let free = ["/seq", "_window/sum", "/flight/", "in_flight_area"];
            let is_free = free.iter().any(|free| place.contains(free));
            for huge in [u64::MAX, 1 << 63, (1 << 62) - 1] {
                let mut changed = one.clone();
                *changed.pointer_mut(place).unwrap() = huge.into();
                let is_believed = judge(&run, changed, &other).is_ok();
                assert!(is_free || !is_believed, "{place}: {huge} was believed");
            }
        }
    }
}

#[test]
fn parts_that_were_shaken_are_refused_or_harmless() {
    let mut chance = Chance::new(18);
    let (mut accepted, mut refused) = (0, 0);
    for (run, [one, other]) in [honest(), honest_http2()] {
        let places = leaves(&one);
        for _ in 0..1_500 {
            match judge(&run, shaken(&one, &places, &mut chance), &other) {
                Ok(()) => accepted += 1,
                Err(says) => {
                    assert!(!says.is_empty());
                    refused += 1;
                }
            }
        }
    }
    assert!(10 < accepted && 1_000 < refused, "{accepted} accepted, {refused} refused");
}

/// Orders of every kind, as they are sent.
fn orders() -> Vec<Value> {
    let listed = Listed::new(&[0, 5 * MILLI, 5 * MILLI, 90 * MILLI]).unwrap();
    let over = Duration::from_millis(300);
    let ramp = Arrivals::Ramp { from: rate(10), to: rate(500), over };
    let all = [
        Run { method: "POST", body: "n={seq}", ..closed(5) },
        Run { protocol: spoken(7), ..closed(3) },
        Run { arrivals: Some(Arrivals::Poisson(rate(300))), ..open(5, 0) },
        Run { arrivals: Some(Arrivals::Listed(listed)), ..open(5, 0) },
        Run { arrivals: Some(ramp), ..open(5, 0) },
        Run { total: 100, ..sessions(3, 100, 0) },
        steps(),
    ];
    let order = |run: Run| {
        let run = Run { lanes: 2, warmup: 20 * MILLI, until: 300 * MILLI, ..run };
        serde_json::to_value(Order { cpus: vec![0], ..run.order() }).unwrap()
    };
    all.into_iter().map(order).collect()
}

#[test]
fn an_order_that_asks_for_too_much_is_refused_in_words() {
    let [closed, http2, poisson, listed, ramp, sessions, steps] =
        <[Value; 7]>::try_from(orders()).unwrap();
    let refused = assert_refused::<Order>;
    refused(&closed, "/lanes", 0.into(), "lanes: 0 is not within 1 and 1024");
    refused(&closed, "/lanes", 100_000.into(), "lanes: 100000 is not within");
    refused(&closed, "/share", json!({ "first": 3, "of": 4 }), "threads 3..5 are not of 4");
    refused(&closed, "/share", json!({ "first": 0, "of": 100_000 }), "threads in all");
    refused(&closed, "/share", json!({ "first": u64::MAX, "of": 4 }), "are not of 4");
    refused(&closed, "/cpus/0", 1_024.into(), "CPU: 1024");
    refused(&closed, "/timeout", json!({ "secs": 0, "nanos": 0 }), "timeout: 0ns");
    refused(&closed, "/timeout", json!({ "secs": u64::MAX, "nanos": 0 }), "timeout: ");
    refused(&closed, "/warmup/secs", 10_000_000.into(), "warmup: ");
    refused(&closed, "/stop/duration/secs", 10_000_000.into(), "duration: ");
    refused(&closed, "/window", json!({ "secs": 0, "nanos": 1 }), "window: 1ns");
    refused(&closed, "/limits/head", u64::MAX.into(), "limits.head");
    refused(&closed, "/limits/interims", 255.into(), "limits.interims");
    refused(&closed, "/load/closed/connections", 0.into(), "connections: 0");
    refused(&closed, "/load/closed/connections", (1_u64 << 40).into(), "connections: ");
    refused(&closed, "/asks/asks/0/request/method", "GET /".into(), "is not a method");
    refused(&closed, "/asks/asks/0/request/http2", "http".into(), "made for another protocol");
    refused(&http2, "/protocol", "http1".into(), "made for another protocol");
    refused(&http2, "/protocol/http2/streams", 0.into(), "nonzero");
    refused(&http2, "/protocol/http2/windows", json!([0, 65_535]), "a stream's window");
    refused(&http2, "/load/closed/connections", (1_u64 << 22).into(), "requests at once");
    refused(&poisson, "/load/open/arrivals/poisson", 0.into(), "not a rate");
    refused(&poisson, "/load/open/arrivals/poisson", u64::MAX.into(), "not a rate");
    refused(&poisson, "/load/open/arrivals/poisson", 100_000_000_000_u64.into(), "may be due");
    refused(&poisson, "/load/open/connections", 1_000.into(), "connections at the start");
    refused(&listed, "/load/open/arrivals/listed", json!([5, 4]), "earlier than the one before");
    refused(&listed, "/load/open/arrivals/listed", json!([0, u64::MAX]), "last time");
    refused(&ramp, "/load/open/arrivals/ramp/over/nanos", 0.into(), "ramp: 0ns");
    refused(&sessions, "/load/sessions/calls", 0.into(), "calls: 0");
    refused(&steps, "/load/open/arrivals/steps", json!([]), "steps: 0");
    refused(&steps, "/load/open/arrivals/steps/0/1/secs", 10_000_000.into(), "step: ");
}

/// What is not refused can be carried out: on a simulated network, where it is not too large for a test.
#[test]
fn orders_that_were_shaken_are_refused_or_carried_out() {
    let mut chance = Chance::new(18);
    let (mut carried_out, mut refused) = (0, 0);
    for good in orders() {
        let places = leaves(&good);
        for _ in 0..400 {
            let Ok(order) = serde_json::from_value::<Order>(shaken(&good, &places, &mut chance))
            else {
                refused += 1;
                continue;
            };
            let again = serde_json::to_value(&order).unwrap();
            assert_eq!(
                serde_json::to_value(serde_json::from_value::<Order>(again.clone()).unwrap())
                    .unwrap(),
                again
            );
            carried_out += u64::from(carry_out(&order));
        }
    }
    assert!(100 < carried_out && 500 < refused, "{carried_out} carried out, {refused} refused");
}

/// Plans the order, and carries it out for a moment if that is soon done.
fn carry_out(order: &Order) -> bool {
    let plan = Plan::of(order);
    let _ = plan.scheduled_until(order);
    assert!(plan.own.len() <= order.lanes && plan.times.sections.len() <= 64);
    let peak = order.load.arrivals().map_or(0.0, |arrivals| arrivals.peak().as_f64());
    let calls = order.load.connections_max() * order.protocol.streams();
    let is_small = calls <= 1_000 && peak <= 10_000.0 && plan.own.len() <= 16;
    let is_soon = order.warmup + order.timeout < Duration::from_secs(60);
    if !is_small || !is_soon || order.window < Duration::from_millis(10) {
        return false;
    }
    // The rig makes orders of its own from runs; this one is given.
    let halted = Run { halt_at: SECOND, ..closed(1) };
    let engine = |_| Simulated::new(at_once, after(3 * MILLI));
    let part = match order.protocol {
        Protocol::Http1 => halted.part(order, (0..plan.own.len()).map(engine)),
        Protocol::Http2(_) => halted
            .part(order, (0..plan.own.len()).map(|lane| engine(lane).with_peer(plain(&[], MILLI)))),
    };
    Parts::new(order).add(part).unwrap();
    true
}
