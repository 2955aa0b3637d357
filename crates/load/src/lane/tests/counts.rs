//! Connections, handshakes and bytes of a load, against what the simulated server counts itself.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::MILLI;
use super::rig::{Run, after, at_once, closed, open, sessions};
use super::streams::{Came, answer, goaway, plain, server_but, spoken};
use crate::arrivals::Arrivals;
use crate::engine::test_server::{after as flights, client, config, peer};
use crate::engine::{Act, Peer, Simulated};
use crate::tally::Tally;
use crate::{Nanos, SECOND};

fn accepting(accepted: &Rc<Cell<u64>>) -> impl FnMut(Nanos) -> (Nanos, Act) + use<> {
    let accepted = Rc::clone(accepted);
    move |now| {
        accepted.set(accepted.get() + 1);
        (now + MILLI / 2, Act::Accept)
    }
}

/// Without keep-alive, a request costs the server a connection, and with TLS a handshake: none is left out.
#[test]
fn each_request_without_keep_alive_has_a_connection_that_is_counted() {
    let run =
        |rate, total| Run { keep_alive: false, total, max_connections: 500, ..open(50, rate) };
    for (run, requests) in [
        (Run { until: 2 * SECOND, ..run(200, u64::MAX) }, 400),
        (run(200, 100), 100),
        (Run { connections: 10, until: 2 * SECOND, ..run(200, u64::MAX) }, 400),
        (Run { lanes: 2, until: 2 * SECOND, ..run(200, u64::MAX) }, 400),
    ] {
        let accepted = Rc::<Cell<u64>>::default();
        let engine = || Simulated::new(accepting(&accepted), after(MILLI));
        let seen = run.record((0..run.lanes).map(|_| engine())).total;
        let printed = (seen.connections.begun, seen.connections.established, seen.connect.count());
        assert_eq!((seen.correct, accepted.get()), (requests, requests));
        assert_eq!(printed, (requests, requests, requests));

        let secured = || engine().with_peer(peer(config(false), super::GOOD, flights(MILLI)));
        let run = Run { tls: Some(client(|_| {})), ..run };
        let seen = run.record((0..run.lanes).map(|_| secured())).total;
        assert_eq!((seen.correct, accepted.get()), (requests, 2 * requests));
        let security = seen.security.unwrap();
        assert_eq!(
            (security.agreed.handshakes(), security.handshake.count()),
            (requests, requests)
        );
    }
}

/// This server, which also counts the bytes that it receives and sends.
fn weighing(mut peer: Peer, received: &Rc<Cell<u64>>, sent: &Rc<Cell<u64>>) -> Peer {
    let (received, sent) = (Rc::clone(received), Rc::clone(sent));
    Box::new(move |now, conn, era, bytes| {
        received.set(received.get() + bytes.len() as u64);
        let acts = peer(now, conn, era, bytes);
        for (_, act) in &acts {
            let Act::Send(bytes) = act else { continue };
            sent.set(sent.get() + bytes.len() as u64);
        }
        acts
    })
}

fn weighed(run: Run, peer: Peer) -> Tally {
    let (received, sent) = (Rc::<Cell<u64>>::default(), Rc::<Cell<u64>>::default());
    let engine = Simulated::new(accepting(&Rc::default()), |_| Vec::new())
        .with_peer(weighing(peer, &received, &sent));
    let seen = Run { protocol: spoken(5), ..run }.press(engine);
    assert_eq!((seen.bytes_sent, seen.bytes_received), (received.get(), sent.get()));
    seen
}

/// Prefaces, SETTINGS and their acknowledgements, requests, answers, and the GOAWAY with which a session ends.
#[test]
fn bytes_over_http2_are_those_that_the_server_counts() {
    assert_eq!(weighed(Run { until: SECOND, ..open(4, 200) }, plain(&[], MILLI)).correct, 200);
    assert_eq!(weighed(Run { total: 100, ..closed(4) }, plain(&[], MILLI)).correct, 100);
    let seen = weighed(sessions(5, 100, 50), plain(&[], MILLI));
    assert_eq!((seen.correct, seen.sessions.complete), (250, 50));
    let single = Run { keep_alive: false, total: 100, ..open(4, 200) };
    assert_eq!(weighed(single, plain(&[], MILLI)).correct, 100);
    // A connection ends after ten requests, as nginx ends one.
    let ends = server_but(|now, _, came| match came {
        Came::Request(10, stream) => {
            Some(vec![(now + MILLI, [answer(stream), goaway(stream)].concat())])
        }
        _ => None,
    });
    let seen = weighed(Run { total: 500, ..closed(4) }, ends);
    assert_eq!(seen.correct, 500);
}

