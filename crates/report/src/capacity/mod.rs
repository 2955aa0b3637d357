//! A search for a capacity as a document and as JSON.

pub(crate) mod chart;
mod doubts;
pub(crate) mod json;
pub(crate) mod words;

use analysis::search::{
    Answer, Conclusion, End, Ending, Judged, OddTrial, Place, Pooled, Search, Searched, Word,
};
use lab::experiment::Shape;
use lab::record::{CAPACITY, RunRecord};
use lab::sought::SaidBy;
use units::{count, counted, duration, rate};

use crate::chart::Stand;
use crate::document::{Block, Cell, Column, Depth, Document, Row, Section, Table, Tone};
use crate::verdict::ExplainedVerdict;

pub(crate) use json::Document as JsonDocument;
pub use json::json;
pub use words::{aim, bracket, criterion, progress, trial};

/// A search that is over, or as far as it is kept.
pub struct FinishedSearch<'a> {
    /// The run's number in its store.
    pub id: String,
    /// The server, by its title.
    pub server: &'a str,
    pub is_poisson: bool,
    pub search: &'a Search,
    pub answer: &'a Answer,
    /// What the reference achieves here; none where this is not known.
    pub ceiling: Option<f64>,
    /// How its trials ended that were no measurement.
    pub endings: &'a [Ending],
    /// The first trial that is not the one that belongs there.
    pub odd: Option<OddTrial>,
    /// Where its settings can be changed.
    pub by: SaidBy,
}

impl<'a> FinishedSearch<'a> {
    /// A search of a run.
    #[must_use]
    pub fn of(id: String, run: &'a RunRecord, found: &'a Searched) -> FinishedSearch<'a> {
        let shape = run.experiment.as_ref().map(|experiment| experiment.shape);
        let entry = run.entries.iter().find(|entry| entry.name == found.of.subject);
        let title = entry.map(|entry| entry.title.as_str()).filter(|title| !title.is_empty());
        // By the first rules the reference was believed whatever it gave.
        let of_first_rules = found.of.ceiling.filter(|_| found.of.search.ceiling.is_none());
        let is_of_flags = run.facts.iter().any(|fact| fact.name == CAPACITY);
        FinishedSearch {
            id,
            server: title.unwrap_or(&found.of.subject),
            is_poisson: matches!(shape, Some(Shape::Open { poisson: true, .. })),
            search: &found.of.search,
            answer: &found.answer,
            ceiling: found.answer.ceiling.or(of_first_rules),
            endings: &found.endings,
            odd: found.odd,
            by: if is_of_flags { SaidBy::Flags } else { SaidBy::File },
        }
    }
}

/// The whole report.
#[must_use]
pub fn document(found: &FinishedSearch<'_>) -> Document {
    let verdict = verdict(found);
    let drawn = chart::drawn("c", &[chart::Drawn { slot: 0, found }], Stand::Page);
    let mut sections = vec![tried(found), verdict.section()];
    sections[0].blocks.insert(0, Block::picture(drawn));
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        title: format!("the capacity of {}", found.server),
        answer: words::answer(found),
        verdict: verdict.word,
        conditions: vec![conditions(found)],
        sections,
        ..Document::default()
    }
}

/// The same as a page for a browser.
#[must_use]
pub fn page(found: &FinishedSearch<'_>) -> String {
    let mut document = document(found);
    document.label = format!("dyno capacity · run {}", found.id);
    crate::page::alone(&document).into_string()
}

pub(crate) fn verdict(found: &FinishedSearch<'_>) -> ExplainedVerdict {
    ExplainedVerdict::by(doubts::of(found))
}

fn conditions(found: &FinishedSearch<'_>) -> String {
    let Search { width, limit_s, .. } = found.search;
    let limit = std::time::Duration::from_secs_f64(*limit_s);
    format!(
        "{}; to {} in at most {}; {} in {}{}",
        words::aim(&found.search.aim),
        words::whole(*width),
        duration(limit),
        counted(found.answer.trials as u64, "trial", "trials"),
        words::seconds(found.answer.seconds),
        found.ceiling.map_or(String::new(), |per_s| format!(
            "; dyno's own server gives {} answers/s here",
            rate(per_s)
        ))
    )
}

/// Every rate that was tried.
fn tried(found: &FinishedSearch<'_>) -> Section {
    let blocks = tried_rates(found, "tried".into()).map(Block::Table);
    Section::new("tried", "Every rate that was tried", Depth::Brief).with(blocks)
}

/// The same as a table; none if there is no rate yet.
pub(crate) fn tried_rates(found: &FinishedSearch<'_>, key: String) -> Option<Table> {
    let mut columns = vec![
        Column::new("rate", "requests/s", 0),
        Column::new("word", "", 0).left(),
        Column::new("kept", "kept", 0).meaning("trials that kept the aim by themselves, of all"),
    ];
    let criteria = found.search.aim.criteria();
    columns.extend(criteria.iter().enumerate().map(|(place, of)| {
        Column::new(format!("lost_{place}"), words::column(of), place as u8)
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
    let mut cell = Cell::text(words::lost(pooled)).valued(Some(pooled.loss));
    let between = |(low, high): (f64, f64)| format!("[{}–{}]", words::bare(low), words::bare(high));
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
#[must_use]
pub fn outcome(answer: &Answer) -> SearchOutcome {
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

/// `5 fresh processes`
fn trials_of(found: &FinishedSearch<'_>, of: usize) -> String {
    match found.search.is_fresh {
        true => counted(of as u64, "fresh process", "fresh processes"),
        false => format!(
            "{} {} of one process",
            count(of as u64),
            if of == 1 { "load" } else { "loads" }
        ),
    }
}
