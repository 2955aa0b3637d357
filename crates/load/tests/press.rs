//! The instrument on real sockets, against the oracle.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up may stop there

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use load::{Arrivals, End, Failure, Halt, Load, Order, Recording, Stop, Target, press};
use oracle::{Address, Config, Delay, Listen, Oracle};
use rustix::net::{AddressFamily, SocketType};
use wire::{Ask, Asks, BodyRule, Expect, Request, Template};

fn oracle(config: Config) -> Oracle {
    Oracle::start(Config { threads: 1, ..config }).unwrap()
}

fn target(oracle: &Oracle) -> Target {
    match oracle.address() {
        Address::Tcp(address) => Target::Tcp(*address),
        Address::Unix(path) => Target::Unix(path.clone()),
    }
}

fn order(target: Target, path: &str, body: BodyRule, load: Load) -> Order {
    let expect = Expect { body, ..Expect::default() };
    let asks = Asks::one(Ask::new(&Request::get("oracle", path), expect).unwrap());
    let stop = Stop { total: Some(1_000), duration: None };
    Order { stop, ..Order::new(target, asks, load) }
}

fn hello() -> BodyRule {
    BodyRule::Exactly(Template::literal("Hello, world!"))
}

fn closed(connections: usize) -> Load {
    Load::Closed { connections }
}

fn constant(rate: &str) -> Arrivals {
    Arrivals::Constant(rate.parse().unwrap())
}

fn run(order: &Order) -> Recording {
    let recording = press(order, &Halt::default(), &mut |_| {}).unwrap();
    let total = &recording.total;
    let ended = total.correct + total.failed_in_all() + total.under_way;
    assert_eq!(total.attempted, ended, "the books balance");
    let windows: u64 = recording.windows.iter().map(|window| window.attempted).sum();
    assert_eq!(total.attempted + warmup_attempted(&recording), windows);
    recording
}

fn warmup_attempted(recording: &Recording) -> u64 {
    let warmup = recording.windows.iter().filter(|window| window.is_warmup);
    warmup.map(|window| window.attempted).sum()
}

#[test]
fn every_answer_is_counted_once_on_both_sides() {
    for (load, lanes) in [(closed(1), 1), (closed(7), 3), (closed(100), 2)] {
        let oracle = oracle(Config::default());
        let order = Order { lanes, ..order(target(&oracle), "/hello", hello(), load) };
        let recording = run(&order);
        assert_eq!((recording.total.attempted, recording.total.correct), (1_000, 1_000));
        assert_eq!(recording.total.response.count(), 1_000);
        assert_eq!(recording.end, End::Done);
        assert_eq!(oracle.stop().requests, 1_000);
    }
}

#[test]
fn a_random_value_comes_back_or_it_is_a_mismatch() {
    let oracle = oracle(Config::default());
    let echo = |tag: &str| {
        let body = format!("<http_test><{tag}>{{random:8}}</{tag}></http_test>");
        let rule = BodyRule::Exactly(Template::parse(body.as_bytes()).unwrap());
        run(&order(target(&oracle), "/?value={random:8}", rule, closed(5))).total
    };
    assert_eq!(echo("value").correct, 1_000);
    let wrong = echo("valve");
    assert_eq!(wrong.failures(Failure::Content(wire::Mismatch::Body)), 1_000);
    assert_eq!((wrong.correct_inside, wrong.response.count()), (0, 0));
}

#[test]
fn every_way_to_reach_a_server_works() {
    let socket = std::env::temp_dir().join(format!("dyno-press-{}.sock", std::process::id()));
    let listens = [
        Listen::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)),
        Listen::Tcp(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), 0)),
        Listen::Unix(socket),
    ];
    for listen in listens {
        let oracle = oracle(Config { listen, ..Config::default() });
        let recording = run(&order(target(&oracle), "/hello", hello(), closed(3)));
        assert_eq!(recording.total.correct, 1_000);
    }
}

#[test]
fn sessions_rotate_over_their_source_addresses() {
    let oracle = oracle(Config::default());
    let sources: Vec<IpAddr> = (1..=3).map(|n| Ipv4Addr::new(127, 0, 0, n).into()).collect();
    let load = Load::Sessions { arrivals: constant("1000"), calls: 10, max_connections: 1_000 };
    let stop = Stop { total: Some(300), duration: None };
    let order = Order { sources, stop, ..order(target(&oracle), "/hello", hello(), load) };
    let total = run(&order).total;
    assert_eq!((total.attempted, total.correct), (3_000, 3_000));
    assert_eq!((total.sessions.attempted, total.sessions.complete), (300, 300));
    assert_eq!(total.connections.established, 300);
}

