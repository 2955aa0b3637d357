//! Held connections.

use std::io::Write;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use load::{
    Failure, Halt, HoldOrder, HoldWhat, Holding, Loss, Plateau, Ramp, Sends, Share, Target, hold,
};
use oracle::{Address, Config, Fault, Oracle, Truth};
use wire::{Ask, Cut, Expect, Request, socket_ask};

use super::again::{in_each, in_one_of_five};
use super::target;

const MS: u64 = 1_000_000;
/// Other work on this machine may make most messages late, and none early. It does not make all of them as late as
/// this; so where something must not be late, the least lateness is checked.
const NOISE: u64 = 50 * MS;

/// What is held at a path: `/ws…` are WebSockets.
fn what(path: &str) -> HoldWhat {
    if path.starts_with("/ws") {
        return HoldWhat::Socket { ask: socket_ask("oracle", path, &[]).unwrap() };
    }
    let ask = Ask::new(&Request::get("oracle", path), Expect::default()).unwrap();
    HoldWhat::Stream { ask, cut: Cut::Chunk }
}

/// In two threads.
fn twice(order: HoldOrder) -> HoldOrder {
    HoldOrder { lanes: 2, share: Share { first: 0, of: 2 }, ..order }
}

/// One step of this many connections, held for this long.
fn order(target: Target, path: &str, connections: usize, every: Duration) -> HoldOrder {
    let settle = Duration::from_millis(100);
    let ramp = Ramp { connections, step: connections, every, per_second: 2_000.0, settle };
    HoldOrder { reopen: false, ..HoldOrder::new(target, what(path), ramp) }
}

fn run(order: &HoldOrder) -> Holding {
    hold(order, &Halt::default(), &mut |_| {}).unwrap()
}

/// Fifty connections with a beat at both kinds of paths, for about twenty beats; and the oracle's truth.
fn beats(query: &str, every: Duration) -> [(Plateau, Truth); 2] {
    let seconds = every.as_secs_f64();
    [format!("/poll/{seconds}{query}"), format!("/wspoll/{seconds}{query}")].map(|path| {
        let oracle = Oracle::start(Config { threads: 2, ..Config::default() }).unwrap();
        let order = order(target(&oracle), &path, 50, 20 * every);
        let holding = run(&HoldOrder { beat: Some(every), ..twice(order) });
        let plateau = holding.plateaus.into_iter().next().unwrap();
        in_each(|| {
            assert_eq!(plateau.stamped, plateau.messages, "every beat says when it was due");
            assert_eq!(plateau.stamped, plateau.late.count());
        });
        let counts = (plateau.begun, plateau.opened, plateau.open, plateau.opening);
        assert_eq!(counts, (50, 50, 50, 0), "{path}");
        assert_eq!((plateau.silent, plateau.missed), (0, 0), "{path}");
        assert!(500 < plateau.messages, "{path}: {}", plateau.messages);
        (plateau, oracle.stop())
    })
}

fn late(plateau: &Plateau, quantile: f64) -> u64 {
    plateau.late.quantile(quantile).unwrap().value
}

/// The histograms keep three digits of a number.
fn is_no_earlier(measured: u64, imposed: u64) -> bool {
    imposed <= measured + imposed / 500
}

/// The least lateness.
fn least(plateau: &Plateau) -> u64 {
    plateau.late.extremes().unwrap().0
}

#[test]
fn both_protocols_are_held_and_their_beats_are_on_time() {
    in_one_of_five(|| {
        for (plateau, truth) in beats("", Duration::from_millis(50)) {
            in_each(|| {
                assert!(plateau.messages <= truth.beats);
                assert_eq!(truth.connections, 50);
            });
            assert!(least(&plateau) < NOISE, "{}", least(&plateau));
        }
    });
}

