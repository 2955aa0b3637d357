//! `dyno run`: subjects × loads × rounds → the store → a table and a page; continues where it stopped.

mod remote;

use agents::servers::ServersOn;
use campaign::capacity;
use campaign::project::Project;
use campaign::roster::{Availability, Member};
use campaign::services;
use campaign::{Campaign, EACH, Ended, RunResources, as_it_was, expected_checks};
use clap::Args;
use lab::build::Recipe;
use lab::conformance::LEFT_OUT;
use lab::experiment::Shape;
use lab::plan::plan;
use lab::record::{RunRecord, TrialKey};
use requests::reach;
use store::RunId;

use super::report::conclude;
use crate::generators::GeneratorFlags;
use crate::history::HistoryFlags;
use crate::order::changes::ChangeFlags;
use crate::order::flags::OwnerFlag;
use crate::results::{OF_TRIALS, ResultFlags};
use crate::session::{Session, StorePlace, interrupted_early, weighed};
use crate::shell::{ExitStatus, Refusal, print};
use crate::sides::CpuFlags;
use crate::stores::StoreFlag;
use crate::unfinished::{again, is_finished, newest_unfinished, unresumable};
use ::report::dry_run::{self, DryMember, DryRun};
use ::report::history::Origin;
use ::report::run::RunOutcome;
use terminal::progress;
use units::count;

/// Run an experiment from a file: many servers, many loads, checked, monitored, stored
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunFlags {
    /// A name in experiments/, or a file
    #[arg(required_unless_present = "resume")]
    experiment: Option<String>,
    /// Make fewer and shorter trials; the report says so
    #[arg(long)]
    quick: bool,
    /// Print every command, limit and target, and run nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not check how far the servers conform to the RFCs; every table will say so
    #[arg(long)]
    no_check: bool,
    /// Where the servers run, while the load comes from here, or from --load-on: ssh:HOST
    #[arg(long, value_name = "PLACE", value_parser = ServersOn::parse)]
    server_on: Option<ServersOn>,
    /// Continue an interrupted run: the newest, or the one with this number
    #[arg(long, value_name = "RUN", num_args = 0..=1, conflicts_with_all = OF_A_NEW_RUN)]
    resume: Option<Option<RunId>>,
    /// Print everything: every row, the charts, what differs between the servers, the rules of the RFCs, the machine
    #[arg(long)]
    full: bool,
    #[command(flatten, next_help_heading = "Changes to the experiment")]
    changes: ChangeFlags,
    #[command(flatten, next_help_heading = "CPUs and other machines")]
    cpus: CpuFlags,
    #[command(flatten)]
    generators: GeneratorFlags,
    #[command(flatten)]
    owner: OwnerFlag,
    #[command(flatten, next_help_heading = "What is kept")]
    store: StoreFlag,
    #[command(flatten)]
    history: HistoryFlags,
    #[command(flatten)]
    results: ResultFlags<OF_TRIALS>,
}

/// What a run that is continued has from its beginning.
const OF_A_NEW_RUN: [&str; 8] =
    ["experiment", "quick", "dry_run", "only", "duration", "connections", "rounds", "vary"];

const AFTER_HELP: &str = "\
An experiment and its servers run commands on this machine, as you, without a sandbox: --dry-run prints them all and \
runs none.

Examples:
  # the servers that this machine can run, in about two minutes
  dyno run demo
  # every command, limit and target; nothing is run
  dyno run five-servers-2011 --dry-run
  # a first look: shorter and fewer trials
  dyno run five-servers-2011 --quick
  # two of its servers, with another load; the report says that it was changed
  dyno run demo --only 'node-*,go-*' -c 100 -d 10s --rounds 3
  # the servers here, the load from two other machines
  dyno run demo --load-on ssh:desk2,desk3 --listen-on 10.0.0.5
  # the servers on another machine, the load from here: builds, checks and readings are there
  dyno run demo --server-on ssh:server1
  # each run, appended to a history, whose changes `dyno trend` finds
  dyno run demo --history perf/history.jsonl
  # continue after Ctrl-C, a crash or kill -9
  dyno run --resume

