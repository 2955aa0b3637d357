//! The least a closed-loop client can do: a canned request, answers counted by their size.
//!
//! One `send` and one `recv` a request, a shared `epoll_wait`. No timing, no parsing, no check.

use crate::args::FloorArgs;
use crate::exchange;
use crate::usage::Spent;
use anyhow::{Result, bail};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const TENTH_OF_A_SECOND: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Loads the server, then prints the count and its own CPU time as JSON.
pub(crate) fn main(args: &FloorArgs) -> Result<()> {
    let mut floor = Floor::open(args)?;
    let seconds = Duration::from_secs(args.load.seconds.into());
    floor.press(Instant::now() + seconds)?;
    let cpu_s = Spent::by_self()?.cpu().as_secs_f64();
    println!("{}", serde_json::json!({ "requests": floor.answered, "cpu_s": cpu_s }));
    Ok(())
}

struct Floor {
    epoll: OwnedFd,
    address: SocketAddr,
    request: Vec<u8>,
    answer_size: usize,
    fresh: bool,
    lines: Vec<Client>,
    answered: u64,
}

/// A connection and the bytes it still has to receive: `owed <= answer_size`.
struct Client {
    stream: TcpStream,
    owed: usize,
}

impl Floor {
    fn open(args: &FloorArgs) -> Result<Floor> {
        let request = exchange::request(args.load.address, args.fresh);
        let mut floor = Floor {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            address: args.load.address,
            answer_size: exchange::answer_size(args.load.address, &request)?,
            request,
            fresh: args.fresh,
            lines: Vec::with_capacity(args.load.connections),
            answered: 0,
        };
        for index in 0..args.load.connections {
            let line = floor.dial(index)?;
            floor.lines.push(line);
        }
        Ok(floor)
    }

    // On loopback a connect that waits costs no more than one that does not: the handshake is over
    // when it returns.
    fn dial(&self, index: usize) -> Result<Client> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nonblocking(true)?;
        let (data, flags) = (EventData::new_u64(index as u64), EventFlags::IN | EventFlags::ET);
        epoll::add(&self.epoll, &stream, data, flags)?;
        Ok(Client { stream, owed: self.answer_size })
    }

    fn press(&mut self, until: Instant) -> Result<()> {
        for line in &mut self.lines {
            line.stream.write_all(&self.request)?;
        }
        let mut events: Vec<Event> = Vec::with_capacity(1024);
        while Instant::now() < until {
            events.clear();
            epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&TENTH_OF_A_SECOND))?;
            for event in &events {
                self.receive(usize::try_from(event.data.u64())?)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, index: usize) -> Result<()> {
        let mut bytes = [0; 16 * 1024];
        let line = &mut self.lines[index];
        match line.stream.read(&mut bytes) {
            Ok(0) => bail!("the server closed a connection in the middle of an answer"),
            Ok(count) => line.owed = line.owed.saturating_sub(count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        if line.owed == 0 {
            self.answered += 1;
            self.ask_again(index)?;
        }
        Ok(())
    }

    fn ask_again(&mut self, index: usize) -> Result<()> {
        if self.fresh {
            self.lines[index] = self.dial(index)?;
        }
        self.lines[index].owed = self.answer_size;
        self.lines[index].stream.write_all(&self.request)?;
        Ok(())
    }
}
