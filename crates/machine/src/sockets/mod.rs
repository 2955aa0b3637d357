//! The TCP sockets of the calling thread's network, as the kernel lists them: whether a port is free, and which process
//! listens on it.

mod diag;
pub(crate) mod netlink;
mod queue;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};
use std::ops::RangeInclusive;

use crate::proc::processes;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

pub(crate) use diag::Diag;
pub use queue::{Queue, queue};

/// Which processes listen on a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Only the named processes.
    Theirs,
    /// Another process, too: its number, if it is visible, and its name.
    Another(Option<u32>, String),
    /// No process listens.
    NoListener,
}

/// Ports for subjects: below those that Linux usually gives to outgoing connections.
pub const PORTS: RangeInclusive<u16> = 18_000..=29_999;

/// A socket as the kernel lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    pub(crate) state: u8,
    pub(crate) local_port: u16,
    pub(crate) remote_port: u16,
    /// Of a listener: how many connections wait to be accepted.
    pub waiting: u32,
    /// Of a listener: how many may wait, if the kernel reports it.
    pub backlog: Option<u32>,
    /// The inode by which `/proc/PID/fd` names it.
    pub(crate) inode: u64,
}

impl Socket {
    const LISTEN: u8 = 10;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Local,
    Remote,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Listening,
    Any,
}

fn sockets(port: u16, side: Side, state: State) -> io::Result<Vec<Socket>> {
    let by_diag = Diag::open().and_then(|mut diag| diag.sockets(port, side, state));
    by_diag.or_else(|_| table::sockets(port, side, state))
}

/// Whether no socket of any state has this port, on either side: no listener, no connection, none that lingers, and
/// none that is only bound.
pub fn is_free(port: u16) -> io::Result<bool> {
    // Whatever has the port on this side prevents that it is bound once more. A list of all connections of the machine
    // costs far more.
    Ok(can_be_bound(port)? && sockets(port, Side::Remote, State::Any)?.is_empty())
}

/// On all addresses: of both families, if there is IPv6.
fn can_be_bound(port: u16) -> io::Result<bool> {
    let stream = |family| socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let of_both = stream(AddressFamily::INET6).and_then(|socket| {
        sockopt::set_ipv6_v6only(&socket, false)?;
        bind(&socket, &SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0))
    });
    match of_both {
        Ok(()) => Ok(true),
        Err(Errno::ADDRINUSE) => Ok(false),
        Err(_) => {
            let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port);
            Ok(bind(stream(AddressFamily::INET)?, &any).is_ok())
        }
    }
}

/// A free port that the kernel gives to no outgoing connection, if the range has one. It is chosen at random: between
/// this moment and the one at which the subject listens on it, no process owns the port, and two dynos that walked from
/// one port to the next would meet again and again.
pub fn free_port(range: RangeInclusive<u16>) -> io::Result<u16> {
    let outgoing = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let candidates = candidates(range.clone(), &outgoing.unwrap_or_default());
    // The standard library draws its keys from the kernel's randomness.
    let chance = RandomState::new().hash_one(std::process::id());
    let begin = (chance % candidates.len().max(1) as u64) as usize;
    let (later, earlier) = (candidates.iter().skip(begin), candidates.iter().take(begin));
    for port in later.chain(earlier) {
        if is_free(*port)? {
            return Ok(*port);
        }
    }
    let says = format!("no port from {} to {} is free", range.start(), range.end());
    Err(io::Error::new(io::ErrorKind::AddrInUse, says))
}

/// The ports of the range that are not for outgoing connections; all, if those take the whole range.
fn candidates(range: RangeInclusive<u16>, outgoing: &str) -> Vec<u16> {
    let mut ends = outgoing.split_ascii_whitespace().map(str::parse::<u16>);
    let outgoing = match (ends.next(), ends.next()) {
        (Some(Ok(first)), Some(Ok(last))) => first..=last,
        (_, _) => RangeInclusive::new(1, 0),
    };
    let others: Vec<u16> = range.clone().filter(|port| !outgoing.contains(port)).collect();
    if others.is_empty() { range.collect() } else { others }
}

/// Every socket that listens on this port.
pub fn listeners(port: u16) -> io::Result<Vec<Socket>> {
    sockets(port, Side::Local, State::Listening)
}

/// Whether all processes that listen on the port are among these.
pub fn owner_is_among(port: u16, pids: &[u32]) -> io::Result<Ownership> {
    let listeners = listeners(port)?;
    let mut inodes: BTreeSet<u64> = listeners.iter().map(|listener| listener.inode).collect();
    if inodes.is_empty() {
        return Ok(Ownership::NoListener);
    }
    for pid in pids {
        inodes.retain(|inode| !holds(*pid, *inode));
        if inodes.is_empty() {
            return Ok(Ownership::Theirs);
        }
    }
    let holder = processes().find(|pid| inodes.iter().any(|inode| holds(*pid, *inode)));
    let name = holder.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
    let name = name.map_or("a process that we may not see".to_string(), |name| name.trim().into());
    Ok(Ownership::Another(holder, name))
}

/// The ports on which these processes listen, in order.
pub fn ports_of(pids: &[u32]) -> io::Result<BTreeSet<u16>> {
    let mut listening = table::listening()?;
    listening.retain(|socket| pids.iter().any(|pid| holds(*pid, socket.inode)));
    Ok(listening.iter().map(|socket| socket.local_port).collect())
}

/// The processes that listen on a port, as far as we may see them.
#[must_use]
pub fn owners(port: u16) -> Vec<u32> {
    let listeners = listeners(port).unwrap_or_default();
    let owns = |pid: &u32| listeners.iter().any(|listener| holds(*pid, listener.inode));
    processes().filter(owns).collect()
}

/// Whether a process has this socket open.
fn holds(pid: u32, inode: u64) -> bool {
    let name = format!("socket:[{inode}]");
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let is_it = |path| fs::read_link(path).is_ok_and(|link| link.as_os_str() == name.as_str());
    descriptors.flatten().any(|descriptor| is_it(descriptor.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_for_outgoing_connections_are_left_out() {
        assert_eq!(candidates(10..=14, "12\t13\n"), [10, 11, 14]);
        assert_eq!(candidates(10..=12, "32768 60999"), [10, 11, 12]);
        assert_eq!(candidates(10..=12, "1 65535"), [10, 11, 12]);
        assert_eq!(candidates(10..=11, "nonsense"), [10, 11]);
    }

    #[test]
    fn both_lists_agree() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
        let port = listener.local_addr().expect("it is bound").port();
        let _waits = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let mut diag = Diag::open().expect("sock_diag");
        for state in [State::Listening, State::Any] {
            for side in [Side::Local, Side::Remote] {
                let by_diag = diag.sockets(port, side, state).expect("an answer");
                let by_diag: BTreeSet<_> = by_diag.iter().map(seen).collect();
                let by_table = table::sockets(port, side, state).expect("a table");
                assert_eq!(by_diag, by_table.iter().map(seen).collect(), "{side:?} {state:?}");
            }
        }
    }

    fn seen(socket: &Socket) -> (u8, u16, u16, u64) {
        (socket.state, socket.local_port, socket.remote_port, socket.inode)
    }
}
