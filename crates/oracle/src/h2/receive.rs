//! What the peer's frames do (RFC 9113, 5 and 6), strictly.

use std::mem;

use super::answer::Asked;
use super::frames::{
    ACK, COMPRESSION_ERROR, CONTINUATION, DATA, ENABLE_PUSH, END_HEADERS, END_STREAM,
    ENHANCE_YOUR_CALM, FLOW_CONTROL_ERROR, FRAME_SIZE_ERROR, Frame, GOAWAY, HEADER_TABLE_SIZE,
    HEADERS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, NO_ERROR, PING, PRIORITISED, PRIORITY,
    PROTOCOL_ERROR, PUSH_PROMISE, REFUSED_STREAM, RST_STREAM, SETTINGS, SIZE, STREAM_CLOSED,
    WINDOW_MAX, WINDOW_UPDATE, Wrong, number, push_frame, push_reset, push_window,
};
use super::hpack::Fields;
use super::request::{Kept, listed, trailers};
use super::stream::Stream;
use super::{Block, CONNECTION_WINDOW, Multiplex};
use crate::body::BODY_MAX;
use crate::request::{Refusal, Status};
use crate::resource::Resource;
use crate::state::ThreadState;

/// A header block beyond this is not waited for.
const BLOCK_MAX: usize = 256 * 1024;
/// So many streams that were reset here are remembered.
const RESET_MAX: usize = 256;

const fn broken(why: &'static str) -> Wrong {
    Wrong::Connection(PROTOCOL_ERROR, why)
}

impl Multiplex {
    pub(super) fn frame(
        &mut self,
        frame: &Frame<'_>,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        let continued = self.block.as_ref().map(|block| block.stream);
        if continued.is_some_and(|stream| (frame.kind, frame.stream) != (CONTINUATION, stream)) {
            return Err(broken("a header block is interrupted by another frame"));
        }
        // RFC 9113, 3.4: the first frame is SETTINGS.
        if !self.has_settings && frame.kind != SETTINGS {
            return Err(broken("the first frame is not SETTINGS"));
        }
        let is_of_a_stream = frame.stream != 0;
        match frame.kind {
            DATA | HEADERS | PRIORITY | RST_STREAM | CONTINUATION if !is_of_a_stream => {
                Err(broken("a frame of a stream names none"))
            }
            SETTINGS | PING | GOAWAY if is_of_a_stream => {
                Err(broken("a frame of the connection names a stream"))
            }
            DATA => self.data(frame, now_ns, state),
            HEADERS => self.headers(frame, now_ns, state),
            CONTINUATION => self.continuation(frame, now_ns, state),
            SETTINGS => self.settings(frame, state),
            WINDOW_UPDATE => self.window_update(frame),
            RST_STREAM => self.reset_by_peer(frame, state),
            PRIORITY if frame.payload.len() == 5 => Ok(()),
            PRIORITY => Err(Wrong::Stream(frame.stream, FRAME_SIZE_ERROR)),
            PING if frame.payload.len() != 8 => Err(SIZE),
            PING if frame.has(ACK) => Ok(()),
            PING => {
                push_frame(&mut state.out, PING, ACK, 0, frame.payload);
                Ok(())
            }
            GOAWAY if frame.payload.len() < 8 => Err(SIZE),
            GOAWAY => {
                self.is_draining = true;
                Ok(())
            }
            PUSH_PROMISE => Err(broken("a client does not push")),
            // RFC 9113, 4.1: what is unknown is ignored.
            _ => Ok(()),
        }
    }

    fn settings(&mut self, frame: &Frame<'_>, state: &mut ThreadState) -> Result<(), Wrong> {
        if frame.has(ACK) {
            return if frame.payload.is_empty() { self.acknowledged() } else { Err(SIZE) };
        }
        if !frame.payload.len().is_multiple_of(6) {
            return Err(SIZE);
        }
        self.has_settings = true;
        for setting in frame.payload.chunks(6) {
            let (name, value) =
                (u16::from_be_bytes([setting[0], setting[1]]), number(&setting[2..]));
            self.setting(name, value)?;
        }
        if self.acknowledges {
            push_frame(&mut state.out, SETTINGS, ACK, 0, b"");
        }
        Ok(())
    }

