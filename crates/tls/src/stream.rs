//! A connection that is waited on, plain or secured: for questions, probes and first looks, not for loads.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustls::client::ClientConnection;
use rustls::{CommonState, StreamOwned};

use crate::fault::{TlsFault, alpn_reason, reason};
use crate::order::HTTP_1_1;

/// A connection over TCP, with or without TLS. How long it waits is set on its socket.
#[derive(Debug)]
pub enum Stream {
    Plain(TcpStream),
    Secured(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// Carries out the handshake. How long the stream waits afterwards is as it was before.
    pub(crate) fn secured(
        mut connection: ClientConnection,
        socket: TcpStream,
        alpn: &str,
        limit: Duration,
    ) -> io::Result<Stream> {
        let until = Instant::now() + limit;
        let times = (socket.read_timeout()?, socket.write_timeout()?);
        let mut beginning = Beginning { socket: &socket, first: Vec::new() };
        while connection.is_handshaking() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(too_late());
            }
            socket.set_read_timeout(Some(left))?;
            socket.set_write_timeout(Some(left))?;
            match connection.complete_io(&mut beginning) {
                Ok(_) => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Err(too_late());
                }
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Err(io::Error::new(error.kind(), TlsFault::Closed.meaning()));
                }
                Err(error) => {
                    // Once a server has chosen the version, what came before was TLS.
                    let is_begun = connection.protocol_version().is_some();
                    let first = if is_begun { &[] } else { &beginning.first[..] };
                    return Err(in_words(error, first, alpn));
                }
            }
        }
        // RFC 7301, 3.2: a server that knows no ALPN says nothing, and then means HTTP/1.1.
        if connection.alpn_protocol().map_or(alpn != HTTP_1_1, |name| name != alpn.as_bytes()) {
            return Err(io::Error::other(alpn_reason(alpn, true)));
        }
        socket.set_read_timeout(times.0)?;
        socket.set_write_timeout(times.1)?;
        Ok(Stream::Secured(Box::new(StreamOwned::new(connection, socket))))
    }

    /// The connection below.
    #[must_use]
    pub fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Secured(stream) => &stream.sock,
        }
    }

    /// What was agreed on; none on a plain connection.
    #[must_use]
    pub fn agreed(&self) -> Option<&CommonState> {
        match self {
            Stream::Plain(_) => None,
            Stream::Secured(stream) => Some(&stream.conn),
        }
    }

    /// Says that nothing more will be sent.
    pub fn end_sending(&mut self) -> io::Result<()> {
        if let Stream::Secured(stream) = self {
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        self.socket().shutdown(Shutdown::Write)
    }

    /// Whether something that was written has not left: `flush` goes on with it.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.agreed().is_some_and(CommonState::wants_write)
    }
}

/// A socket of which it is kept what came first.
struct Beginning<'a> {
    socket: &'a TcpStream,
    first: Vec<u8>,
}

/// So much of it.
const FIRST_KEPT: usize = 16;

impl Read for Beginning<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.socket.read(buffer)?;
        let room = FIRST_KEPT.saturating_sub(self.first.len()).min(read);
        self.first.extend_from_slice(&buffer[..room]);
        Ok(read)
    }
}

impl Write for Beginning<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// The library's error has its own wording; a user gets ours.
fn in_words(error: io::Error, first: &[u8], offered: &str) -> io::Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => io::Error::new(error.kind(), reason(inner, first, offered)),
        None => error,
    }
}

/// An error after the handshake, when ALPN is over, in our own words.
fn in_words_later(error: io::Error) -> io::Error {
    in_words(error, b"", HTTP_1_1)
}

fn too_late() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, TlsFault::Timeout.meaning())
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Secured(stream) => match stream.read(buffer) {
                // The end is the end, with or without TLS's closing message.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(0),
                read => read.map_err(in_words_later),
            },
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Secured(stream) => stream.write(bytes).map_err(in_words_later),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            Stream::Secured(stream) => stream.flush().map_err(in_words_later),
        }
    }
}
