//! The table of the faults of TLS, by the cases of the catalogue of hostile servers.

use super::Step::{Drip, Fin, Repeat, Rst, Send, Silence};
use super::twist::Message::{Bare, Cut, NewKeys, Say};
use super::twist::{Flight, Message, RIGHT, Setup, Struck, Twist};
use super::{FOREVER, Fault, Performance, Start, Step};

const fn tls(
    case: u8,
    name: &'static str,
    about: &'static str,
    expect: &'static [&'static str],
    twist: &'static Twist,
) -> Fault {
    let performance = Performance::Twist(twist);
    Fault { name, case, about, expect, start: Start::Handshake, performance }
}

const SUCCESS: &[&str] = &[];
const ALERT: &[&str] = &["tls.alert"];
const ALPN: &[&str] = &["tls.alpn"];
const CERTIFICATE: &[&str] = &["tls.certificate"];
const PROTOCOL: &[&str] = &["tls.protocol"];
const CUT: &[&str] = &["tls.cut", "recv.cut_body", "recv.cut_head"];
const TIMEOUT: &[&str] = &["tls.timeout"];
const CLOSED: &[&str] = &["tls.closed"];

/// The types of records.
const HANDSHAKE: u8 = 22;
const ALERT_RECORD: u8 = 21;
/// The head of a certificate of 16 MiB, which never comes, as the first part of it.
const ENDLESS: &[u8] = b"\x16\x03\x03\0\x04\x0b\xff\xff\xff";
const MORE_OF_IT: &[u8] = b"\x16\x03\x03\0\x10aaaaaaaaaaaaaaaa";
/// A ticket of 16,000 octets: its age, nonce, length, octets, and no extensions.
const TICKET: &[u8] = &ticket();

const fn ticket() -> [u8; 16_018] {
    let head = *b"\x04\0\x3e\x8e\0\0\x0e\x10\x01\x02\x03\x04\x01n\x3e\x80";
    let mut ticket = [b't'; 16_018];
    let mut at = 0;
    while at < head.len() {
        ticket[at] = head[at];
        at += 1;
    }
    ticket[16_016] = 0;
    ticket[16_017] = 0;
    ticket
}

const fn instead(steps: &'static [Step]) -> Twist {
    Twist { instead: steps, ..RIGHT }
}

const fn set_up(setup: Setup) -> Twist {
    Twist { setup, ..RIGHT }
}

const fn flight(flight: Flight) -> Twist {
    Twist { flight, ..RIGHT }
}

const fn answer(answer: Struck) -> Twist {
    Twist { setup: Setup::Forging, answer, ..RIGHT }
}

