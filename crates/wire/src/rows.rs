//! Rows of a database in bodies of JSON: the forms in which a server writes them, and how often each row came.

use serde::{Deserialize, Serialize};

use crate::meaning::Meaning;
use crate::tables::WORLDS;

/// How right answers were made of rows, those before the measured time included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    pub answers: u64,
    /// The rows of all of them, those of a page included.
    pub rows: u64,
    /// Of them, those that the same answer had before: an ORM's session reads them once.
    #[serde(default)]
    pub repeated: u64,
    /// How many queries such answers take: one for each row, or one for a page.
    pub queries: u64,
    /// Rows that were to be changed; one that an answer has twice may have been written once.
    pub changed: u64,
    /// Pairs of rows with equal ids, of all pairs that one lane received.
    pub equal_pairs: u64,
    /// How many there are on average if ids are drawn uniformly and independently.
    pub expected_pairs: f64,
}

impl Rows {
    /// Adds those of another lane.
    pub fn add(&mut self, other: Rows) {
        self.answers += other.answers;
        self.rows += other.rows;
        self.repeated += other.repeated;
        self.queries += other.queries;
        self.changed += other.changed;
        self.equal_pairs += other.equal_pairs;
        self.expected_pairs += other.expected_pairs;
    }
}

/// Counts rows by their ids.
#[derive(Debug, Default)]
pub(crate) struct RowCounter {
    /// How often each id came, and in which answer it came last.
    seen: Vec<(u32, u64)>,
    drawn: u64,
    rows: Rows,
}

impl RowCounter {
    pub(crate) fn count(&mut self, rule: &Meaning, rows: &[(u32, u32)]) {
        self.seen.resize(WORLDS as usize + 1, (0, 0));
        self.rows.answers += 1;
        let mut repeated = 0;
        for &(id, _) in rows {
            let (times, last) = &mut self.seen[id as usize];
            self.rows.equal_pairs += u64::from(*times);
            *times += 1;
            repeated += u64::from(*last == self.rows.answers);
            *last = self.rows.answers;
        }
        let count = rows.len() as u64;
        self.drawn += count;
        self.rows.rows += count;
        self.rows.repeated += repeated;
        self.rows.queries += count;
        self.rows.changed += if matches!(rule, Meaning::Updated(_)) { count - repeated } else { 0 };
    }

    /// A page of all rows of a table.
    pub(crate) fn count_page(&mut self, rows: u32) {
        self.rows.answers += 1;
        self.rows.rows += u64::from(rows);
        self.rows.queries += 1;
    }

    pub(crate) fn counted(&self) -> Rows {
        let drawn = self.drawn as f64;
        let expected_pairs = drawn * (drawn - 1.0).max(0.0) / 2.0 / f64::from(WORLDS);
        Rows { expected_pairs, ..self.rows }
    }
}

/// The text of a body of rows around its numbers: another body with the same text differs in numbers alone.
#[derive(Debug)]
pub(crate) struct RowForm {
    /// Before the first number, between the two of a row, between two rows, and behind the last number.
    head: Vec<u8>,
    middle: Vec<u8>,
    between: Vec<u8>,
    tail: Vec<u8>,
    is_id_first: bool,
}

impl RowForm {
    /// That of a body that has these rows; none if they do not all stand there alike, in plain digits.
    pub(crate) fn of(body: &[u8], rows: &[(u32, u32)]) -> Option<RowForm> {
        let mut texts = vec![Vec::new()];
        let mut numbers = Vec::new();
        let mut rest = body;
        while let Some(&first) = rest.first() {
            match number_at(rest) {
                Some((number, after)) => {
                    numbers.push(number);
                    texts.push(Vec::new());
                    rest = after;
                }
                None if first.is_ascii_digit() => return None,
                None => {
                    texts.last_mut()?.push(first);
                    rest = &rest[1..];
                }
            }
        }
        let in_order = |is_id_first: bool| {
            let pair =
                |&(id, number): &(u32, u32)| if is_id_first { [id, number] } else { [number, id] };
            rows.iter().flat_map(pair).eq(numbers.iter().copied())
        };
        // Ids that are all equal to their numbers do not show which of the two comes first.
        let is_id_first = in_order(true);
        if is_id_first == in_order(false) {
            return None;
        }
        let (tail, inner) = (texts.pop()?, texts.split_off(1));
        let head = texts.pop()?;
        let middle = inner.first()?.clone();
        let between = inner.get(1).cloned().unwrap_or_default();
        let are_alike = inner.chunks(2).all(|pair| pair[0] == middle)
            && inner.chunks_exact(2).all(|pair| pair[1] == between);
        are_alike.then_some(RowForm { head, middle, between, tail, is_id_first })
    }

    /// The rows of a body of this form, in which all are right; none if it has another one.
    pub(crate) fn read(&self, body: &[u8], rule: &Meaning, rows: &mut Vec<(u32, u32)>) -> bool {
        rows.clear();
        self.read_all(body, rule, rows).is_some_and(|rest| rest == self.tail)
    }

    /// What follows the last row.
    fn read_all<'b>(
        &self,
        body: &'b [u8],
        rule: &Meaning,
        rows: &mut Vec<(u32, u32)>,
    ) -> Option<&'b [u8]> {
        let count = rule.rows()?;
        let mut rest = without(body, &self.head)?;
        for at in 0..count {
            if 0 < at {
                rest = without(rest, &self.between)?;
            }
            let (first, after) = number_at(rest)?;
            let (second, after) = number_at(without(after, &self.middle)?)?;
            rest = after;
            let (id, number) = if self.is_id_first { (first, second) } else { (second, first) };
            if !rule.row_is_right(id, number) {
                return None;
            }
            rows.push((id, number));
        }
        Some(rest)
    }
}

/// What follows this text, if `bytes` begin with it. It has few bytes: calling `memcmp` would take longer than to compare
/// eight of them at once.
fn without<'b>(bytes: &'b [u8], text: &[u8]) -> Option<&'b [u8]> {
    let (there, rest) = bytes.split_at_checked(text.len())?;
    let (words, others) = (there.as_chunks::<8>(), text.as_chunks::<8>());
    let is_equal = |(a, b): (&[u8; 8], &[u8; 8])| u64::from_ne_bytes(*a) == u64::from_ne_bytes(*b);
    let are_equal = words.0.iter().zip(others.0).all(is_equal)
        && words.1.iter().zip(others.1).all(|(a, b)| a == b);
    are_equal.then_some(rest)
}

/// The number with which `bytes` begin, as JSON writes it, and what follows it; none if it is none, or too large.
fn number_at(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (mut number, mut len) = (0_u32, 0);
    while let Some(digit @ b'0'..=b'9') = bytes.get(len) {
        number = number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
        len += 1;
    }
    let is_plain = (1..=9).contains(&len) && (bytes[0] != b'0' || len == 1);
    is_plain.then(|| (number, &bytes[len..]))
}

#[cfg(test)]
mod tests;
