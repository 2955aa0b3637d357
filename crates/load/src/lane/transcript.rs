//! The bytes of answers that take several reads: the beginning of each is kept until the answer is over, so that a
//! failure can be shown with it. An answer that comes whole in one read is never copied.

use wire::{ExchangeId, Session};

use super::pool::Pool;
use super::slot::Exchange;
use crate::Nanos;
use crate::engine::Conn;
use crate::evidence::Evidence;
use crate::failure::Failure;

/// This many bytes are kept of an answer that is under way.
const BEGINNING_MAX: usize = 2 << 10;
/// A lane keeps beginnings on this many of its connections, so 8 MiB of them at most.
const CONNECTIONS_MAX: usize = 4 << 10;

#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// By connection, as far as an answer on it has taken several reads.
    beginnings: Vec<Beginning>,
}

/// The beginning of an answer that is under way. `kept.len() <= came`.
#[derive(Debug, Default)]
struct Beginning {
    kept: Vec<u8>,
    /// The bytes that came, kept or not.
    came: usize,
}

impl Beginning {
    fn keep(&mut self, bytes: &[u8], most: usize) {
        // What follows a part that was not kept is not kept either.
        if self.kept.len() == self.came {
            let room = most.saturating_sub(self.kept.len()).min(bytes.len());
            self.kept.extend_from_slice(&bytes[..room]);
        }
        self.came += bytes.len();
    }

    /// Its buffer is used again for the next answer.
    fn clear(&mut self) {
        self.kept.clear();
        self.came = 0;
    }
}

impl Transcript {
    /// Keeps bytes that came on a connection; `awaited` is the exchange that it now waits for.
    pub(super) fn keep(&mut self, conn: Conn, bytes: &[u8], awaited: Option<&Exchange>) {
        let is_under_way = awaited.is_some_and(Exchange::has_begun_to_be_answered);
        if !is_under_way {
            return self.forget(conn);
        }
        let conn = conn as usize;
        if self.beginnings.len() <= conn && conn < CONNECTIONS_MAX {
            self.beginnings.resize_with(conn + 1, Beginning::default);
        }
        if let Some(beginning) = self.beginnings.get_mut(conn) {
            beginning.keep(bytes, BEGINNING_MAX);
        }
    }

    /// The answer on this connection is over, or will not come any more.
    pub(super) fn forget(&mut self, conn: Conn) {
        if let Some(beginning) = self.beginnings.get_mut(conn as usize) {
            beginning.clear();
        }
    }

    fn take(&mut self, conn: Conn) -> Beginning {
        self.beginnings.get_mut(conn as usize).map(std::mem::take).unwrap_or_default()
    }
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// Keeps bytes that came on a connection whose answers come one after the other.
    pub(super) fn listen(&mut self, conn: Conn, bytes: &[u8]) {
        self.list_under_way(conn);
        let awaited = self.listed.first().and_then(|&id| self.slab.get(id));
        self.transcript.keep(conn, bytes, awaited);
    }

    /// Keeps a failed exchange with its bytes, if it is among the first of its class. `bytes` are the last that came.
    pub(super) fn keep_evidence(
        &mut self,
        conn: Conn,
        id: ExchangeId,
        failure: Failure,
        at: Nanos,
        bytes: &[u8],
    ) {
        let exchange = &self.slab[id];
        if !exchange.is_sent()
            || !self.recorder.is_measured(exchange)
            || !self.recorder.wants_evidence(failure)
        {
            return;
        }
        let ask = self.rules.asks.choose(exchange.values);
        let mut request = Vec::new();
        ask.encode(exchange.values, &mut request);
        request.truncate(Evidence::BYTES_MAX);
        let mut answer = self.transcript.take(conn);
        let began_before = exchange.has_begun_to_be_answered() && exchange.first_byte != at;
        let lacks_beginning = began_before && answer.came == 0;
        answer.keep(bytes, Evidence::BYTES_MAX);
        let is_cut = answer.kept.len() < answer.came;
        let received = answer.kept;
        self.recorder.evidence(Evidence {
            failure,
            at,
            seq: exchange.values.seq,
            request,
            expected: ask.expect.described(exchange.values),
            received,
            lacks_beginning,
            is_cut,
        });
    }
}
