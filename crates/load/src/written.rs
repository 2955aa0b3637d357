//! What a database's rows may be after a load that changed them: the numbers that answers said were written, as far as no
//! later one superseded them.

use std::collections::HashMap;

use crate::Nanos;

/// The updates that answers reported, those before the measured time included.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    rows: HashMap<u32, Row>,
    /// Requests that were sent and not answered rightly: what they wrote, if anything, is not known.
    pub unanswered: u64,
    /// Rows of right answers.
    pub answered_rows: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    /// When the last of its requests was sent.
    last_sent: Nanos,
    /// Numbers that may be there at the end, with the time at which their answers came.
    numbers: Vec<(Nanos, u32)>,
}

/// How a table agrees with what was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Rows that have been answered at least once.
    pub rows: u64,
    /// Rows that have none of the numbers that they may have.
    pub others: u64,
    /// Of them, so many may have been changed by requests that were not answered rightly: they are not judged.
    pub not_judged: u64,
}

impl Written {
    /// A right answer said that these rows, id and number, had been written.
    pub(crate) fn answered(&mut self, sent: Nanos, received: Nanos, rows: &[(u32, u32)]) {
        self.answered_rows += rows.len() as u64;
        for &(id, number) in rows {
            let row = self.rows.entry(id).or_default();
            row.last_sent = row.last_sent.max(sent);
            row.numbers.push((received, number));
            row.forget_superseded();
        }
    }

    /// Adds what another lane has received.
    pub(crate) fn merge(&mut self, other: &Written) {
        self.unanswered += other.unanswered;
        self.answered_rows += other.answered_rows;
        for (&id, theirs) in &other.rows {
            let row = self.rows.entry(id).or_default();
            row.last_sent = row.last_sent.max(theirs.last_sent);
            row.numbers.extend(&theirs.numbers);
            row.forget_superseded();
        }
    }

    /// Compares a table with itself before the load, and with what was answered. A request changes `rows_each` rows.
    #[must_use]
    pub fn compare(
        &self,
        before: &[(u32, u32)],
        after: &[(u32, u32)],
        rows_each: u32,
    ) -> Agreement {
        let before: HashMap<u32, u32> = before.iter().copied().collect();
        let is_other = |(id, number): &&(u32, u32)| match self.rows.get(id) {
            Some(row) => !row.numbers.iter().any(|(_, it)| it == number),
            None => before.get(id) != Some(number),
        };
        let others = after.iter().filter(is_other).count() as u64;
        let missing = before.len().saturating_sub(after.len()) as u64;
        let may_differ = self.unanswered.saturating_mul(rows_each.into());
        Agreement {
            rows: self.rows.len() as u64,
            others: others + missing,
            not_judged: others.min(may_differ),
        }
    }
}

impl Row {
    /// A number whose answer had come before another request for the row was sent has been replaced by that one's.
    fn forget_superseded(&mut self) {
        self.numbers.retain(|(received, _)| self.last_sent <= *received);
    }
}

#[cfg(test)]
mod tests;
