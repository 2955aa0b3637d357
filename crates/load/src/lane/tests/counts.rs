//! Connections, handshakes and bytes of a load, against what the simulated server counts itself.

use std::cell::Cell;
use std::rc::Rc;

use super::MILLI;
use super::rig::{Run, after, closed, open, sessions};
use super::streams::{goaway, plain, server_but, spoken};
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
        super::streams::Came::Request(10, stream) => {
            let last = [super::streams::answer(stream), goaway(stream)].concat();
            Some(vec![(now + MILLI, last)])
        }
        _ => None,
    });
    let seen = weighed(Run { total: 500, ..closed(4) }, ends);
    assert_eq!(seen.correct, 500);
}

/// A lane that was kept while it began a connection, for 30 % or 300 % of the time-out.
#[test]
fn a_connection_that_is_begun_after_a_long_turn_times_out_as_any_other() {
    let server = || Simulated::new(super::rig::at_once, |_| Vec::new());
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
    let engine = || Simulated::new(super::rig::at_once, after(MILLI));
    for run in [closed(2), open(2, 100), sessions(2, 100, u64::MAX)] {
        let run = Run { warmup: 5 * SECOND, halt_at: SECOND, ..run };
        let seen = run.record([engine()]);
        assert_eq!((seen.measured_until - seen.measured_from, seen.total.attempted), (0, 0));
        assert_eq!(seen.lanes[0].wall, 0);
    }
}

/// A lane ends with its last answer, and the measured time lasts until the next request would have been due.
#[test]
fn a_lane_that_has_nothing_left_to_do_is_idle() {
    let engine = || Simulated::new(super::rig::at_once, after(MILLI));
    let run = Run { lanes: 2, total: 3, ..open(2, 2) };
    for lane in run.record([engine(), engine()]).lanes {
        assert_eq!(lane.wall, 3 * SECOND / 2);
        assert!(lane.wall - lane.idle < 10 * MILLI, "{lane:?}");
    }
}
