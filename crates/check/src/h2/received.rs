//! What has arrived on a connection of HTTP/2, read as it comes: frames, answers, errors, and what is wrong with any of
//! them. Whatever a server sends, it is read on as far as that makes sense.

use std::collections::BTreeMap;

use super::breach::{Breach, breach_of_list, breach_of_setting};
use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, FRAME_MAX, Frame, GOAWAY, HEADERS,
    INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE, NO_ERROR, PING, PRIORITY,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW, WINDOW_UPDATE, code_name, number,
};
use super::hpack::{Decoder, Field};
use super::sent::Sent;

/// So many things are kept to be reported.
const EVENTS: usize = 6;
/// So much of an answer's content is kept.
const CONTENT: usize = 64 << 10;
/// So many acknowledgements are owed at once; a server that wants more of them floods, and gets none.
const OWED: usize = 1024;
/// The fields of an answer that are kept, and so much of each: a byte of a block can stand for 4 KiB.
const FIELDS: [&[u8]; 2] = [b"content-length", b"date"];
const VALUE: usize = 64;
/// So many breaches are kept.
const BREACHES: usize = 8;

/// An answer on one stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    /// 0: none has come yet.
    pub status: u16,
    pub interim: Vec<u16>,
    /// Those of [`FIELDS`], the first of each.
    fields: Vec<Field>,
    pub content: Vec<u8>,
    /// How much content there was.
    pub length: u64,
    /// How many heads of final answers came.
    pub answers: usize,
    /// Whether END_STREAM came.
    pub is_whole: bool,
    /// The code of the first RST_STREAM.
    pub reset: Option<u32>,
    /// The codes of all of them.
    pub resets: Vec<u32>,
}

impl Reply {
    /// The code of the first RST_STREAM, if that refuses the request. NO_ERROR after a whole answer does not: it says that
    /// the rest of the request is not needed (RFC 9113, 8.1).
    pub(crate) fn refusal(&self) -> Option<u32> {
        self.reset.filter(|code| *code != NO_ERROR || !self.is_whole)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&[u8]> {
        let found = self.fields.iter().find(|(other, _)| other == name.as_bytes());
        found.map(|(_, value)| &value[..])
    }
}

#[derive(Clone, Debug, Default)]
pub struct Received {
    /// How much of what was received is read.
    read: usize,
    /// Whether it is HTTP/2; none while nothing has come.
    is_http2: Option<bool>,
    decoder: Decoder,
    /// A header block that is not whole: its stream, its flags, its octets.
    block: Option<(u32, u8, Vec<u8>)>,
    replies: BTreeMap<u32, Reply>,
    /// Codes of the GOAWAYs.
    gone: Vec<u32>,
    /// The last stream that a GOAWAY leaves to be answered.
    last: Option<u32>,
    pub(crate) settings: Vec<(u16, u32)>,
    /// Whether the server's SETTINGS have come.
    is_greeted: bool,
    /// How many SETTINGS of ours were acknowledged.
    pub(crate) acknowledged: usize,
    pub(crate) pongs: Vec<Vec<u8>>,
    /// What the server awaits: acknowledgements of its SETTINGS, and PINGs to be answered.
    pub(super) owed: Vec<Option<Vec<u8>>>,
    /// What was sent to the server: streams that were opened, requests that ended, windows.
    pub(super) sent: Sent,
    pub(crate) breaches: Vec<Breach>,
    /// How many frames there were.
    pub(crate) frames: usize,
    /// What WINDOW_UPDATE has added to the client's windows.
    credit: BTreeMap<u32, i64>,
    events: Vec<String>,
    more_events: usize,
}

impl Received {
    /// Reads what has come since.
    pub(super) fn take(&mut self, received: &[u8]) {
        if self.is_http2.is_none() && !received.is_empty() {
            // RFC 9113, 3.4: SETTINGS come first. A server that refuses the preface may begin with GOAWAY.
            let is_first = |octets: &[u8]| {
                matches!(octets[3], SETTINGS | GOAWAY) && number(&octets[5..9]) & 0x7fff_ffff == 0
            };
            if received.len() < 9 {
                return;
            }
            self.is_http2 = Some(received[0] == 0 && is_first(received));
            if received[3] != SETTINGS && self.speaks() && self.sent.is_greeted {
                self.note_breach(Breach::NoSettings);
            }
        }
        while self.is_http2 == Some(true) {
            let Some((frame, taken)) = Frame::read(&received[self.read..]) else { return };
            self.read += taken;
            self.frames += 1;
            self.frame(&frame);
        }
    }

