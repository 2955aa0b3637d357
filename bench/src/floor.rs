//! The least a closed-loop client can do: a canned request, answers counted by their size.
//!
//! One `send` and one `recv` a request, a shared `epoll_wait`. No timing, no parsing, no check.

use crate::args::FloorLoad;
use crate::exchange;
use crate::poller::{Loop, Poller, press, received};
use anyhow::Result;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};

/// Loads the server, then prints the count and its own CPU time as JSON.
pub(crate) fn main(load: &FloorLoad, fresh: bool) -> Result<()> {
    press(Floor::open(load, fresh)?, load)
}

struct Floor {
    poller: Poller,
    address: SocketAddr,
    request: Vec<u8>,
    answer_size: usize,
    fresh: bool,
    lines: Vec<Client>,
}

/// A connection and the bytes it still has to receive: `owed <= answer_size`.
struct Client {
    stream: TcpStream,
    owed: usize,
}

impl Floor {
    fn open(load: &FloorLoad, fresh: bool) -> Result<Floor> {
        let request = exchange::request(load.address, fresh);
        let mut floor = Floor {
            poller: Poller::new()?,
            address: load.address,
            answer_size: exchange::answer_size(load.address, &request)?,
            request,
            fresh,
            lines: Vec::with_capacity(load.connections),
        };
        for index in 0..load.connections {
            let stream = floor.poller.dial(floor.address, index)?;
            floor.lines.push(Client { stream, owed: 0 });
            floor.ask(index)?;
        }
        Ok(floor)
    }

    fn ask(&mut self, index: usize) -> Result<()> {
        self.lines[index].owed = self.answer_size;
        Ok(self.lines[index].stream.write_all(&self.request)?)
    }
}

impl Loop for Floor {
    fn poller(&self) -> &Poller {
        &self.poller
    }

    fn receive(&mut self, index: usize) -> Result<u64> {
        let mut bytes = [0; 16 * 1024];
        let line = &mut self.lines[index];
        let Some(count) = received(&mut line.stream, &mut bytes)? else { return Ok(0) };
        line.owed = line.owed.saturating_sub(count);
        if 0 < line.owed {
            return Ok(0);
        }
        if self.fresh {
            line.stream = self.poller.dial(self.address, index)?;
        }
        self.ask(index)?;
        Ok(1)
    }
}
