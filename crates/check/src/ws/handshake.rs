//! RFC 6455, 4: the opening handshake. The answers count only where a correct handshake opens a WebSocket.

use std::time::Duration;

use crate::case::{Area, Case, Need, socket};
use crate::script::Rule::{All, Any, Class, Opened, Silent, When};
use crate::script::Step::{Drip, Send};
use crate::script::{Rule, Step};
use crate::seen::Seen;
use crate::ws::OPEN;

/// The defaults of handshakes that a server must refuse.
const REFUSED: Case = Case {
    area: Area::Handshake,
    clause: socket("4.2.1"),
    twin: Some("WS-B01"),
    needs: Need::Socket,
    pass: &[Class(4)],
    warn: UNHELPFUL,
    doubt: "no WebSocket was opened, but the client does not learn that its handshake is to blame",
    ..Case::BLANK
};

/// The defaults of requests that do not ask for a WebSocket: they may be answered as if they had never mentioned it.
const UNASKED: Case =
    Case { pass: &[Class(4), Class(2), Class(3)], warn: &[Silent, CUT, Class(5)], ..REFUSED };

/// The defaults of handshakes that a server must accept.
const ACCEPTED: Case = Case {
    area: Area::Handshake,
    clause: socket("4.2.2"),
    twin: Some("WS-B01"),
    needs: Need::Socket,
    ..Case::BLANK
};

const UNHELPFUL: &[Rule] = &[Silent, CUT, Class(2), Class(5)];
const CUT: Rule = When("4xx or 5xx, cut short", |seen| {
    let first = seen.reading.finals.first();
    first.is_some_and(|answer| !answer.is_whole && matches!(answer.status / 100, 4 | 5))
});
const NO_EXTENSION: Rule =
    When("no Sec-WebSocket-Extensions", |seen| has_none(seen, "sec-websocket-extensions"));

