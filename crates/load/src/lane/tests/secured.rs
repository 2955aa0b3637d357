//! Whole runs over TLS in simulated seconds: what is measured, what is counted, and servers that do everything wrong.

use std::sync::Arc;

use tls::rustls::crypto::ring::default_provider;
use tls::rustls::server::WebPkiClientVerifier;
use tls::rustls::{RootCertStore, ServerConfig};
use tls::{Client, Resume, TlsFault, Trust, Version};

use super::rig::{Run, classes, closed, open};
use super::{GOOD, LAST, MILLI, is_about, p99};
use crate::engine::test_server::{Flight, after, client, config, made, peer, presenting};
use crate::engine::{Act, Peer, Simulated};
use crate::failure::Failure;
use crate::security::Security;
use crate::tally::Tally;
use crate::{Nanos, SECOND};

fn usual() -> Client {
    client(|_| {})
}

fn press(run: Run, client: Client, peer: Peer) -> Tally {
    Run { tls: Some(client), ..run }.press(Simulated::reading(peer))
}

fn few(total: u64) -> Run {
    Run { total, timeout: SECOND / 10, ..closed(3) }
}

fn security(tally: &Tally) -> &Security {
    tally.security.as_deref().expect("there was TLS")
}

#[test]
fn a_run_over_tls_measures_what_it_would_without() {
    let run = Run { total: 1_000, ..closed(8) };
    let tally = press(run, usual(), peer(config(false), GOOD, after(MILLI)));
    assert_eq!((tally.correct, tally.failed_in_all()), (1_000, 0));
    assert!(is_about(p99(&tally.service), MILLI), "{}", p99(&tally.service));
    assert_eq!((tally.connect.count(), p99(&tally.connect)), (8, 0), "TCP alone");
    let seen = &security(&tally).agreed;
    assert!(
        is_about(p99(&security(&tally).handshake), MILLI),
        "{}",
        p99(&security(&tally).handshake)
    );
    assert_eq!((seen.full, seen.resumed, seen.meant_to_resume), (8, 0, 0));
    assert_eq!(seen.versions.sorted(), [("1.3", 8)]);
    assert_eq!(seen.suites.sorted(), [("TLS_AES_256_GCM_SHA384", 8)]);
    assert_eq!(seen.groups.sorted(), [("x25519", 8)]);
    assert_eq!(seen.alpn.sorted(), [("http/1.1", 8)]);
    assert_eq!(seen.certificates.sorted(), [("ECDSA P-256", 8)]);
    assert!(seen.chain_bytes_min > Some(300) && seen.chain_bytes_min == seen.chain_bytes_max);
    assert_eq!(seen.tickets, 16, "rustls sends two");
}

#[test]
fn how_the_records_are_cut_changes_nothing() {
    let drip = |flight: Flight| {
        let octets = flight.bytes.iter().enumerate();
        octets.map(|(n, octet)| (flight.at + n as Nanos * 100, Act::Send(vec![*octet]))).collect()
    };
    let tally = press(Run { total: 50, ..closed(2) }, usual(), peer(config(false), GOOD, drip));
    assert_eq!((tally.correct, tally.failed_in_all()), (50, 0));
    assert_eq!(security(&tally).agreed.full, 2);
}

#[test]
fn what_the_kernel_does_not_take_at_once_leaves_later() {
    for takes in [1, 7, 100] {
        let engine = Simulated::reading(peer(config(false), GOOD, after(MILLI))).taking(takes);
        let tally = Run { total: 20, tls: Some(usual()), ..closed(2) }.press(engine);
        assert_eq!((tally.correct, tally.failed_in_all()), (20, 0), "{takes} octets at once");
    }
}

#[test]
fn sessions_are_resumed_as_often_as_ordered_and_counted() {
    for (version, text, least, most) in [
        (Version::V1_3, "always", 190, 198),
        (Version::V1_2, "always", 190, 199),
        (Version::V1_3, "50", 98, 100),
        (Version::V1_2, "25%", 48, 50),
        (Version::V1_3, "never", 0, 0),
    ] {
        let client = client(|order| {
            order.offer.version = Some(version);
            order.offer.resume = Resume::parse(text).unwrap();
        });
        let meant = 2 * u64::from(client.order().offer.resume.percent());
        let run = Run { total: 200, keep_alive: false, ..closed(2) };
        let tally = press(run, client, peer(config(false), GOOD, after(MILLI)));
        let seen = &security(&tally).agreed;
        assert_eq!((tally.correct, seen.handshakes()), (200, 200));
        assert_eq!(seen.meant_to_resume, meant, "{text}");
        assert!((least..=most).contains(&seen.resumed), "{version:?} {text}: {}", seen.resumed);
        assert_eq!(seen.versions.sorted(), [(version.name(), 200)]);
    }
}

