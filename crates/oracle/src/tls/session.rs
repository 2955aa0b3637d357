//! One connection's half of TLS: octets of the socket in and out, and between them what HTTP says.

use std::io::{Read, Write};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use super::forge::marked;
use crate::delays::Delay;
use crate::faults::Step;
use crate::faults::twist::{Flight, Message, Struck, Twist};
use crate::state::{BUFFER, ThreadState};

/// As much as one record carries, about; what is written at once is cut into such pieces.
const PIECE: usize = 4 * 16 * 1024;
const CIPHERED: usize = 16 * 1024;
const SLOWLY_NS: u64 = 1_000_000_000;
const ALERT: u8 = 21;
/// Application data of 65,535 octets, which is more than any record may have.
const OVERSIZED_HEAD: &[u8] = &[0x17, 3, 3, 0xff, 0xff];

/// How far the handshake has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has come yet.
    Hello,
    /// The first message has come; its answer is due at this instant.
    Due(u64),
    Shaking,
    /// The next octet of the first flight is due at this instant.
    Slowly(u64),
    /// The handshake is done; so many of the messages after it are out, and so often the next one.
    After(usize, u64),
}

pub(crate) struct Tls {
    session: ServerConnection,
    stage: Stage,
    twist: Option<&'static Twist>,
    /// What the session has yet to read.
    ciphered: Vec<u8>,
    /// What the kernel has yet to take.
    out: Vec<u8>,
    /// How much of the front of what is to be sent has been encrypted, and has not left.
    sealed: usize,
    /// Whether the first answer has been struck.
    is_struck: bool,
}

/// What a handshake needs next.
pub(crate) enum Shaken {
    /// Something from the peer, or room.
    Wait,
    At(u64),
    Again,
    Done(HandshakeKind),
    /// It has failed; the alert is out.
    Failed,
    /// The connection goes on bare, with these steps.
    Instead(&'static [Step]),
    /// The peer is gone.
    Gone,
}

impl Tls {
    pub(super) fn begin(server: Arc<ServerConfig>, twist: Option<&'static Twist>) -> Option<Tls> {
        let mut session = ServerConnection::new(server).ok()?;
        session.set_buffer_limit(None);
        let (ciphered, out) = (Vec::new(), Vec::new());
        Some(Tls {
            session,
            stage: Stage::Hello,
            twist,
            ciphered,
            out,
            sealed: 0,
            is_struck: false,
        })
    }

    pub(crate) fn speaks_http2(&self) -> bool {
        self.session.alpn_protocol() == Some(b"h2")
    }

    /// Goes on with the handshake as far as it goes now.
    pub(crate) fn shake(
        &mut self,
        socket: &OwnedFd,
        delay: Option<Delay>,
        state: &mut ThreadState,
        now_ns: u64,
    ) -> Shaken {
        self.try_shake(socket, delay, state, now_ns).unwrap_or(Shaken::Gone)
    }

    fn try_shake(
        &mut self,
        socket: &OwnedFd,
        delay: Option<Delay>,
        state: &mut ThreadState,
        now_ns: u64,
    ) -> Result<Shaken, Errno> {
        loop {
            match self.stage {
                Stage::Hello => {
                    if !self.fetch(socket, state)? {
                        return Ok(Shaken::Wait);
                    }
                    let instead = self.twist.map_or(&[][..], |twist| twist.instead);
                    if !instead.is_empty() {
                        return Ok(Shaken::Instead(instead));
                    }
                    let delay_ns = delay.map_or(0, |law| law.draw_ns(&mut state.dice));
                    self.stage = Stage::Due(now_ns + delay_ns);
                }
                Stage::Due(due_ns) if now_ns < due_ns => return Ok(Shaken::At(due_ns)),
                Stage::Due(_) => self.stage = Stage::Shaking,
                Stage::Shaking => {
                    if let Some(shaken) = self.go_on(socket, state, now_ns)? {
                        return Ok(shaken);
                    }
                }
                Stage::Slowly(due_ns) if now_ns < due_ns => return Ok(Shaken::At(due_ns)),
                Stage::Slowly(_) => {
                    if !self.out.is_empty() {
                        send(socket, &self.out[..1], SendFlags::NOSIGNAL)?;
                        self.out.drain(..1);
                    }
                    self.stage = Stage::Slowly(now_ns + SLOWLY_NS);
                }
                Stage::After(at, times) => return self.say_after(at, times, socket, state),
            }
        }
    }

