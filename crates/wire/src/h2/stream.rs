//! The answer on one stream: its head, its body, its trailers, and its end.

use super::fault::{ErrorCode, FrameFault, H2Fault};
use super::frames::{self, END_HEADERS, END_STREAM, FrameHead, PAYLOAD_MAX};
use super::slot::Stage;
use super::{H2, H2News};
use crate::expect::BodyJudge;
use crate::fault::WireFault;
use crate::h1::has_no_body;
use crate::{Mismatch, News};

/// A block of fields that is continued.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    continuations: u8,
}

#[cfg(test)]
impl Block {
    pub(super) fn size(&self) -> usize {
        self.bytes.capacity()
    }
}

/// RFC 9113, 10.5: a block of fields in more frames than these is an attack.
const CONTINUATIONS_MAX: u8 = 64;

/// Parts of a body that begin behind this many octets of it are not reported.
const PART_MAX: u64 = 2 << 10;

impl H2<'_> {
    pub(super) fn take_headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let (stream, ends) = (head.stream, head.has(END_STREAM));
        let bytes = frames::block(head, payload)?;
        if head.has(END_HEADERS) {
            return self.take_block(stream, ends, bytes, news, output);
        }
        let bytes = bytes.to_vec();
        self.incoming.block = Some(Block { stream, ends, bytes, continuations: 0 });
        Ok(())
    }

    pub(super) fn take_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let limit = self.order.limits.head;
        let Some(mut block) = self.incoming.block.take() else { return Ok(()) };
        block.continuations += 1;
        block.bytes.extend_from_slice(payload);
        if CONTINUATIONS_MAX < block.continuations || limit + PAYLOAD_MAX < block.bytes.len() {
            return Err(FrameFault::ContinuationFlood.into());
        }
        if head.has(END_HEADERS) {
            return self.take_block(block.stream, block.ends, &block.bytes, news, output);
        }
        self.incoming.block = Some(block);
        Ok(())
    }

    /// Takes a whole block of fields: a head, interim or final, or trailers.
    fn take_block(
        &mut self,
        stream: u32,
        ends: bool,
        bytes: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let limits = &self.order.limits;
        let Some((slot, ask)) = self.slots.open(stream).and_then(|slot| {
            let ask = slot.ask?;
            Some((slot, ask))
        }) else {
            self.heads.skip(bytes, limits)?;
            return Ok(());
        };
        if ends {
            slot.ended = stream;
        }
        let fault = if slot.stage == Stage::Body {
            match self.heads.read_trailers(bytes, limits)? {
                Ok(()) if ends => None,
                Ok(()) => Some(FrameFault::OpenTrailers.into()),
                Err(fault) => {
                    slot.head = Some(self.heads.shown_after(slot.head.as_deref()));
                    Some(fault)
                }
            }
        } else {
            let (head, shown) = self.heads.read(bytes, ask, slot.values, limits)?;
            slot.head = Some(shown);
            match head {
                Ok(head) if head.status < 200 => {
                    slot.interims += 1;
                    match head.status {
                        101 => Some(WireFault::Unexpected101.into()),
                        _ if ends => Some(FrameFault::InterimEnds.into()),
                        _ if limits.interims < slot.interims => {
                            Some(WireFault::InterimFlood.into())
                        }
                        _ => {
                            news.push(H2News::Interim(slot.exchange));
                            return Ok(());
                        }
                    }
                }
                Ok(head) => {
                    slot.stage = Stage::Body;
                    (slot.status, slot.mismatch) = (head.status, head.mismatch);
                    slot.body = BodyJudge::of(head.delivery);
                    slot.length = head.length;
                    let is_large = head.length.is_some_and(|length| limits.body < length);
                    let is_large = is_large && !has_no_body(head.status, ask.is_head());
                    is_large.then_some(WireFault::BodyTooLarge.into())
                }
                Err(fault) => Some(fault),
            }
        };
        match fault {
            Some(fault) => self.fail(stream, fault, news, output),
            None if ends => self.finish(stream, news, output),
            None => {}
        }
        Ok(())
    }

    /// Compares what has come of a body; `at` says where it stands in the bytes that came.
    pub(super) fn judge(
        &mut self,
        stream: u32,
        body: &[u8],
        at: usize,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) {
        let limit = self.order.limits.body;
        let Some(slot) = self.slots.open(stream).filter(|_| !body.is_empty()) else { return };
        let Some(ask) = slot.ask else { return };
        if self.is_watched || slot.body.received() < PART_MAX {
            let (at, len) = (at as u32, body.len() as u32);
            news.push(H2News::Part { exchange: slot.exchange, at, len });
        }
        let rule = ask.body_rule(slot.mismatch);
        slot.body.take(rule, body, slot.values, self.forms.as_ref());
        let is_empty = has_no_body(slot.status, ask.is_head());
        let length = if is_empty { 0 } else { slot.length.unwrap_or(u64::MAX) };
        if length.min(limit) < slot.body.received() {
            let fault = match limit < length {
                true => WireFault::BodyTooLarge.into(),
                false => FrameFault::ContentLength.into(),
            };
            self.fail(stream, fault, news, output);
        }
    }

    /// The server has ended the answer on this stream.
    pub(super) fn finish(&mut self, stream: u32, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        let Some(slot) = self.slots.open(stream) else { return };
        let Some(ask) = slot.ask else { return };
        slot.ended = stream;
        let is_short = slot.length.is_some_and(|length| slot.body.received() != length);
        if is_short && !has_no_body(slot.status, ask.is_head()) {
            return self.fail(stream, FrameFault::ContentLength.into(), news, output);
        }
        let rule = ask.body_rule(slot.mismatch);
        let body_is_right = slot.body.is_right(rule, slot.values, self.forms.as_ref());
        let mismatch = slot.mismatch.or((!body_is_right).then_some(Mismatch::Body));
        let (exchange, status, octets) = (slot.exchange, slot.status, slot.octets);
        let is_last =
            |part: &H2News| matches!(part, News::Part { exchange: of, .. } if *of == exchange);
        if mismatch.is_none() && !self.is_watched && news.last().is_some_and(is_last) {
            news.pop();
        }
        // RFC 9113, 8.1: an answer may be whole before its request is; the rest is not sent any more.
        if 0 < slot.unsent {
            self.reset_stream(stream, ErrorCode::Cancel, news, output);
        }
        self.vacate(stream);
        self.ledger.count().answers += 1;
        self.demands = 0;
        let reusable = !self.is_draining;
        news.push(H2News::Answered { exchange, status, octets, mismatch, reusable });
    }

    /// Ends one stream because of a fault; the others go on.
    pub(super) fn fail(
        &mut self,
        stream: u32,
        fault: H2Fault,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) {
        let Some(slot) = self.slots.open(stream) else { return };
        let exchange = slot.exchange;
        slot.fault = Some(fault);
        let is_over = slot.ended == stream && slot.unsent == 0;
        if !is_over {
            self.reset_stream(stream, fault.code(), news, output);
        }
        self.vacate(stream);
        news.push(H2News::Failed(exchange, fault));
    }
}
