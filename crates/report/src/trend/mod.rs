//! The runs of one experiment, one after another: whether its servers' leading figures change.

mod document;

use analysis::{Lead, Leader, Leading, Verdict};
use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::Fact;
use machine::facts::differences_beyond_a_start;

use crate::Findings;
use crate::document::{Cell, Mark};
use crate::held::lines::{each, units_of_1024};
use crate::load::terms;
use crate::run::{results, words};
use crate::written::Written;
pub use document::document;

/// What a trend keeps of a run: little, so that many fit into memory.
#[derive(Clone, Debug)]
pub struct RunFigures {
    id: String,
    experiment: String,
    began_unix_ms: i64,
    dyno: String,
    facts: Vec<Fact>,
    plan: Plan,
    tables: Vec<Figures>,
    /// A sentence for each trial that is damaged, and in no figure.
    damaged: Vec<String>,
}

/// What was to be done. Figures of different plans answer different questions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plan {
    is_quick: bool,
    /// The experiment's file and its workloads'; a subject's files may change, since that is what a trend shows.
    files: Vec<(String, String)>,
    /// What kept loads spoke, and what they offered with TLS.
    terms: Vec<Fact>,
}

/// A workload's figures.
#[derive(Clone, Debug)]
struct Figures {
    workload: String,
    /// Its name, and the title of its workload.
    title: String,
    leading: Leading,
    /// Best first.
    servers: Vec<Server>,
}

/// One server's figure.
#[derive(Clone, Debug)]
struct Server {
    subject: String,
    title: String,
    slot: usize,
    version: String,
    /// Where on the axis the figure was measured.
    place: Option<String>,
    /// None: there is none, and the cell says why.
    value: Option<f64>,
    interval: Option<(f64, f64)>,
    cell: Cell,
    /// None: no trial has been run yet.
    verdict: Option<Verdict>,
    /// A bound is in doubt, too.
    is_doubtful: bool,
}

impl Findings<'_> {
    /// What a trend needs of this run.
    pub fn figures(&self) -> RunFigures {
        let run = self.run;
        let others = ["subjects/", "experiments/history/"];
        let is_plan =
            |(path, _): &(String, String)| !others.iter().any(|folder| path.starts_with(folder));
        let files = run.texts().into_iter().filter(is_plan).collect();
        let terms = terms::unusual(&run.facts);
        let table = |table: &analysis::Table| Figures {
            workload: table.workload.clone(),
            title: self.titled_task(&table.workload),
            leading: table.leading(),
            servers: self
                .board
                .leaders(table)
                .iter()
                .map(|leader| self.server(leader, table))
                .collect(),
        };
        RunFigures {
            id: self.id.clone(),
            experiment: run.group(),
            began_unix_ms: run.began_unix_ms,
            dyno: run.dyno.clone(),
            facts: run.facts.clone(),
            plan: Plan { is_quick: run.is_quick, files, terms },
            tables: self.board.tables.iter().map(table).collect(),
            damaged: self.says_of_damage().map(String::from).collect(),
        }
    }

    fn server(&self, leader: &Leader<'_>, table: &analysis::Table) -> Server {
        let row = leader.row;
        let shown = leader.lead.as_ref().map(|lead| shown(lead, table.leading()));
        let is_bound = shown.as_ref().is_some_and(|shown| shown.is_bound);
        let cell = match &shown {
            None if row.measured() == 0 => results::unmeasured(row),
            None => Cell::text("kept the promise at no rate"),
            Some(shown) => shown.cell.clone(),
        };
        let is_peak = table.leading() == Leading::Throughput && table.is_curve();
        let version = self.entry(&row.subject).map_or("", |entry| &entry.version[..]);
        Server {
            subject: row.subject.clone(),
            title: self.title(&row.subject).into(),
            slot: self.slot(&row.subject),
            version: version.into(),
            place: is_peak.then(|| self.place(row.point)),
            value: shown.as_ref().map(|shown| shown.value),
            interval: shown.and_then(|shown| shown.interval),
            // Its verdict has a column.
            cell,
            verdict: row.verdict(),
            is_doubtful: row.is_doubtful() || is_bound,
        }
    }
}

/// A value as numbers, for the picture, and as a cell.
struct Shown {
    value: f64,
    interval: Option<(f64, f64)>,
    cell: Cell,
    is_bound: bool,
}

fn shown(lead: &Lead, leading: Leading) -> Shown {
    match lead {
        Lead::Row(estimate) => {
            let figure = match leading {
                Leading::P99 => Figure::ResponseP99,
                Leading::Throughput | Leading::Capacity | Leading::Memory => Figure::Throughput,
            };
            let written = Written::estimate(figure.unit(), estimate);
            let cell = Cell { interval: written.interval.clone(), ..written.cell(estimate.value) };
            let (value, interval) = (estimate.value, estimate.interval);
            Shown { value, interval, cell, is_bound: estimate.is_bound }
        }
        Lead::Capacity(capacity) => {
            let value = capacity.good.map_or(0.0, Point::value);
            let interval = capacity.rounds.map(|(low, high)| (low.value(), high.value()));
            let number = |value| words::number(Figure::Offered, value);
            let between = interval.map(|(low, high)| format!("[{}–{}]", number(low), number(high)));
            let mut cell = Cell { interval: between, ..Cell::text(number(value)) };
            cell.marks = cell.marks.when(capacity.bad.is_none(), Mark::Open);
            Shown { value, interval, cell, is_bound: capacity.bad.is_none() }
        }
        Lead::Memory(slope) => {
            let ends = slope.interval.map(|(low, high)| (units_of_1024(low), units_of_1024(high)));
            let cell = Cell { interval: Written::slope(slope).interval, ..Cell::text(each(slope)) };
            Shown { value: units_of_1024(slope.bytes), interval: ends, cell, is_bound: false }
        }
    }
}

/// What changed from one run to the next so that their figures are not alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Change {
    /// `machine`, `kernel`, `dyno`: what stands in a picture.
    words: Vec<&'static str>,
    /// One by one, with what it was.
    says: Vec<String>,
}

impl Change {
    fn between(before: &RunFigures, after: &RunFigures) -> Change {
        let mut change = Change::default();
        for found in differences_beyond_a_start(&before.facts, &after.facts) {
            let word = if found.name == "kernel" { "kernel" } else { "machine" };
            change.add(word, found.name, found.values);
        }
        if before.dyno != after.dyno {
            change.add("dyno", "dyno", [&before.dyno, &after.dyno]);
        }
        change
    }

    fn add(&mut self, word: &'static str, name: &str, [was, is]: [&str; 2]) {
        if !self.words.contains(&word) {
            self.words.push(word);
        }
        self.says.push(format!("{name} was {was}, and is {is}"));
    }

    fn is_any(&self) -> bool {
        !self.words.is_empty()
    }
}

#[cfg(test)]
mod tests;
