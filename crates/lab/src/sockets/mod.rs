//! The TCP sockets of the calling thread's network, as the kernel lists them.

use std::io;
use std::ops::RangeInclusive;

/// A socket that listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// By which `/proc/PID/fd` names it.
    pub inode: u64,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// How many do.
    pub waiting: u32,
}

/// Who listens on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Only processes that were named.
    Theirs,
    /// Somebody else: the process if we may see it, and its name.
    Somebody(Option<u32>, String),
    /// Nobody.
    Nobody,
}

/// Whether no socket of any state has this local port.
pub fn is_free(port: u16) -> io::Result<bool> {
    let _ = port;
    Err(io::Error::other("not yet"))
}

/// A port that nobody uses, and that the kernel gives to no outgoing connection. `turn` says where
/// the search begins, so that one trial does not get the port of the one before.
pub fn free_port(range: RangeInclusive<u16>, turn: u32) -> io::Result<u16> {
    let _ = (range, turn);
    Err(io::Error::other("not yet"))
}

/// The usual range for `free_port`.
pub const PORTS: RangeInclusive<u16> = 18_000..=29_999;

/// Everybody who listens on this port.
pub fn listeners(port: u16) -> io::Result<Vec<Listener>> {
    let _ = port;
    Err(io::Error::other("not yet"))
}

/// Whether those who listen on the port are among these processes, all of them.
pub fn owner_is_among(port: u16, pids: &[u32]) -> io::Result<Ownership> {
    let _ = (port, pids);
    Err(io::Error::other("not yet"))
}