#[test]
fn two_modes_of_lateness_are_seen_in_their_shares() {
    in_one_of_five(|| {
        for (plateau, truth) in beats("?late=bimodal:5ms,60ms,0.2", Duration::from_millis(100)) {
            let (least, most) = plateau.late.extremes().unwrap();
            let share =
                plateau.late.count_between(59 * MS, most) as f64 / plateau.late.count() as f64;
            in_each(|| assert!(is_no_earlier(least, 5 * MS), "{least}"));
            assert!(0.12 < share, "{share}");
            assert!(least < 5 * MS + NOISE, "{least}");
            for quantile in [0.25, 0.5, 0.95] {
                let imposed = truth.late_ns.value_at_quantile(quantile);
                let measured = late(&plateau, quantile);
                assert!(is_no_earlier(measured, imposed), "{quantile}: {measured} for {imposed}");
            }
        }
    });
}

#[test]
fn an_end_is_reported_as_the_protocol_reports_it() {
    in_one_of_five(|| {
        for (path, cause) in [
            ("/poll/0.01?beats=3", "held.ended"),
            ("/wspoll/0.01?beats=3", "ws.goodbye"),
            ("/hello", "held.not_a_stream"),
            ("/nowhere", "content.status"),
            ("/wspoll/0", "ws.not_switched"),
        ] {
            let oracle = Oracle::start(Config::default()).unwrap();
            let holding = run(&order(target(&oracle), path, 5, Duration::from_millis(500)));
            let causes = causes(&holding.plateaus[0]);
            in_each(|| {
                assert!(causes.iter().all(|(name, _)| *name == cause), "{path}: {causes:?}");
            });
            assert_eq!(causes, [(cause, 5)], "{path}");
        }
    });
}

/// Why connections were never opened or have ended, and how often.
fn causes(plateau: &Plateau) -> Vec<(&'static str, u64)> {
    let count = |loss: Loss| plateau.failed[loss.index()] + plateau.lost[loss.index()];
    Loss::ALL
        .into_iter()
        .map(|loss| (loss.name(), count(loss)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[test]
fn a_server_that_dies_in_the_middle_of_a_ramp_is_reported_as_it_was() {
    in_one_of_five(|| {
        for path in ["/poll/0.05", "/wspoll/0.05"] {
            let mut oracle = Some(Oracle::start(Config::default()).unwrap());
            let target = target(oracle.as_ref().unwrap());
            let mut order = order(target, path, 100, Duration::from_millis(1_500));
            (order.ramp.per_second, order.window) = (100.0, Duration::from_millis(50));
            let holding = hold(&order, &Halt::default(), &mut |window| {
                if 10 <= window.open {
                    drop(oracle.take());
                }
            });
            let holding = holding.unwrap();
            let plateau = &holding.plateaus[0];
            let are_told = ["connect.refused", "connect.reset", "recv.reset", "recv.empty"];
            let end = if path.starts_with("/ws") { "ws.cut" } else { "recv.cut_body" };
            let causes = causes(plateau);
            in_each(|| {
                let is_told = |name| are_told.contains(name) || *name == end;
                assert!(causes.iter().all(|(name, _)| is_told(name)), "{path}: {causes:?}");
            });
            assert_eq!((plateau.begun, plateau.open, plateau.opening), (100, 0, 0));
            assert!(10 <= plateau.lost_in_all(), "{path}: {causes:?}");
            let refused = plateau.failed[Loss::Failure(Failure::ConnectRefused).index()];
            assert!(0 < refused, "{path}: {causes:?}");
        }
    });
}

#[test]
fn lanes_that_would_hold_each_other_s_connections_are_refused() {
    let target = Target::Tcp("127.0.0.1:9".parse().unwrap());
    let order = order(target, "/poll/1", 2, Duration::from_millis(200));
    let refused = hold(&HoldOrder { lanes: 2, ..order }, &Halt::default(), &mut |_| {});
    assert!(refused.unwrap_err().to_string().contains("0..2 are not of 1"));
}

#[test]
fn every_hostile_socket_is_classified() {
    in_one_of_five(|| {
        let all: Vec<Fault> = Fault::all().iter().copied().filter(Fault::fits_a_socket).collect();
        let (next, met_as) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(fault) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                        met_as.lock().unwrap().push(met(fault));
                    }
                });
            }
        });
        let met_as = met_as.into_inner().unwrap();
        let not_so = |is_met: fn(&Met) -> bool| -> Vec<&str> {
            met_as.iter().filter(|met| !is_met(met)).map(|met| met.says.as_str()).collect()
        };
        in_each(|| {
            assert!(20 <= all.len() && met_as.len() == all.len());
            assert_eq!(not_so(|met| met.is_well_named), [""; 0]);
        });
        assert_eq!(not_so(|met| met.is_complete), [""; 0]);
    });
}

