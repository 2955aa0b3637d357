//! What can be wrong with the bytes of a peer: one name for each.

use std::fmt;

/// A peer's bytes broke the protocol, or stopped where they must not. The connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WireFault {
    /// The connection ended before the first byte of an answer.
    Empty,
    /// The connection ended within the head.
    CutHead,
    /// The connection ended within the body.
    CutBody,
    /// Not a status line of HTTP, or a status that does not exist.
    StatusLine,
    /// A version that is neither HTTP/1.1 nor HTTP/1.0.
    Version,
    /// A malformed header line: bare LF, folding, control characters, space before the colon.
    Field,
    /// The head, the trailers or a chunk's line are larger than the limit.
    HeadTooLarge,
    /// More interim (1xx) answers than the limit.
    InterimFlood,
    /// A `101 Switching Protocols` that was not requested.
    Unexpected101,
    /// A content-length that is not a number that fits.
    BadLength,
    /// Two lengths that contradict one another.
    LengthConflict,
    /// A chunk's framing is broken.
    BadChunk,
    /// Bytes after a whole answer that do not begin another answer.
    Surplus,
    /// An answer that was not requested.
    Unsolicited,
    /// The body is larger than the limit.
    BodyTooLarge,
    /// HTTP/2: the server refused the request unread, each time that it was sent.
    Refused,
    /// HTTP/2: the server ended the stream.
    Reset,
    /// HTTP/2: the server ended the connection, with an error.
    Goaway,
    /// HTTP/2: the server ended the stream or the connection because of too many requests (ENHANCE_YOUR_CALM).
    Calm,
    /// The connection does not begin as HTTP/2.
    Preface,
    /// HTTP/2: a frame that is not well formed, or that must not come there.
    Frame,
    /// HTTP/2: a block of fields that cannot be decompressed.
    Hpack,
    /// HTTP/2: the rules of flow control are broken.
    Flow,
    /// HTTP/2: a promise to push, which was forbidden.
    Push,
    /// HTTP/2: content-length and the length of the body differ.
    Length,
    /// HTTP/2: a field that an answer must not have.
    H2Field,
}

impl WireFault {
    /// Every fault, in the order in which reports show them.
    pub const ALL: [WireFault; 26] = [
        WireFault::Empty,
        WireFault::CutHead,
        WireFault::CutBody,
        WireFault::StatusLine,
        WireFault::Version,
        WireFault::Field,
        WireFault::HeadTooLarge,
        WireFault::InterimFlood,
        WireFault::Unexpected101,
        WireFault::BadLength,
        WireFault::LengthConflict,
        WireFault::BadChunk,
        WireFault::Surplus,
        WireFault::Unsolicited,
        WireFault::BodyTooLarge,
        WireFault::Refused,
        WireFault::Reset,
        WireFault::Goaway,
        WireFault::Calm,
        WireFault::Preface,
        WireFault::Frame,
        WireFault::Hpack,
        WireFault::Flow,
        WireFault::Push,
        WireFault::Length,
        WireFault::H2Field,
    ];

    /// The stable name, as it appears in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            WireFault::Empty => "recv.empty",
            WireFault::CutHead => "recv.cut_head",
            WireFault::CutBody => "recv.cut_body",
            WireFault::StatusLine => "proto.status_line",
            WireFault::Version => "proto.version",
            WireFault::Field => "proto.field",
            WireFault::HeadTooLarge => "proto.head_too_large",
            WireFault::InterimFlood => "proto.interim_flood",
            WireFault::Unexpected101 => "proto.unexpected_101",
            WireFault::BadLength => "proto.bad_length",
            WireFault::LengthConflict => "proto.length_conflict",
            WireFault::BadChunk => "proto.bad_chunk",
            WireFault::Surplus => "proto.surplus",
            WireFault::Unsolicited => "proto.unsolicited",
            WireFault::BodyTooLarge => "limit.body",
            WireFault::Refused => "h2.refused",
            WireFault::Reset => "h2.reset",
            WireFault::Goaway => "h2.goaway",
            WireFault::Calm => "h2.calm",
            WireFault::Preface => "h2.preface",
            WireFault::Frame => "h2.frame",
            WireFault::Hpack => "h2.hpack",
            WireFault::Flow => "h2.flow",
            WireFault::Push => "h2.push",
            WireFault::Length => "h2.length",
            WireFault::H2Field => "h2.field",
        }
    }
}

impl fmt::Display for WireFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
