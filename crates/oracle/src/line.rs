//! The octets of one connection: as they are, or within TLS. It knows no protocol above.

use std::net::SocketAddr;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, getpeername, recv, send, shutdown, sockopt};

use crate::state::{BUFFER, ThreadState};
use crate::tls::Tls;

pub(crate) struct Line {
    pub(crate) socket: OwnedFd,
    /// Absent where the octets are those of the socket.
    pub(crate) tls: Option<Box<Tls>>,
}

impl Line {
    /// Reads what the peer has said, and whether there may be more; nothing: it will say no more.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        state: &mut ThreadState,
    ) -> Result<(usize, bool), Errno> {
        if let Some(tls) = &mut self.tls {
            return tls.receive(&self.socket, buffer, state);
        }
        let (count, _) = recv(&self.socket, buffer, RecvFlags::empty())?;
        state.books.bytes_in += count as u64;
        // Edge-triggered: a short read has emptied the socket, except for the peer's end.
        Ok((count, count == BUFFER))
    }

    /// Sends from the front; returns how much has left. An answer is among it, or not.
    #[inline]
    pub(crate) fn send(
        &mut self,
        bytes: &[u8],
        has_answer: bool,
        state: &mut ThreadState,
    ) -> Result<usize, Errno> {
        if let Some(tls) = &mut self.tls {
            return tls.send(&self.socket, bytes, has_answer, state);
        }
        let taken = send(&self.socket, bytes, SendFlags::NOSIGNAL)?;
        state.books.bytes_out += taken as u64;
        Ok(taken)
    }

    /// Ends this side's direction.
    pub(crate) fn end(&mut self, state: &mut ThreadState) -> Result<(), Errno> {
        if let Some(tls) = &mut self.tls {
            tls.say_goodbye(&self.socket, state);
        }
        shutdown(&self.socket, Shutdown::Write)
    }

    /// Reads and drops, whatever it means.
    pub(crate) fn drop_some(&mut self, buffer: &mut [u8]) -> Result<usize, Errno> {
        recv(&self.socket, buffer, RecvFlags::empty()).map(|(count, _)| count)
    }

    /// The peer's port: by it and a stream's number a client finds its own request in a log. A Unix socket has none.
    pub(crate) fn peer_port(&self) -> u16 {
        let address = getpeername(&self.socket).ok().flatten();
        let address = address.and_then(|address| SocketAddr::try_from(address).ok());
        address.map_or(0, |address| address.port())
    }

    /// A socket that may not linger is closed with a reset.
    pub(crate) fn reset_at_close(&self) {
        // It fails only on a socket that is gone.
        let _ = sockopt::set_socket_linger(&self.socket, Some(std::time::Duration::ZERO));
    }
}
