//! The other end of a question's connection: connecting to it, sending to it and hearing it, within a time limit.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::{Duration, Instant};

use super::{Asked, Fault, KEPT, failure};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with};
use tls::Stream;

/// A load of many connections may have left no port at 127.0.0.1 and the addresses that follow it. That is not the
/// subject's fault, so the question is sent from this address.
const ELSEWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(127, 1, 0, 1), 0);

/// What is said on a question's connection, and what is made of what comes.
pub(super) trait Conversation {
    /// The connection stands, and the request goes out.
    fn begun(&mut self, _at: Instant) {}

    /// The verdict on the answer, if there is one after these bytes; what is to be sent next is appended to the output.
    fn take(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Option<Result<(), Fault>>;

    /// The verdict now that the server has closed the connection.
    fn ended(&mut self) -> Result<(), Fault>;

    /// What did not come in time.
    fn too_late(&self, limit: Duration) -> String;

    /// The last words; how the server takes them is not the question.
    fn close(&mut self, _output: &mut Vec<u8>) {}
}

/// Connects, sends the request, and goes on until there is a verdict or the time is over.
pub(super) fn converse(
    server: Asked<'_>,
    limit: Duration,
    mut output: Vec<u8>,
    conversation: &mut dyn Conversation,
) -> Result<(), Fault> {
    let until = Instant::now() + limit;
    let mut socket = connected(server, limit)?;
    conversation.begun(Instant::now());
    let mut buffer = [0; 16 << 10];
    let verdict = loop {
        // A server may answer, and end the connection, before it has read all of the request.
        let sent = send(&mut socket, &output, until);
        let or_unsent = |fault| match sent {
            Ok(()) => fault,
            Err(error) => failure(format!("the request could not be sent: {error}")),
        };
        output.clear();
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break Err(or_unsent(failure(conversation.too_late(limit))));
        }
        match read(&mut socket, &mut buffer, left) {
            Err(fault) => break Err(or_unsent(fault)),
            Ok(None) => {}
            Ok(Some(0)) => break conversation.ended().map_err(or_unsent),
            Ok(Some(count)) => {
                if let Some(verdict) = conversation.take(&buffer[..count], &mut output) {
                    break verdict;
                }
            }
        }
    };
    conversation.close(&mut output);
    let _ = send(&mut socket, &output, until);
    verdict
}

/// Keeps of an answer what there is room for.
pub(super) fn keep(received: &mut Vec<u8>, bytes: &[u8]) {
    let room = KEPT.saturating_sub(received.len());
    received.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

fn connected(server: Asked<'_>, limit: Duration) -> Result<Stream, Fault> {
    let until = Instant::now() + limit;
    let socket = connected_by_tcp(server.address, limit);
    let stream = socket.and_then(|socket| match server.tls {
        None => Ok(Stream::Plain(socket)),
        Some(client) => client.stream(socket, until.saturating_duration_since(Instant::now())),
    });
    stream.map_err(|error| failure(format!("no connection: {error}")))
}

fn connected_by_tcp(address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
    match (TcpStream::connect_timeout(&address, limit), address) {
        (Err(error), SocketAddr::V4(there))
            if error.kind() == ErrorKind::AddrNotAvailable && there.ip().is_loopback() =>
        {
            connected_from(ELSEWHERE, there, limit)
        }
        (connected, _) => connected,
    }
}

fn connected_from(
    here: SocketAddrV4,
    there: SocketAddrV4,
    limit: Duration,
) -> io::Result<TcpStream> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &here)?;
    // It limits `connect`, too.
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    match connect(&socket, &there) {
        Ok(()) => Ok(TcpStream::from(socket)),
        Err(Errno::INPROGRESS | Errno::AGAIN) => Err(ErrorKind::TimedOut.into()),
        Err(error) => Err(error.into()),
    }
}

/// Sends all of it, or as much as the peer accepts until then.
fn send(socket: &mut Stream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() || socket.has_unsent() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        socket.socket().set_write_timeout(Some(left))?;
        let written = match bytes {
            [] => socket.flush().map(|()| 0),
            bytes => socket.write(bytes),
        };
        match written {
            Ok(0) if !bytes.is_empty() => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
    Ok(())
}

/// Reads what has arrived within this time, if anything has.
fn read(socket: &mut Stream, buffer: &mut [u8], limit: Duration) -> Result<Option<usize>, Fault> {
    let _ = socket.socket().set_read_timeout(Some(limit));
    match socket.read(buffer) {
        Ok(count) => Ok(Some(count)),
        Err(error) => match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => Ok(None),
            _ => Err(failure(format!("the connection broke: {error}"))),
        },
    }
}
