//! What is printed and written of a search.

use std::path::Path;

use analysis::search::{Searched, searched};
use archive::keep;
use campaign::capacity;
use campaign::project::Project;
use lab::record::{CAPACITY, RunRecord};
use report::capacity::{FinishedSearch, SearchOutcome, document, json, outcome, page};
use report::render::{self, Format, Screen};
use store::{RunId, Store};

use super::CapacityFlags;
use crate::shell::{ExitStatus, Refusal};

/// A search as it is shown.
pub(super) fn finished<'a>(
    record: &'a RunRecord,
    found: &'a Searched,
    run: RunId,
) -> FinishedSearch<'a> {
    FinishedSearch::of(run.to_string(), record, found)
}

/// Prints the answer, and writes the files that were asked for.
pub(super) fn deliver(
    flags: &CapacityFlags,
    found: &FinishedSearch<'_>,
    store: &Path,
) -> Result<(), Refusal> {
    let lost =
        |error: &dyn std::fmt::Display| Refusal::new(format!("the results are lost: {error}"));
    let as_json = json(found).map_err(|error| lost(&error))?;
    let text = match flags.json {
        true => as_json.clone(),
        false => render::text(&document(found), terminal::screen()),
    };
    terminal::print(&text)?;
    if let Some(path) = &flags.output {
        keep::write_for("--output", path, &as_json)?;
    }
    if let Some(path) = &flags.html {
        keep::write_for("--html", path, &page(found))?;
    }
    let option = Project::store_option(store);
    terminal::notice(&format!("kept as run {}: dyno report {}{option}", found.id, found.id));
    Ok(())
}

/// A kept search in a format that there is of it; none if the run is no search.
pub(crate) fn again(
    store: &Store,
    run: RunId,
    format: Format,
    screen: Screen,
) -> Result<Option<String>, Refusal> {
    let record = store.run(run)?;
    if !record.facts.iter().any(|fact| fact.name == CAPACITY) {
        return Ok(None);
    }
    let searched = searched(&record, &capacity::kept(store, run)?);
    let Some(found) = searched.first() else { return Ok(None) };
    let found = finished(&record, found, run);
    Ok(Some(match format {
        Format::Text => render::text(&document(&found), screen),
        Format::Markdown => render::markdown(&document(&found)),
        Format::Html => page(&found),
        Format::Json => json(&found).map_err(|error| Refusal::new(error.to_string()))?,
        Format::Csv | Format::Svg => return Ok(None),
    }))
}

pub(super) fn status(found: &Searched) -> ExitStatus {
    match outcome(&found.answer) {
        SearchOutcome::Found => ExitStatus::Yes,
        SearchOutcome::NotMet => ExitStatus::No,
        SearchOutcome::CannotTell => ExitStatus::CouldNotTell,
    }
}

/// The newest search that was interrupted.
pub(super) fn newest_unfinished(store: &Store) -> Result<RunId, Refusal> {
    let mut runs = store.runs()?;
    runs.sort_by_key(|run| std::cmp::Reverse(run.id));
    for run in runs.iter().filter(|run| !run.is_finished && run.damage.is_none()) {
        if store.run(run.id)?.facts.iter().any(|fact| fact.name == CAPACITY) {
            return Ok(run.id);
        }
    }
    Err(Refusal::new(format!(
        "{}: no search for a capacity is unfinished; begin one: dyno capacity TARGET --p99 20ms",
        store.path().display()
    )))
}
