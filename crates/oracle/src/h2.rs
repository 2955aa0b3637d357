//! A connection that speaks HTTP/2 (RFC 9113), the server's side: bytes in, bytes out to the thread's buffer. It has no
//! kernel socket. Every stream has its own delay, its own fault and its own window: none waits for another.
//!
//! ```text
//! take() ── receive.rs: frames ──► request.rs ──► answer.rs ──► out, at once
//!                                      └─ delay, fault ─► waiting ──► perform() ─► answer.rs or act.rs ──► out
//!                                                         content that finds no window ─► sending ─► send.rs ──► out
//! ```

mod act;
mod answer;
pub(crate) mod frames;
pub(crate) mod hpack;
mod receive;
mod request;
mod send;
mod stream;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::mem;

use crate::faults::Start;
use crate::play::{End, Turn};
use crate::state::{BUFFER, ThreadState, now_ns};
use crate::truth::StreamTimes;
use act::{Played, Script};
use frames::{
    FRAME_MAX, Frame, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE, NO_ERROR,
    PREFACE, PROTOCOL_ERROR, WINDOW, Wrong, push_goaway, push_settings, push_window,
};
use hpack::{Decoder, Encoder, Fields};
use stream::Stream;

/// What a peer may send on all streams together before it is allowed more.
const CONNECTION_WINDOW: u32 = 1 << 24;
/// The largest list of fields that is read, as SETTINGS says it.
const LIST_MAX: u32 = 64 * 1024;

/// One connection.
#[derive(Debug)]
pub(crate) struct Multiplex {
    /// The beginning of a frame, or of the preface.
    partial: Vec<u8>,
    has_preface: bool,
    /// Whether the peer's first SETTINGS have come, and whether SETTINGS are acknowledged at all.
    has_settings: bool,
    acknowledges: bool,
    /// A header block that is not yet whole.
    block: Option<Block>,
    decoder: Decoder,
    encoder: Encoder,
    fields: Fields,
    streams: BTreeMap<u32, Stream>,
    /// The newest stream of the peer's.
    last_id: u32,
    /// The last stream that is answered.
    last_accepted: u32,
    /// Streams that were reset here: what is still on its way for them is dropped.
    reset: VecDeque<u32>,
    /// What the peer's SETTINGS say of the streams to come, and of frames.
    peer_window: u32,
    peer_frame_max: usize,
    /// What may still be sent on all streams together.
    window: i64,
    /// What the peer may still send on all streams together, and what of it has been used since it was last raised.
    granted: i64,
    consumed: u32,
    /// What our SETTINGS say of a stream's window and of the number of streams, and those not yet acknowledged.
    own_window: u32,
    limit: u32,
    unacknowledged: VecDeque<(Option<u32>, Option<u32>)>,
    /// When streams want their turn. A stream that is gone leaves its entries here.
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    /// Streams with content to send, in turn.
    sending: VecDeque<u32>,
    /// Answers whose END_STREAM is written and has not left.
    leaving: VecDeque<Leaving>,
    /// The bytes written before this turn, and those that have left. left <= written
    written: u64,
    left: u64,
    script: Option<Script>,
    requests: u64,
    /// Whether the peer opens no more streams.
    is_draining: bool,
    has_greeted: bool,
    end: Option<End>,
    peer_port: u16,
}

#[derive(Debug)]
struct Block {
    stream: u32,
    ends_stream: bool,
    octets: Vec<u8>,
}

#[derive(Debug)]
struct Leaving {
    /// How many bytes have been written with it.
    offset: u64,
    stream: u32,
    request_ended_ns: Option<u64>,
    counts: Counts,
    /// Whether it carries END_STREAM.
    is_end: bool,
}

/// What an answer is in the books once it has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    /// An answer, with the time that it took.
    Served,
    /// An answer within a fault.
    Faulty,
    /// It was counted when its head left.
    Nothing,
}

