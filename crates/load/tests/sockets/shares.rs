//! One load from several processes on real sockets, against the oracle. Threads stand for the processes: nothing but
//! text passes between them.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use load::{
    End, Failure, Halt, LiveGatherer, LiveMerger, LiveWindow, Order, Part, Parts, Recording,
    SECOND, Share, press, press_part,
};
use oracle::Config;
use rustix::thread::ClockId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{
    MINUTE, checked, closed, hello, lasting, open, oracle, sessions, target, total,
    without_a_server,
};

/// The machine's monotonic clock.
fn now() -> u64 {
    let now = rustix::time::clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * SECOND + now.tv_nsec as u64
}

fn again<T: Serialize + DeserializeOwned>(sent: &T) -> T {
    serde_json::from_str(&serde_json::to_string(sent).unwrap()).unwrap()
}

/// What a process says of its load meanwhile.
type Said = (usize, LiveWindow);

/// Begins the load at one instant in processes with so many lanes each, and puts together what they send.
fn press_together(
    order: &Order,
    deal: &[usize],
    halt: &Halt,
    mut hear: impl FnMut(Said),
) -> Recording {
    let mut parts = Parts::new(&Order { lanes: deal.iter().sum(), ..order.clone() });
    let of = deal.iter().sum();
    let origin = order.origin.or(Some(now() + SECOND / 5));
    std::thread::scope(|scope| {
        let (says, heard) = channel();
        let mut first = 0;
        let mut joins = Vec::new();
        for (agent, &lanes) in deal.iter().enumerate() {
            let share = Some(Share { first, of });
            let order: Order = again(&Order { lanes, share, origin, ..order.clone() });
            first += lanes;
            let says = says.clone();
            joins.push(scope.spawn(move || press_one(agent, &order, halt, &says)));
        }
        drop(says);
        heard.into_iter().for_each(&mut hear);
        // The last one comes first.
        for join in joins.into_iter().rev() {
            parts.add(again(&join.join().unwrap())).unwrap();
        }
    });
    checked(parts.into_recording().unwrap())
}

fn press_one(agent: usize, order: &Order, halt: &Halt, says: &Sender<Said>) -> Part {
    let mut gatherer = LiveGatherer::new(SECOND / 2);
    let part = press_part(order, halt, &mut |glance| {
        gatherer.add(glance, &mut |window| says.send((agent, again(&window))).unwrap());
    });
    let part = part.unwrap();
    gatherer.finish(&part).into_iter().for_each(|window| says.send((agent, window)).unwrap());
    part
}

#[test]
fn every_answer_to_any_process_is_counted_once_on_both_sides() {
    for (load, ordered, requests) in [
        (closed(10), 1_003, 1_003),
        (open("2000", 8, 200), 1_003, 1_003),
        (sessions("500", 2), 501, 1_002),
    ] {
        let oracle = oracle(Config::default());
        let order = hello(target(&oracle), total(ordered), load);
        let recording = press_together(&order, &[1, 2, 1], &Halt::default(), |_| {});
        assert_eq!((recording.total.attempted, recording.total.correct), (requests, requests));
        assert_eq!(recording.total.response.count(), requests);
        assert_eq!((recording.end, recording.lanes.len()), (End::Done, 4));
        assert_eq!(oracle.stop().requests, requests);
    }
}

/// All processes together are shown, and in the end that is what was recorded.
#[test]
fn what_is_shown_meanwhile_adds_up_to_what_is_recorded() {
    let oracle = oracle(Config::default());
    let order = hello(target(&oracle), lasting(Duration::from_millis(1_700)), open("800", 8, 200));
    let order = Order { warmup: Duration::from_millis(300), ..order };
    let mut merger = LiveMerger::new(3);
    let (mut attempted, mut total, mut glances) = (0, 0, 0);
    let mut look = |glance: &load::Glance<'_>| {
        attempted += glance.window.attempted;
        total = glance.total.attempted;
        glances += 1;
    };
    let recording = press_together(&order, &[1, 1, 1], &Halt::default(), |(agent, window)| {
        merger.add(agent, window, &mut look).unwrap();
    });
    (0..3).for_each(|agent| merger.lost(agent, &mut look));
    assert_eq!((attempted, total), (recording.total.attempted, recording.total.attempted));
    assert!((4..40).contains(&glances), "{glances}");
    assert_eq!(recording.total.attempted, 800 * 17 / 10);
}

