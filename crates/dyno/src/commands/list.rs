//! `dyno list`: subjects, workloads, experiments and runs; what is missing on this machine and how to get it.

use std::path::{Path, PathBuf};

use clap::Args;
use lab::experiment::{Experiment, Subjects};
use lab::workload::Workload;
use store::{RunSummary, Store, StoreError};

use crate::shell::{ExitStatus, Refusal, print};
use archive::kept::nothing_kept;
use campaign::project::Project;
use campaign::roster::{self, Member, State};
use report::listing::{self, Listing, NamedRow, RunRow, SubjectRow};
use report::time;

/// What there is, and what is missing
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListFlags {
    /// List the runs of this store and nothing else; JSON has the rest, too [default: .dyno/runs.sqlite of the project, else
    /// ~/.local/state/dyno/runs.sqlite]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  dyno list
  dyno list --json
  # the runs that a store of another place keeps
  dyno list --store FILE
  # what is listed, as files to be changed
  dyno init servers

Exit codes:
  0    listed
  2    a file, a folder or the store cannot be read";

pub(crate) fn run(flags: &ListFlags) -> Result<ExitStatus, Refusal> {
    let (width, is_coloured) = (terminal::stdout_width(), terminal::stdout_is_coloured());
    let named = match &flags.store {
        Some(path) if !path.is_file() => return Err(nothing_kept(path)),
        Some(path) => Some(runs(path)?),
        None => None,
    };
    if let (Some(runs), false) = (&named, flags.json) {
        return print(&listing::runs_text(runs, width, is_coloured));
    }
    let project = Project::find()?;
    let runs = named.unwrap_or_else(|| own_runs(&project.store_path()));
    let listing = listing(&project, &project.cache()?, runs);
    let text = match flags.json {
        true => listing::json(&listing)?,
        false => listing::text(&listing, width, is_coloured),
    };
    print(&text)
}

fn listing(project: &Project, cache: &lab::build::BuildCache, runs: Vec<RunRow>) -> Listing {
    let members = roster::all_subjects(project, cache, &project.subjects());
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
        runs,
    }
}

/// The runs of the project's own store; empty if there is none, or none that can be read.
fn own_runs(path: &Path) -> Vec<RunRow> {
    let runs = if path.exists() { runs(path) } else { Ok(Vec::new()) };
    runs.unwrap_or_else(|error| {
        terminal::notice(&format!("dyno: {error}"));
        Vec::new()
    })
}

/// The runs that are kept in a store.
fn runs(path: &Path) -> Result<Vec<RunRow>, StoreError> {
    let row = |run: RunSummary| RunRow {
        id: run.id.to_string(),
        name: run.name,
        group: run.group,
        began: time::utc(run.began_unix_ms),
        is_quick: run.is_quick,
        planned: run.planned as u64,
        kept: run.kept as u64,
        is_finished: run.is_finished,
    };
    Ok(Store::open(path)?.runs()?.into_iter().map(row).collect())
}

/// How many of an experiment's subjects can take part here.
fn attendance(experiment: &Experiment, members: &[Member]) -> String {
    let named = |member: &&Member| match &experiment.subjects {
        Subjects::All => true,
        Subjects::Named(names) => names.contains(&member.name),
    };
    let speaks = |member: &&Member| {
        let subject = member.subject.as_ref().ok();
        subject.is_none_or(|subject| experiment.lacks_protocol(subject).is_none())
    };
    let asked = match &experiment.subjects {
        Subjects::All => members.iter().filter(speaks).count(),
        Subjects::Named(names) => names.len(),
    };
    let able = members.iter().filter(named).filter(speaks);
    let here = able.filter(|member| member.lack().is_none()).count();
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
        protocols: subject
            .map_or(Vec::new(), |it| it.protocols.iter().map(|it| it.name()).collect()),
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
