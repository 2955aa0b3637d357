//! A run of an experiment as text, JSON, CSV, page and chart. Computes no number that it prints: `analysis` does.

mod came_to;
mod columns;
mod comparison;
mod conformance;
mod csv;
mod curve;
mod differences;
mod heading;
mod held;
mod json;
mod markdown;
mod picture;
mod results;
mod rounds;
mod standing;
mod text;
mod trouble;
pub(crate) mod words;

use std::path::Path;

use analysis::{Board, Fairness, Row, Weighed};
use lab::experiment::Experiment;
use lab::history::History;
use lab::misread::Page;
use lab::record::{RunRecord, TrialRecord};
use lab::workload::Workload;

pub(crate) use came_to::CameTo;
pub(crate) use comparison::{Compared, Side};
pub(crate) use curve::Glyphs;
pub(crate) use words::rounds;

/// A run, as it is to be told.
pub(crate) struct Told<'a> {
    /// The run's number in its store.
    pub(crate) id: String,
    pub(crate) run: &'a RunRecord,
    /// Those that are there and whole, in any order.
    pub(crate) trials: &'a [TrialRecord],
    /// A sentence for each trial that is no longer what was kept.
    pub(crate) damaged: Vec<String>,
    /// The article's figures.
    pub(crate) history: History,
    /// What went wrong with them.
    pub(crate) history_says: Option<String>,
    /// What the experiment's file said, as far as this dyno can read it.
    experiment: Option<Experiment>,
    board: Board,
    fairness: Fairness,
}

impl<'a> Told<'a> {
    /// Weighs a run. Published figures come from the run's own files, else from the project at `root`.
    pub(crate) fn of(
        id: &impl ToString,
        run: &'a RunRecord,
        trials: &'a [TrialRecord],
        damaged: Vec<String>,
        root: Option<&Path>,
    ) -> Told<'a> {
        let experiment = experiment(run);
        let name = experiment.as_ref().and_then(|experiment| experiment.history.as_deref());
        let (history, history_says) = match name.map(|name| history(run, root, name)) {
            None => (History::default(), None),
            Some(Ok(history)) => (history, None),
            Some(Err(says)) => (History::default(), Some(says)),
        };
        Told {
            id: id.to_string(),
            run,
            trials,
            damaged,
            history,
            history_says,
            experiment,
            board: Board::of(run, trials),
            fairness: Fairness::of(run, trials),
        }
    }

    /// Whether the number of rounds was looked for.
    fn is_bound(&self) -> bool {
        self.experiment.as_ref().is_some_and(|experiment| experiment.until.is_some())
    }

    /// What people call a subject.
    fn title<'t>(&'t self, subject: &'t str) -> &'t str {
        let entry = self.run.entries.iter().find(|entry| entry.name == subject);
        entry.map(|entry| entry.title.as_str()).filter(|title| !title.is_empty()).unwrap_or(subject)
    }

    /// What people call a workload.
    fn workload_title(&self, name: &str) -> Option<String> {
        let path = format!("workloads/{name}.toml");
        let (path, text) = self.run.files.iter().find(|(other, _)| *other == path)?;
        let page = Page { name: path.clone(), text: text.clone() };
        Workload::parse(name, page).ok().map(|workload| workload.title)
    }

    /// Every row of the board with its workload.
    fn rows(&self) -> impl Iterator<Item = (&str, &Row)> {
        let tables = self.board.tables.iter();
        tables.flat_map(|table| table.rows.iter().map(|row| (table.workload.as_str(), row)))
    }

    /// Every trial of the board with its workload and row.
    fn weighed(&self) -> impl Iterator<Item = (&str, &Row, &Weighed)> {
        self.rows()
            .flat_map(|(workload, row)| row.trials.iter().map(move |trial| (workload, row, trial)))
    }
}

/// The experiment as it was run.
fn experiment(run: &RunRecord) -> Option<Experiment> {
    let (name, text) = run.files.first()?;
    let page = Page { name: name.clone(), text: text.clone() };
    let experiment = Experiment::parse(&run.name, page).ok()?;
    Some(if run.is_quick { experiment.quickened() } else { experiment })
}

fn history(run: &RunRecord, root: Option<&Path>, name: &str) -> Result<History, String> {
    let shown = format!("experiments/history/{name}");
    let history = match (run.files.iter().find(|(path, _)| *path == shown), root) {
        (Some((_, text)), _) => History::parse(&Page { name: shown, text: text.clone() }),
        (None, Some(root)) => History::read(&root.join(&shown), &shown),
        (None, None) => return Err(format!("{shown}: no project is here to look for it")),
    };
    history.map_err(|misread| misread.to_string())
}

/// The whole report for a terminal of this width.
pub(crate) fn text(told: &Told<'_>, width: usize, is_coloured: bool, glyphs: Glyphs) -> String {
    text::of(told, width, is_coloured, glyphs)
}

/// The whole run as one JSON object, with a line end.
pub(crate) fn json(told: &Told<'_>) -> serde_json::Result<String> {
    json::of(told)
}

/// A line for each trial.
pub(crate) fn csv(told: &Told<'_>) -> String {
    csv::of(told)
}

/// Sentences and tables for a README.
pub(crate) fn markdown(told: &Told<'_>) -> String {
    markdown::of(told)
}

/// One self-contained HTML file.
pub(crate) fn page(told: &Told<'_>) -> String {
    picture::page(told)
}

/// What was asked of somebody, in the experiment's order.
pub(crate) fn workloads<'t>(told: &'t Told<'_>) -> Vec<&'t str> {
    told.board.tables.iter().map(|table| table.workload.as_str()).collect()
}

/// A workload's chart; nothing of one that was not asked for.
pub(crate) fn svg(told: &Told<'_>, workload: &str, theme: report::Theme) -> Option<String> {
    picture::svg(told, workload, theme)
}

#[cfg(test)]
mod fixture;

#[cfg(test)]
mod tests;
