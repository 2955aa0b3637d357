//! The JSON of loads, read back from a file that may hold anything: figures and verdicts, to be compared.

use std::collections::BTreeMap;

use analysis::{Board, Faults, Number, StatedLoad, Tolerated, Verdict};
use lab::experiment::Point;
use lab::figure::Figure;
use lab::plain_words;
use lab::record::{Entry, RunRecord};
use load::{Cut, Failure, SECOND, Sessions, Tally};
use serde::Deserialize;

use super::json::{self, OrderJson};
use super::repeat;
use crate::Findings;

/// The loads of one file.
pub struct LoadsFile {
    run: RunRecord,
    name: String,
    order: String,
    point: Point,
    loads: Vec<StatedLoad>,
    tolerated: Tolerated,
}
/// All loads of files are one workload.
const WORKLOAD: &str = "load";

#[derive(Deserialize)]
struct Schema {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Many {
    loads: Vec<One>,
}

/// More requests than any load has: several loads' counts can be added.
const COUNTED_MOST: u64 = 1 << 48;

/// The name of the fact that says whether dyno polled while it waited.
pub(crate) const POLLING: &str = "polling";

/// What is compared of a load: a small part of its document.
#[derive(Deserialize)]
struct One {
    began_unix_ms: i64,
    verdict: Judged,
    order: OrderJson,
    figures: BTreeMap<String, Number>,
    books: Books,
    sessions: Sessions,
}

#[derive(Deserialize)]
struct Judged {
    word: Option<String>,
    doubts: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

#[derive(Deserialize)]
struct Books {
    attempted: u64,
    by_class: BTreeMap<String, u64>,
}

impl LoadsFile {
    /// Reads the text of the file with this name, or says why it is none.
    pub fn read(name: &str, text: &str) -> Result<LoadsFile, String> {
        let wrong = |error: serde_json::Error| {
            let says = plain_words::of_json(&error);
            format!("it is no JSON of `dyno load`: line {}, {says}", error.line())
        };
        let Schema { schema } = serde_json::from_str(text).map_err(wrong)?;
        let loads = match schema.as_deref() {
            Some(json::SCHEMA) => vec![serde_json::from_str(text).map_err(wrong)?],
            Some(repeat::SCHEMA) => serde_json::from_str::<Many>(text).map_err(wrong)?.loads,
            Some(other) => {
                return Err(format!(
                    "its schema is `{}`, and only {} and {} are compared as files: `dyno load --json` writes them; runs \
                     are compared by their numbers in a store",
                    other.escape_debug(),
                    json::SCHEMA,
                    repeat::SCHEMA
                ));
            }
            None => {
                return Err("it has no `schema`: name a file that `dyno load --json` wrote".into());
            }
        };
        let Some(first) = loads.first() else { return Err("there is no load in it".into()) };
        let facts = first.order.facts();
        if loads.iter().any(|load| load.order.facts() != facts) {
            return Err("its loads are not of one kind".into());
        }
        let order = first.order.in_words.clone();
        let began_unix_ms = first.began_unix_ms;
        let run = RunRecord {
            name: WORKLOAD.into(),
            began_unix_ms,
            facts,
            entries: vec![Entry { name: name.into(), title: name.into(), ..Entry::default() }],
            ..RunRecord::default()
        };
        let point = first.order.point().ok_or("its load has no rate and no connections")?;
        let failed_percent = first.order.max_failures_percent;
        let tolerated = Tolerated { failed_percent, ..Tolerated::default() };
        let loads = loads.into_iter().map(One::stated).collect::<Result<_, _>>()?;
        Ok(LoadsFile { run, name: name.into(), order, point, loads, tolerated })
    }

    /// Both, as sides of a comparison. They stand in one row whatever their loads: how these differ is said beside it.
    pub fn findings<'t>(a: &'t LoadsFile, b: &'t LoadsFile) -> [Findings<'t>; 2] {
        [a, b].map(|file| {
            let names = [&*file.name, WORKLOAD];
            let board = Board::of_stated(names, a.point, &file.loads, file.tolerated);
            Findings::stated(&file.name, &file.run, board, file.order.clone())
        })
    }

    /// The name of its only subject.
    pub fn subject(&self) -> &str {
        &self.name
    }
}

impl One {
    fn stated(self) -> Result<StatedLoad, String> {
        let word = self.verdict.word.as_deref();
        let all = [Verdict::Valid, Verdict::Suspect, Verdict::Invalid];
        let verdict = all.into_iter().find(|verdict| Some(verdict.name()) == word);
        let faults = self.faults()?;
        let numbers = self.figures.into_iter();
        let numbers: Vec<(Figure, Number)> =
            numbers.filter_map(|(name, found)| Some((Figure::from_name(&name)?, found))).collect();
        if let Some((figure, number)) = numbers.iter().find(|(_, number)| number.value < 0.0) {
            return Err(format!("{} is {}, and cannot be below 0", figure.name(), number.value));
        }
        Ok(StatedLoad {
            numbers,
            verdict: verdict.ok_or("its verdict is none of valid, suspect and invalid")?,
            doubts: self.verdict.doubts.into_iter().map(|doubt| doubt.id).collect(),
            faults,
        })
    }

    /// What went wrong, from the counts.
    fn faults(&self) -> Result<Faults, String> {
        let (Books { attempted, by_class, .. }, sessions) = (&self.books, &self.sessions);
        let mut total = Tally::new(SECOND);
        total.attempted = *attempted;
        for (name, times) in by_class {
            let failure = Failure::named(name)
                .ok_or_else(|| format!("it has failures of the unknown class `{name}`"))?;
            total.failed[failure.index()] = *times;
        }
        // What is not needed here is not believed, and not added up.
        let cut = Cut { unreached: 0, ..sessions.cut };
        total.sessions = Sessions { attempted: sessions.attempted, cut, ..Sessions::default() };
        let all = by_class.values().chain([&sessions.cut.sessions]).map(|times| u128::from(*times));
        if COUNTED_MOST < *attempted
            || COUNTED_MOST < sessions.attempted
            || u128::from(COUNTED_MOST) < all.sum()
        {
            return Err("it counts more requests than there can be".into());
        }
        Ok(Faults::of([&total]))
    }
}

#[cfg(test)]
mod tests;
