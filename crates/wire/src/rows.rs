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
    /// How many queries such answers take: one for each row, or one for a page.
    pub queries: u64,
    /// Rows that were to be changed.
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
        self.queries += other.queries;
        self.changed += other.changed;
        self.equal_pairs += other.equal_pairs;
        self.expected_pairs += other.expected_pairs;
    }
}

/// Counts rows by their ids.
#[derive(Debug, Default)]
pub(crate) struct RowCounter {
    /// How often each id came.
    seen: Vec<u32>,
    drawn: u64,
    rows: Rows,
}

impl RowCounter {
    pub(crate) fn count(&mut self, rule: &Meaning, rows: &[(u32, u32)]) {
        self.seen.resize(WORLDS as usize + 1, 0);
        for &(id, _) in rows {
            let seen = &mut self.seen[id as usize];
            self.rows.equal_pairs += u64::from(*seen);
            *seen += 1;
        }
        let count = rows.len() as u64;
        self.drawn += count;
        self.rows.answers += 1;
        self.rows.rows += count;
        self.rows.queries += count;
        self.rows.changed += if matches!(rule, Meaning::Updated(_)) { count } else { 0 };
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
    /// What is before each number, and behind the last one.
    texts: Vec<Vec<u8>>,
    is_id_first: bool,
}

impl RowForm {
    /// That of a body that has these rows; none if they do not stand there in plain digits, in one order.
    pub(crate) fn of(body: &[u8], rows: &[(u32, u32)]) -> Option<RowForm> {
        let mut texts = vec![Vec::new()];
        let mut numbers = Vec::new();
        let mut rest = body;
        while let Some(&first) = rest.first() {
            let (number, len) = digits(rest);
            match len {
                0 => {
                    texts.last_mut()?.push(first);
                    rest = &rest[1..];
                }
                len => {
                    numbers.push(number?);
                    texts.push(Vec::new());
                    rest = &rest[len..];
                }
            }
        }
        let in_order = |is_id_first: bool| {
            let pair =
                |&(id, number): &(u32, u32)| if is_id_first { [id, number] } else { [number, id] };
            rows.iter().flat_map(pair).eq(numbers.iter().copied())
        };
        let is_id_first = [true, false].into_iter().find(|order| in_order(*order))?;
        Some(RowForm { texts, is_id_first })
    }

    /// The rows of a body of this form, in which all are right; none if it has another one.
    pub(crate) fn read(&self, body: &[u8], rule: &Meaning, rows: &mut Vec<(u32, u32)>) -> bool {
        rows.clear();
        let Some((last, before)) = self.texts.split_last() else { return false };
        let mut rest = body;
        for pair in before.chunks_exact(2) {
            let Some([first, second]) = pair_of(&mut rest, pair) else { return false };
            let (id, number) = if self.is_id_first { (first, second) } else { (second, first) };
            if !rule.row_is_right(id, number) {
                return false;
            }
            rows.push((id, number));
        }
        rest == &last[..]
    }
}

/// The two numbers behind these texts.
fn pair_of(rest: &mut &[u8], texts: &[Vec<u8>]) -> Option<[u32; 2]> {
    let mut numbers = [0; 2];
    for (text, slot) in texts.iter().zip(&mut numbers) {
        *rest = rest.strip_prefix(&text[..])?;
        let (number, len) = digits(rest);
        *slot = number?;
        *rest = &rest[len..];
    }
    Some(numbers)
}

/// The number with which `bytes` begin, and how many digits it has; none if it is none as JSON writes it, or too large.
fn digits(bytes: &[u8]) -> (Option<u32>, usize) {
    let len = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_plain = (1..=9).contains(&len) && (bytes[0] != b'0' || len == 1);
    let number =
        bytes[..len].iter().take(9).fold(0, |all, digit| all * 10 + u32::from(digit - b'0'));
    (is_plain.then_some(number), len)
}

#[cfg(test)]
mod tests;