    /// One round of reading and writing; `None` is for another.
    fn go_on(
        &mut self,
        socket: &OwnedFd,
        state: &mut ThreadState,
        now_ns: u64,
    ) -> Result<Option<Shaken>, Errno> {
        let is_right = self.digest();
        self.seal();
        let flight = self.twist.map_or(Flight::Whole, |twist| twist.flight);
        if is_right && self.session.is_handshaking() && !self.out.is_empty() {
            match flight {
                Flight::Whole | Flight::Octets => {}
                Flight::Slowly => {
                    self.stage = Stage::Slowly(now_ns);
                    return Ok(None);
                }
                Flight::HalfFin | Flight::HalfRst => {
                    self.out.truncate(self.out.len() / 2);
                    self.flush(socket, state)?;
                    let end: &[Step] =
                        if flight == Flight::HalfFin { &[Step::Fin] } else { &[Step::Rst] };
                    return Ok(Some(Shaken::Instead(end)));
                }
                Flight::Damaged => *self.out.last_mut().expect("it is not empty") ^= 1,
            }
        }
        self.flush(socket, state)?;
        if !is_right {
            return Ok(Some(Shaken::Failed));
        }
        if !self.session.is_handshaking() {
            self.stage = Stage::After(0, 0);
            return Ok(None);
        }
        if self.fetch(socket, state)? { Ok(None) } else { Ok(Some(Shaken::Wait)) }
    }

    /// Says what a right server would not, no faster than the peer reads.
    fn say_after(
        &mut self,
        mut at: usize,
        mut times: u64,
        socket: &OwnedFd,
        state: &mut ThreadState,
    ) -> Result<Shaken, Errno> {
        let messages = self.twist.map_or(&[][..], |twist| twist.after);
        while let Some(message) = messages.get(at) {
            if !self.flush(socket, state)? {
                self.stage = Stage::After(at, times);
                return Ok(Shaken::Wait);
            }
            let most = match *message {
                Message::Say(_, _, most) | Message::Bare(_, most) | Message::NewKeys(most) => most,
                Message::Cut => return Ok(Shaken::Instead(&[Step::Fin])),
                Message::Silence => return Ok(Shaken::Instead(&[Step::Silence])),
            };
            while times < most && self.out.len() < BUFFER {
                times += 1;
                match *message {
                    Message::Say(kind, payload, _) => self.say(kind, payload),
                    Message::Bare(octets, _) => self.out.extend_from_slice(octets),
                    Message::NewKeys(_) => {
                        self.session.refresh_traffic_keys().map_err(|_| Errno::PROTO)?;
                        self.seal();
                    }
                    Message::Cut | Message::Silence => {}
                }
            }
            if times < most {
                self.stage = Stage::After(at, times);
                return Ok(Shaken::Again);
            }
            (at, times) = (at + 1, 0);
        }
        self.stage = Stage::After(at, 0);
        self.flush(socket, state)?;
        Ok(Shaken::Done(self.session.handshake_kind().unwrap_or(HandshakeKind::Full)))
    }

    /// Encrypts a record of this type. Only a forging setup can.
    fn say(&mut self, kind: u8, payload: &[u8]) {
        let said = self.session.writer().write_all(&marked(kind, payload));
        debug_assert!(said.is_ok(), "the session's buffer has no limit");
        self.seal();
    }