#[rustfmt::skip]
pub(super) const ALL: &[Fault] = &[
    tls(55, "tls-alert-hello", "a fatal alert in place of its first message", ALERT,
        &instead(&[Send(b"\x15\x03\x03\0\x02\x02\x28"), Fin])),
    tls(55, "tls-alert-flight", "a fatal alert after its first message", ALERT, &set_up(Setup::ForgedAlert)),
    tls(55, "tls-alert-finished", "a fatal alert as soon as the handshake is done", ALERT,
        &Twist { setup: Setup::Forging, after: &[Say(ALERT_RECORD, b"\x02\x50", 1), Cut], ..RIGHT }),
    tls(55, "tls-alert-answer", "a fatal alert in place of an answer", ALERT, &answer(Struck::Alert)),
    tls(55, "tls-alert-unknown", "a fatal alert that does not exist, in place of its first message", ALERT,
        &instead(&[Send(b"\x15\x03\x03\0\x02\x02\xfe"), Fin])),
    tls(56, "tls-garbage-http", "answers the handshake in plain HTTP, as a port without TLS does", PROTOCOL,
        &instead(&[Send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), Fin])),
    tls(56, "tls-garbage-hello", "a first message that is none", PROTOCOL,
        &instead(&[Send(b"\x16\x03\x03\0\x08\x02\0\0\x04ABCD"), Silence])),
    tls(56, "tls-wrong-message", "a Certificate in place of its first message", PROTOCOL,
        &instead(&[Send(b"\x16\x03\x03\0\x07\x0b\0\0\x03\0\0\0"), Silence])),
    tls(56, "tls-oversized-hello", "a record of 65,535 octets in place of its first message", PROTOCOL,
        &instead(&[Send(b"\x16\x03\x03\xff\xff"), Repeat(b"\0", 65_535), Silence])),
    tls(56, "tls-oversized-answer", "a record of 65,535 octets before an answer", PROTOCOL, &answer(Struck::Oversized)),
    tls(56, "tls-damaged-flight", "a wrong octet in the handshake", PROTOCOL, &flight(Flight::Damaged)),
    tls(56, "tls-damaged-answer", "a wrong octet in an answer's record", PROTOCOL, &answer(Struck::Damaged)),
    tls(56, "tls-small-records", "records of 32 octets", SUCCESS, &set_up(Setup::SmallRecords)),
    tls(56, "tls-octets", "one octet at a time", SUCCESS, &flight(Flight::Octets)),
    tls(57, "tls-fin-hello", "ends the connection in place of its first message", CLOSED, &instead(&[Fin])),
    tls(57, "tls-rst-hello", "resets the connection in place of its first message", CLOSED, &instead(&[Rst])),
    tls(57, "tls-fin-flight", "ends the connection in the middle of its handshake", CLOSED, &flight(Flight::HalfFin)),
    tls(57, "tls-rst-flight", "resets the connection in the middle of its handshake", CLOSED,
        &flight(Flight::HalfRst)),
    tls(57, "tls-fin-finished", "ends the connection as soon as the handshake is done, without close_notify",
        &["h2.preface", "recv.empty"],
        &Twist { after: &[Cut], ..RIGHT }),
    tls(57, "tls-cut-answer", "ends the connection within an answer, without close_notify", CUT, &answer(Struck::Half)),
    tls(57, "tls-no-close-notify", "ends the connection after an answer, without close_notify", SUCCESS, &answer(Struck::ThenCut)),
    tls(58, "tls-silent", "reads the client's first message, and answers nothing", TIMEOUT, &instead(&[Silence])),
    tls(58, "tls-silent-finished", "neither reads nor answers once the handshake is done",
        &["h2.timeout", "recv.first_byte_timeout"], &Twist { after: &[Message::Silence], ..RIGHT }),
    tls(58, "tls-drip", "one octet of the handshake a second", TIMEOUT, &flight(Flight::Slowly)),
    tls(58, "tls-drip-hello", "a first message that never ends, one octet a second", TIMEOUT,
        &instead(&[Send(b"\x16\x03\x03\x3f\xff\x02\0\x3f\xfb"), Drip(b"\x03")])),
    tls(58, "tls-endless-handshake", "a message of the handshake that never ends", &["tls.protocol", "tls.timeout"],
        &instead(&[Send(ENDLESS), Repeat(MORE_OF_IT, FOREVER)])),
    tls(58, "tls-empty-records", "empty records for ever", &["tls.protocol", "tls.timeout"],
        &instead(&[Repeat(b"\x16\x03\x03\0\0", FOREVER)])),
    tls(58, "tls-change-cipher-flood", "ChangeCipherSpec for ever", &["tls.protocol", "tls.timeout"],
        &instead(&[Repeat(b"\x14\x03\x03\0\x01\x01", FOREVER)])),
    tls(58, "tls-ticket-flood", "10 MB of tickets after the handshake, then right answers", &["tls.flood"],
        &Twist { setup: Setup::Forging, after: &[Say(HANDSHAKE, TICKET, 655)], ..RIGHT }),
    tls(58, "tls-new-keys", "new keys three times after the handshake, then right answers", SUCCESS,
        &Twist { after: &[NewKeys(3)], ..RIGHT }),
    tls(58, "tls-key-flood", "new keys a thousand times after the handshake, then right answers", PROTOCOL,
        &Twist { after: &[NewKeys(1000)], ..RIGHT }),
    tls(58, "tls-renegotiation", "TLS 1.2: asks for another handshake, then answers well", SUCCESS,
        &Twist { setup: Setup::OnlyTls12, after: &[Say(HANDSHAKE, b"\0\0\0\0", 1)], ..RIGHT }),
    tls(58, "tls-bare-record", "a record that is not encrypted, after the handshake", PROTOCOL,
        &Twist { after: &[Bare(b"\x17\x03\x03\0\x05Hello", 1)], ..RIGHT }),
    tls(59, "tls-expired", "a certificate that has expired", CERTIFICATE, &set_up(Setup::ExpiredCertificate)),
    tls(59, "tls-other-name", "a certificate for another host", CERTIFICATE, &set_up(Setup::OtherName)),
    tls(59, "tls-other-authority", "a certificate of an unknown authority", CERTIFICATE, &set_up(Setup::OtherAuthority)),
    tls(59, "tls-long-chain", "a chain of certificates of 32 kB", SUCCESS, &set_up(Setup::LongChain(32_000))),
    tls(59, "tls-huge-chain", "a chain of certificates of 1 MB", &["tls.certificate", "tls.protocol"],
        &set_up(Setup::LongChain(1_000_000))),
    tls(60, "tls-no-alpn", "says nothing of the protocol within TLS", ALPN, &set_up(Setup::NoProtocol)),
    tls(60, "tls-refused-alpn", "knows no protocol that is offered, and says so in an alert",
        &["tls.alpn", "tls.alert"], &set_up(Setup::OtherProtocol)),
    tls(60, "tls-wrong-alpn", "selects a protocol that was not offered", &["tls.alpn", "tls.protocol"],
        &set_up(Setup::ForgedProtocol)),
    tls(60, "tls-only-1-2", "speaks TLS 1.2 and nothing newer", SUCCESS, &set_up(Setup::OnlyTls12)),
    tls(60, "tls-hello-retry", "asks for another key before it begins (HelloRetryRequest)", SUCCESS, &set_up(Setup::HelloRetry)),
];