impl Multiplex {
    /// A connection on which both sides have yet to say what they allow.
    pub(crate) fn begin(state: &mut ThreadState, peer_port: u16) -> Multiplex {
        let config = state.config();
        let (limit, rate) = (config.streams, config.fault_rate);
        let fault = config.fault.filter(|fault| fault.start == Start::Preface);
        let script = fault.filter(|_| state.dice.happens(rate)).map(|fault| {
            state.books.faults += 1;
            Script::of(fault.acts())
        });
        Multiplex {
            partial: Vec::new(),
            has_preface: false,
            has_settings: false,
            acknowledges: true,
            block: None,
            decoder: Decoder::new(),
            encoder: Encoder::new(),
            fields: Fields::default(),
            streams: BTreeMap::new(),
            last_id: 0,
            last_accepted: u32::MAX,
            reset: VecDeque::new(),
            peer_window: WINDOW,
            peer_frame_max: FRAME_MAX,
            window: i64::from(WINDOW),
            granted: i64::from(WINDOW),
            consumed: 0,
            own_window: WINDOW,
            limit,
            unacknowledged: VecDeque::new(),
            waiting: BinaryHeap::new(),
            sending: VecDeque::new(),
            leaving: VecDeque::new(),
            written: 0,
            left: 0,
            script,
            requests: 0,
            is_draining: false,
            has_greeted: false,
            end: None,
            peer_port,
        }
    }

    /// RFC 9113, 3.4: SETTINGS come before anything else; or whatever a script has in their place.
    fn begin_to_speak(&mut self, state: &mut ThreadState) {
        if self.has_greeted {
            return;
        }
        self.has_greeted = true;
        if self.script.is_some() {
            self.play_for_connection(state, now_ns());
        } else {
            self.greet(state.config().window, &mut state.out);
        }
    }

    /// SETTINGS, and a window for all streams together.
    fn greet(&mut self, own_window: u32, out: &mut Vec<u8>) {
        let settings = [
            (MAX_CONCURRENT_STREAMS, self.limit),
            (INITIAL_WINDOW_SIZE, own_window),
            (MAX_HEADER_LIST_SIZE, LIST_MAX),
        ];
        self.announce(&settings, out);
        self.granted += i64::from(CONNECTION_WINDOW - WINDOW);
        push_window(out, 0, CONNECTION_WINDOW - WINDOW);
    }

    fn announce(&mut self, settings: &[(u16, u32)], out: &mut Vec<u8>) {
        let value =
            |name: u16| settings.iter().find(|(of, _)| *of == name).map(|(_, value)| *value);
        self.unacknowledged.push_back((value(MAX_CONCURRENT_STREAMS), value(INITIAL_WINDOW_SIZE)));
        push_settings(out, settings);
    }

    /// Takes what the peer has sent, in pieces of any size, and answers what can be answered at once.
    pub(crate) fn take(&mut self, bytes: &[u8], arrived_ns: u64, state: &mut ThreadState) {
        self.begin_to_speak(state);
        let mut kept = mem::take(&mut self.partial);
        let whole = if kept.is_empty() {
            bytes
        } else {
            kept.extend_from_slice(bytes);
            &kept
        };
        let used = self.take_frames(whole, arrived_ns, state);
        if self.end.is_none() {
            self.partial =
                if kept.is_empty() { bytes[used..].to_vec() } else { kept.split_off(used) };
        }
    }

    /// Takes whole frames from the front; returns how much it took.
    fn take_frames(&mut self, bytes: &[u8], arrived_ns: u64, state: &mut ThreadState) -> usize {
        let mut used = 0;
        if !self.has_preface {
            let common = bytes.len().min(PREFACE.len());
            if bytes[..common] != PREFACE[..common] {
                self.fail(PROTOCOL_ERROR, "the preface of HTTP/2 was expected", &mut state.out);
                return 0;
            }
            if bytes.len() < PREFACE.len() {
                return 0;
            }
            self.has_preface = true;
            used = PREFACE.len();
        }
        while self.end.is_none() {
            let taken = match Frame::read(&bytes[used..]) {
                Ok(None) => return used,
                Ok(Some(frame)) => {
                    used += frames::FRAME_HEAD + frame.payload.len();
                    self.frame(&frame, arrived_ns, state)
                }
                Err(wrong) => Err(wrong),
            };
            match taken {
                Ok(()) => {}
                Err(Wrong::Connection(code, why)) => self.fail(code, why, &mut state.out),
                Err(Wrong::Stream(id, code)) => self.reset(id, code, state),
            }
        }
        used
    }

