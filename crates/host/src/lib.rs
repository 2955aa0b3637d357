//! Hosts: a few read-only pages for a browser on this machine. GET and HEAD, HTTP/1.1, loopback only, one answer a connection.
//!
//! Every request is hostile until parsed: any web page can send a browser here. So a foreign `Host` is refused, there
//! is no CORS, every answer says what a browser may do with it, and sizes, times and connections have bounds.

mod conversation;
mod request;
mod response;

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

pub use request::Request;
pub use response::{Response, Status};

/// Further connections are turned away at once.
const MOST: usize = 32;

/// The function that decides the answers.
pub type Handler = dyn Fn(&Request) -> Response + Send + Sync;

/// A listener on a port of this machine.
pub struct Host {
    listener: TcpListener,
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
}

/// Ends a host from another thread.
#[derive(Clone)]
pub struct Closer {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
}

impl Host {
    /// Listens on 127.0.0.1; port 0 stands for any free port.
    pub fn listen(port: u16) -> io::Result<Host> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Host { listener, address, is_closed: Arc::default() })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A handle that ends it.
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer { address: self.address, is_closed: Arc::clone(&self.is_closed) }
    }

    /// Answers until it is closed: a thread for each connection, so that a slow client keeps no other waiting.
    pub fn serve(&self, handler: &Arc<Handler>) {
        let under_way = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            if self.is_closed.load(Ordering::SeqCst) {
                return;
            }
            match stream {
                Ok(stream) => self.receive(stream, &under_way, handler),
                // Out of files, or the peer has gone: an immediate retry helps in neither case.
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    fn receive(&self, stream: TcpStream, under_way: &Arc<AtomicUsize>, handler: &Arc<Handler>) {
        let place = Slot::take(under_way);
        let Some(place) = place else { return turn_away(stream) };
        let (handler, port) = (Arc::clone(handler), self.address.port());
        let talk = move || {
            conversation::hold(stream, port, &*handler);
            drop(place);
        };
        // If no thread can be started, the connection is closed, as if there were no place.
        drop(thread::Builder::new().name("page".into()).spawn(talk));
    }
}

impl Closer {
    /// Ends the host: it answers no new connection.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        // It waits for a connection: this is one.
        drop(TcpStream::connect(self.address));
    }
}

/// One of the connections that may be open.
struct Slot(Arc<AtomicUsize>);

impl Slot {
    fn take(under_way: &Arc<AtomicUsize>) -> Option<Slot> {
        let place = Slot(Arc::clone(under_way));
        let before = under_way.fetch_add(1, Ordering::SeqCst);
        (before < MOST).then_some(place)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Nothing is read, and the answer fits the socket's buffer: this never blocks.
fn turn_away(mut stream: TcpStream) {
    let full = Response::text(Status::Unavailable, "too many connections; close some\n");
    let _ = stream.set_nonblocking(true);
    let _ = stream.write_all(&full.head());
    let _ = stream.write_all(&full.body);
}

#[cfg(test)]
mod tests;