/// The reaction to a fault.
struct Met {
    /// Nothing was reported that the fault is not.
    is_well_named: bool,
    /// Both connections met the fault, and what became of both is known: within a second.
    is_complete: bool,
    says: String,
}

fn met(fault: &Fault) -> Met {
    let config = Config { threads: 1, fault: Some(*fault), ..Config::default() };
    let oracle = Oracle::start(config).unwrap();
    let order = order(target(&oracle), "/wspoll/1000?stops=0", 2, Duration::from_millis(1_000));
    let silence = Duration::from_millis(500);
    let holding = run(&HoldOrder { silence, ..order });
    let (plateau, truth) = (&holding.plateaus[0], oracle.stop());
    let causes = causes(plateau);
    let is_known = match fault.expect {
        [] => (plateau.open, plateau.silent) == (2, 2),
        _ => causes.iter().map(|(_, count)| count).sum::<u64>() == 2,
    };
    Met {
        is_well_named: causes.iter().all(|(name, _)| fault.expect.contains(name)),
        is_complete: is_known && truth.faults == 2,
        says: format!("{}: {causes:?}, open {}", fault.name, plateau.open),
    }
}

#[test]
fn an_echo_comes_back_to_its_sender() {
    in_one_of_five(|| {
        for length in [5, 300, 70_000] {
            let oracle = Oracle::start(Config { threads: 2, ..Config::default() }).unwrap();
            let order = order(target(&oracle), "/wsecho", 100, Duration::from_millis(1_150));
            let sends = Sends::Echo { text: vec![b'e'; length], per_second: 200.0 };
            let holding = run(&HoldOrder { sends: Some(sends), ..twice(order) });
            let (plateau, truth) = (&holding.plateaus[0], oracle.stop());
            let echoes = &plateau.echoes;
            in_each(|| {
                assert_eq!((plateau.lost_in_all(), echoes.failed), (0, 0));
                assert_eq!(echoes.due, echoes.correct + echoes.under_way + echoes.blocked);
                assert_eq!(echoes.response.count(), echoes.correct + echoes.under_way);
                assert!(echoes.correct <= truth.messages);
            });
            // One second of texts, sent or not, including those that are due at its very end.
            assert_eq!((plateau.open, echoes.due), (100, 200));
            let (least, _) = echoes.response.extremes().unwrap();
            assert!(least < NOISE, "{length}: {least}");
        }
    });
}

#[test]
fn what_is_said_in_the_room_is_heard_by_all() {
    in_one_of_five(|| {
        let oracle = Oracle::start(Config { threads: 2, ..Config::default() }).unwrap();
        let order = order(target(&oracle), "/wsroom", 100, Duration::from_millis(1_500));
        let sends = Sends::Broadcast { every: Duration::from_millis(50) };
        let holding = run(&HoldOrder { sends: Some(sends), ..twice(order) });
        let (plateau, truth) = (&holding.plateaus[0], oracle.stop());
        let received: Vec<u64> = plateau.broadcasts.values().map(|one| one.received).collect();
        in_each(|| {
            assert_eq!(plateau.lost_in_all(), 0);
            assert!(received.iter().all(|received| *received <= 100), "{received:?}");
            assert!(plateau.broadcasts.values().all(|one| one.first <= one.last));
            assert_eq!(plateau.late.count(), received.iter().sum::<u64>());
        });
        assert_eq!((plateau.open, truth.spread_skipped), (100, 0));
        // The last half second of them may still be on its way at the end.
        assert!((18..=28).contains(&received.len()), "{received:?}");
        assert!(received[6..18].iter().all(|received| *received == 100), "{received:?}");
    });
}