Exit codes:
  0    every row that can be ranked is valid or suspect
  1    a server gave more wrong answers than the experiment's `require` allows, or failed more
       requests than `promise.failures` or --max-failures
  2    a row is invalid or was never measured, or the run was refused
  130  interrupted; finished trials are kept";

pub(crate) fn run(flags: &RunFlags) -> Result<ExitStatus, Refusal> {
    flags.results.check(flags.history.named().as_slice())?;
    flags.results.to_the_end(|| match (&flags.resume, &flags.experiment) {
        (Some(wanted), _) => resume(flags, *wanted),
        (None, Some(name)) => {
            let (project, experiment) = Project::of_experiment(name)?;
            let experiment = flags.changes.given_to(experiment, &project)?;
            let experiment = if flags.quick { experiment.quickened() } else { experiment };
            flags.history.refuse_search(&experiment)?;
            let campaign = Campaign::read(project, flags.cpus.given_to(experiment))?;
            let campaign = if flags.no_check { campaign.without_check() } else { campaign };
            if let Some(on) = &flags.server_on {
                services::refuse_all(&campaign.workloads, "a run on another machine")?;
                return remote::begin(flags, on, &campaign);
            }
            if flags.generators.load_on().is_some() {
                services::refuse_other_clocks(&campaign.workloads)?;
            }
            let campaign = located(campaign, flags)?;
            let resources = weighed(&campaign)?;
            match flags.dry_run {
                true => print(&dry_run::text(&dry(&campaign, &resources))),
                false => begin(flags, &campaign, resources),
            }
        }
        (None, None) => Err(Refusal::new("name an experiment; `dyno servers list` shows them")),
    })
}

/// Looks up where the URLs of servers lead that run already, and refuses what cannot be done for them.
fn located(mut campaign: Campaign, flags: &RunFlags) -> Result<Campaign, Refusal> {
    let experiment = &campaign.experiment;
    let file = &experiment.source.name;
    for member in &mut campaign.members {
        let Ok(subject) = &member.subject else { continue };
        if subject.serving.command().is_some() {
            continue;
        }
        let name = &member.name;
        let refused =
            |why: &str| Err(Refusal::new(format!("{file}: `{name}` runs already: {why}")));
        if matches!(experiment.shape, Shape::Held(_)) {
            return refused("its connections are held by `dyno hold URL`; leave it out");
        }
        if experiment.conditions.isolate {
            return refused("it cannot be given another network; leave it out, or `isolate`");
        }
        match reach::located(subject.clone(), flags.owner.i_may_load_this_target) {
            Ok(subject) => {
                terminal::notice(&format!("{name}: {}", subject.notes));
                member.subject = Ok(subject);
            }
            Err(refusal) => member.state = Availability::Broken(refusal.to_string()),
        }
    }
    Ok(campaign)
}

/// The run that would begin.
pub(super) fn dry<'c>(campaign: &'c Campaign, resources: &'c RunResources) -> DryRun<'c> {
    let takes_part = campaign.members.iter().filter(|member| campaign.lack(member).is_none());
    let subjects = takes_part.filter_map(|member| member.subject.as_ref().ok());
    let runners: Vec<_> = subjects.map(|subject| campaign.runner(subject)).collect();
    let members = campaign.members.iter().map(|member| DryMember {
        name: &member.name,
        subject: member.subject.as_ref(),
        is_extra: campaign.is_extra(&member.name),
        lack: campaign.lack(member),
        folder: (member.subject.as_ref().ok())
            .and_then(|subject| campaign.cache.folder(Recipe::from(subject)).ok()),
        checked: (member.subject.as_ref().ok())
            .filter(|_| campaign.experiment.has_check)
            .map_or(Vec::new(), |subject| campaign.checked_over(subject)),
    });
    let services = campaign.services.iter();
    let services = services.map(|service| (service, services::lack(service, &campaign.cache)));
    DryRun {
        experiment: &campaign.experiment,
        workloads: &campaign.workloads,
        split: &resources.split,
        files: resources.files,
        address: (!resources.address.is_loopback()).then(|| resources.address.to_string()),
        sources: resources.sources.len(),
        members: members.collect(),
        services: services.collect(),
        plan: plan(&campaign.experiment, &runners),
        each_check: EACH,
    }
}

