//! Loads that take turns, on real sockets and clocks.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use load::{Halt, Order, Recording, Target, Turn, Turns, press_in_turns};
use oracle::{Config, Oracle};
use wire::{Ask, Asks, Expect, Request};

use super::again::{in_each, in_one_of_five};
use super::{closed, hello, lasting, oracle, target};

fn order(oracle: &Oracle, connections: usize, measured: Duration) -> Order {
    Order { lanes: 2, ..hello(target(oracle), lasting(measured), closed(connections)) }
}

/// What each of these sides recorded, and when it had its turns.
fn race(orders: &[Order], turns: &Turns, halt: &Halt) -> Vec<(Recording, Vec<Turn>)> {
    std::thread::scope(|scope| {
        let run = |(side, order): (usize, _)| {
            scope.spawn(move || {
                let place = turns.place(side);
                let used = AtomicU64::new(0);
                place.read_cpu(Box::new(move || Some(used.fetch_add(1, Ordering::Relaxed))));
                let recording = press_in_turns(order, &place, halt, &mut |_| {}).unwrap();
                place.wait_for_the_others();
                (recording, place.turns())
            })
        };
        let threads: Vec<_> = orders.iter().enumerate().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn oracles(sides: usize) -> Vec<Oracle> {
    (0..sides).map(|_| oracle(Config::default())).collect()
}

#[test]
fn only_one_side_is_under_load_at_a_time_and_each_keeps_its_connections() {
    in_one_of_five(|| {
        let oracles = oracles(3);
        let measured = Duration::from_millis(400);
        let orders: Vec<Order> = oracles.iter().map(|oracle| order(oracle, 6, measured)).collect();
        let turns = Turns::new(3, 1, Duration::from_millis(50));
        let seen = race(&orders, &turns, &Halt::default());
        let mut all = Vec::new();
        for (side, (recording, turns)) in seen.iter().enumerate() {
            let total = &recording.total;
            all.extend(turns.iter().map(|turn| (turn.from, turn.until, side)));
            in_each(|| {
                assert_eq!(recording.measured_until - recording.measured_from, 400_000_000);
                assert!(0 < total.correct && total.correct == total.attempted, "{total:?}");
                assert_eq!(total.connections.established, 6);
                // The reader counts how often it was called before: when a turn begins and when it ends.
                let begin_and_end =
                    |(at, turn): (u64, &Turn)| turn.cpu == Some((2 * at, 2 * at + 1));
                assert!((0..).zip(turns).all(begin_and_end), "{turns:?}");
                let own: u64 = turns.iter().map(|turn| turn.until - turn.from).sum();
                assert!(400_000_000 <= own, "the clock stood still in the turns of others: {own}");
            });
        }
        all.sort_unstable();
        let order: Vec<usize> = all.iter().map(|(_, _, side)| *side).collect();
        let turns_of = [0, 1, 2].map(|side| order.iter().filter(|it| **it == side).count());
        in_each(|| {
            // A side whose time is over has no more turns.
            let mut left = turns_of;
            let rounds = [1, 2, 0, 0, 2, 1].into_iter().cycle().filter(|side| {
                let has_one = 0 < left[*side];
                left[*side] -= usize::from(has_one);
                has_one
            });
            assert_eq!(order, rounds.take(order.len()).collect::<Vec<_>>());
            for pair in all.windows(2) {
                assert!(
                    pair[0].1 + 3_000_000 <= pair[1].0,
                    "a gap lies between two turns: {pair:?}"
                );
            }
            for ((recording, _), oracle) in seen.iter().zip(oracles) {
                assert_eq!(oracle.stop().requests, recording.total.correct);
            }
        });
        // Eight slices fill the time of a side; those of a busy machine are longer, and fewer.
        assert!(turns_of.iter().all(|turns| (3..=9).contains(turns)), "{turns_of:?}");
    });
}

#[test]
fn what_has_no_time_in_it_is_not_tried_again() {
    let tried = AtomicU64::new(0);
    let attempt = || in_each(|| assert_eq!(tried.fetch_add(1, Ordering::Relaxed), 1));
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| in_one_of_five(attempt)));
    assert!(ran.is_err() && tried.into_inner() == 1);
}

#[test]
fn no_side_waits_for_one_that_never_comes() {
    let oracles = oracles(1);
    let turns = Turns::new(2, 1, Duration::from_millis(50));
    drop(turns.place(1));
    // Long enough for an answer on a busy machine.
    let order = order(&oracles[0], 1, Duration::from_secs(2));
    let seen = race(std::slice::from_ref(&order), &turns, &Halt::default());
    assert!(0 < seen[0].0.total.correct);
}

#[test]
fn an_early_end_ends_all_sides() {
    let oracles = oracles(2);
    let endless = |oracle| order(oracle, 2, Duration::from_secs(3_600));
    let orders: Vec<Order> = oracles.iter().map(endless).collect();
    let (turns, halt) = (Turns::new(2, 0, Duration::from_millis(50)), Arc::new(Halt::default()));
    let ended = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| ended.lock().unwrap().extend(race(&orders, &turns, &halt)));
        scope.spawn(|| halt.ask());
    });
    let ended = ended.into_inner().unwrap();
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|(recording, _)| recording.end == load::End::Halted));
}

/// Answers every request, one connection to a thread; `on_request` is called first. The connections are kept in
/// `open`.
fn serve(
    listener: TcpListener,
    open: Arc<Mutex<Vec<TcpStream>>>,
    on_request: impl Fn() + Clone + Send + 'static,
) {
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            open.lock().unwrap().push(stream.try_clone().unwrap());
            let on_request = on_request.clone();
            std::thread::spawn(move || {
                let (mut reader, mut writer) = (BufReader::new(&stream), &stream);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|length| 0 < length) {
                    if line == "\r\n" {
                        on_request();
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                        if writer.write_all(answer).is_err() {
                            break;
                        }
                    }
                    line.clear();
                }
            });
        }
    });
}

/// The first server closes its connections as soon as the second is under load: as servers do when a connection was
/// idle for a while. What is sent must not be sent on them.
#[test]
fn connections_that_were_closed_in_the_turn_of_another_side_are_opened_anew_and_nothing_fails() {
    in_one_of_five(|| {
        let listeners: Vec<TcpListener> =
            (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let addresses: Vec<_> = listeners.iter().map(|it| it.local_addr().unwrap()).collect();
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let mut listeners = listeners.into_iter();
        let mut next = || listeners.next().unwrap();
        serve(next(), Arc::clone(&open), || {});
        serve(next(), Arc::default(), move || {
            for stream in std::mem::take(&mut *open.lock().unwrap()) {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        let order = |address: &std::net::SocketAddr| {
            let request = Request { method: "POST".into(), ..Request::get("o", "/hello") };
            let asks = Asks::one(Ask::new(&request, Expect::default()).unwrap());
            let stop = lasting(Duration::from_millis(400));
            Order { asks, lanes: 2, ..hello(Target::Tcp(*address), stop, closed(4)) }
        };
        let orders: Vec<Order> = addresses.iter().map(order).collect();
        let turns = Turns::new(2, 0, Duration::from_millis(50));
        let seen = race(&orders, &turns, &Halt::default());
        let total = &seen[0].0.total;
        in_each(|| {
            assert_eq!(total.failed_in_all(), 0, "{:?}", total.evidence);
            assert_eq!(total.correct, total.attempted);
            assert_eq!(total.notes.stale_retries, 0);
        });
        assert!(8 <= total.connections.established, "they were closed once or more");
    });
}
