//! Windows of a trial that is under way: numbered, and sent again until the other side has taken them. Of a line that
//! is broken for long only the newest are kept.

use std::collections::VecDeque;

use crate::message::Live;
use crate::{Nanos, SECOND};

/// So many windows are kept for a coordinator that does not take them.
const KEPT_MAX: usize = 64;
/// A window that was not taken is sent again.
const AGAIN: Nanos = SECOND;

/// A window, its number, and the number of the oldest that is kept.
pub(crate) type Numbered = (u64, u64, Live);

/// The side that sends.
#[derive(Debug, Default)]
pub(crate) struct WindowsOut {
    /// The number of the oldest that is kept.
    oldest: u64,
    kept: VecDeque<(Live, Nanos)>,
}

impl WindowsOut {
    pub(crate) fn put(&mut self, window: Live, now: Nanos) -> Numbered {
        self.kept.push_back((window.clone(), now));
        while KEPT_MAX < self.kept.len() {
            self.kept.pop_front();
            self.oldest += 1;
        }
        (self.oldest + self.kept.len() as u64 - 1, self.oldest, window)
    }

    /// The other side has so many.
    pub(crate) fn taken(&mut self, windows: u64) {
        while self.oldest < windows && self.kept.pop_front().is_some() {
            self.oldest += 1;
        }
    }

    /// Those that are to be sent again.
    pub(crate) fn due(&mut self, now: Nanos) -> Vec<Numbered> {
        let oldest = self.oldest;
        let mut due = Vec::new();
        for (number, (window, sent)) in (oldest..).zip(&mut self.kept) {
            if *sent + AGAIN <= now {
                *sent = now;
                due.push((number, oldest, window.clone()));
            }
        }
        due
    }
}

/// The side that takes them, each once and in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowsIn {
    next: u64,
}

impl WindowsIn {
    /// Whether it is the next one.
    pub(crate) fn take(&mut self, number: u64, oldest: u64) -> bool {
        self.next = self.next.max(oldest.min(number));
        let is_next = number == self.next;
        self.next = self.next.saturating_add(u64::from(is_next));
        is_next
    }

    /// How many have been taken, or will never come.
    pub(crate) fn taken(self) -> u64 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use load::HoldWindow;

    use super::*;

    fn window(number: u64) -> Live {
        Live::Hold(Box::new(HoldWindow::new(number * SECOND, (number + 1) * SECOND)))
    }

    #[test]
    fn each_window_is_taken_once_and_in_order_although_some_are_lost_and_all_come_twice() {
        let (mut out, mut taken) = (WindowsOut::default(), WindowsIn::default());
        let (mut seen, mut sent) = (Vec::new(), 0);
        let mut carry = |(number, oldest, _): Numbered| {
            sent += 1;
            if sent % 3 != 0 {
                seen.extend(taken.take(number, oldest).then_some(number));
                assert!(!taken.take(number, oldest));
            }
            taken.taken()
        };
        for second in 0..90 {
            let now = second * SECOND;
            if second < 30 {
                carry(out.put(window(second), now));
            }
            let mut count = 0;
            out.due(now).into_iter().for_each(|again| count = carry(again));
            out.taken(count);
        }
        assert_eq!(seen, (0..30).collect::<Vec<_>>());
        assert!(out.kept.is_empty());
    }

    #[test]
    fn a_number_that_no_window_has_overflows_nothing() {
        let mut taken = WindowsIn::default();
        assert!(taken.take(u64::MAX, u64::MAX));
        assert!(!taken.take(0, 0));
        assert_eq!(taken.taken(), u64::MAX);
    }

    #[test]
    fn what_is_not_kept_any_more_is_not_waited_for() {
        let (mut out, mut taken) = (WindowsOut::default(), WindowsIn::default());
        let last = (0..KEPT_MAX as u64 + 9).map(|number| out.put(window(number), 0)).last();
        let (number, oldest, _) = last.unwrap();
        assert_eq!((number, oldest), (KEPT_MAX as u64 + 8, 9));
        assert!(!taken.take(number, oldest));
        assert_eq!(taken.taken(), 9, "those before are gone");
        assert!(out.due(AGAIN).into_iter().all(|(number, oldest, _)| taken.take(number, oldest)));
        assert_eq!(taken.taken(), KEPT_MAX as u64 + 9);
    }
}
