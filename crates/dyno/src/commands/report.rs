//! `dyno report`: a kept run once more, as text, JSON, CSV, page or chart.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lab::record::{RunRecord, TrialRecord};
use store::{Damage, Kept, RunId, Store, StoreError, Want};

use super::{Answer, Refusal};
use crate::board::{self, Told};
use crate::project::Project;
use crate::{keep, terminal};

/// Report a kept run once more: the newest, or the one with this number
///
/// The figures are made again from what the store keeps; nothing is measured.
#[derive(Args)]
pub(crate) struct ReportFlags {
    /// The run's number [default: the newest]
    run: Option<String>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Write to this file, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The store [default: .dyno/runs.sqlite of the project]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Columns of a text in a file.
const FILE_WIDTH: usize = 120;

/// What a report can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Tables for people
    Text,
    /// Everything, as docs/run-json.md says
    Json,
    /// A line for each trial
    Csv,
    /// One self-contained page
    Html,
    /// The first workload's chart
    Svg,
}

pub(crate) fn run(flags: &ReportFlags) -> Result<Answer, Refusal> {
    if let Some(path) = &flags.output {
        keep::check("--output", path)?;
    }
    let project = Project::find();
    let path = match (&flags.store, &project) {
        (Some(path), _) => path.clone(),
        (None, Ok(project)) => project.store_path(),
        (None, Err(refusal)) => return Err(refusal.clone()),
    };
    if !path.is_file() {
        return Err(Refusal::new(format!(
            "{}: no run has been kept here; `dyno run EXPERIMENT` makes one",
            path.display()
        )));
    }
    let store = Store::open(&path).map_err(|error| stored(&error))?;
    let id = which(&store, flags.run.as_deref())?;
    let root = project.ok().map(|project| project.root);
    tell(&store, id, root.as_deref(), flags.format, flags.output.as_deref())?;
    Ok(Answer::Yes)
}

/// Reports a kept run on standard output, or in a file.
pub(super) fn tell(
    store: &Store,
    id: RunId,
    root: Option<&Path>,
    format: Format,
    output: Option<&Path>,
) -> Result<(), Refusal> {
    let (run, trials, damaged) = kept(store, id)?;
    let told = Told::of(&id, &run, &trials, damaged, root);
    let (width, is_coloured) = match output {
        Some(_) => (FILE_WIDTH, false),
        None => (terminal::stdout_width(), terminal::stdout_is_coloured()),
    };
    let text = match format {
        Format::Text => board::text(&told, width, is_coloured),
        Format::Json => board::json(&told).map_err(|error| Refusal::new(error.to_string()))?,
        Format::Csv => board::csv(&told),
        Format::Html => board::page(&told),
        Format::Svg => board::svg(&told)
            .ok_or_else(|| Refusal::new(format!("run {id} has no trials, so there is no chart")))?,
    };
    match output {
        None => {
            terminal::tell(&text).map_err(|error| Refusal::new(format!("standard output: {error}")))
        }
        Some(path) => keep::write(path, &text)
            .map_err(|error| Refusal::new(format!("--output {}: {error}", path.display()))),
    }
}

/// The run that was asked for, or the newest.
fn which(store: &Store, asked: Option<&str>) -> Result<RunId, Refusal> {
    if let Some(text) = asked {
        return text.parse().map_err(|error: store::RunIdError| Refusal::new(error.to_string()));
    }
    let runs = store.runs().map_err(|error| stored(&error))?;
    let newest = runs.iter().map(|run| run.id).max();
    newest.ok_or_else(|| {
        Refusal::new("no run has been kept in this store; `dyno run EXPERIMENT` makes one")
    })
}

/// A run, its whole trials, and a sentence for each that is damaged.
pub(crate) fn kept(
    store: &Store,
    id: RunId,
) -> Result<(RunRecord, Vec<TrialRecord>, Vec<String>), Refusal> {
    let run = store.run(id).map_err(|error| stored(&error))?;
    let (mut trials, mut damaged) = (Vec::new(), Vec::new());
    for kept in store.trials(id, Want::Whole).map_err(|error| stored(&error))? {
        match kept {
            Kept::Whole(trial) => trials.push(*trial),
            Kept::Damaged(Damage { number, says }) => {
                let key = run.plan.iter().find(|key| key.number == number);
                let whose = key.map_or(String::new(), |key| {
                    format!(" ({}, {} at {})", key.subject, key.workload, key.point)
                });
                damaged.push(format!("trial {number}{whose}: {says}"));
            }
        }
    }
    Ok((run, trials, damaged))
}

fn stored(error: &StoreError) -> Refusal {
    Refusal::new(error.to_string())
}
