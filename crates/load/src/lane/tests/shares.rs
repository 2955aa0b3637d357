//! One load, carried out by one process or by several: what is recorded is the same, to the last bit.

use super::rig::{Run, after, at_once, closed, open, run, sessions, together};
use super::streams::{Came, answer, frame, goaway, server, settings, spoken};
use super::{GOOD, LAST, MILLI};
use crate::arrivals::{Arrivals, Rate};
use crate::engine::test_server::{Flight, client, config, peer};
use crate::engine::{Act, Peer, Simulated};
use crate::order::{Order, Share};
use crate::part::Part;
use crate::recording::{End, Recording};
use crate::supply::Kind;
use crate::{Nanos, SECOND};

/// How four lanes are dealt out to processes.
const DEALS: [&[usize]; 4] = [&[1, 1, 1, 1], &[2, 1, 1], &[1, 3], &[4]];

/// As it is received when it has been sent.
fn again<T: serde::Serialize + serde::de::DeserializeOwned>(sent: &T) -> T {
    serde_json::from_str(&serde_json::to_string(sent).unwrap()).unwrap()
}

/// The parts of processes with so many lanes each, which get their orders and send their parts as text.
pub(super) fn parts<'s>(
    run: &Run,
    deal: &[usize],
    engine: impl Fn(usize) -> Simulated<'s>,
) -> Vec<Part> {
    let order = run.order();
    let mut first = 0;
    let mut part = |&lanes: &usize| {
        let share = Some(Share { first, of: run.lanes });
        let order = Order { lanes, share, ..order.clone() };
        let engines = (first..first + lanes).map(&engine);
        first += lanes;
        let order: Order = again(&order);
        let part = run.part(&order, engines);
        let received = again(&part);
        assert_eq!(part, received);
        received
    };
    deal.iter().map(&mut part).collect()
}

/// Carries the load out in one process and in several, whose parts come in several orders. Returns the recording.
fn in_all_deals<'s>(run: &Run, engine: impl Fn(usize) -> Simulated<'s>) -> Recording {
    let run = Run { lanes: 4, ..run.clone() };
    let alone = run.record((0..run.lanes).map(&engine));
    let written = serde_json::to_string(&alone).unwrap();
    for deal in DEALS {
        let mut parts = parts(&run, deal, &engine);
        for _ in 0..deal.len() {
            let whole = together(&run.order(), parts.clone());
            assert_eq!(whole, alone, "{deal:?}");
            assert_eq!(serde_json::to_string(&whole).unwrap(), written, "{deal:?}");
            parts.rotate_left(1);
            parts.swap(0, deal.len() / 2);
        }
    }
    alone
}

/// Each lane has a server of its own, whose answers take other times, and wakes too late in another way.
pub(super) fn uneven(lane: usize) -> Simulated<'static> {
    let lane = lane as Nanos;
    let (mut opened, mut asked) = (0, 0);
    let accept = move |now| {
        opened += 1;
        match (opened + lane) % 9 {
            0 => (now + MILLI, Act::Refuse),
            _ => (now + lane * 100_000, Act::Accept),
        }
    };
    let respond = move |now| {
        asked += 1;
        let at = now + (1 + lane) * MILLI + asked % 97 * 10_000;
        match (asked + lane) % 50 {
            1 => Vec::new(),
            2 => vec![(at, Act::Reset)],
            3 => vec![(at, Act::Send(b"HTTP/1.1 404 Oh\r\nContent-Length: 0\r\n\r\n".to_vec()))],
            4 => vec![(at, Act::Send(LAST.to_vec())), (at, Act::Fin)],
            5 => vec![(at, Act::Send(GOOD[..20].to_vec())), (at + MILLI, Act::Fin)],
            _ => vec![(at, Act::Send(GOOD.to_vec()))],
        }
    };
    Simulated::new(accept, respond)
        .oversleeping(lane * 300_000)
        .stopped(lane * SECOND + 50 * MILLI..lane * SECOND + 400 * MILLI)
}

/// Every kind of load, with its failures, its stillness, and what is under way at its end.
fn loads() -> Vec<Run> {
    let poisson = Some(Arrivals::Poisson(Rate::per_s(450).unwrap()));
    let ramp = Some(Arrivals::Ramp {
        from: Rate::per_s(10).unwrap(),
        to: Rate::per_s(900).unwrap(),
        over: std::time::Duration::from_secs(5),
    });
    let all = [
        closed(6),
        closed(3),
        Run { total: 1_234, ..closed(9) },
        Run { keep_alive: false, ..closed(8) },
        open(10, 333),
        Run { max_connections: 50, arrivals: poisson.clone(), ..open(10, 0) },
        Run { max_connections: 40, total: 777, arrivals: poisson, ..open(10, 0) },
        Run { max_connections: 30, arrivals: ramp, ..open(4, 0) },
        Run { total: 500, max_connections: 3, ..sessions(7, 100, 0) },
        run(Kind::Sessions { calls: 3 }, 50),
    ];
    all.into_iter().map(|run| Run { until: 6 * SECOND, timeout: SECOND, ..run }).collect()
}

#[test]
fn several_processes_record_what_one_does() {
    for run in loads() {
        let recording = in_all_deals(&run, uneven);
        assert!(0 < recording.total.correct && 0 < recording.total.failed_in_all());
        assert!(!recording.total.evidence.is_empty() && recording.total.slowest.len() == 5);
        assert_eq!(recording.lanes.len(), run.connections.max(run.max_connections).min(4));
        let warm = Run { warmup: SECOND + 30 * MILLI, ..run.clone() };
        let windows = in_all_deals(&warm, uneven).windows;
        assert!(windows.iter().any(|window| window.is_warmup && 0 < window.attempted));
        for halt_at in [50 * MILLI, 2_777 * MILLI, 5_950 * MILLI] {
            let run = Run { halt_at, warmup: 400 * MILLI, timeout: 60 * SECOND, ..run.clone() };
            let recording = in_all_deals(&run, uneven);
            let is_spent = run.total < u64::MAX;
            assert!(recording.end == End::Halted || is_spent, "{:?}", recording.end);
        }
    }
}