    /// Takes octets off the socket; returns whether there were any.
    fn fetch(&mut self, socket: &OwnedFd, state: &mut ThreadState) -> Result<bool, Errno> {
        let mut octets = [0; CIPHERED];
        match recv(socket, &mut octets[..], RecvFlags::empty()) {
            Ok((0, _)) => Err(Errno::PIPE),
            Ok((count, _)) => {
                state.books.bytes_in += count as u64;
                self.ciphered.extend_from_slice(&octets[..count]);
                Ok(true)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets the session read what was fetched, as far as it takes it; returns whether it was right.
    fn digest(&mut self) -> bool {
        let mut rest = &self.ciphered[..];
        let mut is_right = true;
        while !rest.is_empty() && is_right {
            match self.session.read_tls(&mut rest) {
                Ok(0) | Err(_) => break,
                Ok(_) => is_right = self.session.process_new_packets().is_ok(),
            }
        }
        let used = self.ciphered.len() - rest.len();
        self.ciphered.drain(..used);
        is_right
    }

    fn seal(&mut self) {
        while self.session.wants_write() {
            // A vector takes everything.
            let _ = self.session.write_tls(&mut self.out);
        }
    }

    /// Hands the kernel what is encrypted; returns whether it took all of it.
    fn flush(&mut self, socket: &OwnedFd, state: &mut ThreadState) -> Result<bool, Errno> {
        self.seal();
        let is_by_octet = self.twist.is_some_and(|twist| twist.flight == Flight::Octets);
        let mut taken = 0;
        while taken < self.out.len() {
            let until = if is_by_octet { taken + 1 } else { self.out.len() };
            match send(socket, &self.out[taken..until], SendFlags::NOSIGNAL) {
                Ok(count) => taken += count,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        state.books.bytes_out += taken as u64;
        self.out.drain(..taken);
        self.out.shrink_to(BUFFER);
        Ok(self.out.is_empty())
    }

    /// What the peer has said, and whether there may be more of it. None of it: it will say nothing more.
    pub(crate) fn receive(
        &mut self,
        socket: &OwnedFd,
        buffer: &mut [u8],
        state: &mut ThreadState,
    ) -> Result<(usize, bool), Errno> {
        let mut count = 0;
        loop {
            while count < buffer.len() {
                match self.session.reader().read(&mut buffer[count..]) {
                    Ok(0) => return Ok((count, count > 0)),
                    Ok(read) => count += read,
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                    // It ended without close_notify.
                    Err(_) => return Ok((count, count > 0)),
                }
            }
            if count == buffer.len() {
                return Ok((count, true));
            }
            if self.ciphered.is_empty() {
                match self.fetch(socket, state) {
                    Ok(true) => {}
                    Ok(false) if count > 0 => return Ok((count, false)),
                    Ok(false) => return Err(Errno::AGAIN),
                    Err(_) => return Ok((count, count > 0)),
                }
            }
            let is_right = self.digest();
            self.flush(socket, state)?;
            if !is_right {
                return Err(Errno::PROTO);
            }
        }
    }

    /// Encrypts and sends; returns how much has left. What has not must come again, at the front.
    pub(crate) fn send(
        &mut self,
        socket: &OwnedFd,
        bytes: &[u8],
        has_answer: bool,
        state: &mut ThreadState,
    ) -> Result<usize, Errno> {
        let struck = self.twist.map_or(Struck::Not, |twist| twist.answer);
        let struck = if has_answer && !self.is_struck { struck } else { Struck::Not };
        self.is_struck |= has_answer;
        match struck {
            Struck::Not | Struck::Damaged | Struck::ThenCut => {}
            Struck::Oversized => {
                self.seal();
                self.out.extend_from_slice(OVERSIZED_HEAD);
                self.out.resize(self.out.len() + 0xffff, 0);
            }
            Struck::Half | Struck::Alert => {
                match struck {
                    Struck::Alert => self.say(ALERT, &[2, 80]),
                    _ => self.encrypt(&bytes[..bytes.len() / 2])?,
                }
                self.flush(socket, state)?;
                shutdown(socket, Shutdown::Write)?;
                return Err(Errno::PIPE);
            }
        }
        let mut taken = 0;
        loop {
            if struck == Struck::Damaged && self.sealed > 0 {
                self.seal();
                *self.out.last_mut().expect("what is sealed is there") ^= 1;
            }
            if !self.flush(socket, state)? {
                return if taken > 0 { Ok(taken) } else { Err(Errno::AGAIN) };
            }
            taken += std::mem::take(&mut self.sealed);
            if taken == bytes.len() {
                break;
            }
            let piece = &bytes[taken..bytes.len().min(taken + PIECE)];
            self.encrypt(piece)?;
            self.sealed = piece.len();
        }
        if struck == Struck::ThenCut {
            shutdown(socket, Shutdown::Write)?;
        }
        Ok(taken)
    }

    /// A session that has sent an alert takes nothing more.
    fn encrypt(&mut self, piece: &[u8]) -> Result<(), Errno> {
        self.session.writer().write_all(piece).map_err(|_| Errno::PIPE)
    }

    /// RFC 8446, 6.1: says that nothing more will be sent.
    pub(crate) fn say_goodbye(&mut self, socket: &OwnedFd, state: &mut ThreadState) {
        self.session.send_close_notify();
        // The peer may be gone.
        let _ = self.flush(socket, state);
    }
}
