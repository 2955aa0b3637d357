//! What the two sides announce to one another: the client's order, and the server's SETTINGS.

use std::num::NonZeroU16;

use serde::{Deserialize, Serialize};
use units::rfc9113::{
    ENABLE_PUSH, HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE, MAX_CONCURRENT_STREAMS, MAX_FRAME_SIZE,
    MAX_HEADER_LIST_SIZE,
};

use super::fault::FrameFault;
use super::frames::{FIRST_WINDOW, LARGEST, PAYLOAD_MAX};
use super::hpack::DEFAULT_SIZE;
use crate::h1::Limits;

/// RFC 8441, 3 and RFC 9218, 2.1: both are switches.
const ENABLE_CONNECT_PROTOCOL: u16 = 8;
const NO_RFC7540_PRIORITIES: u16 = 9;

/// How HTTP/2 is spoken on the connections of a load.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct H2Order {
    /// Exchanges at once on a connection, if the server allows as many.
    pub streams: NonZeroU16,
    pub windows: Windows,
    /// Whether requests use the table of fields (`indexed`), or only what never changes (`static`).
    pub indexed: bool,
    /// How much of anything the server may send. Chunks do not occur.
    pub limits: Limits,
}

/// How much DATA the server may send before it must wait for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct Windows {
    stream: u32,
    connection: u32,
}

impl TryFrom<(u32, u32)> for Windows {
    type Error = &'static str;

    fn try_from((stream, connection): (u32, u32)) -> Result<Windows, &'static str> {
        Windows::new(stream, connection)
            .ok_or("a stream's window is 1 to 2^31-1, a connection's at least 65,535")
    }
}

impl From<Windows> for (u32, u32) {
    fn from(windows: Windows) -> (u32, u32) {
        (windows.stream, windows.connection)
    }
}

impl Windows {
    /// RFC 9113, 6.9.2: a stream's window is 1 to 2^31-1; a connection's begins with 65,535, and can only grow.
    #[must_use]
    pub fn new(stream: u32, connection: u32) -> Option<Windows> {
        let fits =
            (1..=LARGEST).contains(&stream) && (FIRST_WINDOW..=LARGEST).contains(&connection);
        fits.then_some(Windows { stream, connection })
    }

    #[must_use]
    pub fn stream(self) -> u32 {
        self.stream
    }

    #[must_use]
    pub fn connection(self) -> u32 {
        self.connection
    }
}

impl Default for Windows {
    /// The largest: the server never waits for us.
    fn default() -> Self {
        Windows { stream: LARGEST, connection: LARGEST }
    }
}

impl H2Order {
    /// The SETTINGS that a connection begins with.
    pub(super) fn settings(&self) -> [(u16, u32); 3] {
        [
            (ENABLE_PUSH, 0),
            (INITIAL_WINDOW_SIZE, self.windows.stream),
            (MAX_HEADER_LIST_SIZE, u32::try_from(self.limits.head).unwrap_or(u32::MAX)),
        ]
    }
}

/// The server's SETTINGS; what it does not say has the value of RFC 9113, 6.5.2.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Settings {
    /// SETTINGS_HEADER_TABLE_SIZE
    pub header_table_size: u32,
    /// SETTINGS_MAX_CONCURRENT_STREAMS; null: no limit
    pub max_concurrent_streams: Option<u32>,
    /// SETTINGS_INITIAL_WINDOW_SIZE
    pub initial_window_size: u32,
    /// SETTINGS_MAX_FRAME_SIZE
    pub max_frame_size: u32,
    /// SETTINGS_MAX_HEADER_LIST_SIZE; null: no limit
    pub max_header_list_size: Option<u32>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            header_table_size: DEFAULT_SIZE as u32,
            max_concurrent_streams: None,
            initial_window_size: FIRST_WINDOW,
            max_frame_size: PAYLOAD_MAX as u32,
            max_header_list_size: None,
        }
    }
}

impl Settings {
    /// Takes one setting over, and refuses values that it must not have. Unknown ones are skipped.
    pub(super) fn take(&mut self, name: u16, value: u32) -> Result<(), FrameFault> {
        match name {
            HEADER_TABLE_SIZE => self.header_table_size = value,
            // RFC 9113, 6.5.2: a server must not offer to push.
            ENABLE_PUSH if 0 < value => return Err(FrameFault::Setting),
            MAX_CONCURRENT_STREAMS => self.max_concurrent_streams = Some(value),
            INITIAL_WINDOW_SIZE if LARGEST < value => return Err(FrameFault::SettingWindow),
            INITIAL_WINDOW_SIZE => self.initial_window_size = value,
            MAX_FRAME_SIZE if !(PAYLOAD_MAX as u32..1 << 24).contains(&value) => {
                return Err(FrameFault::Setting);
            }
            MAX_FRAME_SIZE => self.max_frame_size = value,
            MAX_HEADER_LIST_SIZE => self.max_header_list_size = Some(value),
            ENABLE_CONNECT_PROTOCOL | NO_RFC7540_PRIORITIES if 1 < value => {
                return Err(FrameFault::Setting);
            }
            _ => {}
        }
        Ok(())
    }

    /// How many exchanges may be under way at once, of those that are wanted.
    pub(super) fn allows(&self, wanted: NonZeroU16) -> usize {
        let wanted = usize::from(wanted.get());
        self.max_concurrent_streams.map_or(wanted, |limit| wanted.min(limit as usize))
    }
}
