//! What crosses the boundary between a lane and the network, and what it means.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Range;
use std::rc::Rc;

use super::{MS, accept};
use crate::Nanos;
use crate::engine::{Act, Around, Break, Conn, Engine, Event, Simulated, around_engine};

/// All entries, in order.
#[derive(Default)]
pub(super) struct Log {
    entries: Vec<(Nanos, Conn, Entry)>,
    pub(super) written: Vec<u8>,
}

enum Entry {
    Begun,
    Connected,
    Received(Vec<u8>),
    Wrote(Vec<u8>),
    Ended,
    Broken(Break),
    Closed,
}

/// An engine that is watched.
pub(super) struct Seam<E> {
    pub(super) engine: E,
    pub(super) log: Rc<RefCell<Log>>,
}

impl<E: Engine> Seam<E> {
    fn note(&self, conn: Conn, entry: Entry) {
        self.log.borrow_mut().entries.push((self.engine.now(), conn, entry));
    }
}

impl<E: Engine> Around for Seam<E> {
    around_engine!();

    fn open(&mut self, conn: Conn) -> Result<(), Break> {
        self.note(conn, Entry::Begun);
        self.engine.open(conn)
    }

    fn close(&mut self, conn: Conn) {
        self.note(conn, Entry::Closed);
        self.engine.close(conn);
    }

    fn write(&mut self, conn: Conn, bytes: &[u8]) -> Result<usize, Break> {
        self.note(conn, Entry::Wrote(bytes.to_vec()));
        self.log.borrow_mut().written = bytes.to_vec();
        self.engine.write(conn, bytes)
    }

    fn deliver(&mut self, deliver: &mut impl FnMut(Conn, Event<'_>, Nanos)) -> bool {
        let log = Rc::clone(&self.log);
        self.engine.deliver(&mut |conn, event, at| {
            let entry = match event {
                Event::Reached | Event::Connected => Entry::Connected,
                Event::Bytes(bytes) => Entry::Received(bytes.to_vec()),
                Event::Ended => Entry::Ended,
                Event::Broken(cause) => Entry::Broken(cause),
                Event::Writable => Entry::Wrote(Vec::new()),
            };
            log.borrow_mut().entries.push((at, conn, entry));
            deliver(conn, event, at);
        })
    }
}

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
    for (at, conn, entry) in log.entries.iter().filter(|(at, ..)| *at <= end) {
        if matches!(entry, Entry::Begun) {
            let is_again = newest.insert(*conn, all.len()).is_some();
            all.push(Life { begun: *at, is_again, ..Life::default() });
        }
        all[newest[conn]].take(*at, entry, end);
    }
    all
}

impl Life {
    fn take(&mut self, at: Nanos, entry: &Entry, end: Nanos) {
        match entry {
            Entry::Begun => {}
            Entry::Connected => self.connected = Some(at),
            Entry::Received(bytes) => self.receive(at, bytes),
            // A text frame of a client: the opcode, a short length, a mask.
            Entry::Wrote(bytes) if bytes.first() == Some(&0x81) && at < end => {
                self.said.push(Echo { at, back: None });
            }
            Entry::Wrote(_) => {}
            Entry::Ended => self.last = Some((at, "recv.cut_body")),
            Entry::Broken(Break::Refused) => self.last = Some((at, "connect.refused")),
            Entry::Broken(_) => self.last = Some((at, "recv.reset")),
            Entry::Closed if at < end => {
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
            Entry::Closed => {}
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
) -> Seam<impl Engine> {
    let log: Rc<RefCell<Log>> = Rc::default();
    let seen = Rc::clone(&log);
    let answer = move |now| {
        let acts = echo_answer(&seen.borrow().written, now, false).into_iter();
        acts.filter_map(|(at, act)| Some((leaves(at)?, act))).collect::<Vec<_>>()
    };
    let engine = Simulated::new(accept, answer).stopped(pause).handing_over(16);
    Seam { engine, log }
}

/// The oracle's answer to a handshake.
pub(crate) fn agreed_to(request: &[u8]) -> Vec<u8> {
    let oracle = oracle::Oracle::start(oracle::Config::default()).unwrap();
    let oracle::Address::Tcp(address) = oracle.address() else { panic!("TCP was asked") };
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    head
}
