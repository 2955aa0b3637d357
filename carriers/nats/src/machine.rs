//! What both ends have in common: what happens to them, and what they want done. Neither has a socket or a clock.

use crate::frame::{Fault, MOST_PAYLOAD, OVERHEAD};
use crate::name::Name;

/// A quarter of a second, by which both ends count time. A process that was stopped does not take the time for its
/// peer's silence.
pub(crate) const TICK_MS: u64 = 250;
/// For how many ticks a peer may be absent from the broker, or the broker from us: 2 s.
pub(crate) const ABSENT_TICKS: u32 = 8;
/// For how many ticks a peer that is subscribed may be silent: 10 s.
pub(crate) const SILENT_TICKS: u32 = 40;
/// After how many ticks without another frame a peer gets a sign of life.
pub(crate) const QUIET_TICKS: u32 = 4;
/// Lines that wait for a session, at most, and their bytes.
const MOST_WAITING: usize = 64;
const MOST_WAITING_BYTES: usize = 8 << 20;
/// Dropped frames that get a sentence each.
const MOST_TOLD: u64 = 20;

/// What happens to one end.
#[derive(Debug)]
pub(crate) enum Event {
    /// Bytes that were published for us; the name is the subject's, where it has one.
    Bytes {
        bytes: Vec<u8>,
        subject: Option<Name>,
    },
    /// The broker has no subscriber for what we published to this peer.
    Absent(Name),
    /// A line of our own side.
    Line(Vec<u8>),
    /// Our own side has ended.
    LinesEnded,
    Tick,
    /// The broker was out of reach for so many milliseconds.
    Blinked(u32),
    /// The broker forbids us to publish to this peer.
    Forbidden(Name),
    /// No message may be longer, the broker says.
    MaxPayload(usize),
}

/// What one end wants done.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Publish these bytes for a peer.
    Send(Name, Vec<u8>),
    /// Print a line for our own side.
    Print(Vec<u8>),
    /// Print a sentence for the person who watches.
    Tell(String),
    /// End, well or with a sentence.
    End(Result<(), String>),
}

pub(crate) trait Machine {
    fn on(&mut self, event: Event) -> Vec<Action>;

    /// Whether frames are lost that a peer waits for, if the broker stays out of reach.
    fn is_in_session(&self) -> bool;
}

/// How many bytes of a line go into one message.
pub(crate) fn piece_of(max_payload: usize) -> Result<usize, String> {
    match max_payload.checked_sub(OVERHEAD) {
        Some(piece) if OVERHEAD <= piece => Ok(piece.min(MOST_PAYLOAD)),
        _ => Err(format!(
            "the broker takes messages of {max_payload} bytes at most; its max_payload must be 1 KiB or more"
        )),
    }
}

/// Lines for a peer that is not known yet. The oldest give way.
#[derive(Default)]
pub(crate) struct Waiting {
    lines: std::collections::VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Waiting {
    /// Says how many lines gave way.
    pub(crate) fn push(&mut self, line: Vec<u8>) -> usize {
        self.bytes += line.len();
        self.lines.push_back(line);
        let mut gone = 0;
        while MOST_WAITING < self.lines.len() || MOST_WAITING_BYTES < self.bytes {
            let Some(line) = self.lines.pop_front() else { break };
            self.bytes -= line.len();
            gone += 1;
        }
        gone
    }

    pub(crate) fn take(&mut self) -> Vec<Vec<u8>> {
        self.bytes = 0;
        std::mem::take(&mut self.lines).into()
    }
}

/// The frames that were dropped: the first of them get a sentence each, the others are counted.
#[derive(Default)]
pub(crate) struct Dropped {
    count: u64,
    said: u64,
}

impl Dropped {
    pub(crate) fn say(&mut self, from: &str, why: &str) -> Option<Action> {
        self.count += 1;
        if MOST_TOLD < self.count {
            return None;
        }
        self.said = self.count;
        Some(Action::Tell(format!("a frame from {from} was dropped: {why}")))
    }

    pub(crate) fn fault(&mut self, fault: &Fault) -> Option<Action> {
        self.say("the broker", &fault.to_string())
    }

    /// What was not said yet, for the end.
    pub(crate) fn rest(&mut self) -> Option<Action> {
        let rest = self.count - self.said;
        self.said = self.count;
        (0 < rest).then(|| Action::Tell(format!("{rest} more frames were dropped")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_room_for_a_head_and_as_much_again() {
        assert_eq!(piece_of(1 << 20), Ok(MOST_PAYLOAD));
        assert_eq!(piece_of(1024), Ok(1024 - OVERHEAD));
        assert!(piece_of(700).unwrap_err().contains("700 bytes"));
        assert!(piece_of(0).is_err());
    }

    #[test]
    fn the_oldest_lines_give_way_where_too_many_wait() {
        let mut waiting = Waiting::default();
        let gone: usize = (0..100u8).map(|number| waiting.push(vec![number])).sum();
        assert_eq!((gone, waiting.take().first()), (36, Some(&vec![36])));
        assert_eq!(waiting.push(vec![0; MOST_WAITING_BYTES]), 0);
        assert_eq!(waiting.push(vec![0]), 1);
    }

    #[test]
    fn a_flood_of_bad_frames_is_few_sentences() {
        let mut dropped = Dropped::default();
        let said = (0..1000).filter_map(|_| dropped.fault(&Fault::NotAFrame)).count();
        assert_eq!(said as u64, MOST_TOLD);
        assert_eq!(dropped.rest(), Some(Action::Tell("980 more frames were dropped".into())));
        assert_eq!(dropped.rest(), None);
    }
}