#[test]
fn one_request_a_connection() {
    let oracle = oracle(Config::default());
    let request = Request { keep_alive: false, ..Request::get("oracle", "/hello") };
    let expect = Expect { body: hello(), ..Expect::default() };
    let asks = Asks::one(Ask::new(&request, expect).unwrap());
    let order = order(target(&oracle), "/hello", hello(), closed(5));
    let total = run(&Order { asks, keep_alive: false, ..order }).total;
    assert_eq!((total.correct, total.connections.established), (1_000, 1_000));
    assert_eq!(total.connect.count(), 1_000);
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
    let arrivals = constant("500");
    let load = Load::Open { arrivals, connections: 20, max_connections: 200 };
    let recording = run(&order(target(&oracle), "/hello", hello(), load));
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
    // A socket that is bound and does not listen keeps its port from everybody else.
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = rustix::net::getsockname(&socket).unwrap().try_into().unwrap();
    let order = order(Target::Tcp(address), "/", BodyRule::Any, closed(10));
    let stop = Stop { total: Some(1_000_000), duration: None };
    // Without the limit for refused connections, it would go on for two time-outs, or for a million requests.
    let timeout = Duration::from_secs(3_600);
    let recording = run(&Order { stop, timeout, ..order });
    assert_eq!(recording.end, End::GaveUp(Failure::ConnectRefused));
    assert!(recording.ended < 30 * 1_000_000_000, "{} ns", recording.ended);
    assert!(recording.total.attempted < 10_000, "a refused connection is not hammered");
}

#[test]
fn a_server_that_dies_in_the_middle_is_reported_as_it_was() {
    // On a busy machine the news may come when the load is over; not each time.
    let died = || {
        let oracle = oracle(Config::default());
        let order = order(target(&oracle), "/hello", hello(), closed(5));
        let stop = Stop { total: None, duration: Some(Duration::from_secs(1)) };
        let mut oracle = Some(oracle);
        let recording = press(&Order { stop, ..order }, &Halt::default(), &mut |glance| {
            if 0 < glance.total.correct {
                drop(oracle.take());
            }
        });
        let recording = recording.unwrap();
        (0 < recording.total.failures(Failure::ConnectRefused)).then_some(recording)
    };
    let recording = (0..5).find_map(|_| died()).expect("it was refused once");
    let total = &recording.total;
    assert_eq!(recording.end, End::Done, "what it answered before keeps the run alive");
    assert!(0 < total.correct);
    assert_eq!(total.attempted, total.correct + total.failed_in_all() + total.under_way);
    assert_eq!(total.response.count(), total.correct, "a failure is not a latency");
}

#[test]
fn a_halt_keeps_what_was_measured() {
    let oracle = oracle(Config::default());
    let order = order(target(&oracle), "/hello", hello(), closed(2));
    let stop = Stop { total: None, duration: Some(Duration::from_secs(60)) };
    let halt = Halt::default();
    let mut glances = 0;
    let recording = press(&Order { stop, ..order }, &halt, &mut |glance| {
        glances += 1;
        if 0 < glance.total.correct {
            halt.ask();
        }
    });
    let recording = recording.unwrap();
    assert_eq!(recording.end, End::Halted);
    let total = &recording.total;
    assert!(0 < glances && 0 < total.correct);
    // A busy server may have left some under way.
    assert_eq!(total.attempted, total.correct + total.under_way);
}

#[test]
fn running_out_of_ports_is_our_own_failure() {
    // One source address and one of its ports, taken by this test itself.
    let oracle = oracle(Config::default());
    let order = order(target(&oracle), "/hello", hello(), closed(2));
    // An address reserved for documentation, which is never a local one.
    let sources = vec![IpAddr::from(Ipv4Addr::new(192, 0, 2, 1))];
    let recording = run(&Order { sources, ..order });
    assert_eq!(recording.total.correct, 0);
    assert_eq!(recording.total.failures(Failure::NoPorts), recording.total.failed_in_all());
    assert!(0 < recording.total.failed_in_all());
}

/// The thread that collects may stand still, and learn late what the lanes have done: they end ahead of what they have.
#[test]
fn a_halt_that_is_noticed_late_leaves_nothing_out_of_the_measured_time() {
    let oracle = oracle(Config::default());
    let load = Load::Open { arrivals: constant("900"), connections: 9, max_connections: 99 };
    let stop = Stop { total: None, duration: Some(Duration::from_secs(60)) };
    let order = Order { stop, ..order(target(&oracle), "/hello", hello(), load) };
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
    assert_eq!(recording.total.due * 1_000_000_000, 900 * scheduled);
}

/// Ctrl-C may come when all lanes have ended, and before all that they have reported is counted.
#[test]
fn a_halt_after_the_end_changes_nothing() {
    let oracle = oracle(Config::default());
    for warmup in [Duration::ZERO, Duration::from_millis(200)] {
        let stop = Stop { total: None, duration: Some(Duration::from_millis(500)) };
        let load = Load::Closed { connections: 2 };
        let order = Order { stop, warmup, ..order(target(&oracle), "/hello", hello(), load) };
        let halt = Halt::default();
        let recording = press(&order, &halt, &mut |glance| {
            // The window after the measured time is counted when it has been reported by all lanes.
            if order.warmup + Duration::from_millis(500) <= Duration::from_nanos(glance.from) {
                halt.ask();
            }
        });
        assert!(halt.is_asked());
        let recording = recording.unwrap();
        let measured = recording.measured_until - recording.measured_from;
        assert_eq!(measured, 500_000_000);
        let inside: u64 =
            recording.windows.iter().filter(|one| !one.is_warmup).map(|one| one.correct).sum();
        assert!(recording.total.correct_inside <= inside && 0 < inside);
    }
}
