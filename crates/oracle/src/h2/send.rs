//! The content of answers, as far as the windows allow (RFC 9113, 5.2): one frame of each stream in turn.

use super::Counts;
use super::Multiplex;
use super::answer::{Asked, push_padded};
use super::frames::{DATA, END_STREAM, push_head};
use super::stream::Stream;
use crate::beats::After;
use crate::state::{BUFFER, ThreadState};

impl Multiplex {
    /// Writes up to a buffer of what waits for its turn.
    pub(super) fn send_contents(&mut self, state: &mut ThreadState, now_ns: u64) {
        let mut left = self.sending.len();
        while state.out.len() < BUFFER && left > 0 {
            let Some(id) = self.sending.pop_front() else { return };
            let Some(mut stream) = self.streams.remove(&id) else {
                left -= 1;
                continue;
            };
            let before = state.out.len();
            self.send_frame(id, &mut stream, state);
            let has_more = stream.body.left() > 0;
            if has_more && state.out.len() == before {
                // No window: its own, which WINDOW_UPDATE raises, or that of the connection, for which it waits here.
                left -= 1;
                if stream.window > 0 {
                    self.sending.push_back(id);
                } else {
                    stream.is_sending = false;
                }
                self.streams.insert(id, stream);
            } else if has_more {
                self.sending.push_back(id);
                self.streams.insert(id, stream);
            } else {
                left = left.min(self.sending.len());
                self.sent_all(id, stream, state, now_ns);
            }
        }
    }

    /// One frame, if there is a window for it or nothing to be put into it.
    fn send_frame(&mut self, id: u32, stream: &mut Stream, state: &mut ThreadState) {
        let padding = stream.style.padding;
        let cost = padding.map_or(0, |padding| 1 + i64::from(padding));
        let most = self.window.min(stream.window) - cost;
        let frame_max = self.peer_frame_max - cost as usize;
        let left = stream.body.left();
        let length =
            left.min(u64::try_from(most).unwrap_or(0))
                .min(frame_max.min(stream.style.data_max).min(BUFFER) as u64) as usize;
        if length == 0 && left > 0 {
            return;
        }
        let is_end =
            length as u64 == left && stream.body.is_last && stream.style.trailers.is_empty();
        let flags = if is_end { END_STREAM } else { 0 };
        match padding {
            Some(padding) => {
                let mut octets = Vec::with_capacity(length);
                stream.body.push(length, &mut octets);
                push_padded(&mut state.out, DATA, flags, id, &octets, padding);
            }
            None => {
                push_head(&mut state.out, length, DATA, flags, id);
                stream.body.push(length, &mut state.out);
            }
        }
        let used = length as i64 + cost;
        self.window -= used;
        stream.window -= used;
    }

    /// All of a stream's content is written.
    fn sent_all(&mut self, id: u32, mut stream: Stream, state: &mut ThreadState, now_ns: u64) {
        stream.is_sending = false;
        if !stream.body.is_last {
            if let Some(beats) = &mut stream.beats {
                beats.skip(now_ns, &mut state.books.beats_skipped);
            }
            // A beat, or a script, goes on.
            return if stream.due_ns == 0 {
                self.wait(id, stream, now_ns);
            } else {
                drop(self.streams.insert(id, stream));
            };
        }
        if !stream.style.trailers.is_empty() {
            let (fields, style) = (stream.style.trailers, stream.style);
            self.push_fields(id, fields, END_STREAM, &style, &mut state.out);
        }
        let counts = match (&stream.script, &stream.beats) {
            (Some(_), _) => Counts::Faulty,
            (None, Some(_)) => Counts::Nothing,
            (None, None) => Counts::Served,
        };
        let asked = Asked { counts, ..Asked::usual(id, 0, stream.ended_ns) };
        self.leaves(&asked, true, &state.out);
        if stream.script.is_some() {
            stream.has_ended = true;
            self.wait(id, stream, now_ns);
        }
    }

    /// Writes the beats whose time has come.
    pub(super) fn beat(
        &mut self,
        id: u32,
        mut stream: Stream,
        state: &mut ThreadState,
        now_ns: u64,
    ) {
        let Some(beats) = &mut stream.beats else { return };
        if stream.body.left() > 0 {
            // The peer has no window: what becomes due meanwhile is left out.
            self.streams.insert(id, stream);
            return;
        }
        let written = std::mem::take(&mut state.out);
        let after = beats.push_due(state, now_ns);
        let text = std::mem::replace(&mut state.out, written);
        stream.body.append(&text);
        let has_content = !text.is_empty();
        match after {
            After::Next(due_ns) => {
                stream.due_ns = due_ns;
                self.waiting.push(std::cmp::Reverse((due_ns, id)));
            }
            After::Silence => {}
            After::End => stream.body.is_last = true,
        }
        if has_content || stream.body.is_last {
            stream.is_sending = true;
            self.sending.push_back(id);
        }
        self.streams.insert(id, stream);
    }
}