/// They agree on an instant: all end with the same window, and nothing that was due before its end is missing.
#[test]
fn a_halt_at_an_instant_ends_all_processes_with_the_same_window() {
    let oracle = oracle(Config::default());
    let order = hello(target(&oracle), lasting(MINUTE), open("900", 9, 99));
    let order = Order { origin: Some(now() + SECOND / 5), ..order };
    let halt = Halt::default();
    let recording = press_together(&order, &[1, 1, 1], &halt, |_| {
        if !halt.is_asked() {
            halt.ask_at(now() + SECOND / 2);
        }
    });
    assert_eq!((recording.end, recording.measured_until % (SECOND / 10)), (End::Halted, 0));
    let scheduled = recording.scheduled_until.unwrap() - recording.measured_from;
    assert_eq!(scheduled, recording.measured_until - recording.measured_from);
    assert_eq!(recording.total.due * SECOND, 900 * scheduled);
    assert!(recording.measured_until < 10 * SECOND);
}

#[test]
fn a_load_alone_ends_at_an_instant_too() {
    let oracle = oracle(Config::default());
    let origin = now() + SECOND / 20;
    let order = hello(target(&oracle), lasting(MINUTE), open("500", 3, 99));
    let halt = Halt::default();
    halt.ask_at(origin + 1_234_567_890);
    let order = Order { origin: Some(origin), ..order };
    let recording = press(&order, &halt, &mut |_| {}).unwrap();
    assert_eq!((recording.end, recording.measured_until), (End::Halted, 1_300_000_000));
    assert_eq!(recording.total.due, 500 * 12 / 10);
}

/// A lane that is kept waiting before it begins has lost that time; its windows are on the clock of the others.
#[test]
fn a_part_says_how_long_after_the_agreed_instant_it_began() {
    let oracle = oracle(Config::default());
    let order = hello(target(&oracle), total(100), closed(4));
    let (agreed, asked) = (now() - SECOND / 4, now());
    let order = Order { origin: Some(agreed), ..order };
    let late = press_part(&order, &Halt::default(), &mut |_| {}).unwrap().began_late();
    assert!((asked - agreed..=now() - agreed).contains(&late), "{late} ns");
}

/// Whoever is asked to end before it begins does not touch the server.
#[test]
fn a_load_that_is_halted_before_its_origin_does_not_begin() {
    let oracle = oracle(Config::default());
    let order = hello(target(&oracle), total(1_000), closed(4));
    let order = Order { origin: Some(now() + 600 * SECOND), ..order };
    let halt = Halt::default();
    halt.ask();
    let recording = press_together(&order, &[1, 2], &halt, |_| {});
    assert_eq!((recording.end, recording.total.connections.begun), (End::Halted, 0));
    assert_eq!((oracle.truth().requests, recording.total.attempted), (0, 0));
    let never = Order { origin: Some(u64::MAX), ..order };
    let says = press_part(&never, &Halt::default(), &mut |_| {}).unwrap_err().to_string();
    assert!(says.contains("it would begin in "), "{says}");
}

#[test]
fn a_share_alone_is_no_recording() {
    let oracle = oracle(Config::default());
    let order = hello(target(&oracle), total(10), closed(4));
    let press = |first, of| {
        let order = Order { share: Some(Share { first, of }), ..order.clone() };
        press(&order, &Halt::default(), &mut |_| {}).map_err(|error| error.to_string())
    };
    assert_eq!(press(0, 3).unwrap_err(), "2 threads are those of other processes");
    assert!(press(3, 3).unwrap_err().contains("threads 3..4 are not of 3"));
    assert_eq!(press(0, 1).unwrap().total.correct, 10);
}

/// No server: each process goes on until all are told to stop, and then it is known why.
#[test]
fn all_processes_give_up_together() {
    let (_socket, target) = without_a_server();
    let order = hello(target, total(1_000_000), closed(6));
    let halt = Halt::default();
    let mut merger = LiveMerger::new(2);
    let recording = press_together(&order, &[1, 1], &halt, |(agent, window)| {
        merger.add(agent, window, &mut |_| {}).unwrap();
        if merger.reason_to_give_up(&order).is_some() && !halt.is_asked() {
            halt.ask_at(now() + SECOND / 4);
        }
    });
    assert_eq!(recording.end, End::GaveUp(Failure::ConnectRefused));
    assert!((3 * SECOND..20 * SECOND).contains(&recording.ended), "{}", recording.ended);
}
