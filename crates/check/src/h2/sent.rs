//! What the client has sent on a connection of HTTP/2, as far as the server's frames are judged by it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::frame::{
    ACK, DATA, END_STREAM, FRAME_MAX, HEADER_TABLE_SIZE, HEADERS, INITIAL_WINDOW_SIZE,
    MAX_FRAME_SIZE, RST_STREAM, SETTINGS, WINDOW, WINDOW_UPDATE, number,
};

/// What the client has said, as far as the server's frames are judged by it.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    /// Whether the preface and SETTINGS were sent as they must be.
    pub(super) is_greeted: bool,
    pub(super) opened: BTreeSet<u32>,
    /// The requests that have their end.
    pub(super) asked: BTreeSet<u32>,
    /// Requests for a head alone: their answers' length is not that of their content.
    pub(super) bare: BTreeSet<u32>,
    /// The largest window that any SETTINGS gave to a stream; none gave any.
    window: Option<i64>,
    /// What WINDOW_UPDATE added to the connection, and to streams.
    raised: BTreeMap<u32, i64>,
    /// The longest frame that any SETTINGS allowed; none said so.
    frame_max: Option<usize>,
    /// What each of our SETTINGS that is not acknowledged says of the table for the server's fields.
    pub(super) tables: VecDeque<Option<usize>>,
}

impl Sent {
    /// A frame of ours has been sent.
    pub(super) fn note(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.opened.insert(stream);
        match kind {
            HEADERS | DATA => {
                if kind == HEADERS && payload.windows(4).any(|name| name == b"HEAD") {
                    self.bare.insert(stream);
                }
                if flags & END_STREAM != 0 {
                    self.asked.insert(stream);
                }
            }
            RST_STREAM => {
                self.asked.remove(&stream);
            }
            SETTINGS if flags & ACK == 0 => {
                let mut table = None;
                for setting in payload.chunks_exact(6) {
                    let value = number(&setting[2..]);
                    match u16::from_be_bytes([setting[0], setting[1]]) {
                        INITIAL_WINDOW_SIZE => {
                            self.window = self.window.max(Some(i64::from(value)));
                        }
                        MAX_FRAME_SIZE => {
                            self.frame_max = self.frame_max.max(Some(value as usize));
                        }
                        HEADER_TABLE_SIZE => table = Some(value as usize),
                        _ => {}
                    }
                }
                self.is_greeted = true;
                self.tables.push_back(table);
            }
            WINDOW_UPDATE => {
                *self.raised.entry(stream).or_default() += i64::from(number(payload));
            }
            _ => {}
        }
    }

    /// How much content may come on a stream in all.
    pub(super) fn window(&self, stream: u32) -> i64 {
        self.window.unwrap_or(WINDOW.into()) + self.raised(stream)
    }

    /// How long a frame may be.
    pub(super) fn frame_max(&self) -> usize {
        self.frame_max.unwrap_or(FRAME_MAX).max(FRAME_MAX)
    }

    /// How much content may come on the connection in all.
    pub(super) fn connection_window(&self) -> i64 {
        i64::from(WINDOW) + self.raised(0)
    }

    fn raised(&self, stream: u32) -> i64 {
        self.raised.get(&stream).copied().unwrap_or_default()
    }
}