    fn setting(&mut self, name: u16, value: u32) -> Result<(), Wrong> {
        match name {
            HEADER_TABLE_SIZE => self.encoder.limit(value as usize),
            ENABLE_PUSH if value > 1 => return Err(broken("ENABLE_PUSH is neither 0 nor 1")),
            INITIAL_WINDOW_SIZE if WINDOW_MAX < i64::from(value) => {
                return Err(Wrong::Connection(FLOW_CONTROL_ERROR, "a window above 2^31 - 1"));
            }
            INITIAL_WINDOW_SIZE => {
                let change = i64::from(value) - i64::from(self.peer_window);
                self.peer_window = value;
                for (id, stream) in &mut self.streams {
                    stream.window += change;
                    if WINDOW_MAX < stream.window {
                        let why = "a stream's window above 2^31 - 1";
                        return Err(Wrong::Connection(FLOW_CONTROL_ERROR, why));
                    }
                    if stream.body.left() > 0 && !stream.is_sending {
                        stream.is_sending = true;
                        self.sending.push_back(*id);
                    }
                }
            }
            MAX_FRAME_SIZE if !(16_384..=16_777_215).contains(&value) => {
                return Err(broken("MAX_FRAME_SIZE is below 2^14 or above 2^24 - 1"));
            }
            MAX_FRAME_SIZE => self.peer_frame_max = value as usize,
            _ => {}
        }
        Ok(())
    }

    /// The peer has applied the oldest of our SETTINGS.
    fn acknowledged(&mut self) -> Result<(), Wrong> {
        let Some((limit, window)) = self.unacknowledged.pop_front() else {
            return Ok(());
        };
        self.limit = limit.unwrap_or(self.limit);
        if let Some(window) = window {
            let change = i64::from(window) - i64::from(self.own_window);
            self.own_window = window;
            self.streams.values_mut().for_each(|stream| stream.granted += change);
        }
        Ok(())
    }

    fn window_update(&mut self, frame: &Frame<'_>) -> Result<(), Wrong> {
        if frame.payload.len() != 4 {
            return Err(SIZE);
        }
        let increment = i64::from(number(frame.payload) & 0x7fff_ffff);
        let id = frame.stream;
        match (id, increment) {
            (0, 0) => return Err(broken("a window is raised by nothing")),
            (0, increment) => {
                self.window += increment;
                if WINDOW_MAX < self.window {
                    let why = "the connection's window above 2^31 - 1";
                    return Err(Wrong::Connection(FLOW_CONTROL_ERROR, why));
                }
            }
            _ if self.is_idle(id) => return Err(broken("WINDOW_UPDATE on an idle stream")),
            (_, increment) => {
                let Some(stream) = self.streams.get_mut(&id) else { return Ok(()) };
                stream.window += increment;
                if increment == 0 {
                    return Err(Wrong::Stream(id, PROTOCOL_ERROR));
                }
                if WINDOW_MAX < stream.window {
                    return Err(Wrong::Stream(id, FLOW_CONTROL_ERROR));
                }
                if stream.body.left() > 0 && !stream.is_sending {
                    stream.is_sending = true;
                    self.sending.push_back(id);
                }
            }
        }
        Ok(())
    }

    fn reset_by_peer(&mut self, frame: &Frame<'_>, state: &mut ThreadState) -> Result<(), Wrong> {
        if frame.payload.len() != 4 {
            return Err(SIZE);
        }
        if self.is_idle(frame.stream) {
            return Err(broken("RST_STREAM on an idle stream"));
        }
        self.forget(frame.stream, state);
        Ok(())
    }

    /// RFC 9113, 5.1.1: streams of the server's would be even, and there is none.
    fn is_idle(&self, id: u32) -> bool {
        id.is_multiple_of(2) || self.last_id < id
    }

