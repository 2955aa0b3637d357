//! Patience with others' silence after this process was not running: what came meanwhile is read first.

use crate::{MILLISECOND, Nanos};

/// A longer pause between two looks at the clock means that this process was not running.
const STOOD_STILL: Nanos = 300 * MILLISECOND;
/// Then others are not thought to be silent for so long; once, however often it stands still.
const PATIENT_FOR: Nanos = 300 * MILLISECOND;

#[derive(Debug)]
pub(crate) struct Patience {
    looked: Nanos,
    until: Option<Nanos>,
}

impl Patience {
    pub(crate) fn new(now: Nanos) -> Patience {
        Patience { looked: now, until: None }
    }

    /// Looks at the clock; returns whether nothing should be concluded from silence yet.
    pub(crate) fn look(&mut self, now: Nanos) -> bool {
        let stood_still = self.looked + STOOD_STILL < now;
        self.looked = now;
        match self.until {
            None if stood_still => self.until = Some(now + PATIENT_FOR),
            Some(until) if !stood_still && until <= now => self.until = None,
            None | Some(_) => {}
        }
        self.until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stood_still_is_patient_once_and_not_for_ever() {
        let mut patience = Patience::new(0);
        let mut look = |ms: Nanos| patience.look(ms * MILLISECOND);
        assert!(!look(50) && !look(100));
        assert!(look(9_000) && look(9_050) && look(9_299) && !look(9_300));
        assert!(look(20_000), "once more");
        // It always takes too long: that is no excuse.
        assert!(!look(20_500) && !look(21_000) && !look(21_500));
        assert!(!look(21_550) && look(30_000));
    }
}