fn begin(
    flags: &RunFlags,
    campaign: &Campaign,
    weighed: RunResources,
) -> Result<ExitStatus, Refusal> {
    let mut session = session(flags, &campaign.project)?;
    let by = (weighed, &flags.generators);
    let admitted = session.admit(campaign, by, &mut progress::admitting)?;
    let Some(admitted) = admitted else { return Ok(interrupted_early()) };
    let halt = &session.halt;
    let searched = capacity::ceilings(campaign, &admitted, halt, &mut progress::admitting)?;
    let Some(ceilings) = searched else { return Ok(interrupted_early()) };
    let mut record = admitted.record(campaign);
    capacity::make_searches(campaign, &admitted.entrants, &mut record, &ceilings)?;
    if record.plan.is_empty() {
        return Err(Refusal::new(
            "no server could be built or started here (see above); `dyno servers list` shows what is missing",
        ));
    }
    let run = session.keeping.begin(&record)?;
    announce(&session, campaign, (&record, run), None)?;
    let ended = session.measure(campaign, &admitted, (&record, run));
    finish(&session, flags, run, ended)
}

/// The rest of a run that was not finished.
fn resume(flags: &RunFlags, wanted: Option<RunId>) -> Result<ExitStatus, Refusal> {
    let project = Project::find()?;
    let mut session = session(flags, &project)?;
    let run = match wanted {
        Some(run) => run,
        None => newest_unfinished(session.store())?,
    };
    session.keeping.claim(run)?;
    let store = session.store();
    let record = store.run(run)?;
    if let Some(says) = unresumable(&record, (run, store.path())) {
        return Err(Refusal::new(says));
    }
    same_place(flags, &record, run)?;
    if is_finished(store, run)? {
        let option = session.store_option();
        return Err(Refusal::new(format!(
            "run {run} is complete; `dyno report {run}{option}` shows it, `{}{option}` runs it anew",
            record.again()
        )));
    }
    let campaign = as_it_was(project, &record, store.path())?;
    let is_left_out = flags.no_check || record.facts.iter().any(|fact| fact.name == LEFT_OUT);
    let campaign = if is_left_out { campaign.without_check() } else { campaign };
    let kept = store.kept(run)?;
    let left: Vec<&TrialKey> =
        record.plan.iter().filter(|key| !kept.contains(&key.number)).collect();
    if let Some(on) = &flags.server_on {
        return remote::follow(flags, on, &campaign, session, Some((run, &left)));
    }
    let mut campaign = located(campaign, flags)?;
    campaign.experiment = flags.cpus.given_to(campaign.experiment);
    flags.history.refuse_search(&campaign.experiment)?;
    let admitted = session.admit_again(&campaign, &flags.generators, (&record, run))?;
    let Some(admitted) = admitted else { return Ok(interrupted_early()) };
    announce(&session, &campaign, (&record, run), Some(&left))?;
    let ended = session.measure(&campaign, &admitted, (&record, run));
    finish(&session, flags, run, ended)
}

