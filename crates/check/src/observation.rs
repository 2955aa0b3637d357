//! What was seen in one exchange: the basis on which a case is judged.

use std::sync::Arc;
use std::time::Duration;

use crate::answer::{ParsedStream, ReceivedAnswer};
use crate::frame::{Frame, frames, messages};
use crate::h2::{Greeting, Received};

/// The state of the connection when we stopped reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// Open: nothing more arrived.
    Open,
    Closed,
    Reset,
    /// It was never opened.
    #[default]
    Unconnected,
    /// More arrived than was requested; we ended it.
    Flooded,
}

/// One exchange with a server.
#[derive(Clone, Debug, Default)]
pub struct Observation {
    /// What was sent, as far as it is kept.
    pub sent: Vec<u8>,
    pub sent_len: u64,
    pub received: Arc<Vec<u8>>,
    /// What arrived, parsed.
    pub reading: ParsedStream,
    pub end: End,
    /// For each `Receive`, how many octets had arrived when it was over.
    pub marks: Vec<usize>,
    pub took: Duration,
    /// When it ended, in seconds since the Unix epoch.
    pub unix_s: u64,
    /// By how much the server's memory grew meanwhile, in octets; none if it is not known.
    pub grew: Option<u64>,
    /// What a slow client saw.
    pub slow: Slow,
    /// What came over HTTP/2; none if it was not spoken.
    pub heard: Option<Received>,
    /// Whether the exchange of HTTP/2 ended because our patience did.
    pub is_owed: bool,
    /// What a server of TLS answered to a ClientHello.
    pub greeting: Option<Greeting>,
    /// Whether the end of the connection was announced by TLS; none without TLS.
    pub is_closed_by_notice: Option<bool>,
}

impl Observation {
    /// The first final answer, if it is complete.
    pub fn first(&self) -> Option<&ReceivedAnswer> {
        self.nth(0)
    }

    /// The final answer with this number, from 0, if it is complete.
    pub fn nth(&self, number: usize) -> Option<&ReceivedAnswer> {
        self.reading.finals.get(number).filter(|answer| answer.is_whole)
    }

    /// The status of the final answer with this number, from 0, if it is complete.
    pub(crate) fn status(&self, number: usize) -> Option<u16> {
        self.nth(number).map(|answer| answer.status)
    }

    /// The final answers that are complete.
    pub(crate) fn wholes(&self) -> impl Iterator<Item = &ReceivedAnswer> {
        self.reading.finals.iter().filter(|answer| answer.is_whole)
    }

    /// Whether the server has ended the connection, or announces that it will.
    pub fn is_closed(&self) -> bool {
        matches!(self.end, End::Closed | End::Reset)
    }

    /// Whether nothing has arrived but interim answers: not even the beginning of another answer.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.reading.finals.is_empty() && self.reading.rest == self.received.len()
    }

    /// Whether a WebSocket was opened.
    pub(crate) fn is_switched(&self) -> bool {
        self.reading.finals.first().is_some_and(|answer| answer.status == 101)
    }

    /// Whether the answer is something other than the opening of a WebSocket.
    pub fn is_refused(&self) -> bool {
        self.first().is_some() && !self.is_switched()
    }

    /// The frames that arrived after a WebSocket was opened.
    pub fn frames(&self) -> Vec<Frame> {
        match self.is_switched() {
            true => frames(&self.received[self.reading.rest..]),
            false => Vec::new(),
        }
    }

    /// The frames that a client may accept: it must drop a server that masks, or that sets a reserved bit without
    /// agreement.
    fn takeable(&self) -> Vec<Frame> {
        let is_takeable = |frame: &Frame| !frame.is_masked && frame.reserved == 0;
        self.frames().into_iter().filter(is_takeable).collect()
    }

    /// The messages that arrived over a WebSocket.
    pub fn messages(&self) -> Vec<Vec<u8>> {
        messages(&self.takeable())
    }

    /// Whether a pong with this payload arrived.
    pub(crate) fn has_pong(&self, payload: &[u8]) -> bool {
        self.takeable().iter().any(|frame| frame.opcode == 10 && frame.payload == payload)
    }

    /// Whether the ping was answered that is sent to a server that should have failed the connection and has not.
    pub fn goes_on(&self) -> bool {
        self.has_pong(b"over?")
    }

    /// Codes of the Close frames that arrived; none for a Close without a code.
    pub fn closes(&self) -> Vec<Option<u16>> {
        let closes = self.takeable().into_iter().filter(|frame| frame.opcode == 8);
        closes
            .map(|frame| Some(u16::from_be_bytes(frame.payload.get(..2)?.try_into().ok()?)))
            .collect()
    }

    /// What the server did, in words.
    pub fn says(&self) -> String {
        if self.slow.opened > 0 {
            return self.slow.says().join(", ");
        }
        let mut parts = match (&self.heard, &self.greeting) {
            (Some(heard), _) => heard.says(),
            (None, Some(greeting)) => vec![greeting.says()],
            (None, None) => self.answers_in_words(),
        };
        parts.push(
            match self.end {
                End::Open => "then the connection stayed open",
                End::Closed => "then the connection was closed",
                End::Reset => "then the connection was reset",
                End::Unconnected => "no connection could be made",
                End::Flooded => "and no end of it",
            }
            .into(),
        );
        parts.extend(self.slow.says());
        parts.join(", ")
    }

    fn answers_in_words(&self) -> Vec<String> {
        let interim = &self.reading.interim;
        let mut parts: Vec<String> =
            interim.iter().take(4).map(|answer| answer.status.to_string()).collect();
        if interim.len() > 4 {
            parts.push(format!("{} interim answers in all", interim.len()));
        }
        parts.extend(self.reading.finals.iter().take(4).map(described));
        if self.reading.finals.len() > 4 {
            parts.push(format!("{} answers in all", self.reading.finals.len()));
        }
        parts.extend(framed_all(&self.frames()));
        if parts.is_empty() {
            parts
                .push(if self.received.is_empty() { "no answer" } else { "half an answer" }.into());
        }
        parts
    }
}

