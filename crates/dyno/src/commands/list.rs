//! `dyno list`: subjects, workloads, experiments and runs; what is missing on this machine and how to get it.

use clap::Args;
use lab::experiment::{Experiment, Subjects};
use lab::workload::Workload;
use serde::Serialize;

use super::{Answer, Refusal};
use crate::project::Project;
use crate::report::paint::{Ink, Line};
use crate::report::table::{Cell, lines};
use crate::roster::{self, Member, State};
use crate::terminal;

/// What there is, and what is missing
#[derive(Args)]
pub(crate) struct ListFlags {
    /// For programs
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listing {
    format: &'static str,
    subjects: Vec<SubjectRow>,
    workloads: Vec<NamedRow>,
    experiments: Vec<NamedRow>,
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
    next_command: Option<String>,
}

#[derive(Serialize)]
struct NamedRow {
    name: String,
    says: String,
    error: Option<String>,
}

pub(crate) fn run(flags: &ListFlags) -> Result<Answer, Refusal> {
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
    Ok(Answer::Yes)
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
    }
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
        next_command: roster::next_command(member),
    }
}

fn shown(listing: &Listing) -> String {
    let heading = |text: &str| Line::ink(Ink::Bold, text);
    let mut page = vec![heading("Subjects")];
    page.extend(lines(&listing.subjects.iter().map(subject_cells).collect::<Vec<_>>(), 12));
    for (title, rows) in [("Workloads", &listing.workloads), ("Experiments", &listing.experiments)]
    {
        page.extend([Line::default(), heading(title)]);
        page.extend(lines(&rows.iter().map(named_cells).collect::<Vec<_>>(), 18));
    }
    let is_coloured = terminal::stdout_is_coloured();
    page.iter().map(|line| line.shown(is_coloured).trim_end().to_string() + "\n").collect()
}

fn subject_cells(row: &SubjectRow) -> Vec<Cell> {
    let (ink, word) = match row.state {
        "built" => (Ink::Good, "runs here"),
        "buildable" => (Ink::Good, "can be built"),
        "missing" => (Ink::Doubtful, "lacks"),
        _ => (Ink::Bad, "broken"),
    };
    let says = match (row.state, &row.version, &row.lack) {
        ("built", version, _) => version.clone().unwrap_or_else(|| "no version".into()),
        ("buildable", ..) => row.next_command.clone().unwrap_or_default(),
        (_, _, lack) => lack.clone().unwrap_or_default(),
    };
    vec![
        Cell::plain(format!("  {}", row.name)),
        Cell::left(Ink::Dim, row.language.clone().unwrap_or_default()),
        Cell::left(ink, word),
        Cell::left(Ink::Plain, says),
    ]
}

fn named_cells(row: &NamedRow) -> Vec<Cell> {
    let says = match &row.error {
        Some(error) => Cell::left(Ink::Bad, error.clone()),
        None => Cell::left(Ink::Plain, row.says.clone()),
    };
    vec![Cell::plain(format!("  {}", row.name)), says]
}
