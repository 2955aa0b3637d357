//! The accept queue of a server on this machine: how long it may be, and how often any such queue was full.

use std::fs;

use super::listeners;
use crate::proc::counter;

/// The accept queue of the server that listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// How many connections it holds, if the kernel reports it.
    pub backlog: Option<u32>,
    /// How often a queue of this machine was full since the machine was started: the kernel counts all queues together.
    pub overflows: u64,
}

/// The queue of the port's listener; none if the kernel reports no listener.
#[must_use]
pub fn queue(port: u16) -> Option<Queue> {
    let listeners = listeners(port).ok()?;
    let backlog = listeners.iter().filter_map(|listener| listener.backlog).min();
    let text = fs::read_to_string("/proc/thread-self/net/netstat").ok()?;
    let overflows = counter(&text, "TcpExt:", "ListenOverflows")?;
    (!listeners.is_empty()).then_some(Queue { backlog, overflows })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_listener_of_this_machine_is_found_and_a_closed_port_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let found = queue(port).unwrap();
        assert!(found.backlog.is_some_and(|backlog| 0 < backlog), "{found:?}");
        drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
        drop(listener);
        assert_eq!(queue(port), None);
    }
}
