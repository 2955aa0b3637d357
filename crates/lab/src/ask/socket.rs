//! Asks for a WebSocket, and hears its first texts.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use wire::{Heard, Held, HeldLimits, Limits, Socket, Values};

use super::{Fault, KEPT, connected, said};
use crate::workload::{Question, Stream};

/// Who is asked what, and for how many messages.
pub(super) struct Talk<'a> {
    pub(super) address: SocketAddr,
    pub(super) question: &'a Question,
    pub(super) stream: Stream,
    pub(super) values: Values,
    pub(super) limit: Duration,
}

impl Talk<'_> {
    /// Opens the connection, hears so many messages, and says goodbye. What was sent and heard is left as evidence.
    pub(super) fn hold(&self, request: &mut Vec<u8>, heard: &mut Vec<u8>) -> Result<(), Fault> {
        let until = Instant::now() + self.limit;
        let limits = Limits::default();
        let mut held =
            Held::Socket(Socket::new(&self.question.ask, &limits, HeldLimits::default()));
        held.begin(self.values.random, request);
        let mut socket = connected(self.address, self.limit)
            .map_err(|error| said(format!("no connection: {error}")))?;
        let mut unsent = request.clone();
        let mut beats: Vec<Instant> = Vec::new();
        let mut buffer = [0; 16 << 10];
        loop {
            socket
                .write_all(&unsent)
                .map_err(|error| said(format!("it could not be sent: {error}")))?;
            unsent.clear();
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(said(self.too_late(beats.len())));
            }
            let _ = socket.set_read_timeout(Some(left));
            let count = match socket.read(&mut buffer) {
                Ok(count) => count,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        continue;
                    }
                    _ => return Err(said(format!("the connection broke: {error}"))),
                },
            };
            let mut is_over = count == 0;
            let mut hear = |news: Heard<'_>| match news {
                Heard::Message { .. } => beats.push(Instant::now()),
                Heard::Goodbye(_) => is_over = true,
                Heard::Opened | Heard::Part { .. } | Heard::Ping | Heard::Pong => {}
            };
            let result = match count {
                0 => held.ended(&mut hear),
                _ => held.receive(&buffer[..count], &mut unsent, &mut hear),
            };
            let room = KEPT.saturating_sub(heard.len());
            heard.extend_from_slice(&buffer[..count.min(room)]);
            result.map_err(|fault| said(format!("no WebSocket as it should be: {fault}")))?;
            if self.stream.chunks as usize <= beats.len() {
                held.leave(&mut unsent);
                // It has said what it was asked for: how it takes the goodbye is not the question.
                let _ = socket.write_all(&unsent);
                return self.judge(&beats);
            }
            if is_over {
                return Err(said("the server said goodbye; it should go on for ever"));
            }
        }
    }

    fn judge(&self, beats: &[Instant]) -> Result<(), Fault> {
        super::judge_gaps(beats, self.stream, "texts")
    }

    fn too_late(&self, beats: usize) -> String {
        let (wanted, limit) = (self.stream.chunks, self.limit.as_secs_f64());
        format!("{beats} of {wanted} texts came within {limit} s")
    }
}
