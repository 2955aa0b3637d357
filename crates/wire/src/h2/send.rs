//! Requests become frames: a head at once, a body as the server's windows allow.

use super::frames::{self, END_HEADERS, END_STREAM, HEAD, Kind, PAYLOAD_MAX};
use super::slot::{Slot, Stage};
use super::window::Window;
use super::{H2, H2News};
use crate::ask::Ask;
use crate::expect::BodyJudge;
use crate::template::Values;
use crate::{ExchangeId, Session};

/// So much of bodies is appended at once; the rest follows when that is written.
const BATCH: usize = 256 << 10;
/// So many requests are sent before the server has said how many it takes: RFC 9113, 6.5.2, recommends to take as many.
const UNASKED_MAX: usize = 100;

impl<'a> H2<'a> {
    /// Appends the request, its body as far as the server's windows allow.
    ///
    /// # Panics
    /// If there is no room, or if `ask` was not made for HTTP/2.
    pub(super) fn start(
        &mut self,
        exchange: ExchangeId,
        ask: &'a Ask,
        values: Values,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) {
        assert!(0 < self.room(), "no stream is free");
        let stream = self.take_stream(news);
        let prepared = ask.http2(values).expect("a request for HTTP/2");
        let unsent = ask.body_len(values);
        let start = output.len();
        output.extend_from_slice(&[0; HEAD]);
        self.encoder.encode(prepared, ask, values, output);
        let ends = if unsent == 0 { END_STREAM } else { 0 };
        finish_head(stream, ends, start, output);

        let place = self.slots.place(stream);
        let slot = self.slots.at(place);
        // Not a slot as a whole: one that was used has most of this already.
        slot.stream = stream;
        slot.number = stream;
        slot.exchange = exchange;
        slot.ask = Some(ask);
        slot.values = values;
        slot.stage = Stage::Requested;
        slot.interims = 0;
        slot.mismatch = None;
        slot.head = None;
        slot.fault = None;
        slot.body = BodyJudge::default();
        slot.octets = 0;
        slot.window_in = Window::new(self.order.windows.stream());
        slot.window_out = self.peer.initial_window_size.into();
        slot.unsent = unsent;
        slot.sent_to = ask.body_at();
        slot.is_stalled = false;
        self.under_way += 1;
        if 0 < unsent {
            self.unsent += 1;
            self.send_body(place, BATCH, news, output);
        }
    }

    /// How many requests may be under way at once.
    pub(super) fn streams_max(&self) -> usize {
        let allowed = self.peer.allows(self.order.streams);
        if self.is_ready { allowed } else { allowed.min(UNASKED_MAX) }
    }

    /// Whether a body could go on if what has been appended is written.
    pub(super) fn bodies_can_go_on(&self) -> bool {
        let flows = |slot: &Slot<'_>| 0 < slot.unsent && 0 < slot.window_out;
        0 < self.unsent && 0 < self.window_out && self.slots.iter().any(flows)
    }

    /// Appends more of the bodies that have not been sent whole, by turns, as far as the server's windows allow.
    pub(super) fn send_bodies(&mut self, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        let (start, places) = (output.len(), self.slots.len());
        let mut in_vain = 0;
        while 0 < self.unsent && in_vain < places && output.len() - start < BATCH {
            let place = self.turn % places;
            self.turn = place + 1;
            let sent = self.send_body(place, PAYLOAD_MAX, news, output);
            in_vain = if sent { 0 } else { in_vain + 1 };
        }
    }

    /// Appends up to `most` of the body in this place. Returns whether it appended any.
    fn send_body(
        &mut self,
        place: usize,
        most: usize,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> bool {
        let slot = self.slots.at(place);
        let (Some(ask), true) = (slot.ask, slot.stream != 0 && 0 < slot.unsent) else {
            return false;
        };
        let mut left = most;
        while 0 < left && 0 < slot.unsent {
            let window = slot.window_out.min(self.window_out).max(0) as u64;
            let length = slot.unsent.min(window).min(left.min(PAYLOAD_MAX) as u64);
            if length == 0 {
                break;
            }
            if std::mem::replace(&mut slot.is_stalled, false) {
                news.push(H2News::Flowing(slot.exchange));
            }
            slot.unsent -= length;
            slot.window_out -= length as i64;
            self.window_out -= length as i64;
            left -= length as usize;
            let ends = if slot.unsent == 0 { END_STREAM } else { 0 };
            frames::push_head(length as usize, Kind::Data, ends, slot.stream, output);
            ask.body().fill_from(&mut slot.sent_to, slot.values, length as usize, output);
        }
        if slot.unsent == 0 {
            self.unsent -= 1;
        } else if slot.window_out.min(self.window_out) <= 0 && !slot.is_stalled {
            slot.is_stalled = true;
            self.ledger.count().stalls += 1;
            news.push(H2News::Stalled(slot.exchange));
        }
        left < most
    }

    /// The number of a new stream, whose place is free.
    fn take_stream(&mut self, news: &mut Vec<H2News>) -> u32 {
        loop {
            let stream = self.next_stream;
            self.next_stream += 2;
            let place = self.slots.place(stream);
            if self.slots.at(place).stream == 0 {
                // RFC 9113, 5.1.1: numbers are not used again. The last ones are left unused: there is always a next.
                if frames::LARGEST - 2 * (self.slots.len() as u32 + 1) < self.next_stream {
                    self.drain(news);
                }
                return stream;
            }
        }
    }
}

/// Writes the head of a HEADERS frame before the block that begins after `start`, and CONTINUATION frames into it if
/// it is too long for one.
fn finish_head(stream: u32, ends: u8, start: usize, output: &mut Vec<u8>) {
    let length = output.len() - start - HEAD;
    let whole = if length <= PAYLOAD_MAX { END_HEADERS } else { 0 };
    let write = |at: usize, length, kind, flags, output: &mut Vec<u8>| {
        output[at..at + HEAD].copy_from_slice(&frames::head(length, kind, flags, stream));
    };
    write(start, length.min(PAYLOAD_MAX), Kind::Headers, ends | whole, output);
    let (mut at, mut left) = (start + HEAD + PAYLOAD_MAX, length.saturating_sub(PAYLOAD_MAX));
    while 0 < left {
        output.splice(at..at, [0; HEAD]);
        let take = left.min(PAYLOAD_MAX);
        let last = if take == left { END_HEADERS } else { 0 };
        write(at, take, Kind::Continuation, last, output);
        (at, left) = (at + HEAD + take, left - take);
    }
}
