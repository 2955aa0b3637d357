//! What crosses the boundary between a lane and the network, and what it means.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::SHA1_FOR_LEGACY_USE_ONLY;

use super::{MS, accept};
use crate::Nanos;
use crate::engine::{Act, Conn, Log, Seen, Simulated, written};

/// One connection, from its beginning to its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    pub(super) begun: Nanos,
    pub(super) is_again: bool,
    pub(super) connected: Option<Nanos>,
    pub(super) opened: Option<Nanos>,
    /// When and why it ended; none if it lasted until the end of the run.
    pub(super) gone: Option<(Nanos, &'static str)>,
    /// When each message came, and when it was due if it carries that time.
    pub(super) messages: Vec<(Nanos, Option<Nanos>)>,
    pub(super) said: Vec<Echo>,
    last: Option<(Nanos, &'static str)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    pub(super) at: Nanos,
    /// When it came back, and whether it was right.
    pub(super) back: Option<(Nanos, bool)>,
}

/// All connections of a log, up to the end.
pub(super) fn lives(log: &Log, end: Nanos) -> Vec<Life> {
    let mut all: Vec<Life> = Vec::new();
    let mut newest: BTreeMap<Conn, usize> = BTreeMap::new();
    for (at, conn, seen) in log.borrow().iter().filter(|(at, ..)| *at <= end) {
        if matches!(seen, Seen::Begun) {
            let is_again = newest.insert(*conn, all.len()).is_some();
            all.push(Life { begun: *at, is_again, ..Life::default() });
        }
        all[newest[conn]].take(*at, seen, end);
    }
    all
}

impl Life {
    fn take(&mut self, at: Nanos, seen: &Seen, end: Nanos) {
        match seen {
            Seen::Begun => {}
            Seen::Came(Act::Accept) => self.connected = Some(at),
            Seen::Came(Act::Send(bytes)) => self.receive(at, bytes),
            // A text frame of a client: the opcode, a short length, a mask.
            Seen::Wrote(bytes) if bytes.first() == Some(&0x81) && at < end => {
                self.said.push(Echo { at, back: None });
            }
            Seen::Wrote(_) | Seen::Came(Act::Room) => {}
            Seen::Came(Act::Fin) => self.last = Some((at, "recv.cut_body")),
            Seen::Came(Act::Refuse) => self.last = Some((at, "connect.refused")),
            Seen::Came(Act::Reset) => self.last = Some((at, "recv.reset")),
            Seen::Closed if at < end => {
                let is_socket = !self.said.is_empty() || self.messages.is_empty();
                let out_of_time = match (self.connected, self.opened) {
                    (None, _) => "connect.timeout",
                    (Some(_), None) => "recv.timeout",
                    (Some(_), Some(_)) => "echo.timeout",
                };
                let cause = match self.last {
                    Some((_, "recv.cut_body")) if self.opened.is_none() => "recv.empty",
                    Some((_, "recv.cut_body")) if is_socket => "ws.cut",
                    Some((_, cause)) => cause,
                    None => out_of_time,
                };
                self.gone = Some((at, cause));
            }
            Seen::Closed => {}
        }
    }

    fn receive(&mut self, at: Nanos, bytes: &[u8]) {
        if bytes.starts_with(b"HTTP/1.1") {
            self.opened = Some(at);
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let due = text
            .split_once("due_ns=")
            .and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
        self.messages.push((at, due));
        if let (Some(said), true) = (self.said.last_mut(), bytes[0] == 0x81) {
            let is_right = bytes[2..] == *b"hello";
            said.back = Some((at, is_right));
            if !is_right {
                self.last = Some((at, "echo.wrong"));
            }
        }
    }
}

/// The server's part of a WebSocket that echoes everything.
pub(super) fn echo_answer(written: &[u8], now: Nanos, is_wrong: bool) -> Vec<(Nanos, Act)> {
    if written.starts_with(b"GET") {
        return vec![(now + MS, Act::Send(agreed_to(written)))];
    }
    if written.first() != Some(&0x81) {
        return Vec::new();
    }
    let (mask, masked) = written[2..].split_at(4);
    let mut text: Vec<u8> =
        masked.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    if is_wrong {
        text[0] = b'j';
    }
    let mut frame = vec![0x81, text.len() as u8];
    frame.extend(text);
    vec![(now + 2 * MS, Act::Send(frame))]
}

/// A server that echoes everything, at the instant into which `leaves` turns the usual one, or never; and a machine
/// that stands still meanwhile.
pub(super) fn echoing(
    pause: Range<Nanos>,
    leaves: fn(Nanos) -> Option<Nanos>,
) -> Simulated<'static> {
    let log = Log::default();
    let seen = Rc::clone(&log);
    let answer = move |now| {
        let acts = echo_answer(&written(&seen), now, false).into_iter();
        acts.filter_map(|(at, act)| Some((leaves(at)?, act))).collect::<Vec<_>>()
    };
    Simulated::new(accept, answer).stopped(pause).handing_over(16).logged(&log)
}

/// The answer to a handshake (RFC 6455, 4.2.2).
pub(crate) fn agreed_to(request: &[u8]) -> Vec<u8> {
    const KEY: &str = "Sec-WebSocket-Key: ";
    let request = String::from_utf8_lossy(request);
    let key = request.lines().find_map(|line| line.strip_prefix(KEY)).unwrap();
    let keyed = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let digest = ring::digest::digest(&SHA1_FOR_LEGACY_USE_ONLY, keyed.as_bytes());
    let accept = STANDARD.encode(digest);
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
    .into_bytes()
}