    /// Whether frames have come, and not something else.
    pub(crate) fn speaks(&self) -> bool {
        self.is_http2 == Some(true)
    }

    pub(crate) fn is_greeted(&self) -> bool {
        self.is_greeted
    }

    pub(crate) fn reply(&self, stream: u32) -> Option<&Reply> {
        self.replies.get(&stream)
    }

    /// The codes of all GOAWAYs.
    pub(crate) fn gone(&self) -> impl Iterator<Item = u32> {
        self.gone.iter().copied()
    }

    /// Whether it answered, or said why it did not.
    pub(crate) fn has_spoken(&self) -> bool {
        !self.gone.is_empty() || self.replies.values().any(|it| it.is_whole || it.reset.is_some())
    }

    /// Whether the PING was answered that is sent after all else.
    pub(crate) fn has_answered_probe(&self) -> bool {
        self.pongs.iter().any(|pong| pong == super::talk::PROBE)
    }

    /// How many answers there were on a stream.
    pub(crate) fn answers(&self, stream: u32) -> usize {
        self.reply(stream).map_or(0, |reply| reply.answers)
    }

    /// The last value of a setting of the server's.
    pub(crate) fn setting(&self, name: u16) -> Option<u32> {
        self.settings.iter().rev().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    /// How many streams the server allows at once.
    pub(crate) fn streams_max(&self) -> u32 {
        self.setting(MAX_CONCURRENT_STREAMS).unwrap_or(u32::MAX)
    }

    /// How long a frame may be that is sent to the server.
    pub(crate) fn frame_max(&self) -> usize {
        let frame_max = self.setting(MAX_FRAME_SIZE).map_or(FRAME_MAX, |size| size as usize);
        frame_max.clamp(FRAME_MAX, (1 << 24) - 1)
    }

    /// How much content may be sent on a stream on which so much was sent.
    pub(super) fn room(&self, stream: u32, sent: usize) -> usize {
        let initial = self.setting(INITIAL_WINDOW_SIZE).unwrap_or(WINDOW);
        let raised = |stream: u32| self.credit.get(&stream).copied().unwrap_or_default();
        let room =
            (i64::from(initial) + raised(stream)).min(i64::from(WINDOW) + raised(0)) - sent as i64;
        usize::try_from(room).unwrap_or_default()
    }

    /// Whether any stream was reset with one of these codes, or the connection ended with one of them.
    pub(crate) fn has_refused_any(&self, codes: &[u32]) -> bool {
        let resets = self.replies.values().filter_map(|reply| reply.reset);
        resets.chain(self.gone()).any(|code| codes.contains(&code))
    }

    /// The last stream that a GOAWAY named.
    pub(crate) fn last(&self) -> Option<u32> {
        self.last
    }

    /// Whether a GOAWAY named an error.
    pub(crate) fn has_failed(&self) -> bool {
        self.gone.iter().any(|code| *code != 0)
    }

    /// Whether all that came is answers in good order, of a server that may lack what was asked for.
    pub(crate) fn is_decent(&self) -> bool {
        let is_decent = |reply: &Reply| {
            reply.status / 100 == 2 || matches!(reply.status, 403 | 404 | 405 | 411 | 415 | 501)
        };
        // An answer that waits for its window has no end yet.
        self.breaches.is_empty()
            && self.gone.is_empty()
            && self.replies.values().all(|reply| reply.status > 0)
            && self.replies.values().next().is_none_or(is_decent)
    }

    /// Whether every request that was whole has come to an end.
    pub(crate) fn owes_nothing(&self) -> bool {
        self.sent.asked.iter().all(|stream| {
            let is_beyond = self.last.is_some_and(|last| last < *stream);
            let reply = self.replies.get(stream);
            is_beyond || reply.is_some_and(|reply| reply.is_whole || reply.reset.is_some())
        })
    }

    fn note(&mut self, event: String) {
        if self.events.len() < EVENTS {
            self.events.push(event);
        } else {
            self.more_events += 1;
        }
    }

    fn note_breach(&mut self, breach: Breach) {
        if self.breaches.len() < BREACHES && !self.breaches.contains(&breach) {
            self.breaches.push(breach);
        }
    }

    fn frame(&mut self, frame: &Frame) {
        if self.sent.frame_max() < frame.payload.len() {
            self.note_breach(Breach::FrameTooLong);
        }
        let continued = self.block.as_ref().map(|(stream, ..)| *stream);
        if continued.is_some_and(|stream| (frame.kind, frame.stream) != (CONTINUATION, stream)) {
            self.note_breach(Breach::BlockInterrupted);
            self.block = None;
        }
        let (length, is_connection) = (frame.payload.len(), frame.stream == 0);
        let is_right = match frame.kind {
            DATA | HEADERS | CONTINUATION => !is_connection,
            PRIORITY => !is_connection && length == 5,
            RST_STREAM => !is_connection && length == 4,
            SETTINGS if frame.has(ACK) => is_connection && length == 0,
            SETTINGS => is_connection && length.is_multiple_of(6),
            PING => is_connection && length == 8,
            GOAWAY => is_connection && length >= 8,
            WINDOW_UPDATE => length == 4 && number(&frame.payload) & 0x7fff_ffff > 0,
            _ => true,
        };
        if !is_right {
            return self.note_breach(Breach::FrameForm);
        }
        if matches!(frame.kind, DATA | HEADERS | RST_STREAM | WINDOW_UPDATE)
            && !is_connection
            && !self.sent.opened.contains(&frame.stream)
        {
            return self.note_breach(Breach::IdleStream);
        }
        match frame.kind {
            DATA => self.data(frame),
            HEADERS => match frame.content() {
                Some(block) => self.block(frame.stream, frame.flags, block.to_vec(), frame.flags),
                None => self.note_breach(Breach::FrameForm),
            },
            CONTINUATION => match self.block.take() {
                Some((stream, flags, mut block)) => {
                    block.extend_from_slice(&frame.payload);
                    self.block(stream, flags, block, frame.flags);
                }
                None => self.note_breach(Breach::BlockInterrupted),
            },
            RST_STREAM => {
                let code = number(&frame.payload);
                let reply = self.replies.entry(frame.stream).or_default();
                reply.reset = reply.reset.or(Some(code));
                reply.resets.push(code);
                let (stream, code) = (frame.stream, code_name(code));
                self.note(format!("RST_STREAM on stream {stream}: {code}"));
            }
            SETTINGS if frame.has(ACK) => {
                self.acknowledged += 1;
                if let Some(Some(size)) = self.sent.tables.pop_front() {
                    self.decoder.allow(size);
                }
            }
            SETTINGS => self.take_settings(frame),
            PING if frame.has(ACK) => self.keep_pong(&frame.payload),
            PING => self.owe(Some(frame.payload.clone())),
            GOAWAY => {
                let (last, code) = (number(&frame.payload), number(&frame.payload[4..]));
                self.gone.push(code);
                self.last = Some(self.last.unwrap_or(u32::MAX).min(last));
                let words = String::from_utf8_lossy(&frame.payload[8..]).trim().to_string();
                let words = words.chars().take(80).collect::<String>().escape_debug().to_string();
                let words = if words.is_empty() { words } else { format!(" (`{words}`)") };
                self.note(format!("GOAWAY: {}{words}", code_name(code)));
            }
            PUSH_PROMISE => self.note_breach(Breach::Push),
            WINDOW_UPDATE => {
                let increment = i64::from(number(&frame.payload) & 0x7fff_ffff);
                *self.credit.entry(frame.stream).or_default() += increment;
            }
            _ => {}
        }
    }

    fn keep_pong(&mut self, payload: &[u8]) {
        if self.pongs.len() < EVENTS && !self.pongs.iter().any(|pong| pong == payload) {
            self.pongs.push(payload.to_vec());
        }
    }

    fn take_settings(&mut self, frame: &Frame) {
        for setting in frame.payload.chunks_exact(6) {
            let name = u16::from_be_bytes([setting[0], setting[1]]);
            let value = number(&setting[2..]);
            if let Some(breach) = breach_of_setting(name, value) {
                self.note_breach(breach);
            }
            if self.settings.len() < 64 {
                self.settings.push((name, value));
            }
        }
        self.is_greeted = true;
        self.owe(None);
    }

    fn owe(&mut self, answer: Option<Vec<u8>>) {
        if self.owed.len() < OWED {
            self.owed.push(answer);
        }
    }

    fn data(&mut self, frame: &Frame) {
        let Some(content) = frame.content() else { return self.note_breach(Breach::FrameForm) };
        let window = self.sent.window(frame.stream);
        let reply = self.replies.entry(frame.stream).or_default();
        let is_after_end = reply.is_whole || reply.reset.is_some();
        let is_before_head = reply.status == 0;
        reply.length += content.len() as u64;
        let room = CONTENT.saturating_sub(reply.content.len()).min(content.len());
        reply.content.extend_from_slice(&content[..room]);
        let is_beyond = window < reply.length as i64;
        if is_after_end {
            self.note_breach(Breach::AfterEnd);
        } else if is_before_head {
            self.note_breach(Breach::NoHead);
        }
        let all: u64 = self.replies.values().map(|reply| reply.length).sum();
        if is_beyond || self.sent.connection_window() < all as i64 {
            self.note_breach(Breach::Window);
        }
        if frame.has(END_STREAM) {
            self.end_reply(frame.stream);
        }
    }

    fn block(&mut self, stream: u32, flags: u8, block: Vec<u8>, latest: u8) {
        if latest & END_HEADERS == 0 {
            self.block = Some((stream, flags, block));
            return;
        }
        let list = match self.decoder.decode(&block) {
            Ok(list) => list,
            Err(why) => return self.note_breach(Breach::Undecodable(why)),
        };
        let reply = self.replies.entry(stream).or_default();
        let (is_over, is_trailer) = (reply.is_whole || reply.reset.is_some(), reply.status > 0);
        let ends = flags & END_STREAM != 0;
        let breach = breach_of_list(&list, is_trailer);
        let status = list.iter().find(|(name, _)| name == b":status").map(|(_, value)| value);
        let status = status.and_then(|value| std::str::from_utf8(value).ok()?.parse::<u16>().ok());
        reply.answers += usize::from(status.is_some_and(|status| status >= 200));
        match status.filter(|_| !is_trailer) {
            Some(status @ 100..200) => reply.interim.push(status),
            Some(status) => (reply.status, reply.fields) = (status, kept(&list)),
            None => {}
        }
        let is_interim = matches!(status, Some(100..200)) && !is_trailer;
        if is_over {
            self.note_breach(Breach::AfterEnd);
        } else if is_trailer && !ends || is_interim && ends {
            self.note_breach(Breach::HeadersMisplaced);
        }
        if let Some(breach) = breach {
            self.note_breach(breach);
        }
        if let (true, Some(status)) = (is_interim, status) {
            self.note(format!("{status} on stream {stream}"));
        }
        if ends {
            self.end_reply(stream);
        }
    }

    fn end_reply(&mut self, stream: u32) {
        let Some(reply) = self.replies.get_mut(&stream) else { return };
        if reply.is_whole {
            return;
        }
        reply.is_whole = true;
        let (status, length) = (reply.status, reply.length);
        let announced = reply.field("content-length").map(<[u8]>::to_vec);
        let announced = announced.and_then(|value| String::from_utf8(value).ok()?.parse().ok());
        let has_none = matches!(status, 204 | 304) || self.sent.bare.contains(&stream);
        if announced.is_some_and(|announced: u64| announced != length) && !has_none {
            self.note_breach(Breach::Length);
        }
        let content = match length {
            0 => String::new(),
            length => format!(" with {length} octets"),
        };
        self.note(format!("{status} on stream {stream}{content}"));
    }

    /// What the server did, in words.
    pub(crate) fn says(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if self.is_http2 == Some(false) {
            parts.push("something that is not HTTP/2".to_string());
        }
        parts.extend(self.events.iter().cloned());
        if self.more_events > 0 {
            parts.push(format!("{} more events", self.more_events));
        }
        let half = |reply: &Reply| !reply.is_whole && reply.reset.is_none() && reply.status > 0;
        for (stream, reply) in self.replies.iter().filter(|(_, reply)| half(reply)).take(3) {
            let (status, length) = (reply.status, reply.length);
            parts.push(format!("{status} on stream {stream}, without its end ({length} octets)"));
        }
        if parts.is_empty() {
            let has_pong = self.pongs.iter().any(|pong| pong == super::talk::PROBE);
            parts.push(match (has_pong, self.speaks()) {
                (true, _) => "nothing but the answer to a PING that followed".into(),
                (false, true) => "no answer".into(),
                (false, false) => "nothing".into(),
            });
        }
        parts.extend(self.breaches.iter().map(|breach| format!("[{breach}]")));
        parts
    }
}

fn kept(list: &[Field]) -> Vec<Field> {
    let first = |name: &&[u8]| list.iter().find(|(other, _)| other == name);
    let cut = |(name, value): &Field| (name.clone(), value[..value.len().min(VALUE)].to_vec());
    FIELDS.iter().filter_map(first).map(cut).collect()
}
