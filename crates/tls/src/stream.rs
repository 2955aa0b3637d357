//! A connection that is waited on, plain or secured: for questions, probes and first looks, not for loads.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};

use rustls::client::ClientConnection;
use rustls::{CommonState, StreamOwned};

use crate::fault::reason;

/// A connection over TCP, with or without TLS. How long it waits is set on its socket.
#[derive(Debug)]
pub enum Stream {
    Plain(TcpStream),
    Secured(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    pub(crate) fn secured(connection: ClientConnection, socket: TcpStream) -> Stream {
        Stream::Secured(Box::new(StreamOwned::new(connection, socket)))
    }

    /// The connection below.
    #[must_use]
    pub fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(socket) => socket,
            Stream::Secured(stream) => &stream.sock,
        }
    }

    /// Carries out the handshake, if there is one: `Ok` says that data may flow.
    pub fn shake_hands(&mut self) -> io::Result<()> {
        let Stream::Secured(stream) = self else { return Ok(()) };
        while stream.conn.is_handshaking() {
            in_words(stream.conn.complete_io(&mut stream.sock).map(|_| ()))?;
        }
        Ok(())
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

    /// Whether something that was read from the socket has not been asked for yet.
    #[must_use]
    pub fn has_read_ahead(&mut self) -> bool {
        match self {
            Stream::Plain(_) => false,
            Stream::Secured(stream) => stream
                .conn
                .process_new_packets()
                .is_ok_and(|state| 0 < state.plaintext_bytes_to_read()),
        }
    }
}

/// The library's error has its own wording; a user gets ours.
fn in_words<T>(result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match inner {
            Some(inner) => io::Error::new(error.kind(), reason(inner, b"")),
            None => error,
        }
    })
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.read(buffer),
            Stream::Secured(stream) => in_words(stream.read(buffer)),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(socket) => socket.write(bytes),
            Stream::Secured(stream) => in_words(stream.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(socket) => socket.flush(),
            Stream::Secured(stream) => in_words(stream.flush()),
        }
    }
}
