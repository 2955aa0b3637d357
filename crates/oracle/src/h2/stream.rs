//! One stream: its request while it arrives and waits, and its answer while it leaves.

use super::act::Script;
use super::request::Kept;
use crate::beats::Beats;
use crate::faults::acts::{Style, USUAL};

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) request: Kept,
    /// Whether the request is not yet whole.
    pub(crate) is_arriving: bool,
    /// What `content-length` says.
    pub(crate) announced: Option<u64>,
    /// What may still be sent to the peer; below zero after SETTINGS that lower it.
    pub(crate) window: i64,
    /// What the peer may still send.
    pub(crate) granted: i64,
    /// What the peer has sent since its window was last raised.
    pub(crate) consumed: u32,
    /// When END_STREAM of the request came.
    pub(crate) ended_ns: u64,
    /// When it is this stream's turn; 0 if it waits for nothing.
    pub(crate) due_ns: u64,
    pub(crate) body: Body,
    pub(crate) beats: Option<Beats>,
    pub(crate) script: Option<Script>,
    pub(crate) style: Style,
    /// Whether END_STREAM of the answer is written; a script may go on.
    pub(crate) has_ended: bool,
    /// Whether the stream is among those that have something to send.
    pub(crate) is_sending: bool,
}

/// The content that has not left yet.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) source: Source,
    /// How much of it has been written. at <= length
    pub(crate) at: u64,
    /// Whether the answer ends with it.
    pub(crate) is_last: bool,
}

#[derive(Debug)]
pub(crate) enum Source {
    Octets(Vec<u8>),
    /// The octets again and again: so many in all.
    Pattern(&'static [u8], u64),
}

impl Default for Source {
    fn default() -> Source {
        Source::Octets(Vec::new())
    }
}

impl Body {
    pub(crate) fn left(&self) -> u64 {
        match &self.source {
            Source::Octets(octets) => octets.len() as u64 - self.at,
            Source::Pattern(_, length) => length - self.at,
        }
    }

    /// Writes the next octets.
    pub(crate) fn push(&mut self, count: usize, out: &mut Vec<u8>) {
        let at = self.at as usize;
        match &self.source {
            Source::Octets(octets) => out.extend_from_slice(&octets[at..at + count]),
            Source::Pattern(pattern, _) => {
                out.extend(pattern.iter().cycle().skip(at % pattern.len()).take(count));
            }
        }
        self.at += count as u64;
    }

    /// Adds to content whose end is open.
    pub(crate) fn append(&mut self, text: &[u8]) {
        match &mut self.source {
            Source::Octets(octets) if self.at < octets.len() as u64 => {
                octets.extend_from_slice(text);
            }
            _ => {
                *self = Body { source: Source::Octets(text.to_vec()), at: 0, is_last: self.is_last }
            }
        }
    }
}

impl Stream {
    /// Whether there is more to send for the present act of a script.
    pub(crate) fn has_more(&self) -> bool {
        self.body.left() > 0 || self.beats.is_some() || self.body.is_last && !self.has_ended
    }

    /// None while the request is not whole.
    pub(crate) fn request_ended_ns(&self) -> Option<u64> {
        (!self.is_arriving).then_some(self.ended_ns)
    }

    pub(crate) fn new(request: Kept, window: i64, granted: i64) -> Stream {
        Stream {
            request,
            is_arriving: false,
            announced: None,
            window,
            granted,
            consumed: 0,
            ended_ns: 0,
            due_ns: 0,
            body: Body::default(),
            beats: None,
            script: None,
            style: USUAL,
            has_ended: false,
            is_sending: false,
        }
    }
}
