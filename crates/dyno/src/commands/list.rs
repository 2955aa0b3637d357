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
  # what is listed, as files to be changed
  dyno init servers

Exit codes:
  0    listed
  2    a file or a folder cannot be read";

#[derive(Serialize)]
struct Listing {
    format: &'static str,
    /// The folder of all that follows.
    project: String,
    /// Whether that is the tree that dyno carries, because no project is here.
    is_embedded: bool,
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
    let listing = listing(&project, &project.cache()?);
    let text = match flags.json {
        true => {
            serde_json::to_string_pretty(&listing)
                .map_err(|error| Refusal::new(error.to_string()))?
                + "\n"
        }
        false => {
            let is_coloured = terminal::stdout_is_coloured();
            let lines = shown(&listing, terminal::stdout_width()).into_iter();
            lines.map(|line| line.shown(is_coloured).trim_end().to_string() + "\n").collect()
        }
    };
    terminal::print(&text).map_err(|error| Refusal::new(error.to_string()))?;
    Ok(ExitStatus::Yes)
}

fn listing(project: &Project, cache: &lab::build::BuildCache) -> Listing {
    let members = roster::everybody(project, cache, &project.subjects());
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
        project: project.root.display().to_string(),
        is_embedded: project.is_embedded(),
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
        terminal::notice(&format!("dyno: {error}"));
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

const DYNOS_OWN: &str = "This is what dyno carries, as this folder is in no project. `dyno init DIR` writes it out, to be \
                         changed.";

fn shown(listing: &Listing, width: usize) -> Vec<Line> {
    let mut parts = Vec::new();
    if listing.is_embedded {
        parts.push(beside("", Ink::Dim, DYNOS_OWN, width));
    }
    parts.extend(subjects(&listing.subjects, width));
    let named = |title: &str, rows: &[NamedRow]| {
        let says = |row: &NamedRow| {
            let (ink, says) = match &row.error {
                Some(error) => (Ink::Bad, error),
                None => (Ink::Plain, &row.says),
            };
            beside(&format!("  {:<18} ", row.name), ink, says, width)
        };
        part(title, "", rows.iter().flat_map(says))
    };
    parts.push(named("Workloads", &listing.workloads));
    parts.push(named("Experiments", &listing.experiments));
    if !listing.runs.is_empty() {
        let rows: Vec<Vec<Cell>> = listing.runs.iter().map(run_cells).collect();
        parts.push(part("Runs", "", lines(&rows, 5)));
    }
    parts.join(&Line::default()).into_iter().map(|line| line.cut(width)).collect()
}

fn part(title: &str, note: &str, lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    std::iter::once(Line::ink(Ink::Bold, title).and(Ink::Dim, note)).chain(lines).collect()
}

/// A text beside a name, in as many lines as it takes.
fn beside(name: &str, ink: Ink, text: &str, width: usize) -> Vec<Line> {
    let indent = name.chars().count();
    let texts = wrapped(text, width.saturating_sub(indent).max(20)).into_iter().enumerate();
    let before = |place| if place == 0 { name.to_string() } else { " ".repeat(indent) };
    texts.map(|(place, text)| Line::plain(before(place)).and(ink, text)).collect()
}

/// By what can be done with them: those that run here come first, and what is to be built before what is to be found.
fn subjects(rows: &[SubjectRow], width: usize) -> Vec<Vec<Line>> {
    let in_state = |state: &str| rows.iter().filter(|row| row.state == state).collect::<Vec<_>>();
    let all: [(&str, &str, Shown); 4] = [
        ("built", "Subjects that run here", usable),
        ("buildable", "Subjects that can be built here, with `dyno setup NAME`", usable),
        ("missing", "Subjects that lack something", lacking),
        ("broken", "Subjects whose files are broken", broken),
    ];
    let of_state = |(state, title, lines): (&str, &str, Shown)| {
        let rows = in_state(state);
        let note = format!("  {}", count(rows.len() as u64));
        (!rows.is_empty()).then(|| part(title, &note, lines(&rows, width)))
    };
    let parts: Vec<Vec<Line>> = all.into_iter().filter_map(of_state).collect();
    if parts.is_empty() { vec![part("Subjects", "  none", Vec::new())] } else { parts }
}

/// How subjects of one kind are shown at a width.
type Shown = fn(&[&SubjectRow], usize) -> Vec<Line>;

/// Each with its language, and its version if that is known.
fn usable(rows: &[&SubjectRow], width: usize) -> Vec<Line> {
    let language = |row: &SubjectRow| row.language.clone().unwrap_or_default();
    let widest = |text: &dyn Fn(&SubjectRow) -> usize| rows.iter().map(|row| text(row)).max();
    let names = widest(&|row| row.name.chars().count()).unwrap_or(0);
    let languages = widest(&|row| language(row).chars().count()).unwrap_or(0);
    let one = |row: &&SubjectRow| {
        let name = format!("  {:<names$}  {:<languages$}  ", row.name, language(row));
        beside(&name, Ink::Good, row.version.as_deref().unwrap_or_default(), width)
    };
    rows.iter().flat_map(one).collect()
}

/// Those that lack the same, and get it in the same way, are one entry.
fn lacking(rows: &[&SubjectRow], width: usize) -> Vec<Line> {
    let mut groups: Vec<Vec<&SubjectRow>> = Vec::new();
    for &row in rows {
        let is_alike = |group: &&mut Vec<&SubjectRow>| {
            group[0].missing == row.missing && way_out(group[0], "") == way_out(row, "")
        };
        match groups.iter_mut().find(is_alike) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let entry = |group: &Vec<&SubjectRow>| {
        let names: Vec<&str> = group.iter().map(|row| &row.name[..]).collect();
        let lack = format!("lacks {}", group[0].missing.join(", "));
        let line = format!("  {}  ", names.join(", "));
        let mut entry = match line.chars().count() + lack.chars().count() <= width {
            true => beside(&line, Ink::Doubtful, &lack, width),
            false => {
                let names = beside("  ", Ink::Plain, line.trim(), width);
                let lack = beside("      ", Ink::Doubtful, &lack, width);
                [names, lack].concat()
            }
        };
        let way_out = way_out(group[0], &names.join(" "));
        entry.extend(beside("      ", Ink::Dim, &way_out, width).into_iter().filter(has_text));
        entry
    };
    groups.iter().flat_map(entry).collect()
}

fn has_text(line: &Line) -> bool {
    !line.shown(false).trim().is_empty()
}

/// How to get what a subject lacks; a command is for all subjects of these names.
fn way_out(row: &SubjectRow, names: &str) -> String {
    let of_one = format!("dyno setup {} --yes", row.name);
    let command = row.next_command.as_ref().map(|command| match *command == of_one {
        true => format!("dyno setup {names} --yes"),
        false => command.clone(),
    });
    command.into_iter().chain(row.advice.clone()).collect::<Vec<_>>().join("; ")
}

fn broken(rows: &[&SubjectRow], width: usize) -> Vec<Line> {
    let one = |row: &&SubjectRow| {
        let mut entry = vec![Line::plain(format!("  {}", row.name))];
        entry.extend(beside("      ", Ink::Bad, row.lack.as_deref().unwrap_or_default(), width));
        entry
    };
    rows.iter().flat_map(one).collect()
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

#[cfg(test)]
mod tests;