#[test]
fn a_group_that_the_server_does_not_take_costs_a_round_trip_that_is_counted() {
    let mut provider = default_provider();
    provider.kx_groups.retain(|group| group.name() == tls::rustls::NamedGroup::secp384r1);
    let picky = presenting(provider, &made().good);
    let tally = press(Run { total: 10, ..closed(2) }, usual(), peer(picky, GOOD, after(MILLI)));
    let seen = &security(&tally).agreed;
    assert_eq!((tally.correct, seen.full, seen.retried), (10, 2, 2));
    assert_eq!(seen.groups.sorted(), [("secp384r1", 2)]);
    assert!(is_about(p99(&security(&tally).handshake), 2 * MILLI));
    assert_eq!(seen.alpn.sorted(), [("", 2)], "a server without ALPN speaks HTTP/1.1");
}

#[test]
fn handshakes_of_the_warm_up_are_those_of_a_pool_and_none_else() {
    let run = |keep_alive| Run { keep_alive, warmup: SECOND, until: SECOND, ..closed(1) };
    let tally =
        |keep_alive| press(run(keep_alive), usual(), peer(config(false), GOOD, after(MILLI)));
    let each = tally(false);
    let handshakes = security(&each).agreed.handshakes();
    assert!(200 < each.attempted);
    assert!(handshakes.abs_diff(each.attempted) <= 1, "{handshakes} for {}", each.attempted);
    assert!(each.connections.established.abs_diff(each.attempted) <= 1);
    assert!(each.connect.count().abs_diff(each.attempted) <= 1);
    let pool = tally(true);
    assert_eq!((security(&pool).agreed.handshakes(), pool.connections.established), (1, 1));
}

#[test]
fn a_connection_that_is_being_established_when_the_measured_time_begins_was_begun() {
    for shift in 0..5 {
        let warmup = SECOND / 10 * 3 + shift * MILLI / 3;
        let run = Run { keep_alive: false, warmup, total: 500, ..closed(7) };
        let slow = |now: Nanos| (now + 2 * MILLI, Act::Accept);
        let tally = run.press(Simulated::new(slow, after_a_while()));
        let connections = tally.connections;
        assert_eq!(
            connections.begun,
            connections.established + connections.failed,
            "{connections:?}"
        );
        assert!(500 <= connections.established, "{connections:?}");
    }
}

#[test]
fn connections_of_a_warm_up_are_left_out_also_where_they_fail_hang_or_are_stopped() {
    let run =
        Run { keep_alive: false, warmup: SECOND, until: SECOND, timeout: SECOND / 2, ..closed(3) };
    let counts = |run: &Run, connect: fn(Nanos) -> (Nanos, Act)| {
        let connections = run.press(Simulated::new(connect, after_a_while())).connections;
        (connections.begun, connections.established, connections.failed)
    };
    // Refused after 10 ms, and tried again 100 ms later: nine times a second, three at once, and no others are counted.
    let (begun, established, failed) = counts(&run, |now| (now + 10 * MILLI, Act::Refuse));
    assert!((begun, established) == (failed, 0) && (25..=30).contains(&begun), "{begun}");
    // Those begun at 0.75 s hang over the border, until their time-out at 1.25 s; then all goes well.
    let hangs = |now: Nanos| match now {
        now if (SECOND / 4 * 3..SECOND).contains(&now) => (now + 60 * SECOND, Act::Accept),
        now => (now + MILLI, Act::Accept),
    };
    let (begun, established, failed) = counts(&run, hangs);
    assert_eq!((failed, begun - established), (3, 3), "those at the border had been begun");
    assert!((1_120..=1_130).contains(&established), "{established}: 3 at once, 2 ms each, 0.75 s");
    // Stopped in the middle of the measured second, and before it.
    let at_once = |now: Nanos| (now + MILLI, Act::Accept);
    let stopped = |halt_at| counts(&Run { halt_at, ..run.clone() }, at_once);
    let (begun, established, failed) = stopped(SECOND * 3 / 2);
    assert_eq!((begun.abs_diff(established) <= 3, failed), (true, 0), "{begun} {established}");
    assert!((700..=1_100).contains(&established), "{established}");
    assert!(stopped(SECOND / 2).0 <= 3);
}

