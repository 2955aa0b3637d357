//! A run's number, its end, and its line in a list.

use std::fmt;
use std::str::FromStr;

use lab::named;

/// A run's number in its store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub(crate) i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RunId {
    type Err = String;

    fn from_str(text: &str) -> Result<RunId, String> {
        match text.parse() {
            Ok(number) if 0 < number => Ok(RunId(number)),
            _ => Err(format!(
                "`{text}` is not a run; runs are numbered 1, 2, 3, …: `dyno runs list` shows them, and with `--store FILE` \
                 those of another store"
            )),
        }
    }
}

named! {
    /// How a run ended.
    pub enum RunEnd {
        /// Every trial of its plan that was needed is done.
        Done = "done",
        /// The user, or a fault, ended it early.
        Interrupted = "interrupted",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    pub id: RunId,
    /// The experiment's name.
    pub name: String,
    /// What it is a repetition of.
    pub group: String,
    /// The names and titles of its subjects.
    pub servers: Vec<String>,
    /// Wall time of its start, milliseconds since 1970.
    pub began_unix_ms: i64,
    /// Wall time of its end, and how it ended; nothing if it is under way, or was killed.
    pub ended: Option<(i64, RunEnd)>,
    /// Times and repeats were shrunk.
    pub is_quick: bool,
    /// Trials in its plan: the most that it may take.
    pub planned: u32,
    /// Trials that were stored, damaged ones among them.
    pub kept: u32,
    /// Every trial that it takes is done: its whole plan, or fewer where the number of rounds was to be found.
    pub is_finished: bool,
    /// What is wrong with the run's own rows. If anything is, the other fields may be.
    pub damage: Option<String>,
}
