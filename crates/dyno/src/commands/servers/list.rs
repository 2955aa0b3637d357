//! `dyno servers list`: subjects, services, workloads and experiments; what is missing on this machine and how to get it.

use std::fmt::Display;

use clap::Args;
use lab::experiment::{Experiment, Subjects};
use lab::service::Service;
use lab::workload::Workload;

use crate::shell::{ExitStatus, Refusal, print};
use campaign::project::Project;
use campaign::roster::{self, Availability, Member};
use campaign::services;
use report::listing::{self, Listing, NamedRow, SubjectRow};

/// List the servers, services, workloads and experiments that there are, and what is missing on this machine
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListFlags {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  dyno servers list
  dyno servers list --json
  # what is listed, as files to be changed
  dyno servers init my-servers

Exit codes:
  0    listed
  2    a file or a folder cannot be read";

pub(super) fn run(flags: &ListFlags) -> Result<ExitStatus, Refusal> {
    let project = Project::find()?;
    let listing = listing(&project, &project.cache()?);
    print(&match flags.json {
        true => listing::json(&listing)?,
        false => listing::text(&listing, terminal::stdout_width(), terminal::stdout_is_coloured()),
    })
}

fn listing(project: &Project, cache: &lab::build::BuildCache) -> Listing {
    let members = roster::all_subjects(project, cache, &project.subjects());
    let workloads = project.workloads().into_iter().map(|name| {
        let read = Workload::read(&project.root, &name);
        named(name, read.map(|workload| (workload.title, None)))
    });
    let experiments = project.experiments().into_iter().map(|name| {
        let shown = format!("experiments/{name}.toml");
        let read = Experiment::read(&project.root.join(&shown), &shown);
        named(name, read.map(|it| (format!("{} {}", it.question, attendance(&it, &members)), None)))
    });
    let services = project.services().into_iter().map(|name| {
        let read = Service::read(&project.root, &name, &cache.variables);
        named(name, read.map(|it| (it.manifest.title.clone(), services::lack(&it, cache))))
    });
    Listing {
        format: "dyno.list/1",
        project: project.root.display().to_string(),
        is_embedded: project.is_embedded(),
        services: services.collect(),
        workloads: workloads.collect(),
        experiments: experiments.collect(),
        subjects: members.iter().map(row).collect(),
    }
}

/// What its file says, and what it lacks; or why the file cannot be read.
fn named(name: String, read: Result<(String, Option<String>), impl Display>) -> NamedRow {
    let (says, error) = read.unwrap_or_else(|error| (String::new(), Some(error.to_string())));
    NamedRow { name, says, error }
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
    format!("({here} of {asked} servers can run here)")
}

fn row(member: &Member) -> SubjectRow {
    let (state, version) = match &member.state {
        Availability::Built { version, .. } => ("built", version.clone()),
        Availability::Buildable => ("buildable", None),
        Availability::Missing(_) => ("missing", None),
        Availability::Broken(_) => ("broken", None),
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
            Availability::Missing(needs) => needs.clone(),
            Availability::Built { .. } | Availability::Buildable | Availability::Broken(_) => {
                Vec::new()
            }
        },
        next_command: roster::next_command(member),
        advice: subject.and_then(|subject| subject.advice.clone()),
    }
}
