//! Connections that may have run out of time: a wheel that gives hints and never decides.
//!
//! An entry says "look at this connection at this time". The true deadline is stored with the connection, so
//! that an exchange that finishes in time costs the wheel nothing.

use crate::Nanos;
use crate::engine::Conn;

const SPOKES: usize = 256;

pub(crate) struct Deadlines {
    spokes: Vec<Vec<Conn>>,
    width: Nanos,
    /// Spokes before this one (counted from the start of time) have been looked at.
    next: u64,
    entries: usize,
}

impl Deadlines {
    /// For deadlines up to `longest` ahead.
    pub(crate) fn new(longest: Nanos) -> Deadlines {
        Deadlines {
            spokes: vec![Vec::new(); SPOKES],
            width: (longest / (SPOKES as u64 - 56)).max(1_000),
            next: 0,
            entries: 0,
        }
    }

    /// Returns from when on the connection is looked at: sooner than the deadline, if that lies too far ahead.
    pub(crate) fn insert(&mut self, conn: Conn, deadline: Nanos) -> Nanos {
        let last = self.next + SPOKES as u64 - 1;
        // One spoke later than the deadline's own: when this spoke is looked at, the deadline has passed.
        let spoke = (deadline / self.width + 1).clamp(self.next, last);
        self.spokes[spoke as usize % SPOKES].push(conn);
        self.entries += 1;
        deadline.min(last * self.width)
    }

    /// Takes the connections to be looked at now.
    pub(crate) fn look(&mut self, now: Nanos, found: &mut Vec<Conn>) {
        let current = now / self.width;
        if current < self.next {
            return;
        }
        let spokes = (current - self.next + 1).min(SPOKES as u64);
        for spoke in self.next..self.next + spokes {
            found.append(&mut self.spokes[spoke as usize % SPOKES]);
        }
        self.entries -= found.len();
        self.next = current + 1;
    }

    /// When to look next, if there is anything to look at.
    pub(crate) fn next_look(&self) -> Option<Nanos> {
        (0 < self.entries).then_some(self.next * self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_looked_at_early_and_all_soon_after() {
        const LONGEST: Nanos = 5_000_000_000;
        let mut deadlines = Deadlines::new(LONGEST);
        let all: Vec<Nanos> = (0..1_000).map(|n| n * n * 4_999).collect();
        for (conn, &deadline) in all.iter().enumerate() {
            deadlines.insert(conn as Conn, deadline);
        }
        let mut seen = 0;
        while let Some(now) = deadlines.next_look() {
            let mut found = Vec::new();
            deadlines.look(now, &mut found);
            for conn in found {
                let deadline = all[conn as usize];
                assert!(deadline <= now && now - deadline <= LONGEST / 50, "{deadline} at {now}");
                seen += 1;
            }
        }
        assert_eq!(seen, all.len());
    }

    #[test]
    fn what_lies_too_far_ahead_is_looked_at_sooner_and_says_so() {
        let mut deadlines = Deadlines::new(1_000_000);
        assert_eq!(deadlines.insert(1, 1_200_000), 1_200_000);
        let sooner = deadlines.insert(2, 9_000_000);
        assert!((1_200_000..1_300_000).contains(&sooner), "{sooner}");
        let mut found = Vec::new();
        deadlines.look(sooner - 1, &mut found);
        assert_eq!(std::mem::take(&mut found), [1]);
        deadlines.look(sooner, &mut found);
        assert_eq!(found, [2]);
    }

    #[test]
    fn a_long_sleep_loses_no_entry() {
        let mut deadlines = Deadlines::new(1_000_000);
        deadlines.insert(7, 900_000);
        let mut found = Vec::new();
        deadlines.look(3_600_000_000_000, &mut found);
        assert_eq!(found, [7]);
        assert_eq!(deadlines.next_look(), None);
    }
}
