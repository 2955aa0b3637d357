//! The rows of the two tables that a database is seeded with, made from a trial's seed: the truth by which answers are
//! judged, and the CSV files from which a service loads them. The tables are TechEmpower's.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chance::Chance;

/// The rows of `world`: their ids are 1 to this.
pub const WORLDS: u32 = 10_000;
/// The rows of `fortune`: their ids are 1 to this.
pub const FORTUNES: u32 = 200;

/// Both tables.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
pub struct Tables {
    seed: u64,
    /// `randomnumber` of the row whose id is one more than the place.
    numbers: Arc<[u16]>,
    /// `message` of the row whose id is one more than the place; no two are alike. The last one is inserted while the
    /// server is under load.
    messages: Arc<[String]>,
}

/// Messages that are there whatever the seed: what must be escaped, and letters of several bytes.
const FIXED: [&str; 6] = [
    "<script>alert(\"This should not be displayed in a browser alert box.\");</script>",
    "フレームワークのベンチマーク",
    "Ben & Jerry's \"ice\" <cream>",
    "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    "&lt;already&gt; escaped once",
    "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen",
];

/// The words of all other messages.
const WORDS: [&str; 32] = [
    "answer", "bug", "cache", "clock", "code", "compiler", "disk", "editor", "error", "file",
    "kernel", "key", "language", "list", "lock", "log", "machine", "manual", "memory", "network",
    "number", "packet", "page", "port", "program", "queue", "record", "screen", "server", "table",
    "thread", "user",
];

impl Tables {
    /// The tables of this seed: always the same ones.
    #[must_use]
    pub fn of(seed: u64) -> Tables {
        let mut chance = Chance::new(seed);
        let numbers = (0..WORLDS).map(|_| 1 + chance.below(WORLDS as usize) as u16).collect();
        let mut messages: Vec<String> = (0..=FORTUNES).map(|_| message(&mut chance)).collect();
        for (at, message) in messages.iter_mut().enumerate() {
            // The number makes each of them the only one.
            let _ = write!(message, " {}.", at + 1);
        }
        for fixed in FIXED {
            let free = |at: usize, messages: &[String]| !FIXED.contains(&messages[at].as_str());
            let at = std::iter::repeat_with(|| chance.below(FORTUNES as usize))
                .find(|&at| free(at, &messages))
                .expect("there are more messages than fixed ones");
            messages[at] = fixed.into();
        }
        Tables { seed, numbers, messages: messages.into() }
    }

    /// `randomnumber` of the row of `world` with this id, if there is one.
    #[must_use]
    pub fn number(&self, id: u32) -> Option<u16> {
        self.numbers.get(id.checked_sub(1)? as usize).copied()
    }

    /// The rows of `fortune`, by id.
    pub fn fortunes(&self) -> impl Iterator<Item = (u32, &str)> {
        (1..=FORTUNES).zip(self.messages.iter().map(String::as_str))
    }

    /// The row of `fortune` that is inserted while the server is under load.
    #[must_use]
    pub fn inserted(&self) -> (u32, &str) {
        (FORTUNES + 1, &self.messages[FORTUNES as usize])
    }

    /// The row that is inserted while the server is under load, as CSV.
    #[must_use]
    pub fn inserted_csv(&self) -> String {
        let (id, message) = self.inserted();
        format!("{id},\"{}\"\n", message.replace('"', "\"\""))
    }

    /// `world` as CSV: id, randomnumber.
    #[must_use]
    pub fn world_csv(&self) -> String {
        let mut text = String::with_capacity(self.numbers.len() * 11);
        for (id, number) in (1..=WORLDS).zip(self.numbers.iter()) {
            let _ = writeln!(text, "{id},{number}");
        }
        text
    }

    /// `fortune` as CSV (RFC 4180, with line feeds): id, message.
    #[must_use]
    pub fn fortune_csv(&self) -> String {
        let quoted =
            |(id, message): (u32, &str)| format!("{id},\"{}\"\n", message.replace('"', "\"\""));
        self.fortunes().map(quoted).collect()
    }
}

impl Default for Tables {
    fn default() -> Tables {
        Tables::of(0)
    }
}

impl PartialEq for Tables {
    fn eq(&self, other: &Tables) -> bool {
        self.seed == other.seed
    }
}

impl From<Tables> for u64 {
    fn from(tables: Tables) -> u64 {
        tables.seed
    }
}

impl From<u64> for Tables {
    fn from(seed: u64) -> Tables {
        Tables::of(seed)
    }
}

fn message(chance: &mut Chance) -> String {
    let [a, b, c] = [(); 3].map(|()| WORDS[chance.below(WORDS.len())]);
    match chance.below(4) {
        0 => format!("A {a} is a {b} that has lost its {c}"),
        1 => format!("No {a} survives the first {b} with a {c}"),
        2 => format!("Never trust a {a} whose {b} is older than your {c}"),
        _ => format!("The {a} you look for is in the {b}, behind the {c}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_seed_has_its_own_tables_and_always_the_same_ones() {
        let (one, again, other) = (Tables::of(7), Tables::of(7), Tables::of(8));
        assert_eq!((&one.numbers, &one.messages), (&again.numbers, &again.messages));
        assert_ne!(one.numbers, other.numbers);
        assert_ne!(one.messages, other.messages);
        assert!(one.numbers.iter().all(|number| (1..=10_000).contains(number)));
        assert_eq!(one.number(1), Some(one.numbers[0]));
        assert_eq!((one.number(0), one.number(WORLDS + 1)), (None, None));
    }

    #[test]
    fn no_two_messages_are_alike_and_those_that_must_be_escaped_are_among_them() {
        for seed in 0..50 {
            let data = Tables::of(seed);
            let all: BTreeSet<&str> = data.fortunes().map(|(_, message)| message).collect();
            assert_eq!(all.len(), FORTUNES as usize, "seed {seed}");
            assert!(FIXED.iter().all(|fixed| all.contains(fixed)), "seed {seed}");
        }
    }

    #[test]
    fn csv_has_a_row_a_line_and_doubled_quotes() {
        let data = Tables::of(7);
        let world = data.world_csv();
        assert_eq!(world.lines().count(), WORLDS as usize);
        let third = format!("3,{}", data.number(3).unwrap());
        assert_eq!(world.lines().nth(2), Some(third.as_str()));
        let fortune = data.fortune_csv();
        assert_eq!(fortune.lines().count(), FORTUNES as usize);
        assert!(fortune.contains(",\"Ben & Jerry's \"\"ice\"\" <cream>\"\n"));
    }
}
