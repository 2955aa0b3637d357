//! The least an HTTP/2 client can do: requests of a few octets that never change but for their stream's number, answers
//! counted by the heads of their frames.
//!
//! One `recv` and one `send` a turn of a connection, a shared `epoll_wait`. No timing, nothing decoded, no check.

use crate::args::FloorLoad;
use crate::exchange::PATH;
use crate::poller::{Loop, Poller, press, received};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::net::TcpStream;

const HEAD: usize = 9;
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// SETTINGS: no push, and windows of 2^31 - 1 for each stream; a WINDOW_UPDATE to as much for the connection.
const WINDOWS: &[u8] = b"\0\0\x0c\x04\0\0\0\0\0\0\x02\0\0\0\0\0\x04\x7f\xff\xff\xff\
    \0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0";
const ACKNOWLEDGED: &[u8] = b"\0\0\0\x04\x01\0\0\0\0";
/// `GET`, `http`, and the two fields that the first request of a connection has put into the dynamic table.
const AGAIN: &[u8] = b"\x82\x86\xbf\xbe";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;

/// Loads the server, then prints the count and its own CPU time as JSON.
pub(crate) fn main(load: &FloorLoad, streams: u32) -> Result<()> {
    press(Floor::open(load, streams)?, load)
}

struct Floor {
    poller: Poller,
    lines: Vec<Line>,
    /// What is to be sent.
    out: Vec<u8>,
    buffer: Vec<u8>,
}

/// A connection.
struct Line {
    stream: TcpStream,
    next_id: u32,
    frames: Frames,
}

/// The frames of a connection, whose content is skipped.
#[derive(Default)]
struct Frames {
    /// The beginning of a frame's head: held < HEAD
    head: [u8; HEAD],
    held: usize,
    /// What is left of a frame's content.
    owed: usize,
}

/// What a piece of frames held.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    answers: u32,
    settings: u32,
}

impl Floor {
    fn open(load: &FloorLoad, streams: u32) -> Result<Floor> {
        let mut floor = Floor {
            poller: Poller::new()?,
            lines: Vec::with_capacity(load.connections),
            out: Vec::new(),
            buffer: vec![0; 64 << 10],
        };
        for index in 0..load.connections {
            let mut stream = floor.poller.dial(load.address, index)?;
            stream.set_nodelay(true)?;
            let mut begins = [PREFACE, WINDOWS].concat();
            push_request(&mut begins, 1, &first(&load.address.to_string())?);
            (1..streams).for_each(|n| push_request(&mut begins, 2 * n + 1, AGAIN));
            stream.write_all(&begins)?;
            let next_id = 2 * streams + 1;
            floor.lines.push(Line { stream, next_id, frames: Frames::default() });
        }
        Ok(floor)
    }
}

impl Loop for Floor {
    fn poller(&self) -> &Poller {
        &self.poller
    }

    /// Reads all that has come, and sends a request for each answer.
    fn receive(&mut self, index: usize) -> Result<u64> {
        let mut answered = 0;
        let line = &mut self.lines[index];
        while let Some(count) = received(&mut line.stream, &mut self.buffer)? {
            let seen = line.frames.take(&self.buffer[..count])?;
            answered += u64::from(seen.answers);
            self.out.clear();
            (0..seen.settings).for_each(|_| self.out.extend_from_slice(ACKNOWLEDGED));
            for _ in 0..seen.answers {
                push_request(&mut self.out, line.next_id, AGAIN);
                line.next_id += 2;
            }
            if !self.out.is_empty() {
                line.stream.write_all(&self.out).context("the server does not read")?;
            }
            // A short read has emptied the socket.
            if count < self.buffer.len() {
                break;
            }
        }
        Ok(answered)
    }
}

impl Frames {
    /// Counts the answers that end here; what would need an answer of another kind is an error.
    fn take(&mut self, mut bytes: &[u8]) -> Result<Seen> {
        let mut seen = Seen::default();
        loop {
            let skipped = self.owed.min(bytes.len());
            self.owed -= skipped;
            bytes = &bytes[skipped..];
            let missing = (HEAD - self.held).min(bytes.len());
            self.head[self.held..self.held + missing].copy_from_slice(&bytes[..missing]);
            self.held += missing;
            bytes = &bytes[missing..];
            if self.held < HEAD {
                return Ok(seen);
            }
            self.held = 0;
            let [high, middle, low, kind, flags, ..] = self.head;
            self.owed = u32::from_be_bytes([0, high, middle, low]) as usize;
            match kind {
                DATA | HEADERS => seen.answers += u32::from(flags & END_STREAM),
                SETTINGS => seen.settings += u32::from(flags & ACK == 0),
                WINDOW_UPDATE => {}
                kind => {
                    bail!("the server sent a frame of kind {kind}, which this client cannot answer")
                }
            }
        }
    }
}

/// The first request's fields: they go into the dynamic table, the path last.
fn first(authority: &str) -> Result<Vec<u8>> {
    let mut block = b"\x82\x86".to_vec();
    for (name, value) in [(0x41, authority), (0x44, PATH)] {
        block.extend([
            name,
            u8::try_from(value.len()).ok().filter(|len| *len < 0x7f).context("long")?,
        ]);
        block.extend_from_slice(value.as_bytes());
    }
    Ok(block)
}

/// HEADERS that end their stream.
fn push_request(out: &mut Vec<u8>, id: u32, block: &[u8]) {
    let length = (block.len() as u32).to_be_bytes();
    out.extend([length[1], length[2], length[3], HEADERS, 5]);
    out.extend_from_slice(&id.to_be_bytes());
    out.extend_from_slice(block);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_however_their_frames_are_cut() {
        let frames = [
            b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64".as_slice(),
            ACKNOWLEDGED,
            b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\x01\0\0\0\x01Hi",
            b"\0\0\x01\x01\x05\0\0\0\x03\x88",
        ]
        .concat();
        for piece in 1..=frames.len() {
            let (mut reader, mut all) = (Frames::default(), Seen::default());
            for bytes in frames.chunks(piece) {
                let seen = reader.take(bytes).expect("all of them are known");
                all.answers += seen.answers;
                all.settings += seen.settings;
            }
            assert_eq!(all, Seen { answers: 2, settings: 1 }, "in pieces of {piece}");
        }
        let goaway = b"\0\0\x08\x07\0\0\0\0\0";
        assert!(Frames::default().take(goaway).is_err());
    }

    #[test]
    fn a_request_is_a_head_and_four_octets() {
        let mut out = Vec::new();
        push_request(&mut out, 7, AGAIN);
        assert_eq!(out, b"\0\0\x04\x01\x05\0\0\0\x07\x82\x86\xbf\xbe");
        assert_eq!(first("h:1").expect("short"), b"\x82\x86\x41\x03h:1\x44\x06/hello");
    }
}