/// Says what is to be done: these trials or all of the plan, and checks that take about so long.
fn announce(
    session: &Session,
    campaign: &Campaign,
    (record, run): (&RunRecord, RunId),
    left: Option<&[&TrialKey]>,
) -> Result<(), Refusal> {
    let all: Vec<&TrialKey> = record.plan.iter().collect();
    let left = left.unwrap_or(&all);
    let checks = expected_checks(campaign, record, session.store())?;
    let experiment = &campaign.experiment;
    let subjects: std::collections::BTreeSet<&str> =
        record.plan.iter().map(|key| key.subject.as_str()).collect();
    terminal::notice(&format!(
        "run {run}: {}{}\n  {} of {}: {}\n  {}; Ctrl-C keeps what is finished, and `dyno run --resume{}{}` continues \
         it",
        experiment.name,
        if experiment.is_quick { " (quick: shorter and fewer trials)" } else { "" },
        dry_run::trials(experiment, left),
        count(subjects.len() as u64),
        subjects.into_iter().collect::<Vec<_>>().join(", "),
        dry_run::time(experiment, left, checks),
        record.place_flags(),
        session.store_option(),
    ));
    if experiment.sought.is_some() {
        return Ok(());
    }
    let in_plan = |member: &&Member| record.plan.iter().any(|key| key.subject == member.name);
    let extras = campaign.members.iter().filter(|member| campaign.is_extra(&member.name));
    for extra in extras.filter(in_plan) {
        terminal::notice(&format!(
            "  {} is added, once under each load: as dyno's own server it shows the highest rate that this machine \
             and dyno can reach",
            extra.name
        ));
    }
    let firsts: Vec<String> = order_of(record);
    terminal::notice(&format!("  order (seed {}): {}", record.seed, firsts.join(" · ")));
    Ok(())
}

/// The order of the trials, as much as fits on a line.
fn order_of(record: &RunRecord) -> Vec<String> {
    const SHOWN: usize = 6;
    let shown = record.plan.iter().take(SHOWN);
    let mut order: Vec<String> =
        shown.map(|key| format!("{} at {}", key.subject, key.point.value())).collect();
    if SHOWN < record.plan.len() {
        order.push("… (all of it: --dry-run)".into());
    }
    order
}

fn session(flags: &RunFlags, project: &Project) -> Result<Session, Refusal> {
    flags.history.begin(&project.root)?;
    Session::open(project, StorePlace::of(project, flags.store.named()))
}

/// A run goes on where it took place.
fn same_place(flags: &RunFlags, record: &RunRecord, run: RunId) -> Result<(), Refusal> {
    let places = record.places();
    let was = |flag: &str| places.iter().find(|(name, _)| *name == flag).map(|(_, place)| *place);
    let servers = flags.server_on.as_ref().map(ToString::to_string);
    let is_same =
        servers.as_deref() == was("--server-on") && flags.generators.load_on() == was("--load-on");
    match (is_same, record.place_flags().as_str()) {
        (true, _) => Ok(()),
        (false, "") => Err(Refusal::new(format!(
            "run {run} took place on this machine alone, and its trials are compared with each other; leave \
             --server-on and --load-on out"
        ))),
        (false, was) => Err(Refusal::new(format!(
            "run {run} took place elsewhere, and its trials are compared with each other; go on with `dyno run \
             --resume {run} {}`",
            agents::servers::plain(was)
        ))),
    }
}

fn finish(
    session: &Session,
    flags: &RunFlags,
    run: RunId,
    ended: Result<Ended, Refusal>,
) -> Result<ExitStatus, Refusal> {
    let reported = conclude(session, (run, ended), &flags.results, |found| {
        flags.results.deliver(found, flags.full)?;
        Ok(found.outcome())
    })?;
    let Some(outcome) = reported else {
        let again = again(&session.store().run(run)?, (run, session.store().path()));
        terminal::notice(&format!("dyno: interrupted; `{again}` continues it"));
        return Ok(ExitStatus::Interrupted);
    };
    flags.history.end(session.store(), run, &Origin::default())?;
    if let Some(says) = outcome.says() {
        terminal::notice(&format!("dyno: {says}"));
    }
    Ok(match outcome {
        RunOutcome::Measured => ExitStatus::Yes,
        RunOutcome::Failing(_) => ExitStatus::No,
        RunOutcome::Unmeasured | RunOutcome::InVain(..) => ExitStatus::CouldNotTell,
    })
}
