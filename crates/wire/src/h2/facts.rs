//! What a connection can say of itself for a report.

use super::fault::ErrorCode;
use super::frames::Kind;
use super::heads::HeadCounts;
use super::settings::Settings;

/// A connection's facts, from its beginning until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// What the server announced, once it has.
    pub settings: Option<Settings>,
    pub counts: Counts,
    pub heads: HeadCounts,
}

/// What was counted on a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames that came, by their type.
    pub frames_received: [u64; Kind::COUNT],
    /// Calls of `receive` in which an answer became whole, and answers that did: how many the server sent at once.
    pub reads_with_answers: u64,
    pub answers: u64,
    pub goaways: u32,
    /// Streams that the server ended, by the code that it gave.
    pub resets_received: [u32; ErrorCode::COUNT],
    /// Streams that we ended, because they were given up or broken.
    pub resets_sent: u32,
    /// Requests that the server did not touch.
    pub refused: u32,
    /// Acknowledgements of SETTINGS and PING that we sent.
    pub acknowledgements: u32,
    /// How often we gave the server more window, for a stream and for the connection.
    pub window_updates_sent: u64,
    /// How often, at least, the server used up a window of ours, so that it had to wait.
    pub own_windows_empty: u64,
    /// How often a body had to wait for a window of the server's.
    pub stalls: u64,
}