/// This many connections share the memory that a load needs however many it holds.
const MANY: usize = 12_000;

#[test]
fn an_idle_connection_costs_no_more_than_a_kib() {
    for path in ["/poll/1000", "/wspoll/1000"] {
        let oracle = Oracle::start(Config { threads: 1, ..Config::default() }).unwrap();
        let (open, bytes) = elsewhere(&oracle, path, MANY);
        assert_eq!(open, MANY as u64);
        let each = bytes / MANY as u64;
        assert!((64..=1_024).contains(&each), "{path}: {each} bytes a connection");
    }
}

/// Histograms and buffers take about 6 MiB of it, whatever arrives on the connections.
const BOUND: u64 = 12 << 20;

#[test]
fn hostile_sockets_are_bounded_in_memory() {
    let names = ["ws-ping-flood", "ws-endless-fragments", "ws-empty-fragments", "ws-huge-message"];
    for name in names {
        let oracle = Oracle::start(Config { threads: 1, ..Config::default() }).unwrap();
        let path = format!("/wspoll/1000?stops=0&fault={name}");
        let (_, bytes) = elsewhere(&oracle, &path, 4);
        assert!(bytes <= BOUND, "{name}: {bytes} bytes");
    }
}

/// Holds in a process that does nothing else: returns how many were open in the end, and the most memory that it took
/// beyond what a process has before it does anything.
fn elsewhere(oracle: &Oracle, path: &str, connections: usize) -> (u64, u64) {
    let Address::Tcp(address) = oracle.address() else { panic!("TCP was asked") };
    let reported = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hold::holder", "--ignored", "--nocapture"])
        .env("HOLDER", format!("{address} {path} {connections}"))
        .output()
        .unwrap();
    let text = String::from_utf8(reported.stdout).unwrap();
    let Some((_, reported)) = text.lines().find_map(|line| line.split_once("HOLDER ")) else {
        panic!("it holds nothing: {text}{}", String::from_utf8_lossy(&reported.stderr));
    };
    let (open, bytes) = reported.split_once(' ').unwrap();
    (open.parse().unwrap(), bytes.parse().unwrap())
}

#[test]
#[ignore = "the other process of the tests of memory"]
fn holder() {
    let Ok(reported) = std::env::var("HOLDER") else { return };
    let [address, path, connections] = reported.split(' ').collect::<Vec<_>>()[..] else { return };
    let target = Target::Tcp(address.parse().unwrap());
    let before = resident_bytes("VmRSS:");
    let connections = connections.parse().unwrap();
    // Hostile servers have three seconds; connections that are to be held are waited for, however busy the machine is.
    let every = Duration::from_secs(if connections < MANY { 3 } else { 50 });
    let mut order = order(target, path, connections, every);
    (order.ramp.per_second, order.window) = (5_000.0, Duration::from_secs(1));
    let halt = Halt::default();
    let held = hold(&order, &halt, &mut |window| {
        if window.open == MANY as u64 {
            halt.ask();
        }
    });
    let open = held.unwrap().plateaus[0].open;
    let bytes = resident_bytes("VmHWM:") - before;
    std::io::stdout().write_all(format!("\nHOLDER {open} {bytes}\n").as_bytes()).unwrap();
}

fn resident_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() << 10
}