fn after_a_while() -> impl FnMut(Nanos) -> Vec<(Nanos, Act)> {
    |now| vec![(now + MILLI, Act::Send(LAST.to_vec()))]
}

#[test]
fn one_handshake_for_each_request_is_part_of_its_response() {
    let run = Run { total: 50, keep_alive: false, ..closed(1) };
    let tally = press(run, usual(), peer(config(false), GOOD, after(MILLI)));
    assert_eq!((tally.connections.established, security(&tally).agreed.full), (50, 50));
    assert!(is_about(p99(&tally.response), 2 * MILLI), "{}", p99(&tally.response));
    assert!(is_about(p99(&tally.service), MILLI));
}

#[test]
fn an_open_loop_sees_a_server_that_freezes_in_its_handshakes() {
    let mut opened = 0;
    let slow_after_the_first = move |flight: Flight| {
        opened += u32::from(flight.nth == 0);
        let delay = if flight.nth == 0 && 1 < opened { SECOND } else { 50 * MILLI };
        vec![(flight.at + delay, Act::Send(flight.bytes))]
    };
    let run = Run { max_connections: 50, total: 100, ..open(1, 100) };
    let tally = press(run, usual(), peer(config(false), GOOD, slow_after_the_first));
    assert_eq!((tally.correct, tally.failed_in_all()), (100, 0));
    assert!(800 * MILLI < p99(&tally.response), "{}", p99(&tally.response));
    assert_eq!(p99(&tally.late), 0);
}

/// How many of thirty requests to this server were answered, and the classes of the others.
fn few_of(peer: Peer) -> (u64, Vec<(&'static str, u64)>) {
    let tally = press(few(30), usual(), peer);
    (tally.correct, classes(&tally))
}

/// Each server does the same to every connection; the class, and what the reason must say.
fn fails(fault: TlsFault, says: &str, client: Client, peer: Peer) {
    let tally = press(few(30), client, peer);
    assert_eq!(classes(&tally), [(Failure::Tls(fault).name(), 30)], "{says}");
    let reasons = security(&tally).agreed.reasons.sorted();
    let is_said = reasons.iter().all(|(reason, _)| reason.contains(says));
    assert!(is_said && reasons.len() == 1, "{says}: {reasons:?}");
}

/// Replaces a flight of the server.
fn instead(nth: u32, acts: &[Act]) -> impl FnMut(Flight) -> Vec<(Nanos, Act)> + use<> {
    let acts = acts.to_vec();
    move |flight| match flight.nth == nth {
        true => acts.iter().map(|act| (flight.at + MILLI, act.clone())).collect(),
        false => vec![(flight.at + MILLI, Act::Send(flight.bytes))],
    }
}

fn bytes(bytes: &[u8]) -> Act {
    Act::Send(bytes.to_vec())
}

#[test]
fn what_is_no_tls_is_told_from_what_is() {
    let acting = |acts: &[Act]| peer(config(false), GOOD, instead(0, acts));
    for (says, sent) in [
        ("no TLS record", &b"SSH-2.0-OpenSSH_9.2\r\n"[..]),
        ("write http://", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        ("no TLS record", &[0xff; 64]),
        // A record with more than 2^14 + 2,048 octets.
        ("TooLarge", &[22, 3, 3, 0xff, 0xff, 2, 0, 0, 0]),
        // Data before the handshake is done.
        ("", &[23, 3, 3, 0, 2, b'h', b'i']),
        // A message of 16 MB.
        ("", &[22, 3, 3, 0, 4, 11, 0xff, 0xff, 0xff]),
    ] {
        fails(TlsFault::Protocol, says, usual(), acting(&[bytes(sent)]));
    }
    fails(TlsFault::Closed, "closed within", usual(), acting(&[Act::Fin]));
    let begun = acting(&[bytes(&[22, 3, 3]), Act::Fin]);
    fails(TlsFault::Closed, "closed within", usual(), begun);
    assert_eq!(few_of(acting(&[Act::Reset])), (0, vec![("tls.closed", 30)]));
}

#[test]
fn alerts_are_told_by_their_names_at_each_step() {
    // In the clear, instead of the server's first message.
    let refuses = instead(0, &[bytes(&[21, 3, 3, 0, 2, 2, 40])]);
    let server = peer(config(false), GOOD, refuses);
    fails(TlsFault::Alert, "handshake_failure", usual(), server);
    // By a server that shares no suite with us.
    let mut provider = default_provider();
    provider.cipher_suites.truncate(1);
    let narrow = presenting(provider, &made().good);
    let other = client(|order| order.offer.suites = vec!["TLS_CHACHA20_POLY1305_SHA256".into()]);
    fails(TlsFault::Alert, "handshake_failure", other, peer(narrow, GOOD, after(MILLI)));
    // After our last message, when requests may be under way: it wants a certificate of ours.
    let mut roots = RootCertStore::empty();
    for authority in tls::authorities(&made().authority).unwrap() {
        roots.add(authority).unwrap();
    }
    let provider = Arc::new(default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone())
        .build()
        .unwrap();
    let strict = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::clone(&config(false).cert_resolver));
    fails(TlsFault::Alert, "certificate_required", usual(), peer(strict, GOOD, after(MILLI)));
}

#[test]
fn certificates_are_verified_and_k_ignores_them() {
    let good = || peer(config(false), GOOD, after(MILLI));
    let expired = || peer(config(true), GOOD, after(MILLI));
    let mut params = rcgen::CertificateParams::new(vec!["h".into()]).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, "another");
    let foreign = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().pem();
    let by_other = || client(|order| order.trust = Trust::Given(foreign.clone()));
    fails(TlsFault::Certificate, "unknown authority; give --ca FILE, or -k", by_other(), good());
    fails(TlsFault::Certificate, "has expired", usual(), expired());
    let elsewhere = client(|order| order.host = "example.org".into());
    fails(TlsFault::Certificate, "not for example.org but for", elsewhere, good());
    let address = client(|order| order.host = "127.0.0.1".into());
    fails(TlsFault::Certificate, "not for 127.0.0.1", address, good());
    let careless = client(|order| {
        (order.trust, order.host) = (Trust::All, "example.org".into());
    });
    let tally = press(few(30), careless, expired());
    assert_eq!((tally.correct, tally.failed_in_all()), (30, 0));
}

