//! Frames as they stand on the wire (RFC 9113, 4 and 6): read from bytes, written into a buffer.

use std::fmt;

use units::named;
use units::rfc9113::PRIORITISED;
pub(super) use units::rfc9113::{
    ACK, END_HEADERS, END_STREAM, FRAME_HEAD as HEAD, FRAME_MAX as PAYLOAD_MAX, LARGEST, PADDED,
    PREFACE, WINDOW as FIRST_WINDOW,
};

use super::fault::{ErrorCode, FrameFault};

named! {
    /// The types of frames, in the order of their numbers.
    #[repr(u8)]
    pub enum Kind {
        Data = "DATA",
        Headers = "HEADERS",
        Priority = "PRIORITY",
        Reset = "RST_STREAM",
        Settings = "SETTINGS",
        PushPromise = "PUSH_PROMISE",
        Ping = "PING",
        Goaway = "GOAWAY",
        WindowUpdate = "WINDOW_UPDATE",
        Continuation = "CONTINUATION",
        /// RFC 9113, 4.1: what has no meaning for us is skipped.
        Unknown = "a frame of unknown type",
    }
}

impl Kind {
    fn read(number: u8) -> Kind {
        Kind::ALL.get(usize::from(number)).copied().unwrap_or(Kind::Unknown)
    }
}

/// The first nine octets of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameHead {
    pub(super) length: u32,
    pub(super) kind: Kind,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl fmt::Display for FrameHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameHead { length, kind, flags, stream } = self;
        write!(f, "{} on stream {stream}, flags {flags:#04x}, {length} octets", kind.name())
    }
}

impl FrameHead {
    pub(super) fn read(bytes: &[u8; HEAD]) -> FrameHead {
        let [a, b, c, kind, flags, stream @ ..] = *bytes;
        FrameHead {
            length: u32::from_be_bytes([0, a, b, c]),
            kind: Kind::read(kind),
            flags,
            stream: u32::from_be_bytes(stream) & LARGEST,
        }
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// What can be known to be wrong before the payload has come. The length of PRIORITY is the stream's matter.
    pub(super) fn check(self) -> Result<(), FrameFault> {
        if PAYLOAD_MAX < self.length as usize {
            return Err(FrameFault::TooLarge);
        }
        let (is_for_stream, fits) = match self.kind {
            Kind::PushPromise => return Err(FrameFault::Push),
            Kind::Unknown => return Ok(()),
            Kind::Data => (true, !self.has(PADDED) || 0 < self.length),
            Kind::Headers | Kind::Priority | Kind::Continuation => (true, true),
            Kind::Reset => (true, self.length == 4),
            Kind::Settings if self.has(ACK) => (false, self.length == 0),
            Kind::Settings => (false, self.length.is_multiple_of(6)),
            Kind::Ping => (false, self.length == 8),
            Kind::Goaway => (false, 8 <= self.length),
            Kind::WindowUpdate => (self.stream != 0, self.length == 4),
        };
        match (is_for_stream, self.stream) {
            (true, 0) => Err(FrameFault::OnConnection),
            (false, 1..) => Err(FrameFault::OnStream),
            _ if !fits => Err(FrameFault::Length),
            _ => Ok(()),
        }
    }
}

/// The block of fields in a HEADERS frame: all but padding and priority.
pub(super) fn block(head: FrameHead, payload: &[u8]) -> Result<&[u8], FrameFault> {
    let (padding, rest) = match head.has(PADDED) {
        true => payload.split_first().map(|(&len, rest)| (len.into(), rest)),
        false => Some((0, payload)),
    }
    .ok_or(FrameFault::Length)?;
    let priority = if head.has(PRIORITISED) { 5 } else { 0 };
    let rest = rest.get(priority..).ok_or(FrameFault::Length)?;
    let end = rest.len().checked_sub(padding).ok_or(FrameFault::Padding)?;
    Ok(&rest[..end])
}

/// The number in a payload's first four octets, without its highest bit.
pub(super) fn number(payload: &[u8]) -> u32 {
    code(payload) & LARGEST
}

/// The whole number there.
pub(super) fn code(payload: &[u8]) -> u32 {
    payload.first_chunk().map_or(0, |four| u32::from_be_bytes(*four))
}

/// A frame's head.
pub(super) fn head(length: usize, kind: Kind, flags: u8, stream: u32) -> [u8; HEAD] {
    let [_, a, b, c] = (length as u32).to_be_bytes();
    let [s, t, u, v] = stream.to_be_bytes();
    [a, b, c, kind as u8, flags, s, t, u, v]
}

pub(super) fn push_head(length: usize, kind: Kind, flags: u8, stream: u32, output: &mut Vec<u8>) {
    output.extend_from_slice(&head(length, kind, flags, stream));
}

pub(super) fn push_settings(settings: &[(u16, u32)], output: &mut Vec<u8>) {
    push_head(6 * settings.len(), Kind::Settings, 0, 0, output);
    for (name, value) in settings {
        output.extend_from_slice(&name.to_be_bytes());
        output.extend_from_slice(&value.to_be_bytes());
    }
}

pub(super) fn push_reset(stream: u32, code: ErrorCode, output: &mut Vec<u8>) {
    push_head(4, Kind::Reset, 0, stream, output);
    output.extend_from_slice(&(code as u32).to_be_bytes());
}

pub(super) fn push_window_update(stream: u32, increment: u32, output: &mut Vec<u8>) {
    push_head(4, Kind::WindowUpdate, 0, stream, output);
    output.extend_from_slice(&increment.to_be_bytes());
}

/// A client is sent no streams: the last that it has taken is 0.
pub(super) fn push_goaway(code: ErrorCode, output: &mut Vec<u8>) {
    push_head(8, Kind::Goaway, 0, 0, output);
    output.extend_from_slice(&0_u32.to_be_bytes());
    output.extend_from_slice(&(code as u32).to_be_bytes());
}