    /// RFC 9113, 5.4.1: the connection ends with a GOAWAY.
    fn fail(&mut self, code: u32, why: &str, out: &mut Vec<u8>) {
        push_goaway(out, self.last_id, code, why.as_bytes());
        self.end = Some(End::Fin);
    }

    /// Does what is due, and sends what finds a window.
    pub(crate) fn perform(&mut self, state: &mut ThreadState, now_ns: u64) -> Turn {
        self.begin_to_speak(state);
        if let Some(end) = self.end {
            return Turn::End(end);
        }
        let scripted = self.play_for_connection(state, now_ns);
        while let Some(Reverse((due_ns, id))) = self.waiting.peek().copied() {
            if now_ns < due_ns || BUFFER <= state.out.len() {
                break;
            }
            self.waiting.pop();
            self.wake(id, due_ns, state, now_ns);
        }
        self.send_contents(state, now_ns);
        if self.is_draining && self.streams.is_empty() {
            self.fail(NO_ERROR, "", &mut state.out);
        }
        match (self.end, scripted) {
            (Some(end), _) => Turn::End(end),
            _ if BUFFER <= state.out.len() => Turn::Yield,
            (None, Some(Played::Again)) => Turn::Yield,
            (None, scripted) => {
                let of_script = match scripted {
                    Some(Played::At(due_ns)) => Some(due_ns),
                    _ => None,
                };
                let of_streams = self.waiting.peek().map(|Reverse((due_ns, _))| *due_ns);
                of_script.into_iter().chain(of_streams).min().map_or(Turn::Rest, Turn::Wait)
            }
        }
    }

    fn play_for_connection(&mut self, state: &mut ThreadState, now_ns: u64) -> Option<Played> {
        let mut script = self.script.take()?;
        let played = self.play(&mut script, None, state, now_ns);
        match played {
            Played::Done => return None,
            Played::End(end) => self.end = Some(end),
            Played::At(_) | Played::Again | Played::Blocked => self.script = Some(script),
        }
        Some(played)
    }

    /// So many bytes of what was written now wait to leave.
    pub(crate) fn wrote(&mut self, count: usize) {
        self.written += count as u64;
    }

    /// So many bytes have left at this instant.
    pub(crate) fn sent(&mut self, count: usize, now_ns: u64, state: &mut ThreadState) {
        self.left += count as u64;
        while self.leaving.front().is_some_and(|answer| answer.offset <= self.left) {
            let Some(answer) = self.leaving.pop_front() else { break };
            state.books.answers += u64::from(answer.counts != Counts::Nothing);
            if let (Counts::Served, Some(ended_ns)) = (answer.counts, answer.request_ended_ns) {
                let served_ns = now_ns.saturating_sub(ended_ns);
                state.books.served_ns.saturating_record(served_ns);
            }
            if answer.is_end {
                let times = self.times(answer.stream, answer.request_ended_ns, Some(now_ns));
                state.log_stream(times);
            }
        }
    }

    fn times(
        &self,
        stream: u32,
        request_ended_ns: Option<u64>,
        answer_ended_ns: Option<u64>,
    ) -> StreamTimes {
        StreamTimes { peer_port: self.peer_port, stream, request_ended_ns, answer_ended_ns }
    }

    /// The connection is gone: what was not answered on it never will be.
    pub(crate) fn leave(&self, state: &mut ThreadState) {
        self.unfinished().for_each(|times| state.log_stream(times));
    }

    /// The streams whose answer has no end yet, or has not left whole.
    pub(crate) fn unfinished(&self) -> impl Iterator<Item = StreamTimes> {
        let open = self.streams.iter().filter(|(_, stream)| !stream.has_ended);
        let open = open.map(|(id, stream)| self.times(*id, stream.request_ended_ns(), None));
        let leaving = self.leaving.iter().filter(|answer| answer.is_end);
        open.chain(leaving.map(|answer| self.times(answer.stream, answer.request_ended_ns, None)))
    }

    /// Whether an answer, or a part of one, is among what is to leave.
    pub(crate) fn has_answers(&self) -> bool {
        !self.leaving.is_empty() || !self.sending.is_empty()
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.end == Some(End::Silence)
    }
}

#[cfg(test)]
mod tests;