/// As `openssl req -x509` makes it: a server that presents an authority's own certificate.
#[test]
fn a_self_signed_certificate_is_accepted_if_it_is_given() {
    let made = |is_expired: bool| {
        let mut params = rcgen::CertificateParams::new(vec!["h".into()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        if is_expired {
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }
        let key = rcgen::KeyPair::generate().unwrap();
        let own = params.self_signed(&key).unwrap();
        let config = presenting(default_provider(), &(own.der().clone(), key.serialize_der()));
        (own.pem(), peer(config, GOOD, after(MILLI)))
    };
    let given = |pem: String, host: &str| {
        let host = host.to_string();
        client(move |order| (order.trust, order.host) = (Trust::Given(pem), host))
    };
    let (own, server) = made(false);
    assert_eq!(press(few(30), given(own, "h"), server).correct, 30);
    let (own, server) = made(false);
    fails(TlsFault::Certificate, "not for elsewhere but for", given(own, "elsewhere"), server);
    fails(TlsFault::Certificate, "give it as --ca FILE", usual(), made(false).1);
    let (own, server) = made(true);
    fails(TlsFault::Certificate, "has expired", given(own, "h"), server);
}

#[test]
fn another_protocol_is_never_fallen_back_to() {
    let offers = |name: &'static str| client(move |order| order.offer.alpn = name.into());
    let speaks = |names: &[&str]| {
        let mut config = config(false);
        config.alpn_protocols = names.iter().map(|name| name.as_bytes().to_vec()).collect();
        peer(config, GOOD, after(MILLI))
    };
    fails(TlsFault::Alpn, "with `dyno load --http2`", offers("http/1.1"), speaks(&["h2"]));
    let refused = "does not take `h2`, the only name that was offered by ALPN; leave out --http2";
    fails(TlsFault::Alpn, refused, offers("h2"), speaks(&["http/1.1"]));
    // A server without ALPN would speak HTTP/1.1.
    let silent = "no name by ALPN, so it speaks HTTP/1.1; leave out --http2";
    fails(TlsFault::Alpn, silent, offers("h2"), speaks(&[]));
    let tally = press(few(30), offers("http/1.1"), speaks(&["h2", "http/1.1"]));
    assert_eq!((tally.correct, security(&tally).agreed.alpn.sorted()), (30, vec![("http/1.1", 3)]));
}

#[test]
fn a_handshake_that_hangs_or_drips_is_a_time_out_of_its_own() {
    let hangs = peer(config(false), GOOD, instead(0, &[]));
    let tally = press(few(30), usual(), hangs);
    assert_eq!(classes(&tally), [("tls.timeout", 30)]);
    assert_eq!(tally.response.censored(), 30, "how long it would have taken is not known");
    assert_eq!(tally.connect.count(), 30, "TCP was connected");
    let drips = |flight: Flight| {
        let octets = flight.bytes.iter().enumerate();
        octets.map(|(n, octet)| (flight.at + n as Nanos * MILLI, Act::Send(vec![*octet]))).collect()
    };
    let drips = peer(config(false), GOOD, drips);
    assert_eq!(few_of(drips), (0, vec![("tls.timeout", 30)]));
    // In an open loop no request is bound to a connection that is not ready.
    let hangs = peer(config(false), GOOD, instead(0, &[]));
    let run = Run { total: 20, timeout: SECOND / 10, max_connections: 10, ..open(2, 100) };
    let tally = press(run, usual(), hangs);
    assert_eq!(classes(&tally), [("tls.timeout", 20)]);
    // Without an answer to TCP it is not TLS that takes too long.
    let run = Run { tls: Some(usual()), ..few(30) };
    let tally =
        run.press(Simulated::new(|now| (now + 3_600 * SECOND, Act::Accept), |_| Vec::new()));
    assert_eq!(classes(&tally), [("connect.timeout", 30)]);
}

/// The flight that carries an answer, and a part of it.
fn answering(then: &'static [Act], keeps: usize) -> impl FnMut(Flight) -> Vec<(Nanos, Act)> {
    move |flight| {
        let is_answer = 0 < flight.nth;
        let len = if is_answer { flight.bytes.len().min(keeps) } else { flight.bytes.len() };
        let mut acts = vec![(flight.at + MILLI, bytes(&flight.bytes[..len]))];
        if is_answer {
            acts.extend(then.iter().map(|act| (flight.at + MILLI, act.clone())));
        }
        acts
    }
}

#[test]
fn an_end_without_the_closing_message_is_a_cut_within_an_answer_and_nothing_at_rest() {
    const HALF: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\nRust";
    // Without a length, only the closing message says that the answer is whole.
    const ENDLESS: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nRust";
    const FIN: &[Act] = &[Act::Fin];
    for (answer, then, keeps, correct, failed) in [
        (HALF, FIN, usize::MAX, 0, vec![("tls.cut", 30)]),
        (ENDLESS, FIN, usize::MAX, 0, vec![("tls.cut", 30)]),
        // A record that is cut off is no plaintext yet.
        (GOOD, FIN, 20, 0, vec![("recv.empty", 30)]),
        (LAST, FIN, usize::MAX, 30, vec![]),
        // It was closed at rest.
        (GOOD, &[Act::Reset], usize::MAX, 30, vec![]),
    ] {
        let server = peer(config(false), answer, answering(then, keeps));
        assert_eq!(few_of(server), (correct, failed), "{answer:?} {then:?} {keeps}");
    }
}

#[test]
fn messages_without_end_are_cut_off_while_other_connections_go_on() {
    // 1.5 MB of tickets after the handshake.
    let mut generous = config(false);
    generous.send_tls13_tickets = 15_000;
    let as_read = |flight: Flight| {
        let reads = flight.bytes.chunks(64 << 10);
        reads.map(|read| (flight.at + MILLI, bytes(read))).collect()
    };
    fails(TlsFault::Flood, "without end", usual(), peer(generous, GOOD, as_read));
    // Certificates that never end, on every third connection.
    let mut record = vec![22, 3, 3, 0x3f, 0xfc, 11, 0, 0xff, 0xff];
    record.resize(5 + 0x3ffc, 0);
    let flood = vec![Act::Send(record); 100];
    let third = move |flight: Flight| match (flight.nth, flight.conn % 3) {
        (0, 0) => flood.iter().map(|act| (flight.at + MILLI, act.clone())).collect(),
        _ => vec![(flight.at + MILLI, Act::Send(flight.bytes))],
    };
    let run = Run { until: SECOND, ..closed(3) };
    let tally = press(run, usual(), peer(config(false), GOOD, third));
    assert!(1_900 < tally.correct, "the others went on: {}", tally.correct);
    let [(class, failed)] = classes(&tally)[..] else { panic!("{:?}", classes(&tally)) };
    assert!(class.starts_with("tls.") && 10 < failed, "{class} {failed}");
}
