//! Whether the broker is within reach: it must give back the numbers that are published for ourselves. Pure.

use crate::machine::ABSENT_TICKS;

/// A pause in which nothing came is worth a word from here on.
const WORTH_A_WORD_MS: u64 = 1_000;

#[derive(Debug)]
pub(crate) struct Contact {
    /// When a number last came back, on a clock in milliseconds.
    last_ms: u64,
    ticks: u32,
    sent: u64,
    /// The connection was lost after this number was sent.
    broken_after: Option<u64>,
}

impl Contact {
    pub(crate) fn new(now_ms: u64) -> Contact {
        Contact { last_ms: now_ms, ticks: 0, sent: 0, broken_after: None }
    }

    /// The next number to publish.
    pub(crate) fn next(&mut self) -> u64 {
        self.sent += 1;
        self.sent
    }

    /// A number came back. Says how long none could, if that is worth a word.
    pub(crate) fn heard(&mut self, number: u64, now_ms: u64) -> Option<u32> {
        if self.sent < number || self.broken_after.is_some_and(|sent| number <= sent) {
            return None;
        }
        let pause = now_ms.saturating_sub(self.last_ms);
        let is_broken = self.broken_after.take().is_some();
        let is_worth_a_word = is_broken || (WORTH_A_WORD_MS <= pause && 2 < self.ticks);
        self.last_ms = now_ms;
        self.ticks = 0;
        is_worth_a_word.then(|| u32::try_from(pause).unwrap_or(u32::MAX).max(1))
    }

    pub(crate) fn broke(&mut self) {
        self.broken_after = Some(self.sent);
    }

    /// A session has begun, which only the broker can have brought: its end is not decided by what was before.
    pub(crate) fn has_session(&mut self) {
        self.ticks = 0;
    }

    /// Says whether it has lasted too long. Ticks are counted, not time: while this process was stopped, the broker
    /// was not out of reach.
    pub(crate) fn tick(&mut self) -> bool {
        self.ticks = self.ticks.saturating_add(1);
        ABSENT_TICKS <= self.ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pauses_are_nothing_longer_ones_are_blinks_and_two_seconds_are_the_end() {
        let mut contact = Contact::new(0);
        let number = contact.next();
        assert_eq!(contact.heard(number, 900), None);
        assert!((0..5).all(|_| !contact.tick()));
        assert_eq!(contact.heard(number, 2_150), Some(1_250));
        assert!((0..7).all(|_| !contact.tick()) && contact.tick());
    }

    #[test]
    fn a_lost_connection_is_a_blink_once_a_later_number_comes_back() {
        let mut contact = Contact::new(0);
        let early = contact.next();
        contact.broke();
        assert_eq!(contact.heard(early, 20), None, "it was on its way before");
        let later = contact.next();
        assert_eq!(contact.heard(later, 40), Some(40));
        assert_eq!(contact.heard(later, 80), None);
    }

    #[test]
    fn an_absence_before_a_session_does_not_end_the_session() {
        let mut contact = Contact::new(0);
        contact.broke();
        assert!((0..9).any(|_| contact.tick()));
        contact.has_session();
        assert!((0..7).all(|_| !contact.tick()) && contact.tick());
        let number = contact.next();
        assert_eq!(contact.heard(number, 4_000), Some(4_000), "lines may be lost all the same");
    }

    #[test]
    fn a_process_that_was_stopped_does_not_blame_the_broker() {
        let mut contact = Contact::new(0);
        let number = contact.next();
        assert!(!contact.tick());
        assert_eq!(contact.heard(number, 60_000), None);
    }

    #[test]
    fn a_number_that_was_never_sent_is_nothing() {
        let mut contact = Contact::new(0);
        contact.broke();
        assert_eq!(contact.heard(99, 5_000), None);
        assert!((0..8).any(|_| contact.tick()));
    }
}
