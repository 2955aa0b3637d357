//! A server that asks for another handshake within TLS 1.2, which no library does any more: its records are made here.

use std::collections::HashMap;
use std::sync::Arc;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use tls::Version;
use tls::rustls::{ConnectionTrafficSecrets, ServerConnection};

use super::rig::{Run, classes, closed};
use super::{GOOD, MILLI};
use crate::engine::test_server::{client, config};
use crate::engine::{Act, Conn, Peer, Simulated};
use crate::{Nanos, SECOND};

/// Record `seq` of a server (RFC 5288, 3).
fn sealed(secrets: &ConnectionTrafficSecrets, seq: u64, kind: u8, plain: &[u8]) -> Vec<u8> {
    let ConnectionTrafficSecrets::Aes128Gcm { key, iv } = secrets else { panic!("another suite") };
    let mut nonce: [u8; 12] = iv.as_ref().try_into().unwrap();
    nonce[4..].iter_mut().zip(seq.to_be_bytes()).for_each(|(octet, by)| *octet ^= by);
    let len = (plain.len() as u16).to_be_bytes();
    let about = [&seq.to_be_bytes()[..], &[kind, 3, 3], &len].concat();
    let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, key.as_ref()).unwrap());
    let mut content = plain.to_vec();
    let nonce_of_record = Nonce::assume_unique_for_key(nonce);
    key.seal_in_place_append_tag(nonce_of_record, Aad::from(about), &mut content).unwrap();
    let len = ((8 + content.len()) as u16).to_be_bytes();
    [&[kind, 3, 3][..], &len, &nonce[4..], &content].concat()
}

/// After its handshake it answers the first request with so many HelloRequests, and then with `GOOD`.
fn asking_again(times: usize) -> Peer {
    let mut config = config(false);
    config.enable_secret_extraction = true;
    let config = Arc::new(config);
    // None: its keys were taken out, and what else comes is not read.
    let mut all: HashMap<(Conn, u32), Option<ServerConnection>> = HashMap::new();
    Box::new(move |at: Nanos, conn, era, bytes| {
        let new = || Some(ServerConnection::new(Arc::clone(&config)).unwrap());
        let place = all.entry((conn, era)).or_insert_with(new);
        let Some(mut server) = place.take() else { return Vec::new() };
        let was_done = !server.is_handshaking();
        let mut rest = bytes;
        while !rest.is_empty() && 0 < server.read_tls(&mut rest).unwrap() {
            server.process_new_packets().unwrap();
        }
        if was_done {
            use std::io::Read;
            let _ = server.reader().read_to_end(&mut Vec::new());
            let (seq, secrets) = server.dangerous_extract_secrets().unwrap().tx;
            let again = (0..times as u64).map(|n| sealed(&secrets, seq + n, 22, &[0; 4]));
            let answer = sealed(&secrets, seq + times as u64, 23, GOOD);
            let records = again.chain([answer]).map(|record| (at + MILLI, Act::Send(record)));
            return records.collect();
        }
        let mut out = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut out).unwrap();
        }
        *place = Some(server);
        vec![(at + MILLI, Act::Send(out))]
    })
}

#[test]
fn another_handshake_is_declined_once_and_then_the_connection_is_given_up() {
    let old = || {
        client(|order| {
            order.offer.version = Some(Version::V1_2);
            order.offer.suites = vec!["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256".into()];
        })
    };
    let press = |times: usize| {
        let run = Run { total: 9, timeout: SECOND / 10, keep_alive: false, ..closed(3) };
        let run = Run { tls: Some(old()), ..run };
        run.press(Simulated::reading(asking_again(times)))
    };
    assert_eq!((press(0).correct, press(1).correct), (9, 9), "RFC 5246, 7.4.1.1");
    let tally = press(3);
    assert_eq!(classes(&tally), [("tls.protocol", 9)]);
    let seen = tally.security.unwrap();
    assert!(
        seen.agreed.reasons.sorted()[0].0.contains("Renegotiation"),
        "{:?}",
        seen.agreed.reasons
    );
}
