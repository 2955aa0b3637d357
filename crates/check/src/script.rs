//! What a case sends, step by step, and the rules by which it is judged. Values only: `exchange.rs` plays the steps,
//! `judge.rs` applies the rules.

use std::time::Duration;

use crate::h2::{Act, Hello, Sign};
use crate::observation::Observation;

/// One step of the client. In bytes that are sent, `{H}` is the target's authority, `{get}` the path of its page,
/// `{get?}` the same with what joins a query to it, `{post}` the path that takes bodies, `{ws}` the WebSocket's.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Sends bytes at once.
    Send(&'static [u8]),
    /// Sends bytes as they are, without filling placeholders.
    Raw(&'static [u8]),
    /// Sends them one octet at a time, this far apart.
    Drip(&'static [u8], Duration),
    /// Sends an octet many times.
    Fill(u8, usize),
    /// Sends the same bytes many times; `{n}` in them counts from 0.
    Repeat(&'static [u8], usize),
    /// Sends WebSocket frames: this first octet, this many octets `x` each, this many frames. Their mask is zero.
    Frames(u8, usize, usize),
    /// Reads until one more answer (or, on a WebSocket, one more frame) has arrived, but no longer than this.
    Receive(Duration),
    /// Reads until the connection ends, but no longer than an announced end may take.
    ReceiveToEnd,
    /// Sends bytes with placeholders that the first answer fills: `{etag}`, `{weak}` (the same as a weak one), `{modified}`.
    /// If it cannot fill them, the exchange is over.
    Quote(&'static [u8]),
    /// Reads until a pong with this payload has arrived, whatever else arrives before it.
    ReceivePong(&'static [u8]),
    /// Ends our half of the connection.
    HalfClose,
    /// Sends bytes one at a time, and then one octet over and over, until the server answers or closes.
    Trickle(&'static Trickle),
    /// Does nothing until the server closes, but no longer than this.
    Idle(Duration),
    /// Opens many connections; the only step of its case.
    Crowd(&'static Crowd),
    /// Speaks HTTP/2; the only step of its case.
    Http2(&'static [Act]),
    /// Begins TLS, and no more; the only step of its case.
    Tls(&'static Hello),
}

/// A client that sends an octet now and then.
#[derive(Clone, Copy, Debug)]
pub struct Trickle {
    /// What is sent first.
    pub head: &'static [u8],
    /// The octet that is then sent for ever.
    pub filler: u8,
    /// How far apart they are.
    pub every: Duration,
    /// When the client gives up.
    pub limit: Duration,
}

/// Many clients at once, none of which reads as it should.
#[derive(Clone, Copy, Debug)]
pub struct Crowd {
    pub size: usize,
    pub ask: &'static [u8],
    /// How often each requests it, without waiting for an answer.
    pub times: usize,
    /// What each of them does then, once in `every`.
    pub then: Then,
    /// How far apart that is.
    pub every: Duration,
    /// How long it lasts.
    pub lasting: Duration,
    /// How often another client requests a page meanwhile, on a connection of its own; never if zero.
    pub honest_every: Duration,
    /// How long that client waits for each answer.
    pub honest_limit: Duration,
}

/// What a member of a crowd does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    Send(u8),
    /// Reads an octet.
    Sip,
    /// Nothing: what arrives stays unread.
    Nothing,
}

/// What can be true of what was seen.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// The first answer's status is 2xx.
    Ok,
    /// The first answer has this status.
    Status(u16),
    /// The first answer's status has this first digit.
    Class(u16),
    /// The first answer contains these octets, and is a success.
    Echo(&'static [u8]),
    /// The connection ended without an answer.
    Silent,
    /// No answer, and the connection is open. Never a pass.
    Waits,
    /// This many answers, all successful, and no more.
    Successes(usize),
    /// Exactly this many answers of any kind.
    Answers(usize),
    /// The server ended the connection.
    Closes,
    /// The server's memory grew by less than this many MiB.
    GrewLess(u64),
    /// The server's memory is not known.
    MemoryUnknown,
    /// The server let a slow or idle client continue for at most this long.
    ActsWithin(Duration),
    /// Beside a crowd, 99 of 100 honest requests were answered with success within this time.
    HonestWithin(Duration),
    /// A WebSocket was opened correctly.
    Opened,
    /// A pong with this payload arrived.
    Pong(&'static [u8]),
    /// A text or binary message with this content arrived.
    Said(&'static [u8]),
    /// The server failed a WebSocket that it had served: it answered the ping that cases begin with, and then sent a
    /// Close with an error code, or ended the connection.
    Fails,
    /// As `Fails`, with this code in a Close frame.
    FailsWith(u16),
    /// A Close frame with this code arrived.
    ClosesWith(u16),
    /// A Close frame arrived.
    SaysClose,
    /// What HTTP/2 has to show.
    Http2(Sign),
    /// All of these.
    All(&'static [Rule]),
    /// Any of these.
    Any(&'static [Rule]),
    /// Not this.
    Not(&'static Rule),
    /// A condition without a rule of its own, as words and as a function.
    When(&'static str, fn(&Observation) -> bool),
}

impl Rule {
    /// What would be accepted, in words.
    pub fn says(&self) -> String {
        match self {
            Rule::Ok => "2xx".into(),
            Rule::Status(status) => status.to_string(),
            Rule::Class(class) => format!("{class}xx"),
            Rule::Echo(b"") => "2xx with an empty body".into(),
            Rule::Echo(content) => format!("2xx with the body `{}`", content.escape_ascii()),
            Rule::Silent => "closed without an answer".into(),
            Rule::Waits => "no answer, still open".into(),
            Rule::Successes(count) => format!("{count} × 2xx"),
            Rule::Answers(1) => "exactly one answer".into(),
            Rule::Answers(count) => format!("exactly {count} answers"),
            Rule::Closes => "the connection closed".into(),
            Rule::GrewLess(mib) => format!("memory grown by less than {mib} MiB"),
            Rule::MemoryUnknown => "memory that cannot be watched".into(),
            Rule::ActsWithin(limit) => format!("within {:.0} s", limit.as_secs_f64()),
            Rule::HonestWithin(limit) => {
                format!("others answered within {:.1} s (99 of 100)", limit.as_secs_f64())
            }
            Rule::Opened => "101 with the right Sec-WebSocket-Accept".into(),
            Rule::Pong(payload) => format!("pong {}", shown(payload)),
            Rule::Said(content) => format!("the message {}", shown(content)),
            Rule::Fails => "a Close that tells of an error, or the connection closed".into(),
            Rule::FailsWith(code) | Rule::ClosesWith(code) => format!("Close {code}"),
            Rule::SaysClose => "a Close".into(),
            Rule::Http2(sign) => sign.says(),
            Rule::All(rules) => joined(rules, " and "),
            Rule::Any(rules) => joined(rules, " or "),
            Rule::Not(rule) => format!("not: {}", rule.says()),
            Rule::When(words, _) => (*words).into(),
        }
    }
}

/// Several rules in words.
pub(crate) fn joined(rules: &[Rule], between: &str) -> String {
    rules.iter().map(Rule::says).collect::<Vec<_>>().join(between)
}

/// Octets in words; if there are many, the first ones.
fn shown(octets: &[u8]) -> String {
    const SHOWN: usize = 32;
    match octets.len() {
        0..=SHOWN => format!("`{}`", octets.escape_ascii()),
        len => format!("`{}…` ({len} octets)", octets[..SHOWN].escape_ascii()),
    }
}
