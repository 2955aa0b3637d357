//! TLS below HTTP/2: RFC 9113, 9.2, and what RFC 7301, 8446 and 5746 demand of a server. Only https:// has it.

use super::act::{Act, OPEN, Piece, WHOLE};
use super::frame::{HEADERS, PING};
use super::hello::{Greeting, Hello};
use super::refusal::acts;
use super::sign::Sign::{Answered, Malformed, Refused, Status};
use crate::case::{Area, Case, Clause, Level, Need, http2};
use crate::script::Rule::{self, All, Closes, Http2, When};
use crate::script::Step;
use crate::seen::{End, Seen};

const CASE: Case = Case {
    area: Area::Http2Tls,
    clause: http2("9.2"),
    twin: Some(super::PLAIN),
    needs: Need::Tls,
    ..Case::BLANK
};

const fn clause(rfc: u16, section: &'static str) -> Clause {
    Clause { rfc, section, erratum: None }
}

/// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, and the same for a certificate with ECDSA.
const REQUIRED: &[u16] = &[0xc02f, 0xc02b];
/// Suites of RFC 9113, appendix A: CBC, and no ephemeral keys.
const PROHIBITED: &[u16] =
    &[0xc013, 0xc009, 0xc014, 0xc00a, 0xc027, 0xc023, 0x009c, 0x009d, 0x002f, 0x0035];
/// What old versions have.
const OLD: &[u16] = &[0xc013, 0xc009, 0xc014, 0xc00a, 0x002f, 0x0035];

const USUAL: Hello =
    Hello { version: 0x0303, suites: REQUIRED, alpn: tls::HTTP_2, compression: false };

fn is(seen: &Seen, question: fn(&Greeting) -> bool) -> bool {
    seen.greeting.as_ref().is_some_and(question)
}

const REFUSED: Rule = When("an alert, or the end of the connection", |seen| {
    is(seen, |it| it.version.is_none()) && (seen.is_closed() || is(seen, |it| it.alert.is_some()))
});
const WITHOUT_HTTP2: Rule = When("a handshake without HTTP/2", |seen| {
    is(seen, |it| it.version.is_some() && !it.is_http2())
});
/// A server that has TLS 1.3 alone need not say anything about 1.2.
const SPEAKS_1_2: Rule = When("TLS 1.2", |seen| {
    is(seen, |it| it.version == Some(0x0303) || !matches!(it.alert, Some(70) | None))
});

/// A version that is too old.
const OLD_VERSION: Case = Case {
    pass: &[REFUSED],
    warn: &[WITHOUT_HTTP2],
    demand: "HTTP/2 is spoken within TLS 1.2 or higher",
    doubt: "RFC 8996 forbids this version, but HTTP/2 was not agreed on",
    ..CASE
};

pub(super) const CASES: &[Case] = &[
    Case {
        id: "H2-Z01",
        title: "TLS 1.1",
        steps: &[Step::Tls(&Hello { version: 0x0302, suites: OLD, ..USUAL })],
        ..OLD_VERSION
    },
    Case {
        id: "H2-Z02",
        title: "TLS 1.0",
        steps: &[Step::Tls(&Hello { version: 0x0301, suites: OLD, ..USUAL })],
        ..OLD_VERSION
    },
    Case {
        id: "H2-Z03",
        title: "TLS 1.2 with the suite that all must have",
        clause: http2("9.2.2"),
        applies: &[SPEAKS_1_2],
        steps: &[Step::Tls(&USUAL)],
        pass: &[When("TLS 1.2 with one of these suites, and HTTP/2", |seen| {
            is(seen, |it| {
                it.version == Some(0x0303) && REQUIRED.contains(&it.suite) && it.is_http2()
            })
        })],
        demand: "with TLS 1.2, ECDHE with AES-128-GCM and P-256 is supported",
        ..CASE
    },
    Case {
        id: "H2-Z04",
        title: "TLS 1.2 with prohibited suites alone",
        clause: http2("9.2.2"),
        level: Level::Should,
        applies: &[SPEAKS_1_2],
        steps: &[Step::Tls(&Hello { suites: PROHIBITED, ..USUAL })],
        pass: &[REFUSED, WITHOUT_HTTP2],
        demand: "HTTP/2 is not spoken with a suite of appendix A",
        ..CASE
    },
    Case {
        id: "H2-Z05",
        title: "ALPN without a name that the server knows",
        clause: clause(7301, "3.2"),
        applies: &[SPEAKS_1_2],
        steps: &[Step::Tls(&Hello { alpn: "dyno/1", ..USUAL })],
        pass: &[When("the alert no_application_protocol", |seen| {
            is(seen, |it| it.alert == Some(120))
        })],
        warn: &[REFUSED],
        doubt: "another alert, or an end without one, does not tell the client why",
        demand: "if the server knows none of the names, it says so with no_application_protocol",
        ..CASE
    },
    Case {
        id: "H2-Z06",
        title: "an end with close_notify",
        clause: clause(8446, "6.1"),
        weight: 1,
        steps: acts![OPEN, Act::Frame(PING, 0, 0, &[Piece::Octets(b"1234567")])],
        pass: &[All(&[
            Closes,
            When("close_notify", |seen| seen.is_closed_by_notice == Some(true)),
        ])],
        warn: &[When("no end, or a reset", |seen| matches!(seen.end, End::Open | End::Reset))],
        doubt: "after a reset it is not known what the server had sent, and H2-G15 is about a connection that stays open",
        demand: "a server sends close_notify before it closes its side",
        ..CASE
    },
    Case {
        id: "H2-Z07",
        title: "a request for another host than the certificate's",
        clause: clause(9110, "7.4"),
        level: Level::Ought,
        weight: 1,
        steps: acts![
            OPEN,
            Act::Frame(
                HEADERS,
                WHOLE,
                1,
                &[
                    Piece::Field(":method", "GET"),
                    Piece::Field(":scheme", "https"),
                    Piece::Field(":authority", "dyno-check.example"),
                    Piece::Field(":path", "{get}")
                ]
            ),
        ],
        pass: &[Http2(Status(1, 421)), Http2(Malformed(1))],
        warn: &[Http2(Answered(1)), Http2(Refused(1))],
        demand: "a request for a host for which the server has no certificate is refused, with 421",
        doubt: "a server with one host only may answer for every name",
        ..CASE
    },
    Case {
        id: "H2-Z08",
        title: "renegotiation tied to the connection",
        clause: clause(5746, "3.6"),
        applies: &[When("a ServerHello of TLS 1.2", |seen| is(seen, |it| it.version.is_some()))],
        steps: &[Step::Tls(&USUAL)],
        pass: &[When("ServerHello with renegotiation_info", |seen| is(seen, |it| it.is_tied))],
        demand: "a server of TLS 1.2 answers renegotiation_info, also if it never renegotiates",
        ..CASE
    },
    Case {
        id: "H2-Z09",
        title: "compression offered",
        clause: http2("9.2.1"),
        applies: &[SPEAKS_1_2],
        steps: &[Step::Tls(&Hello { compression: true, ..USUAL })],
        pass: &[When("ServerHello without compression", |seen| {
            is(seen, |it| it.version.is_some() && it.compression == 0)
        })],
        warn: &[REFUSED],
        doubt: "a server that refuses the offer compresses nothing either",
        demand: "compression of TLS is disabled",
        ..CASE
    },
];
