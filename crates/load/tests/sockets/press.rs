//! One process, and all that only real sockets show.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use load::{End, Failure, Halt, Order, Recording, SECOND, press};
use oracle::{Config, Delay, Listen};

use super::{
    MINUTE, checked, closed, hello, lasting, open, oracle, sessions, target, total,
    without_a_server,
};

fn run(order: &Order) -> Recording {
    checked(press(order, &Halt::default(), &mut |_| {}).unwrap())
}

#[test]
fn every_answer_is_counted_once_on_both_sides_however_the_server_is_reached() {
    let socket = std::env::temp_dir().join(format!("dyno-press-{}.sock", std::process::id()));
    let tcp = |address: IpAddr| Listen::Tcp(SocketAddr::new(address, 0));
    for (listen, connections, lanes) in [
        (tcp(Ipv4Addr::LOCALHOST.into()), 1, 1),
        (tcp(Ipv6Addr::LOCALHOST.into()), 7, 3),
        (Listen::Unix(socket), 100, 2),
    ] {
        let oracle = oracle(Config { listen, ..Config::default() });
        let order = hello(target(&oracle), total(1_000), closed(connections));
        let recording = run(&Order { lanes, ..order });
        assert_eq!((recording.total.attempted, recording.total.correct), (1_000, 1_000));
        assert_eq!(recording.total.response.count(), 1_000);
        assert_eq!((recording.end, oracle.stop().requests), (End::Done, 1_000));
    }
}

#[test]
fn sessions_rotate_over_their_source_addresses() {
    let oracle = oracle(Config::default());
    let sources: Vec<IpAddr> = (1..=3).map(|n| Ipv4Addr::new(127, 0, 0, n).into()).collect();
    let order = hello(target(&oracle), total(300), sessions("1000", 10));
    let total = run(&Order { sources, ..order }).total;
    assert_eq!((total.attempted, total.correct), (3_000, 3_000));
    assert_eq!((total.sessions.attempted, total.sessions.complete), (300, 300));
    assert_eq!(total.connections.established, 300);
}

/// The measured delay must be the delay that the oracle imposed. The
/// machine may add to a delay, but never take from it.
#[test]
fn a_known_delay_is_measured_as_it_was() {
    // A busy machine adds to delays in some tries; a wrong clock does in all.
    assert!((0..20).any(|_| is_delay_measured_as_it_was()), "20 ms were added in each of 20 tries");
}

/// Whether nothing was added to the delay; that nothing was taken from it is asserted.
fn is_delay_measured_as_it_was() -> bool {
    let delay: Delay = "bimodal:2ms,30ms,0.2".parse().unwrap();
    let oracle = oracle(Config { delay: Some(delay), ..Config::default() });
    let recording = run(&hello(target(&oracle), total(1_000), open("500", 20, 200)));
    let truth = oracle.stop();
    assert_eq!((recording.total.attempted, recording.total.correct), (1_000, 1_000));
    let is_right = |quantile: f64| {
        let measured = recording.total.response.quantile(quantile).unwrap().value;
        let imposed = truth.drawn_ns.value_at_quantile(quantile);
        assert!(imposed <= measured + imposed / 500, "{quantile}: {measured} below {imposed}");
        measured < imposed + 20_000_000
    };
    [0.5, 0.75, 0.95].into_iter().all(is_right)
}

#[test]
fn a_port_without_a_server_is_reported_within_seconds() {
    let (_socket, target) = without_a_server();
    // Without the limit for refused connections, it would go on for two time-outs, or for a million requests.
    let order = hello(target, total(1_000_000), closed(10));
    let recording = run(&Order { timeout: 60 * MINUTE, ..order });
    assert_eq!(recording.end, End::GaveUp(Failure::ConnectRefused));
    assert!(recording.ended < 30 * SECOND, "{} ns", recording.ended);
    assert!(recording.total.attempted < 10_000, "a refused connection is not hammered");
}

#[test]
fn a_server_that_dies_in_the_middle_is_reported_as_it_was() {
    // On a busy machine the news may come when the load is over; not each time.
    let died = || {
        let oracle = oracle(Config::default());
        let order = hello(target(&oracle), lasting(Duration::from_secs(1)), closed(5));
        let mut oracle = Some(oracle);
        let recording = press(&order, &Halt::default(), &mut |glance| {
            if 0 < glance.total.correct {
                drop(oracle.take());
            }
        });
        let recording = checked(recording.unwrap());
        (0 < recording.total.failures(Failure::ConnectRefused)).then_some(recording)
    };
    let recording = (0..5).find_map(|_| died()).expect("it was refused once");
    let total = &recording.total;
    assert_eq!(recording.end, End::Done, "what it answered before keeps the run alive");
    assert!(0 < total.correct);
    assert_eq!(total.response.count(), total.correct, "a failure is not a latency");
}

#[test]
fn running_out_of_ports_is_our_own_failure() {
    let oracle = oracle(Config::default());
    // An address reserved for documentation, which is never a local one.
    let sources = vec![IpAddr::from(Ipv4Addr::new(192, 0, 2, 1))];
    let order = hello(target(&oracle), total(1_000), closed(2));
    let total = run(&Order { sources, ..order }).total;
    assert_eq!((total.correct, total.failures(Failure::NoPorts)), (0, total.failed_in_all()));
    assert!(0 < total.failed_in_all());
}

/// The thread that collects may stand still, and learn late what the lanes have done: they end ahead of what they have.
#[test]
fn a_halt_that_is_noticed_late_leaves_nothing_out_of_the_measured_time() {
    let oracle = oracle(Config::default());
    let order = hello(target(&oracle), lasting(MINUTE), open("900", 9, 99));
    let halt = Halt::default();
    let recording = press(&order, &halt, &mut |glance| {
        // As if this thread had no CPU until the lanes are some windows ahead.
        while !halt.is_asked() && oracle.truth().requests < glance.total.attempted + 600 {
            std::thread::yield_now();
        }
        halt.ask();
    });
    let recording = recording.unwrap();
    let scheduled = recording.scheduled_until.unwrap() - recording.measured_from;
    assert_eq!(recording.total.due * SECOND, 900 * scheduled);
}

/// Ctrl-C may come when all lanes have ended, and before all that they have reported is counted.
#[test]
fn a_halt_after_the_end_changes_nothing() {
    let oracle = oracle(Config::default());
    let half = Duration::from_millis(500);
    for warmup in [Duration::ZERO, Duration::from_millis(200)] {
        let order = Order { warmup, ..hello(target(&oracle), lasting(half), closed(2)) };
        let halt = Halt::default();
        let recording = press(&order, &halt, &mut |glance| {
            // The window after the measured time is counted when it has been reported by all lanes.
            if order.warmup + half <= Duration::from_nanos(glance.from) {
                halt.ask();
            }
        });
        assert!(halt.is_asked());
        let recording = recording.unwrap();
        assert_eq!(recording.measured_until - recording.measured_from, SECOND / 2);
        let inside: u64 =
            recording.windows.iter().filter(|one| !one.is_warmup).map(|one| one.correct).sum();
        assert!(recording.total.correct_inside <= inside && 0 < inside);
    }
}
