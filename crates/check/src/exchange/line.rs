//! The connection below an exchange, whatever is spoken on it: what was sent and what has arrived.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tls::Stream;

use crate::observation::End;
use crate::target::Target;

/// At most this many bytes are read.
const RECEIVED: usize = 1 << 20;
/// As many are read at once.
const BUFFER: usize = 64 << 10;
/// At most this many of the sent bytes are kept.
const SENT: usize = 4 << 10;

pub(crate) struct Line {
    pub(crate) socket: Stream,
    pub(crate) until: Instant,
    pub(crate) sent: Vec<u8>,
    pub(crate) sent_len: u64,
    /// Shared with what looks at it between two reads, so that it is not copied.
    pub(crate) received: Arc<Vec<u8>>,
    pub(crate) end: End,
}

impl Line {
    pub(crate) fn open(
        target: &Target,
        limit: Duration,
        connect: Duration,
    ) -> std::io::Result<Line> {
        let socket = target.connect(connect)?;
        socket.socket().set_nonblocking(true)?;
        socket.socket().set_nodelay(true)?;
        Ok(Line {
            socket,
            until: Instant::now() + limit,
            sent: Vec::new(),
            sent_len: 0,
            // As long as it can become: a buffer that grows leaves its earlier copies behind.
            received: Arc::new(Vec::with_capacity(RECEIVED + BUFFER)),
            end: End::Open,
        })
    }

    /// Whether TLS has announced the end of the connection; none without TLS.
    pub(crate) fn is_closed_by_notice(&mut self) -> Option<bool> {
        match &mut self.socket {
            Stream::Plain(_) => None,
            // At the end without notice, reading is an error.
            Stream::Secured(stream) => Some(matches!(stream.conn.reader().read(&mut [0]), Ok(0))),
        }
    }

    /// Sends, and reads meanwhile, so that neither side waits for the other for ever.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let mut left = bytes;
        while (!left.is_empty() || self.socket.has_unsent()) && self.end == End::Open {
            let written = match left {
                [] => self.socket.flush().map(|()| 0),
                left => self.socket.write(left),
            };
            match written {
                Ok(count) => {
                    let room = SENT.saturating_sub(self.sent.len()).min(count);
                    self.sent.extend_from_slice(&left[..room]);
                    self.sent_len += count as u64;
                    left = &left[count..];
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let wait = self.until.saturating_duration_since(Instant::now());
                    if !self.turn(wait, PollFlags::OUT) {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // What the server sent before it closed is still to be read.
                Err(_) => {
                    while self.end == End::Open
                        && self.turn(Duration::from_millis(50), PollFlags::empty())
                    {
                    }
                    if self.end == End::Open {
                        self.end = End::Reset;
                    }
                    return;
                }
            }
        }
    }

    /// Waits until the socket can be read (or written, if requested) and reads what is there. False: the time is over.
    pub(crate) fn turn(&mut self, wait: Duration, also: PollFlags) -> bool {
        let flags = PollFlags::IN | also;
        let limit = Timespec {
            tv_sec: wait.as_secs().min(3600) as i64,
            tv_nsec: i64::from(wait.subsec_nanos()),
        };
        let mut fds = [PollFd::new(self.socket.socket(), flags)];
        match poll(&mut fds, Some(&limit)) {
            Ok(0) => return false,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
        let mut buffer = [0; BUFFER];
        // TLS may have read more than it gives at once, its closing message for one, and the socket shows none of that.
        while self.end == End::Open {
            match self.socket.read(&mut buffer) {
                Ok(0) => self.end = End::Closed,
                Ok(count) => {
                    Arc::make_mut(&mut self.received).extend_from_slice(&buffer[..count]);
                    if self.received.len() > RECEIVED {
                        self.end = End::Flooded;
                    }
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => break,
                    ErrorKind::Interrupted => {}
                    _ => self.end = End::Reset,
                },
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use rcgen::generate_simple_self_signed;
    use tls::rustls::crypto::ring::default_provider;
    use tls::rustls::pki_types::PrivateKeyDer;
    use tls::rustls::{ServerConfig, ServerConnection};
    use tls::{Client, TlsOrder, Trust};

    use super::*;

    /// A server that sends its last words and the closing message of TLS at once, and keeps TCP open.
    fn take_leave(listener: &TcpListener) -> std::io::Result<()> {
        let made = generate_simple_self_signed(["localhost".to_string()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(default_provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let mut tls = ServerConnection::new(Arc::new(config)).unwrap();
        let (mut socket, _) = listener.accept()?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        tls.writer().write_all(b"bye")?;
        tls.send_close_notify();
        let mut last = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut last)?;
        }
        socket.write_all(&last)?;
        while socket.read(&mut [0; 64])? > 0 {}
        Ok(())
    }

    #[test]
    fn the_closing_message_of_tls_is_the_end_even_if_it_comes_with_the_last_octets() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || take_leave(&listener));
        let order = TlsOrder { trust: Trust::All, ..TlsOrder::to("localhost") };
        let tls = Some(Client::new(&order).unwrap());
        let target = Target { tls, ..Target::at(address) };
        const LONG: Duration = Duration::from_secs(60);
        let mut line = Line::open(&target, LONG, LONG).unwrap();
        while line.received.is_empty() && line.end == End::Open {
            line.turn(LONG, PollFlags::empty());
        }
        // Nothing more will come: the next turn would wait for all its time.
        assert_eq!((&line.received[..], line.end), (&b"bye"[..], End::Closed));
        drop(line);
        let _ = server.join();
    }
}