fn described(answer: &ReceivedAnswer) -> String {
    let cut = if answer.is_whole { "" } else { " (cut short)" };
    let flaws: Vec<String> = answer.flaws.iter().map(ToString::to_string).collect();
    let flaws = if flaws.is_empty() { String::new() } else { format!(" [{}]", flaws.join("; ")) };
    match answer.status {
        0 => format!("something that is no HTTP answer{cut}"),
        status => format!("{status}{cut}{flaws}"),
    }
}

/// If there are many frames, the first and the last ones, since the end says most.
fn framed_all(frames: &[Frame]) -> Vec<String> {
    const ENDS: usize = 3;
    if frames.len() <= 2 * ENDS {
        return frames.iter().map(framed).collect();
    }
    let between = format!("{} more frames", frames.len() - 2 * ENDS);
    let (first, last) = (&frames[..ENDS], &frames[frames.len() - ENDS..]);
    let first = first.iter().map(framed).chain([between]);
    first.chain(last.iter().map(framed)).collect()
}

fn framed(frame: &Frame) -> String {
    let shown = frame.payload[..frame.payload.len().min(24)].escape_ascii();
    match frame.opcode {
        0 => format!("continuation `{shown}`"),
        1 => format!("text `{shown}`"),
        2 => format!("binary `{shown}`"),
        8 => match frame.payload.get(..2) {
            Some(code) => format!("Close {}", u16::from_be_bytes([code[0], code[1]])),
            None => "Close without a code".into(),
        },
        9 => format!("ping `{shown}`"),
        10 => format!("pong `{shown}`"),
        other => format!("a frame of opcode {other}"),
    }
}

/// What a slow client saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slow {
    /// For how long the server let it continue; none if it was never stopped.
    pub acted: Option<Duration>,
    /// How long it was slow.
    pub waited: Duration,
    /// How many connections of a crowd were opened.
    pub opened: usize,
    /// How long each honest request took, shortest first; none if it was not answered in time, and those come last.
    pub honest: Vec<Option<Duration>>,
}

impl Slow {
    /// The time within which 99 of 100 honest requests were answered; none if they were not.
    pub(crate) fn honest_p99(&self) -> Option<Duration> {
        let count = self.honest.len();
        *self.honest.get((count * 99).div_ceil(100).checked_sub(1)?)?
    }

    /// In words; empty if no client was slow.
    pub fn says(&self) -> Vec<String> {
        let mut parts = Vec::new();
        match self.acted {
            Some(after) => parts.push(format!("after {:.1} s", after.as_secs_f64())),
            None if self.waited.is_zero() => {}
            None => parts.push(format!("for {:.0} s", self.waited.as_secs_f64())),
        }
        match self.opened {
            0 => {}
            1 => parts.push("a slow connection was open".into()),
            opened => parts.push(format!("{opened} slow connections were open")),
        }
        if !self.honest.is_empty() {
            let answered = self.honest.iter().flatten().count();
            let of = self.honest.len();
            parts.push(format!("{answered} of {of} honest requests were answered meanwhile"));
        }
        if let Some(time) = self.honest_p99() {
            parts.push(format!("99 of 100 within {:.0} ms", time.as_secs_f64() * 1e3));
        }
        parts
    }
}