/// A lane that was kept while it began a connection, for 30 % or 300 % of the time-out.
#[test]
fn a_connection_that_is_begun_after_a_long_turn_times_out_as_any_other() {
    let server = || Simulated::new(at_once, |_| Vec::new());
    for kept in [300 * MILLI, 3 * SECOND] {
        let run = Run { total: 3, timeout: SECOND, until: 60 * SECOND, ..closed(3) };
        let seen = run.press(server().stopped_opening(0..kept));
        assert_eq!(seen.failed_in_all(), 3);
        let last = kept + SECOND;
        assert!((last..=last + 20 * MILLI).contains(&seen.last_done), "{}", seen.last_done);
    }
}

#[test]
fn a_load_that_ends_within_its_warm_up_has_measured_for_no_time() {
    let engine = || Simulated::new(at_once, after(MILLI));
    for run in [closed(2), open(2, 100), sessions(2, 100, u64::MAX)] {
        let run = Run { warmup: 5 * SECOND, halt_at: SECOND, ..run };
        let seen = run.record([engine()]);
        assert_eq!((seen.measured_until - seen.measured_from, seen.total.attempted), (0, 0));
        assert_eq!(seen.lanes[0].wall, 0);
    }
}

/// Answers that come after the measured time are in no rate, and a lane has no more time than that in which to be idle.
#[test]
fn a_measured_time_that_is_no_number_of_windows_ends_with_one() {
    for (until, inside) in [(150 * MILLI, 2), (1_050 * MILLI, 17)] {
        let run = Run { until, ..closed(20) };
        let seen = run.record([Simulated::new(at_once, after(60 * MILLI))]);
        assert_eq!((seen.total.correct_inside, seen.measured()), (20 * inside, until));
        let length = super::GOOD.len() as u64;
        assert_eq!(seen.total.received_inside, 20 * inside * length);
        assert_eq!(seen.total.bytes_received, seen.total.correct * length, "the drain's, too");
        assert!(seen.lanes[0].idle.abs_diff(until) < MILLI, "{:?}", seen.lanes);
    }
}

#[test]
fn a_schedule_ends_when_it_does_however_long_the_warm_up_is() {
    let second = Duration::from_secs(1);
    let steps =
        Arrivals::Steps(vec![("100".parse().unwrap(), second), ("200".parse().unwrap(), second)]);
    for (warmup, due) in [(0, 300), (150, 285), (333, 266)] {
        let run = Run { warmup: warmup * MILLI, arrivals: Some(steps.clone()), ..open(20, 1) };
        let seen = run.record([Simulated::new(at_once, after(63 * MILLI))]);
        assert_eq!((seen.total.due, seen.measured()), (due, (2_000 - warmup) * MILLI));
        assert_eq!(
            seen.total.received_inside,
            seen.total.correct_inside * super::GOOD.len() as u64,
            "what comes after the end is in no rate"
        );
    }
}

#[test]
fn a_lane_that_has_ended_is_idle() {
    let engine = || Simulated::new(at_once, after(MILLI));
    let one = Run { total: 1, ..open(1, 1) };
    let three = Run { total: 3, lanes: 2, ..open(2, 1) };
    for seen in [one.record([engine()]), three.record([engine(), engine()])] {
        assert!(SECOND <= seen.measured(), "until the next one would have been due");
        for lane in &seen.lanes {
            assert!(lane.wall == seen.measured() && lane.wall - lane.idle < MILLI, "{lane:?}");
        }
    }
}

#[test]
fn a_number_of_random_arrivals_is_offered_in_the_time_that_they_took() {
    let poisson = Some(Arrivals::Poisson("100".parse().unwrap()));
    let run = Run { total: 50, arrivals: poisson, ..open(50, 1) };
    let seen = run.record([Simulated::new(at_once, after(MILLI))]);
    let (last, gap) = (seen.total.last_done - MILLI, 10 * MILLI);
    assert_eq!((seen.scheduled_until, seen.total.last_due), (Some(last + gap), last));
}
