//! The bytes of answers that took several reads: kept only after one was wrong, and until enough is known.

use std::collections::HashMap;

use wire::{ExchangeId, Session};

use super::pool::Pool;
use super::slot::Exchange;
use crate::Nanos;
use crate::engine::Conn;
use crate::evidence::Evidence;
use crate::failure::Failure;

/// This many bytes of a request and of an answer are kept.
const KEPT_MAX: usize = 4 << 10;
/// At most this many connections are recorded at once.
const LISTENED_MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// What has come of answers that are not whole yet; none if nothing is recorded.
    received: Option<HashMap<Conn, Vec<u8>>>,
}

impl Transcript {
    /// Whether anything is kept.
    pub(super) fn is_kept(&self) -> bool {
        self.received.is_some()
    }

    /// Keeps bytes that came on a connection; `awaited` is the exchange that it now waits for.
    pub(super) fn keep(&mut self, conn: Conn, bytes: &[u8], awaited: Option<&Exchange>) {
        let Some(received) = &mut self.received else { return };
        match awaited.filter(|exchange| exchange.has_begun_to_be_answered()) {
            None => drop(received.remove(&conn)),
            Some(_) if received.len() < LISTENED_MAX || received.contains_key(&conn) => {
                let kept = received.entry(conn).or_default();
                let room = KEPT_MAX.saturating_sub(kept.len()).min(bytes.len());
                kept.extend_from_slice(&bytes[..room]);
            }
            Some(_) => {}
        }
    }

    fn take(&mut self, conn: Conn) -> Option<Vec<u8>> {
        self.received.as_mut()?.remove(&conn)
    }
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// Keeps bytes that came on a connection, if its answers come one after the other.
    pub(super) fn listen(&mut self, conn: Conn, bytes: &[u8]) {
        self.list_under_way(conn);
        let awaited = if S::SHARED { None } else { self.listed.first().copied() };
        let awaited = awaited.and_then(|id| self.slab.get_mut(id));
        self.transcript.keep(conn, bytes, awaited.map(|exchange| &*exchange));
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
        request.truncate(KEPT_MAX);
        let before = self.transcript.take(conn);
        let began_before = exchange.has_begun_to_be_answered() && exchange.first_byte != at;
        let lacks_beginning = began_before && before.is_none();
        let mut received = before.unwrap_or_default();
        let is_cut = KEPT_MAX < received.len() + bytes.len();
        received.extend_from_slice(&bytes[..bytes.len().min(KEPT_MAX - received.len())]);
        if lacks_beginning {
            // The next one is recorded from its beginning.
            self.transcript.received.get_or_insert_default();
        }
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
        if !lacks_beginning && !self.recorder.wants_evidence(failure) {
            self.transcript.received = None;
        }
    }
}
