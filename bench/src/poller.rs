//! What the floors share: connections in one `epoll`, by their index, and the report of a closed loop.

use crate::args::FloorLoad;
use crate::usage::Spent;
use anyhow::Result;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const TENTH_OF_A_SECOND: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Which connections have something to read.
pub(crate) struct Poller(OwnedFd);

impl Poller {
    pub(crate) fn new() -> Result<Poller> {
        Ok(Poller(epoll::create(CreateFlags::CLOEXEC)?))
    }

    /// A connection that is reported by this index.
    // On loopback a connect that waits costs no more than one that does not: the handshake is over
    // when it returns.
    pub(crate) fn dial(&self, address: SocketAddr, index: usize) -> Result<TcpStream> {
        let stream = TcpStream::connect(address)?;
        stream.set_nonblocking(true)?;
        let (data, flags) = (EventData::new_u64(index as u64), EventFlags::IN | EventFlags::ET);
        epoll::add(&self.0, &stream, data, flags)?;
        Ok(stream)
    }

    /// The indices of those with something to read; `events` is kept for the next call.
    pub(crate) fn wait<'a>(
        &self,
        events: &'a mut Vec<Event>,
        timeout: &Timespec,
    ) -> Result<impl Iterator<Item = usize> + use<'a>> {
        events.clear();
        epoll::wait(&self.0, spare_capacity(events), Some(timeout))?;
        Ok(events.iter().map(|event| event.data.u64() as usize))
    }
}

/// A closed loop: what it does with a connection that has something to read.
pub(crate) trait Loop {
    fn poller(&self) -> &Poller;
    /// Returns how many answers it has received.
    fn receive(&mut self, index: usize) -> Result<u64>;
}

/// Loads the server, then prints the count and this process's CPU time as JSON.
pub(crate) fn press(mut closed: impl Loop, load: &FloorLoad) -> Result<()> {
    let until = Instant::now() + Duration::from_secs(load.seconds.into());
    let (mut events, mut answered) = (Vec::with_capacity(1024), 0);
    while Instant::now() < until {
        for index in closed.poller().wait(&mut events, &TENTH_OF_A_SECOND)? {
            answered += closed.receive(index)?;
        }
    }
    let cpu_s = Spent::by_self()?.cpu().as_secs_f64();
    println!("{}", serde_json::json!({ "requests": answered, "cpu_s": cpu_s }));
    Ok(())
}

/// How much has come; none if nothing is there to be read yet.
pub(crate) fn received(stream: &mut TcpStream, bytes: &mut [u8]) -> Result<Option<usize>> {
    match stream.read(bytes) {
        Ok(0) => anyhow::bail!("the server closed a connection"),
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error.into()),
    }
}