pub(super) const CASES: &[Case] = &[
    Case {
        id: "WS-H01",
        title: "a valid handshake",
        twin: None,
        steps: &[OPEN],
        pass: &[Opened],
        demand: "the server switches with 101, Upgrade, Connection and the digest of the client's key",
        ..ACCEPTED
    },
    Case {
        id: "WS-H02",
        title: "Sec-WebSocket-Version: 99",
        clause: socket("4.2.2"),
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 99\r\n\r\n",
        )],
        pass: &[All(&[
            Class(4),
            When("a Sec-WebSocket-Version", |seen| !has_none(seen, "sec-websocket-version")),
        ])],
        warn: &[Class(4), Silent, CUT, Class(5)],
        demand: "a version that the server does not speak is refused, together with those that it speaks",
        doubt: "no WebSocket was opened, but the client does not learn which version would do",
        ..REFUSED
    },
    Case {
        id: "WS-H03",
        title: "no Sec-WebSocket-Key",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Version: 13\r\n\r\n",
        )],
        demand: "a handshake without a key is answered with an error",
        ..REFUSED
    },
    Case {
        id: "WS-H04",
        title: "a Sec-WebSocket-Key of four octets",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: AAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        warn: &[Any(UNHELPFUL), Opened],
        demand: "a key that is not 16 octets in base64 is answered with an error",
        doubt: "a server need not decode the key; and another refusal does not say that the handshake is to blame",
        ..REFUSED
    },
    Case {
        id: "WS-H05",
        title: "a handshake by POST",
        steps: &[Send(
            b"POST {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n",
        )],
        pass: &[Class(4), Class(5), Class(2)],
        warn: &[Silent, CUT],
        demand: "only a GET opens a WebSocket",
        ..REFUSED
    },
    Case {
        id: "WS-H06",
        title: "Connection: keep-alive instead of Upgrade",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: keep-alive\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        demand: "without `upgrade` in Connection no WebSocket is opened",
        ..UNASKED
    },
    Case {
        id: "WS-H07",
        title: "the tokens in odd case, one of them in a list",
        clause: socket("4.2.1"),
        weight: 1,
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: WebSocket\r\nConnection: keep-alive, uPGRADE\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        pass: &[Opened],
        demand: "`websocket` and `upgrade` are found whatever their case, and in a list, too",
        ..ACCEPTED
    },
    Case {
        id: "WS-H08",
        title: "no extension offered",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: bm8gZXh0ZW5zaW9ucy4uLg==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        pass: &[All(&[Opened, NO_EXTENSION])],
        demand: "the extensions in the answer are some of those that the client has offered",
        ..ACCEPTED
    },
    Case {
        id: "WS-H09",
        title: "a handshake by HTTP/1.0",
        steps: &[Send(
            b"GET {ws} HTTP/1.0\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        demand: "a WebSocket is opened by HTTP/1.1 or later",
        ..UNASKED
    },
    Case {
        id: "WS-H10",
        title: "a handshake without Host",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        demand: "a handshake without Host is answered with an error",
        ..REFUSED
    },
    Case {
        id: "WS-H11",
        title: "a handshake without Upgrade",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        demand: "without `websocket` in Upgrade no WebSocket is opened",
        ..UNASKED
    },
    Case {
        id: "WS-H12",
        title: "no Sec-WebSocket-Version",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        )],
        demand: "a handshake without a version is answered with an error",
        ..REFUSED
    },
    Case {
        id: "WS-H13",
        title: "two unknown subprotocols offered",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
              Sec-WebSocket-Protocol: dyno-one, dyno-two\r\n\r\n",
        )],
        pass: &[All(&[Opened, When("no subprotocol, or one of those offered", has_offered_protocol)])],
        warn: &[Class(4)],
        demand: "the subprotocol in the answer is one of those that the client has offered, or there is none",
        doubt: "a server may insist on a subprotocol of its own",
        ..ACCEPTED
    },
    Case {
        id: "WS-H14",
        title: "no subprotocol offered",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: bm8gcHJvdG9jb2xzIGhlcg==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        pass: &[All(&[
            Opened,
            When("no Sec-WebSocket-Protocol", |seen| has_none(seen, "sec-websocket-protocol")),
        ])],
        demand: "to a client that offers no subprotocol, none is answered",
        ..ACCEPTED
    },
    Case {
        id: "WS-H15",
        title: "an unknown extension offered",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
              Sec-WebSocket-Extensions: x-dyno-nonesuch; level=9\r\n\r\n",
        )],
        pass: &[All(&[Opened, NO_EXTENSION])],
        demand: "an extension that the server does not have is not answered, and stops nothing",
        ..ACCEPTED
    },
    Case {
        id: "WS-H16",
        title: "another key",
        steps: &[Send(
            b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
              Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nSec-WebSocket-Version: 13\r\n\r\n",
        )],
        pass: &[Opened],
        demand: "the digest in the answer is that of this client's key",
        ..ACCEPTED
    },
    Case {
        id: "WS-H17",
        title: "a handshake one octet at a time",
        clause: socket("4.2.1"),
        weight: 1,
        steps: SLOWLY,
        pass: &[Opened],
        demand: "a handshake is read however TCP has cut it",
        ..ACCEPTED
    },
];

const SLOWLY: &[Step] = &[Drip(
    b"GET {ws} HTTP/1.1\r\nHost: {H}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Key: c2xvd2x5LCBzbG93bHkuIQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
    Duration::from_millis(1),
)];

fn has_none(seen: &Seen, name: &str) -> bool {
    seen.first().is_some_and(|answer| answer.field(name).is_none())
}

fn has_offered_protocol(seen: &Seen) -> bool {
    let Some(answer) = seen.first() else { return false };
    let protocols: Vec<&[u8]> = answer.all("sec-websocket-protocol").collect();
    matches!(protocols[..], [] | [b"dyno-one" | b"dyno-two"])
}
