//! One connection: a request within bounds, an answer, the end.

use std::io::{self, Read as _, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::Handler;
use crate::request::{self, Read};
use crate::response::{Response, Status};

/// A longer head is refused.
const LONGEST: usize = 16 << 10;
/// At most this long a request may take.
const ASKING: Duration = Duration::from_secs(5);
/// At most this long an answer may take.
const ANSWERING: Duration = Duration::from_secs(30);
/// For this long, and for this many bytes, it waits for the peer to close.
const LEAVING: Duration = Duration::from_millis(500);
const LEFT_UNREAD: usize = 64 << 10;
/// Written at once; the time is checked between pieces.
const PIECE: usize = 64 << 10;

/// From the first byte to the last. If the peer has gone, that is no failure.
pub(crate) fn hold(mut stream: TcpStream, port: u16, handler: &Handler) {
    let (answer, is_head) = match asked(&mut stream, port) {
        Ok(Read::Request(question)) => (handler(&question), question.is_head),
        Ok(Read::Refused(answer)) => (answer, false),
        Ok(Read::Partial) => {
            (Response::text(Status::TimedOut, "the request took too long\n"), false)
        }
        Err(_) => return,
    };
    let until = Instant::now() + ANSWERING;
    let body: &[u8] = if is_head { &[] } else { &answer.body };
    let written =
        write(&mut stream, &answer.head(), until).and_then(|()| write(&mut stream, body, until));
    if written.is_ok() {
        leave(&mut stream);
    }
}

/// The head, read until it is complete, too long or too late.
fn asked(stream: &mut TcpStream, port: u16) -> io::Result<Read> {
    let until = Instant::now() + ASKING;
    let mut bytes = vec![0; LONGEST];
    let mut length = 0;
    loop {
        match patiently(stream, &mut bytes[length..], until) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => length += count,
            Err(error) if is_late(&error) => return Ok(Read::Partial),
            Err(error) => return Err(error),
        }
        match request::read(&bytes[..length], port) {
            Read::Partial if length == LONGEST => return Ok(Read::Refused(Response::too_large())),
            Read::Partial => {}
            done => return Ok(done),
        }
    }
}

/// Some bytes, if they arrive in time: a byte a second does not extend the time.
fn patiently(stream: &mut TcpStream, bytes: &mut [u8], until: Instant) -> io::Result<usize> {
    stream.set_read_timeout(Some(left(until)?))?;
    stream.read(bytes)
}

fn write(stream: &mut TcpStream, bytes: &[u8], until: Instant) -> io::Result<()> {
    for piece in bytes.chunks(PIECE) {
        stream.set_write_timeout(Some(left(until)?))?;
        stream.write_all(piece)?;
    }
    Ok(())
}

/// Closing with unread bytes would destroy the answer for a peer that has not read it yet.
fn leave(stream: &mut TcpStream) {
    let until = Instant::now() + LEAVING;
    let mut bytes = [0; 4096];
    let mut count = 0;
    let _ = stream.shutdown(Shutdown::Write);
    while let Ok(more @ 1..) = patiently(stream, &mut bytes, until) {
        count += more;
        if LEFT_UNREAD < count {
            return;
        }
    }
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
