//! Listening sockets, limits and CPUs: all that is requested from the kernel before serving.

use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, getsockname, ipproto,
    listen, socket_with, sockopt,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::faults::Start;
use crate::{Address, Config, Listen};

pub(crate) struct Sockets {
    pub(crate) address: Address,
    /// One for each thread.
    pub(crate) served: Vec<OwnedFd>,
    /// Sockets whose fault is that no thread serves them, and those that keep them in that state.
    pub(crate) unserved: Vec<OwnedFd>,
}

/// Opens what the configuration asks for.
pub(crate) fn open(config: &Config, threads: usize) -> io::Result<Sockets> {
    let backlog = i32::try_from(config.backlog).unwrap_or(i32::MAX);
    match (&config.listen, config.fault.map(|fault| fault.start)) {
        (listen, Some(Start::Refusing)) => refusing(listen),
        (Listen::Tcp(address), Some(Start::NeverAccepting)) => never_accepting(*address),
        (Listen::Tcp(address), _) => tcp(*address, threads, backlog),
        (Listen::Unix(path), _) => unix(path, threads, backlog),
    }
}

fn tcp(address: SocketAddr, threads: usize, backlog: i32) -> io::Result<Sockets> {
    // Sockets that share a port would also share it with another server's: only a socket that
    // does not share its port finds out whether the address is taken.
    let address = if threads > 1 { local(&bound(address, false)?)? } else { address };
    let mut served = vec![listening(address, threads > 1, backlog)?];
    let address = local(&served[0])?;
    for _ in 1..threads {
        served.push(listening(address, true, backlog)?);
    }
    Ok(Sockets { address: Listen::Tcp(address), served, unserved: Vec::new() })
}

fn listening(address: SocketAddr, shared: bool, backlog: i32) -> io::Result<OwnedFd> {
    let socket = bound(address, shared)?;
    // Accepted connections inherit this, so that none needs a call of its own.
    sockopt::set_tcp_nodelay(&socket, true)?;
    listen(&socket, backlog)?;
    Ok(socket)
}

fn bound(address: SocketAddr, shared: bool) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, shared)?;
    bind(&socket, &address)?;
    Ok(socket)
}

fn local(socket: &OwnedFd) -> io::Result<SocketAddr> {
    Ok(SocketAddr::try_from(getsockname(socket)?)?)
}

/// The kernel refuses connections to an address that is bound and not listened on; and no other
/// program can take it meanwhile.
fn refusing(at: &Listen) -> io::Result<Sockets> {
    let (address, socket) = match at {
        Listen::Tcp(address) => {
            let socket = bound(*address, false)?;
            (Listen::Tcp(local(&socket)?), socket)
        }
        Listen::Unix(path) => (at.clone(), bound_unix(path)?),
    };
    Ok(Sockets { address, served: Vec::new(), unserved: vec![socket] })
}

/// The oracle's own connections fill the queue, so that even the first client finds it full.
fn never_accepting(address: SocketAddr) -> io::Result<Sockets> {
    let socket = bound(address, false)?;
    listen(&socket, 1)?;
    let address = local(&socket)?;
    let mut unserved = vec![socket];
    for _ in 0..2 {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let filler = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        connect(&filler, &address)?;
        unserved.push(filler);
    }
    Ok(Sockets { address: Listen::Tcp(address), served: Vec::new(), unserved })
}

fn unix(path: &Path, threads: usize, backlog: i32) -> io::Result<Sockets> {
    let socket = bound_unix(path)?;
    listen(&socket, backlog)?;
    let served: io::Result<Vec<OwnedFd>> = (0..threads).map(|_| socket.try_clone()).collect();
    let address = Listen::Unix(path.to_owned());
    Ok(Sockets { address, served: served?, unserved: Vec::new() })
}

fn bound_unix(path: &Path) -> io::Result<OwnedFd> {
    // A socket file without a server was left behind by a server that was killed.
    let left_behind = UnixStream::connect(path)
        .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if left_behind {
        std::fs::remove_file(path)?;
    }
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Ten thousand connections need more files than the usual soft limit.
pub(crate) fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // A failure shows later, as lost connections.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Pins the calling thread.
pub(crate) fn pin(cpu: usize) -> Result<(), (usize, io::Error)> {
    if cpu >= CpuSet::MAX_CPU {
        return Err((cpu, io::ErrorKind::InvalidInput.into()));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| (cpu, error.into()))
}
