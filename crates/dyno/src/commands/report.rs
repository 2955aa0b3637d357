//! `dyno report`: reports a kept run again, as text, Markdown, JSON, CSV, page or chart.

use std::path::{Path, PathBuf};

use archive::keep;
use archive::kept::{findings, kept, newest_or};
use archive::page::{leave, near};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use store::{RunId, Store};

use super::charts::{self, ChartFlags};
use crate::session::Session;
use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;
use campaign::Ended;
use report::render::{self, Format, Screen};
use report::run::{self, Findings};

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
    #[command(flatten)]
    store: StoreFlag,
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

/// How the results of a run that has just ended are shown, and where they are written.
#[derive(Args)]
pub(super) struct ResultFlags {
    /// How the results are shown
    #[arg(long, value_parser = formats(), default_value = Format::Text.name())]
    format: Format,
    /// Short for --format md
    #[arg(long, conflicts_with = "format")]
    markdown: bool,
    /// Short for --format json
    #[arg(long, conflicts_with_all = ["format", "markdown"])]
    json: bool,
    /// Write the results to this file, whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ResultFlags {
    /// Refuses, before anything is measured, a file that could not be written in the end.
    pub(super) fn check(&self, others: &[(&'static str, &Path)]) -> Result<(), Refusal> {
        match &self.output {
            Some(path) => keep::check_all(&[("--output", path)], others),
            None => Ok(()),
        }
    }

    pub(super) fn how(&self, shows: Shows) -> How<'_> {
        let format = match (self.json, self.markdown) {
            (true, _) => Format::Json,
            (_, true) => Format::Markdown,
            (false, false) => self.format,
        };
        How { format, shows, output: self.output.as_deref() }
    }
}

/// Which report is made of a run.
#[derive(Clone, Copy)]
pub(super) enum Shows {
    Run { is_full: bool },
    Race,
}

/// The format of a report, its kind, and its file.
#[derive(Clone, Copy)]
pub(super) struct How<'t> {
    format: Format,
    shows: Shows,
    output: Option<&'t Path>,
}

impl How<'_> {
    /// Where a text is shown.
    fn screen(self) -> Screen {
        let is_full = matches!(self.shows, Shows::Run { is_full: true });
        match self.output {
            Some(_) => Screen { width: FILE_WIDTH, is_coloured: false, is_full },
            None => Screen { is_full, ..terminal::screen() },
        }
    }

    fn deliver(self, text: &str) -> Result<(), Refusal> {
        match self.output {
            None => print(text).map(drop),
            Some(path) => keep::write_for("--output", path, text),
        }
    }
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
    let (_, path) = flags.store.find()?;
    let store = Store::open(&path)?;
    let id = newest_or(&store, flags.run.as_deref())?;
    let shows = Shows::Run { is_full: flags.full };
    let how = How { format: flags.format, shows, output: flags.output.as_deref() };
    if flags.format == Format::Svg {
        let loaded = kept(&store, id)?;
        let findings = findings(&store, id, &loaded);
        tell_damage(&findings);
        charts::write(&findings, &flags.charts, flags.output.as_deref())?;
        return Ok(ExitStatus::Yes);
    }
    write(&store, id, how)?;
    Ok(ExitStatus::Yes)
}

/// Reports a kept run on standard output, or in a file.
fn write(store: &Store, id: RunId, how: How<'_>) -> Result<(), Refusal> {
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

/// Reports a run that has just ended, leaves its page beside the store, and returns what came of it. None: it was
/// interrupted; what of it could be reported is.
pub(super) fn conclude<T>(
    session: &Session,
    (id, ended): (RunId, Ended),
    how: How<'_>,
    outcome: fn(&Findings<'_>) -> T,
) -> Result<Option<T>, Refusal> {
    let reported = reported(session, id, how, outcome);
    match (ended, reported) {
        (Ended::Done, reported) => reported.map(Some),
        (Ended::Interrupted, Ok(_)) => Ok(None),
        // If the terminal was closed, there is nothing to report to any more.
        (Ended::Interrupted, Err(refusal)) => {
            terminal::notice(&format!("dyno: {refusal}"));
            Ok(None)
        }
    }
}

fn reported<T>(
    session: &Session,
    id: RunId,
    how: How<'_>,
    outcome: fn(&Findings<'_>) -> T,
) -> Result<T, Refusal> {
    let loaded = kept(session.store(), id)?;
    let findings = findings(session.store(), id, &loaded);
    let page = leave(&findings, &session.pages);
    write_findings(&findings, how)?;
    let option = session.store_option();
    match page {
        Ok(path) if how.format == Format::Text && how.output.is_none() => {
            print(&format!("page: {}\n", near(&path)))?;
            if matches!(how.shows, Shows::Race) {
                print(&format!("more: dyno report {id} --full{option}\n"))?;
            }
        }
        page => tell_page(page, id, session),
    }
    Ok(outcome(&findings))
}

/// Says on standard error where the page of a run is. The measurement is kept and reported: a missing page changes no
/// answer.
pub(super) fn tell_page(page: std::io::Result<PathBuf>, id: RunId, session: &Session) {
    match page {
        Ok(path) => terminal::notice(&format!("page: {}", near(&path))),
        Err(error) => terminal::notice(&format!(
            "dyno: no page was written: {}: {error}; `dyno report {id} --format html -o FILE{}` makes it",
            session.pages.display(),
            session.store_option()
        )),
    }
}

fn write_findings(findings: &Findings<'_>, how: How<'_>) -> Result<(), Refusal> {
    let text = match (how.shows, how.format) {
        (_, Format::Svg) => return charts::write(findings, &ChartFlags::default(), how.output),
        (Shows::Race, Format::Text) => render::text(&run::race(findings), how.screen()),
        (Shows::Race, Format::Markdown) => render::markdown(&run::race(findings)),
        (Shows::Race, Format::Json) => run::race_json(findings)?,
        (Shows::Run { .. }, _) | (Shows::Race, Format::Html | Format::Csv) => {
            let screen = (how.screen(), terminal::stdout_glyphs());
            run::rendered(findings, how.format, screen).map_err(Refusal::new)?
        }
    };
    how.deliver(&text)
}