/// The windows of each process are put together in pairs at another time, or not at all.
#[test]
fn several_processes_of_a_long_load_record_what_one_does() {
    let run = Run { until: 150 * SECOND, warmup: 3 * SECOND, timeout: SECOND, ..open(4, 20) };
    let recording = in_all_deals(&run, |lane| {
        let slow = lane as Nanos * 40;
        // Some lanes miss most windows.
        Simulated::new(at_once, after(MILLI)).oversleeping(slow * slow * MILLI)
    });
    assert!((600..1_200).contains(&recording.windows.len()), "{}", recording.windows.len());
    let [first, second] = [0, 1].map(|place| recording.windows[place].from);
    assert!(SECOND / 10 < second - first, "windows were put together");
}

/// A server with HTTP/2 that refuses streams, ends connections, and leaves some requests unanswered.
pub(super) fn moody(lane: usize) -> Peer {
    let (lane, mut asked) = (lane as u32, 0);
    server(move |now, connection, came| match came {
        Came::Connection => {
            let (streams, table) = (10 + lane + connection % 30, 4_096 >> (connection % 20 % 8));
            vec![(now + MILLI, settings(&[(3, streams), (1, table)]))]
        }
        Came::Request(_, stream) => {
            asked += 1;
            let at = now + (1 + Nanos::from(asked * 7 % 13)) * MILLI;
            match (asked + lane) % 40 {
                5 => Vec::new(),
                7 => vec![(at, frame(3, 0, stream, &[0, 0, 0, 7]))],
                11 => vec![(at, frame(3, 0, stream, &[0, 0, 0, 2]))],
                13 => vec![(at, frame(1, 4, stream, &[0xff, 0x80, 0x80]))],
                17 => vec![(at, answer(stream)), (at + MILLI, goaway(stream))],
                _ => vec![(at, answer(stream))],
            }
        }
        Came::Head(_) | Came::Reset(_) | Came::Window(_) => Vec::new(),
    })
}

#[test]
fn several_processes_with_http2_record_what_one_does() {
    for run in loads().into_iter().filter(|run| !matches!(run.kind, Kind::Sessions { .. })) {
        let run = Run { protocol: spoken(8), until: 3 * SECOND, warmup: 250 * MILLI, ..run };
        let seen = in_all_deals(&run, |lane| Simulated::reading(moody(lane)).oversleeping(MILLI));
        let http2 = seen.total.http2.as_deref().unwrap();
        assert!(
            0 < http2.traffic.refused && 2 < http2.settings.len() && 0 < seen.total.notes.refused
        );
    }
}

#[test]
fn several_processes_with_tls_record_what_one_does() {
    let run = Run {
        total: 300,
        keep_alive: false,
        timeout: SECOND / 2,
        tls: Some(client(|order| order.offer.resume = tls::Resume::of(50).unwrap())),
        ..closed(7)
    };
    let settings = config(false);
    let order = Run { lanes: 4, ..run.clone() }.order();
    let slow = |lane: usize| {
        let mut flights = 0;
        move |flight: Flight| {
            flights += 1;
            let bytes = if flights % 29 == 0 { b"no TLS".to_vec() } else { flight.bytes };
            vec![(flight.at + (1 + lane as Nanos) * MILLI, Act::Send(bytes))]
        }
    };
    let engine = |lane| Simulated::reading(peer(settings.clone(), GOOD, slow(lane)));
    // Handshakes are random: the parts of four processes are put together in different orders.
    let mut parts = parts(&Run { lanes: 4, ..run }, &[1, 1, 1, 1], engine);
    let first = together(&order, parts.clone());
    assert!(1 < first.total.security.as_deref().unwrap().agreed.reasons.sum());
    for _ in 0..4 {
        parts.rotate_left(1);
        parts.swap(0, 2);
        assert_eq!(together(&order, parts.clone()), first);
    }
}

/// Nothing but refusals: a part does not give up, and the whole says why it was stopped.
#[test]
fn only_all_processes_together_give_up() {
    let run = Run { lanes: 4, until: Nanos::MAX, total: 1 << 40, timeout: SECOND, ..closed(4) };
    let refuses = |_| Simulated::new(|now| (now, Act::Refuse), after(0));
    let halted = Run { halt_at: 4 * SECOND, ..run.clone() };
    let stopped = together(&run.order(), parts(&halted, &[1, 2, 1], refuses));
    assert_eq!(stopped.end, End::GaveUp(crate::Failure::ConnectRefused));
    // Where someone stops it sooner, that is why it ended.
    let halted = Run { halt_at: SECOND, ..run };
    let stopped = together(&halted.order(), parts(&halted, &[1, 2, 1], refuses));
    assert_eq!(stopped.end, End::Halted);
}

/// More lanes than connections: those for which there is nothing to do are parts, too.
#[test]
fn processes_without_work_are_parts_of_the_whole() {
    let run = Run { lanes: 4, total: 50, ..closed(2) };
    let engine = |_| Simulated::new(at_once, after(MILLI));
    let alone = run.record((0..4).map(engine));
    assert_eq!(alone.lanes.len(), 2);
    let whole = together(&run.order(), parts(&run, &[1, 1, 1, 1], engine));
    assert_eq!(whole, alone);
}
