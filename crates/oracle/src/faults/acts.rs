//! What a bad HTTP/2 server does, and how an answer is written, as data.

use std::time::Duration;

use super::Spoil;
use crate::h2::hpack::Manner;

/// How an answer is written. None of it changes what the answer means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) manner: Manner,
    /// The most content in a frame.
    pub(crate) data_max: usize,
    /// The most octets of a header block in a frame.
    pub(crate) block_max: usize,
    /// How many octets of padding each frame has, if it is padded.
    pub(crate) padding: Option<u8>,
    /// The fields after the content.
    pub(crate) trailers: &'static [(&'static str, &'static str)],
    pub(crate) spoil: Option<Spoil>,
}

/// The usual style.
pub(crate) const USUAL: Style = Style {
    manner: Manner::Indexed,
    data_max: usize::MAX,
    block_max: usize::MAX,
    padding: None,
    trailers: &[],
    spoil: None,
};

/// One act of a script. After the last one the stream is forgotten, and the connection serves as it should.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Sends one frame: its kind and flags, its stream, its payload.
    Frame(u8, u8, On, &'static [u8]),
    /// Sends a frame repeatedly, no faster than the peer reads and without regard for windows.
    Repeat(u8, u8, On, &'static [u8], u64),
    /// Sends octets that are no frame, or the head of one that lies.
    Raw(&'static [u8]),
    /// Sends HEADERS with these fields and these flags.
    Fields(&'static [(&'static str, &'static str)], u8),
    /// Sends the right answer in this style.
    Answer(Style),
    /// Sends this content repeatedly, as the windows allow, and ends the stream.
    Content(&'static [u8], u64),
    /// Sends DATA of one of these octets each second, forever.
    Drip(&'static [u8]),
    Reset(u32),
    /// Says that the connection will end, that this is the last stream that is answered, and why.
    GoAway(On, u32, &'static [u8]),
    /// Announces what the server allows.
    Settings(&'static [(u16, u32)]),
    /// Greets as a right server does.
    Greet,
    /// Never acknowledges SETTINGS.
    Unacknowledging,
    /// Waits until so many requests have come on the connection.
    Await(u64),
    Wait(Duration),
    /// Never answers on this stream.
    Mute,
    /// Never reads or writes again on the connection.
    Silence,
    /// Ends the oracle's direction.
    Fin,
    /// Drops the connection with a reset.
    Rst,
}

/// The stream that a frame names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum On {
    /// The stream of the request; for a script of the connection, the newest.
    This,
    Connection,
    /// A stream that the peer has not opened.
    Idle,
    /// A stream that only the server could open.
    Own,
    /// The greatest number that a stream of the peer's can have.
    Last,
}

/// Forever, in `Act::Repeat` and `Act::Content`.
pub(crate) const FOREVER: u64 = u64::MAX;
