//! Bytes become frames, and frames change what is known of streams and of the connection.
//!
//! A frame's head is judged as soon as it has come, DATA as it comes, and every other frame when it is whole. So it
//! does not matter how the bytes were cut.

use super::account::End;
use super::fault::{ErrorCode, FrameFault, H2Fault};
use super::frames::{self, ACK, END_STREAM, FrameHead, HEAD, Kind, PADDED};
use super::slot::Stage;
use super::stream::Block;
use super::window::Taken;
use super::{H2, H2News};

/// What has come in part.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    /// The beginning of a frame's head, or of its payload if its head is whole.
    partial: Vec<u8>,
    head: Option<FrameHead>,
    data: Option<Data>,
    pub(super) block: Option<Block>,
}

/// A DATA frame under way.
#[derive(Clone, Copy, Debug)]
struct Data {
    stream: u32,
    /// Octets of its payload that have not come, padding included.
    left: usize,
    /// How many of them are padding; unknown before the first octet has come.
    padding: Option<usize>,
    ends: bool,
}

/// A larger buffer is not kept between frames.
const PARTIAL_KEPT: usize = 1 << 10;

impl Incoming {
    /// What has come of a frame's head, or of its payload.
    pub(super) fn partial(&self) -> &[u8] {
        &self.partial
    }
}

#[cfg(test)]
impl Incoming {
    /// The octets that are kept.
    pub(super) fn size(&self) -> usize {
        self.partial.capacity() + self.block.as_ref().map_or(0, Block::size)
    }
}

