//! What a trial, a row, a table and a board are worth, given the doubts about them. A whole is worth what most of its
//! parts are, and a single part in doubt is always reported.

use schemars::JsonSchema;
use serde::Serialize;

use crate::board::{Board, JudgedTrial, Row, Table};
use crate::doubt::Doubt;
use crate::verdict::{Gravity, Verdict};

/// How many rows have which verdict. dyno's own server is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Worth {
    /// rows that are valid
    pub valid: usize,
    /// rows that are suspect
    pub suspect: usize,
    /// rows that are invalid: most of their rounds are, or all that there are
    pub invalid: usize,
    /// rows without a trial yet
    pub untried: usize,
}

/// Why a row is worth no more, or what else the reader should know of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// The first of its kind, with its figures.
    pub doubt: Doubt,
    /// In how many rounds.
    pub rounds: usize,
    /// How many rounds were run.
    pub of: usize,
}

impl Worth {
    /// How many of these have which verdict; none: it was not tried yet.
    #[must_use]
    pub fn of(verdicts: impl IntoIterator<Item = Option<Verdict>>) -> Worth {
        let mut worth = Worth::default();
        for verdict in verdicts {
            *match verdict {
                Some(Verdict::Valid) => &mut worth.valid,
                Some(Verdict::Suspect) => &mut worth.suspect,
                Some(Verdict::Invalid) => &mut worth.invalid,
                None => &mut worth.untried,
            } += 1;
        }
        worth
    }
}

impl JudgedTrial {
    /// What the round is worth.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::by(self.doubts.iter().map(Doubt::gravity))
    }
}

impl Row {
    /// What its figures are worth; none before the first round. A round that is not a measurement counts: figures of
    /// the survivors alone are suspect.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let rounds: Vec<Verdict> = self.trials.iter().map(JudgedTrial::verdict).collect();
        let by_rounds = Verdict::of_parts(&rounds)?;
        Some(by_rounds.max(Verdict::by(self.doubts.iter().map(Doubt::gravity))))
    }

    /// Why, and what else the reader should know: one doubt of each kind, the gravest first.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let of = self.trials.len();
        let whole = self.doubts.iter().map(|doubt| Reason { doubt: doubt.clone(), rounds: of, of });
        let mut reasons: Vec<Reason> = whole.collect();
        for trial in &self.trials {
            // A trial has only one doubt of each kind.
            for doubt in &trial.doubts {
                let same = |reason: &&mut Reason| reason.doubt.id() == doubt.id();
                match reasons.iter_mut().find(same) {
                    Some(reason) => reason.rounds += 1,
                    None => reasons.push(Reason { doubt: doubt.clone(), rounds: 1, of }),
                }
            }
        }
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.doubt.gravity()));
        reasons
    }
}

impl Table {
    /// The verdicts on its rows, one by one.
    #[must_use]
    pub fn worth(&self) -> Worth {
        Worth::of(self.competitors().map(Row::verdict))
    }

    /// Its verdict as a whole; none before the first trial. An alarm makes it suspect.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let rows: Vec<Verdict> = self.competitors().filter_map(Row::verdict).collect();
        let alarm = self.alarms().first().map(|_| Gravity::Suspect);
        let remarks = self.remarks.iter().map(crate::Remark::gravity);
        Some(Verdict::of_parts(&rows)?.max(Verdict::by(remarks.chain(alarm))))
    }
}

impl Board {
    /// The verdicts on all rows, one by one.
    #[must_use]
    pub fn worth(&self) -> Worth {
        Worth::of(self.tables.iter().flat_map(Table::competitors).map(Row::verdict))
    }

    /// Its verdict as a whole; none before the first trial.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let tables: Vec<Verdict> = self.tables.iter().filter_map(Table::verdict).collect();
        Verdict::of_parts(&tables)
    }
}

#[cfg(test)]
mod tests;
