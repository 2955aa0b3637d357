//! What a case sends, step by step, and the rules by which it is judged. Values only: `exchange.rs` plays the steps,
//! `judge.rs` applies the rules.

use std::time::Duration;

use crate::seen::Seen;

/// One thing that the client does. In bytes that are sent, `{H}` is the target's authority, `{get}` the path of its
/// page, `{get?}` the same with what joins a query to it, `{post}` the path that takes bodies, `{ws}` the WebSocket's.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Sends bytes at once.
    Send(&'static [u8]),
    /// Sends bytes as they are, holes and all.
    Raw(&'static [u8]),
    /// Sends them one octet at a time, so far apart.
    Drip(&'static [u8], Duration),
    /// Sends an octet many times.
    Fill(u8, usize),
    /// Sends the same bytes many times; `{n}` in them counts from 0.
    Repeat(&'static [u8], usize),
    /// Sends WebSocket frames with this first octet, of so many octets `x` each, so many times. Their mask is zero.
    Frames(u8, usize, usize),
    /// Waits without reading.
    Pause(Duration),
    /// Reads until one more answer (or, of a WebSocket, one more frame) is there, but no longer than this.
    Hear(Duration),
    /// Reads until the connection ends, but no longer than one may take that was announced.
    HearEnd,
    /// Sends bytes with holes that the first answer fills: `{etag}`, `{weak}` (the same as a weak one), `{modified}`. If it
    /// cannot fill them, the talk is over.
    Quote(&'static [u8]),
    /// Reads until a pong with this payload is there, whatever else comes before it.
    HearPong(&'static [u8]),
    /// Ends our half of the connection.
    HalfClose,
    /// Sends bytes one at a time, and then one octet over and over, until the server answers or hangs up.
    Trickle(&'static Trickle),
    /// Does nothing until the server hangs up, but no longer than this.
    Idle(Duration),
    /// Opens many connections; a step that comes alone.
    Crowd(&'static Crowd),
}

/// A client who sends an octet now and then.
#[derive(Clone, Copy, Debug)]
pub struct Trickle {
    /// What is sent first.
    pub head: &'static [u8],
    /// Which octet comes then, for ever.
    pub filler: u8,
    /// How far apart they are.
    pub every: Duration,
    /// When we give up.
    pub limit: Duration,
}

/// Many clients at once, none of whom reads as it should.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    /// How many they are.
    pub size: usize,
    /// What each of them asks.
    pub ask: &'static [u8],
    /// How often each asks it, without waiting for an answer.
    pub times: usize,
    /// What each does then, once in `every`.
    pub then: Then,
    /// How far apart that is.
    pub every: Duration,
    /// How long it goes on.
    pub lasting: Duration,
    /// How often somebody else asks for a page meanwhile, on a connection of its own; never if zero.
    pub honest_every: Duration,
    /// How long the other waits for each answer.
    pub honest_limit: Duration,
}

/// What a member of a crowd does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Sends this octet.
    Send(u8),
    /// Reads an octet.
    Sip,
    /// Nothing: what comes stays unread.
    Nothing,
}

/// What may be true of what was seen.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The first answer's status is in the two hundreds.
    Ok,
    /// The first answer has this status.
    Status(u16),
    /// The first answer's status has this first digit.
    Class(u16),
    /// The first answer brings back these octets, with success.
    Echo(&'static [u8]),
    /// The connection ended without an answer.
    Silent,
    /// No answer, and the connection is open. Never a pass.
    Waits,
    /// So many answers, all successful, and no more.
    Successes(usize),
    /// Exactly so many answers of any kind.
    Answers(usize),
    /// The server ended the connection.
    Closes,
    /// The server left the connection open.
    StaysOpen,
    /// The server's memory grew by less than so many MiB.
    GrewLess(u64),
    /// How much memory the server has is not known.
    MemoryUnknown,
    /// The server let a slow or idle client go on for so long at most.
    ActsWithin(Duration),
    /// Beside a crowd, 99 of 100 honest requests were answered with success within this time.
    HonestWithin(Duration),
    /// A WebSocket was opened rightly.
    Opened,
    /// A pong with this payload came.
    Pong(&'static [u8]),
    /// A text or binary message with this content came.
    Said(&'static [u8]),
    /// The server failed a WebSocket that it had served: it answered the ping that cases begin with, and then sent a Close
    /// that tells of an error, or ended the connection.
    Fails,
    /// As `Fails`, with this code in a Close frame.
    FailsWith(u16),
    /// A Close frame with this code came.
    ClosesWith(u16),
    /// A Close frame came.
    SaysClose,
    /// All of these.
    All(&'static [Rule]),
    /// Any of these.
    Any(&'static [Rule]),
    /// Not this.
    Not(&'static Rule),
    /// What has no rule of its own, in words and as a question.
    When(&'static str, fn(&Seen) -> bool),
}