impl<'a> H2<'a> {
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let before = self.ledger.so_far().counts.answers;
        self.reads = self.reads.wrapping_add(1);
        let result = self.take_all(bytes, news, output);
        let mut counts = self.ledger.count();
        counts.reads_with_answers += u64::from(before < counts.answers);
        drop(counts);
        if let Err(fault) = result {
            (self.is_draining, self.is_broken) = (true, true);
            self.end.get_or_insert_with(|| Box::new(End::broken(fault, bytes)));
            frames::push_goaway(fault.code(), output);
        }
        result
    }

    fn take_all(
        &mut self,
        bytes: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Some(data) = self.incoming.data {
                let at = bytes.len() - rest.len();
                self.take_data(data, &mut rest, at, news, output)?;
                continue;
            }
            if self.incoming.head.is_none()
                && self.incoming.partial.is_empty()
                && let Some((head, after)) = rest.split_first_chunk()
            {
                // The usual case: it came in one piece and is read in place.
                let head = FrameHead::read(head);
                rest = after;
                self.take_head(head, news, output)?;
                if self.incoming.head.is_some()
                    && let Some((payload, after)) = rest.split_at_checked(head.length as usize)
                {
                    rest = after;
                    self.incoming.head = None;
                    self.take_payload(head, payload, news, output)?;
                }
                continue;
            }
            let length = self.incoming.head.map_or(HEAD, |head| head.length as usize);
            let (piece, after) =
                rest.split_at(rest.len().min(length - self.incoming.partial.len()));
            rest = after;
            self.incoming.partial.extend_from_slice(piece);
            if self.incoming.partial.len() == length {
                let mut partial = std::mem::take(&mut self.incoming.partial);
                self.take_whole(&partial, news, output)?;
                partial.clear();
                partial.shrink_to(PARTIAL_KEPT);
                self.incoming.partial = partial;
            }
        }
        Ok(())
    }

    /// Takes a whole head of a frame, or the whole payload of the one whose head came last.
    fn take_whole(
        &mut self,
        piece: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        match (self.incoming.head.take(), piece.first_chunk()) {
            (Some(head), _) => self.take_payload(head, piece, news, output),
            (None, Some(head)) => self.take_head(FrameHead::read(head), news, output),
            (None, None) => Ok(()),
        }
    }

    /// Takes the head of a frame. What has a payload that is taken as a whole is kept until that has come.
    fn take_head(
        &mut self,
        head: FrameHead,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        self.begin(head, news).inspect_err(|&fault| {
            if self.is_ready {
                self.end = Some(Box::new(End::by(fault, head, &[])));
            }
        })?;
        match (head.kind, head.length) {
            (Kind::Data, _) => self.begin_data(head, news, output),
            (_, 0) => self.take_frame(head, &[], news, output),
            _ => {
                self.incoming.head = Some(head);
                Ok(())
            }
        }
    }

    fn take_payload(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let taken = self.take_frame(head, payload, news, output);
        taken.inspect_err(|&fault| self.end = Some(Box::new(End::by(fault, head, payload))))
    }

    /// What a frame's head says before its payload has come.
    fn begin(&mut self, head: FrameHead, news: &mut Vec<H2News>) -> Result<(), H2Fault> {
        // RFC 9113, 3.4: a server begins with its SETTINGS.
        let introduces = head.kind == Kind::Settings && !head.has(ACK) && head.stream == 0;
        if !self.is_ready && !introduces {
            return Err(FrameFault::Preface.into());
        }
        head.check()?;
        // RFC 9113, 6.10: nothing comes between the frames of a block.
        let continues = self.incoming.block.as_ref().map(|block| block.stream);
        if (head.kind == Kind::Continuation || continues.is_some())
            && (head.kind != Kind::Continuation || continues != Some(head.stream))
        {
            return Err(FrameFault::Continuation.into());
        }
        self.ledger.count().frames_received[head.kind as usize] += 1;
        match head.kind {
            Kind::Data | Kind::Headers | Kind::Continuation => self.begin_answer(head, news),
            Kind::Reset if self.is_idle(head.stream) => Err(FrameFault::Idle.into()),
            Kind::WindowUpdate if head.stream != 0 && self.is_idle(head.stream) => {
                Err(FrameFault::Idle.into())
            }
            Kind::Reset
            | Kind::WindowUpdate
            | Kind::Priority
            | Kind::Settings
            | Kind::PushPromise
            | Kind::Ping
            | Kind::Goaway
            | Kind::Unknown => Ok(()),
        }
    }

    /// A frame that is part of an answer begins.
    fn begin_answer(&mut self, head: FrameHead, news: &mut Vec<H2News>) -> Result<(), H2Fault> {
        if self.is_idle(head.stream) {
            return Err(FrameFault::Idle.into());
        }
        let Some(slot) = self.slots.open(head.stream) else {
            // RFC 9113, 5.1: frames may still be on their way when we have ended a stream. Otherwise they are not.
            let may_be_late = 0 < self.resets_sent || self.is_leaving;
            return match self.slots.has_ended(head.stream) || !may_be_late {
                true => Err(FrameFault::Closed.into()),
                false => Ok(()),
            };
        };
        slot.octets += HEAD as u64 + u64::from(head.length);
        if slot.stage == Stage::Requested || slot.stage == Stage::Head && head.kind == Kind::Headers
        {
            slot.stage = Stage::Head;
            news.push(H2News::FirstByte(slot.exchange));
        }
        Ok(())
    }

    /// Whether no request has opened this stream yet. The server opens none.
    fn is_idle(&self, stream: u32) -> bool {
        stream.is_multiple_of(2) || self.next_stream <= stream
    }

    fn begin_data(
        &mut self,
        head: FrameHead,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let (stream, length, ends) = (head.stream, head.length, head.has(END_STREAM));
        if std::mem::replace(&mut self.is_starved, false) {
            news.push(H2News::Fed);
        }
        // RFC 9113, 6.9: all of the payload counts, padding too, whatever becomes of the stream.
        let taken = self.window_in.take(length, self.reads)?;
        // Where this was the end of the only answer under way, the server has nothing to wait with.
        self.give(0, taken, ends && self.under_way <= 1, news, output);
        if let Some(slot) = self.slots.open(stream) {
            let is_early = slot.stage != Stage::Body;
            let taken = slot.window_in.take(length, self.reads);
            match taken {
                _ if is_early => self.fail(stream, FrameFault::EarlyData.into(), news, output),
                Err(fault) => self.fail(stream, fault.into(), news, output),
                // A stream that has ended needs no window.
                Ok(_) if ends => {}
                Ok(taken) => self.give(stream, taken, false, news, output),
            }
        }
        let padding = if head.has(PADDED) { None } else { Some(0) };
        let data = Data { stream, left: length as usize, padding, ends };
        self.go_on(data, news, output);
        Ok(())
    }

    /// Gives the server more window, where it is due.
    fn give(
        &mut self,
        stream: u32,
        taken: Taken,
        is_last: bool,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) {
        if taken.emptied && !is_last && !std::mem::replace(&mut self.is_starved, true) {
            news.push(H2News::Starved);
        }
        if 0 < taken.more {
            frames::push_window_update(stream, taken.more, output);
            self.ledger.count().window_updates_sent += 1;
        }
    }

    /// Takes what has come of a DATA frame.
    fn take_data(
        &mut self,
        mut data: Data,
        rest: &mut &[u8],
        at: usize,
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        let Some(padding) = data.padding else {
            if let Some((&padding, after)) = rest.split_first() {
                *rest = after;
                data.left -= 1;
                data.padding = Some(padding.into());
                if data.left < padding.into() {
                    return Err(FrameFault::Padding.into());
                }
                self.go_on(data, news, output);
            }
            return Ok(());
        };
        let (piece, after) = rest.split_at(rest.len().min(data.left));
        *rest = after;
        let body = data.left.saturating_sub(padding).min(piece.len());
        data.left -= piece.len();
        self.judge(data.stream, &piece[..body], at, news, output);
        self.go_on(data, news, output);
        Ok(())
    }

    /// A DATA frame has come as far as this.
    fn go_on(&mut self, data: Data, news: &mut Vec<H2News>, output: &mut Vec<u8>) {
        self.incoming.data = Some(data).filter(|data| 0 < data.left);
        if data.left == 0 && data.ends {
            self.finish(data.stream, news, output);
        }
    }

    fn take_frame(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        news: &mut Vec<H2News>,
        output: &mut Vec<u8>,
    ) -> Result<(), H2Fault> {
        match head.kind {
            Kind::Headers => self.take_headers(head, payload, news, output),
            Kind::Continuation => self.take_continuation(head, payload, news, output),
            Kind::Reset => {
                self.take_reset(head.stream, ErrorCode::read(frames::code(payload)), news);
                Ok(())
            }
            Kind::Settings if head.has(ACK) => Ok(()),
            Kind::Settings => self.take_settings(payload, news, output),
            Kind::Ping if head.has(ACK) => Ok(()),
            Kind::Ping => self.take_ping(payload, output),
            Kind::Goaway => self.take_goaway(payload, news),
            Kind::WindowUpdate => {
                self.take_window_update(head.stream, frames::number(payload), news, output)
            }
            // RFC 9113, 6.3: deprecated, but its length is still judged; a fault of the stream.
            Kind::Priority if head.length != 5 => {
                self.fail(head.stream, FrameFault::Length.into(), news, output);
                Ok(())
            }
            Kind::Priority | Kind::Unknown => Ok(()),
            Kind::Data | Kind::PushPromise => unreachable!("taken when its head came"),
        }
    }
}
