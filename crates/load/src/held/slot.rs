//! One place for a held connection, and what is known about its beat.

use wire::HeldSession;

use crate::Nanos;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Vacant,
    Connecting,
    /// Connected; its head or handshake has not come.
    Opening,
    Open,
    /// To be closed in this turn.
    Leaving,
}

/// One place for a held connection.
pub(super) struct HeldSlot<'a> {
    pub(super) held: HeldSession<'a>,
    pub(super) state: State,
    /// Its connections so far.
    pub(super) era: u32,
    pub(super) begun: Nanos,
    pub(super) connected: Nanos,
    /// TCP is connected, and TLS is not.
    pub(super) is_reached: bool,
    pub(super) inbox: Inbox,
    /// What the kernel has not taken yet.
    pub(super) unsent: Vec<u8>,
    pub(super) is_on_agenda: bool,
}

/// What the connection waits for, and what it has received.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Inbox {
    pub(super) rhythm: Rhythm,
    /// The text that was sent and has not come back.
    pub(super) echo: Option<PendingEcho>,
}

/// A text that is to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PendingEcho {
    pub(super) due: Nanos,
    /// When the lane sent it.
    pub(super) sent: Nanos,
}

impl<'a> HeldSlot<'a> {
    pub(super) fn new(held: HeldSession<'a>) -> HeldSlot<'a> {
        HeldSlot {
            held,
            state: State::Vacant,
            era: 0,
            begun: 0,
            connected: 0,
            is_reached: false,
            inbox: Inbox::default(),
            unsent: Vec::new(),
            is_on_agenda: false,
        }
    }
}

/// When messages came, and when they should have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rhythm {
    /// The last one; 0 before the first.
    pub(super) last: Nanos,
    /// When beat number 0 would have come, had none ever been late.
    anchor: Nanos,
    /// Beats since the anchor.
    count: u64,
    /// The number of the last one, where they are numbered.
    number: Option<u64>,
}

impl Rhythm {
    /// Begins to count anew: lateness does not add up over steps.
    pub(super) fn restart(&mut self) {
        self.count = 0;
    }

    /// The time since the last message.
    pub(super) fn gap(&self, at: Nanos) -> Option<Nanos> {
        (0 < self.last).then(|| at.saturating_sub(self.last))
    }

    /// A message came, and so many before it never will: returns a lower bound of its lateness. The first message is
    /// the reference for those that follow, until one comes earlier than the reference allows.
    pub(super) fn late(&mut self, at: Nanos, beat: Nanos, missed: u64) -> Option<Nanos> {
        if self.count == 0 {
            (self.anchor, self.count) = (at, 1);
            return None;
        }
        // The numbers come from the server and may be any.
        self.count = self.count.saturating_add(missed);
        let due = self.anchor.saturating_add(self.count.saturating_mul(beat));
        self.count = self.count.saturating_add(1);
        if at < due {
            self.anchor = self.anchor.saturating_sub(due - at);
        }
        Some(at.saturating_sub(due))
    }

    /// How many numbers were left out before this one.
    pub(super) fn missed(&mut self, number: u64) -> u64 {
        let before = self.number.replace(number);
        before.map_or(0, |before| number.saturating_sub(before.saturating_add(1)))
    }
}

/// The number after `name` in a message's beginning.
pub(super) fn number(shown: &[u8], name: &[u8]) -> Option<u64> {
    let at = shown.windows(name.len()).position(|window| window == name)?;
    let digits = &shown[at + name.len()..];
    let len = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A number that may have been cut off does not count.
    if len == 0 || len == digits.len() && wire::MESSAGE_SHOWN <= shown.len() {
        return None;
    }
    std::str::from_utf8(&digits[..len]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECOND;

    #[test]
    fn lateness_is_against_the_beat_and_an_early_message_corrects_it() {
        let mut rhythm = Rhythm::default();
        let late = [100, 1_100, 2_150, 3_100, 4_050, 5_060]
            .map(|ms| rhythm.late(ms * 1_000_000, SECOND, 0).map(|late| late / 1_000_000));
        assert_eq!(late, [None, Some(0), Some(50), Some(0), Some(0), Some(10)]);
        rhythm.restart();
        assert_eq!(rhythm.late(9 * SECOND, SECOND, 0), None);
        assert_eq!(rhythm.late(11 * SECOND, SECOND, 0), Some(SECOND));
    }

    #[test]
    fn a_message_is_not_late_because_another_one_never_came() {
        let mut rhythm = Rhythm::default();
        let late = [(1, 0), (2, 0), (5, 2), (6, 0), (9, 1), (10, u64::MAX)]
            .map(|(at, missed)| rhythm.late(at * SECOND, SECOND, missed).map(|late| late / SECOND));
        assert_eq!(late, [None, Some(0), Some(0), Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn numbers_are_read_and_gaps_in_them_counted() {
        assert_eq!(number(b"beat=3 due_ns=123\n", b"due_ns="), Some(123));
        assert_eq!(number(b"beat=3 due_ns=", b"due_ns="), None);
        assert_eq!(number(b"x", b"beat="), None);
        assert_eq!(number(&[b"beat=".to_vec(), vec![b'1'; 59]].concat(), b"beat="), None);
        assert_eq!(number(b"beat=99999999999999999999999", b"beat="), None);
        let mut rhythm = Rhythm::default();
        assert_eq!([4, 5, 8, 8, 2].map(|n| rhythm.missed(n)), [0, 0, 2, 0, 0]);
    }
}
