//! A server with one answer, on one thread: it counts, it does not parse.

use anyhow::Result;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n";
const BODY: &str = "Hello, world!";
const TENTH_OF_A_SECOND: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
const LISTENER: u64 = u64::MAX;

/// Answers until it is asked to end, then prints how many requests it saw.
pub(crate) fn main(listen: SocketAddr, work: u64) -> Result<()> {
    let ended = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&ended))?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&ended))?;
    let listener = TcpListener::bind(listen)?;
    println!("listening on http://{}", listener.local_addr()?);
    let mut server = Server::new(listener, work)?;
    while !ended.load(Ordering::Relaxed) {
        server.turn()?;
    }
    println!("{}", serde_json::json!({ "requests": server.requests }));
    Ok(())
}

struct Server {
    listener: TcpListener,
    epoll: OwnedFd,
    peers: HashMap<u64, Peer>,
    next: u64,
    requests: u64,
    /// Steps of arithmetic for each request.
    work: u64,
    /// Both answers state what happens to the connection: ab speaks HTTP/1.0 and would wait for the
    /// close, h2load would not connect again.
    answer_and_keep: Vec<u8>,
    answer_and_close: Vec<u8>,
}

struct Peer {
    stream: TcpStream,
    /// Bytes of the blank line seen at the end of the input: 0 to 3.
    matched: usize,
}

impl Server {
    fn new(listener: TcpListener, work: u64) -> Result<Server> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
        let answer = |connection| format!("{HEAD}Connection: {connection}\r\n\r\n{BODY}").into();
        Ok(Server {
            listener,
            epoll,
            peers: HashMap::new(),
            next: 0,
            requests: 0,
            work,
            answer_and_keep: answer("keep-alive"),
            answer_and_close: answer("close"),
        })
    }

    fn turn(&mut self) -> Result<()> {
        let mut events: Vec<Event> = Vec::with_capacity(256);
        match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&TENTH_OF_A_SECOND)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &events {
            let key = event.data.u64();
            if key == LISTENER {
                self.accept()?;
            } else if !self.answer(key) {
                self.peers.remove(&key);
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> Result<()> {
        loop {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            stream.set_nonblocking(true)?;
            let data = EventData::new_u64(self.next);
            epoll::add(&self.epoll, &stream, data, EventFlags::IN | EventFlags::ET)?;
            self.peers.insert(self.next, Peer { stream, matched: 0 });
            self.next += 1;
        }
    }

    /// False when the connection is over.
    fn answer(&mut self, key: u64) -> bool {
        let Some(peer) = self.peers.get_mut(&key) else {
            return true;
        };
        let mut bytes = [0; 16 * 1024];
        let count = match peer.stream.read(&mut bytes) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        };
        let asked = requests_ended(&bytes[..count], &mut peer.matched);
        self.requests += asked;
        let close = asks_to_close(&bytes[..count]);
        let answer = if close { &self.answer_and_close } else { &self.answer_and_keep };
        (0..asked * self.work).for_each(|step| {
            std::hint::black_box(step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        });
        (0..asked).all(|_| peer.stream.write_all(answer).is_ok()) && !close
    }
}

/// How many blank lines end in `bytes`; `matched` remembers a blank line that was cut in two.
fn requests_ended(bytes: &[u8], matched: &mut usize) -> u64 {
    const BLANK: &[u8; 4] = b"\r\n\r\n";
    let mut ended = 0;
    for byte in bytes {
        *matched = match *byte {
            byte if byte == BLANK[*matched] => *matched + 1,
            b'\r' => 1,
            _ => 0,
        };
        if *matched == BLANK.len() {
            ended += 1;
            *matched = 0;
        }
    }
    ended
}

fn asks_to_close(bytes: &[u8]) -> bool {
    let has =
        |text: &[u8]| bytes.windows(text.len()).any(|window| window.eq_ignore_ascii_case(text));
    // Clients write it in many ways; no other header field that they send ends in these letters.
    has(b"close\r\n") || (has(b"HTTP/1.0\r\n") && !has(b"keep-alive\r\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_however_they_are_cut() {
        let bytes = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        for cut in 0..bytes.len() {
            let mut matched = 0;
            let first = requests_ended(&bytes[..cut], &mut matched);
            assert_eq!(first + requests_ended(&bytes[cut..], &mut matched), 2, "cut at {cut}");
        }
    }

    #[test]
    fn a_request_that_asks_to_close_is_recognised() {
        assert!(asks_to_close(b"GET / HTTP/1.1\r\nconnection: Close\r\n\r\n"));
        assert!(!asks_to_close(b"GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"));
    }
}
