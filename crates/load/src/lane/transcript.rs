//! The bytes of answers that take several reads: the beginning of each is kept until the answer is over, so that a
//! failure can be shown with it. An answer that comes whole in one read is never copied.

use wire::{AnswerParts, ExchangeId, Mismatch, Session, WireFault};

use super::pool::Pool;
use super::slot::Exchange;
use crate::Nanos;
use crate::engine::Conn;
use crate::evidence::{Evidence, other_protocol};
use crate::failure::Failure;

/// This many bytes are kept of an answer that is under way.
const BEGINNING_MAX: usize = 2 << 10;
/// A lane keeps the beginnings of so many answers at once, so 8 MiB of them at most.
const ANSWERS_MAX: usize = 4 << 10;

#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// By the place of an exchange, as far as its answer has taken several reads.
    beginnings: Vec<Beginning>,
}

/// The beginning of an answer that is under way. `kept.len() <= came`.
#[derive(Debug, Default)]
struct Beginning {
    /// Which exchange of this place it answers.
    generation: u32,
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
    fn begin(&mut self, generation: u32) {
        self.generation = generation;
        self.kept.clear();
        self.came = 0;
    }
}

impl Transcript {
    /// Keeps bytes of the answer to an exchange that is under way.
    fn keep(&mut self, id: ExchangeId, bytes: &[u8]) {
        let place = id.place as usize;
        if self.beginnings.len() <= place && place < ANSWERS_MAX {
            self.beginnings.resize_with(place + 1, Beginning::default);
        }
        if let Some(beginning) = self.beginnings.get_mut(place) {
            if beginning.generation != id.generation {
                beginning.begin(id.generation);
            }
            beginning.keep(bytes, BEGINNING_MAX);
        }
    }

    /// The exchange goes out again, and is answered from the beginning.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        drop(self.take(id));
    }

    fn take(&mut self, id: ExchangeId) -> Beginning {
        let beginning = self.beginnings.get_mut(id.place as usize);
        let of_this = beginning.filter(|beginning| beginning.generation == id.generation);
        of_this.map(std::mem::take).unwrap_or_default()
    }
}

impl<'a, S: Session<'a>> Pool<'a, S> {
    /// Keeps what these bytes were of answers that are still under way.
    pub(super) fn listen(&mut self, conn: Conn, bytes: &[u8]) {
        if !S::SHARED {
            self.list_under_way(conn);
            let awaited = self.listed.first().map(|&(id, _)| id);
            let has_received =
                |id: &ExchangeId| self.slab.get(*id).is_some_and(Exchange::has_received);
            if let Some(id) = awaited.filter(has_received) {
                self.transcript.keep(id, bytes);
            }
            return;
        }
        for (id, part) in self.parts.drain(..) {
            if self.slab.get(id).is_some() {
                self.transcript.keep(id, &bytes[part]);
            }
        }
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
        if !self.recorder.is_measured(exchange) || !self.recorder.wants_evidence(failure) {
            return;
        }
        let account = self.slots[conn as usize].session.account(id);
        let was_answered_otherwise = account.as_ref().is_some_and(|it| !it.instead.is_empty());
        if !exchange.is_sent() && !was_answered_otherwise {
            return;
        }
        let ask = self.rules.asks.choose(exchange.values);
        let mut request = Vec::new();
        if exchange.is_sent() {
            ask.show(exchange.values, &mut request);
        }
        request.truncate(Evidence::BYTES_MAX);
        let mut answer = self.transcript.take(id);
        let began_before = exchange.has_received() && exchange.first_byte != at;
        let (mut lacks_beginning, mut received) = (began_before && answer.came == 0, Vec::new());
        match &account {
            None => answer.keep(bytes, Evidence::BYTES_MAX),
            Some(account) => {
                lacks_beginning = answer.came == 0;
                for (_, part) in self.parts.iter().filter(|(of, _)| *of == id) {
                    answer.keep(&bytes[part.clone()], BEGINNING_MAX);
                }
                lacks_beginning &= (answer.came as u64) < account.body;
                received = account.instead.clone();
                received.extend(account.head.iter().flat_map(|head| head.iter()));
                if 0 < account.body {
                    received.push(b'\n');
                }
            }
        }
        let came = account.as_ref().map_or(answer.came as u64, |account| account.body);
        let is_cut = (answer.kept.len() as u64) < came;
        let body_fault = self.recorder.body_fault(exchange);
        let reason = match failure {
            Failure::Wire(WireFault::StatusLine) => other_protocol(&answer.kept).map(String::from),
            Failure::Wire(WireFault::Preface) => other_protocol(&received).map(String::from),
            Failure::Early => {
                let took = (at - exchange.sent) as f64 / 1e6;
                Some(format!("the answer came {took:.3} ms after the request was sent"))
            }
            // The judge of the whole body knows more than is kept of it.
            Failure::Content(Mismatch::Body) if body_fault.is_some() => body_fault,
            Failure::Content(Mismatch::Body) if !lacks_beginning => {
                let kept = &answer.kept;
                let has_head = account.is_none();
                let body = if has_head { &AnswerParts::of(kept).content() } else { kept };
                ask.expect.body_fault(exchange.values, body, is_cut)
            }
            _ => None,
        };
        received.append(&mut answer.kept);
        self.recorder.evidence(Evidence {
            failure,
            at,
            seq: exchange.values.seq,
            request,
            expected: ask.expect.described(exchange.values),
            received,
            lacks_beginning,
            is_cut,
            stream: account.as_ref().and_then(|account| account.stream),
            reason: reason.or_else(|| account.and_then(|account| account.reason)),
        });
    }
}
