//! The flags and the server of a search, made into a campaign.

use std::time::Duration;

use campaign::Campaign;
use campaign::project::Project;
use campaign::race::label::labels;
use campaign::race::procedure;
use campaign::race::side::{self, Side};
use lab::experiment::{Experiment, Promised, Wanted};
use lab::schedule::Schedule;
use lab::subject::is_file_name;
use machine::limits::Machine;

use super::CapacityFlags;
use super::aim::sought;
use crate::order::flags::ArrivingFlags;
use crate::order::schedule;
use crate::order::schedule::Spacing;
use crate::shell::Refusal;

/// A search, read and ready.
pub(super) struct Prepared {
    pub(super) campaign: Campaign,
    /// Each trial has a process of its own.
    pub(super) is_fresh: bool,
}

/// Reads the server, and makes of it what the lab reads.
pub(super) fn prepared(flags: &CapacityFlags) -> Result<Prepared, Refusal> {
    let target = flags.target.as_deref().unwrap_or_default();
    let sought = sought(flags)?;
    let project = is_file_name(target).then(|| Project::find().ok()).flatten();
    let sides = [side::read(target, project.as_ref())?];
    let manner = flags.at.manner(&sides)?;
    let is_fresh = sides[0].url().is_none();
    if flags.at.isolate && !is_fresh {
        return Err(Refusal::new(
            "--isolate: a server that runs already cannot be given another network; leave it out",
        ));
    }
    let labels = labels(&sides, &[])?;
    let workload = flags.at.workload(&sides, project.as_ref(), procedure::CAPACITY)?;
    let files_for = Machine::read().files.connections_max();
    let load = schedule::load(&arriving(flags)?, procedure::USUAL, files_for)?;
    let within = Duration::from_nanos(sought.limits[0].within);
    let asked = Experiment {
        name: procedure::CAPACITY.into(),
        question: format!("What does {} hold?", labels[0].title),
        duration: Some(procedure::USUAL),
        warmup: flags.warmup,
        timeout: flags.at.asking.timeout,
        keep_alive: !flags.at.asking.no_keepalive,
        vary: flags.at.asking.varying.vary,
        manners: vec![manner],
        repeat: 1,
        conditions: Wanted { isolate: flags.at.isolate, ..Wanted::default() },
        seed: flags.at.asking.seed,
        promise: Promised::of(Some(within), Some(flags.aim.max_failures)),
        ..Experiment::default()
    };
    let made = procedure::experiment(&labels, &workload.name, &load, asked)?;
    let experiment = Experiment { sought: Some(sought), ..made };
    let subject = flags.at.subject(
        manner.protocol,
        (&sides[0], &labels[0]),
        &workload.name,
        project.as_ref(),
    )?;
    let is_named = matches!(sides[0], Side::Named(_));
    let home = project.filter(|_| is_named).map_or_else(Project::of_user, Ok)?;
    let experiment = flags.at.cpus.given_to(experiment);
    let campaign = Campaign::made(home, experiment, workload, vec![subject])?;
    Ok(Prepared { campaign, is_fresh })
}

/// Requests that arrive by the law; each trial has a rate of its own.
fn arriving(flags: &CapacityFlags) -> Result<ArrivingFlags, Refusal> {
    Ok(ArrivingFlags {
        connections: flags.connections,
        rate: Some(Schedule::parse("1").map_err(Refusal::new)?),
        arrivals: Some(Spacing::Law(flags.arrivals)),
        sessions: None,
        calls: None,
        max_connections: flags.max_connections,
    })
}