    fn headers(
        &mut self,
        frame: &Frame<'_>,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        let id = frame.stream;
        if id.is_multiple_of(2) {
            return Err(broken("a client's stream has an odd number"));
        }
        let mut octets = frame.unpadded()?;
        if frame.has(PRIORITISED) {
            octets = octets.get(5..).ok_or(SIZE)?;
        }
        if !self.streams.contains_key(&id) && id <= self.last_id && !self.reset.contains(&id) {
            return Err(Wrong::Connection(STREAM_CLOSED, "HEADERS on a closed stream"));
        }
        let ends_stream = frame.has(END_STREAM);
        if frame.has(END_HEADERS) {
            return self.list(id, ends_stream, octets, now_ns, state);
        }
        self.block = Some(Block { stream: id, ends_stream, octets: octets.to_vec() });
        Ok(())
    }

    fn continuation(
        &mut self,
        frame: &Frame<'_>,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        let Some(mut block) = self.block.take() else {
            return Err(broken("CONTINUATION without a header block to continue"));
        };
        block.octets.extend_from_slice(frame.payload);
        if BLOCK_MAX < block.octets.len() {
            return Err(Wrong::Connection(ENHANCE_YOUR_CALM, "a header block of over 256 KiB"));
        }
        if frame.has(END_HEADERS) {
            return self.list(block.stream, block.ends_stream, &block.octets, now_ns, state);
        }
        self.block = Some(block);
        Ok(())
    }

    /// A whole header block: a request, or the trailers of one.
    fn list(
        &mut self,
        id: u32,
        ends_stream: bool,
        block: &[u8],
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        let mut fields = mem::take(&mut self.fields);
        let decoded = self.decoder.decode(block, &mut fields);
        let done = match decoded {
            Err(wrong) => Err(Wrong::Connection(COMPRESSION_ERROR, wrong.0)),
            Ok(()) if self.streams.contains_key(&id) => {
                let is_right = trailers(&fields).is_ok();
                self.end_request(id, ends_stream, is_right, now_ns, state)
            }
            Ok(()) if id <= self.last_id => Ok(()),
            Ok(()) => self.open(id, ends_stream, &fields, now_ns, state),
        };
        self.fields = fields;
        done
    }

    fn open(
        &mut self,
        id: u32,
        ends_stream: bool,
        fields: &Fields,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        self.last_id = id;
        let ended_ns = ends_stream.then_some(now_ns);
        if self.limit as usize <= self.streams.len() {
            state.log_stream(self.times(id, ended_ns, None));
            return Err(Wrong::Stream(id, REFUSED_STREAM));
        }
        // RFC 9113, 6.8: what lies beyond the last stream that a GOAWAY named is not touched.
        if self.last_accepted < id {
            state.log_stream(self.times(id, ended_ns, None));
            return Ok(());
        }
        self.requests += 1;
        let request = match listed(fields) {
            _ if fields.is_too_long => {
                let why = "the header list is larger than 64 KiB";
                self.refuse(id, Refusal { status: Status::FieldsTooLarge, why }, ended_ns, state);
                return Ok(());
            }
            Ok(request) => request,
            Err(code) => {
                state.count(Resource::Refused);
                state.log_stream(self.times(id, ended_ns, None));
                return Err(Wrong::Stream(id, code));
            }
        };
        if ends_stream {
            if request.length.is_some_and(|length| length > 0) {
                state.count(Resource::Refused);
                state.log_stream(self.times(id, ended_ns, None));
                return Err(Wrong::Stream(id, PROTOCOL_ERROR));
            }
            let asked = Asked::usual(id, i64::from(self.peer_window), now_ns);
            self.request(&asked, &request.head, fields, b"", state);
            return Ok(());
        }
        let kept = Kept { fields: fields.clone(), content: Vec::new() };
        let (window, granted) = (i64::from(self.peer_window), i64::from(self.own_window));
        let stream = Stream {
            is_arriving: true,
            announced: request.length,
            ..Stream::new(kept, window, granted)
        };
        if request.head.expects_continue {
            self.push_interim(id, "100", &mut state.out);
        }
        self.streams.insert(id, stream);
        if request.length.is_some_and(|length| BODY_MAX < length) {
            self.refuse_body(id, None, state);
        }
        Ok(())
    }

    fn data(
        &mut self,
        frame: &Frame<'_>,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        let (id, size) = (frame.stream, frame.payload.len() as u32);
        if self.is_idle(id) {
            return Err(broken("DATA on an idle stream"));
        }
        let content = frame.unpadded()?;
        self.granted -= i64::from(size);
        if self.granted < 0 {
            return Err(Wrong::Connection(
                FLOW_CONTROL_ERROR,
                "DATA beyond the connection's window",
            ));
        }
        self.consumed += size;
        if CONNECTION_WINDOW / 2 <= self.consumed {
            self.granted += i64::from(self.consumed);
            push_window(&mut state.out, 0, mem::take(&mut self.consumed));
        }
        let own_window = self.own_window;
        let Some(stream) = self.streams.get_mut(&id) else {
            return if self.reset.contains(&id) {
                Ok(())
            } else {
                Err(Wrong::Stream(id, STREAM_CLOSED))
            };
        };
        if !stream.is_arriving {
            return Err(Wrong::Stream(id, STREAM_CLOSED));
        }
        stream.granted -= i64::from(size);
        if stream.granted < 0 {
            return Err(Wrong::Stream(id, FLOW_CONTROL_ERROR));
        }
        stream.request.content.extend_from_slice(content);
        if BODY_MAX < stream.request.content.len() as u64 {
            self.refuse_body(id, frame.has(END_STREAM).then_some(now_ns), state);
            return Ok(());
        }
        if frame.has(END_STREAM) {
            return self.end_request(id, true, true, now_ns, state);
        }
        stream.consumed += size;
        if own_window > 0 && own_window / 2 <= stream.consumed {
            stream.granted += i64::from(stream.consumed);
            push_window(&mut state.out, id, mem::take(&mut stream.consumed));
        }
        Ok(())
    }

    /// The request has its end, or something that cannot be one.
    fn end_request(
        &mut self,
        id: u32,
        ends_stream: bool,
        is_right: bool,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Result<(), Wrong> {
        let Some(mut stream) = self.streams.remove(&id) else { return Ok(()) };
        let length = stream.request.content.len() as u64;
        let wrong = if !stream.is_arriving {
            Some(STREAM_CLOSED)
        } else if !ends_stream
            || !is_right
            || stream.announced.is_some_and(|announced| announced != length)
        {
            state.count(Resource::Refused);
            Some(PROTOCOL_ERROR)
        } else {
            None
        };
        if let Some(code) = wrong {
            if stream.is_arriving && ends_stream {
                (stream.is_arriving, stream.ended_ns) = (false, now_ns);
            }
            // It is one of the streams until it is reset.
            self.streams.insert(id, stream);
            return Err(Wrong::Stream(id, code));
        }
        let Kept { fields, content } = &stream.request;
        let asked = Asked::usual(id, stream.window, now_ns);
        self.request(&asked, &stream.request.head(), fields, content, state);
        Ok(())
    }

    fn refuse_body(&mut self, id: u32, ended_ns: Option<u64>, state: &mut ThreadState) {
        let refusal = Refusal { status: Status::TooLong, why: "the body is over 16 MiB" };
        self.refuse(id, refusal, ended_ns, state);
        // RFC 9113, 8.1: the rest of the request is not needed.
        push_reset(&mut state.out, id, NO_ERROR);
        self.streams.remove(&id);
        self.remember_reset(id);
    }

    /// Ends one stream.
    pub(super) fn reset(&mut self, id: u32, code: u32, state: &mut ThreadState) {
        push_reset(&mut state.out, id, code);
        self.forget(id, state);
        self.remember_reset(id);
    }

    fn remember_reset(&mut self, id: u32) {
        if self.reset.len() == RESET_MAX {
            self.reset.pop_front();
        }
        self.reset.push_back(id);
    }

    pub(super) fn forget(&mut self, id: u32, state: &mut ThreadState) {
        if let Some(stream) = self.streams.remove(&id)
            && !stream.has_ended
        {
            state.log_stream(self.times(id, stream.request_ended_ns(), None));
        }
    }
}
