//! A search for the capacity of one server: what it is worth, the rates that were tried, its sentences, its chart, and as
//! JSON. `run/searches.rs` composes the report of a run from them.

pub(crate) mod chart;
mod doubts;
pub(crate) mod json;
pub(crate) mod sentence;

use std::ops::Deref;

use analysis::search::{Answer, Conclusion, End, Judged, Place, Pooled, RunSearch, Searched, Word};
use lab::experiment::Shape;
use lab::record::CAPACITY;
use lab::search_goal::SaidBy;
use units::rate;

use crate::document::{Cell, Column, Row, Table, Tone};
use crate::run::findings::Findings;
use crate::verdict::ExplainedVerdict;

pub(crate) use json::CapacityDocument;
pub(crate) use json::json;
pub use sentence::{aim, bracket, criterion, progress, trial};

/// A search of a run that is over, or as far as it is kept.
pub(crate) struct FinishedSearch<'f> {
    pub(crate) findings: &'f Findings<'f>,
    pub(crate) searched: &'f Searched,
    /// First and last place among the servers of its task; none: it is not ranked.
    pub(crate) rank: Option<(usize, usize)>,
}

impl Deref for FinishedSearch<'_> {
    type Target = Searched;

    fn deref(&self) -> &Searched {
        self.searched
    }
}

impl<'f> FinishedSearch<'f> {
    /// Without its rank.
    pub(crate) fn of(findings: &'f Findings<'_>, searched: &'f Searched) -> FinishedSearch<'f> {
        FinishedSearch { findings, searched, rank: None }
    }

    /// The server, by its title.
    pub(crate) fn server(&self) -> &'f str {
        self.findings.title(&self.searched.of.subject)
    }

    /// Its colour and sign.
    pub(crate) fn slot(&self) -> usize {
        self.findings.slot(&self.of.subject)
    }

    fn is_poisson(&self) -> bool {
        let shape = self.findings.run.experiment.as_ref().map(|experiment| experiment.shape);
        matches!(shape, Some(Shape::Open { poisson: true, .. }))
    }

    /// Where its settings can be changed.
    fn by(&self) -> SaidBy {
        if self.findings.fact(CAPACITY).is_some() { SaidBy::Flags } else { SaidBy::File }
    }

    /// Whether full trials say anything of what it holds.
    pub(crate) fn is_known(&self) -> bool {
        self.odd.is_none() && self.answer.bracket().is_some()
    }

    /// Why it is not ranked, whatever it holds: it gave wrong answers, or does not meet what the experiment requires.
    pub(crate) fn unmet(&self) -> Option<&'f str> {
        let RunSearch { subject, task, .. } = &self.searched.of;
        let mut tables = self.findings.board.tables.iter();
        let mut rows = tables.find(|table| table.workload == *task)?.rows.iter();
        rows.find_map(|row| row.unmet.as_deref().filter(|_| row.subject == *subject))
    }
}

pub(crate) fn verdict(found: &FinishedSearch<'_>) -> ExplainedVerdict {
    ExplainedVerdict::by(doubts::of(found))
}

/// Every rate that was tried; none if there is no rate yet.
pub(crate) fn tried_rates(found: &FinishedSearch<'_>, key: String) -> Option<Table> {
    let mut columns = vec![
        Column::new("rate", "requests/s", 0),
        Column::new("word", "", 0).left(),
        Column::new("kept", "kept", 0).meaning("trials that met the limits by themselves, of all"),
    ];
    let criteria = found.of.search.aim.criteria();
    columns.extend(criteria.iter().enumerate().map(|(place, of)| {
        Column::new(format!("lost_{place}"), sentence::column(of), place as u8)
            .meaning(
                "share of the requests due, over all trials of the rate; 93 % interval; ≥: trials ended early, and more may \
                 have been lost",
            )
    }));
    let rows = found.answer.places.iter().flat_map(rows);
    let table = Table::of(key, columns, rows.collect::<Vec<_>>());
    (!found.answer.places.is_empty()).then_some(table)
}

/// What full trials say of a rate, and what short ones do.
fn rows(place: &Place) -> Vec<Row> {
    let full = place.judged.iter().map(|judged| {
        let (word, tone) = match judged.word {
            Word::Holds => ("holds", Tone::Good),
            Word::Breaks => ("breaks", Tone::Bad),
            Word::Open => ("undecided", Tone::Dim),
        };
        row(place.rate, judged, word, tone)
    });
    let short = place.short.iter().map(|judged| {
        let word = if judged.of == 1 { "short trial" } else { "short trials" };
        row(place.rate, judged, word, Tone::Dim)
    });
    full.chain(short).collect()
}

fn row(per_s: f64, judged: &Judged, word: &str, tone: Tone) -> Row {
    let early = match judged.ended_early {
        0 => String::new(),
        all if all == judged.of => ", ended early".into(),
        some => format!(", {some} ended early"),
    };
    let mut cells = vec![
        Cell::text(rate(per_s)).valued(Some(per_s)),
        Cell::text(format!("{word}{early}")).toned(tone),
        Cell::text(format!("{} of {}", judged.kept, judged.of)),
    ];
    cells.extend(judged.pooled.iter().map(lost));
    Row { cells, ..Row::default() }
}

fn lost(pooled: &Pooled) -> Cell {
    let mut cell = Cell::text(sentence::lost(pooled)).valued(Some(pooled.loss));
    let between =
        |(low, high): (f64, f64)| format!("[{}–{}]", sentence::bare(low), sentence::bare(high));
    cell.interval = pooled.interval.filter(|_| !pooled.is_bound).map(between);
    cell
}

/// What a program's exit code says of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOutcome {
    /// Both ends of a bracket are known, or the capacity is beyond the range.
    Found,
    /// Not even the lowest rate is kept.
    NotMet,
    CannotTell,
}

/// The outcome of a search.
pub(crate) fn outcome(answer: &Answer) -> SearchOutcome {
    let is_known = |end: &Option<End>| end.as_ref().is_some_and(End::is_decided);
    match answer.conclusion {
        Conclusion::Found | Conclusion::AtLeast => SearchOutcome::Found,
        Conclusion::NotMet => SearchOutcome::NotMet,
        Conclusion::Wider | Conclusion::OutOfTime { .. }
            if is_known(&answer.lower) && is_known(&answer.upper) =>
        {
            SearchOutcome::Found
        }
        Conclusion::Wider
        | Conclusion::OutOfTime { .. }
        | Conclusion::Unfinished { .. }
        | Conclusion::Collapsed { .. }
        | Conclusion::CannotTell { .. } => SearchOutcome::CannotTell,
    }
}
