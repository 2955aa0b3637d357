//! Shows: findings in, pages and charts out. Computes no number that it prints.

mod chart;
mod classic;
mod conformance;
mod detail;
mod held;
mod markup;
mod page;
mod sentence;
mod signature;

use analysis::{Board, Course, Detail, Fairness, Row, Table, ThenNow};
use lab::experiment::{Experiment, Point};
use lab::figure::Figure;
use lab::history::History;
use lab::record::RunRecord;

pub use chart::Theme;
pub use markup::escaped;
pub use page::page;

/// All that is to be shown of a run.
pub struct Findings<'a> {
    /// The run's number in its store.
    pub id: &'a str,
    /// What it was to do.
    pub run: &'a RunRecord,
    /// What the experiment's file said, as far as it can be read.
    pub experiment: Option<&'a Experiment>,
    /// The tables.
    pub board: &'a Board,
    /// What differs between the subjects.
    pub fairness: &'a Fairness,
    /// The article's figures.
    pub history: &'a History,
    /// The same with ours beside them: one for each workload that it has figures of.
    pub then_now: &'a [ThenNow],
    /// Every subject's pictures; none where only a chart is wanted.
    pub details: &'a [Detail],
    /// A ramp of held connections along its time, for each who held any; none where only a chart is wanted.
    pub courses: &'a [Course],
    /// What is told in words.
    pub words: Words,
    /// A number in its figure's unit, as tables have it.
    pub number: fn(Figure, f64) -> String,
}

/// Sentences about a run; none is markup.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// When it began.
    pub began: String,
    /// How it was pressed.
    pub load: String,
    /// Where.
    pub machine: String,
    /// What must be known before the first number.
    pub warnings: Vec<String>,
    /// What is odd about a table as a whole.
    pub alarms: Vec<String>,
    /// Each with its heading first: what is in doubt, what failed, what went wrong.
    pub troubles: Vec<Vec<String>>,
    /// Where the number of rounds was looked for: its heading first, then why each row has no more.
    pub rounds: Vec<String>,
    /// A line for each trial.
    pub csv: String,
}

/// A workload's signature plot, alone.
#[must_use]
pub fn svg(findings: &Findings<'_>, workload: &str, theme: Theme) -> Option<String> {
    let table = findings.board.tables.iter().find(|table| table.workload == workload)?;
    let style = format!("{}{}", theme.style(), conformance::pale(findings));
    let stand = chart::Stand::Alone(&style);
    if table.is_held() {
        return Some(held::drawn(findings, workload, stand));
    }
    Some(signature::drawn(findings, table, "a", chart::Room::Wide, stand))
}

/// The answer in two or three honest sentences; none is markup.
#[must_use]
pub fn sentences(findings: &Findings<'_>) -> Vec<String> {
    sentence::all(findings)
}

impl Findings<'_> {
    /// What people call a subject.
    fn title<'t>(&'t self, subject: &'t str) -> &'t str {
        let entry = self.run.entries.iter().find(|entry| entry.name == subject);
        entry.map(|entry| entry.title.as_str()).filter(|title| !title.is_empty()).unwrap_or(subject)
    }

    /// A place of the axis with its unit.
    fn place(&self, point: Point) -> String {
        match point.value() {
            // One connection is no connections.
            few if few < 1_000.0 => point.to_string(),
            many => format!("{} {}", (self.number)(Figure::Offered, many), point.unit()),
        }
    }

    /// A subject's colour and mark: its place in the run.
    fn slot(&self, subject: &str) -> usize {
        let place = self.run.entries.iter().position(|entry| entry.name == subject);
        place.unwrap_or(self.run.entries.len())
    }

    /// Who competes in a table, in the run's order.
    fn subjects<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let rows = competing(table).into_iter();
        let mut names: Vec<&str> = rows.map(|row| row.subject.as_str()).collect();
        names.dedup();
        names
    }
}

/// A table's rows without those of references.
fn competing(table: &Table) -> Vec<&Row> {
    table.rows.iter().filter(|row| !row.is_reference).collect()
}

/// What a table has of servers that take part only to show what the machine and the instrument can do.
fn references(table: &Table) -> Vec<&Row> {
    table.rows.iter().filter(|row| row.is_reference).collect()
}
