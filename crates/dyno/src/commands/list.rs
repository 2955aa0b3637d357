//! `dyno list`: subjects, workloads, experiments and runs; what is missing on this machine and how to get it.

use clap::Args;
use lab::experiment::{Experiment, Subjects};
use lab::workload::Workload;
use serde::Serialize;
use store::{RunSummary, Store};

use crate::shell::{ExitStatus, Refusal};
use crate::terminal;
use campaign::project::Project;
use campaign::roster::{self, Member, State};
use report::grid::{Cell, lines};
use report::paint::{Ink, Line, wrapped};
use report::time;
use report::units::count;

/// What there is, and what is missing
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListFlags {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  dyno list
  dyno list --json

Exit codes:
  0    listed
  2    there is no project here";

#[derive(Serialize)]
struct Listing {
    format: &'static str,
    subjects: Vec<SubjectRow>,
    workloads: Vec<NamedRow>,
    experiments: Vec<NamedRow>,
    runs: Vec<RunRow>,
}

#[derive(Serialize)]
struct SubjectRow {
    name: String,
    title: Option<String>,
    language: Option<String>,
    /// `built`, `buildable`, `missing` or `broken`
    state: &'static str,
    version: Option<String>,
    lack: Option<String>,
    missing: Vec<String>,
    next_command: Option<String>,
    advice: Option<String>,
}

#[derive(Serialize)]
struct RunRow {
    id: String,
    name: String,
    /// In UTC.
    began: String,
    is_quick: bool,
    planned: u64,
    kept: u64,
    is_finished: bool,
}

#[derive(Serialize)]
struct NamedRow {
    name: String,
    says: String,
    error: Option<String>,
}

pub(crate) fn run(flags: &ListFlags) -> Result<ExitStatus, Refusal> {
    let project = Project::find()?;
    let listing = listing(&project, &project.yard()?);
    let text = match flags.json {
        true => {
            serde_json::to_string_pretty(&listing)
                .map_err(|error| Refusal::new(error.to_string()))?
                + "\n"
        }
        false => shown(&listing),
    };
    terminal::tell(&text).map_err(|error| Refusal::new(error.to_string()))?;
    Ok(ExitStatus::Yes)
}

fn listing(project: &Project, yard: &lab::build::Yard) -> Listing {
    let members = roster::everybody(project, yard, &project.subjects());
    let workloads =
        project.workloads().into_iter().map(|name| match Workload::read(&project.root, &name) {
            Ok(workload) => NamedRow { name, says: workload.title, error: None },
            Err(error) => NamedRow { name, says: String::new(), error: Some(error.to_string()) },
        });
    let experiments = project.experiments().into_iter().map(|name| {
        let shown = format!("experiments/{name}.toml");
        match Experiment::read(&project.root.join(&shown), &shown) {
            Ok(experiment) => {
                let says = format!("{} {}", experiment.question, attendance(&experiment, &members));
                NamedRow { name, says, error: None }
            }
            Err(error) => NamedRow { name, says: String::new(), error: Some(error.to_string()) },
        }
    });
    Listing {
        format: "dyno.list/1",
        workloads: workloads.collect(),
        experiments: experiments.collect(),
        subjects: members.iter().map(row).collect(),
        runs: runs(project),
    }
}

/// The runs that are kept here; empty if there is no store, or none that can be read.
fn runs(project: &Project) -> Vec<RunRow> {
    let path = project.store_path();
    let open = || Store::open(&path).and_then(|store| store.runs());
    let runs = if path.exists() { open() } else { Ok(Vec::new()) };
    let runs = runs.unwrap_or_else(|error| {
        terminal::say(&format!("dyno: {error}"));
        Vec::new()
    });
    let row = |run: RunSummary| RunRow {
        id: run.id.to_string(),
        name: run.name,
        began: time::utc(run.began_unix_ms),
        is_quick: run.is_quick,
        planned: run.planned as u64,
        kept: run.kept as u64,
        is_finished: run.is_finished,
    };
    runs.into_iter().map(row).collect()
}

/// How many of an experiment's subjects can take part here.
fn attendance(experiment: &Experiment, members: &[Member]) -> String {
    let named = |member: &&Member| match &experiment.subjects {
        Subjects::All => true,
        Subjects::Named(names) => names.contains(&member.name),
    };
    let asked = match &experiment.subjects {
        Subjects::All => members.len(),
        Subjects::Named(names) => names.len(),
    };
    let here = members.iter().filter(named).filter(|member| member.lack().is_none()).count();
    format!("({here} of {asked} subjects can run here)")
}

fn row(member: &Member) -> SubjectRow {
    let (state, version) = match &member.state {
        State::Built { version, .. } => ("built", version.clone()),
        State::Buildable => ("buildable", None),
        State::Missing(_) => ("missing", None),
        State::Broken(_) => ("broken", None),
    };
    let subject = member.subject.as_ref().ok();
    SubjectRow {
        name: member.name.clone(),
        title: subject.map(|subject| subject.title.clone()),
        language: subject.map(|subject| subject.language.clone()),
        state,
        version,
        lack: member.lack(),
        missing: match &member.state {
            State::Missing(needs) => needs.clone(),
            State::Built { .. } | State::Buildable | State::Broken(_) => Vec::new(),
        },
        next_command: roster::next_command(member),
        advice: subject.and_then(|subject| subject.advice.clone()),
    }
}

fn shown(listing: &Listing) -> String {
    let heading = |text: &str| Line::ink(Ink::Bold, text);
    let width = terminal::stdout_width();
    let mut page = vec![heading("Subjects")];
    let rows: Vec<Vec<Cell>> = listing.subjects.iter().map(subject_cells).collect();
    for (row, line) in listing.subjects.iter().zip(lines(&rows, 12)) {
        page.push(line.cut(width));
        page.extend(way_out(row, width));
    }
    for (title, rows) in [("Workloads", &listing.workloads), ("Experiments", &listing.experiments)]
    {
        page.extend([Line::default(), heading(title)]);
        for row in rows {
            let (ink, says) = match &row.error {
                Some(error) => (Ink::Bad, error),
                None => (Ink::Plain, &row.says),
            };
            let mut name = format!("  {:<18}", row.name);
            for says in wrapped(says, width.saturating_sub(21).max(20)) {
                page.push(Line::plain(format!("{name} ")).and(ink, says));
                name = " ".repeat(20);
            }
        }
    }
    if !listing.runs.is_empty() {
        page.extend([Line::default(), heading("Runs")]);
        let rows: Vec<Vec<Cell>> = listing.runs.iter().map(run_cells).collect();
        page.extend(lines(&rows, 5).into_iter().map(|line| line.cut(width)));
    }
    let is_coloured = terminal::stdout_is_coloured();
    page.iter().map(|line| line.shown(is_coloured).trim_end().to_string() + "\n").collect()
}

fn subject_cells(row: &SubjectRow) -> Vec<Cell> {
    let (ink, word, says) = match row.state {
        "built" => (Ink::Good, "runs here", row.version.clone().unwrap_or_default()),
        "buildable" => (Ink::Good, "can be built", row.next_command.clone().unwrap_or_default()),
        "missing" => (Ink::Doubtful, "lacks", row.missing.join(", ")),
        _ => (Ink::Bad, "broken", String::new()),
    };
    vec![
        Cell::plain(format!("  {}", row.name)),
        Cell::left(Ink::Dim, row.language.clone().unwrap_or_default()),
        Cell::left(ink, word),
        Cell::left(Ink::Plain, says),
    ]
}

/// How to make a subject able to run, under its line.
fn way_out(row: &SubjectRow, width: usize) -> Vec<Line> {
    const INDENT: usize = 6;
    let says = match row.state {
        "missing" => match (&row.next_command, &row.advice) {
            (Some(command), Some(advice)) => format!("{command}; {advice}"),
            (Some(text), None) | (None, Some(text)) => text.clone(),
            (None, None) => return Vec::new(),
        },
        "broken" => row.lack.clone().unwrap_or_default(),
        _ => return Vec::new(),
    };
    let lines = wrapped(&says, width.saturating_sub(INDENT).max(20)).into_iter();
    lines.map(|line| Line::ink(Ink::Dim, " ".repeat(INDENT) + &line)).collect()
}

fn run_cells(row: &RunRow) -> Vec<Cell> {
    // If the number of rounds is determined by the data, fewer trials than planned may have been enough.
    let kept = match row.is_finished && row.kept < row.planned {
        true => format!("{} trials", count(row.kept)),
        false => format!("{} of {} trials", count(row.kept), count(row.planned)),
    };
    let ink = if row.is_finished { Ink::Plain } else { Ink::Doubtful };
    vec![
        Cell::plain(format!("  {}", row.id)),
        Cell::left(Ink::Plain, row.name.clone()),
        Cell::left(Ink::Dim, row.began.clone()),
        Cell::left(ink, kept),
        Cell::left(Ink::Dim, if row.is_quick { "quick" } else { "" }),
    ]
}
