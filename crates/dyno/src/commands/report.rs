//! `dyno report`: reports a kept run again, as text, Markdown, JSON, CSV, page or chart.

use std::path::PathBuf;

use archive::kept::{findings, kept, newest_or, open};
use archive::page::{leave, near};
use clap::Args;
use store::RunId;

use super::charts::ChartFlags;
use crate::results::{OF_TRIALS, ResultFlags};
use crate::session::Session;
use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;
use campaign::Ended;
use report::render::{CSV, SVG};
use report::run::Findings;

/// Show the results of a kept run: the newest, or the one with this number
///
/// The figures are computed again from what the store keeps; nothing is measured.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportFlags {
    /// The run's number [default: the newest]
    run: Option<String>,
    /// Print everything: every row, the charts, what differs between the servers, the rules of the RFCs, the machine
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    store: StoreFlag,
    #[command(flatten)]
    charts: ChartFlags,
    #[command(flatten)]
    results: ResultFlags<OF_TRIALS>,
}

const AFTER_HELP: &str = "\
Examples:
  # the newest run
  dyno report
  # run 3, with every row
  dyno report 3 --full
  # besides, as a page for a browser, in one file
  dyno report 3 -o page.html
  # its charts and flame graphs, into a folder
  dyno report 3 -o svg:charts/

Exit codes:
  0    reported
  2    there is no such run, or it cannot be read or written";

pub(crate) fn run(flags: &ReportFlags) -> Result<ExitStatus, Refusal> {
    flags.results.check(&[])?;
    flags.results.to_the_end(|| reported_again(flags))
}

fn reported_again(flags: &ReportFlags) -> Result<ExitStatus, Refusal> {
    if !flags.results.wants(&SVG) {
        flags.charts.check_unused()?;
    }
    let (_, path) = flags.store.find()?;
    let store = open(&path)?;
    let id = newest_or(&store, flags.run.as_deref())?;
    let loaded = kept(&store, id)?;
    let mut findings = findings(&store, id, &loaded);
    // What programs read has its own place for it; people see it on standard error.
    if flags.results.wants(&CSV) || flags.results.wants(&SVG) {
        tell_damage(&findings);
    }
    if flags.results.wants(&SVG) {
        flags.charts.choose(&mut findings)?;
    }
    flags.results.deliver(&findings, flags.full)?;
    Ok(ExitStatus::Yes)
}

pub(super) fn tell_damage(findings: &Findings<'_>) {
    let tell = |says| terminal::notice(&format!("dyno: run {}: {says}", findings.id));
    findings.says_of_damage().for_each(tell);
}

/// Reports a run that has just ended, or what is kept of one that could not go on; leaves its page beside the store, and
/// returns what came of it, as `show` says when it has delivered the results. None: it was interrupted.
pub(super) fn conclude<T>(
    session: &Session,
    (id, ended): (RunId, Result<Ended, Refusal>),
    results: &ResultFlags<OF_TRIALS>,
    show: impl FnOnce(&mut Findings<'_>) -> Result<T, Refusal>,
) -> Result<Option<T>, Refusal> {
    // What cannot go on and has nothing is said, and not reported.
    let has_any = ended.is_ok() || session.store().kept(id).is_ok_and(|kept| !kept.is_empty());
    let reported = has_any.then(|| reported(session, id, results, show));
    match (ended, reported) {
        (Ok(Ended::Done), reported) => reported.transpose(),
        (ended, Some(Err(refusal))) => {
            // If the terminal was closed, there is nothing to report to any more.
            terminal::notice(&format!("dyno: {refusal}"));
            ended.map(|_| None)
        }
        (ended, Some(Ok(_)) | None) => ended.map(|_| None),
    }
}

fn reported<T>(
    session: &Session,
    id: RunId,
    results: &ResultFlags<OF_TRIALS>,
    show: impl FnOnce(&mut Findings<'_>) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let loaded = kept(session.store(), id)?;
    let mut findings = findings(session.store(), id, &loaded);
    let page = leave(&findings, &session.pages);
    let shown = show(&mut findings)?;
    match page {
        Ok(path) if results.prints_text() => {
            print(&format!("page: {}\n", near(&path)))?;
        }
        page => tell_page(page, id, session),
    }
    Ok(shown)
}

/// Says on standard error where the page of a run is. The measurement is kept and reported: a missing page changes no
/// answer.
pub(super) fn tell_page(page: std::io::Result<PathBuf>, id: RunId, session: &Session) {
    match page {
        Ok(path) => terminal::notice(&format!("page: {}", near(&path))),
        Err(error) => terminal::notice(&format!(
            "dyno: no page was written: {}: {error}; `dyno report {id} -o FILE.html{}` makes it",
            session.pages.display(),
            session.store_option()
        )),
    }
}
