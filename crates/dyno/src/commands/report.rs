//! `dyno report`: a kept run once more, as text, Markdown, JSON, CSV, page or chart.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Args, ValueEnum};
use lab::record::{RunRecord, TrialRecord};
use store::{Damage, Kept, RunId, Store, StoreError, Want};

use super::charts::{self, ChartFlags};
use super::{Answer, Refusal};
use crate::board::{self, CameTo, Told};
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
    #[command(flatten)]
    charts: ChartFlags,
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
    /// Sentences and tables for a README
    #[value(name = "md")]
    Markdown,
    /// One self-contained page
    Html,
    /// A workload's chart
    Svg,
}

pub(crate) fn run(flags: &ReportFlags) -> Result<Answer, Refusal> {
    match (&flags.output, flags.format) {
        (None, _) => {}
        (Some(path), Format::Svg) => charts::check(path)?,
        (Some(path), _) => keep::check("--output", path)?,
    }
    if flags.format != Format::Svg {
        flags.charts.check_unused()?;
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
    if flags.format == Format::Svg {
        let (run, trials, damaged) = kept(&store, id)?;
        let told = Told::of(&id, &run, &trials, damaged, root.as_deref());
        charts::tell(&told, &flags.charts, flags.output.as_deref())?;
        return Ok(Answer::Yes);
    }
    tell(&store, id, root.as_deref(), flags.format, flags.output.as_deref())?;
    Ok(Answer::Yes)
}

/// Reports a kept run on standard output, or in a file.
fn tell(
    store: &Store,
    id: RunId,
    root: Option<&Path>,
    format: Format,
    output: Option<&Path>,
) -> Result<(), Refusal> {
    let (run, trials, damaged) = kept(store, id)?;
    tell_of(&Told::of(&id, &run, &trials, damaged, root), format, output)
}

/// Reports a run that has just come to its end, leaves its page in the folder `pages`, says where, and what it came to.
pub(super) fn finish(
    store: &Store,
    id: RunId,
    project: &Project,
    (format, output): (Format, Option<&Path>),
    pages: &Path,
) -> Result<CameTo, Refusal> {
    let (run, trials, damaged) = kept(store, id)?;
    let told = Told::of(&id, &run, &trials, damaged, Some(&project.root));
    let page = leave(&told, pages);
    tell_of(&told, format, output)?;
    match page {
        Ok(path) if format == Format::Text && output.is_none() => {
            written(terminal::tell(&format!("page: {}\n", near(&path))))?;
        }
        Ok(path) => terminal::say(&format!("page: {}", near(&path))),
        // What was measured is kept and told: a page more or less changes no answer.
        Err(error) => {
            terminal::say(&format!(
                "dyno: no page was written: {}: {error}; `dyno report {id} --format html -o FILE` makes it",
                pages.display()
            ));
        }
    }
    Ok(told.came_to())
}

/// Writes the run's page, whole or not at all.
fn leave(told: &Told<'_>, pages: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(pages)?;
    let path = pages.join(format!("{}-{}.html", told.id, file_name(&told.run.name)));
    keep::write(&path, &board::page(told))?;
    Ok(path)
}

/// A name as a part of a file's: letters, digits, and what no shell obeys.
fn file_name(name: &str) -> String {
    const LONGEST: usize = 60;
    let is_safe = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    name.chars().take(LONGEST).map(|c| if is_safe(c) { c } else { '-' }).collect()
}

/// The shortest way to a file from where we are.
fn near(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let inside = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    inside.unwrap_or_else(|| path.to_path_buf()).display().to_string()
}

fn tell_of(told: &Told<'_>, format: Format, output: Option<&Path>) -> Result<(), Refusal> {
    let (width, is_coloured) = match output {
        Some(_) => (FILE_WIDTH, false),
        None => (terminal::stdout_width(), terminal::stdout_is_coloured()),
    };
    let text = match format {
        Format::Text => board::text(told, width, is_coloured, terminal::stdout_glyphs()),
        Format::Json => board::json(told).map_err(|error| Refusal::new(error.to_string()))?,
        Format::Csv => board::csv(told),
        Format::Markdown => board::markdown(told),
        Format::Html => board::page(told),
        Format::Svg => return charts::tell(told, &ChartFlags::default(), output),
    };
    match output {
        None => written(terminal::tell(&text)),
        Some(path) => keep::write(path, &text)
            .map_err(|error| Refusal::new(format!("--output {}: {error}", path.display()))),
    }
}

fn written(told: io::Result<()>) -> Result<(), Refusal> {
    told.map_err(|error| Refusal::new(format!("standard output: {error}")))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_s_name_is_a_harmless_part_of_a_file_name() {
        assert_eq!(file_name("five-servers_2011.v2"), "five-servers_2011.v2");
        assert_eq!(file_name("../a b/$(x)\n\u{1b}é"), "..-a-b---x----");
        assert_eq!(file_name(&"x".repeat(500)).len(), 60);
    }
}
