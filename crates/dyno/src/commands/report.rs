//! `dyno report`: reports a kept run again, as text, Markdown, JSON, CSV, page or chart.

use std::path::{Path, PathBuf};

use archive::keep;
use archive::kept::{findings, kept, newest_or, store_of};
use archive::page::{leave, near};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use store::{RunId, Store};

use super::capacity::shown::again as search_again;
use super::charts::{self, ChartFlags};
use crate::job::Job;
use crate::shell::{ExitStatus, Refusal, print};
use campaign::project::Project;
use report::render::{self, Format, Screen};
use report::run::{self, Findings, RaceOutcome, RunOutcome};

/// Show the results of a kept run: the newest, or the one with this number
///
/// The figures are computed again from what the store keeps; nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportFlags {
    /// The run's number [default: the newest]
    run: Option<String>,
    /// What to write
    #[arg(long, value_parser = formats(), default_value = Format::Text.name())]
    format: Format,
    /// All of the text: every row, the pictures, what differs between the servers, the rules of the RFCs, the machine
    #[arg(long)]
    full: bool,
    /// Write to this file, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The store [default: .dyno/runs.sqlite of the project, else ~/.local/state/dyno/runs.sqlite]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    #[command(flatten)]
    charts: ChartFlags,
}

const AFTER_HELP: &str = "\
Examples:
  # the newest run
  dyno report
  # run 3, with every row
  dyno report 3 --full
  # as a page for a browser, in one file
  dyno report 3 --format html -o page.html
  # its charts, into a folder
  dyno report 3 --format svg -o charts/

Exit codes:
  0    reported
  2    there is no such run, or it cannot be read or written";

/// Columns of a text in a file.
const FILE_WIDTH: usize = 120;

/// The formats, each with its use.
pub(super) fn formats() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.about()));
    PossibleValuesParser::new(values).try_map(|name| Format::named(&name).ok_or("no such format"))
}

/// The format of a report, its length, and its file.
#[derive(Clone, Copy)]
pub(super) struct How<'t> {
    pub(super) format: Format,
    pub(super) is_full: bool,
    pub(super) output: Option<&'t Path>,
}

pub(crate) fn run(flags: &ReportFlags) -> Result<ExitStatus, Refusal> {
    match (&flags.output, flags.format) {
        (None, _) => {}
        (Some(path), Format::Svg) => charts::check(path)?,
        (Some(path), _) => keep::check("--output", path)?,
    }
    if flags.format != Format::Svg {
        flags.charts.check_unused()?;
    }
    let (_, path) = store_of(flags.store.as_deref())?;
    let store = Store::open(&path)?;
    let id = newest_or(&store, flags.run.as_deref())?;
    if flags.format == Format::Svg {
        let loaded = kept(&store, id)?;
        let findings = findings(&store, id, &loaded);
        tell_damage(&findings);
        charts::write(&findings, &flags.charts, flags.output.as_deref())?;
        return Ok(ExitStatus::Yes);
    }
    let how = How { format: flags.format, is_full: flags.full, output: flags.output.as_deref() };
    write(&store, id, how)?;
    Ok(ExitStatus::Yes)
}

/// Reports a kept run on standard output, or in a file.
fn write(store: &Store, id: RunId, how: How<'_>) -> Result<(), Refusal> {
    let of_search = search_again(store, id, how.format, screen(how.output, how.is_full))?;
    if let Some(text) = of_search {
        return deliver(how.output, &text);
    }
    let loaded = kept(store, id)?;
    let findings = findings(store, id, &loaded);
    if how.format == Format::Csv {
        tell_damage(&findings);
    }
    write_findings(&findings, how)
}

/// What programs read has its own place for it; people see it on standard error.
pub(super) fn tell_damage(findings: &Findings<'_>) {
    let tell = |says| terminal::notice(&format!("dyno: run {}: {says}", findings.id));
    findings.says_of_damage().for_each(tell);
}

/// Reports a run that has just ended, writes its page into the folder `pages`, prints its path, and returns the run's
/// result.
pub(super) fn finish(
    store: &Store,
    id: RunId,
    how: How<'_>,
    pages: &Path,
) -> Result<RunOutcome, Refusal> {
    let loaded = kept(store, id)?;
    let findings = findings(store, id, &loaded);
    let page = leave(&findings, pages);
    write_findings(&findings, how)?;
    match page {
        Ok(path) if how.format == Format::Text && how.output.is_none() => {
            print(&format!("page: {}\n", near(&path)))?;
        }
        Ok(path) => terminal::notice(&format!("page: {}", near(&path))),
        // The measurement is kept and reported: a missing page changes no answer.
        Err(error) => {
            terminal::notice(&format!(
                "dyno: no page was written: {}: {error}; `dyno report {id} --format html -o FILE{}` \
                 makes it",
                pages.display(),
                Project::store_option(store.path())
            ));
        }
    }
    Ok(findings.outcome())
}

/// The same for a race.
pub(super) fn finish_race(job: &Job, id: RunId, how: How<'_>) -> Result<RaceOutcome, Refusal> {
    let loaded = kept(&job.store, id)?;
    let findings = findings(&job.store, id, &loaded);
    let page = leave(&findings, &job.pages);
    match how.format {
        Format::Text => deliver(how.output, &race_text(&findings, how.output))?,
        Format::Markdown => deliver(how.output, &render::markdown(&run::race(&findings)))?,
        Format::Json => {
            let json = run::race_json(&findings);
            deliver(how.output, &json?)?;
        }
        Format::Html | Format::Csv | Format::Svg => write_findings(&findings, how)?,
    }
    let more = format!("dyno report {id} --full{}", Project::store_option(&job.path));
    match page {
        Ok(path) if how.format == Format::Text && how.output.is_none() => {
            print(&format!("page: {}\nmore: {more}\n", near(&path)))?;
        }
        Ok(path) => terminal::notice(&format!("page: {}", near(&path))),
        Err(error) => {
            terminal::notice(&format!("dyno: no page: {}: {error}", job.pages.display()));
        }
    }
    Ok(findings.race())
}

fn race_text(findings: &Findings<'_>, output: Option<&Path>) -> String {
    render::text(&run::race(findings), screen(output, false))
}

fn write_findings(findings: &Findings<'_>, how: How<'_>) -> Result<(), Refusal> {
    let How { format, is_full, output } = how;
    if format == Format::Svg {
        return charts::write(findings, &ChartFlags::default(), output);
    }
    let how = (screen(output, is_full), terminal::stdout_glyphs());
    deliver(output, &run::rendered(findings, format, how).map_err(Refusal::new)?)
}

/// Where a text is shown.
fn screen(output: Option<&Path>, is_full: bool) -> Screen {
    match output {
        Some(_) => Screen { width: FILE_WIDTH, is_coloured: false, is_full },
        None => Screen { is_full, ..terminal::screen() },
    }
}

fn deliver(output: Option<&Path>, text: &str) -> Result<(), Refusal> {
    match output {
        None => print(text).map(drop),
        Some(path) => keep::write_for("--output", path, text),
    }
}
